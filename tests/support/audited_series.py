"""A catalog that holds one random series of releases, for audits of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import duckdb
from hypothesis import strategies as st
from oracles.audit import Box, Case, Group, Interval, Release

from srsql.engine.store.warehouse import Warehouse

# Any(0-6) -> A(1-3) -> a, b; B(4-6) -> c, d: preorder numbers of the nodes.
TREE = [("Any", None, 0, 6), ("A", "Any", 1, 3), ("a", "A", 2, 2), ("b", "A", 3, 3),
        ("B", "Any", 4, 6), ("c", "B", 5, 5), ("d", "B", 6, 6)]  # fmt: skip
THETAS = [Fraction(t) for t in ("0", "1/3", "1/2", "3/4", "1")]
NODES = [(low, high) for _, _, low, high in TREE]
DATASET: Any = SimpleNamespace(
    name="d",
    qid=[
        SimpleNamespace(name="age", kind="numeric", granularity=Decimal(1)),
        SimpleNamespace(name="place", kind="categorical", granularity=Decimal(1)),
    ],
    qid_set=(),
    sets_text="",
    hierarchies={"place": SimpleNamespace(labels=[node for node, *_ in TREE])},
)
DATASET.keyed = lambda _: DATASET
TABLES = (
    "release", "defended_attack", "attribute", "threshold", "region", "member", "case_flag",
    "case_qid", "case_term",
)  # fmt: skip


class Catalog:
    """A warehouse whose catalog holds one series, written anew for each example."""

    def __init__(self) -> None:
        self.con = duckdb.connect()
        self.warehouse = Warehouse(self.con)
        self.insert(
            "node", [("d", "place", n, up, a, z, 0, 0, 1, None, None) for n, up, a, z in TREE]
        )

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        values = [tuple(row) for row in rows]
        if values:
            marks = ", ".join("(" + ", ".join("?" * len(row)) + ")" for row in values)
            flat = [value for row in values for value in row]
            self.con.execute(f"INSERT INTO srsql.{table} VALUES {marks}", flat)

    def store(self, series: list[Release], *, originals: bool = True) -> None:
        self.clear()
        for i, release in enumerate(series):
            self.add(i, release, originals=originals)

    def clear(self) -> None:
        for table in (*TABLES, "verdict", "verdict_group", "correction", "forgotten_case"):
            self.con.execute(f"DELETE FROM srsql.{table}")

    def add(
        self,
        i: int,
        release: Release,
        *,
        originals: bool = True,
        attacks: Sequence[str] = ("b",),
        model: str = "ppms",
    ) -> None:
        """One more release of the series, with the number ``i``."""
        rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        terms = {term: number for number, term in enumerate(release.thetas)}
        rows["release"].append(
            (
                *(i, "d", "main", release.quarter, model, release.status),
                *(release.k, release.k, release.unit, "", None, "{}"),
            )
        )
        rows["defended_attack"].append(
            (i, list(attacks), release.alpha.numerator, release.alpha.denominator)
        )
        rows["attribute"] += [(i, 0, "age", "numeric", 9), (i, 1, "place", "categorical", 0)]
        rows["threshold"] += [
            (i, terms[s], s, t.numerator, t.denominator, 0, True) for s, t in release.thetas.items()
        ]
        number = 0
        for g, group in enumerate(release.groups):
            rows["region"] += [(i, g, q, *(x or (None, None))) for q, x in enumerate(group.region)]
            for case in group.cases:
                rows["member"].append((i, number, case.case_id, g, 1, True))
                rows["case_flag"].append((i, number, True, case.ss, None))
                if originals:
                    rows["case_qid"] += [
                        (i, number, q, *(x or (None, None)), False) for q, x in enumerate(case.raw)
                    ]
                rows["case_term"] += [
                    (i, number, terms[s], weight, True) for s, weight in case.terms.items()
                ]
                number += 1
        for table in TABLES:
            self.insert(table, rows[table])


def any_or(value: Interval, root: tuple[int, int]) -> Interval:
    """The root of a hierarchy is published like a missing value."""
    return None if value == root else value


@st.composite
def series(draw: st.DrawFn, tight: bool = False) -> list[Release]:
    """Some versions of some quarters; cases come back, move, lose and gain values."""
    people = [str(n) for n in range(draw(st.integers(1, 9)))]
    ages = st.one_of(
        st.none(),
        st.tuples(st.integers(-2, 5), st.integers(0, 1)).map(lambda p: (p[0], p[0] + p[1])),
    )
    places = st.one_of(st.none(), st.sampled_from(NODES))
    homes = {p: (draw(ages), draw(places)) for p in people}
    wide = st.one_of(
        st.none(),
        st.tuples(st.integers(-2, 5), st.integers(0, 6)).map(lambda p: (p[0], p[0] + p[1])),
    )
    quarters = draw(
        st.lists(st.sampled_from(["2011Q1", "2011Q2", "2011Q3", "2012Q1"]), min_size=1, max_size=4)
    )
    found = []
    for quarter in sorted(quarters):
        unit = draw(st.sampled_from([1, 4]))
        present = draw(st.lists(st.sampled_from(people), unique=True, max_size=9))
        crowd = []
        for who in present:
            raw = homes[who] if draw(st.integers(0, 3)) else (draw(ages), draw(places))
            terms = draw(st.dictionaries(st.sampled_from("stu"), st.integers(1, unit), max_size=3))
            crowd.append(Case(who, raw, terms, draw(st.booleans())))
        groups = []
        while crowd:
            n = draw(st.integers(1, len(crowd)))
            cases, crowd = tuple(crowd[:n]), crowd[n:]
            if draw(st.integers(0, 2)):
                region = tuple(hull([c.raw[q] for c in cases], q) for q in range(2))
            else:
                region = (draw(wide), draw(places))
            groups.append(Group(region, cases))
        thetas = {
            s: draw(st.sampled_from([Fraction(t) for t in ("0", "1/3", "1/2", "3/4", "1")]))
            for s in "stu"
        }
        found.append(
            Release(
                quarter,
                tuple(groups),
                draw(st.integers(1, 4)),
                thetas,
                draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])),
                unit,
                draw(st.sampled_from(["released", "superseded"])),
            )
        )
    return found


def hull(values: list[Interval], q: int) -> Interval:
    if None in values:
        return None
    low, high = min(v[0] for v in values), max(v[1] for v in values)  # type: ignore[index]
    if q == 0:
        return low, high
    return min((n for n in NODES if n[0] <= low and high <= n[1]), key=lambda n: n[1] - n[0])


def coded(release: Release) -> Release:
    """As it is published: the root of the hierarchy says nothing."""

    def blank(box: Box) -> Box:
        return box[0], any_or(box[1], NODES[0])

    groups = tuple(
        Group(blank(g.region), tuple(Case(c.case_id, blank(c.raw), c.terms, c.ss) for c in g.cases))
        for g in release.groups
    )
    return Release(release.quarter, groups, release.k, release.thetas, release.alpha,
                   release.unit, release.status)  # fmt: skip
