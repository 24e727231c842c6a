"""The checks of released rows over the lattice: see ``sql_macros/checks/lattice.sql``.

They read the published view, the dataset schema, and which node the catalog says was taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.dimensions import dimensions_of, load_nodes, value_columns
from srsql.engine.catalog.layout import NUMBER, ROWS
from srsql.engine.catalog.releases import Release
from srsql.engine.checks import TOPIC, Evidence, checked_key
from srsql.engine.measures import Measure
from srsql.engine.store.statements import (
    column,
    literal,
    query,
    table,
    temporary,
    union_all,
)
from srsql.schemas import Dataset

SEEN, ALLOWED = "seen_dimension", "allowed_dimension"


def check_row_numbers(evidence: Evidence) -> list[Measure]:
    """Rows are numbered anew."""
    release = evidence.release
    _, _, informative, _ = taken(release)
    numbered = exp.select(
        column(NUMBER, "v").as_("number"), column(informative, "v").as_("informative")
    ).from_(table(release.schema, ROWS, alias="v"))
    return evidence.ask(
        "check_row_numbers", literal("seen_number"), tables={"seen_number": numbered.sql("duckdb")}
    )


def check_row_levels(evidence: Evidence) -> list[Measure]:
    """All rows are of the node that was taken."""
    release = evidence.release
    names, levels, _, _ = taken(release)
    load_nodes(release.warehouse, dimensions_of(release.dataset, names))
    tables = {
        SEEN: dimension_values(release.dataset, release.schema, names).sql("duckdb"),
        ALLOWED: values_of_levels(release.dataset, names, levels).sql("duckdb"),
    }
    return evidence.ask("check_row_levels", *map(literal, tables), tables=tables)


def check_row_classes(evidence: Evidence) -> list[Measure]:
    """Every class has as many rows as is claimed."""
    release = evidence.release
    names, _, _, least = taken(release)
    shown = row_classes(release.dataset, release.schema, names).sql("duckdb")
    return evidence.ask("check_row_classes", literal(SEEN), least, tables={SEEN: shown})


def check_charges(evidence: Evidence) -> list[Measure]:
    """Every case of the quarter is charged."""
    return evidence.ask("check_charges")


def taken(release: Release) -> tuple[list[str], list[int], str, int]:
    """Dimensions, their levels, the informative column and the least number of rows of a class."""
    ((names, levels, informative, least),) = release.warehouse.rows(
        query(TOPIC, "lattice"), {"release": release.release_id}
    )
    return names, levels, informative, least


def dimension_values(dataset: Dataset, schema: str, names: list[str]) -> exp.Query:
    """(number, place, shown): every published value of a dimension as text."""
    parts: list[exp.Query] = []
    for place, published in enumerate(_published(dataset, names)):
        parts.append(
            exp.select(
                column(NUMBER, "v").as_("number"),
                exp.convert(place).as_("place"),
                _text(published).as_("shown"),
            ).from_(table(schema, ROWS, alias="v"))
        )
    return union_all(parts)


def row_classes(
    dataset: Dataset, schema: str, names: list[str], informative: str | None = None
) -> exp.Query:
    """(shown[, informative], row_count): the published values of the dimensions as texts, the key
    of the informative value, if that is asked, and how many rows have them."""
    shown = list(_published(dataset, names))
    texts = [_text(published) for published in shown]
    beside = [checked_key(column(informative, "v"), dataset.term_key)] if informative else []
    return (
        exp.select(exp.func("list_value", *texts).as_("shown"))
        .select(*[each.as_("informative") for each in beside])
        .select(exp.Count(this=exp.Star()).as_("row_count"))
        .from_(table(schema, ROWS, alias="v"))
        .group_by(*[each.copy() for published in shown for each in published])
        .group_by(*[each.copy() for each in beside])
    )


def _published(dataset: Dataset, names: list[str]) -> Iterator[list[exp.Column]]:
    """The columns of each dimension in the published view ``v``."""
    for dimension in dimensions_of(dataset, names):
        yield [column(name, "v") for name in dataset.qid[dimension.position].published]


def values_of_levels(dataset: Dataset, names: list[str], levels: list[int]) -> exp.Query:
    """(place, shown): the values that the levels have; needs ``srsql_dimension_node``."""
    parts: list[exp.Query] = []
    dimensions = dimensions_of(dataset, names)
    for place, (dimension, level) in enumerate(zip(dimensions, levels, strict=True)):
        qid = dataset.qid[dimension.position]
        values = list(value_columns(dataset, qid, "n").values())
        parts.append(
            exp.select(exp.convert(place).as_("place"), _text(values).as_("shown"))
            .from_(temporary("srsql_dimension_node", alias="n"))
            .where(column("position", "n").eq(dimension.position))
            .where(column("level", "n").eq(level))
        )
    return union_all(parts)


def node_texts(release: Release, names: list[str], levels: list[int]) -> list[tuple[Any, ...]]:
    """(place, node, shown): the text of every node of the levels, by the place of its dimension."""
    dimensions = dimensions_of(release.dataset, names)
    load_nodes(release.warehouse, dimensions)
    parts: list[exp.Query] = []
    for place, (dimension, level) in enumerate(zip(dimensions, levels, strict=True)):
        qid = release.dataset.qid[dimension.position]
        values = list(value_columns(release.dataset, qid, "n").values())
        parts.append(
            exp.select(exp.convert(place), column("node", "n"), _text(values))
            .from_(temporary("srsql_dimension_node", alias="n"))
            .where(column("position", "n").eq(dimension.position))
            .where(column("level", "n").eq(level))
        )
    return release.warehouse.rows(union_all(parts).sql("duckdb"))


def _text(values: Sequence[exp.Expr]) -> exp.Expr:
    """One text of a value from its columns; of two, which are bounds, missing ones are ``*``."""
    texts = [exp.cast(value, "VARCHAR") for value in values]
    if len(texts) == 1:
        return texts[0]
    both = exp.DPipe(this=texts[0], expression=exp.Literal.string(" to "))
    joined = exp.DPipe(this=both, expression=texts[1])
    return exp.func("coalesce", joined, exp.Literal.string("*"))
