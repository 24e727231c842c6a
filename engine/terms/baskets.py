"""From the released cases of a quarter to the sets of terms that are disassociated, and back.

The released tables of terms are composed here too: none has an id of a case or report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from srsql.engine.catalog.datasets import normalized, raw_term
from srsql.engine.catalog.layout import (
    CLUSTERS,
    COLUMNS,
    REGION,
    SHAPES,
    Built,
    raw_table,
    region_columns,
    source_of,
    store_of,
)
from srsql.engine.errors import ReleaseError
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
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.schemas import Dataset


@dataclass(frozen=True)
class TermSource:
    """One attribute of which the terms are taken apart from whole rows."""

    attribute: str
    """As it is asked for: a column, or ``COLUMN/QUALIFIER``."""
    table: str
    column: str
    qualifier: str | None
    """A column of the same table that is told with each term, such as the role of a drug."""
    sensitive: bool


def term_sources(dataset: Dataset, attributes: tuple[str, ...]) -> list[TermSource]:
    """Where the terms of these attributes are.

    Raises:
        ReleaseError: one of them is no published column of a child table, or there twice.
    """
    sensitive = {(a.table, a.column) for a in dataset.sensitive}
    columns = {
        name: child
        for child in dataset.child_tables
        for name in child.publish
        if name not in child.serial
    }
    found: list[TermSource] = []
    for attribute in attributes:
        name, _, qualifier = attribute.partition("/")
        child = columns.get(name)
        if child is None:
            raise ReleaseError(
                f"--term-attributes: {name!r} is no published attribute of dataset {dataset.name} "
                f"(it has: {', '.join(columns)})"
            )
        beside = [other for other in child.publish if other in columns and other != name]
        if ("/" in attribute) and qualifier not in beside:
            raise ReleaseError(
                f"--term-attributes: {attribute!r} names no column that {child.name} publishes "
                f"beside {name} (it has: {', '.join(beside) or 'none'})"
            )
        if any(other.column == name for other in found):
            raise ReleaseError(f"--term-attributes names {name} twice")
        told = (child.name, name) in sensitive
        found.append(TermSource(attribute, child.name, name, qualifier or None, told))
    return found


def check_attributes(dataset: Dataset, terms: DisassociationParameters) -> None:
    """Refuse attributes that are not terms, or that the dataset schema does not let out.

    Raises:
        ReleaseError: the text names the attribute and what there is.
    """
    taken = {source.name for source in dataset.tables} & {
        name for shape in SHAPES.values() for name in shape
    }
    if taken:
        raise ReleaseError(
            f"dataset {dataset.name} has a table {min(taken)}, as disassociated terms have: its "
            "terms cannot be released apart from it"
        )
    shown = set(region_columns(dataset)) & set(COLUMNS[CLUSTERS])
    if shown:
        raise ReleaseError(
            f"dataset {dataset.name} has a quasi-identifier {min(shown)}, as a column of clusters "
            "is called: call it otherwise to release terms apart from their rows"
        )
    columns: tuple[str, ...] = terms.of_clusters(lambda: terms.attributes, tuple)
    if not columns:
        term_sources(dataset, terms.attributes)
    known = {a.column: a.table for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    for name in columns:
        if name not in known:
            raise ReleaseError(
                f"--term-attributes: {name!r} is no attribute with terms of dataset "
                f"{dataset.name} (it has: {', '.join(known)})"
            )
        if name not in dataset.table(known[name]).publish:
            raise ReleaseError(f"--term-attributes: dataset {dataset.name} does not publish {name}")
        if known[name] == dataset.report_table:
            raise ReleaseError(
                f"--term-attributes: {name} is a column of {known[name]}, one value a report, not "
                "a set of terms"
            )


def load_baskets(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    terms: DisassociationParameters,
    *,
    grouped: bool,
    least: int,
) -> None:
    """Fill the tables of ``terms/steps/baskets.sql`` from the raw rows of the quarter.

    ``grouped``: clusters lie inside QID-groups; ``least``: records that a cluster needs.
    """
    chosen = {a.column: a.table for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    parts: list[exp.Query] = [
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(name).as_("attribute"),
            raw_term(dataset, chosen[name], name, "t").as_("term"),
            exp.Count(this=exp.Star()).as_("times"),
        )
        .from_(raw_table(dataset, chosen[name], alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
        .where(raw_term(dataset, chosen[name], name, "t").is_(exp.null()).not_())
        .group_by(column(dataset.report_id, "t"), raw_term(dataset, chosen[name], name, "t"))
        for name in terms.attributes
    ]
    items = union_all(parts).sql("duckdb")
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE srsql_case_item AS WITH report_item AS ({items}) "
        f"SELECT i.* FROM ({query('terms/baskets', 'case_items')}) AS i",
        {
            "prefixed": len(terms.attributes) > 1,
            "repeated": terms.repeated,
            "grouped": grouped,
        },
    )
    warehouse.run_step("terms/baskets", {"grouped": grouped, "least": least})


def load_rows(
    warehouse: Warehouse, dataset: Dataset, quarter: str, terms: DisassociationParameters
) -> None:
    """Fill the tables of ``terms/steps/group_baskets.sql`` from the raw rows of the quarter."""
    parts: list[exp.Query] = []
    none = exp.cast(exp.null(), "VARCHAR")
    declared = {(a.table, a.column) for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    for source in term_sources(dataset, terms.attributes):
        is_declared = (source.table, source.column) in declared
        term = (
            raw_term(dataset, source.table, source.column, "t")
            if is_declared
            else normalized(column(source.column, "t"))
        )
        beside = normalized(column(source.qualifier, "t")) if source.qualifier else none.copy()
        parts.append(
            exp.select(
                column(dataset.report_id, "t").as_("report_id"),
                exp.Literal.string(source.attribute).as_("attribute"),
                term.as_("term"),
                beside.as_("qualifier"),
                exp.convert(source.sensitive).as_("sensitive"),
            )
            .from_(raw_table(dataset, source.table, alias="t"))
            .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
            .where(term.copy().is_(exp.null()).not_())
        )
    items = with_rows(query("terms/baskets", "row_items"), report_item=union_all(parts))
    warehouse.run(create(temporary("srsql_case_item"), items, temp=True))
    warehouse.run_step("terms/group_baskets", {"diversity": terms.diversity})


def term_queries(
    dataset: Dataset, *, grouped: bool, shape: Mapping[str, tuple[str, ...]] = COLUMNS
) -> dict[str, exp.Query]:
    """Released table -> the query that fills it.

    ``grouped``: clusters lie inside QID-groups and show their region; ``shape``: of ``SHAPES``.
    """
    queries: dict[str, exp.Query] = {}
    for name, columns in shape.items():
        rows = exp.select(*[column(shown, "t") for shown in columns])
        rows = rows.from_(temporary(source_of(name), alias="t"))
        if name == CLUSTERS and grouped:
            groups = sqlglot.parse_one(query("terms/baskets", "cluster_groups"), dialect="duckdb")
            rows = (
                rows.select(*[column(shown, "r") for shown in region_columns(dataset)])
                .join(
                    exp.Subquery(this=groups, alias=exp.to_identifier("g", quoted=True)),
                    on=column("cluster", "t").eq(column("cluster", "g")),
                )
                .join(
                    temporary(REGION, alias="r"),
                    on=column("group_no", "g").eq(column("group_no", "r")),
                )
            )
        queries[name] = rows.order_by(*[column(shown, "t") for shown in columns])
    return queries


def build_term_tables(
    warehouse: Warehouse,
    dataset: Dataset,
    release_id: int,
    *,
    grouped: bool,
    shape: Mapping[str, tuple[str, ...]],
) -> list[Built]:
    """Fill one table per released view in the schema ``STORE``."""
    built = []
    for name, rows in term_queries(dataset, grouped=grouped, shape=shape).items():
        store = store_of(release_id, name)
        warehouse.run(create(table(STORE, store), rows))
        built.append(Built(name, store, rows))
    return built
