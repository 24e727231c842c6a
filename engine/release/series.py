"""The rules of a series when a quarter is released: turn, drafts, versions, ids (SPEC 5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from sqlglot import exp

from srsql.engine.catalog.column_comments import comment_views
from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.catalog.late import has_late
from srsql.engine.catalog.layout import OF_RELEASE, SHAPES
from srsql.engine.catalog.readers import show_pairs, show_reports
from srsql.engine.catalog.releases import (
    Release,
    Stale,
    keep_key,
    staleness,
)
from srsql.engine.catalog.series import PER_QUARTER, Series, schema_of, series_views
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.perturbation import budgets
from srsql.engine.lake.lake import lake_info
from srsql.engine.models import MODELS
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.features.late import late_pending
from srsql.engine.release.request import Request
from srsql.engine.release.series_commands import chosen_text, every_series
from srsql.engine.shapes import series_shape
from srsql.engine.store.frames import Framed
from srsql.engine.store.runs import ALL, runs
from srsql.engine.store.statements import STORE, column, dotted, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "release/series"


def check_turn(warehouse: Warehouse, series: Series, quarter: str, *, supersede: bool) -> None:
    """Refuse what would change a released quarter or go back in time.

    Args:
        warehouse: with the series.
        series: that the quarter is to be released in.
        quarter: the quarter.
        supersede: a release that is out may be replaced.

    Raises:
        ReleaseError: the quarter is out already, or a later one is, and ``supersede`` is not set.
    """
    if supersede:
        return
    latest = warehouse.value(query(TOPIC, "latest_quarter"), _names(series))
    if latest is None or quarter > latest:
        return
    out = {row[0] for row in warehouse.rows(query(TOPIC, "releases"), _names(series))}
    if quarter in out:
        raise ReleaseError(
            f"{quarter} is already released in series {series.name!r}; released quarters are "
            "immutable: release a later quarter, use another --series, 'srsql correct' to take "
            "withdrawn cases out, or of models without a series, such as ms, --supersede"
        )
    raise ReleaseError(
        f"{quarter} comes before {latest}, which is out in series {series.name!r}: release a later "
        "quarter, use another --series, or --supersede"
    )


def check_version(warehouse: Warehouse, series: Series, request: Request) -> None:
    """Refuse to group a quarter that is out a second time, where new cases carry the bounds.

    What was released stays known: whoever has both versions intersects the groups of a case.

    Raises:
        ReleaseError: the model counts new cases, and some version of the quarter is or was out.
    """
    asked = {**_names(series), "quarter": request.quarter}
    if request.model.history.carriers != "new" or not warehouse.value(
        query(TOPIC, "versions"), asked
    ):
        return
    raise ReleaseError(
        f"{request.quarter} is out in series {series.name!r}, and {request.model.name} cannot "
        "group its cases anew, since whoever has both versions intersects their groups: 'srsql "
        f"correct --quarter {request.quarter}' takes withdrawn cases out, other parameters (a "
        "larger k) need another --series"
    )


def _names(series: Series) -> dict[str, Any]:
    return {"dataset": series.dataset, "series": series.name}


def remove_draft(warehouse: Warehouse, series: Series, quarter: str) -> None:
    """Forget a draft, which was never exposed; its charges stay: the steward saw what it drew."""
    for release_id, schema in warehouse.rows(
        query(TOPIC, "drafts"), {**_names(series), "quarter": quarter}
    ):
        warehouse.run(f"DROP SCHEMA IF EXISTS {dotted(schema)} CASCADE")
        for (store,) in warehouse.rows(
            query(TOPIC, "stores"), {"store": STORE, "prefix": f"release_{release_id}_"}
        ):
            warehouse.run(f"DROP TABLE {dotted(STORE, store)}")
        for name in OF_RELEASE:
            warehouse.run(f"DELETE FROM {dotted('srsql', name)} WHERE release_id = ?", [release_id])


def supersede_release(release: Release) -> None:
    """Take the views of an earlier release of the quarter away; its catalog rows stay."""
    warehouse = release.warehouse
    for release_id, schema in warehouse.rows(
        query(TOPIC, "other_releases"),
        {
            "dataset": release.dataset.name,
            "series": release.series,
            "quarter": release.quarter,
            "release_id": release.release_id,
        },
    ):
        warehouse.run(f"DROP SCHEMA {dotted(schema)} CASCADE")
        warehouse.run(query(TOPIC, "supersede"), {"release_id": release_id})


def refresh_series_views(
    warehouse: Warehouse, dataset: Dataset, series: Series, *, appended: bool = False
) -> None:
    """Bring ``released.*`` up to date with the releases that are out.

    Args:
        warehouse: within a transaction.
        dataset: with the tables of which the series has rows.
        series: whose views.
        appended: since then one release of a later quarter came out, and nothing else happened.
    """
    models = warehouse.rows(query(TOPIC, "term_formats"), _names(series))
    releases = warehouse.rows(query(TOPIC, "releases"), _names(series))
    without_ids = tuple(
        dict.fromkeys(name for (model,) in models for name in SHAPES[MODELS[model].term_format])
    )
    series_views(
        warehouse,
        dataset,
        series.cumulative_schema,
        releases,
        series_shape(warehouse, dataset, series.name).without_ids(without_ids),
        followed=series.ids != PER_QUARTER,
        appended=appended,
    )
    if len(releases) == 1 or not appended:
        show_reports(warehouse)  # a warehouse of an earlier version has none of these views
    show_pairs(warehouse)
    comment_views(warehouse, dataset, series.name)


def grouped_reports(*, by_case: bool) -> exp.Select:
    """The reports of a release: (report_id, case_id, case_no, group_no).

    ``by_case``: every case shows values of its own, so it stands for a group.
    """
    return (
        exp.select(
            column("report_id", "c"),
            column("case_id", "c"),
            column("case_no", "g"),
            column("case_no" if by_case else "group_no", "g").as_("group_no"),
        )
        .from_(temporary("srsql_case_report", alias="c"))
        .join(
            temporary("srsql_grouped", alias="g"),
            on=column("case_no", "c").eq(column("case_no", "g")),
        )
    )


def register(
    warehouse: Warehouse,
    dataset: Dataset,
    visible_dataset: Dataset,
    request: Request,
    series: Series,
    ingestion_id: int,
) -> Release:
    """Make the catalog row of a release, whose figures follow in ``set_figures``.

    Args:
        warehouse: within a transaction.
        dataset: as the model takes it.
        visible_dataset: with the tables of which the release will have rows.
        request: what is asked for.
        series: that it belongs to.
        ingestion_id: the data that it is made of.
    """
    release = Release(
        warehouse,
        dataset,
        visible_dataset,
        int(warehouse.value(query(TOPIC, "next_release_id"))),
        series.name,
        request.quarter,
        schema_of(warehouse, series, request.quarter, draft=request.draft),
        request.model.k,
    )
    warehouse.run(
        query(TOPIC, "register"),
        {
            "release_id": release.release_id,
            **_names(series),
            "quarter": release.quarter,
            "model": request.model.name,
            "status": "draft" if request.draft else "released",
            "k": release.k,
            "schema": release.schema,
            "ingestion_id": ingestion_id,
        },
    )
    keep_key(warehouse, release.release_id, dataset.term_key)
    return release


def set_figures(
    release: Release, model: GroupingModel, k_effective: int, weight_scale: int
) -> None:
    """Keep what a model promises of a release, and what its groups and weights were made with.

    Args:
        release: its row is in the catalog.
        model: its attacks, alpha and claims.
        k_effective: the k that groups were grown to.
        weight_scale: what a certain value weighs.
    """
    warehouse, release_id = release.warehouse, release.release_id
    alpha = model.symptoms_limit
    warehouse.run(
        "INSERT INTO srsql.defended_attack VALUES (?, ?, ?, ?)",
        [
            release_id,
            list(model.defended_attacks),
            alpha.numerator if alpha else None,
            alpha.denominator if alpha else None,
        ],
    )
    for claim, bound in model.claims.items():
        warehouse.run(
            "INSERT INTO srsql.claim VALUES (?, ?, ?, ?)",
            [release_id, claim, bound.numerator, bound.denominator],
        )
    warehouse.run(
        query(TOPIC, "set_figures"),
        {"release_id": release_id, "k_effective": k_effective, "weight_scale": weight_scale},
    )


@dataclass(frozen=True)
class Status(Framed):
    """Rows as dictionaries, ready for a table or JSON."""

    _tables: ClassVar[tuple[str, ...]] = ("releases", "quarters", "series", "budget", "runs")

    path: str | None
    bytes_on_disk: int
    quarters: list[dict[str, Any]]
    releases: list[dict[str, Any]]
    """``stale``: how many cases have left since it was made, by reason."""
    stale: list[str]
    """A line for each release that is out and stale: what has left, and what to do."""
    budget: list[dict[str, Any]]
    """The worst case over all series of a dataset, then of each; amounts are exact fractions as
    text."""
    series: list[dict[str, Any]] = field(default_factory=list)
    """What each was made with; see ``srsql series show``."""
    runs: list[dict[str, Any]] = field(default_factory=list)
    """The last command that wrote the warehouse, or all, the latest first; see ``RunRecord``."""
    incomplete: list[str] = field(default_factory=list)
    """A line for each period that was taken in although reports lack rows that they must have."""
    lake: dict[str, Any] | None = None
    """Where raw rows lie that are not in the file; see ``LakeInfo``. None: there is no lake."""


def status(warehouse: Warehouse, *, every_run: bool = False) -> Status:
    """Read the catalog; nothing is changed. ``every_run``: not only the last run."""
    size = 0
    if warehouse.path is not None:
        wal = warehouse.path.with_name(warehouse.path.name + ".wal")
        size = sum(file.stat().st_size for file in (warehouse.path, wal) if file.exists())
    delays = {
        (dataset, series): f"{waiting:,} cases wait; those released waited {median or 0} period(s) "
        f"in the median, 95 % at most {most or 0}"
        for dataset, series, waiting, median, most in warehouse.rows(
            query("release/status", "delays")
        )
    }
    listed, stale = every_series(warehouse), staleness(warehouse)
    late = {
        (one.dataset, one.series): _late_line(warehouse, one.dataset, one.series)
        for one in listed
        if has_late(warehouse, one.dataset)
    }
    return Status(
        path=str(warehouse.path) if warehouse.path else None,
        bytes_on_disk=size,
        quarters=warehouse.records(query("release/status", "quarters")),
        releases=_releases(warehouse, stale, hold_back=bool(delays)),
        stale=[each.line for each in stale if each.status == "released"],
        budget=[
            {
                "dataset": one.dataset,
                "scope": one.scope,
                "series": one.series,
                "worst_epsilon": str(one.worst),
                "cases": one.worst_cases,
                "charged_cases": one.cases,
                "calibration": ", ".join(one.calibrations),
                "meaning": one.meaning,
            }
            for one in budgets(warehouse)
        ],
        series=[
            {
                "dataset": one.dataset,
                "series": one.series,
                "family": one.family,
                "ids": one.ids,
                "parameters": chosen_text(one.parameters),
                "gaps": "; ".join(one.gaps),
                **({"waiting": delays.get((one.dataset, one.series), "")} if delays else {}),
                **({"late": late.get((one.dataset, one.series), "")} if late else {}),
            }
            for one in listed
        ],
        runs=[asdict(each) for each in runs(warehouse, ALL if every_run else 1)],
        incomplete=[
            f"{dataset} {quarter}: {lack:,} of {of:,} reports have no row in {name} "
            "(--allow-incomplete)"
            for dataset, quarter, name, of, lack in warehouse.rows(
                query("ingest/understood", "incomplete")
            )
        ],
        lake=None if (lake := lake_info(warehouse)) is None else asdict(lake),
    )


def _late_line(warehouse: Warehouse, dataset: str, series: str) -> str:
    """What came late and no release of a series has."""
    declared = registered_dataset(warehouse, dataset)
    cases, versions = late_pending(warehouse, declared, series)
    return (
        f"{cases:,} cases came late and wait for the next release; {versions:,} late reports of "
        "released cases wait for another report of their case"
    )


def _releases(warehouse: Warehouse, stale: list[Stale], *, hold_back: bool) -> list[dict[str, Any]]:
    """Every release with what has left it since: by reason, or empty; how many cases wait is told
    where some do, or did."""
    left = {each.release_id: each.cases for each in stale}
    rows = warehouse.records(query("release/status", "releases"))
    if not hold_back:
        for row in rows:
            del row["waiting_cases"]
    return [row | {"stale": left.get(row.pop("release_id"), {})} for row in rows]
