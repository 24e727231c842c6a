"""The check of a release against the whole series: can anybody be singled out by joining it?

The audit reads the catalog, so the check first makes sure that the catalog tells what the released
views show. Then every release of the series is audited under the attacks its own model withstands;
a group that this release made dangerous, or more dangerous than it was, fails it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from srsql.engine.audit.audit import Audit, AuditRow, audit
from srsql.engine.audit.evidence import GroupEvidence
from srsql.engine.audit.extremes import NEXT
from srsql.engine.checks.postcheck import require_passed
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.warehouse.releases import Release, over_lattice
from srsql.engine.warehouse.series import next_cases_query, next_quarter
from srsql.engine.warehouse.statements import bare, column, create, table, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

USUAL_ALPHA = Fraction(1, 2)
"""The share that SSGR is measured against where the model bounds none."""


def check_catalog(release: Release) -> list[Measure]:
    """The catalog has the regions, terms and substantial symptoms that the views show.

    Needs ``srsql_identity`` and ``srsql_seen_value``.

    Raises:
        CheckFailedError: it has not; the text names the measure.
    """
    warehouse, dataset, schema = release.warehouse, release.visible_dataset, release.schema
    warehouse.run(
        create(exp.to_table("srsql_seen_end"), _seen_regions(warehouse, dataset, schema), temp=True)
    )
    warehouse.run(
        create(exp.to_table("srsql_seen_symptom"), _seen_symptoms(dataset, schema), temp=True)
    )
    measures = warehouse.rows(
        "SELECT c.* FROM srsql.check_catalog('temp.main.srsql_identity',"
        " 'temp.main.srsql_seen_end', 'temp.main.srsql_seen_value',"
        " 'temp.main.srsql_seen_symptom', ?) AS c",
        [release.release_id],
    )
    require_passed(measures)
    return measures


def check_series(release: Release, attacks: tuple[str, ...]) -> list[Measure]:
    """Audit the series with this release in it; its own figures as uniform rows.

    The verdict on every release of the series is that of an audit of all: one that shares no case
    with this release, and is not of the quarter before it, is attacked as it was before.

    ``attacks``: what its model withstands; where it withstands none, nothing is refused, and no
    other release is looked at.

    Raises:
        CheckFailedError: the release makes a group dangerous; the text names the worst.
    """
    warehouse, dataset, release_id = release.warehouse, release.dataset, release.release_id
    awaited = next_quarter(warehouse, dataset, release.quarter) if "md" in attacks else None
    if awaited is not None:
        warehouse.run(create(exp.to_table(NEXT), next_cases_query(dataset, awaited), temp=True))
    touched = _touched(warehouse, release_id) if attacks else frozenset({release_id})
    after = audit(
        warehouse,
        dataset,
        release.series,
        draft=release_id,
        next_cases=f"temp.main.{NEXT}" if awaited is not None else None,
        releases=touched,
    )
    if attacks:
        worsened = _worsened(release, after, touched)
        if worsened:
            raise CheckFailedError(_explain(worsened, release.quarter))
    return [row for row in shares(after, gating=bool(attacks)) if row[0] == release_id]


def shares(found: Audit, *, gating: bool) -> list[Measure]:
    """DIR, DSR and SSGR of the audited releases in the uniform row."""
    return [row for release in found.releases for row in _shares(release, gating)]


def _shares(row: AuditRow, gating: bool) -> list[Measure]:
    figures = [("dir", row.dig, row.dir), ("dsr", row.dsg, row.dsr)]
    if "ss" in row.attacks:
        figures.append(("ssgr", row.ssg, row.ssgr))
    scope = f"{row.scope}: {','.join(row.attacks)}"
    measures: list[Measure] = []
    for name, count, ratio in figures:
        threshold = {"dir": float(row.k), "ssgr": float(Fraction(row.alpha or 1))}.get(name, 0.0)
        measures.append(
            (
                row.release_id,
                name,
                scope,
                float(count),
                float(row.groups),
                ratio,
                threshold,
                count == 0 if gating else None,
            )
        )
    return measures


def measure_series(
    warehouse: Warehouse, dataset: Dataset, series: str, release_id: int, quarter: str
) -> list[MeasureRow]:
    """DIR, DSR and SSGR of one release as the series stands now, promised or not."""
    draft, promised, alpha_num, alpha_den, k = warehouse.rows(
        "SELECT r.status = 'draft', coalesce(p.attacks, []), p.alpha_num, p.alpha_den, r.k "
        "FROM srsql.release AS r "
        "LEFT JOIN srsql.defended_attack AS p ON r.release_id = p.release_id "
        "WHERE r.release_id = ?",
        [release_id],
    )[0]
    if over_lattice(warehouse, release_id):
        return []
    if k == 0:  # somebody else's release, which tells no bounds to measure against
        return []
    attacks = tuple(promised) or ("b", "f", "l")
    found = audit(
        warehouse,
        dataset,
        series,
        quarter=quarter,
        attacks=attacks if "ss" in attacks else (*attacks, "ss"),
        alpha=Fraction(alpha_num, alpha_den) if alpha_den else USUAL_ALPHA,
        draft=release_id if draft else None,
        evidence=0,
    )
    gating = {"dir": bool(promised), "dsr": bool(promised), "ssgr": "ss" in promised}
    rows = [MeasureRow(*row) for row in shares(found, gating=True) if row[0] == release_id]
    return [row if gating[row.measure] else replace(row, passed=None) for row in rows]


def _touched(warehouse: Warehouse, release_id: int) -> frozenset[int]:
    """The release, those that share a case with it, and those of the quarter before it."""
    return frozenset(
        row[0]
        for row in warehouse.rows(
            "SELECT t.release_id FROM srsql.touched_releases(?) AS t", [release_id]
        )
    )


def _worsened(release: Release, after: Audit, touched: frozenset[int]) -> list[GroupEvidence]:
    """Groups in danger that were not, or not as much, before this release."""
    release_id = release.release_id
    dangerous = [g for g in after.evidence if g.dig or g.dsg or g.ssg]
    if not dangerous:
        return []
    others = [g for g in dangerous if g.release_id != release_id]
    before: dict[tuple[int, str, int], GroupEvidence] = {}
    if others:
        earlier = audit(
            release.warehouse,
            release.dataset,
            release.series,
            without=release_id,
            releases=touched - {release_id},
        )
        before = {(g.release_id, g.scope, g.group_id): g for g in earlier.evidence}
    made = [g for g in dangerous if g.release_id == release_id]
    for group in others:
        was = before.get((group.release_id, group.scope, group.group_id))
        if was is None or _danger(group) > _danger(was):
            made.append(group)
    return made


def _danger(group: GroupEvidence) -> tuple[float, ...]:
    """What can only grow when a group becomes more dangerous."""
    return (
        float(group.dig) + float(group.dsg) + float(group.ssg),
        -float(group.remaining) if group.dig else 0.0,
        (group.confidence or 0.0) if group.dsg else 0.0,
        (group.ss_share or 0.0) if group.ssg else 0.0,
    )


def _explain(groups: list[GroupEvidence], quarter: str) -> str:
    worst = min(groups, key=lambda g: (g.remaining, g.release_id, g.group_id))
    return (
        f"the release of {quarter} failed its own audit: {len(groups):,} group(s) would be in "
        f"danger, the worst one of {worst.quarter} at scope={worst.scope} with {worst.remaining} "
        f"of {worst.candidates} candidates left; nothing was released"
    )


def _seen_regions(warehouse: Warehouse, dataset: Dataset, schema: str) -> exp.Query:
    """(report, position, low, high) of the released rows, coded as the catalog codes them."""
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        query = exp.select(
            column(dataset.report_id, "v").as_("report"),
            exp.Literal.number(position).as_("position"),
        ).from_(table(schema, dataset.report_table, alias="v"))
        if qid.kind == "numeric":
            size = exp.Literal.number(format(qid.granularity, "f"))
            for end in ("low", "high"):
                granules = exp.Div(this=column(f"{qid.name}_{end}", "v"), expression=size.copy())
                query = query.select(exp.cast(granules, "BIGINT").as_(end))
        elif qid.ranged:
            query = _seen_nodes(dataset, qid, query)
        else:
            query = query.join(
                table("srsql", "node", alias="n"),
                on=exp.and_(
                    column("dataset", "n").eq(exp.Literal.string(dataset.name)),
                    column("attribute", "n").eq(exp.Literal.string(qid.name)),
                    column("node", "n").eq(column(qid.name, "v")),
                ),
                join_type="left",
            ).select(column("pre", "n").as_("low"), column("last", "n").as_("high"))
        parts.append(query)
    return union_all(parts)


def _seen_nodes(dataset: Dataset, qid: Qid, query: exp.Select) -> exp.Select:
    """The node that a published range stands for; a missing one is shown as no range."""
    nodes = exp.Table(
        this=exp.Anonymous(
            this="node_ranges",
            expressions=[exp.Literal.string(dataset.name), exp.Literal.string(qid.name)],
        ),
        db=exp.to_identifier("srsql"),
        alias=exp.TableAlias(this=exp.to_identifier("n", quoted=True)),
    )
    low, high = column(f"{qid.name}_low", "v"), column(f"{qid.name}_high", "v")
    missing = low.is_(exp.null())
    return query.join(
        nodes,
        on=exp.and_(low.eq(column("low", "n")), high.eq(column("high", "n"))),
        join_type="left",
    ).select(
        exp.case().when(missing, exp.Literal.number(0)).else_(column("pre", "n")).as_("low"),
        exp.case()
        .when(missing.copy(), exp.Literal.number(len(dataset.groups[qid.name].labels) - 1))
        .else_(column("last", "n"))
        .as_("high"),
    )


def _seen_symptoms(dataset: Dataset, schema: str) -> exp.Query:
    """(case_id, attribute, symptoms): distinct released values of each sensitive attribute."""
    parts: list[exp.Query] = []
    published = {t.name: t.publish for t in dataset.tables}
    for name in dict.fromkeys(a.column for a in dataset.sensitive):
        values: list[exp.Query] = [
            exp.select(
                column(dataset.case_id, "v").as_("case_id"),
                exp.func("upper", bare(column(name, "v"))).as_("term"),
            )
            .from_(table(schema, attribute.table, alias="v"))
            .where(bare(column(name, "v")).neq(""))
            for attribute in dataset.sensitive
            if attribute.column == name and name in published[attribute.table]
        ]
        if values:
            parts.append(
                exp.select(
                    column("case_id", "s"),
                    exp.Literal.string(name).as_("attribute"),
                    exp.Count(this=exp.Distinct(expressions=[column("term", "s")])).as_("symptoms"),
                )
                .from_(union_all(values).subquery("s"))
                .group_by(column("case_id", "s"))
            )
    if not parts:
        parts = [
            exp.select(
                column(dataset.case_id, "v").as_("case_id"),
                exp.Literal.string("").as_("attribute"),
                exp.Literal.number(0).as_("symptoms"),
            )
            .from_(table(schema, dataset.report_table, alias="v"))
            .where(exp.false())
        ]
    return union_all(parts)
