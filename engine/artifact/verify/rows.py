"""What can be proved from the rows of one artifact: shape, domains, k, theta and k^m."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import (
    CLUSTERS,
    TERM_TABLES,
    Attribute,
    Manifest,
    Table,
)
from srsql.engine.artifact.verify.contradictions import (
    hierarchy_faults,
    told_item_cases,
    uniform_faults,
)
from srsql.engine.artifact.verify.files import Thresholds, read_hierarchies, read_thresholds
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.reading import (
    loaded,
    run_step,
    text,
)
from srsql.engine.artifact.verify.term_keys import (
    KeyedItems,
    keep_keys,
    key_checks,
    spelling_faults,
)
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.catalog.released_terms import Items, PublishedTerms
from srsql.engine.checks import measured
from srsql.engine.checks.region_caps import Promise, read_cells
from srsql.engine.checks.term_chunks import (
    KERNELS,
    breaches,
    check_reconstructed,
    check_row_terms,
    check_terms,
)
from srsql.engine.checks.whole_rows import (
    ROWS,
    OtherItems,
    cluster_call,
    inferred,
    known_shares,
    share_faults,
    told_values,
)
from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.store.statements import (
    STEPS,
    column,
    create,
    parsed,
    query,
    temporary,
    union_all,
)
from srsql.udfs.kernels import load_kernels
from srsql.udfs.register import register_udfs

ONE_REGION = "one region"
PSEUDONYM_BITS = {"pseudonym": 53, "per-quarter": 53, "pseudonym-60": 60, "key file": 60}
"""Bits of the pseudonyms of each kind of ids; of other ids nothing is known."""
ROW_CHECKS = ("ids", "order", "period", "counts", ONE_REGION, "k", "theta", "thresholds")
OF_GROUPS = ("k", "theta")
"""What a published region shows of the groups, unless it was drawn at random."""
MACROS = (
    "risk/uniform_row.sql",
    "checks/km_anonymity.sql",
    "checks/chunks.sql",
    "checks/chunk_structure.sql",
    "checks/chunk_originals.sql",
)
"""Files of ``sql_macros/checks`` with the checks of disassociated terms."""


def check_rows(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[Check]:
    """Every check on the loaded tables of regions and values.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: that declares them.

    Raises:
        ValueError: the thresholds or the hierarchies cannot be read.
    """
    if manifest.report_table is None:
        return []
    run_step(con, "artifact/artifact_tables")
    add_artifact(con, folder, manifest, 0)
    con.execute(query("artifact/row_checks", "create_region_size"))
    claims = {
        "quarter": manifest.quarter,
        "k": manifest.k,
        "cases": manifest.counts.released_cases,
        "reports": manifest.counts.released_reports,
    }
    unclaimed = not_claimed(manifest)
    by_set = published_rows(manifest).by_set(OF_GROUPS)
    checks = [
        run_check(con, "artifact/row_checks", name, claims)
        for name in ROW_CHECKS
        if name not in unclaimed and name not in by_set
    ]
    checks += checks_by_set(con, manifest, [name for name in by_set if name not in unclaimed])
    uniform = uniform_faults(*read_thresholds(folder, manifest), manifest.parameters.get("theta"))
    checks = [
        replace(check, faults=[*check.faults, *uniform]) if check.name == "thresholds" else check
        for check in checks
    ]
    spread = id_faults(con, manifest)
    checks = [
        replace(check, faults=[*check.faults, *spread]) if check.name == "ids" else check
        for check in checks
    ]
    return [*checks, *key_checks(con, manifest), bounds_check(con, folder, manifest)]


def id_faults(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[str]:
    """Where ids that are said to be pseudonyms are not spread as keyed hashes are.

    Of these each value of the first four bits, and of the last four, is as likely as any other.
    Ids of the source, numbers in order and short hashes are not so. By Hoeffding 1963 (theorem 1)
    no more than one artifact in a billion is refused for nothing; an artifact of a few cases proves
    nothing.

    Args:
        con: with the tables of ``check_rows``.
        manifest: says which ids there are.
    """
    told = manifest.parameters.get("ids")
    bits = PSEUDONYM_BITS.get("key file" if manifest.case_ids == "pseudonym" else str(told))
    if bits is None:
        return []
    reports = manifest.reports
    faults = []
    for shown in reports.columns:
        if shown.role not in ("case id", "report id"):
            continue
        source = temporary(loaded(reports.name), alias="t").sql("duckdb")
        rows = con.execute(
            f"SELECT i.id >> $high, i.id % 16, count(*) FROM (SELECT DISTINCT "
            f"{column(shown.name, 't').sql('duckdb')} AS id FROM {source}) AS i GROUP BY ALL",
            {"high": bits - 4},
        ).fetchall()
        total = sum(count for _, _, count in rows)
        if not total:
            continue
        for place, name in ((0, "first"), (1, "last")):
            counts = Counter[int]()
            for row in rows:
                counts[row[place]] += row[2]
            if any(number > 15 for number in counts) or _too_alike(max(counts.values()), total):
                faults.append(
                    f"{reports.name}.{shown.name}: the {name} bits of {total} ids are not those of "
                    "pseudonyms, each as likely as any other"
                )
    return faults


def _too_alike(most: int, total: int) -> bool:
    """Whether so many of all ids have the same four bits with a chance below 1 in a billion."""
    share, due = most / total, 1 / 16
    if share <= due:
        return False
    rest = (1 - share) * log((1 - share) / (1 - due)) if share < 1 else 0.0
    return total * (share * log(share / due) + rest) > log(64 * 1e9)


def checks_by_set(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, names: Sequence[str]
) -> list[Check]:
    """The checks of groups by what rows show of one set of quasi-identifiers after the other.

    Args:
        con: with the tables of ``check_rows``.
        manifest: that declares the sets.
        names: of the checks.

    Returns:
        One check of each name, over all sets; a fault begins with the name of the set.
    """
    found = {name: Check(name, [], 0) for name in names}
    if not found:
        return []
    for claim in manifest.qid_sets or ():
        _show_regions(con, manifest, claim.attributes)
        for name in names:
            one = run_check(con, "artifact/row_checks", name, {"k": manifest.k})
            told = [f"set {claim.name}: {fault}" for fault in one.faults]
            so_far = found[name]
            found[name] = Check(name, [*so_far.faults, *told], so_far.total + one.total)
    _show_regions(con, manifest, [attribute.name for attribute in manifest.attributes])
    return list(found.values())


def _show_regions(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, attributes: Sequence[str]
) -> None:
    """Have regions be what rows show of some quasi-identifiers."""
    rows = shown_regions(manifest, 0, attributes)
    con.execute(create(exp.to_table("srsql_case_region"), rows, temp=True))
    con.execute(query("artifact/row_checks", "create_region_size"))


def shown_regions(manifest: Manifest, number: int, attributes: Sequence[str]) -> exp.Select:
    """What the rows of an artifact, which were loaded, show of some quasi-identifiers of each case.

    Args:
        manifest: of the artifact.
        number: of the artifact among those that are looked at together.
        attributes: the quasi-identifiers.

    Returns:
        A query for artifact, region and case_id, each once.
    """
    reports = manifest.reports
    named = {c.role: c.name for c in reports.columns}
    case_id = column(named.get("case id", named["report id"]), "t")
    return (
        exp.select(
            exp.Literal.number(number).as_("artifact"),
            region_text(reports, attributes).as_("region"),
            exp.cast(case_id, "VARCHAR").as_("case_id"),
        )
        .distinct()
        .from_(temporary(loaded(reports.name), alias="t"))
    )


def run_check(
    con: duckdb.DuckDBPyConnection, topic: str, name: str, parameters: Mapping[str, Any]
) -> Check:
    """One check that is a query for how many things it looked at, and where it fails.

    Args:
        con: into which the artifacts were read.
        topic: of the query, whose name is that of the check.
        name: of the check.
        parameters: of all checks of the topic.
    """
    (statement,) = duckdb.extract_statements(query(topic, name.replace(" ", "_")))
    named = {name: parameters[name] for name in statement.named_parameters}
    ((total, places),) = con.execute(statement, named or None).fetchall()
    return Check(name, places or [], total)


def not_claimed(manifest: Manifest) -> set[str]:
    """The checks of what the artifact does not claim of its regions."""
    if manifest.perturbed:
        return set(OF_GROUPS)
    unproved = set(published_rows(manifest).unproved)
    kind = MODELS.get(manifest.model)
    if kind is None:
        return unproved
    by_report = set() if kind.claimed_bounds.unit == "case" else {ONE_REGION}
    return unproved | by_report | (set(OF_GROUPS) - kind.claimed_bounds.guaranteed)


def add_artifact(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, number: int
) -> None:
    """Add the loaded rows and the thresholds of an artifact to the tables of cases and values.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: that declares them.
        number: of the artifact among those that are looked at together.

    Raises:
        ValueError: the thresholds cannot be read.
    """
    keep_keys(con, manifest)
    for name, rows in row_queries(manifest).items():
        con.execute(create(exp.to_table(f"srsql_{name}"), rows, temp=True))
    terms, nums, dens = read_thresholds(folder, manifest)
    con.execute(
        query("artifact/reading", "add_thresholds"),
        {"artifact": number, "terms": terms, "nums": nums, "dens": dens},
    )
    facts = {
        "artifact": number,
        "version": manifest.artifact_version,
        "term_key": manifest.term_key,
    }
    run_step(con, "artifact/artifact_rows", facts)


def row_queries(manifest: Manifest) -> dict[str, exp.Query]:
    """What fills report_row, child_row and sensitive_cell, which steps and checks read.

    It is composed from the columns that the manifest declares, over the loaded tables.
    """
    reports = manifest.reports
    named = {c.role: c.name for c in reports.columns}
    report_id = named["report id"]
    case_id = named.get("case id", report_id)
    report_rows = exp.select(
        _position().as_("position"),
        column(report_id, "t").as_("report_id"),
        column(case_id, "t").as_("case_id"),
        column(named["period"], "t").as_("period"),
        region_text(reports).as_("region"),
    ).from_(temporary(loaded(reports.name), alias="t"))
    ids = exp.select(column("report_id", "r"), column("case_id", "r"))
    none = ids.from_(temporary("srsql_report_row", alias="r")).where(exp.false())
    child_rows: list[exp.Query] = [
        none.copy().select(text("").as_("table_name"), column("position", "r"))
    ]
    cells: list[exp.Query] = [
        exp.select(column("case_id", "r"), exp.cast(exp.null(), "VARCHAR").as_("spelling"))
        .from_(temporary("srsql_report_row", alias="r"))
        .where(exp.false())
    ]
    for item in manifest.tables:
        source = temporary(loaded(item.name), alias="t")
        if item.name != reports.name and any(c.role == "report id" for c in item.columns):
            child_rows.append(
                exp.select(
                    column(report_id, "t"),
                    column(case_id, "t"),
                    text(item.name).as_("table_name"),
                    _position().as_("position"),
                ).from_(source.copy())
            )
        cells += [
            exp.select(column(case_id, "t"), column(c.name, "t"))
            .from_(source.copy())
            .where(column(c.name, "t").is_(exp.null()).not_())
            for c in item.columns
            if c.role == "sensitive"
        ]
    return {
        "report_row": report_rows,
        "child_row": union_all(child_rows),
        "sensitive_cell": union_all(cells),
    }


def region_text(reports: Table, attributes: Sequence[str] | None = None) -> exp.Expr:
    """The region of a row of the report table, the same text for the same region only.

    ``attributes``: the quasi-identifiers that are looked at; None: all.
    """
    pairs: list[exp.Expr] = []
    for c in reports.columns:
        if c.attribute and (attributes is None or c.attribute in attributes):
            pairs += [text(c.name), column(c.name, "t")]
    return exp.cast(exp.Anonymous(this="json_object", expressions=pairs), "VARCHAR")


def _position() -> exp.Expr:
    """The place of a row in its file, from 0: a window without an order keeps that of the rows."""
    number = exp.Window(this=exp.RowNumber())
    return exp.Sub(this=number, expression=exp.Literal.number(1))


def bounds_check(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> Check:
    """Each distinct interval or node of each quasi-identifier."""
    reports, trees = manifest.regions, read_hierarchies(folder, manifest)
    faults, total = hierarchy_faults(trees, manifest), 0
    for attribute in manifest.attributes:
        columns = [c for c in reports.columns if c.attribute == attribute.name]
        nodes = {node for node, _ in trees.get(attribute.name, [])}
        distinct = (
            exp.select(*[column(c.name, "t") for c in columns])
            .distinct()
            .from_(temporary(loaded(reports.name), alias="t"))
            .order_by(*[column(c.name, "t") for c in columns])
        )
        for values in con.execute(distinct.sql("duckdb")).fetchall():
            total += 1
            fault = (
                _interval_fault(attribute, *values)
                if attribute.kind == "numeric"
                else _node_fault(attribute, values[0], nodes)
            )
            if fault:
                faults.append(fault)
    return Check("bounds", faults, total)


def _interval_fault(
    attribute: Attribute, low: int | Decimal | None, high: int | Decimal | None
) -> str | None:
    interval = f"{attribute.name} {low} to {high}"
    if low is None or high is None:
        return None if low is None and high is None else f"{interval}: one end is missing"
    if low > high:
        return f"{interval}: it ends before it begins"
    if attribute.low is not None and low < attribute.low:
        return f"{interval} begins below the domain, which begins at {attribute.low}"
    if attribute.high is not None and high > attribute.high:
        return f"{interval} ends above the domain, which ends at {attribute.high}"
    if attribute.granularity and any(end % attribute.granularity for end in (low, high)):
        return f"{interval} is finer than the granularity, {attribute.granularity}"
    return None


def _node_fault(attribute: Attribute, node: str | None, nodes: set[str]) -> str | None:
    return None if node in nodes else f"{attribute.name} {node!r} is no node of its hierarchy"


class _Reader:
    """A connection that is no warehouse, for the checks that ask one."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def run(self, query: str, parameters: Sequence[Any] = ()) -> None:
        """Execute one statement for its effect."""
        self._con.execute(query, list(parameters) or None)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._con.execute(query, list(parameters) or None).fetchall()


def check_chunks(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[Check]:
    """k^m of every chunk, and the rules without which k^m is not enough; none of other artifacts.

    Where whole rows are taken apart, also that rows fit clusters, and what items tell of values.

    Raises:
        ValueError: a table of them is missing.
    """
    if manifest.terms is None:
        return []
    known = {item.name: item.rows for item in manifest.tables}
    missing = TERM_TABLES.keys() - known.keys()
    if missing:
        raise ValueError(f"the manifest declares terms, and no table {min(missing)}")
    con.execute("CREATE SCHEMA IF NOT EXISTS srsql")
    load_kernels([KERNELS])
    register_udfs(con)
    for file in MACROS:
        for statement in parsed(STEPS, file):
            con.execute(statement)
    tables = PublishedTerms(*(f"temp.main.{loaded(name)}" for name in TERM_TABLES))
    reader = _Reader(con)
    claim = manifest.terms
    k, size = claim.k or manifest.k, max(manifest.k, claim.diversity, claim.cases or 0)
    published = published_rows(manifest)
    rows = published.of_clusters(
        lambda: check_terms(reader, tables, 0, k, claim.m, cluster_size=size),
        lambda: check_row_terms(reader, tables, k, claim.m, size),
    )
    rows += check_reconstructed(reader, tables, 0)
    of_rows, of_values = published.of_clusters(
        lambda: ([], []), lambda: _judge_rows(reader, folder, manifest, tables)
    )
    broken = [row for row in [*rows, *of_rows] if row.passed is False]
    faults = [*(breaches(reader, tables, k, claim.m) if broken else []), *of_values]
    faults += [f"{row.measure} ({row.scope}): {row.violating:,.0f}" for row in broken]
    faults += _crowded(reader, manifest)
    faults += spelling_faults(con, manifest)
    return [Check("terms", faults, sum(known[name] for name in TERM_TABLES))]


def _judge_rows(
    reader: _Reader, folder: Path, manifest: Manifest, tables: PublishedTerms
) -> tuple[list[MeasureRow], list[str]]:
    """Where whole rows are taken apart: that rows fit clusters, and what known items tell; and the
    faults of what is told of values."""
    thresholds = read_thresholds(folder, manifest)
    clustered = _clustered(manifest).sql("duckdb")
    promise = _promise(reader, manifest, thresholds, clustered)
    claim = manifest.terms
    assert claim is not None
    told = list(told_values(reader, tables, promise.items, promise.thresholds, claim.m, promise))
    items, least = OtherItems(frozenset(claim.sensitive or ())), Fraction(1, claim.diversity)
    others = list(told_values(reader, tables, items, least, claim.m, promise))
    shares = known_shares(told, others, 0)
    found = measured(reader, [cluster_call(tables, manifest.k, 0)], {ROWS: clustered})
    faults = [
        *share_faults(told),
        *_threshold_faults(thresholds, {each.value for each in told}),
        *uniform_faults(*thresholds, manifest.parameters.get("theta")),
        *_item_faults(reader, manifest, tables),
        *share_faults(others),
        *_inference_faults(manifest, inferred(shares)),
    ]
    return [*found, *shares], faults


def _promise(
    reader: _Reader, manifest: Manifest, thresholds: Thresholds, clustered: str
) -> Promise:
    """What the artifact promises of the regions of its clusters; early ones promise nothing, so
    that no region is known to keep a threshold.

    ``clustered``: the query of (region, case_id, cluster).
    """
    assert manifest.terms is not None
    theta = {
        value: Fraction(num, den) for value, num, den in zip(*thresholds, strict=True) if den > 0
    }
    kind = KeyedItems if manifest.term_key else Items
    most = told_item_cases(manifest)
    cells = {} if most is None else read_cells(reader, clustered)
    items = kind(frozenset(manifest.terms.sensitive or ()))
    return Promise(items, theta, cells, 1 if most is None else most)


def _item_faults(reader: _Reader, manifest: Manifest, tables: PublishedTerms) -> list[str]:
    """Items without a count are promised to be of other numbers of cases than can be."""
    told = manifest.parameters.get("item_cases")
    if told is None or manifest.terms is None:
        return []
    ((largest,),) = reader.rows(f"SELECT max(c.records) FROM {tables.clusters} AS c")
    due = ((manifest.terms.k or manifest.k) - 1, largest)
    if told in due:
        return []
    return [
        f"an item without a count is told to be of {told} cases at most, which is neither below k "
        "of the terms nor all of a cluster"
    ]


def _inference_faults(manifest: Manifest, found: int) -> list[str]:
    """The manifest tells another number of terms that follow; early artifacts tell none."""
    claimed = manifest.parameters.get("terms_inferred", found)
    if str(claimed) == str(found):
        return []
    return [f"{found:,} terms of clusters follow from known ones, and the manifest says {claimed}"]


def _threshold_faults(thresholds: Thresholds, known: Set[str]) -> list[str]:
    """Thresholds of what no item tells of, told twice, or not between 0 and 1."""
    values, nums, dens = thresholds
    faults = [f"{value} has a threshold and no item" for value in sorted(set(values) - known)]
    if len(set(values)) < len(values):
        faults.append("a value has two thresholds")
    faults += [
        f"{value} has the threshold {num}/{den}"
        for value, num, den in zip(values, nums, dens, strict=True)
        if not 0 <= num <= den or den < 1
    ]
    return faults


def _clustered(manifest: Manifest) -> exp.Select:
    """(region, case_id, cluster) of the loaded rows."""
    reports = manifest.reports
    named = {c.role: c.name for c in reports.columns}
    case_id = named.get("case id", named["report id"])
    return exp.select(
        region_text(reports).as_("region"),
        column(case_id, "t").as_("case_id"),
        column(named["cluster"], "t").as_("cluster"),
    ).from_(temporary(loaded(reports.name), alias="t"))


def _crowded(reader: _Reader, manifest: Manifest) -> list[str]:
    """Clusters with more records than there are cases, in all or of their region."""
    cases = manifest.counts.released_cases
    ((records,),) = reader.rows(_cluster_records([]).sql("duckdb"))
    faults = []
    if records > cases:
        faults.append(f"clusters have {records:,} records, and {cases:,} cases are released")
    if any(c.attribute for c in manifest.table(CLUSTERS).columns):
        ((regions,),) = reader.rows(crowded_regions(manifest).sql("duckdb"))
        if regions:
            faults.append(f"clusters of {regions:,} region(s) have more records than it has cases")
    return faults


def _cluster_records(region: Sequence[str]) -> exp.Select:
    """The number of records in clusters, for each value of the columns ``region``."""
    total = exp.Sum(this=exp.cast(column("records", "c"), "HUGEINT"))
    names = [column(name, "c") for name in region]
    return (
        exp.select(*names)
        .select(exp.func("coalesce", total, exp.Literal.number(0)).as_("records"))
        .from_(temporary(loaded(CLUSTERS), alias="c"))
        .group_by(*[name.copy() for name in names])
    )


def crowded_regions(manifest: Manifest) -> exp.Select:
    """How many regions have clusters with more records than the region has cases."""
    region = [c.name for c in manifest.table(CLUSTERS).columns if c.attribute]
    reports = manifest.reports
    case_id = next(c.name for c in reports.columns[::-1] if c.role in ("case id", "report id"))
    cases = exp.Count(this=exp.Distinct(expressions=[column(case_id, "r")]))
    case_counts = (
        exp.select(*[column(name, "r") for name in region])
        .select(cases.as_("cases"))
        .from_(temporary(loaded(reports.name), alias="r"))
        .group_by(*[column(name, "r") for name in region])
    )
    same = [exp.NullSafeEQ(this=column(name, "h"), expression=column(name, "s")) for name in region]
    return (
        exp.select(exp.Count(this=exp.Star()))
        .from_(_cluster_records(region).subquery("h"))
        .join(case_counts.subquery("s"), on=exp.and_(*same), join_type="left")
        .where(
            exp.GT(
                this=column("records", "h"),
                expression=exp.func("coalesce", column("cases", "s"), exp.Literal.number(0)),
            )
        )
    )
