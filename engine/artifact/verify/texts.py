"""What the texts of one artifact hold: line ends, more than their column may, ids of others.

A text that holds one of these may be several records in one, which no check of regions sees. The
ids are those that the artifact publishes: ids of the source that stand in texts beside pseudonyms
are seen by those alone who have the source.
"""

from __future__ import annotations

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import NOT_IDS, Column, Manifest, Table, longest
from srsql.engine.artifact.verify.reading import loaded, text
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.catalog.series import ORIGINAL
from srsql.engine.store.statements import column, query, temporary, union_all, with_rows

TOPIC = "artifact/texts"
NOT_SEARCHED = (
    "report id", "case id", "period", "node", "serial number", "stratum", "cut", "counted column",
    "noisy cases", "noise",
)  # fmt: skip
"""Roles of columns in which no id is searched: periods, nodes, strata have declared names, serial
numbers count within a report, and an id column holds its own."""
_ID = r"[\p{L}\p{N}](?s:.*[\p{L}\p{N}])?"


def text_check(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> tuple[Check, int]:
    """The texts of every table of a quarter.

    Args:
        con: into which the tables were loaded.
        manifest: that declares them.

    Returns:
        The check, and how many ids of others stand in texts of which the manifest says that they
        are none there.
    """
    shown = [(item, c) for item in manifest.tables for c in item.columns if c.type == "VARCHAR"]
    if not shown:
        return Check("texts", [], 0), 0
    statement = with_rows(
        query(TOPIC, "texts"),
        published_text=union_all([_texts(item, c) for item, c in shown]),
        published_id=union_all(_ids(manifest)),
        held=exp.maybe_parse(query(TOPIC, "held"), dialect="duckdb"),
        other_id=union_all([_none("place", "value", "id"), *map(_of_others, manifest.tables)]),
    )
    accepted = {"accepted": _accepted(manifest)}
    ((total, places, ids),) = con.execute(statement.sql("duckdb"), accepted).fetchall()
    return Check("texts", places or [], total), ids


def _accepted(manifest: Manifest) -> list[str]:
    """The words that are said to be no ids; of pseudonyms no text holds one by chance."""
    if manifest.parameters.get("ids", ORIGINAL) != ORIGINAL:
        return []
    told = str(manifest.parameters.get(NOT_IDS, ""))
    return [word.strip().upper() for word in told.split(",")]


def _texts(item: Table, shown: Column) -> exp.Query:
    """The distinct texts of a column."""
    return (
        exp.select(
            text(f"{item.name}.{shown.name}").as_("place"),
            column(shown.name, "t").as_("value"),
            exp.convert(longest(shown)).as_("most"),
            exp.convert(shown.role not in NOT_SEARCHED).as_("searched"),
        )
        .distinct()
        .from_(temporary(loaded(item.name), alias="t"))
        .where(column(shown.name, "t").is_(exp.null()).not_())
    )


def _ids(manifest: Manifest) -> list[exp.Query]:
    """Every published id, as text; none where no row of a report is published."""
    found: list[exp.Query] = [_none("id")]
    for shown in manifest.reports.columns if manifest.report_table is not None else ():
        if shown.role in ("report id", "case id"):
            value = exp.cast(column(shown.name, "t"), "VARCHAR").as_("id")
            rows = temporary(loaded(manifest.reports.name), alias="t")
            found.append(exp.select(value).distinct().from_(rows))
    return found


def _of_others(item: Table) -> exp.Query:
    """(place, value, id): ids that texts of a table hold in some row that does not have them."""
    places = [text(f"{item.name}.{c.name}") for c in item.columns if c.type == "VARCHAR"]
    own = [_written(c.name) for c in item.columns if c.role in ("report id", "case id")]
    held = exp.select("h.place", "h.value", "h.id").from_("held AS h")
    held = held.where(column("place", "h").isin(*places) if places else exp.false())
    if not own:
        return held
    parts = [
        exp.select("h.place", "h.value", "h.id")
        .distinct()
        .from_("held AS h")
        .join(
            temporary(loaded(item.name), alias="t"),
            on=exp.and_(
                column("place", "h").eq(text(f"{item.name}.{c.name}")),
                column("value", "h").eq(column(c.name, "t")),
            ),
        )
        .where(exp.not_(column("id", "h").isin(*[each.copy() for each in own])))
        for c in item.columns
        if c.type == "VARCHAR" and c.role not in NOT_SEARCHED
    ]
    return union_all([_none("place", "value", "id"), *parts])


def _written(name: str) -> exp.Expr:
    """An id of a row, as it stands in a text if it does."""
    upper = exp.Upper(this=exp.cast(column(name, "t"), "VARCHAR"))
    return exp.Anonymous(this="regexp_extract", expressions=[upper, text(_ID)])


def _none(*names: str) -> exp.Query:
    """No row, of texts."""
    cells = [exp.cast(exp.null(), "VARCHAR").as_(name) for name in names]
    return exp.select(*cells).where(exp.false())
