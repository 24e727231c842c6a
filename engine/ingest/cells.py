"""The values of a record as the raw tables take them: its ids, its terms, its other columns."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from srsql.engine.catalog.datasets import trimmed
from srsql.engine.catalog.layout import raw_columns
from srsql.engine.ingest.records import call, field_at, is_null, text_of
from srsql.engine.store.statements import SPACE, bare, column, scalar_macro
from srsql.schemas import Dataset, Table

KEY_SIGN = ":"
"""What stands between the parts of a composite key; no part holds it."""


def raw_value(
    dataset: Dataset, declared: Table, places: Mapping[str, int], name: str
) -> exp.Expression:
    """One raw column as it is taken from the fields of a record."""
    if name in declared.unpivot:
        values = [read_field(dataset, places[s]) for s in declared.unpivot[name] if s in places]
        listed = exp.cast(
            exp.Array(expressions=values), exp.DataType.build("VARCHAR[]", dialect="duckdb")
        )
        return call("unnest", listed)
    if name in declared.split:
        how = declared.split[name]
        cell: exp.Expression = exp.cast(exp.null(), "VARCHAR")
        if name in places:
            cell = read_field(dataset, places[name])
        signs = (text_of(how.by), text_of(how.take or ""))
        parts = scalar_macro("cell_parts", cell, *signs)
        return exp.Anonymous(this="unnest", expressions=[parts])
    if name in dataset.id_columns and (name in declared.key or name in places):
        return id_value(dataset, declared, places, name)
    wanted = dict.fromkeys((name, declared.fallback.get(name, name)))
    read = [read_field(dataset, places[each]) for each in wanted if each in places]
    if not read:
        kind = raw_columns(dataset, declared)[name]
        return exp.cast(exp.null(), kind)
    value, *fallback = read
    if fallback:
        value = exp.Case().when(is_null(trimmed(value)), fallback[0]).else_(value)
    return exp.Nullif(this=value, expression=text_of(""))


def read_field(dataset: Dataset, place: int, source: str | None = None) -> exp.Expression:
    """One field of a record; NULL where it holds a word that means blank.

    Args:
        dataset: declares these words.
        place: of the field, from 1.
        source: the alias of the records.
    """
    value = field_at(place, source)
    if not dataset.source.null:
        return value
    words: list[exp.Expression] = [
        exp.Upper(this=text_of(word.strip(SPACE))) for word in dataset.source.null
    ]
    blank = exp.In(this=exp.Upper(this=bare(value.copy(), many=True)), expressions=words)
    return exp.Case().when(exp.Not(this=blank), value)


def identifier(dataset: Dataset, value: exp.Expression) -> exp.Expression:
    """An id as the raw tables hold it; NULL if blank or, where integers are due, not one."""
    text = trimmed(value)
    if dataset.id_type == "text":
        return text
    found = exp.Case()
    for written in (value, text):  # most are digits alone, and trimming costs more than looking
        digits = call("regexp_full_match", written.copy(), text_of("[0-9]+"))
        number = exp.TryCast(this=written.copy(), to=exp.DataType.build("BIGINT"))
        found = found.when(digits, number)
    return found


def id_value(
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    name: str,
    source: str | None = None,
) -> exp.Expression:
    """An id of a record; of a composite key its parts as one text, NULL if one is blank.

    Args:
        dataset: declares the ids.
        declared: the table that the record is of. Where it has fewer parts than the report table,
            the text is the beginning of the keys of several reports (see ``key_beginning``).
        places: where the columns of the table are in the file.
        name: the column of the id.
        source: the alias of the records.
    """
    if name not in declared.key:
        return identifier(dataset, read_field(dataset, places[name], source))
    return joined_key([read_field(dataset, places[part], source) for part in declared.key[name]])


def joined_key(parts: list[exp.Expression]) -> exp.Expression:
    """The parts of a composite key as one text: keys that differ in a part are different texts."""
    texts = [trimmed(part) for part in parts]
    joined, together = texts[0], texts[0]
    for text in texts[1:]:
        joined = exp.DPipe(
            this=exp.DPipe(this=joined, expression=text_of(KEY_SIGN)), expression=text.copy()
        )
        together = exp.DPipe(this=together, expression=text.copy())
    plain = exp.not_(call("contains", together.copy(), text_of(KEY_SIGN)))
    return exp.Case().when(plain, joined.copy())


def spreads(dataset: Dataset, declared: Table) -> bool:
    """Whether a row of a table is of each report whose key begins with the parts that it has."""
    return declared.parts(dataset.report_id) < dataset.table(dataset.report_table).parts(
        dataset.report_id
    )


def key_beginning(dataset: Dataset, declared: Table, reports: str) -> exp.Expression:
    """The beginning of the key of a report, as far as the rows of a table have it.

    Args:
        dataset: declares the key.
        declared: a child table that ``spreads``.
        reports: the alias of the rows of the report table.
    """
    report = dataset.table(dataset.report_table)
    parts = report.key[dataset.report_id][: declared.parts(dataset.report_id)]
    return joined_key([column(part, reports) for part in parts])
