"""The strata of count tables, as verification derives them from the cuts of the manifest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import COUNT_TABLES, NOISY_TABLES, TREE, CutClaim, Manifest
from srsql.engine.artifact.verify.contradictions import Trees
from srsql.engine.artifact.verify.reading import loaded
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.store.statements import column, temporary

ALL = "all"
MOST_STRATA = 1_000
"""Strata of a tree that is looked at; no release has so many."""
Cut = tuple[str, str | None, Any, Any]
"""Quasi-identifier, value, low, below."""
Node = tuple[str | None, Cut | None, bool | None]
"""Parent, what is asked, and whether the regions within meet it."""


def text_of(cut: CutClaim) -> str:
    """What lies within a cut, in words."""
    if cut.value is not None:
        return cut.value
    low, below = (None if end is None else f"{end.normalize():f}" for end in (cut.low, cut.below))
    if low is None:
        return f"under {below}"
    return f"{low}+" if below is None else f"{low} to under {below}"


def cuts_text(cuts: Sequence[CutClaim]) -> str:
    """All cuts, as the parameters of the manifest tell them."""
    return "; ".join(f"{cut.attribute} {text_of(cut)}" for cut in cuts) or "none"


def _asks(cut: CutClaim) -> Cut:
    return cut.attribute, cut.value, cut.low, cut.below


def due_strata(cuts: Sequence[CutClaim]) -> dict[str, Node]:
    """The tree that follows from cuts: those of one quasi-identifier part what the ones before
    left, and those of the next one every leaf."""
    chains: dict[str, list[CutClaim]] = {}
    for cut in cuts:
        chains.setdefault(cut.attribute, []).append(cut)
    found: dict[str, Node] = {ALL: (None, None, None)}
    leaves = [(ALL, "")]
    for attribute, chain in chains.items():
        finer = []
        for leaf, before in leaves:
            at, passed = leaf, list[str]()
            for cut in chain:
                passed.append(text_of(cut))
                closing = 1 < len(passed) == len(chain)
                rest = "other" if closing else f"not {' nor '.join(passed)}"
                inner, outer = f"{before}{attribute} {passed[-1]}", f"{before}{attribute} {rest}"
                found[inner], found[outer] = (at, _asks(cut), True), (at, _asks(cut), False)
                finer.append((inner, f"{inner}, "))
                at = outer
            finer.append((at, f"{at}, "))
        leaves = finer
    return found


@dataclass(frozen=True)
class Strata:
    """A tree of strata."""

    nodes: Mapping[str, Node]

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """Stratum -> the two that it consists of."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, (parent, _, _) in self.nodes.items():
            if parent is not None:
                found[parent].append(name)
        return found

    @cached_property
    def paths(self) -> dict[str, tuple[str, ...]]:
        """Stratum -> itself and all that it lies in, the root last."""
        found: dict[str, tuple[str, ...]] = {}
        for name in self.nodes:
            way, at = list[str](), name
            while True:
                way.append(at)
                above = self.nodes[at][0]
                if above is None:
                    break
                at = above
            found[name] = tuple(way)
        return found

    def leaf(self, within: Callable[[Cut], bool]) -> str:
        """The leaf of a region, of which it is known which cuts it lies within."""
        at = ALL
        while at in self.children:
            at = next(
                name
                for name in self.children[at]
                if within(self.nodes[name][1] or ("", None, None, None)) is self.nodes[name][2]
            )
        return at


def strata_check(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, trees: Trees
) -> tuple[Check, Strata | None]:
    """The published tree is the one that follows from the cuts of the manifest, which ask of
    quasi-identifiers what their values can be.

    Returns:
        The check, and the tree; None: there is none to rely on.
    """
    claim = manifest.counted
    assert claim is not None
    faults = list(cut_faults(claim.cuts, manifest, trees, "table_strata"))
    number = 1
    for chain in Counter(cut.attribute for cut in claim.cuts).values():
        number *= chain + 1
    if faults or number > MOST_STRATA:
        return Check("strata", faults or [f"{number} finest strata are too many"], 1), None
    due = due_strata(claim.cuts)
    found: dict[str, Node] = {}
    ordered: dict[str, list[Cut]] = defaultdict(list)
    rows = rows_of(con, TREE)
    for name, parent, attribute, value, low, below, inside in rows:
        cut = None if attribute is None else (attribute, value, low, below)
        found[name] = (parent, cut, None if inside is None else {0: False, 1: True}.get(inside))
        if cut is not None and inside == 1 and cut not in ordered[attribute]:
            ordered[attribute].append(cut)
    faults += [f"stratum {name!r} is missing" for name in due if name not in found]
    faults += [f"stratum {name!r} does not follow" for name in found if name not in due]
    faults += [
        f"stratum {name!r} is not the part of {due[name][0]!r} that its name says"
        for name in found
        if name in due and found[name] != due[name]
    ]
    if len(rows) > len(found):
        faults.append("a stratum is there twice")
    wanted = {a: [_asks(c) for c in claim.cuts if c.attribute == a] for a in ordered}
    if not faults and list(wanted.items()) != list(ordered.items()):
        faults.append("the strata are not in the order of their cuts")
    return Check("strata", faults, len(rows)), None if faults else Strata(due)


def cut_faults(
    cuts: Sequence[CutClaim], manifest: Manifest, trees: Trees, parameter: str
) -> Iterator[str]:
    """What cuts cannot ask, or the parameter of the manifest says otherwise."""
    known = {attribute.name: attribute for attribute in manifest.attributes}
    if len(set(map(_asks, cuts))) < len(cuts):
        yield "a cut of strata is told twice"
    for cut in cuts:
        about, ends = known.get(cut.attribute), (cut.low, cut.below)
        words = f"cut {cut.attribute} {text_of(cut)}"
        if about is None:
            yield f"{words} asks for no quasi-identifier"
        elif about.kind == "categorical":
            nodes = {node for node, parent in trees.get(cut.attribute, []) if parent}
            if cut.value not in nodes or ends != (None, None):
                yield f"{words} asks for no node below the root"
        elif cut.value is not None or ends == (None, None):
            yield f"{words} asks for no range"
        elif cut.low is not None and cut.below is not None and cut.low >= cut.below:
            yield f"{words} has no value within"
    told = manifest.parameters.get(parameter)
    if told != cuts_text(cuts):
        yield f"parameter {parameter} is {told!r}, the cuts are {cuts_text(cuts)!r}"


def rows_of(con: duckdb.DuckDBPyConnection, name: str) -> list[tuple[Any, ...]]:
    """The rows of a loaded table of counts, in their order."""
    shown = [column(each, "t") for each in (COUNT_TABLES | NOISY_TABLES)[name]]
    rows = exp.select(*shown).from_(temporary(loaded(name), alias="t"))
    return con.execute(rows.sql("duckdb")).fetchall()


def placed(
    manifest: Manifest, trees: Trees, strata: Strata, regions: Iterable[tuple[Any, ...]]
) -> Counter[str]:
    """Cases by stratum, wider ones included.

    Args:
        manifest: that declares the columns of regions.
        trees: its hierarchies.
        strata: the tree.
        regions: the region columns of the report table in their order, then a number of cases.
    """
    columns = [c for c in manifest.regions.columns if c.attribute]
    above = {name: dict(rows) for name, rows in trees.items()}
    inner: dict[tuple[str, str], bool] = {}

    def lies_below(attribute: str, node: str | None, value: str) -> bool:
        if node is None:
            return False
        at: str | None = node
        if (attribute, node + "\0" + value) not in inner:
            seen = set[str]()
            while at and at != value and at not in seen:
                seen.add(at)
                at = above.get(attribute, {}).get(at)
            inner[attribute, node + "\0" + value] = at == value
        return inner[attribute, node + "\0" + value]

    found: Counter[str] = Counter()
    for *values, cases in regions:
        shown: dict[tuple[str, str], Any] = {
            (str(c.attribute), c.role): value for c, value in zip(columns, values, strict=True)
        }

        def within(cut: Cut, shown: Mapping[tuple[str, str], Any] = shown) -> bool:
            attribute, value, low, below = cut
            if value is not None:
                return lies_below(attribute, shown.get((attribute, "node")), value)
            ends = (shown.get((attribute, "lower bound")), shown.get((attribute, "upper bound")))
            if low is not None and (ends[0] is None or ends[0] < low):
                return False
            return below is None or (ends[1] is not None and ends[1] < below)

        for node in strata.paths[strata.leaf(within)]:
            found[node] += cases
    return found


def regions_of(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[tuple[Any, ...]]:
    """The columns of each region of the loaded rows, then how many cases have it."""
    reports = manifest.regions
    named = {c.role: c.name for c in reports.columns}
    shown = [column(c.name, "t") for c in reports.columns if c.attribute]
    if manifest.counts_alone:
        counts = exp.select(*shown, column(named["cases"], "t"))
        counts = counts.from_(temporary(loaded(reports.name), alias="t"))
        return con.execute(counts.sql("duckdb")).fetchall()
    case_id = column(named.get("case id", named["report id"]), "t")
    rows = (
        exp.select(*shown, exp.Count(this=exp.Distinct(expressions=[case_id])))
        .from_(temporary(loaded(reports.name), alias="t"))
        .group_by(*[each.copy() for each in shown])
    )
    return con.execute(rows.sql("duckdb")).fetchall()


def due_units(strata: Strata, cases: Mapping[str, int], k: int) -> dict[str, int]:
    """Which strata of all units are told: the root if it has k, and parts where each is empty or
    has k (rule R2)."""
    if cases.get(ALL, 0) < k:
        return {}
    found, open_strata = dict[str, int](), [ALL]
    while open_strata:
        at = open_strata.pop()
        parts = strata.children.get(at, [])
        if parts and all(cases.get(part, 0) == 0 or cases[part] >= k for part in parts):
            open_strata += [part for part in parts if cases.get(part, 0)]
        else:
            found[at] = cases[at]
    return found
