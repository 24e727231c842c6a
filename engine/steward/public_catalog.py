"""What the catalog of a public file says of a release: facts that its public manifest tells, and
cases, regions and values as its published rows show them.

The rows are read as those of a foreign release are (``audit/import_rows``): groups are equal
regions, and nothing of the private catalog decides who is in them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from srsql.engine.audit.imports.import_release import store_ss_rules
from srsql.engine.catalog.datasets import known_term
from srsql.engine.catalog.layout import key_column, term_placeholders
from srsql.engine.catalog.releases import as_released, released_terms
from srsql.engine.grouping.reports import load_attributes
from srsql.engine.shapes import release_shape, series_dataset
from srsql.engine.store.statements import column, create, query, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, Sensitive
from srsql.schemas.outside import json_of

TOPIC = "warehouse/public_file"
FACTS = ("defended_attack", "claim", "perturbation", "disassociated")
"""Tables of the catalog of which a public file has the rows of its releases: parameters alone."""
PARTED = "reports of a case are in several regions"
APART = "some of its terms are told apart from rows"
_INCOMING = "srsql_incoming"


@dataclass(frozen=True)
class Shown:
    """A release of a warehouse, and its number in the public file."""

    release_id: int
    quarter: str
    model: str
    schema: str
    number: int


def copy_facts(source: Warehouse, own: Warehouse, shown: Shown) -> None:
    """Copy the parameters of a release that its public manifest tells, and this manifest."""
    for name in FACTS:
        _copied(source, own, shown, name, f"INSERT INTO srsql.{name} FROM {_INCOMING}")
    told = {"number": shown.number, "facts": _manifest(own, shown.schema)}
    own.run(query(TOPIC, "describe"), told)


def lay_out(source: Warehouse, own: Warehouse, dataset: Dataset, series: str, shown: Shown) -> None:
    """Lay the rows of a release out for audits, or say why these would judge nothing.

    Args:
        source: the warehouse, for thresholds of values that rows show.
        own: the public file, with the views and the facts of all its releases.
        dataset: whose.
        series: of the releases.
        shown: the release; the earlier ones are laid out already.
    """
    taken = as_released(own, dataset, shown.number)
    why = release_shape(own, series_dataset(own, taken, series), shown.number).unjudged
    why = why or (APART if released_terms(own, shown.number) else "")
    load_attributes(own, taken)
    number = {"number": shown.number}
    if why or not _laid_out(own, taken, shown):
        own.run(query(TOPIC, "add_attributes"), number)
        own.run(query(TOPIC, "add_reason"), {**number, "why": why or PARTED})
    elif own.value("SELECT count(*) FROM temp.main.srsql_foreign_row"):
        store_ss_rules(own, taken, shown.number)
        _import(source, own, shown)
        own.run(query(TOPIC, "add_measures"), number)
    else:  # a quarter of which nobody could be released
        own.run(query(TOPIC, "add_attributes"), number)


def _copied(source: Warehouse, own: Warehouse, shown: Shown, name: str, into: str) -> None:
    """Run a statement on the rows of a query of the warehouse, as ``srsql_incoming``."""
    asked: dict[str, Any] = {"release_id": shown.release_id}
    text = query(TOPIC, name)
    if "$number" in text:
        asked["number"] = shown.number
    own.con.register(_INCOMING, source.con.sql(text, params=asked).to_arrow_table())
    own.run(into, {"number": shown.number} if "$number" in into else ())
    own.con.unregister(_INCOMING)


def _import(source: Warehouse, own: Warehouse, shown: Shown) -> None:
    """Cases, groups and terms from what is laid out, with what the release promises."""
    promised = f"INSERT INTO srsql.defended_attack FROM {_INCOMING}"
    own.run(query(TOPIC, "set_attacks"), {"number": shown.number})
    own.run_step("audit/import_catalog", {"release_id": shown.number})
    own.run(query(TOPIC, "set_attacks"), {"number": shown.number})
    _copied(source, own, shown, "defended_attack", promised)
    _copied(source, own, shown, "released_threshold", query(TOPIC, "set_thresholds"))


def _laid_out(own: Warehouse, dataset: Dataset, shown: Shown) -> bool:
    """Lay the rows of a release out as those of a foreign one; whether each case has one region."""
    for name, rows in (
        ("row", _rows(dataset, shown.schema)),
        ("box", _boxes(dataset, shown.schema)),
        ("value", _values(dataset, shown.schema)),
    ):
        own.run(create(exp.to_table(f"srsql_foreign_{name}"), rows, temp=True))
    own.run_step("audit/import_rows")
    return not own.rows(query("audit/imports", "first_contradiction"))


def _rows(dataset: Dataset, schema: str) -> exp.Query:
    """(line, case_id, group_label, report_id) of every released report."""
    report = column(dataset.report_id, "v")
    line = exp.Window(this=exp.func("row_number"), order=exp.Order(expressions=[report.copy()]))
    return exp.select(
        line.as_("line"),
        exp.cast(column(dataset.case_id, "v"), "VARCHAR").as_("case_id"),
        exp.cast(exp.null(), "VARCHAR").as_("group_label"),
        report.as_("report_id"),
    ).from_(table(schema, dataset.report_table, alias="v"))


def _boxes(dataset: Dataset, schema: str) -> exp.Query:
    """(line, position, low, high) of every report and quasi-identifier, in granules and nodes."""
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        rows = (
            exp.select(column("line", "r"), exp.convert(position).as_("position"))
            .from_("temp.main.srsql_foreign_row AS r")
            .join(
                table(schema, dataset.report_table, alias="v"),
                on=column("report_id", "r").eq(column(dataset.report_id, "v")),
            )
        )
        parts.append(_ends(rows, dataset, qid))
    return union_all(parts)


def _ends(rows: exp.Select, dataset: Dataset, qid: Qid) -> exp.Query:
    """The two ends of a region, of rows ``v``; of nodes with one range the outermost."""
    shown = [column(name, "v") for name in qid.published]
    if qid.kind == "numeric":
        step = exp.cast(exp.Literal.string(str(qid.granularity)), "DECIMAL(18, 6)")
        units = [exp.Div(this=exp.cast(end, "DECIMAL(30, 6)"), expression=step) for end in shown]
        low, high = (exp.cast(exp.func("round", end), "BIGINT") for end in units)
        return rows.select(low.as_("low"), high.as_("high"))
    names = ("low", "high") if len(shown) == 2 else ("node",)
    named = [column(name, "h") for name in names]
    nodes = (
        exp.select(
            *[each.as_(f"shown_{name}") for each, name in zip(named, names, strict=True)],
            exp.func("min", column("pre", "h")).as_("pre"),
            exp.func("max", column("last", "h")).as_("last"),
        )
        .from_(table("srsql", "node", alias="h"))
        .where(column("dataset", "h").eq(exp.Literal.string(dataset.name)))
        .where(column("attribute", "h").eq(exp.Literal.string(qid.name)))
        .group_by(*[each.copy() for each in named])
    )
    on = [column(f"shown_{n}", "n").eq(end) for n, end in zip(names, shown, strict=True)]
    found = rows.join(nodes.subquery("n"), on=exp.and_(*on), join_type="left")
    return found.select(column("pre", "n").as_("low"), column("last", "n").as_("high"))


def _values(dataset: Dataset, schema: str) -> exp.Query:
    """(line, attribute, term) of the published sensitive values, by the first report of a case."""
    published = {each.name: each.publish for each in dataset.tables}
    lines = exp.select(
        column("case_id", "r"), exp.func("min", column("line", "r")).as_("line")
    ).from_("temp.main.srsql_foreign_row AS r").group_by(column("case_id", "r"))  # fmt: skip
    parts = [
        _terms(dataset, schema, attribute, lines)
        for attribute in dataset.sensitive
        if attribute.column in published[attribute.table]
    ]
    none = exp.select(
        exp.cast(exp.null(), "BIGINT").as_("line"),
        exp.cast(exp.null(), "VARCHAR").as_("attribute"),
        exp.cast(exp.null(), "VARCHAR").as_("term"),
    )
    return union_all(parts or [none.limit(0)])


def _terms(dataset: Dataset, schema: str, attribute: Sensitive, lines: exp.Select) -> exp.Query:
    name = attribute.column
    placeholders = term_placeholders(dataset, dataset.table(attribute.table))[name]
    term = (
        column(key_column(name), "v")
        if dataset.term_key
        else known_term(dataset.term_key, placeholders, name, "v")
    )
    found = exp.select(
        exp.cast(column(dataset.case_id, "v"), "VARCHAR").as_("case_id"), term.as_("term")
    ).distinct().from_(table(schema, attribute.table, alias="v"))  # fmt: skip
    return (
        exp.select(
            column("line", "l"), exp.Literal.string(name).as_("attribute"), column("term", "t")
        )
        .from_(found.subquery("t"))
        .join(lines.copy().subquery("l"), on=column("case_id", "t").eq(column("case_id", "l")))
        .where(column("term", "t").is_(exp.null()).not_())
    )


def _manifest(own: Warehouse, schema: str) -> str:
    """The public manifest as a document, without what stands in rows."""
    name = "all of it"  # which no column of it is called
    row = exp.select(exp.func("to_json", exp.column(name, quoted=True)))
    row = row.from_(table(schema, "manifest", alias=name))
    told = json_of(own.value(row.sql(dialect="duckdb")))
    told.pop("thresholds", None)
    return json.dumps(told)
