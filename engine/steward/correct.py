"""A new version of a released quarter, made by taking whole groups out (SPEC section 5).

Who has left a release (forgotten, deleted, absent from or changed in data that replaced its own)
takes the whole group along. Nothing is merged, widened or added, and what stays is copied: regions,
ids and drawn values are those of the version before.

Why candidate sets stay what they were. Let T be a quarter with the versions v and w, w made of v
by taking the groups D out, and p a target of v with the raw values t.

* *Whoever holds v alone or w alone* has a release whose groups are groups of v. At scope=group the
  candidates of p are its group g, all or none of which is in w; at scope=match they are the union
  of the groups that cover t, some of which w may lack.
* *Whoever holds both* learns who is in w. If p is in w, the candidates are those of w, as before.
  If p has left (the erasure attack E), the candidates in a later version are out: what remains is
  the union of the groups of D that cover t, g among them, each of them whole.
* *Other quarters.* A case is in a quarter if any version has it, so that correcting T changes
  nobody's being new (L) or stopping (MD) elsewhere, and w adds no region that v has not, so that it
  changes no B or F. Whoever lacks some versions rules fewer candidates out, by each of these sets.

So what an attacker of B, F, L, MD, SS and E is left with is a union over groups g of sets S with
C(g) <= S <= g, where C(g) are the carriers of g: the cases that none of these attacks excludes for
any target in the region (Huang 2021, Definition 4: new cases, whose later regions cover the first;
for ppms-alpha those that stop as well). Each g was released with |C(g)| >= k and
sigma_s(g) <= theta_s max(k, |C(g)|), and g is unchanged. Hence |S| >= k, and
sigma_s(S) <= sigma_s(g) <= theta_s |C(g)| <= theta_s |S|; both hold for unions of such sets, and
alpha is kept likewise. For ``ms`` the same holds of one quarter, with C(g) = g and no other joined.

Merging what is left instead would break this: of {1, 2, 3} at 20 to 22 and {4, 5, 6} at 40 to 42,
{2, 3, 4, 5, 6} at 20 to 42, without 1, leaves {2, 3} of a target at 21 to whoever holds both
versions, and 1 alone to whoever knows that the target left.

What no correction mends: groups that were too small from the start, since their cases stay known
(a new series does for whoever has not the old one), and an attacker who sees in *other* quarters,
released since, who of the group is still there (E with all releases, informative in an audit).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.catalog.datasets import term_key
from srsql.engine.catalog.layout import (
    COPIED_BY_CASE,
    COPIED_WHOLE,
    IDENTITY,
    Built,
    raw_table,
    store_of,
)
from srsql.engine.catalog.releases import (
    NOT_IDS,
    Release,
    as_released,
    claims_of,
    find_ingestion,
    not_released,
    released_terms,
    staleness,
)
from srsql.engine.catalog.series import Series, create_views, find_series
from srsql.engine.catalog.waiting import carried_from
from srsql.engine.checks import Evidence, catalog_facts
from srsql.engine.checks.registry import prove
from srsql.engine.errors import ReleaseError, one_line
from srsql.engine.lake.lake import need_periods
from srsql.engine.models import MODELS, made_shape
from srsql.engine.release.exposure import look_at
from srsql.engine.release.features.hold_back import wait_on
from srsql.engine.release.ids import make_identity
from srsql.engine.release.manifest import (
    RELEASE_DATE,
    SUPPRESSED_SHARES,
    figures_of,
    released_rows,
    shown_k,
    store_corrected_manifest,
    store_private_manifest,
    suppression_facts,
)
from srsql.engine.release.request import Clock, Progress, Released, today
from srsql.engine.release.series import refresh_series_views, supersede_release
from srsql.engine.release.stages.proofs import keep_metrics
from srsql.engine.risk.metrics import store_measures
from srsql.engine.risk.singling_out import SOME_CASES, measure_singling_out, public_shares
from srsql.engine.risk.units import OF_UNITS, measure_units
from srsql.engine.shapes import catalog_shape
from srsql.engine.steward.draft import reports_of
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    query,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import json_of
from srsql.version import __version__

TOPIC = "release/correct"
NEW_SERIES = "release the quarter in a new --series without them"
COUNTED_ONCE = "withdraw what was published of it, and count its cases in no other series"
WHOLE = "whole groups were taken out of the version before"
REMAINDER = (
    "cases were taken out of the version before and the rest of their groups kept: the difference "
    "between the versions tells who left"
)


@dataclass(frozen=True)
class Correction:
    """What became of a correction."""

    quarter: str
    series: str
    corrects: int
    """The version that was out."""
    release_id: int | None
    """The new version; None: nobody has left, or it was a dry run."""
    version: int
    """Counted from 1: of the new version, else of the one that stays."""
    schema: str
    """Of its views."""
    withdrawn: dict[str, int]
    """Cases that have left, by reason: forgotten, deleted, absent, changed."""
    groups: int
    """Groups that are taken out."""
    cases: int
    """Cases that are taken out, those that have left included."""
    remainders: int
    """Groups that lose cases and stay in part; they tell who left."""
    kept_groups: int
    kept_cases: int
    keep_remainder: bool
    dry_run: bool
    ingestion_id: int
    """The data that the quarter was compared with."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows of each released table of the new version."""
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Standing:
    """The version that is out."""

    series: Series
    release_id: int
    model: str
    k: int
    ingestion_id: int
    manifest: dict[str, Any]
    schema: str


@dataclass(frozen=True)
class CorrectionRequest:
    """What may be asked of a correction."""

    keep_remainder: bool = False
    """Keep the rest of a group where it keeps k, theta and alpha without those who left; whoever
    has both versions then learns who they are: E is not defended."""
    dry_run: bool = False
    """Say what would leave, and change nothing."""
    if_needed: bool = False
    """Refuse no model where nobody has left."""
    date: str | None = None
    """Day of the new version, as YYYY-MM-DD; None: today."""


def correct(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    series_name: str,
    request: CorrectionRequest,
    progress: Progress | None = None,
) -> Correction:
    """Take the groups that somebody has left out of a released quarter, in one transaction.

    Args:
        warehouse: with the release.
        dataset: with the tables of which the series has rows.
        quarter: that is out.
        series_name: of the release.
        request: what is asked.
        progress: told the name of each stage when it begins.

    Raises:
        ReleaseError: the quarter is not out, its model cannot be corrected, or the new version
            failed a check; the warehouse is as it was.
    """
    clock = Clock(progress)
    keep_remainder, dry_run = request.keep_remainder, request.dry_run
    standing = _standing(warehouse, dataset, quarter, series_name)
    ingestion_id = find_ingestion(warehouse, dataset, quarter)
    if (
        request.if_needed
        and standing.ingestion_id == ingestion_id
        and not staleness(warehouse, release_id=standing.release_id)
    ):
        return _unchanged(warehouse, quarter, standing, request)
    earlier = carried_from(warehouse, dataset, series_name, quarter)
    need_periods(warehouse, dataset, quarter, *earlier)
    _need_correctable(warehouse, standing, quarter, keep_remainder=keep_remainder)
    model_dataset = as_released(warehouse, dataset, standing.release_id)
    before = warehouse.temporary_tables()
    try:
        with warehouse.transaction():
            with clock.stage("leaving"):
                _find_leavers(warehouse, dataset, quarter, standing, keep_remainder)
                found = _count(warehouse)
            facts: dict[str, Any] = {
                "release_id": None,
                "schema": standing.schema,
                "version": _version(warehouse, standing.release_id),
            }
            if found["withdrawn"] and not dry_run:
                current = _register(warehouse, model_dataset, quarter, standing, ingestion_id,
                                    keep_remainder=keep_remainder)  # fmt: skip
                facts |= _make(
                    current, dataset, standing, ingestion_id, found, clock, request.date or today()
                )
            elif not dry_run and ingestion_id != standing.ingestion_id:
                warehouse.run(
                    query(TOPIC, "compared"),
                    {"release_id": standing.release_id, "ingestion_id": ingestion_id},
                )
            warehouse.drop_temporary_tables(warehouse.temporary_tables() - before)
    except duckdb.Error as error:
        raise ReleaseError(
            f"{quarter} was not corrected, the warehouse is as it was: " + one_line(error)
        ) from error
    return Correction(
        quarter=quarter,
        series=series_name,
        corrects=standing.release_id,
        keep_remainder=keep_remainder,
        dry_run=dry_run,
        ingestion_id=ingestion_id,
        seconds=clock.seconds,
        **found,
        **facts,
    )


def _unchanged(
    warehouse: Warehouse, quarter: str, standing: _Standing, request: CorrectionRequest
) -> Correction:
    """Nobody has left, by all that the catalog knows of the data that the version was made of."""
    told = standing.manifest
    return Correction(
        quarter=quarter,
        series=standing.series.name,
        corrects=standing.release_id,
        release_id=None,
        version=_version(warehouse, standing.release_id),
        schema=standing.schema,
        withdrawn={},
        groups=0,
        cases=0,
        remainders=0,
        kept_groups=told.get("groups", 0),
        kept_cases=told.get("cases", {}).get("released", 0),
        keep_remainder=request.keep_remainder,
        dry_run=request.dry_run,
        ingestion_id=standing.ingestion_id,
    )


def _standing(warehouse: Warehouse, dataset: Dataset, quarter: str, name: str) -> _Standing:
    series = find_series(warehouse, dataset, name)
    rows = series and warehouse.rows(
        query(TOPIC, "standing"), {"dataset": dataset.name, "series": name, "quarter": quarter}
    )
    if not series or not rows:
        raise ReleaseError(not_released(warehouse, dataset.name, name, quarter))
    release_id, model, k, ingestion_id, manifest, schema = rows[0]
    told = json_of(manifest)
    return _Standing(series, release_id, model, k, ingestion_id, told, schema)


def _need_correctable(
    warehouse: Warehouse, standing: _Standing, quarter: str, *, keep_remainder: bool
) -> None:
    """Refuse what has no groups of cases that could be taken out whole.

    Raises:
        ReleaseError: with the reason and what to do.
    """
    release_id, model = standing.release_id, standing.model
    found = (made_shape(model), catalog_shape(warehouse, release_id))
    why = next((shape.uncorrectable for shape in found if shape.uncorrectable), "")
    if not why and released_terms(warehouse, release_id):
        why = (
            "terms that are told apart from rows are in clusters and chunks of many cases, which "
            "would have to be made anew"
        )
    elif not why and MODELS[model].claimed_bounds.unit == "report":
        why = "reports of a case can be in several groups"
    if why:
        advice = COUNTED_ONCE if any(shape.counted_once for shape in found) else NEW_SERIES
        raise ReleaseError(f"{quarter} by {model} cannot be corrected, {why}: {advice}")
    unit = catalog_facts(warehouse, release_id).unit
    if keep_remainder and unit != "case":
        raise ReleaseError(
            f"--keep-remainder keeps k cases of a group, and {quarter} counts {unit}s: leave it out"
        )
    if keep_remainder and claims_of(warehouse, release_id):
        raise ReleaseError(f"--keep-remainder needs k and theta, which {model} does not keep")


def _find_leavers(
    warehouse: Warehouse, dataset: Dataset, quarter: str, standing: _Standing, keep_remainder: bool
) -> None:
    """Fill ``srsql_raw_case`` and ``srsql_corrected_case``."""
    case_id = exp.cast(column(dataset.case_id, "t"), "VARCHAR")
    raw = (
        exp.select(case_id.as_("case_id"), exp.Count(this=exp.Star()).as_("reports"))
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        .group_by(case_id.copy())
    )
    warehouse.run(create(exp.to_table("srsql_raw_case"), raw, temp=True))
    asked = {"release_id": standing.release_id, "keep_remainder": keep_remainder}
    warehouse.run_step("release/leaving", asked)


def _count(warehouse: Warehouse) -> dict[str, Any]:
    """Who leaves, in the words of :class:`Correction`."""
    taken = warehouse.rows(query(TOPIC, "taken_out"))[0]
    names = ("groups", "cases", "remainders", "kept_groups", "kept_cases")
    withdrawn = {reason: int(cases) for reason, cases in warehouse.rows(query(TOPIC, "leavers"))}
    return {"withdrawn": withdrawn, **{n: int(v or 0) for n, v in zip(names, taken, strict=True)}}


def _register(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    standing: _Standing,
    ingestion_id: int,
    *,
    keep_remainder: bool,
) -> Release:
    """The new version in the catalog, with all that it copies there but thresholds."""
    new = int(warehouse.value(query("release/series", "next_release_id")))
    before = standing.release_id
    warehouse.run(
        query(TOPIC, "register"),
        {"new": new, "release_id": before, "ingestion_id": ingestion_id},
    )
    warehouse.run(query(TOPIC, "register_key"), {"new": new, "release_id": before})
    warehouse.run(
        query(TOPIC, "record"),
        {"release_id": new, "corrects": before, "keep_remainder": keep_remainder},
    )
    of_both = {"release_id": new, "before": before}
    warehouse.run_step("release/correct", of_both)
    for copied in (*COPIED_WHOLE, *COPIED_BY_CASE):
        warehouse.run(_copy_statement(copied), of_both)
    name = standing.series.name
    return Release(warehouse, dataset, dataset, new, name, quarter, standing.schema, standing.k)


def _copy_statement(name: str) -> str:
    """The rows of a table of the catalog become those of the new version, under the same numbers:
    nothing is drawn or grouped anew."""
    new = exp.cast(exp.Placeholder(this="release_id"), "INTEGER")
    before = exp.cast(exp.Placeholder(this="before"), "INTEGER")
    rows = (
        exp.select(exp.Star(replace=[new.as_("release_id")]))
        .from_(table("srsql", name, alias="t"))
        .where(column("release_id", "t").eq(before))
    )
    if name in COPIED_BY_CASE:
        whose, *order = COPIED_BY_CASE[name]
        kept = exp.select(column(order[0], "s")).where(column("kept", "s"))
        parts: list[exp.Query] = [kept.from_(temporary("srsql_corrected_case", alias="s"))]
        if whose == "known":
            withheld = exp.select(column(order[0], "w")).from_(
                table("srsql", "withheld", alias="w")
            )
            parts.append(withheld.where(column("release_id", "w").eq(new.copy())))
        cases = union_all(parts).subquery("c")
        same = column(order[0], "t").eq(column(order[0], "c"))
        rows = rows.join(cases, on=same, join_type="semi")
        rows = rows.order_by(*(column(each, "t") for each in order))
    return exp.insert(rows, table("srsql", name)).sql(dialect="duckdb")


def _make(
    current: Release,
    dataset: Dataset,
    standing: _Standing,
    ingestion_id: int,
    found: dict[str, Any],
    clock: Clock,
    day: str,
) -> dict[str, Any]:
    """Tables, views, manifests, checks, audit and metrics of the new version."""
    warehouse, model = current.warehouse, MODELS[standing.model]
    make_identity(current, standing.series, reports_of(current))
    pool = wait_on(current, standing.release_id, standing.manifest)
    with clock.stage("views"):
        built = _copy_tables(current, standing.release_id)
        _add_thresholds(current, standing.release_id, built)
        exposed = measure_singling_out(
            warehouse, current.visible_dataset, current.release_id, SOME_CASES
        )
        units = measure_units(warehouse, current.release_id)
        version = _version(warehouse, current.release_id)
        bounds_told = "theta_bounds" in standing.manifest
        told = suppression_facts(current, "", asked=True) if bounds_told else {}
        partly = found["remainders"] > 0
        facts: dict[str, str | int] = {
            "software_version": __version__,
            RELEASE_DATE: day,
            **(
                {}
                if claims_of(warehouse, current.release_id)
                else {"k_effective": shown_k(current)}
            ),
            **public_shares(exposed),
            **units.public(perturbs=model.claimed_bounds.drawn),
            **{name: share for name, share in told.items() if name in SUPPRESSED_SHARES},
            "version": version,
            "correction": REMAINDER if partly else WHOLE,
        }
        stores = {item.name: item.store for item in built}
        stores["manifest"] = store_corrected_manifest(current, standing.release_id, facts, built)
        supersede_release(current)
        create_views(warehouse, current.schema, stores)
        private = {
            **{name: told for name, told in standing.manifest.items() if name not in OF_UNITS},
            **units.private(),
            **{name: value for name, value in facts.items() if name != "k_effective"},
            **({"suppressed": []} if told else {}),
            **figures_of(current, ingestion_id),
            **pool,
            "corrected": {"corrects": standing.release_id, **found},
        }
        store_private_manifest(current, private)
    made = Released(
        current.release_id, current.quarter, current.series, current.schema, "released", private,
        released_rows(warehouse, stores),
        links=look_at(warehouse, current.dataset, current.release_id).links,
    )  # fmt: skip
    evidence = Evidence(
        current,
        built=built,
        covers=model.history.covers == "later",
        not_ids=standing.manifest.get(NOT_IDS, ()),
    )
    with clock.stage("checks"):
        checks = prove(evidence, "checks")
    with clock.stage("audit"):
        shares = prove(evidence, "audit")
    with clock.stage("metrics"):
        store_measures(warehouse, current.release_id, "check", checks)
        keep_metrics(evidence, shares, exposed, made, units)
    refresh_series_views(warehouse, dataset, standing.series)
    return {
        "release_id": current.release_id,
        "schema": current.schema,
        "version": version,
        "rows": made.rows,
    }


def _version(warehouse: Warehouse, release_id: int) -> int:
    """Which version of its quarter the newest release has, from 1 on."""
    return int(warehouse.value(query(TOPIC, "versions"), {"release_id": release_id}))


def _copy_tables(current: Release, before: int) -> list[Built]:
    """The released tables of the version before, restricted to the cases of the new one."""
    warehouse, dataset = current.warehouse, current.visible_dataset
    kept = exp.select(column("public_case", "i")).from_(temporary(IDENTITY, alias="i"))
    built = []
    for source in dataset.row_tables:
        store, earlier = (store_of(one, source.name) for one in (current.release_id, before))
        copied = (
            exp.select(*[column(name, "t") for name in warehouse.columns(STORE, earlier)])
            .from_(table(STORE, earlier, alias="t"))
            .where(column(dataset.case_id, "t").isin(query=kept.copy()))
            .order_by(exp.column("rowid", table=exp.to_identifier("t", quoted=True)))
        )
        warehouse.run(create(table(STORE, store), copied))
        built.append(Built(source.name, store, copied))
    return built


def _add_thresholds(current: Release, before: int, built: list[Built]) -> None:
    """The thresholds, marked where a released row shows the value."""
    dataset, stores = current.visible_dataset, {item.name: item.store for item in built}
    parts: list[exp.Query] = [
        exp.select(term_key(column(attribute.column, "t"), dataset.term_key).as_("term"))
        .distinct()
        .from_(table(STORE, stores[attribute.table], alias="t"))
        for attribute in dataset.sensitive
        if attribute.table in stores and attribute.column in dataset.table(attribute.table).publish
    ]
    none: exp.Query = exp.select(exp.cast(exp.null(), "VARCHAR").as_("term")).limit(0)
    shown = union_all(parts) if parts else none
    thresholds = with_rows(query(TOPIC, "thresholds"), shown_term=shown)
    current.warehouse.run(
        exp.insert(thresholds, table("srsql", "threshold")).sql("duckdb"),
        {"release_id": current.release_id, "before": before},
    )
