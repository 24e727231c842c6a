"""Series: the sequence of releases made for one audience, and its rules (SPEC section 5)."""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.errors import ReleaseError
from srsql.engine.models import MODELS
from srsql.engine.release.views import series_views
from srsql.engine.warehouse.layout import IDENTITY, ROWS, SHAPES
from srsql.engine.warehouse.releases import series_over_lattice
from srsql.engine.warehouse.series import Series
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
    apart = tuple(dict.fromkeys(name for (model,) in told for name in SHAPES[MODELS[model].tells]))
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
