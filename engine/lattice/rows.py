"""The released rows of a model over the lattice: under no id, shuffled, numbered anew."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term, trimmed
from srsql.engine.catalog.dimensions import (
    Dimension,
    dimensions_of,
    informative_attribute,
    load_nodes,
    shown_columns,
    value_columns,
)
from srsql.engine.catalog.layout import (
    NUMBER,
    ROWS,
    SOURCE,
    Built,
    raw_table,
    store_of,
)
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.lattice.cube import Made
from srsql.engine.store.statements import STORE, column, create, query, table, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

CLASS = "class of the row"
"""A column beside those of the dataset, none of which has such a name."""


def load_held_values(release: Release, name: str) -> None:
    """Fill ``srsql_held_value(case_no, term, spelling)`` for the quarter of a release.

    What is printed is the key of the term: a spelling may be that of fewer than k cases, and which
    one is the commonest would be told without noise. Version 0 of the key prints a spelling.
    """
    dataset = release.dataset
    attribute = informative_attribute(dataset, name)
    term = raw_term(dataset, attribute.table, attribute.column, "t")
    spelled = trimmed(column(attribute.column, "t"), many=True)
    spelling = term.copy() if dataset.term_key else spelled
    in_report = attribute.table == dataset.report_table
    # a report has one row in its table
    once = in_report and not release.warehouse.value(query("lattice/rows", "gathered"))
    shown = spelling if once else exp.func("min", spelling)
    values = (
        exp.select(column("case_no", "c"), term.as_("term"), exp.alias_(shown, "spelling"))
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .join(
            temporary("srsql_case_report", alias="c"),
            on=column(dataset.report_id, "t").eq(column("report_id", "c")),
        )
        .where(column("quarter", "t").eq(exp.Placeholder()))
        .where(term.copy().is_(exp.null()).not_())
    )
    if not once:
        values = values.group_by(column("case_no", "c"), term.copy())
    statement = create(exp.to_table("srsql_held_value"), values, temp=True)
    release.warehouse.run(statement, [release.quarter])


def make_rows(
    warehouse: Warehouse,
    dataset: Dataset,
    dimensions: Sequence[Dimension],
    informative: str,
    made: Made,
    seed: int | None,
) -> None:
    """Fill ``srsql_pub_released_rows``: the only data of the lattice that are written out.

    Raises:
        ReleaseError: two of its columns would have one name.
    """
    shown = [NUMBER, *shown_columns(dataset, dimensions), informative]
    if len(set(shown)) < len(shown) or informative == "quarter":
        raise ReleaseError(
            f"the informative column {informative!r} is called like another column of the released "
            "rows: leave that dimension out (--dimensions), or rename it in the dataset"
        )
    records = made.records
    load_nodes(warehouse, dimensions)
    classes = (
        exp.select(column("class_no", "o").as_(CLASS, quoted=True))
        .from_(table("owner", alias="o"))
        .join(
            table("class_node", alias="c"),
            on=column("class_no", "o").eq(column("class_no", "c")),
            join_type="left",  # suppressed records are of none
        )
    )
    for place, dimension in enumerate(dimensions):
        classes = _with_values(classes, dataset, dimension, place)
    rows = (
        exp.select(column("row", "r").as_(NUMBER, quoted=True))
        .select(*[column(name, "c") for name in shown[1:-1]])
        .select(column("spelling", "i").as_(informative, quoted=True))
        .from_(table("shuffled_row", alias="r"))
        .join(
            table("class_value", alias="c"),
            on=column("class_no", "r").eq(column(CLASS, "c")),
        )
        .join(
            temporary("srsql_informative", alias="i"),
            on=column("value", "r").eq(column("value", "i")),
        )
    )
    parts = {
        "record_count": query("lattice/rows", "record_counts"),
        "owner": query("lattice/rows", "owners"),
        "class_node": query("lattice/rows", "class_nodes"),
        "class_value": classes.sql("duckdb"),
        "shuffled_row": query("lattice/rows", "shuffled_rows"),
    }
    named = ", ".join(f"{name} AS MATERIALIZED ({text})" for name, text in parts.items())
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE {SOURCE} AS WITH {named} " + rows.sql("duckdb"),
        {
            "owners": records.owner.tolist(),
            "values": records.value.tolist(),
            "counts": records.count.tolist(),
            "nodes": made.nodes.tolist(),
            "seed": seed,
        },
    )


def build_rows(warehouse: Warehouse, dataset: Dataset, release_id: int) -> list[Built]:
    """Keep the released rows in the schema ``STORE``."""
    names, informative = warehouse.rows(
        "SELECT l.dimensions, l.informative FROM srsql.lattice AS l WHERE l.release_id = ?",
        [release_id],
    )[0]
    shown = [NUMBER, *shown_columns(dataset, dimensions_of(dataset, names)), informative]
    rows = (
        exp.select(*[column(name, "t") for name in shown])
        .from_(temporary(SOURCE, alias="t"))
        .order_by(column(NUMBER, "t"))
    )
    store = store_of(release_id, ROWS)
    warehouse.run(create(table(STORE, store), rows))
    return [Built(ROWS, store, rows)]


def _with_values(
    query: exp.Select, dataset: Dataset, dimension: Dimension, place: int
) -> exp.Select:
    """The rows with the values of one dimension, the ``place``-th of the nodes of a class."""
    alias = f"n{dimension.position}"
    values = value_columns(dataset, dataset.qid[dimension.position], alias)
    return query.select(*[value.as_(name, quoted=True) for name, value in values.items()]).join(
        temporary("srsql_dimension_node", alias=alias),
        on=exp.and_(
            column("position", alias).eq(dimension.position),
            column("node", alias).eq(
                exp.func("list_extract", column("nodes", "c"), exp.convert(place + 1))
            ),
        ),
        join_type="left",
    )


def keep_lattice(
    release: Release,
    dimensions: tuple[Dimension, ...],
    informative: str,
    least: int,
    made: Made,
) -> None:
    """Write the node that was taken, and what was seen of the lattice, into the catalog.

    ``least``: records that every published class claims to have.
    """
    warehouse, release_id = release.warehouse, release.release_id
    warehouse.run(
        "INSERT INTO srsql.lattice VALUES (?, ?, ?, ?, ?)",
        [release_id, [d.name for d in dimensions], list(made.levels), informative, least],
    )
    for seen in made.looked_at:
        warehouse.run(
            "INSERT INTO srsql.lattice_node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                release_id,
                list(seen.levels),
                seen.levels == made.levels,
                seen.classes,
                seen.records,
                seen.suppressed,
                seen.counterfeits,
                seen.loss.ncp,
                seen.loss.emd_records,
                seen.loss.rate,
                seen.loss.emd,
                seen.probability,
            ],
        )
