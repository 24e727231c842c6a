"""The two manifests of a release: what the public may know, and what the steward must keep."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.layout import Built, store_of
from srsql.engine.catalog.releases import PER, TERM_KEY_FACT, Release
from srsql.engine.grouping.parts import RULE
from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.models.base import BY_SETS, SUPPRESSES, GroupingModel
from srsql.engine.risk.metrics import suppresses
from srsql.engine.risk.singling_out import PUBLIC_SHARES
from srsql.engine.risk.units import OF_UNITS
from srsql.engine.store.statements import STORE, column, create, dotted, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.schemas import Dataset
from srsql.version import __version__

TOPIC = "release/manifest"
INCOMPLETE = "incomplete_source"
"""What the public manifest tells of reports that lack rows."""
RELEASE_DATE = "release_date"
"""The one field in which the manifests of two equal releases may differ."""


SUPPRESSED_SHARES = {
    f"suppressed_{name}_per_{PER}": scope
    for name, scope in (
        ("values", "values of cases"),
        ("cases", "cases"),
        ("reports", "reports"),
        ("one_value", "cases, worst value"),
    )
}
"""Column of the public manifest -> scope of which it tells the share, rounded up."""


UNREAD, LACKING = "unread_columns", "incomplete"
"""What the private manifest tells of columns and of reports of the source."""
_COLUMN = ("table", "column", "filled", "unread")
_LACKING = ("table", "reports", "without_row")


@dataclass(frozen=True)
class Parameters:
    """Everything that decides a release beside the rows themselves."""

    model: GroupingModel
    theta: ThetaPolicy
    missing: str
    on_infeasible: str
    seed: int
    knowledge: str | None
    symptoms: str
    """The rule by which a case has substantially many."""
    terms: DisassociationParameters | None = None
    ids: str | None = None
    """Which ids the rows have; None: no row has one."""

    def public(self, dataset: Dataset, quarter: str, k_effective: int) -> dict[str, str | int]:
        """What the public manifest tells of the parameters; never the seed or a file's name."""
        theta = str(self.theta) if self.theta.kind == "uniform" else self.theta.kind
        return {
            "quarter": quarter,
            "dataset": dataset.name,
            "dataset_version": dataset.version,
            "dataset_fingerprint": dataset.fingerprint,
            "software_version": __version__,
            "model": self.model.name,
            "guarantee": BY_SETS.format(sets=dataset.sets_text, guarantee=self.model.guarantee)
            if dataset.qid_set
            else self.model.guarantee,
            "k": self.model.k,
            "k_effective": k_effective,
            "theta": self.model.of_bound("theta", theta, "not kept"),
            "missing": self.missing,
            "leftovers": self.model.leftovers,
            "attacks": ",".join(self.model.defended_attacks) or "none",
            **self.model.public_facts,
            **({"parts_rule": RULE} if self.model.parts != "1" else {}),
            **(self.terms.facts(self.model.k, self.model.term_format) if self.terms else {}),
            "external_knowledge": "yes" if self.knowledge else "no",
            **({"ids": self.ids} if self.ids else {}),
            **({TERM_KEY_FACT: dataset.term_key} if dataset.term_key else {}),
        }


def shown_k(release: Release) -> int:
    """k_effective as the released values alone explain it.

    The value that made groups grow may be held by withheld cases only; the public must not learn
    of it.
    """
    need = release.warehouse.value(query(TOPIC, "shown_k"), {"release_id": release.release_id})
    return max(release.k, int(need or 0))


def suppression_facts(release: Release, guarantee: str, *, asked: bool) -> dict[str, str | int]:
    """What the public manifest tells of suppressed values: shares alone, and what theta bounds.

    Args:
        release: with its rows in the catalog.
        guarantee: of its model.
        asked: whether values were to be suppressed; without, only if some are.
    """
    of_release = {"release_id": release.release_id, "per": PER}
    found = release.warehouse.rows(query(TOPIC, "suppressed_shares"), of_release)
    if not found and not asked:
        return {}
    shares = dict(found)
    return {
        "guarantee": f"{guarantee} {SUPPRESSES}",
        "theta_bounds": "published values",
        **{name: shares.get(scope, 0) for name, scope in SUPPRESSED_SHARES.items()},
    }


def store_public_manifest(
    release: Release,
    model: GroupingModel,
    facts: dict[str, str | int],
    built: list[Built],
    *,
    one_row: bool = False,
) -> str:
    """Write the one-row public manifest.

    Args:
        release: whose manifest.
        model: decides what the public may know: how many cases were released (not where others are
            made up), how much was withheld (SPEC: not of models with noise), and the thresholds of
            released values (none where the release keeps none).
        facts: what it tells of the parameters.
        built: the released tables.
        one_row: of each case, whose number of reports is not told.

    Returns:
        The name of its table in ``STORE``.
    """
    store = store_of(release.release_id, "manifest")
    row = exp.select(
        *[exp.convert(value).as_(name, quoted=True) for name, value in facts.items()],
        *[
            exp.select(exp.Count(this=exp.Star()))
            .from_(table(STORE, item.store))
            .subquery()
            .as_(f"{item.name}_rows", quoted=True)
            for item in built
        ],
        *[
            column(name.replace("reports", "cases"), "c").as_(name)
            if one_row
            else column(name, "c")
            for name in model.public_counts()
        ],
        model.of_bound(
            "theta",
            column("thresholds", "c"),
            exp.func("list_slice", column("thresholds", "c"), 1, 0).as_("thresholds"),
        ),
    ).from_(
        exp.alias_(
            exp.Table(
                this=exp.Anonymous(
                    this="public_counts", expressions=[exp.convert(release.release_id)]
                ),
                db=exp.to_identifier("srsql"),
            ),
            "c",
            table=True,
        )
    )
    release.warehouse.run(create(table(STORE, store), row))
    return store


def private_manifest(
    release: Release,
    parameters: Parameters,
    facts: dict[str, str | int],
    ingestion_id: int,
    infeasible: list[dict[str, Any]],
    sensitive_not_held: list[str],
) -> dict[str, Any]:
    """Seed, input hashes and all counts; stays in the schema ``srsql``.

    Args:
        release: with its rows in the catalog.
        parameters: everything that decided it.
        facts: what the public manifest tells of them.
        ingestion_id: the data that it was made of.
        infeasible: values more frequent than their thresholds.
        sensitive_not_held: sensitive terms that no case has.
    """
    figures = figures_of(release, ingestion_id)
    figures |= parameters.model.shape.of_no_case({"values_given_up": {}}, {})
    return {
        **facts,
        "made_after": figures.pop("made_after"),
        "theta": str(parameters.theta),
        "on_infeasible": parameters.on_infeasible,
        "external_knowledge": parameters.knowledge,
        "ss_rule": parameters.symptoms,
        "seed": parameters.seed,
        **parameters.model.private_facts(),
        **figures,
        "infeasible": infeasible,
        **({"sensitive_terms_not_held": sensitive_not_held} if sensitive_not_held else {}),
    }


def figures_of(release: Release, ingestion_id: int) -> dict[str, Any]:
    """What the private manifest tells of the data, and of the cases that are and are not released.

    Args:
        release: with its rows in the catalog.
        ingestion_id: the data that it was made of.
    """

    def of_release(name: str) -> list[tuple[Any, ...]]:
        return release.warehouse.rows(query(TOPIC, name), {"release_id": release.release_id})

    def of_ingestion(name: str) -> list[tuple[Any, ...]]:
        return release.warehouse.rows(query(TOPIC, name), {"ingestion_id": ingestion_id})

    files = of_ingestion("files")
    source, digest = of_ingestion("source")[0]
    hides = suppresses(release.warehouse, release.release_id)
    suppressed = of_release("suppressed_values") if hides else []
    told = ("value", "cases", "theta", "groups", "above", "worst")
    lacking = [each for each in of_ingestion("required_tables") if each[-1]]
    columns = of_ingestion("columns")
    new, old, reports, groups = of_release("counts")[0]
    reasons = of_release("withheld")
    return {
        "made_after": [row[0] for row in of_release("made_after")],
        "source": {"name": source, "sha256": digest},
        "files": [
            dict(
                zip(("table", "file", "sha256", "records", "loaded", "rejected"), row, strict=True)
            )
            for row in files
        ],
        **({UNREAD: [dict(zip(_COLUMN, row, strict=True)) for row in columns]} if columns else {}),
        **(
            {LACKING: [dict(zip(_LACKING, row[:3], strict=True)) for row in lacking]}
            if lacking
            else {}
        ),
        "cases": {
            "released": new + old,
            "new": new,
            "old": old,
            "withheld": sum(row[1] for row in reasons),
        },
        "reports": {"released": reports, "withheld": sum(row[2] for row in reasons)},
        "groups": groups,
        "withheld": {row[0]: {"cases": row[1], "reports": row[2]} for row in reasons},
        "values_given_up": dict(of_release("given_up")),
        **(
            {"suppressed": [dict(zip(told, row, strict=True)) for row in suppressed]}
            if suppressed
            else {}
        ),
    }


def public_incomplete(
    warehouse: Warehouse, ingestion_id: int, model: GroupingModel
) -> dict[str, str | int]:
    """What the public manifest tells of a period that was taken in although reports lack rows.

    Args:
        warehouse: with the ingestion.
        ingestion_id: the data that the release is made of.
        model: decides whether the public may know how many reports there are.
    """
    rows = warehouse.rows(query(TOPIC, "required_tables"), {"ingestion_id": ingestion_id})
    exact = "withheld_reports" in model.public_counts()
    told = [
        f"{lack:,} of {of:,} reports of the source have no row in {name}"
        if exact
        else f"reports of the source have no row in {name}"
        for name, of, lack, allowed in rows
        if allowed
    ]
    return {INCOMPLETE: "; ".join(told)} if told else {}


def store_corrected_manifest(
    release: Release, before: int, facts: dict[str, str | int], built: list[Built]
) -> str:
    """Write the public manifest of a version that takes groups out of the one before it.

    It is that of the version before, but for what its own rows tell. How many cases are withheld
    follows from the rows of both versions: as many as then, and those that the new one lacks. So
    nobody learns from it how many have left.

    Args:
        release: the new version.
        before: the number of the version before.
        facts: what is told of it, in the place of what was told by these names.
        built: the released tables.

    Returns:
        The name of its table in ``STORE``.
    """
    warehouse, store = release.warehouse, store_of(release.release_id, "manifest")
    earlier = store_of(before, "manifest")
    names = warehouse.columns(STORE, earlier)
    told: dict[str, exp.Expr] = {name: exp.convert(value) for name, value in facts.items()}
    for item in built:
        rows = exp.select(exp.Count(this=exp.Star())).from_(table(STORE, item.store))
        told[f"{item.name}_rows"] = rows.subquery()
    for kind in ("cases", "reports"):
        released, withheld = f"released_{kind}", f"withheld_{kind}"
        told[released] = column(released, "c")
        gone = exp.Sub(this=column(released, "m"), expression=column(released, "c"))
        told[withheld] = exp.Add(this=column(withheld, "m"), expression=gone)
    shown = exp.Case().when(
        exp.EQ(this=exp.func("len", column("thresholds", "m")), expression=exp.convert(0)),
        column("thresholds", "m"),
    )
    told["thresholds"] = shown.else_(column("thresholds", "c"))
    anew = {*PUBLIC_SHARES, *OF_UNITS}
    kept = [name for name in names if name in told or name not in anew]
    counts = exp.Anonymous(this="public_counts", expressions=[exp.convert(release.release_id)])
    row = (
        exp.select(
            *[told.get(name, column(name, "m")).as_(name, quoted=True) for name in kept],
            *[exp.convert(v).as_(n, quoted=True) for n, v in facts.items() if n not in names],
        )
        .from_(table(STORE, earlier, alias="m"))
        .join(
            exp.alias_(exp.Table(this=counts, db=exp.to_identifier("srsql")), "c", table=True),
            join_type="cross",
        )
    )
    warehouse.run(create(table(STORE, store), row))
    return store


def store_metrics(
    release: Release, manifest: dict[str, Any], metrics: list[tuple[Any, ...]]
) -> None:
    """Put the metrics into the private manifest, in memory and in the catalog.

    Args:
        release: whose manifest.
        manifest: the private one.
        metrics: uniform rows.
    """
    manifest["metrics"] = {f"{row[1]} ({row[2]})": row[5] for row in metrics}
    store_private_manifest(release, manifest)


def store_private_manifest(release: Release, manifest: dict[str, Any]) -> None:
    """Write the private manifest into the catalog."""
    release.warehouse.run(
        query(TOPIC, "store"), {"release_id": release.release_id, "manifest": json.dumps(manifest)}
    )


def date_release(release: Release, manifest: dict[str, Any], day: str) -> None:
    """Have both manifests of a draft tell the day on which it is exposed.

    Args:
        release: the draft.
        manifest: the private one.
        day: as YYYY-MM-DD.
    """
    warehouse, name = release.warehouse, store_of(release.release_id, "manifest")
    store = dotted(STORE, name)
    if RELEASE_DATE not in warehouse.columns(STORE, name):  # made by an earlier version
        warehouse.run(f"ALTER TABLE {store} ADD COLUMN {RELEASE_DATE} VARCHAR")
    warehouse.run(f"UPDATE {store} SET {RELEASE_DATE} = $day", {"day": day})
    manifest[RELEASE_DATE] = day
    store_private_manifest(release, manifest)


def released_rows(warehouse: Warehouse, stores: dict[str, str]) -> dict[str, int]:
    """Rows of each released view (name -> its table in ``STORE``)."""
    return {
        name: warehouse.value(f"SELECT count(*) FROM {dotted(STORE, store)}")
        for name, store in stores.items()
        if name != "manifest"
    }
