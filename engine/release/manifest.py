"""The two manifests of a release: what the public may know, and what the steward must keep."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.models.base import GroupingModel
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.warehouse.layout import Built
from srsql.engine.warehouse.statements import STORE, column, create, dotted, table
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.version import __version__


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
            "guarantee": self.model.guarantee,
            "k": self.model.k,
            "k_effective": k_effective,
            "theta": theta if "theta" in self.model.guaranteed_bounds else "not kept",
            "missing": self.missing,
            "leftovers": self.model.leftovers,
            "attacks": ",".join(self.model.defended_attacks) or "none",
            **self.model.public_facts,
            **(self.terms.facts(self.model.k, self.model.term_format) if self.terms else {}),
            "external_knowledge": "yes" if self.knowledge else "no",
        }


def shown_k(warehouse: Warehouse, release_id: int, k: int) -> int:
    """k_effective as the released values alone explain it.

    The value that made groups grow may be held by withheld cases only; the public must not learn
    of it.
    """
    need = warehouse.value(
        "SELECT max((t.theta_den + t.theta_num - 1) // t.theta_num) FROM srsql.threshold AS t "
        "WHERE t.release_id = ? AND t.released AND t.theta_num > 0",
        [release_id],
    )
    return max(k, int(need or 0))


def store_public_manifest(
    warehouse: Warehouse,
    facts: dict[str, str | int],
    release_id: int,
    built: list[Built],
    *,
    released: bool,
    withheld: bool,
    thresholds: bool,
) -> str:
    """Write the one-row public manifest; the name of its table in ``STORE``.

    ``released``: whether it tells how many cases were released (not where others are made up).
    ``withheld``: whether it tells how much was withheld (SPEC: not of models with noise).
    ``thresholds``: whether it lists those of released values; else the list is empty, since the
    release keeps none.
    """
    counts = ["released_cases", "released_reports"] if released else []
    counts += ["withheld_cases", "withheld_reports"] if withheld else []
    store = f"release_{release_id}_manifest"
    query = exp.select(
        *[exp.convert(value).as_(name, quoted=True) for name, value in facts.items()],
        *[
            exp.select(exp.Count(this=exp.Star()))
            .from_(table(STORE, item.store))
            .subquery()
            .as_(f"{item.name}_rows", quoted=True)
            for item in built
        ],
        *[column(name, "c") for name in counts],
        (
            column("thresholds", "c")
            if thresholds
            else exp.func("list_slice", column("thresholds", "c"), 1, 0).as_("thresholds")
        ),
    ).from_(
        exp.alias_(
            exp.Table(
                this=exp.Anonymous(this="public_counts", expressions=[exp.convert(release_id)]),
                db=exp.to_identifier("srsql"),
            ),
            "c",
            table=True,
        )
    )
    warehouse.run(create(table(STORE, store), query))
    return store


def private_manifest(
    warehouse: Warehouse,
    parameters: Parameters,
    facts: dict[str, str | int],
    release_id: int,
    ingestion_id: int,
    infeasible: list[dict[str, Any]],
    sensitive_not_held: list[str],
) -> dict[str, Any]:
    """Seed, input hashes and all counts; stays in the schema ``srsql``."""
    files = warehouse.rows(
        "SELECT f.table_name, f.file, f.sha256, f.records, f.loaded, f.rejected "
        "FROM srsql.ingested_file AS f WHERE f.ingestion_id = ? ORDER BY f.file",
        [ingestion_id],
    )
    source, digest = warehouse.rows(
        "SELECT i.source, i.sha256 FROM srsql.ingestion AS i WHERE i.ingestion_id = ?",
        [ingestion_id],
    )[0]
    new, old, reports, groups = warehouse.rows(
        "SELECT count(DISTINCT m.case_id) FILTER (WHERE m.is_new),"
        " count(DISTINCT m.case_id) FILTER (WHERE NOT m.is_new),"
        " coalesce(sum(m.reports), 0)::BIGINT, count(DISTINCT m.group_id) "
        "FROM srsql.member AS m WHERE m.release_id = ?",
        [release_id],
    )[0]
    reasons = warehouse.rows(
        "SELECT w.reason, count(*), sum(w.reports)::BIGINT FROM srsql.withheld AS w "
        "WHERE w.release_id = ? GROUP BY w.reason ORDER BY w.reason",
        [release_id],
    )
    given_up = warehouse.rows(
        "SELECT a.attribute, count(*) FROM srsql.case_qid AS c INNER JOIN srsql.attribute AS a "
        "ON c.release_id = a.release_id AND c.position = a.position "
        "WHERE c.release_id = ? AND c.given_up GROUP BY a.attribute ORDER BY a.attribute",
        [release_id],
    )
    known = warehouse.rows(
        "SELECT r.release_id FROM srsql.release AS own INNER JOIN srsql.exposed_release AS r "
        "ON own.dataset = r.dataset AND own.series = r.series AND own.release_id <> r.release_id "
        "WHERE own.release_id = ? ORDER BY r.release_id",
        [release_id],
    )
    return {
        **facts,
        "made_after": [row[0] for row in known],
        "theta": str(parameters.theta),
        "on_infeasible": parameters.on_infeasible,
        "external_knowledge": parameters.knowledge,
        "ss_rule": parameters.symptoms,
        "seed": parameters.seed,
        **parameters.model.private_facts,
        "source": {"name": source, "sha256": digest},
        "files": [
            dict(
                zip(("table", "file", "sha256", "records", "loaded", "rejected"), row, strict=True)
            )
            for row in files
        ],
        "cases": {
            "released": new + old,
            "new": new,
            "old": old,
            "withheld": sum(row[1] for row in reasons),
        },
        "reports": {"released": reports, "withheld": sum(row[2] for row in reasons)},
        "groups": groups,
        "withheld": {row[0]: {"cases": row[1], "reports": row[2]} for row in reasons},
        "values_given_up": {} if parameters.model.releases_synthetic_rows else dict(given_up),
        "infeasible": infeasible,
        **({"sensitive_terms_not_held": sensitive_not_held} if sensitive_not_held else {}),
    }


def keep_metrics(
    warehouse: Warehouse,
    release_id: int,
    manifest: dict[str, Any],
    metrics: list[tuple[Any, ...]],
) -> None:
    """Put the metrics into the private manifest, in memory and in the catalog."""
    manifest["metrics"] = {f"{row[1]} ({row[2]})": row[5] for row in metrics}
    warehouse.run(
        "UPDATE srsql.release SET private_manifest = ? WHERE release_id = ?",
        [json.dumps(manifest), release_id],
    )


def released_rows(warehouse: Warehouse, stores: dict[str, str]) -> dict[str, int]:
    """Rows of each released view (name -> its table in ``STORE``)."""
    return {
        name: warehouse.value(f"SELECT count(*) FROM {dotted(STORE, store)}")
        for name, store in stores.items()
        if name != "manifest"
    }
