"""The checks of released rows of cases, from the rows alone.

They share no code with what makes a release: groups are read off the published regions, terms off
the published child rows, and both are compared with the thresholds by the macros of
``sql_macros/checks``. Only "the original lies in its region", "nothing is lost" and what was drawn
at random look at anything else. A perturbed release does not show its groups: they are those of the
member table, found by ``srsql_identity``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from sqlglot import exp

from srsql.engine.catalog.layout import key_columns, raw_table
from srsql.engine.catalog.releases import terms_without_rows
from srsql.engine.checks import TOPIC, Evidence, checked_key, uniform_rows
from srsql.engine.checks.published_regions import (
    case_symptoms,
    case_terms,
    drawn_values_query,
    internal_group_rows,
    original_values,
    published_sensitive,
    region_ends,
    region_rows,
    report_values,
    shown_regions,
)
from srsql.engine.measures import Measure
from srsql.engine.store.statements import (
    check_row,
    column,
    literal,
    query,
    scalar_macro,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.schemas import Dataset

OF_REPORTS = frozenset({"reports", "alpha", "values"})
"""What a comparator claims of the reports of a region, not of its cases."""
THETA, DRUG, KNOWLEDGE = "seen_theta", "seen_drug", "seen_knowledge"
VALUES, UNITS = "seen_report_value", "seen_unit"
UNIT_ROWS, UNIT_VALUES = "seen_unit_row", "seen_unit_value"
CASE = "case"
"""Who is counted, unless others are in the place of cases (``ReleaseFacts.unit``)."""
CASE_VALUES = "srsql_published_value"
"""The temporary table of the sensitive terms of every released case."""


def check_k(evidence: Evidence, unit: str = CASE) -> list[Measure]:
    """k distinct cases, or k of whoever else is counted."""
    least = evidence.claims.get("k", Fraction(evidence.release.k)).numerator
    if unit == CASE:
        return _by_set(evidence, lambda rows: evidence.ask("check_k", rows, least))
    return _of_units(evidence, unit, "check_k", least)


def check_theta(evidence: Evidence, unit: str = CASE) -> list[Measure]:
    """Every threshold, by what the rows show."""
    if unit != CASE:
        return _of_units(evidence, unit, "check_theta", literal(UNIT_VALUES), literal(THETA))
    return _by_set(
        evidence,
        lambda rows: evidence.ask(
            "check_theta",
            rows,
            _values(evidence),
            literal(THETA),
            tables={THETA: query(TOPIC, "thresholds")},
            parameters={"release": evidence.release.release_id},
        ),
    )


def _of_units(evidence: Evidence, unit: str, macro: str, *more: str | int) -> list[Measure]:
    """What a check finds of who is counted in the place of cases (``counted_units``). New ones
    alone carry the bounds of a model that withstands attacks on a series."""
    _rows(evidence)
    _values(evidence)
    names = {
        UNITS: "units",
        UNIT_ROWS: "unit_rows",
        UNIT_VALUES: "unit_values",
        THETA: "thresholds",
    }
    asked = {
        "release": evidence.release.release_id,
        "unit": unit,
        "in_series": bool(evidence.facts.attacks),
    }
    tables = {name: query(TOPIC, text) for name, text in names.items()}
    found = evidence.ask(macro, literal(UNIT_ROWS), *more, tables=tables, parameters=asked)
    return named_by_unit(found, unit)


def named_by_unit(found: list[Measure], unit: str) -> list[Measure]:
    """The uniform rows of a check of others than cases, under a name of their own."""
    name = "{}" if unit == CASE else f"{{}}_{unit}s"
    return [(row[0], name.format(row[1]), *row[2:]) for row in found]


def check_units(evidence: Evidence, unit: str) -> list[Measure]:
    """Nobody who is suspected is counted twice."""
    names = {"seen_pair": "suspected_pairs", UNITS: "counted_units", "seen_case": "released_cases"}
    return evidence.ask(
        f"check_{unit}s",
        *map(literal, names),
        tables={name: query(TOPIC, asked) for name, asked in names.items()},
        parameters={"release": evidence.release.release_id, "unit": unit},
    )


def check_theta_knowledge(evidence: Evidence) -> list[Measure]:
    """Every threshold, by what the rows show and their drugs suggest."""
    drugs, release = _case_terms(evidence, "drug", drugs=True), evidence.release
    return _by_set(
        evidence,
        lambda rows: evidence.ask(
            "check_theta_knowledge",
            rows,
            _values(evidence),
            *(literal(name) for name in (DRUG, KNOWLEDGE, THETA)),
            tables={
                DRUG: drugs.sql("duckdb"),
                KNOWLEDGE: knowledge_query(release.dataset, release.release_id).sql("duckdb"),
                THETA: query(TOPIC, "thresholds"),
            },
            parameters={"release": evidence.release.release_id},
        ),
    )


def check_own_theta(evidence: Evidence) -> list[Measure]:
    """The thresholds that patients ask for of their own, by what the rows show;
    reports of earlier periods ask as well."""
    release, asked = evidence.release, evidence.facts.own_theta
    assert asked is not None
    dataset = release.dataset
    texts = (
        exp.select(
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
            exp.func("trim", exp.cast(column(asked, "t"), "VARCHAR")).as_("text"),
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(exp.LTE(this=column("quarter", "t"), expression=exp.convert(release.quarter)))
    )
    return evidence.ask(
        "check_own_theta",
        _rows(evidence),
        _values(evidence),
        literal("own_bound"),
        tables={
            "own_bound": with_rows(query(TOPIC, "own_thresholds"), report_text=texts).sql("duckdb")
        },
    )


def check_term_keys(evidence: Evidence) -> list[Measure]:
    """The keys of published terms, derived anew."""
    release = evidence.release
    rows = term_key_query(release.visible_dataset, release.schema, release.release_id)
    return uniform_rows(release.warehouse, rows.subquery().sql("duckdb"))


def term_key_query(dataset: Dataset, schema: str, release_id: int) -> exp.Query:
    """The uniform row: the key beside every spelling is that of the spelling.

    Where a release publishes no term its rows are counted, none of which has a key.
    """
    parts: list[exp.Query] = []
    for source in dataset.row_tables:
        for name, key in key_columns(dataset, source.name).items():
            columns = [column(name, "v").as_("spelling"), column(key, "v").as_("key")]
            parts.append(_counted(columns, table(schema, source.name, alias="v")))
    if not parts:
        none = exp.cast(exp.null(), "VARCHAR")
        columns = [none.as_("spelling"), none.copy().as_("key")]
        parts = [_counted(columns, table(schema, dataset.report_table, alias="v"))]
    anew = checked_key(column("spelling", "p"), dataset.term_key)
    differs = exp.NullSafeNEQ(this=column("key", "p"), expression=anew)
    wrong = exp.Sum(this=exp.case().when(differs, column("shown", "p")).else_(0))
    every = exp.Sum(this=column("shown", "p"))
    figures = scalar_macro(
        "check_row", exp.convert(release_id), exp.convert("check_term_keys"),
        exp.convert("published term"),
        *(exp.func("coalesce", figure, exp.convert(0)) for figure in (wrong, every)),
        exp.convert(0),
    )  # fmt: skip
    return exp.select(exp.Anonymous(this="unnest", expressions=[figures])).from_(
        union_all(parts).subquery("p")
    )


def _counted(columns: list[exp.Expr], rows: exp.Table) -> exp.Select:
    """What rows show, each once, with how many show it."""
    same = [each.this.copy() for each in columns if isinstance(each.this, exp.Column)]
    counted = exp.select(*columns, exp.Count(this=exp.Star()).as_("shown")).from_(rows)
    return counted.group_by(*same) if same else counted


def knowledge_query(dataset: Dataset, release_id: int) -> exp.Query:
    """(spelling, drug, disease): the external knowledge of a release, its keys derived anew."""
    drug, disease = column("drug", "e"), column("disease", "e")
    return (
        exp.select(
            drug.as_("spelling"),
            checked_key(drug, dataset.term_key).as_("drug"),
            checked_key(disease, dataset.term_key).as_("disease"),
        )
        .from_(table("srsql", "external_knowledge", alias="e"))
        .where(column("release_id", "e").eq(release_id))
    )


def check_suppressed(evidence: Evidence) -> list[Measure]:
    """What is suppressed, by the originals and what the rows show."""
    release = evidence.release
    dataset = release.visible_dataset
    return evidence.ask(
        "check_suppressed",
        *(literal(name) for name in ("original_value", "shown_value", "suppressed_value")),
        tables={
            "original_value": original_values(dataset, release.quarter).sql("duckdb"),
            "shown_value": report_values(dataset, release.schema).sql("duckdb"),
            "suppressed_value": query(TOPIC, "suppressed"),
        },
        parameters={"release": release.release_id},
    )


def check_reports(evidence: Evidence) -> list[Measure]:
    """k reports."""
    return evidence.ask("check_reports", _rows(evidence), evidence.claims["reports"].numerator)


def check_alpha(evidence: Evidence) -> list[Measure]:
    """The share of reports that hold a value."""
    share = evidence.claims["alpha"]
    return evidence.ask(
        "check_alpha",
        _rows(evidence),
        literal(VALUES),
        share.numerator,
        share.denominator,
        tables=_report_values(evidence),
    )


def check_values(evidence: Evidence) -> list[Measure]:
    """l distinct values of each sensitive attribute."""
    names = dict.fromkeys(a.column for a in published_sensitive(evidence.release.visible_dataset))
    listed = exp.Array(expressions=[exp.Literal.string(name) for name in names])
    return evidence.ask(
        "check_values",
        _rows(evidence),
        literal(VALUES),
        listed.sql("duckdb"),
        evidence.claims["values"].numerator,
        tables=_report_values(evidence),
    )


def check_manifest(evidence: Evidence) -> list[Measure]:
    """The thresholds that the public manifest tells."""
    manifest = table(evidence.release.schema, "manifest", alias="m").sql("duckdb")
    thresholds = f"(SELECT m.thresholds FROM {manifest})"
    return evidence.ask("check_manifest", thresholds, _told_values(evidence))


def check_internal(evidence: Evidence) -> list[Measure]:
    """k and theta of the groups in the catalog."""
    return evidence.ask("check_internal")


def check_draws(evidence: Evidence) -> list[Measure]:
    """What was drawn, and charged."""
    return evidence.ask("check_draws")


def check_drawn_values(evidence: Evidence) -> list[Measure]:
    """Numbers lie in the declared domain on its granules, nodes are nodes of the hierarchy."""
    release = evidence.release
    rows = drawn_values_query(release.visible_dataset, release.schema, release.release_id)
    return uniform_rows(release.warehouse, rows.subquery().sql("duckdb"))


def check_common(evidence: Evidence) -> list[Measure]:
    """Categories that are generalized beside the drawn values."""
    release, common_value = evidence.release, "common_value"
    dataset = release.visible_dataset
    common = [
        name
        for position, qid in enumerate(dataset.qid)
        if position not in evidence.perturbed
        for name in qid.published
    ]
    rows = internal_group_rows(dataset, release.schema, release.release_id, common)
    return evidence.ask(
        "check_common", literal(common_value), tables={common_value: rows.sql("duckdb")}
    )


def check_waiting(evidence: Evidence) -> list[Measure]:
    """Who waits, and how long."""
    return evidence.ask("check_waiting", int(evidence.facts.max_delay or 0))


def check_waiting_rows(evidence: Evidence) -> list[Measure]:
    """Who waits, by the originals and what the rows show."""
    release = evidence.release
    dataset = release.visible_dataset
    shown = released_reports(dataset, release.schema, by_report=False)
    asked = {"release": release.release_id}
    since = [label for (label,) in release.warehouse.rows(query(TOPIC, "waiting_since"), asked)]
    return evidence.ask(
        "check_waiting_rows",
        *(literal(name) for name in ("ingested_report", "late_report", "shown_case")),
        tables={
            "ingested_report": ingested_reports(dataset, since).sql("duckdb"),
            **_late_reports(evidence),
            "shown_case": shown.sql("duckdb"),
        },
    )


def check_late(evidence: Evidence) -> list[Measure]:
    """Whose reports came late, by the originals behind the rows."""
    release = evidence.release
    dataset = release.visible_dataset
    return evidence.ask(
        "check_late",
        *(literal(name) for name in ("late_report", "own_case")),
        tables={
            "late_report": shown_late(dataset, release.schema, release.quarter).sql("duckdb"),
            "own_case": received_cases(dataset, release.quarter).sql("duckdb"),
        },
    )


def check_delay(evidence: Evidence, unit: str = CASE) -> list[Measure]:
    """What is left of the groups of those who waited, or came late."""
    asked = evidence.ask(
        "check_delay", literal(unit), literal("late_report"), tables=_late_reports(evidence)
    )
    return named_by_unit(asked, unit)


def _late_reports(evidence: Evidence) -> dict[str, str]:
    return {"late_report": late_reports(evidence.release.visible_dataset).sql("duckdb")}


def check_complete(evidence: Evidence) -> list[Measure]:
    """Released and withheld reports together are those of the quarter.

    Where every report was taken for a case of its own, reports are withheld, not cases.
    """
    release, by_report = evidence.release, evidence.by_report
    dataset = release.visible_dataset
    quarter = quarter_reports(dataset, release.quarter, by_report=by_report)
    released = released_reports(dataset, release.schema, by_report=by_report)
    return evidence.ask(
        "check_complete",
        *(literal(name) for name in ("quarter_report", "released_report", "withheld_case")),
        tables={
            "quarter_report": quarter.sql("duckdb"),
            "released_report": released.sql("duckdb"),
            "withheld_case": query(TOPIC, "withheld_reports" if by_report else "withheld_cases"),
        },
        parameters={} if by_report else {"release": release.release_id},
    )


def check_inside(evidence: Evidence) -> list[Measure]:
    """Originals lie in their regions."""
    release = evidence.release
    dataset = release.visible_dataset
    shown = table(release.schema, dataset.report_table, alias="v")
    rows = inside_query(dataset, shown, release.release_id, evidence.perturbed)
    return uniform_rows(release.warehouse, rows.subquery().sql("duckdb"))


def check_earlier(evidence: Evidence) -> list[Measure]:
    """Categories of old cases."""
    return evidence.ask("check_earlier")


def check_cohorts(evidence: Evidence) -> list[Measure]:
    """Those who stay, by the regions of this release and of the one just before."""
    release = evidence.release
    dataset = release.visible_dataset
    found = release.warehouse.rows(query(TOPIC, "releases_before"), {"release": release.release_id})
    nobody = region_rows(dataset, release.schema, reports=False).where(exp.false())
    before, k = nobody, release.k
    if found and found[0][2]:
        before, k = region_rows(dataset, found[0][0], reports=False), found[0][1]
    earlier = [region_rows(dataset, schema, reports=False) for schema, _, _ in found[1:]]
    older = union_all([nobody, *earlier])
    return evidence.ask(
        "check_cohorts",
        _rows(evidence),
        _values(evidence),
        *(literal(name) for name in (THETA, "seen_before", "seen_older")),
        release.k,
        k,
        tables={
            THETA: query(TOPIC, "thresholds"),
            "seen_before": before.sql("duckdb"),
            "seen_older": older.sql("duckdb"),
        },
        parameters={"release": release.release_id},
    )


def check_catalog(evidence: Evidence) -> list[Measure]:
    """The catalog has the regions, terms and substantial symptoms that the views show."""
    dataset, schema = evidence.release.visible_dataset, evidence.release.schema
    values, seen = _values(evidence), temporary(CASE_VALUES, alias="v")
    shown = shown_regions(dataset, schema, "kept_report", by_report=bool(evidence.perturbed))
    identity = literal("temp.main.srsql_identity")
    tables = {
        "kept_report": f"FROM srsql.kept_reports({identity}, {evidence.release.release_id:d})",
        "seen_region": shown.sql("duckdb"),
        "seen_end": region_ends(dataset, "seen_region").sql("duckdb"),
        "seen_symptom": case_symptoms(dataset, seen).sql("duckdb"),
    }
    cases, pairs = literal("kept_report"), values
    if not dataset.reports_are_cases:  # a case may have several reports
        tables["kept_case"] = _distinct(exp.to_table("kept_report"), "public_case", "case_no")
        cases = literal("kept_case")
    if len(dataset.sensitive) > 1:  # and one value of several attributes
        tables["seen_value"] = _distinct(seen, "case_id", "term")
        pairs = literal("seen_value")
    ends, symptoms = literal("seen_end"), literal("seen_symptom")
    return evidence.ask("check_catalog", cases, ends, pairs, symptoms, tables=tables)


def _distinct(rows: exp.Table, *names: str) -> str:
    return exp.select(*names).distinct().from_(rows).sql("duckdb")


def _by_set(evidence: Evidence, ask: Callable[[str], list[Measure]]) -> list[Measure]:
    """What is asked of the regions of rows; of each set of quasi-identifiers by itself, if several
    are protected, with the name of the set in the scope."""
    dataset, schema = evidence.release.visible_dataset, evidence.release.schema
    of_sets = {
        f", {name}": evidence.table(
            f"srsql_published_row_{name}",
            partial(region_rows, dataset.of_set(name), schema, reports=False),
        )
        for name in evidence.facts.qid_sets
    }
    return [
        (*row[:2], f"{row[2]}{scope}", *row[3:])
        for scope, rows in (of_sets or {"": _rows(evidence)}).items()
        for row in ask(rows)
    ]


def _rows(evidence: Evidence) -> str:
    """The region of every released report, or its internal group where regions are not shown."""
    release, facts = evidence.release, evidence.facts
    dataset, schema = release.visible_dataset, release.schema
    return evidence.table(
        "srsql_published_row",
        lambda: (
            internal_group_rows(dataset, schema, release.release_id)
            if facts.draws
            else region_rows(dataset, schema, reports=bool(facts.bounds & OF_REPORTS))
        ),
    )


def _values(evidence: Evidence) -> str:
    """The sensitive terms of every released case, normalized anew, with their attributes."""
    return evidence.table(CASE_VALUES, lambda: _case_terms(evidence, "term"))


def _told_values(evidence: Evidence) -> str:
    """The terms that something released tells: rows of cases, or counts in their place."""
    if evidence.facts.table_k is None:
        return _values(evidence)
    counts = table(evidence.release.schema, "item_count", alias="i")
    told = exp.select(column("term", "i")).distinct().from_(counts)
    return evidence.table("srsql_told_value", lambda: told)


def _case_terms(evidence: Evidence, name: str, *, drugs: bool = False) -> exp.Query:
    release = evidence.release
    apart = terms_without_rows(release.warehouse, release.release_id)
    return case_terms(release.visible_dataset, release.schema, name, apart, drugs=drugs)


def _report_values(evidence: Evidence) -> dict[str, str]:
    release = evidence.release
    return {VALUES: report_values(release.visible_dataset, release.schema).sql("duckdb")}


def quarter_reports(dataset: Dataset, quarter: str, *, by_report: bool) -> exp.Query:
    """(report_id, case_id) of every report of the quarter.

    ``by_report``: every report is a case of its own.
    """
    case_id = dataset.report_id if by_report else dataset.case_id
    return (
        exp.select(
            column(dataset.report_id, "t").as_("report_id"), column(case_id, "t").as_("case_id")
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(quarter)))
    )


def ingested_reports(dataset: Dataset, quarters: Sequence[str]) -> exp.Query:
    """(case_id, quarter) of the reports of some periods as they were ingested, of no series."""
    labels = [exp.Literal.string(label) for label in quarters]
    return (
        exp.select(
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
            column("quarter", "t"),
        )
        .distinct()
        .from_(raw_table(dataset.taken_from(""), dataset.report_table, alias="t"))
        .where(column("quarter", "t").isin(*labels) if labels else exp.false())
    )


def late_reports(dataset: Dataset) -> exp.Select:
    """(report_id, case_id, quarter) of the reports that dumps brought after their period, which
    ``quarter`` is, was loaded."""
    return (
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
            column("quarter", "d"),
        )
        .from_(raw_table(dataset.taken_from(""), dataset.report_table, alias="t"))
        .join(
            table("srsql", "dump_period", alias="d"),
            on=exp.and_(
                column("dataset", "d").eq(exp.Literal.string(dataset.name)),
                column("label", "d").eq(column("quarter", "t")),
            ),
        )
    )


def shown_late(dataset: Dataset, schema: str, quarter: str) -> exp.Query:
    """Those of them that are behind the rows of a release, of periods before its own."""
    late, shown = late_reports(dataset), released_reports(dataset, schema, by_report=False)
    return (
        exp.select(column("report_id", "l"), column("case_id", "l"), column("quarter", "l"))
        .from_(late.subquery("l"))
        .join(
            shown.subquery("s"),
            on=column("report_id", "s").eq(column("report_id", "l")),
            join_type="semi",
        )
        .where(exp.LT(this=column("quarter", "l"), expression=exp.Literal.string(quarter)))
    )


def received_cases(dataset: Dataset, quarter: str) -> exp.Query:
    """(case_id) of the cases with a report of that period, whenever it came."""
    late = late_reports(dataset).where(column("quarter", "d").eq(exp.Literal.string(quarter)))
    return union_all(
        [
            exp.select(column("case_id", "i")).from_(
                ingested_reports(dataset, [quarter]).subquery("i")
            ),
            exp.select(column("case_id", "l")).from_(late.subquery("l")),
        ]
    )


def released_reports(dataset: Dataset, schema: str, *, by_report: bool) -> exp.Query:
    """(report_id, case_id) of the originals behind the released reports.

    ``by_report``: every report is a case of its own.
    """
    case_id = "report_id" if by_report else "case_id"
    return (
        exp.select(column("report_id", "i").as_("report_id"), column(case_id, "i").as_("case_id"))
        .from_(temporary("srsql_identity", alias="i"))
        .join(
            table(schema, dataset.report_table, alias="v"),
            on=exp.and_(
                column("public_report", "i").eq(column(dataset.report_id, "v")),
                column("public_case", "i").eq(column(dataset.case_id, "v")),
            ),
        )
    )


def inside_query(dataset: Dataset, shown: exp.Table, release_id: int, drawn: set[int]) -> exp.Query:
    """The uniform row: every known original QID of a released report lies in its published region.

    Args:
        dataset: names the columns.
        shown: the rows of the report table, as ``v``.
        release_id: stands in the row.
        drawn: the positions of perturbed ones, which need not.
    """
    misses: list[exp.Expr] = []
    rows = (
        exp.select()
        .from_(shown)
        .join(
            temporary("srsql_identity", alias="i"),
            on=column(dataset.report_id, "v").eq(column("public_report", "i")),
        )
        .join(
            raw_table(dataset, dataset.report_table, alias="t"),
            on=column(dataset.report_id, "t").eq(column("report_id", "i")),
        )
        .where(column("quarter", "t").eq(column("quarter", "v")))
    )
    for position, qid in enumerate(dataset.qid):
        if position in drawn:
            continue
        value = column(f"srsql_{qid.name}", "t")
        if qid.bounded:
            scaled = exp.Mul(
                this=value, expression=exp.Literal.number(format(qid.granularity, "f"))
            )
            low, high = column(f"{qid.name}_low", "v"), column(f"{qid.name}_high", "v")
            misses.append(
                exp.or_(
                    exp.LT(this=scaled, expression=low), exp.GT(this=scaled.copy(), expression=high)
                )
            )
        else:
            alias = f"h_{qid.name}"
            rows = rows.join(
                table("srsql", "hierarchy", alias=alias),
                on=exp.and_(
                    column("dataset", alias).eq(exp.Literal.string(dataset.name)),
                    column("attribute", alias).eq(exp.Literal.string(qid.name)),
                    column("node", alias).eq(value),
                    column("ancestor", alias).eq(column(qid.name, "v")),
                ),
                join_type="left",
            )
            misses.append(
                exp.and_(value.is_(exp.null()).not_(), column("node", alias).is_(exp.null()))
            )
    outside = exp.func("coalesce", exp.or_(*misses), exp.false())
    return rows.select(check_row(release_id, ("check_inside", "report"), outside))
