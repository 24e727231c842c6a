"""The views by which public macros find the rows of datasets, whose tables and columns no macro can
name: raw reports, and what released rows tell of drugs and reactions.

They lie in a schema of their own, empty from the start (``sql_macros/public/readers.sql``). No view
calls a function or compares, for the reason that ``series_views`` gives.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from srsql.engine.catalog.datasets import dataset_names, registered_dataset
from srsql.engine.catalog.layout import CASE_COUNT, COUNTS, ITEM_COUNT, PAIR_COUNT, key_column
from srsql.engine.catalog.releases import ONE_VALUE, suppressing
from srsql.engine.catalog.series import PER_QUARTER
from srsql.engine.store.comments import column_comment
from srsql.engine.store.definitions import READER, described
from srsql.engine.store.statements import column, create, dotted, query, source, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "warehouse/readers"
Out = tuple[str, str, str]
"""Series, period and schema of a release that is out."""
Values = dict[str, exp.Expr | None]
"""Column of a view -> what it shows; None: the column of that name."""
REPORT, CASE, DRUG, REACTION = "report", "signal_case", "signal_drug", "signal_reaction"
HIDDEN, COUNT = "signal_hidden", "signal_count"


def show_reports(warehouse: Warehouse) -> None:
    """Have the view of raw reports read every dataset that was ingested.

    Args:
        warehouse: within a transaction, in which the raw tables are already.
    """
    ingested = {name for (name,) in warehouse.rows(query(TOPIC, "ingested"))}
    parts: list[exp.Query] = []
    for name in sorted(ingested):
        dataset = registered_dataset(warehouse, name)
        values = {"dataset": _text(name), "case_id": _column(dataset.case_id), "quarter": None}
        parts.append(_rows(values, f"raw_{name}", dataset.report_table))
    _show(warehouse, REPORT, parts)


def show_pairs(warehouse: Warehouse) -> None:
    """Have the views of drugs and reactions read every series that tells them of cases which can be
    followed.

    Args:
        warehouse: within a transaction, in which the views of each series are as they should be.
    """
    views = (CASE, DRUG, REACTION, HIDDEN, COUNT)
    parts: dict[str, list[exp.Query]] = {view: [] for view in views}
    for name in dataset_names(warehouse):
        dataset = registered_dataset(warehouse, name)
        out = warehouse.rows(query(TOPIC, "out"), {"dataset": name})
        parts[HIDDEN] += _hidden(warehouse, dataset, out)
        parts[COUNT] += _counts(warehouse, dataset, out)
        found = warehouse.rows(query(TOPIC, "series"), {"dataset": name, "ids": PER_QUARTER})
        for series, schema in found if dataset.signals else ():
            if all(_tells(warehouse, schema, *each) for each in _needed(dataset)):
                for view, rows in _pairs(dataset, series, schema):
                    parts[view].append(rows)
    for view, shown in parts.items():
        _show(warehouse, view, shown)


def _needed(dataset: Dataset) -> list[tuple[str, set[str]]]:
    """The released tables that pairs are read from, and their columns."""
    signals = dataset.signals
    assert signals is not None
    role = {signals.role} if signals.role else set()
    return [
        ("case_latest", {dataset.case_id, "quarter"}),
        (signals.drug_table, {dataset.case_id, "quarter", key_column(signals.drug), *role}),
        (signals.reaction_table, {dataset.case_id, "quarter", key_column(signals.reaction)}),
    ]


def _tells(warehouse: Warehouse, schema: str, name: str, columns: set[str]) -> bool:
    known = warehouse.value(query(TOPIC, "has_view"), {"schema": schema, "name": name})
    return bool(known) and columns <= set(warehouse.columns(schema, name))


def _pairs(dataset: Dataset, series: str, schema: str) -> list[tuple[str, exp.Query]]:
    """What each view reads of a series."""
    signals = dataset.signals
    assert signals is not None
    own: Values = {
        "dataset": _text(dataset.name),
        "series": _text(series),
        "case_id": _column(dataset.case_id),
        "quarter": None,
    }
    whole: Values = {name: exp.cast(exp.convert(1), kind) for name, kind in _WHOLE.items()}
    role = _column(signals.role) if signals.role else exp.cast(exp.null(), "VARCHAR")
    counted = exp.Array(expressions=[_text(each) for each in signals.suspect])
    drug: Values = {
        "drug": _column(key_column(signals.drug)),
        "role": role,
        "roles": counted,
    }
    reaction: Values = {"reaction": _column(key_column(signals.reaction))}
    return [
        (CASE, _rows(own | {"latest": exp.true()} | whole, schema, "case_latest")),
        (CASE, _rows(own | {"latest": exp.false()} | whole, schema, dataset.report_table)),
        (DRUG, _rows(own | drug, schema, signals.drug_table)),
        (REACTION, _rows(own | reaction, schema, signals.reaction_table)),
    ]


def _hidden(warehouse: Warehouse, dataset: Dataset, out: list[Out]) -> list[exp.Query]:
    """What public manifests tell of the drugs and reactions that no row shows."""
    signals = dataset.signals
    if signals is None:
        return []
    places = {
        "drug": (signals.drug_table, signals.drug),
        "reaction": (signals.reaction_table, signals.reaction),
    }
    sensitive = {(each.table, each.column) for each in dataset.sensitive}
    told = [what for what, place in places.items() if place in sensitive]
    suppress = set(suppressing(warehouse, [schema for *_, schema in out]))
    return [
        _rows(
            {
                "dataset": _text(dataset.name),
                "series": _text(series),
                "quarter": _text(quarter),
                "what": _text(what),
                "share": exp.cast(column(ONE_VALUE, "t"), "BIGINT"),
                "cases": exp.cast(column("released_cases", "t"), "BIGINT"),
            },
            schema,
            "manifest",
        )
        for series, quarter, schema in out
        if schema in suppress
        for what in told
    ]


def _counts(warehouse: Warehouse, dataset: Dataset, out: list[Out]) -> list[exp.Query]:
    """What releases tell as counts."""
    signals = dataset.signals
    if signals is None:
        return []
    found: list[exp.Query] = []
    for series, quarter, schema in out:
        if not _tells(warehouse, schema, CASE_COUNT, {"cases"}):
            continue
        own: Values = {
            "dataset": _text(dataset.name),
            "series": _text(series),
            "quarter": _text(quarter),
            "drug_attribute": _text(signals.drug),
            "reaction_attribute": _text(signals.reaction),
        }
        for name in (CASE_COUNT, ITEM_COUNT, PAIR_COUNT):
            told: Values = {
                each: _column(each) if each in COUNTS[name] else exp.cast(exp.null(), "VARCHAR")
                for each in COUNTS[PAIR_COUNT]
            }
            cases: Values = {"cases": exp.cast(column("cases", "t"), "BIGINT")}
            found.append(_rows(own | told | cases, schema, name))
    return found


_WHOLE = {"lower": "BIGINT", "expected": "DECIMAL(18, 12)", "upper": "BIGINT"}
"""What counts of a case without a condition: one."""


def _rows(values: Values, schema: str, name: str) -> exp.Query:
    shown = [
        (column(label, "t") if value is None else value.copy()).as_(label, quoted=True)
        for label, value in values.items()
    ]
    return exp.select(*shown).from_(table(schema, name, alias="t"))


def _names(rows: exp.Expr) -> set[str]:
    """The tables, columns and texts that a query reads and shows; of an empty view nothing."""
    read = {each.sql("duckdb") for each in rows.find_all(exp.Table)}
    names = {each.name for each in rows.find_all(exp.Column)}
    texts = {each.name for each in rows.find_all(exp.Literal) if each.is_string}
    return {each.replace('"', "") for each in read} | names | texts if read else {""}


def _text(value: str) -> exp.Expr:
    return exp.cast(exp.Literal.string(value), "VARCHAR")


def _column(name: str) -> exp.Expr:
    return exp.cast(column(name, "t"), "VARCHAR")


def _show(warehouse: Warehouse, view: str, parts: list[exp.Query]) -> None:
    """Have a view read these parts, with its comment; without any it is empty.

    One that reads them already stays: another transaction may have made it since this one began.
    """
    known = warehouse.value(query(TOPIC, "text"), {"schema": READER, "name": view})
    if known is not None and _names(sqlglot.parse_one(known, read="duckdb").expression) == (
        set().union(*map(_names, parts)) if parts else {""}
    ):
        return
    told = next(each for each in described() if (each.schema, each.name) == (READER, view))
    if parts:
        warehouse.run(create(table(READER, view), union_all(parts), "VIEW"))
    else:
        warehouse.run(f"DROP VIEW {dotted(READER, view)}")
        warehouse.run(source("srsql.sql_macros", "public/readers.sql"))
    warehouse.run(told.statement)
    for name in warehouse.columns(READER, view):
        warehouse.run(column_comment(READER, view, name))
