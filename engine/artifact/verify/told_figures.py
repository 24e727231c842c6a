"""Figures of a manifest: what follows from the rows and from each other, and what nothing refutes.

What known items single out is measured with the originals, of 2,000 cases at most. The rows show
between which two figures that of one known item lies: the single holder of an item is its only
candidate, and the cases of a region that hold it are candidates for each other. Knowing more
singles out no less.
Written without the code that measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log, sqrt

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import MANIFEST, Manifest, key_pairs
from srsql.engine.artifact.verify.contradictions import Trees, model_of, written_here
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.reading import loaded, text
from srsql.engine.artifact.verify.verdict import FIGURES, SHOWN_FIGURES, figures
from srsql.engine.models import MODELS
from srsql.engine.store.statements import column, query, temporary, union_all, with_rows

MOST_MEASURED = 2_000
"""Cases that are drawn and looked at, of all that are released."""
MEASURED = "measured_cases"
OTHER_ITEMS = "known_items"
"""The parameter of releases of which known items are no drugs or terms of rows."""
KNOWN_ITEM_COUNTS = ("1_item", "2_items", "all_items")
BELOW, ALONE = "below_k_percent", "one_candidate_percent"
ANYTHING = "_empty_is_anything"
"""Ends the name of the same figure of another reader, whom no more cases are singled out for."""
EXACT = ("exact_values_percent_every_row", "exact_values_percent_some_row")
PARTS = 10_000
FALSE_ALARM = log(1e9)
"""Nats from which on the share of what was drawn is refused (Hoeffding 1963, section 6: also where
nothing is drawn twice)."""
GROWN = "k_effective"
OF_ROWS = {"released_cases", "released_reports"}
"""Figures that only rows of cases show."""


def consistency_faults(manifest: Manifest) -> list[str]:
    """Figures that cannot be true at once, whatever the rows are."""
    faults = [*_share_faults(manifest), *_suppression_faults(manifest)]
    counts = manifest.counts
    if counts.released_reports < counts.released_cases:
        faults.append(f"{counts.released_cases} cases have {counts.released_reports} reports")
    version = manifest.parameters.get("version")
    again = manifest.quarter in manifest.earlier_releases
    if version is not None and (not isinstance(version, int) or (version > 1) != again):
        faults.append(f"version is {version!r}, and earlier_releases tells otherwise")
    return [f"{MANIFEST}: {text}" for text in faults]


def _share_faults(manifest: Manifest) -> Iterator[str]:
    told = manifest.parameters
    shares = {name: value for name, value in told.items() if "_percent_" in name}
    for name, value in shares.items():
        if not isinstance(value, int) or not 0 <= value <= 100:
            yield f"{name} is {value!r}, no percentage"
            return
    cases = manifest.counts.released_cases
    measured = told.get(MEASURED, 0)
    if not isinstance(measured, int) or not 0 <= measured <= min(cases, MOST_MEASURED):
        yield f"{MEASURED} is {measured!r}, and {cases:,} cases are released"
    for name, value in shares.items():
        if name.endswith(ANYTHING):
            other = told.get(name.removesuffix(ANYTHING))
            if not isinstance(other, int) or not int(value) < other:
                yield f"{name} is {value}, and {name.removesuffix(ANYTHING)} is {other!r}"
    ways = [[f"{ALONE}_{known}", f"{BELOW}_{known}"] for known in KNOWN_ITEM_COUNTS]
    growing = published_rows(manifest).growing
    ways += [[f"{kind}_{known}" for known in KNOWN_ITEM_COUNTS] for kind in growing]
    for way in [*ways, list(EXACT)]:
        there = [(name, int(shares[name])) for name in way if name in shares]
        for (one, less), (other, more) in pairwise(there):
            if less > more:
                yield f"{one} is {less}, and {other}, which is of no fewer cases, is {more}"


def _suppression_faults(manifest: Manifest) -> Iterator[str]:
    """Shares are rounded up, each is of whole cases or reports, and all are zero or none is."""
    told = {
        name: manifest.parameters[key]
        for name in ("cases", "one_value", "reports", "values")
        if (key := f"suppressed_{name}_per_{PARTS}") in manifest.parameters
    }
    for name, value in told.items():
        if not isinstance(value, int) or not 0 <= value <= PARTS:
            yield f"the share of suppressed {name} is {value!r} in {PARTS:,}"
            return
    if len({bool(value) for value in told.values()}) > 1:
        yield f"some of the shares of what is suppressed are 0 and others are not: {told}"
    counts = manifest.counts
    of = dict.fromkeys(("cases", "one_value"), counts.released_cases)
    for name, total in (of | {"reports": counts.released_reports}).items():
        value = int(told.get(name, 0))
        if total and value and -(-(value * total // PARTS) * PARTS // total) != value:
            yield f"{value} in {PARTS:,}, the share of suppressed {name}, is no number of {total:,}"
    if int(told.get("one_value", 0)) > int(told.get("cases", 0)):
        yield "more cases lost one value than lost any"


def row_faults(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, trees: Trees
) -> tuple[list[str], set[str]]:
    """Figures that the rows refute, and the names of those that follow from them.

    Args:
        con: with the rows and thresholds of the artifact, as artifact 0.
        manifest: of the quarter, with a report table.
        trees: its hierarchies.
    """
    faults, shown = _grown_faults(con, manifest)
    plain = not manifest.perturbed and not manifest.qid_sets
    if plain and EXACT[0] in manifest.parameters:
        found, known = _exact_faults(con, manifest, trees)
        faults, shown = faults + found, shown | known
    if published_rows(manifest).growing and OTHER_ITEMS not in manifest.parameters:
        found, known = _item_faults(con, manifest, regions=plain)
        faults, shown = faults + found, shown | known
    return [f"{MANIFEST}: {text}" for text in faults], shown


def figures_not_shown(manifest: Manifest, shown: set[str]) -> list[str]:
    """The numbers that nothing in the artifact can refute, by name; but for those that follow."""
    counted = SHOWN_FIGURES - (set() if manifest.report_table else OF_ROWS)
    names = sorted(figures(manifest).keys() - counted - shown)
    return [FIGURES.format(quarter=manifest.quarter, names=", ".join(names))] if names else []


def _grown_faults(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> tuple[list[str], set[str]]:
    """The k of groups follows from the least threshold of a released value (Lin 2016); where rows
    show none, groups keep k alone."""
    model = model_of(manifest)
    if isinstance(model, str) or model.claims or not written_here(manifest):
        return [], set()
    ((need,),) = con.execute(query("artifact/row_checks", "least_group")).fetchall()
    grown = 0 if manifest.cells else need or 0
    due, told = max(manifest.k, grown), manifest.parameters.get(GROWN)
    if told == due:
        return [], {GROWN}
    return [f"{GROWN} is {told!r}, by the thresholds it is {due}"], {GROWN}


def _exact_faults(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, trees: Trees
) -> tuple[list[str], set[str]]:
    """Cases in whose region every known value, or those of some row, follow from the region alone.

    A root can stand for what is not known and for a value that was given up. The first leaves a
    region as exact as it is, and the second does not, so that both are counted.
    """
    narrow: list[exp.Expr] = []
    there: list[exp.Expr] = []
    roots: list[exp.Expr] = [exp.false()]
    wide: list[exp.Expr] = []
    for attribute in manifest.attributes:
        ends = [
            column(c.name, "t") for c in manifest.reports.columns if c.attribute == attribute.name
        ]
        if attribute.kind == "numeric":
            low, high = ends
            there.append(low.copy().is_(exp.null()).not_())
            wide.append(exp.func("coalesce", exp.LT(this=low, expression=high), exp.false()))
            continue
        rows = trees.get(attribute.name, [])
        inner = {parent for _, parent in rows if parent}
        root = [node for node, parent in rows if not parent]
        (node,) = ends
        one_leaf = [n for n, parent in rows if n not in inner and parent]
        narrow.append(node.copy().isin(*[*one_leaf, *root]) if one_leaf or root else exp.false())
        there.append(node.copy().isin(*one_leaf) if one_leaf else exp.false())
        roots.append(node.copy().isin(*root) if root else exp.false())
    number_wide = exp.convert(0)
    for each in wide:
        number_wide = exp.Add(this=number_wide, expression=exp.cast(each.copy(), "INTEGER"))
    known = exp.and_(*narrow, exp.or_(*there))
    sure = exp.and_(known.copy(), exp.not_(exp.or_(*roots)))
    named = {c.role: c.name for c in manifest.reports.columns}
    case = column(named.get("case id", named["report id"]), "t")
    counts = [
        exp.Filter(
            this=exp.Count(this=exp.Distinct(expressions=[case.copy()])),
            expression=exp.Where(
                this=exp.and_(
                    base.copy(),
                    exp.LTE(this=exp.paren(number_wide.copy()), expression=exp.convert(most)),
                )
            ),
        )
        for most in (0, 1)
        for base in (sure, known)
    ]
    asked = exp.select(*counts).from_(temporary(loaded(manifest.reports.name), alias="t"))
    (found,) = con.execute(asked.sql("duckdb")).fetchall()
    total = max(manifest.counts.released_cases, 1)
    faults, shown = [], set()
    for name, least, most in ((EXACT[0], *found[:2]), (EXACT[1], *found[2:])):
        ends_due = [-(-100 * number // total) for number in (least, most)]
        told = manifest.parameters.get(name)
        if not isinstance(told, int) or not ends_due[0] <= told <= ends_due[1]:
            faults.append(f"{name} is {told!r}, the rows give {' to '.join(map(str, ends_due))}")
        if ends_due[0] == ends_due[1]:
            shown.add(name)
    return faults, shown


def _items(manifest: Manifest) -> exp.Query | None:
    """(case_id, attribute, term) of every item that rows show of a case."""
    named = {c.role: c.name for c in manifest.reports.columns}
    case_id = named.get("case id", named["report id"])
    parts: list[exp.Query] = []
    for item in manifest.tables:
        if not any(c.role == "report id" for c in item.columns):
            continue
        keys = key_pairs(item)
        for c in item.columns:
            if c.role not in ("sensitive", "quasi-sensitive"):
                continue
            told = column(keys.get(c.name, c.name), "t")
            blank = exp.func("trim", exp.cast(told, "VARCHAR"))
            parts.append(
                exp.select(
                    exp.cast(column(case_id, "t"), "VARCHAR").as_("case_id"),
                    text(c.name).as_("attribute"),
                    column(c.name, "t").as_("term"),
                )
                .distinct()
                .from_(temporary(loaded(item.name), alias="t"))
                .where(exp.func("coalesce", blank, text("")).neq(text("")))
            )
    return union_all(parts) if parts else None


def _item_faults(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, *, regions: bool
) -> tuple[list[str], set[str]]:
    """What one known item singles out at least, and at most, and how many cases have one."""
    items = _items(manifest)
    if items is None:
        there = [name for name in (MEASURED, f"{ALONE}_1_item") if name in manifest.parameters]
        return [f"{name} is told, and rows show no item" for name in there], set()
    asked = with_rows(query("artifact/row_checks", "held_items"), shown_item=items)
    ((cases, alone, below, alone_there, below_there),) = con.execute(
        asked.sql("duckdb"), {"k": manifest.k}
    ).fetchall()
    found = {ALONE: (alone, alone_there), BELOW: (below, below_there)}
    return _told_of_items(manifest, cases, found, regions=regions)


def _told_of_items(
    manifest: Manifest, cases: int, found: dict[str, tuple[int, int]], *, regions: bool
) -> tuple[list[str], set[str]]:
    """Whether the figures fit what was counted.

    Args:
        manifest: that tells them.
        cases: that have an item.
        found: kind of figure -> cases of which one item says so in the whole release, and in the
            region of the case.
        regions: cases that show one region are candidates for each other.
    """
    faults, shown = [], set()
    told = manifest.parameters.get(MEASURED)
    released = manifest.counts.released_cases
    all_measured = released <= MOST_MEASURED
    # artifacts of earlier versions do not tell it
    if told is not None and (all_measured or cases == released):
        shown.add(MEASURED)
        due = min(cases, MOST_MEASURED)
        if told != due:
            faults.append(f"{MEASURED} is {told!r}, the rows give {due}")
    margin = 0.0 if all_measured else 100 * sqrt(FALSE_ALARM / (2 * MOST_MEASURED))
    kind = MODELS.get(manifest.model)
    by_case = kind is not None and kind.claimed_bounds.unit == "case"
    for name, (whole, there) in found.items():
        figure = f"{name}_1_item"
        value = manifest.parameters.get(figure)
        if not isinstance(value, int) or not cases or manifest.perturbed:
            continue
        least = 100 * whole / cases - margin
        most = 100 * there / cases + margin if regions and by_case else 100.0
        if not least - 0.5 <= value <= most + 0.5:
            faults.append(
                f"{figure} is {value}, by the items that rows show it is {max(least, 0):.1f} to "
                f"{min(most, 100):.1f}"
            )
    return faults, shown
