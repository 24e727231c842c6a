"""The check of released rows over the lattice after the fact: see ``checks/lattice.sql``.

It reads the published view, the dataset schema, and which node the catalog says was taken.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.checks.postcheck import require_passed
from srsql.engine.measures import Measure
from srsql.engine.warehouse.dimensions import dimensions_of, load_nodes, value_columns
from srsql.engine.warehouse.layout import NUMBER, ROWS
from srsql.engine.warehouse.statements import column, create, table, temporary, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid


def check_lattice_rows(
    warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int
) -> list[Measure]:
    """Rows are numbered anew, all of one node, and every class has as many as is claimed.

    Args:
        warehouse: within a transaction.
        dataset: as the model takes it.
        schema: of the release's views.
        release_id: of the catalog.

    Raises:
        CheckFailedError: one check failed; the text names it.
    """
    names, levels, informative, least = warehouse.rows(
        "SELECT l.dimensions, l.levels, l.informative, l.least FROM srsql.lattice AS l "
        "WHERE l.release_id = ?",
        [release_id],
    )[0]
    dimensions = dimensions_of(dataset, names)
    load_nodes(warehouse, dimensions)
    seen: list[exp.Query] = []
    allowed: list[exp.Query] = []
    for place, (dimension, level) in enumerate(zip(dimensions, levels, strict=True)):
        qid = dataset.qid[dimension.position]
        shown = list(value_columns(dataset, qid, "n"))
        seen.append(
            exp.select(
                column(NUMBER, "v").as_("number"),
                exp.convert(place).as_("place"),
                _text(qid, [column(name, "v") for name in shown]).as_("shown"),
            ).from_(table(schema, ROWS, alias="v"))
        )
        values = list(value_columns(dataset, qid, "n").values())
        allowed.append(
            exp.select(exp.convert(place).as_("place"), _text(qid, values).as_("shown"))
            .from_(temporary("srsql_dimension_node", alias="n"))
            .where(column("position", "n").eq(dimension.position))
            .where(column("level", "n").eq(level))
        )
    numbered = exp.select(
        column(NUMBER, "v").as_("number"), column(informative, "v").as_("informative")
    ).from_(table(schema, ROWS, alias="v"))
    for name, query in (
        ("srsql_seen_number", numbered),
        ("srsql_seen_dimension", union_all(seen)),
        ("srsql_allowed_dimension", union_all(allowed)),
    ):
        warehouse.run(create(exp.to_table(name), query, temp=True))
    measures = warehouse.rows(
        "SELECT n.* FROM srsql.check_row_numbers('temp.main.srsql_seen_number', ?) AS n "
        "UNION ALL SELECT d.* FROM srsql.check_row_levels('temp.main.srsql_seen_dimension',"
        " 'temp.main.srsql_allowed_dimension', ?) AS d "
        "UNION ALL SELECT c.* FROM srsql.check_row_classes('temp.main.srsql_seen_dimension',"
        " ?, ?) AS c",
        [release_id, release_id, least, release_id],
    )
    require_passed(measures)
    return measures


def _text(qid: Qid, values: list[exp.Expr]) -> exp.Expr:
    """One text of a published value; missing bounds are ``*``."""
    texts = [exp.cast(value, "VARCHAR") for value in values]
    if not qid.bounded:
        return texts[0]
    both = exp.DPipe(this=texts[0], expression=exp.Literal.string(" to "))
    joined = exp.DPipe(this=both, expression=texts[1])
    return exp.func("coalesce", joined, exp.Literal.string("*"))
