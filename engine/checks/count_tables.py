"""Checks of counts that tell the items of cases: from released rows, tables and originals alone.

The strata of cases, whom the tables count, what these hold and by which thresholds is worked out
anew here; of what made the tables nothing is read. The macros are those of
``sql_macros/checks/count_tables.sql`` and ``count_table_units.sql``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.layout import COUNTS, REGION_COUNT, raw_table, region_columns
from srsql.engine.catalog.releases import Release
from srsql.engine.checks.evidence import Evidence, as_measures, checked_key
from srsql.engine.checks.region_counts import region_units
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import (
    column,
    dotted,
    normal_form,
    query,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.schemas import Dataset

TOPIC = "checks/count_tables"
CREATE = "CREATE OR REPLACE TEMP TABLE"
CELLS = ("case_count", "item_count", "pair_count")
TREE, ROWS, VALUES, BOUNDED, UNITS, HELD, KNOWN, SINGLE, KINDS = (
    f"srsql_checked_{name}"
    for name in ("tree", "row", "value", "threshold", "unit", "held", "known", "single", "kind")
)


def check_count_rows(evidence: Evidence) -> list[Measure]:
    """No row that has an id or a region has anything else, and no other table has rows."""
    release = evidence.release
    warehouse, dataset, schema = release.warehouse, release.dataset, release.schema
    views = {name for (name,) in warehouse.rows(query(TOPIC, "views"), {"schema": schema})}
    region = {*region_columns(dataset)}
    own, shown = REGION_COUNT, region | {"cases"}
    if evidence.facts.case_rows:
        own, shown = dataset.report_table, region | {*dataset.id_columns, "quarter"}
    rows, columns = {own, "manifest", *COUNTS}, set(warehouse.columns(schema, own))
    wrong = len(views ^ rows) + len(columns ^ shown)
    for name in views & COUNTS.keys():
        told = warehouse.columns(schema, name)
        columns |= {f"{name}.{each}" for each in told}
        wrong += told != list(COUNTS[name])
    found = MeasureRow(
        release.release_id, "check_count_rows", "tables and columns", wrong,
        len(views) + len(columns), wrong / (len(views) + len(columns)), 0, not wrong,
    )  # fmt: skip
    return as_measures([found])


def check_count_cells(evidence: Evidence) -> list[Measure]:
    """Every count is of k units, and no two cells of a key have one stratum within another."""
    return _ask(evidence, "check_count_cells", TREE, _k(evidence))


def check_count_theta(evidence: Evidence) -> list[Measure]:
    """No told count breaks a threshold, nor tells an item of which fewer than k do without."""
    return _ask(evidence, "check_count_theta", TREE, BOUNDED, _k(evidence))


def check_count_bridges(evidence: Evidence, *, measure: str) -> list[Measure]:
    """Two told partners of a sensitive item do not force it on those who hold both; ``measure``:
    of the two that the macro finds."""

    def find() -> list[MeasureRow]:
        return [MeasureRow(*row) for row in _ask(evidence, "check_count_bridges", TREE, BOUNDED)]

    found = evidence.found("check_count_bridges", find)
    return as_measures(row for row in found if row.measure == measure)


def check_count_truth(evidence: Evidence) -> list[Measure]:
    """Told counts are those of the released cases that no earlier release has."""
    return _ask(evidence, "check_count_truth", TREE, UNITS, HELD, SINGLE)


def check_count_ways_out(evidence: Evidence) -> list[Measure]:
    """What is told of an item and a sensitive one leaves a data set in which theta holds."""
    return _ask(evidence, "check_count_ways_out", TREE, BOUNDED, UNITS, KNOWN, KINDS, _k(evidence))


def _ask(evidence: Evidence, macro: str, *arguments: str | int) -> list[Measure]:
    """The uniform rows of a check over the published cells."""
    _load(evidence)
    cells = {name: f"SELECT * FROM {dotted(evidence.release.schema, name)}" for name in CELLS}
    named = [f"'temp.main.{each}'" if isinstance(each, str) else each for each in arguments]
    return evidence.ask(macro, *(f"'{name}'" for name in CELLS), *named, tables=cells)


def _k(evidence: Evidence) -> int:
    """Units of a count, at least: as asked, and no fewer than 1 / theta of any told threshold."""
    asked = evidence.asked.table_k if evidence.asked else None
    _load(evidence)
    least = evidence.release.warehouse.value(query(TOPIC, "least_k", checked_threshold=BOUNDED))
    return max(asked or evidence.facts.table_k or 0, int(least or 0))


def _told_items(release: Release) -> list[dict[str, str | None]]:
    """The items of published cells, whatever the manifest says is counted."""
    rows = _distinct(release, "item_count", "attribute", "term")
    rows += _distinct(release, "pair_count", "attribute", "term")
    rows += _distinct(release, "pair_count", "other_attribute", "other_term")
    return [{"attribute": attribute, "term": term} for attribute, term in rows]


def _told_kinds(release: Release) -> list[str]:
    """The pairs of attributes of published cells."""
    pairs = _distinct(release, "pair_count", "attribute", "other_attribute")
    return [f"{one} x {other}" for one, other in pairs]


def _distinct(release: Release, name: str, *columns: str) -> list[tuple[Any, ...]]:
    cells = table(release.schema, name, alias="t")
    asked = exp.select(*(column(each, "t") for each in columns)).distinct().from_(cells)
    return release.warehouse.rows(asked.sql("duckdb"))


def _load(evidence: Evidence) -> None:
    """The tables that the macros take beside published cells."""
    release = evidence.release
    dataset, schema = release.dataset, release.schema
    manifest = table(schema, "manifest", alias="m")
    ((listed, paired),) = release.warehouse.rows(
        exp.select(column("table_items", "m"), column("table_pairs", "m"))
        .from_(manifest)
        .sql("duckdb")
    )
    attributes = [name for name in listed.split(", ") if name]
    shown = {"release": release.release_id}
    sensitive = [a.column for a in dataset.sensitive if a.column in attributes]
    composed = originals(dataset, release.quarter, attributes)
    told = exp.select("*").from_(table(schema, "item_count"))
    beside = {"checked_held": HELD, "checked_unit": UNITS, "checked_single": SINGLE}
    known = with_rows(query(TOPIC, "known", **beside), item_count=told)
    tree = exp.select("*").from_(table(schema, "stratum"))
    rows, values = _regions(evidence)
    held = query(TOPIC, "held", checked_unit=UNITS)
    made: dict[str, tuple[str, dict[str, Any]]] = {
        TREE: (tree.sql("duckdb"), {}),
        ROWS: (rows.sql("duckdb"), {}),
        VALUES: (values.sql("duckdb"), {}),
        BOUNDED: (
            query(TOPIC, "thresholds"),
            shown | {"sensitive": sensitive, "told": _told_items(release)},
        ),
        UNITS: (
            query(TOPIC, "units", checked_tree=TREE, checked_row=ROWS, checked_value=VALUES),
            shown | {"dataset": dataset.name},
        ),
        HELD: (with_rows(held, **composed).sql("duckdb"), {}),
        SINGLE: (query(TOPIC, "single", checked_held=HELD), {}),
        KNOWN: (known.sql("duckdb"), {}),
        KINDS: (
            query(TOPIC, "kinds"),
            {"pairs": sorted({*paired.split(", "), *_told_kinds(release)})},
        ),
    }
    for name, (text, parameters) in made.items():
        evidence.once(
            name, partial(release.warehouse.run, f"{CREATE} {name} AS {text}", parameters)
        )


def _regions(evidence: Evidence) -> tuple[exp.Query, exp.Query]:
    """(region_no, region, unit) of the released rows, or of what counts of regions count, and
    (region_no, qid, label, low, high)."""
    shown = _row_units(evidence.release) if evidence.facts.case_rows else region_units(evidence)
    return shown, _region_values(evidence.release.visible_dataset)


def _row_units(release: Release) -> exp.Query:
    dataset = release.visible_dataset
    number = exp.Window(
        this=exp.Anonymous(this="dense_rank"),
        order=exp.Order(
            expressions=[exp.Ordered(this=column(name, "v")) for name in region_columns(dataset)]
        ),
    )
    return (
        exp.select(
            number.as_("region_no"),
            *[column(name, "v") for name in region_columns(dataset)],
            column("case_id", "i").as_("unit"),
            dialect="duckdb",
        )
        .from_(table(release.schema, dataset.report_table, alias="v"))
        .join(
            exp.select(column("public_case", "d"), column("case_id", "d"))
            .distinct()
            .from_(temporary("srsql_identity", alias="d"))
            .subquery("i"),
            on=column(dataset.case_id, "v").eq(column("public_case", "i")),
        )
    )


def _region_values(dataset: Dataset) -> exp.Query:
    none = exp.null()
    parts: list[exp.Query] = []
    for qid in dataset.qid:
        label, ends = (none, qid.published) if qid.bounded else (column(qid.name, "r"), ())
        low, high = (column(name, "r") for name in ends) if ends else (none, none)
        parts.append(
            exp.select(
                column("region_no", "r"),
                exp.Literal.string(qid.name).as_("qid"),
                exp.cast(label, "VARCHAR").as_("label"),
                exp.cast(low, "DECIMAL(18, 6)").as_("low"),
                exp.cast(high, "DECIMAL(18, 6)").as_("high"),
            )
            .distinct()
            .from_(temporary(ROWS, alias="r"))
        )
    return union_all(parts)


def originals(dataset: Dataset, quarter: str, attributes: list[str]) -> dict[str, exp.Query]:
    """The raw rows of a quarter (report_id, attribute, spelling), each spelling once, what keys
    they have, worked out anew, and the terms among them (attribute, spelling, term)."""
    known = {(a.table, a.column): a.missing for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    of, version = dataset.signals, dataset.term_key
    rows_of: list[exp.Query] = []
    keys: list[exp.Query] = []
    kept = exp.select("k.attribute", "k.spelling", "k.term").where("coalesce(k.term, '') <> ''")
    for child in dataset.child_tables:
        for name in child.publish:
            if name not in attributes:
                continue
            place, attribute = (child.name, name), exp.Literal.string(name)
            rows = (
                exp.select(
                    column(dataset.report_id, "t").as_("report_id"),
                    attribute.as_("attribute"),
                    column(name, "t").as_("spelling"),
                )
                .from_(raw_table(dataset, child.name, alias="t"))
                .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
            )
            if of and of.role and place == (of.drug_table, of.drug):
                role = exp.func("upper", exp.func("trim", column(of.role, "t")))
                suspects = [exp.Literal.string(s.strip().upper()) for s in of.suspect]
                rows = rows.where(role.isin(*suspects))
            rows_of.append(rows)
            text, blanks = column("spelling", "s"), known.get(place)
            key = normal_form(text) if blanks is None else checked_key(text, version)
            keys.append(
                exp.select(column("attribute", "s"), text, key.as_("term"))
                .from_(exp.to_table("original_spelling").as_("s"))
                .where(column("attribute", "s").eq(attribute))
            )
            missing = [checked_key(exp.Literal.string(each), version) for each in blanks or ()]
            if missing:
                none = column("attribute", "k").eq(attribute) & column("term", "k").isin(*missing)
                kept = kept.where(none.not_())
    # numbered: a condition on keys would work them out for all rows before these are distinct
    numbered = exp.select("u.*", "row_number() OVER () AS key_no", dialect="duckdb")
    spelled = exp.select("r.attribute", "r.spelling").distinct()
    return {
        "original_row": union_all(rows_of),
        "original_spelling": spelled.from_(exp.to_table("original_row").as_("r")),
        "original_key": numbered.from_(union_all(keys).subquery("u")),
        "original_term": kept.from_(exp.to_table("original_key").as_("k")),
    }
