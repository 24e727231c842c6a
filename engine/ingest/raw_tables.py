"""The raw tables: the source's columns as text, those derived from them, and the rows of a period.

A derived column holds the usable form of a value: a report's or case's id, the granules of a number
(``units``), the node of a category, a normalized term. Where there is none, the value counts as
missing, and ``rejects`` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from srsql.engine.catalog.datasets import known_term, normalized, trimmed
from srsql.engine.catalog.layout import (
    derived,
    made_columns,
    qids_of,
    raw_columns,
    raw_table,
    source_columns,
    term_placeholders,
)
from srsql.engine.errors import DatasetError, IngestError
from srsql.engine.ingest import units
from srsql.engine.ingest.cells import key_beginning, raw_value, spreads
from srsql.engine.ingest.records import (
    SPLIT_LINE,
    call,
    is_null,
    known,
    text_of,
)
from srsql.engine.store.statements import (
    column,
    create,
    normal_form,
    query,
    temporary,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Table

CODE = "srsql_code"
UNKNOWN_CODE = "unknown code"
"""Why a category counts as missing."""
Place = Callable[..., exp.Table]
"""Where the rows of a period are loaded into, called as ``raw_table`` is."""
REJECTED = "srsql_rejected_record"
"""The temporary table of the records of one file that cannot be loaded; see ``rejects``."""


def create_raw_tables(warehouse: Warehouse, dataset: Dataset, place: Place = raw_table) -> None:
    """Make the raw schema and its tables where they are not there yet.

    Args:
        warehouse: where they are made.
        dataset: declares them.
        place: where their rows are loaded into.

    Raises:
        IngestError: a schema of that name is somebody else's.
    """
    schema = f"raw_{dataset.name}"
    theirs = warehouse.value(
        query("ingest/raw_tables", "object_of_others"),
        {"schema": schema, "dataset": dataset.name},
    )
    if theirs is not None:
        raise IngestError(
            f"the warehouse has a schema {schema} of its own (with {theirs}): rename it, or give "
            "the dataset another name"
        )
    quoted = exp.Table(db=exp.to_identifier(schema, quoted=True))
    warehouse.run(exp.Create(this=quoted, kind="SCHEMA", exists=True).sql(dialect="duckdb"))
    for declared in dataset.tables:
        columns = [
            exp.ColumnDef(
                this=exp.to_identifier(name, quoted=True),
                kind=exp.DataType.build(kind, dialect="duckdb"),
            )
            for name, kind in raw_columns(dataset, declared).items()
        ]
        target = exp.Schema(this=place(dataset, declared.name), expressions=columns)
        made = exp.Create(this=target, kind="TABLE", exists=True)
        if target.this.catalog == "temp":  # DuckDB wants that said twice
            made.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
        warehouse.run(made.sql(dialect="duckdb"))


def delete_period(warehouse: Warehouse, dataset: Dataset, quarter: str) -> None:
    """Take the raw rows of one period out of every raw table.

    Args:
        warehouse: where the raw tables are.
        dataset: declares them.
        quarter: the period.
    """
    for declared in dataset.tables:
        rows = exp.delete(raw_table(dataset, declared.name), dialect="duckdb").where(
            column("quarter").eq(exp.Placeholder())
        )
        warehouse.run(rows.sql(dialect="duckdb"), [quarter])


def load_statement(
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    quarter: str,
    records: str,
    place: Place = raw_table,
    *,
    every: bool = False,
) -> str:
    """The statement that inserts the records that can be loaded, with their derived columns.

    Args:
        dataset: declares the roles of the columns.
        declared: the table.
        places: where its columns are in the file (see ``column_places``).
        quarter: the period of the file.
        records: the temporary table or view that has them.
        place: where the rows are loaded into.
        every: no record was rejected.

    Returns:
        An INSERT into the raw table, in the order of the file, over the records, ``REJECTED`` and
        ``srsql_code``.
    """
    # a select that grows column by column is copied with all its columns every time
    names = source_columns(declared)
    values = (exp.alias_(raw_value(dataset, declared, places, n), n, quoted=True) for n in names)
    parsed = loadable(records, every=every).select(column("line", "r"), *values, copy=False)
    rows = exp.select().from_(parsed.subquery("parsed", copy=False), copy=False)
    of_report = {dataset.report_id: "parsed"}
    if spreads(dataset, declared):
        rows = _reports_join(rows, dataset, declared, quarter, place)
        of_report = {dataset.report_id: "report"}
    usable: list[exp.Expression] = []
    made = made_columns(dataset, declared)
    for qid in qids_of(dataset, declared):
        if derived(qid.name) in made:
            continue
        if qid.kind == "numeric":
            written = loadable(records, every=every)
            rows = _granules_join(rows, dataset, declared, places, qid, written)
            usable.append(column("granules", f"number_{qid.name}"))
        else:
            rows = code_join(rows, qid, "parsed")
            usable.append(node_label(qid, "parsed")[0])
    for name, placeholders in term_placeholders(dataset, declared).items():
        usable.append(known_term(dataset.raw_key, placeholders, name, "parsed"))
    rows = rows.select(
        exp.Literal.string(quarter),
        *(column(name, of_report.get(name, "parsed")) for name in ("line", *names)),
        *usable,
        copy=False,
    )
    many = (*declared.unpivot, *declared.split)
    if many:
        rows = rows.where(
            exp.or_(*(known(trimmed(column(name, "parsed"))) for name in many)), copy=False
        )
    target = exp.Schema(
        this=place(dataset, declared.name),
        expressions=[
            exp.to_identifier(name, quoted=True)
            for name in raw_columns(dataset, declared)
            if name not in made
        ],
    )
    if not every or records != SPLIT_LINE or rows.args.get("joins"):
        rows = rows.order_by(column("line", "parsed"), copy=False)  # else they come in that order
    return exp.Insert(this=target, expression=rows).sql(dialect="duckdb")


def loadable(records: str, *, every: bool = False) -> exp.Select:
    """FROM and WHERE of the records of a file, as ``r``, that can be loaded; see ``REJECTED``.

    Args:
        records: the temporary table or view that has them.
        every: no record was rejected.
    """
    if every:
        return exp.select().from_(temporary(records, "r"))
    rejected = exp.select("line").from_(temporary(REJECTED))
    return (
        exp.select()
        .from_(temporary(records, "r"))
        .where(exp.Not(this=column("line", "r").isin(query=rejected)))
    )


def _reports_join(
    rows: exp.Select, dataset: Dataset, declared: Table, quarter: str, place: Place
) -> exp.Select:
    """Rows of a child table once for each report that they are of (see ``spreads``)."""
    same = exp.EQ(
        this=key_beginning(dataset, declared, "report"),
        expression=column(dataset.report_id, "parsed"),
    )
    period = column("quarter", "report").eq(exp.Literal.string(quarter))
    return rows.join(place(dataset, dataset.report_table, "report"), on=exp.and_(same, period))


def _granules_join(
    rows: exp.Select,
    dataset: Dataset,
    declared: Table,
    places: Mapping[str, int],
    qid: Qid,
    written: exp.Select,
) -> exp.Select:
    """Rows with the granules of a numeric QID, which are worked out once for equal values."""
    alias = f"number_{qid.name}"
    names = [qid.column, *([qid.unit_column] if qid.unit_column is not None else [])]
    values = written.select(
        *(exp.alias_(raw_value(dataset, declared, places, n), n, quoted=True) for n in names),
        copy=False,
    ).distinct(copy=False)
    granules = units.granules_or_reason(qid)[0]
    numbers = exp.select(
        *(column(n, "known") for n in names), exp.alias_(granules, "granules")
    ).from_(units.with_granules(values, [qid], dataset.source.decimal).subquery("known"))
    sides = [(column(n, "parsed"), column(n, alias)) for n in names]
    same: list[exp.Expression] = [exp.EQ(this=sides[0][0], expression=sides[0][1])]
    same += [exp.NullSafeEQ(this=one, expression=other) for one, other in sides[1:]]
    return rows.join(numbers.subquery(alias), on=exp.and_(*same), join_type="left")


def fill_codes(warehouse: Warehouse, dataset: Dataset) -> None:
    """Fill ``srsql_code (qid, code, label)``: every known code of a categorical QID.

    The label is NULL for a code that means "not known", the root's own label among them. A code of
    digits alone is known as a float as well (8507.0), as tools write a column of integers that has
    blanks.

    Raises:
        DatasetError: a code stands for two different nodes.
    """
    given: dict[str, list[str | None]] = {"qid": [], "code": [], "label": []}
    for qid in dataset.qid:
        if qid.kind == "categorical":
            tree = dataset.hierarchies[qid.name]
            root, labels = tree.labels[0], tree.labels[1:]
            for label in qid.aliases.values():
                if label not in tree.number:
                    raise DatasetError(
                        f"key qid.{qid.name}.aliases: {label!r} is not a node of its hierarchy"
                    )
            unknown = (root, *qid.missing)
            codes = (*labels, *qid.aliases, *unknown)
            given["qid"] += [qid.name] * len(codes)
            given["code"] += codes
            given["label"] += labels
            given["label"] += [None if n == root else n for n in qid.aliases.values()]
            given["label"] += [None] * len(unknown)
    with warehouse.given("srsql_given_code", given):
        warehouse.run(code_table())
    ambiguous = warehouse.rows(query("ingest/raw_tables", "ambiguous_codes"))
    if ambiguous:
        qid_name, code = ambiguous[0]
        raise DatasetError(f"key qid.{qid_name}: code {code!r} stands for two nodes")


def code_table() -> str:
    """``srsql_code`` of the rows (qid, code in any spelling, label) that are given, and of the
    floats that codes of digits are known as."""
    names = (column("qid", "listed"), column("label", "listed"))
    code = normalized(column("code", "listed"))
    listed = temporary("srsql_given_code", "listed")
    codes = exp.select(names[0], exp.alias_(code, "code"), names[1]).from_(listed)
    digits = call("regexp_full_match", code.copy(), text_of("[0-9]+"))
    floats = exp.select(
        names[0].copy(),
        exp.alias_(call("concat", code.copy(), text_of(".0")), "code"),
        names[1].copy(),
    )
    both = exp.union(codes, floats.from_(listed.copy()).where(digits), distinct=True)
    return create(temporary(CODE), both, temp=True)


def code_join(rows: exp.Select, qid: Qid, source: str) -> exp.Select:
    """Rows with the row of ``srsql_code`` that a categorical QID's value matches, if any.

    No code is empty, so that a blank value matches none.

    Args:
        rows: a query over the rows.
        qid: the categorical QID.
        source: the alias of the rows that have its column.
    """
    alias = f"code_{qid.name}"
    return rows.join(
        temporary(CODE, alias),
        on=exp.and_(
            exp.EQ(this=column("qid", alias), expression=text_of(qid.name)),
            exp.EQ(
                this=column("code", alias),
                expression=normal_form(column(qid.column, source), many=True),
            ),
        ),
        join_type="left",
    )


def node_label(qid: Qid, source: str) -> tuple[exp.Expression, exp.Expression]:
    """Node label of a categorical QID, and why a value counts as missing; see ``code_join``."""
    alias = f"code_{qid.name}"
    unknown = exp.and_(
        known(normalized(column(qid.column, source))), is_null(column("code", alias))
    )
    return column("label", alias), exp.Case().when(unknown, text_of(UNKNOWN_CODE))
