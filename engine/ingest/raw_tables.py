"""One staged file into its raw table: judge its records, load the good, keep the others."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from srsql.engine.errors import IngestError
from srsql.engine.ingest import numbers, typed
from srsql.engine.ingest.records import RECORD, Layout
from srsql.engine.warehouse.catalog import trimmed
from srsql.engine.warehouse.statements import column, create, table, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset, Table

_JUDGED = temporary("srsql_judged")
RECORD_TEXT = 10_000
"""Characters of a rejected record that the rejects table keeps."""


def raw_table(dataset: Dataset, name: str, alias: str | None = None) -> exp.Table:
    """The raw table of a declared table."""
    return table(f"raw_{dataset.name}", name, alias=alias)


def create_raw_tables(warehouse: Warehouse, dataset: Dataset) -> None:
    """Make the raw schema and its tables where they are not there yet.

    Raises:
        IngestError: a schema of that name is somebody else's.
    """
    schema = f"raw_{dataset.name}"
    theirs = warehouse.value(
        "SELECT min(o.name) FROM ("
        "SELECT t.database_name, t.schema_name, t.table_name AS name FROM duckdb_tables() AS t "
        "UNION ALL SELECT v.database_name, v.schema_name, v.view_name FROM duckdb_views() AS v"
        ") AS o WHERE o.database_name = current_database() AND lower(o.schema_name) = ? "
        "AND NOT EXISTS (FROM srsql.ingestion AS i WHERE i.dataset = ?)",
        [schema, dataset.name],
    )
    if theirs is not None:
        raise IngestError(
            f"the warehouse has a schema {schema} of its own (with {theirs}): rename it, or give "
            "the dataset another name"
        )
    warehouse.run(
        exp.Create(
            this=exp.Table(db=exp.to_identifier(schema, quoted=True)),
            kind="SCHEMA",
            exists=True,
        ).sql(dialect="duckdb")
    )
    for declared in dataset.tables:
        columns = [
            exp.ColumnDef(
                this=exp.to_identifier(name, quoted=True),
                kind=exp.DataType.build(kind, dialect="duckdb"),
            )
            for name, kind in typed.raw_columns(dataset, declared).items()
        ]
        target = exp.Schema(this=raw_table(dataset, declared.name), expressions=columns)
        warehouse.run(exp.Create(this=target, kind="TABLE", exists=True).sql(dialect="duckdb"))


def delete_period(warehouse: Warehouse, dataset: Dataset, quarter: str) -> None:
    """Take the raw rows of one period out."""
    for declared in dataset.tables:
        target = raw_table(dataset, declared.name).sql(dialect="duckdb")
        warehouse.run(f"DELETE FROM {target} WHERE quarter = ?", [quarter])


def positions(file: str, dataset: Dataset, declared: Table, layout: Layout) -> dict[str, int]:
    """Column (declared, or a source of an unpivoted one) -> its place in the file, from 1.

    Raises:
        IngestError: an id column is missing, or a declared column is there twice.
    """
    wanted = {c.name: (c.name, *c.aliases) for c in declared.columns}
    wanted |= {name: (name,) for sources in declared.unpivot.values() for name in sources}
    found: dict[str, int] = {}
    for name, spellings in wanted.items():
        present = [s.lower() for s in spellings if s.lower() in layout.names]
        if present and layout.names.count(present[0]) > 1:
            raise IngestError(f"{file}: column {present[0]} is in the header twice: rename one")
        if present:
            found[name] = layout.names.index(present[0]) + 1
    needed = [dataset.report_id]
    if declared.name == dataset.report_table:
        needed.append(dataset.case_id)
    for name in needed:
        if name not in found:
            raise IngestError(
                f"{file}: no column {' or '.join(wanted[name])} in its header: "
                "is line 1 the header, and the dataset the right one?"
            )
    return found


def judge(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    place: Mapping[str, int],
    layout: Layout,
) -> None:
    """Fill ``srsql_judged``: every record with ``reason``, NULL where it can be loaded."""
    report = declared.name == dataset.report_table
    report_id = _field(place[dataset.report_id])
    reason = exp.Case().when(_known(column("fault")), column("fault"))
    for condition, text in _width_faults(layout):
        reason = reason.when(condition, exp.Literal.string(text))
    keys = {"report id": report_id}
    if report and dataset.case_id != dataset.report_id:
        keys["case id"] = _field(place[dataset.case_id])
    for name, value in keys.items():
        blank = exp.Is(this=trimmed(value), expression=exp.null())
        reason = reason.when(blank, exp.Literal.string(f"blank {name}"))
        wrong = exp.Is(this=exp.paren(typed.identifier(dataset, value)), expression=exp.null())
        reason = reason.when(wrong, exp.Literal.string(f"{name} is not an integer"))
    judged = (
        exp.select(
            "line",
            "lines",
            "field",
            exp.alias_(reason, "reason"),
            exp.alias_(typed.identifier(dataset, report_id), "report_id"),
        )
        .from_(RECORD.copy())
        .where("line > 1")
    )
    if report:
        repeated = (
            "CASE WHEN reason IS NULL AND row_number() OVER "
            "(PARTITION BY report_id, reason IS NULL ORDER BY line) > 1 "
            "THEN 'duplicate report id' ELSE reason END AS reason"
        )
        judged = exp.select("line", "lines", "field", repeated, dialect="duckdb").from_(
            judged.subquery("judged", copy=False), copy=False
        )
    warehouse.run(create(_JUDGED.copy(), judged, temp=True))
    warehouse.run("DROP TABLE temp.main.srsql_record")


def load(
    warehouse: Warehouse, dataset: Dataset, declared: Table, place: Mapping[str, int], quarter: str
) -> None:
    """Insert the records that can be loaded, in file order, with their derived columns."""
    # a select that grows column by column is copied with all its columns every time
    names = typed.source_columns(declared)
    read = (exp.alias_(_source(dataset, declared, place, n), n, quoted=True) for n in names)
    parsed = exp.select("line", *read).from_(_JUDGED.copy()).where("reason IS NULL")
    parsed = numbers.measured(parsed, typed.qids(dataset, declared))
    query = exp.select().from_(parsed.subquery("parsed", copy=False), copy=False)
    derived = []
    for qid in typed.qids(dataset, declared):
        if qid.kind == "numeric":
            derived.append(numbers.numeric(qid)[0])
        else:
            query = typed.code_join(query, qid, "parsed")
            derived.append(typed.categorical(qid, "parsed")[0])
    for name, placeholders in typed.terms(dataset, declared).items():
        derived.append(typed.term(name, placeholders, "parsed"))
    query = query.select(
        exp.Literal.string(quarter),
        *(column(name, "parsed") for name in ("line", *names)),
        *derived,
        copy=False,
    )
    if declared.unpivot:
        query = query.where(
            exp.or_(*(_known(trimmed(column(name, "parsed"))) for name in declared.unpivot)),
            copy=False,
        )
    target = exp.Schema(
        this=raw_table(dataset, declared.name),
        expressions=[
            exp.to_identifier(name, quoted=True) for name in typed.raw_columns(dataset, declared)
        ],
    )
    query = query.order_by(column("line", "parsed"), copy=False)
    warehouse.run(exp.Insert(this=target, expression=query).sql(dialect="duckdb"))


def keep_rejects(
    warehouse: Warehouse,
    dataset: Dataset,
    declared: Table,
    place: Mapping[str, int],
    key: tuple[int, str, str],
) -> None:
    """Write the rejected records and values; ``key`` is ingestion id, period and file."""
    ingestion, quarter, file = key
    separator = "$" if dataset.source.reader == "dollar" else dataset.source.delimiter
    into = (
        "INSERT INTO srsql.reject (ingestion_id, dataset, quarter, file, line, kind, column_name, "
        "value, reason, record) "
    )
    parameters = {"id": ingestion, "dataset": dataset.name, "quarter": quarter, "file": file}
    warehouse.run(
        into + "SELECT $id, $dataset, $quarter, $file, line, 'row', NULL, "
        "CASE WHEN reason LIKE '%field%' OR reason LIKE 'two %' THEN len(field) || ' fields' END, "
        "reason, left(array_to_string(list_transform(field, lambda part: coalesce(part, '')), "
        "$separator), $length) FROM temp.main.srsql_judged WHERE reason IS NOT NULL ORDER BY line",
        {**parameters, "separator": separator, "length": RECORD_TEXT},
    )
    for query in _value_rejects(dataset, declared, place):
        text = query.sql(dialect="duckdb")
        warehouse.run(
            f"{into} SELECT $id, $dataset, $quarter, $file, line, 'value', column_name, value, "
            f"reason, NULL FROM ({text}) AS found WHERE reason IS NOT NULL ORDER BY line",
            parameters,
        )


def _value_rejects(dataset: Dataset, declared: Table, place: Mapping[str, int]) -> list[exp.Select]:
    """Queries (line, column_name, value, reason), one for each column that may be rejected."""
    queries = []
    period = exp.EQ(this=column("quarter"), expression=exp.Parameter(this="quarter"))
    rows = exp.select("*").from_(raw_table(dataset, declared.name)).where(period)
    for qid in typed.qids(dataset, declared):
        value: exp.Expression = column(qid.column, "raw")
        if qid.unit_column is not None:
            words = [exp.Literal.string(" "), value, column(qid.unit_column, "raw")]
            value = exp.Anonymous(this="concat_ws", expressions=words)
        if qid.kind == "numeric":
            query = exp.select().from_(numbers.measured(rows, [qid]).subquery("raw"))
            reason = numbers.numeric(qid)[1]
        else:
            query = typed.code_join(exp.select().from_(rows.subquery("raw")), qid, "raw")
            reason = typed.categorical(qid, "raw")[1]
        queries.append(_reject(query, column("srsql_line", "raw"), qid.column, value, reason))
    if declared.name != dataset.report_table:
        for name in dataset.id_columns:
            if name in place and name != dataset.report_id and dataset.id_type == "integer":
                value = trimmed(_field(place[name]))
                wrong = exp.and_(
                    _known(value),
                    exp.Is(
                        this=exp.paren(typed.identifier(dataset, _field(place[name]))),
                        expression=exp.null(),
                    ),
                )
                reason = exp.Case().when(wrong, exp.Literal.string("case id is not an integer"))
                query = exp.select().from_(_JUDGED.copy()).where("reason IS NULL")
                queries.append(_reject(query, column("line"), name, value, reason))
    return queries


def _reject(
    query: exp.Select,
    line: exp.Expression,
    name: str,
    value: exp.Expression,
    reason: exp.Expression,
) -> exp.Select:
    return query.select(
        exp.alias_(line, "line"),
        exp.alias_(exp.Literal.string(name), "column_name"),
        exp.alias_(value, "value"),
        exp.alias_(reason, "reason"),
    )


def _width_faults(layout: Layout) -> list[tuple[exp.Expression, str]]:
    """Why a record has the wrong number of fields; the conditions are tried in order."""
    found = exp.Anonymous(this="len", expressions=[column("field")])

    def number(value: int) -> exp.Expression:
        return exp.Literal.number(value)

    doubled = exp.Between(
        this=found, low=number(2 * len(layout.names) - 1), high=number(2 * layout.width + 1)
    )
    more = exp.GTE(this=found.copy(), expression=number(layout.width + 2))
    return [
        (
            exp.LT(this=found.copy(), expression=number(layout.width)),
            "too few fields (a short row, or a line end inside a value)",
        ),
        (exp.And(this=doubled, expression=more), "two records on one line"),
        (
            exp.GT(this=found.copy(), expression=number(layout.width)),
            "too many fields (a separator inside a value)",
        ),
    ]


def _source(
    dataset: Dataset, declared: Table, place: Mapping[str, int], name: str
) -> exp.Expression:
    """One raw column as it is taken from the fields of a record."""
    if name in declared.unpivot:
        values = [_field(place[s]) for s in declared.unpivot[name] if s in place]
        listed = exp.cast(
            exp.Array(expressions=values), exp.DataType.build("VARCHAR[]", dialect="duckdb")
        )
        return exp.Anonymous(this="unnest", expressions=[listed])
    if name not in place:
        kind = typed.raw_columns(dataset, declared)[name]
        return exp.cast(exp.null(), kind)
    value = _field(place[name])
    if name in dataset.id_columns:
        return typed.identifier(dataset, value)
    return exp.Nullif(this=value, expression=exp.Literal.string(""))


def _field(position: int) -> exp.Expression:
    return exp.Anonymous(
        this="list_extract", expressions=[column("field"), exp.Literal.number(position)]
    )


def _known(value: exp.Expression) -> exp.Expression:
    return exp.Not(this=exp.Is(this=exp.paren(value), expression=exp.null()))
