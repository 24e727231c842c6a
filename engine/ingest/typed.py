"""The columns derived at ingestion, as expressions over the source columns of one raw table."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from srsql.engine.errors import DatasetError
from srsql.engine.warehouse.catalog import normalized, trimmed
from srsql.engine.warehouse.statements import column, temporary
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas.model import Dataset, Qid, Table

CODE = "srsql_code"


def raw_columns(dataset: Dataset, table: Table) -> dict[str, str]:
    """Name -> type of every column of a raw table, in order.

    Raises:
        DatasetError: two columns would get the same name.
    """
    ids = "BIGINT" if dataset.id_type == "integer" else "VARCHAR"
    pairs = [("quarter", "VARCHAR"), ("srsql_line", "BIGINT")]
    pairs += [(n, ids if n in dataset.id_columns else "VARCHAR") for n in source_columns(table)]
    pairs += [
        (derived(qid.name), "BIGINT" if qid.kind == "numeric" else "VARCHAR")
        for qid in qids(dataset, table)
    ]
    pairs += [(derived(name), "VARCHAR") for name in terms(dataset, table)]
    columns = dict(pairs)
    if len(columns) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DatasetError(
            f"table {table.name}: column {twice!r} would be there twice in the warehouse: give the "
            "declared column or quasi-identifier another name (with the file's name as its alias)"
        )
    return columns


def source_columns(table: Table) -> list[str]:
    """The declared columns, the unpivoted ones last."""
    return [*(c.name for c in table.columns), *table.unpivot]


def derived(name: str) -> str:
    """The raw table's column that holds the usable form of ``name``."""
    return f"srsql_{name}"


def qids(dataset: Dataset, table: Table) -> tuple[Qid, ...]:
    """The quasi-identifiers of ``table``."""
    return dataset.qid if table.name == dataset.report_table else ()


def terms(dataset: Dataset, table: Table) -> dict[str, tuple[str, ...]]:
    """Sensitive and quasi-sensitive columns of ``table`` -> their placeholders."""
    found: dict[str, tuple[str, ...]] = {}
    for attribute in (*dataset.sensitive, *dataset.quasi_sensitive):
        if attribute.table == table.name:
            found[attribute.column] = found.get(attribute.column, ()) + attribute.missing
    return found


def term(name: str, placeholders: Iterable[str], source: str) -> exp.Expression:
    """The normalized term of a column; NULL when blank or a placeholder."""
    value = normalized(column(name, source))
    blanks = [normalized(exp.Literal.string(text)) for text in placeholders]
    if not blanks:
        return value
    known = exp.Not(this=exp.In(this=value.copy(), expressions=blanks))
    return exp.Case().when(known, value)


def fill_codes(warehouse: Warehouse, dataset: Dataset) -> None:
    """Fill temp table ``srsql_code``: every known code of a categorical QID, and its label.

    The label is NULL for a code that means "not known", the root's own label among them.

    Raises:
        DatasetError: a code stands for two different nodes.
    """
    rows: list[tuple[str, str, str | None]] = []
    for qid in dataset.qid:
        if qid.kind == "categorical":
            tree = dataset.hierarchies[qid.name]
            known = {label: label for label in tree.labels[1:]}
            rows += [(qid.name, label, label) for label in known]
            for code, label in qid.aliases.items():
                if label not in tree.number:
                    raise DatasetError(
                        f"key qid.{qid.name}.aliases: {label!r} is not a node of its hierarchy"
                    )
                rows.append((qid.name, code, known.get(label)))
            rows += [(qid.name, code, None) for code in (tree.labels[0], *qid.missing)]
    code = normalized(column("code", "listed")).sql(dialect="duckdb")
    warehouse.run(
        f"CREATE OR REPLACE TEMP TABLE {CODE} AS "
        f"SELECT DISTINCT listed.qid, {code} AS code, listed.label FROM "
        "(SELECT unnest($qid::VARCHAR[]) AS qid, unnest($code::VARCHAR[]) AS code, "
        "unnest($label::VARCHAR[]) AS label) AS listed",
        {
            "qid": [row[0] for row in rows],
            "code": [row[1] for row in rows],
            "label": [row[2] for row in rows],
        },
    )
    twice = warehouse.rows(
        f"SELECT qid, code FROM temp.main.{CODE} GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL"
    )
    if twice:
        raise DatasetError(f"key qid.{twice[0][0]}: code {twice[0][1]!r} stands for two nodes")


def code_join(query: exp.Select, qid: Qid, source: str) -> exp.Select:
    """``query`` with the row of ``srsql_code`` that a categorical QID's value matches, if any."""
    alias = f"code_{qid.name}"
    return query.join(
        temporary(CODE, alias),
        on=exp.and_(
            exp.EQ(this=column("qid", alias), expression=_text(qid.name)),
            exp.EQ(this=column("code", alias), expression=normalized(column(qid.column, source))),
        ),
        join_type="left",
    )


def categorical(qid: Qid, source: str) -> tuple[exp.Expression, exp.Expression]:
    """Node label of a categorical QID, and why a value counts as missing; see ``code_join``."""
    alias = f"code_{qid.name}"
    unknown = exp.and_(
        exp.Not(this=_is_null(normalized(column(qid.column, source)))),
        _is_null(column("code", alias)),
    )
    return column("label", alias), exp.Case().when(unknown, _text("unknown code"))


def identifier(dataset: Dataset, value: exp.Expression) -> exp.Expression:
    """An id as the raw tables hold it; NULL if blank or, where integers are due, not one."""
    text = trimmed(value)
    if dataset.id_type == "text":
        return text
    number = exp.TryCast(this=text.copy(), to=exp.DataType.build("BIGINT"))
    return exp.Case().when(
        exp.Anonymous(this="regexp_full_match", expressions=[text.copy(), _text("[0-9]+")]), number
    )


def _text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def _is_null(value: exp.Expression) -> exp.Is:
    return exp.Is(this=value, expression=exp.null())
