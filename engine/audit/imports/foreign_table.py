"""Somebody else's table, row by row in granules, nodes and normalized terms.

``read_table`` fills temporary tables whose names start with ``srsql_foreign`` (released rows) or
``srsql_original`` (the raw records behind them):

* ``..._row (line, case_id, group_label)``: the rows of the period;
* ``..._box (line, position, low, high)``: their quasi-identifiers, coded as in ``srsql.region``;
* ``..._value (line, attribute, term)``: their normalized sensitive values, of released rows only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from srsql.engine.audit.imports.columns import WILDCARDS, Columns, match
from srsql.engine.audit.imports.fields import (
    call,
    concat,
    field_at,
    is_null,
    known,
    named,
    numeric_faults,
    text_of,
    texts,
)
from srsql.engine.errors import ImportReleaseError
from srsql.engine.ingest import numbers, typed
from srsql.engine.ingest.extract import extract_binary, extract_text
from srsql.engine.ingest.records import RECORD, Layout, stage
from srsql.engine.ingest.sources import Member
from srsql.engine.warehouse.catalog import normalized, trimmed
from srsql.engine.warehouse.statements import column, create, temporary, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset, Qid, Source

RELEASED, ORIGINAL = "srsql_foreign", "srsql_original"
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Foreign:
    """What was read of one file."""

    file: str
    sha256: str
    rows: int
    """Rows of the period."""


def read_table(
    warehouse: Warehouse,
    dataset: Dataset,
    path: Path,
    folder: Path,
    kind: str,
    *,
    quarter: str,
    group_column: str | None = None,
    separator: str = ";",
) -> Foreign:
    """Read one CSV or Parquet file.

    Args:
        warehouse: with ``srsql_node`` (see ``load_attributes``) and ``srsql_code`` filled.
        dataset: names the columns; its own files are not needed.
        path: the file.
        folder: a directory to unpack in.
        kind: ``RELEASED`` or ``ORIGINAL``.
        quarter: the period whose rows are taken where the file has a column for it.
        group_column: the column that tells the groups; ``group_id`` if it is there.
        separator: what stands between the values of one field.

    Raises:
        ImportReleaseError: a column is missing, or a row cannot be taken as it stands.
    """
    parquet = path.suffix.lower() in PARQUET
    source = Source(reader="parquet" if parquet else "csv", delimiter=dataset.source.delimiter)
    target = folder / f"{kind}{'.parquet' if parquet else '.txt'}"
    extracted = (extract_binary if parquet else extract_text)(Member(path.name, path), target)
    layout = stage(warehouse, path.name, extracted, dataset.model_copy(update={"source": source}))
    columns = match(
        dataset, path.name, layout.names, original=kind == ORIGINAL, group_column=group_column
    )
    if parquet:
        _refuse_lists(warehouse, path.name, target, columns)
    table = _Table(dataset, kind, layout, columns, quarter)
    warehouse.run(table.parsed())
    refuse_faults(warehouse, path.name, f"{kind}_parsed")
    warehouse.run(table.rows())
    warehouse.run(table.boxes())
    if kind == RELEASED:
        warehouse.run(table.values(separator))
    rows = warehouse.value(f"SELECT count(*) FROM temp.main.{kind}_row")
    if not rows:
        raise ImportReleaseError(
            f"{path.name}: no row of {quarter} in it{_other_periods(warehouse, columns)}"
        )
    for name in (f"{kind}_parsed", "srsql_record"):
        warehouse.run(f"DROP TABLE temp.main.{name}")
    return Foreign(path.name, extracted.sha256, rows)


def refuse_faults(warehouse: Warehouse, file: str, table: str) -> None:
    """Stop at the first row of a temporary table (line, fault) that has a fault.

    Raises:
        ImportReleaseError: there is one; the header is line 1, of a Parquet file too.
    """
    rows = warehouse.rows(
        f"SELECT p.line, p.fault, count(*) OVER () FROM temp.main.{table} AS p "
        "WHERE p.fault IS NOT NULL ORDER BY p.line, p.fault LIMIT 1"
    )
    if rows:
        line, fault, faults = rows[0]
        more = f" (and {faults - 1:,} more such faults)" if faults > 1 else ""
        raise ImportReleaseError(f"{file} line {line}: {fault}{more}; nothing was registered")


def _refuse_lists(warehouse: Warehouse, file: str, parquet: Path, columns: Columns) -> None:
    """A list would arrive as one text."""
    described = warehouse.rows(
        "SELECT column_name, column_type FROM "
        "(DESCRIBE FROM read_parquet($path, hive_partitioning = false))",
        {"path": str(parquet)},
    )
    for at in columns.sensitive:
        name, kind = described[at.place - 1]
        if kind.endswith("]"):
            raise ImportReleaseError(
                f"{file}: column {name!r} is a list: write its values into one text (see "
                "--separator), as array_to_string does"
            )


def _other_periods(warehouse: Warehouse, columns: Columns) -> str:
    if columns.period is None:
        return ""
    listed = warehouse.rows(
        exp.select(named(trimmed(field_at(columns.period)), "period"))
        .distinct()
        .from_(RECORD.copy())
        .where("line > 1", "fault IS NULL")
        .order_by("1")
        .limit(9)
        .sql(dialect="duckdb")
    )
    return f" (it has: {', '.join(str(period) for (period,) in listed) or 'no row at all'})"


@dataclass(frozen=True)
class _Table:
    """The statements that read one staged file."""

    dataset: Dataset
    kind: str
    layout: Layout
    columns: Columns
    quarter: str

    def parsed(self) -> str:
        """``..._parsed``: one row a record, with ``fault`` where it cannot be taken."""
        numeric = [at for at in self.columns.qids if at.qid.kind == "numeric"]
        fields = numbers.measured(self._fields(), [end for at in numeric for end in at.bounds])
        text = column("case text", "parsed")
        case_id = typed.identifier(self.dataset, text)
        query = exp.select(
            column("line", "parsed"), named(case_id, "case_id"), column("group_label", "parsed")
        ).from_(fields.subquery("parsed"))
        fault = exp.Case().when(known(column("record fault")), column("record fault"))
        fault = fault.when(is_null(trimmed(text)), text_of("no case id"))
        fault = fault.when(
            is_null(case_id), concat(text_of("the case id is not an integer: "), text)
        )
        if self.columns.group:
            fault = fault.when(is_null(column("group_label")), text_of("no group"))
        for at in self.columns.qids:
            if at.qid.kind == "numeric":
                low, high = (numbers.numeric(end) for end in at.bounds)
                query = query.select(
                    named(low[0], at.named("low")), named(high[0], at.named("high"))
                )
                fault = numeric_faults(fault, at, low, high)
            else:
                qid = at.qid.model_copy(update={"column": at.named("label text")})
                query = typed.code_join(query, qid, "parsed")
                label, unknown = self._label(qid)
                query = query.select(named(label, at.named("label")))
                told = concat(
                    text_of(f"{at.qid.name}: no node of its hierarchy is called "),
                    column(qid.column, "parsed"),
                )
                fault = fault.when(unknown, told)
        for number in range(len(self.columns.sensitive)):
            query = query.select(column(f"value {number}", "parsed"))
        query = query.select(named(fault, "fault"))
        return create(exp.to_table(f"{self.kind}_parsed"), query, temp=True)

    def rows(self) -> str:
        """``..._row`` from ``..._parsed``."""
        query = exp.select("p.line", "p.case_id", "p.group_label").from_(self._parsed())
        return create(exp.to_table(f"{self.kind}_row"), query, temp=True)

    def boxes(self) -> str:
        """``..._box`` from ``..._parsed``."""
        parts: list[exp.Query] = []
        for at in self.columns.qids:
            low, high = column(at.named("low"), "p"), column(at.named("high"), "p")
            query = exp.select("p.line", exp.Literal.number(at.position).as_("position"))
            query = query.from_(self._parsed())
            if at.qid.kind == "categorical":
                low, high = column("pre", "n"), column("last", "n")
                query = query.join(
                    temporary("srsql_node", alias="n"),
                    on=exp.and_(
                        column("position", "n").eq(at.position),
                        column("node", "n").eq(column(at.named("label"), "p")),
                    ),
                    join_type="left",
                )
            parts.append(query.select(named(low, "low"), named(high, "high")))
        return create(exp.to_table(f"{self.kind}_box"), union_all(parts), temp=True)

    def values(self, separator: str) -> str:
        """``..._value`` from ``..._parsed``."""
        parts: list[exp.Query] = []
        for number, at in enumerate(self.columns.sensitive):
            listed = call("string_split", column(f"value {number}", "p"), text_of(separator))
            split = exp.select("p.line", named(call("unnest", listed), "value"))
            term = typed.term("value", at.missing, "split")
            parts.append(
                exp.select(
                    "split.line", named(text_of(at.attribute), "attribute"), named(term, "term")
                )
                .from_(split.from_(self._parsed()).subquery("split"))
                .where(known(term))
            )
        return create(exp.to_table(f"{self.kind}_value"), union_all(parts), temp=True)

    def _parsed(self) -> exp.Table:
        return temporary(f"{self.kind}_parsed", alias="p")

    def _fields(self) -> exp.Select:
        """The records of the period, their fields under names that no file can take."""
        width = call("len", column("field"))
        narrow = exp.NEQ(this=width, expression=exp.Literal.number(self.layout.width))
        fault = exp.Case().when(known(column("fault")), column("fault"))
        fault = fault.when(
            narrow,
            concat(
                width.copy(), text_of(f" fields, but {self.layout.width} columns in the header")
            ),
        )
        rows = exp.select("line", named(field_at(self.columns.case), "case text"))
        rows = rows.from_(RECORD.copy()).where("line > 1")
        rows = rows.where(exp.NullSafeNEQ(this=column("fault"), expression=text_of("blank line")))
        if self.columns.period is not None:
            period = trimmed(field_at(self.columns.period))
            fault = fault.when(is_null(period), text_of("no period"))
            wanted = exp.EQ(this=period.copy(), expression=text_of(self.quarter))
            rows = rows.where(exp.or_(wanted, is_null(period.copy()), narrow.copy()))
        place = self.columns.group
        group = trimmed(field_at(place)) if place else exp.cast(exp.null(), "VARCHAR")
        rows = rows.select(named(group, "group_label"), named(fault, "record fault"))
        for at in self.columns.qids:
            rows = rows.select(*texts(at))
        for number, sensitive in enumerate(self.columns.sensitive):
            rows = rows.select(named(field_at(sensitive.place), f"value {number}"))
        return rows

    def _label(self, qid: Qid) -> tuple[exp.Expression, exp.Expression]:
        """Node of a categorical value (the root for a wildcard), and whether there is none.

        In a raw record the root says no more than a missing value does.
        """
        found, reason = typed.categorical(qid, "parsed")
        root = self.dataset.hierarchies[qid.name].labels[0]
        names = dict.fromkeys((*WILDCARDS, root.strip().upper()))
        text = normalized(column(qid.column, "parsed"))
        anything = exp.In(this=text, expressions=[text_of(name) for name in names])
        wide = text_of(root) if self.kind == RELEASED else exp.null()
        label = exp.Case().when(known(found), found.copy()).when(anything, wide)
        other = exp.Not(this=exp.paren(anything.copy()))
        return label, exp.And(this=known(reason), expression=other)
