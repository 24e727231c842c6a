"""The grouping macro hands the kernel exactly the cases and QIDs of one pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.trees import trees

from srsql.schemas.hierarchy import Hierarchy, build_hierarchy
from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping.refine import Refinement, Standing, refine_groups
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases

Qid = int | Hierarchy
"""The span of a numeric QID, or the hierarchy of a categorical one."""
Box = tuple[int | None, int | None]
ATTRIBUTE = "position INTEGER, span BIGINT, parent BIGINT[], last BIGINT[], height BIGINT[]"


@dataclass(frozen=True)
class Rules:
    """How groups are grown, as the models say it."""

    core_only: bool = False
    after_join: bool = False
    from_last: bool = False
    alpha: Fraction = Fraction(1)

    @property
    def struct(self) -> dict[str, Any]:
        return {
            "core_only": self.core_only,
            "after_join": self.after_join,
            "from_last": self.from_last,
            "more_seeds": 0,
            "alpha_num": self.alpha.numerator,
            "alpha_den": self.alpha.denominator,
        }


PLAIN = Rules()


class Problem:
    """Cases of several patterns; every term has p = 1."""

    def __init__(
        self,
        qids: list[Qid],
        cases: list[tuple[int, list[Box], list[int]]],
        thetas: list[Fraction],
        k: int,
        roles: Sequence[tuple[bool, int]] | None = None,
    ) -> None:
        self.qids, self.cases, self.thetas, self.k = qids, cases, thetas, k
        self.roles = roles if roles is not None else [(True, 0)] * len(cases)

    def macro(
        self, sql: Any, chosen: int, draw: int, rest: str, rules: Rules = PLAIN
    ) -> dict[int, int]:
        found = sql.rows(
            f"FROM srsql.group_cases({self.tables(sql)}, ?, 1, ?, ?, ?, ?)",
            [chosen, self.k, draw, rest, rules.struct],
        )
        assert len(dict(found)) == len(found)
        return dict(found)

    def all_patterns(
        self, sql: Any, draws: dict[int, int], rest: str, rules: Rules, threads: int
    ) -> dict[int, dict[int, int]]:
        """What the macro of several patterns makes of those that have a draw."""
        asked = sql.table(
            "problem",
            "pattern INTEGER, k BIGINT, draw BIGINT",
            [(pattern, self.k, draw) for pattern, draw in draws.items()],
        )
        (before,) = sql.rows("SELECT current_setting('threads')")
        sql.con.execute(f"SET threads = {threads}")
        found = sql.rows(
            f"FROM srsql.group_patterns({self.tables(sql)}, {asked}, 1, ?, ?)", [rest, rules.struct]
        )
        sql.con.execute(f"SET threads = {before[0]}")
        made: dict[int, dict[int, int]] = {pattern: {} for pattern in draws}
        for pattern, case_no, group_no in found:
            assert case_no not in made[pattern]
            made[pattern][case_no] = group_no
        return made

    def tables(self, sql: Any) -> str:
        """Profiles, boxes, terms, attributes and thresholds, as the macros take them."""
        profiles = sql.table(
            "profile",
            "case_no INTEGER, pattern INTEGER, carrier BOOLEAN, kind INTEGER",
            [(r, case[0], *self.roles[r]) for r, case in enumerate(self.cases)][::-1],
        )
        boxes = sql.table(
            "box",
            "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
            [(r, p, *b) for r, case in enumerate(self.cases) for p, b in enumerate(case[1])][::-1],
        )
        terms = sql.table(
            "case_term",
            "case_no INTEGER, term_no INTEGER, weight BIGINT",
            [(r, s, 1) for r, case in enumerate(self.cases) for s in case[2]][::-1],
        )
        attributes = sql.table("attribute", ATTRIBUTE, map(self._attribute, range(len(self.qids))))
        thetas = sql.table(
            "theta",
            "term_no INTEGER, theta_num BIGINT, theta_den BIGINT",
            [(s, t.numerator, t.denominator) for s, t in enumerate(self.thetas)],
        )
        return f"{profiles}, {boxes}, {terms}, {attributes}, {thetas}"

    def _attribute(self, position: int) -> tuple[Any, ...]:
        qid = self.qids[position]
        if isinstance(qid, int):
            return position, qid, [], [], []
        return position, 0, list(qid.parent), list(qid.last), list(qid.height)

    def kernel(self, chosen: int, draw: int, rest: Any, rules: Rules = PLAIN) -> dict[int, int]:
        """The kernel called without SQL on the cases of the pattern and the QIDs in it."""
        positions = [p for p in range(len(self.qids)) if chosen >> p & 1]
        members = [r for r, case in enumerate(self.cases) if case[0] == chosen]
        if not members:
            return {}
        attributes = [self._attribute(p) for p in positions]
        ends = [[[self.cases[r][1][p][end] for p in positions] for r in members] for end in (0, 1)]
        terms = [self.cases[r][2] for r in members]
        shape = (len(members), len(positions))
        carrier = np.array([self.roles[r][0] for r in members], np.bool_)
        grows = carrier if rules.core_only else np.ones_like(carrier)
        groups = group_cases(
            Cases(
                low=np.array(ends[0], np.int64).reshape(shape),
                high=np.array(ends[1], np.int64).reshape(shape),
                offsets=np.cumsum([0, *map(len, terms)]),
                terms=np.array([t for held in terms for t in held], np.int32),
                weights=np.ones(sum(map(len, terms)), np.int64),
                weight_scale=1,
            ),
            Attributes(
                span=np.array([a[1] for a in attributes], np.int64),
                tree_start=np.cumsum([0, *(len(a[2]) for a in attributes)]),
                parent=np.array([n for a in attributes for n in a[2]], np.int64),
                last=np.array([n for a in attributes for n in a[3]], np.int64),
                height=np.array([n for a in attributes for n in a[4]], np.int64),
            ),
            np.array([t.numerator for t in self.thetas], np.int64),
            np.array([t.denominator for t in self.thetas], np.int64),
            self.k,
            draw % max(1, int(grows.sum())),
            Bounding(
                carrier,
                grows,
                np.array([self.roles[r][1] for r in members], np.int8),
                rules.alpha.numerator,
                rules.alpha.denominator,
                rules.after_join,
                rules.from_last,
                rest,
            ),
        )
        return dict(zip(members, groups.tolist(), strict=True))

    def refining_macro(self, sql: Any, group: dict[int, int], rules: dict[str, Any]) -> Any:
        placed = sql.table(
            "placed",
            "case_no INTEGER, known INTEGER, carrier BOOLEAN, kind INTEGER, group_no INTEGER",
            [(r, c[0], *self.roles[r], group[r]) for r, c in enumerate(self.cases)][::-1],
        )
        boxes = sql.table(
            "box",
            "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
            [(r, p, *b) for r, case in enumerate(self.cases) for p, b in enumerate(case[1])][::-1],
        )
        terms = sql.table(
            "case_term",
            "case_no INTEGER, term_no INTEGER, weight BIGINT",
            [(r, s, 1) for r, case in enumerate(self.cases) for s in case[2]][::-1],
        )
        attributes = sql.table("attribute", ATTRIBUTE, map(self._attribute, range(len(self.qids))))
        thetas = sql.table(
            "theta",
            "term_no INTEGER, theta_num BIGINT, theta_den BIGINT, attribute_no INTEGER",
            [(s, t.numerator, t.denominator, 0) for s, t in enumerate(self.thetas)],
        )
        return sql.rows(
            f"FROM srsql.refine_groups({placed}, {boxes}, {terms}, {attributes}, {thetas},"
            " 1, ?, ?)",
            [self.k, rules],
        )

    def refined(self, group: dict[int, int], alpha: Fraction, effort: Refinement) -> dict[int, int]:
        """The refinement called without SQL."""
        attributes = [self._attribute(p) for p in range(len(self.qids))]
        shape = (len(self.cases), len(self.qids))
        ends = [[[b[end] or 0 for b in c[1]] for c in self.cases] for end in (0, 1)]
        terms = [c[2] for c in self.cases]
        carrier = np.array([role[0] for role in self.roles], np.bool_)
        found = refine_groups(
            Cases(
                low=np.array(ends[0], np.int64).reshape(shape),
                high=np.array(ends[1], np.int64).reshape(shape),
                offsets=np.cumsum([0, *map(len, terms)]),
                terms=np.array([t for held in terms for t in held], np.int32),
                weights=np.ones(sum(map(len, terms)), np.int64),
                weight_scale=1,
            ),
            Attributes(
                span=np.array([a[1] for a in attributes], np.int64),
                tree_start=np.cumsum([0, *(len(a[2]) for a in attributes)]),
                parent=np.array([n for a in attributes for n in a[2]], np.int64),
                last=np.array([n for a in attributes for n in a[3]], np.int64),
                height=np.array([n for a in attributes for n in a[4]], np.int64),
            ),
            np.array([t.numerator for t in self.thetas], np.int64),
            np.array([t.denominator for t in self.thetas], np.int64),
            self.k,
            Bounding(
                carrier,
                np.ones_like(carrier),
                np.array([role[1] for role in self.roles], np.int8),
                alpha.numerator,
                alpha.denominator,
            ),
            Standing(
                np.array([c[0] for c in self.cases], np.int64),
                np.array([group[r] for r in range(len(self.cases))], np.int64),
                effort,
            ),
        )
        return dict(enumerate(found.tolist()))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    tree = trees(7).map(lambda t: build_hierarchy(t.rows()))
    qids = draw(st.lists(st.one_of(st.sampled_from([1, 7, 120]), tree), min_size=1, max_size=3))

    def box(qid: Qid) -> st.SearchStrategy[Box]:
        if isinstance(qid, int):
            value = st.integers(0, qid)
            return st.tuples(value, value).map(lambda p: (min(p), max(p)))
        return st.integers(0, len(qid.labels) - 1).map(lambda n: (n, qid.last[n]))

    k = draw(st.integers(1, 4))
    allowed = [t for t in map(Fraction, ("1", "1/2", "2/5", "3/5", "1/3")) if k * t >= 1]
    thetas = draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=4))
    cases = []
    for _ in range(draw(st.integers(0, 20))):
        pattern = draw(st.sampled_from([2 ** len(qids) - 1, 2 ** len(qids) - 1, 1, 0]))
        known = [draw(box(q)) if pattern >> p & 1 else (None, None) for p, q in enumerate(qids)]
        terms = draw(st.sets(st.integers(0, len(thetas) - 1), max_size=2))
        cases.append((pattern, known, sorted(terms)))
    roles = [draw(st.tuples(st.booleans(), st.integers(0, 4))) for _ in cases]
    return Problem(qids, cases, thetas, k, roles)


models = st.sampled_from(
    [
        PLAIN,
        Rules(after_join=True),
        Rules(after_join=True, core_only=True),
        Rules(after_join=True, from_last=True, alpha=Fraction(1, 2)),
    ]
)


@pytest.mark.slow
@REPEATABLE
@given(
    problem=problems(),
    draw=st.integers(0, 2**56 - 1),
    rest=st.sampled_from(["withhold", "merge"]),
    rules=models,
)
def test_the_macro_gives_each_pattern_the_groups_of_the_kernel(
    sql: Any, problem: Problem, draw: int, rest: str, rules: Rules
) -> None:
    for chosen in range(2 ** len(problem.qids)):
        found = problem.macro(sql, chosen, draw, rest, rules)
        assert found == problem.kernel(chosen, draw, rest, rules)


@REPEATABLE
@given(
    problem=problems(),
    draw=st.integers(0, 2**55),
    rest=st.sampled_from(["withhold", "merge"]),
    rules=models,
    threads=st.sampled_from([1, 3]),
)
def test_several_patterns_at_a_time_have_the_groups_of_the_kernel_each(
    sql: Any, problem: Problem, draw: int, rest: str, rules: Rules, threads: int
) -> None:
    # also of a pattern that no case has, and not of the last, which nobody asks for
    draws = {chosen: draw + chosen for chosen in range(2 ** len(problem.qids) - 1)}
    assert problem.all_patterns(sql, draws, rest, rules, threads) == {
        chosen: problem.kernel(chosen, each, rest, rules) for chosen, each in draws.items()
    }


@pytest.mark.thorough
@REPEATABLE
@given(problem=problems(), rules=models, effort=st.sampled_from(["fast", "full"]))
def test_the_macro_refines_the_groups_of_all_patterns_as_the_kernel_does(
    sql: Any, problem: Problem, rules: Rules, effort: Refinement
) -> None:
    # kind 1 are the carriers with substantially many symptoms, and nobody else
    problem.roles = [
        (carrier, kind and (1 if carrier else max(kind, 2))) for carrier, kind in problem.roles
    ]
    group = dict.fromkeys(range(len(problem.cases)), -1)
    for chosen in range(2 ** len(problem.qids)):
        first = max(group.values(), default=-1) + 1
        for case, number in problem.macro(sql, chosen, 0, "withhold", rules).items():
            group[case] = number + first if number >= 0 else -1
    alpha = {"alpha_num": rules.alpha.numerator, "alpha_den": rules.alpha.denominator}
    rows = problem.refining_macro(
        sql, group, {"effort": effort, "diversity": 0, "attributes": 0, **alpha}
    )
    assert len(rows) == len(problem.cases)
    if rows:
        assert dict(rows) == problem.refined(group, rules.alpha, effort)


def test_cases_that_know_no_qid_are_grouped_by_their_terms_alone(sql: Any) -> None:
    unknown: list[Box] = [(None, None)]
    cases = [(0, unknown, [r % 2]) for r in range(4)] + [(1, [(3, 3)], [])]
    groups = Problem([10], cases, [Fraction(1, 2)] * 2, 2).macro(sql, 0, 0, "withhold")
    assert groups.keys() == {0, 1, 2, 3}
    assert groups[0] != groups[2]
    assert groups[1] != groups[3]
    assert set(groups.values()) == {0, 1}


def test_without_terms_and_thresholds_cases_are_grouped_all_the_same(sql: Any) -> None:
    cases: list[tuple[int, list[Box], list[int]]] = [(1, [(a, a)], []) for a in (1, 9, 2, 8)]
    groups = Problem([10], cases, [], 2).macro(sql, 1, 0, "withhold")
    assert groups == {0: 0, 2: 0, 1: 1, 3: 1}


@pytest.mark.parametrize("chosen", [0, 2, 3])
def test_a_pattern_that_no_case_has_gives_no_rows(sql: Any, chosen: int) -> None:
    problem = Problem([10, 10], [(1, [(1, 1), (None, None)], [])] * 3, [Fraction(1)], 2)
    assert problem.macro(sql, chosen, 5, "withhold") == {}


@REPEATABLE
@given(st.data())
def test_the_hull_of_a_group_spans_its_members_in_the_qids_of_its_pattern_only(
    sql: Any, data: st.DataObject
) -> None:
    patterns = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=3))
    members = data.draw(st.lists(st.integers(0, len(patterns) - 1), max_size=12))
    value = st.tuples(st.integers(-5, 9), st.integers(-5, 9)).map(lambda p: (min(p), max(p)))
    maybe: st.SearchStrategy[Box] = st.one_of(st.just((None, None)), value)
    boxes = {
        (case, position): data.draw(value if patterns[group] >> position & 1 else maybe)
        for case, group in enumerate(members)
        for position in range(3)
    }
    grouped = sql.table(
        "grouped",
        "case_no INTEGER, group_no INTEGER, pattern INTEGER",
        [(case, group, patterns[group]) for case, group in enumerate(members)],
    )
    box = sql.table(
        "box",
        "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT",
        [(*key, *ends) for key, ends in boxes.items()] + [(99, 0, -100, 100)],  # in no group
    )
    expected = {}
    for group in set(members):
        for position in range(3):
            inside = [boxes[c, position] for c, g in enumerate(members) if g == group]
            expected[group, position] = (
                (min(b[0] for b in inside), max(b[1] for b in inside))
                if patterns[group] >> position & 1
                else (None, None)
            )
    found = sql.rows(f"FROM srsql.group_hull({grouped}, {box})")
    assert {row[:2]: row[2:] for row in found} == expected
    assert len(found) == len(expected)
