"""The rules of a series when a quarter is released: turn, drafts, versions, ids (SPEC 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.perturbation import budgets
from srsql.engine.models import MODELS
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.request import Request
from srsql.engine.release.views import series_views
from srsql.engine.warehouse.layout import IDENTITY, ROWS, SHAPES
from srsql.engine.warehouse.releases import series_over_lattice
from srsql.engine.warehouse.series import Series, schema_of
from srsql.engine.warehouse.statements import STORE, column, create, dotted, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def check_turn(warehouse: Warehouse, series: Series, quarter: str, *, supersede: bool) -> None:
    """Refuse what would change a released quarter or go back in time.

    Raises:
        ReleaseError: the quarter is out already, or a later one is, and ``supersede`` is not set.
    """
    if supersede:
        return
    latest = warehouse.value(
        "SELECT max(r.quarter) FROM srsql.exposed_release AS r "
        "WHERE r.dataset = ? AND r.series = ?",
        [series.dataset, series.name],
    )
    if latest is not None and quarter <= latest:
        what = (
            "is already released" if quarter == latest else f"comes before {latest}, which is out"
        )
        raise ReleaseError(
            f"{quarter} {what} in series {series.name!r}; released quarters are immutable: release "
            "a later quarter, use another --series, or --supersede"
        )


def remove_draft(warehouse: Warehouse, series: Series, quarter: str) -> None:
    """Forget a draft: it was never exposed, so nothing of it needs to be kept."""
    for release_id, schema in warehouse.rows(
        "SELECT r.release_id, r.schema_name FROM srsql.release AS r "
        "WHERE r.dataset = ? AND r.series = ? AND r.quarter = ? AND r.status = 'draft'",
        [series.dataset, series.name, quarter],
    ):
        warehouse.run(f"DROP SCHEMA IF EXISTS {dotted(schema)} CASCADE")
        for (store,) in warehouse.rows(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = ? "
            "AND starts_with(table_name, ?) AND database_name = current_database()",
            [STORE, f"release_{release_id}_"],
        ):
            warehouse.run(f"DROP TABLE {dotted(STORE, store)}")
        for name in (
            "case_qid", "case_term", "member", "region", "threshold", "withheld", "attribute",
            "case_flag", "defended_attack", "claim", "ss_rule", "measure", "external_knowledge",
            "perturbation", "perturbed", "budget_ledger", "disassociated", "utility_constraint",
            "lattice", "lattice_node", "release",
        ):  # fmt: skip
            warehouse.run(f"DELETE FROM {dotted('srsql', name)} WHERE release_id = ?", [release_id])


def supersede_release(warehouse: Warehouse, series: Series, quarter: str, *, but: int) -> None:
    """Take the views of an earlier release of the quarter away; its catalog rows stay."""
    for release_id, schema in warehouse.rows(
        "SELECT r.release_id, r.schema_name FROM srsql.release AS r "
        "WHERE r.dataset = ? AND r.series = ? AND r.quarter = ? AND r.status = 'released' "
        "AND r.release_id <> ?",
        [series.dataset, series.name, quarter, but],
    ):
        warehouse.run(f"DROP SCHEMA {dotted(schema)} CASCADE")
        warehouse.run(
            "UPDATE srsql.release SET status = 'superseded' WHERE release_id = ?", [release_id]
        )


def refresh_series_views(warehouse: Warehouse, dataset: Dataset, series: Series) -> None:
    """Bring ``released.*`` up to date with the releases that are out."""
    told = warehouse.rows(
        "SELECT DISTINCT r.model FROM srsql.disassociated AS d INNER JOIN srsql.release AS r "
        "ON d.release_id = r.release_id WHERE r.dataset = ? AND r.series = ?",
        [series.dataset, series.name],
    )
    apart = tuple(
        dict.fromkeys(name for (model,) in told for name in SHAPES[MODELS[model].term_format])
    )
    if series_over_lattice(warehouse, series.dataset, series.name):
        apart = (ROWS,)
    series_views(
        warehouse,
        dataset,
        series.cumulative_schema,
        warehouse.rows(
            "SELECT r.quarter, r.release_id FROM srsql.release AS r "
            "WHERE r.dataset = ? AND r.series = ? AND r.status = 'released' ORDER BY r.quarter",
            [series.dataset, series.name],
        ),
        apart,
    )


def pseudonym(dataset: Dataset, key: bytes, name: str, value: exp.Expr) -> exp.Expr:
    """``value`` of the id column ``name`` under a key of 64 bytes, as ``srsql.pseudonym`` makes it.

    A report id that is the case id at the same time gets the case's pseudonym.
    """
    pads = [
        exp.func("unhex", exp.Literal.string(bytes(b ^ pad for b in key).hex()))
        for pad in (0x36, 0x5C)
    ]
    kind = exp.Literal.string("case" if name == dataset.case_id else "report")
    call = exp.func("pseudonym", *pads, kind, exp.cast(value, "VARCHAR"))
    return exp.Dot.build([exp.to_identifier("srsql"), call])


def make_identity(warehouse: Warehouse, dataset: Dataset, series: Series) -> None:
    """Fill ``srsql_identity``: the released reports with the ids they are published under.

    Raises:
        ReleaseError: two ids share a pseudonym (one chance in 10**4 at 15 million ids).
    """
    ids = {"report": column("report_id", "r"), "case": column("case_id", "r")}
    public: dict[str, exp.Expr] = dict(ids)
    if series.key:
        names = {"report": dataset.report_id, "case": dataset.case_id}
        public = {
            what: pseudonym(dataset, series.key, names[what], value) for what, value in ids.items()
        }
    query = exp.select(
        ids["report"],
        ids["case"],
        column("case_no", "r"),
        column("group_no", "r"),
        public["report"].copy().as_("public_report"),
        public["case"].copy().as_("public_case"),
    ).from_(temporary("srsql_released", alias="r"))
    warehouse.run(create(exp.to_table(IDENTITY), query, temp=True))
    reports, published, cases, published_cases = warehouse.rows(
        "SELECT count(DISTINCT i.report_id), count(DISTINCT i.public_report),"
        " count(DISTINCT i.case_id), count(DISTINCT i.public_case) "
        "FROM temp.main.srsql_identity AS i"
    )[0]
    if (reports, cases) != (published, published_cases):
        raise ReleaseError("two ids share a pseudonym: give another --series, which gets a new key")


def register(
    warehouse: Warehouse, dataset: Dataset, request: Request, series: Series, ingestion_id: int
) -> int:
    """The catalog row of a release, whose figures follow in ``set_release``; its number."""
    release_id = int(warehouse.value("SELECT nextval('srsql.release_ids')"))
    warehouse.run(
        "INSERT INTO srsql.release VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            release_id,
            dataset.name,
            series.name,
            request.quarter,
            request.model.name,
            "draft" if request.draft else "released",
            request.model.k,
            request.model.k,
            1,
            schema_of(warehouse, series, request.quarter, draft=request.draft),
            ingestion_id,
            "{}",
        ],
    )
    return release_id


def set_release(
    warehouse: Warehouse, model: GroupingModel, release_id: int, k_effective: int
) -> None:
    """What its model promises, and the k that groups were grown to."""
    warehouse.run(
        "INSERT INTO srsql.defended_attack SELECT ?, ?, u.alpha_num, u.alpha_den "
        "FROM temp.main.srsql_run AS u",
        [release_id, list(model.defended_attacks)],
    )
    for claim, bound in model.claims.items():
        warehouse.run(
            "INSERT INTO srsql.claim VALUES (?, ?, ?, ?)",
            [release_id, claim, bound.numerator, bound.denominator],
        )
    warehouse.run(
        "UPDATE srsql.release SET k_effective = ?,"
        " weight_scale = (SELECT u.unit FROM temp.main.srsql_run AS u) WHERE release_id = ?",
        [k_effective, release_id],
    )


@dataclass(frozen=True)
class Status:
    """Rows as dictionaries, ready for a table or JSON."""

    path: str | None
    bytes_on_disk: int
    quarters: list[dict[str, Any]]
    releases: list[dict[str, Any]]
    budget: list[dict[str, Any]]
    """The worst case of each series that spent any; amounts are exact fractions as text."""


def status(warehouse: Warehouse) -> Status:
    """Read the catalog; nothing is changed."""
    size = 0
    if warehouse.path is not None:
        wal = warehouse.path.with_name(warehouse.path.name + ".wal")
        size = sum(file.stat().st_size for file in (warehouse.path, wal) if file.exists())
    return Status(
        path=str(warehouse.path) if warehouse.path else None,
        bytes_on_disk=size,
        quarters=_dicts(
            warehouse,
            "SELECT i.dataset, i.quarter, i.source, sum(f.records)::BIGINT AS records,"
            " sum(f.loaded)::BIGINT AS loaded, sum(f.rejected)::BIGINT AS rejected "
            "FROM srsql.ingestion AS i INNER JOIN srsql.ingested_file AS f USING (ingestion_id) "
            "WHERE NOT i.replaced GROUP BY i.dataset, i.quarter, i.source "
            "ORDER BY i.dataset, i.quarter",
        ),
        releases=_dicts(
            warehouse,
            "SELECT r.dataset, r.series, r.quarter, r.model, r.k, r.status,"
            " r.schema_name AS schema,"
            " (r.private_manifest ->> '$.cases.released')::BIGINT AS released_cases,"
            " (r.private_manifest ->> '$.cases.withheld')::BIGINT AS withheld_cases "
            "FROM srsql.release AS r ORDER BY r.dataset, r.series, r.quarter, r.release_id",
        ),
        budget=[
            {
                "dataset": one.dataset,
                "series": one.series,
                "worst_epsilon": str(one.worst),
                "cases": one.worst_cases,
                "charged_cases": one.cases,
                "calibration": ", ".join(one.calibrations),
                "meaning": one.meaning,
            }
            for one in budgets(warehouse)
        ],
    )


def _dicts(warehouse: Warehouse, query: str) -> list[dict[str, Any]]:
    cursor = warehouse.con.execute(query)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
