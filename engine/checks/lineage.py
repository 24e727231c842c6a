"""Proof that a released view shows only what the dataset schema lets out (SPEC section 16).

For every column of every released view, sqlglot traces the projection back through the view and
the query that filled its table to columns of source tables; each must be a published column, the
region, or the public id.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.lineage import Node, lineage

from srsql.engine.catalog.layout import (
    IDENTITY,
    NOISY_COUNTS,
    REGION,
    ROWS,
    SERIAL,
    SHAPES,
    SOURCE,
    Built,
    count_columns,
    derived,
    key_columns,
    raw_table,
    region_columns,
    row_columns,
    source_of,
    store_of,
)
from srsql.engine.checks import Evidence
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Measure
from srsql.engine.store.statements import STORE
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Source = tuple[str, str]
"""(table, column)."""


def check_views(evidence: Evidence) -> list[Measure]:
    """Every column of the views of a release; it has no row, since it refuses."""
    release = evidence.release
    corrects = release.warehouse.value(
        "SELECT c.corrects FROM srsql.correction AS c WHERE c.release_id = ?", [release.release_id]
    )
    check_lineage(
        release.warehouse, release.visible_dataset, release.schema, evidence.built, corrects
    )
    return []


def check_lineage(
    warehouse: Warehouse,
    dataset: Dataset,
    schema: str,
    built: list[Built],
    corrects: int | None = None,
) -> int:
    """Check every column of the views of ``schema``; how many columns were proved.

    ``corrects``: the version whose rows were copied. Its columns were proved when it was made: a
    column may show the one of the same name, if the schema lets it out still.

    Raises:
        CheckFailedError: a view shows a column that the schema does not let out, or one whose
            origin cannot be traced.
    """
    proved = 0
    texts = dict(
        warehouse.rows(
            "SELECT view_name, sql FROM duckdb_views() WHERE schema_name = ? "
            "AND database_name = current_database()",
            [schema],
        )
    )
    for item in built:
        allowed = _allowed(dataset, item.name)
        copied = set() if corrects is None else _copied(dataset, item.name, corrects)
        origins = origins_of(item.query)
        for name, origin in _view_columns(texts[item.name], schema, item).items():
            if origin not in origins:
                raise CheckFailedError(f"column {origin!r} cannot be traced to its source")
            for source in origins[origin]:
                if source not in allowed and not (source in copied and source[1] == name):
                    raise CheckFailedError(
                        f"view {schema}.{item.name} would show {source[1]!r} of {source[0]!r} in "
                        f"column {name!r}, which the dataset schema does not publish: refused"
                    )
            proved += 1
    return proved


def _allowed(dataset: Dataset, name: str) -> set[Source]:
    terms = count_columns(dataset) | NOISY_COUNTS
    terms |= {table: shown for shape in SHAPES.values() for table, shown in shape.items()}
    if name in terms and all(name != source.name for source in dataset.tables):
        # composed of terms alone; clusters within QID-groups show their region
        own = {(source_of(name), shown) for shown in terms[name]}
        return own | {(REGION, shown) for shown in region_columns(dataset)}
    if name == ROWS:  # the informative column was published, or was refused, when it was chosen
        return {(SOURCE, shown) for shown in row_columns(dataset)}
    published = dataset.table(name).publish
    raw = raw_table(dataset, name).name
    allowed: set[Source] = {(IDENTITY, "public_report"), (IDENTITY, "public_case")}
    allowed |= {(raw, shown) for shown in published} | {(SERIAL, "ordinal")}
    # whether a published term is a placeholder, or left out, decides if it is shown
    allowed |= {(raw, derived(shown)) for shown in published} | {("srsql_hidden", "term")}
    if name == dataset.report_table:
        shown = (*region_columns(dataset), *dataset.cluster_columns)
        allowed |= {(REGION, name) for name in shown}
    return allowed


def _copied(dataset: Dataset, name: str, corrects: int) -> set[Source]:
    """What the table of the version before shows by the schema: ids, region, published columns."""
    shown = {dataset.report_id, dataset.case_id, *dataset.table(name).publish}
    shown |= set(key_columns(dataset, name).values())
    if name == dataset.report_table:
        shown |= {"quarter", *region_columns(dataset)}
    return {(store_of(corrects, name), column) for column in shown}


def _view_columns(text: str, schema: str, item: Built) -> dict[str, str]:
    """Column of the view -> column of its table, read off the view as it is in the warehouse."""
    query = sqlglot.parse_one(text, dialect="duckdb").expression
    tables = list(query.find_all(exp.Table))
    if [(t.db, t.name) for t in tables] != [(STORE, item.store)]:
        raise CheckFailedError(f"view {schema}.{item.name} does not read its own table alone")
    columns = {}
    for projection in query.selects:
        origin = projection.unalias()
        if not isinstance(origin, exp.Column):
            raise CheckFailedError(
                f"view {schema}.{item.name} computes a column: {projection.sql()}"
            )
        columns[projection.alias_or_name] = origin.name
    return columns


def origins_of(query: exp.Query) -> dict[str, set[Source]]:
    """Source columns that each output column of a query derives from; literals have none.

    Raises:
        CheckFailedError: one cannot be traced.
    """
    try:
        roots = lineage(None, query, schema={}, dialect="duckdb")
    except (SqlglotError, ValueError) as error:
        raise CheckFailedError(f"columns cannot be traced to their source: {error}") from None
    if not isinstance(roots, dict):
        raise CheckFailedError("columns cannot be traced to their source")
    return {name: _leaves(name, root) for name, root in roots.items()}


def _leaves(name: str, root: Node) -> set[Source]:
    leaves: set[Source] = set()
    for node in root.walk():
        if node.downstream:
            continue
        if isinstance(node.expression, exp.Table):
            leaves.add((node.expression.name, node.name.split(".")[-1].strip('"')))
        elif node.expression.find(exp.Column, exp.Star, exp.Query):
            raise CheckFailedError(f"column {name!r} cannot be traced to its source")
    return leaves
