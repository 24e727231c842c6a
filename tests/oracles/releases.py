"""A release as its groups, kept in the catalog's tables, and its figures from the definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from oracles.trees import Tree, trees

from srsql.schemas.hierarchy import build_hierarchy

Qid = int | Tree
"""The span of a numeric QID, or the tree of a categorical one."""
Value = tuple[int, int] | str | None
"""An interval, a node, or missing."""


@dataclass(frozen=True)
class Case:
    values: tuple[Value, ...]
    terms: Mapping[str, Fraction] = field(default_factory=dict)
    """p(r, s); 1 for a value of the case itself."""
    reports: int = 1


@dataclass(frozen=True)
class Group:
    cases: tuple[Case, ...]
    pattern: int
    """The QIDs that are released, as a bit mask; every case knows them."""


@dataclass(frozen=True)
class Release:
    qids: tuple[Qid, ...]
    groups: tuple[Group, ...]
    thetas: Mapping[str, Fraction] = field(default_factory=dict)
    withheld: tuple[tuple[str, int], ...] = ()
    """(reason, reports) of each case."""
    k: int = 2
    unit: int = 12

    @property
    def cases(self) -> list[Case]:
        return [case for group in self.groups for case in group.cases]

    def losses(self) -> list[Fraction]:
        """Of every case and QID its part of IL, eq. (1); SPEC section 2 where it is not known."""
        return [
            self.width(group, q) if group.pattern >> q & 1 else Fraction(case.values[q] is not None)
            for group in self.groups
            for case in group.cases
            for q in range(len(self.qids))
        ]

    def width(self, group: Group, q: int) -> Fraction:
        """How much of its domain the region of a group spans, or how high its node is."""
        qid, values = self.qids[q], [case.values[q] for case in group.cases]
        if isinstance(qid, int):
            return Fraction(max(v[1] for v in values) - min(v[0] for v in values), qid)
        top = qid.height(qid.root)
        return Fraction(qid.height(qid.meeting(values)), top) if top else Fraction(0)

    def confidences(self, *, with_knowledge: bool) -> dict[tuple[int, str], Fraction]:
        """(group, value) -> conf(q -> s[, E]), Lin 2016, Definition 1, where above 0."""
        found = {}
        for g, group in enumerate(self.groups):
            for term in {t for case in group.cases for t in case.terms}:
                shares = [case.terms.get(term, Fraction(0)) for case in group.cases]
                counted = sum((p for p in shares if with_knowledge or p == 1), Fraction(0))
                if counted:
                    found[g, term] = counted / len(group.cases)
        return found

    def store(self, sql: Any, release_id: int) -> None:
        """Write the release to the catalog, as ``release/steps/catalog.sql`` would."""
        dataset = f"d{release_id}"

        def insert(table: str, rows: Iterable[tuple[Any, ...]]) -> None:
            sql.rows(f"DELETE FROM srsql.{table} WHERE release_id = ?", [release_id])
            sql.insert(f"srsql.{table}", [(release_id, *row) for row in rows])

        insert("release", [(dataset, "main", "2011Q4", "ms", "released", self.k, self.k, self.unit,
                            f"release_{release_id}", 1, "{}")])  # fmt: skip
        trees_of = {
            f"q{q}": build_hierarchy(qid.rows())
            for q, qid in enumerate(self.qids)
            if isinstance(qid, Tree)
        }
        sql.rows("DELETE FROM srsql.node WHERE dataset = ?", [dataset])
        sql.insert(
            "srsql.node",
            [
                (dataset, name, label, qid.above[label] or None, n, tree.last[n],
                 len(qid.path(label)) - 1, qid.height(label), len(qid.leaves(label)), None, None)
                for name, tree in trees_of.items()
                for qid in [self.qids[int(name[1:])]]
                for n, label in enumerate(tree.labels)
            ],
        )  # fmt: skip
        sql.rows("DELETE FROM srsql.hierarchy WHERE dataset = ?", [dataset])
        sql.insert(
            "srsql.hierarchy",
            [
                (dataset, name, label, above, len(qid.path(above)) - 1, qid.height(above),
                 len(qid.leaves(above)))
                for name, tree in trees_of.items()
                for qid in [self.qids[int(name[1:])]]
                for label in tree.labels
                for above in qid.path(label)
            ],
        )  # fmt: skip

        def ends(q: int, value: Value) -> tuple[int | None, int | None]:
            if not isinstance(value, str):
                return value or (None, None)
            tree = trees_of[f"q{q}"]
            return tree.number[value], tree.last[tree.number[value]]

        def region(group: Group, q: int) -> tuple[int | None, int | None]:
            values, qid = [case.values[q] for case in group.cases], self.qids[q]
            if not group.pattern >> q & 1:
                return None, None
            if isinstance(qid, Tree):
                return ends(q, qid.meeting(values))
            return min(v[0] for v in values), max(v[1] for v in values)

        members = [
            (number, g, case)
            for number, (g, case) in enumerate(
                (g, case) for g, group in enumerate(self.groups) for case in group.cases
            )
        ]
        numbers = {term: number for number, term in enumerate(self.thetas)}
        lost = [(len(members) + i, f"gone-{i}", n, why) for i, (why, n) in enumerate(self.withheld)]
        insert(
            "attribute",
            [
                (q, f"q{q}", *(("numeric", qid) if isinstance(qid, int) else ("categorical", 0)))
                for q, qid in enumerate(self.qids)
            ],
        )
        insert("member", [(n, f"case-{n}", g, case.reports, True) for n, g, case in members])
        insert(
            "region",
            [
                (g, q, *region(group, q))
                for g, group in enumerate(self.groups)
                for q in range(len(self.qids))
            ],
        )
        own = [
            (n, q, *ends(q, value), value is not None and not self.groups[g].pattern >> q & 1)
            for n, g, case in members
            for q, value in enumerate(case.values)
        ]
        others = [(n, q, 0, 0, False) for n, *_ in lost for q in range(len(self.qids))]
        insert("case_qid", own + others)
        own = [
            (n, numbers[term], int(p * self.unit), p == 1)
            for n, _, case in members
            for term, p in case.terms.items()
        ]
        others = [(n, term, self.unit, True) for n, *_ in lost for term in numbers.values()]
        insert("case_term", own + others)
        insert(
            "threshold",
            [(numbers[s], s, t.numerator, t.denominator, 0, True) for s, t in self.thetas.items()],
        )
        insert("withheld", lost)


THETAS = [Fraction(t) for t in ("0", "1/5", "1/3", "2/5", "1/2", "3/5", "1")]
PROBABILITIES = [Fraction(p) for p in ("1", "1", "1/2", "1/3", "1/4", "5/12", "2/3")]


@st.composite
def releases(draw: st.DrawFn) -> Release:
    """A few groups of any pattern, with missing and given-up values, terms and withheld cases."""
    qids = tuple(
        draw(st.lists(st.one_of(st.sampled_from([1, 7, 120]), trees(7)), min_size=1, max_size=3))
    )

    def value(qid: Qid) -> st.SearchStrategy[Any]:
        if isinstance(qid, Tree):
            return st.sampled_from(sorted(qid.above))
        end = st.integers(0, qid)
        return st.tuples(end, end).map(lambda pair: (min(pair), max(pair)))

    terms = st.dictionaries(st.sampled_from("stuv"), st.sampled_from(PROBABILITIES), max_size=3)
    groups = []
    for _ in range(draw(st.integers(0, 4))):
        pattern = draw(st.integers(0, 2 ** len(qids) - 1))
        values = st.tuples(
            *(
                value(qid) if pattern >> q & 1 else st.one_of(st.none(), value(qid))
                for q, qid in enumerate(qids)
            )
        )
        case = st.builds(Case, values, terms, st.integers(1, 3))
        groups.append(Group(tuple(draw(st.lists(case, min_size=1, max_size=5))), pattern))
    thetas = {s: draw(st.sampled_from(THETAS)) for s in "stuv"}
    reason = st.sampled_from(["infeasible", "no_group_fits", "deleted"])
    withheld = draw(st.lists(st.tuples(reason, st.integers(1, 3)), max_size=4))
    return Release(qids, tuple(groups), thetas, tuple(withheld), draw(st.integers(2, 4)))
