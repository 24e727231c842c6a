"""A small series with everything that complicates it, and its originals as Python has them."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from pathlib import Path

from oracles.trees import Tree
from support.quarters import Report

K = 4
QUARTERS = ("2011Q1", "2011Q2", "2011Q3")
SEXES = Tree({"Any": "", "M": "Any", "F": "Any"})
_FILE = Path(__file__).parents[2] / "schemas" / "hierarchies" / "age_groups.csv"
with _FILE.open(encoding="utf-8", newline="") as _stream:
    _ROWS = list(csv.DictReader(_stream))
AGES = Tree({row["node"]: row["parent"] for row in _ROWS})
LEAVES = {row["node"]: (int(row["low"]), int(row["high"])) for row in _ROWS if row["low"]}
RANGES = {
    (
        min(LEAVES[leaf][0] for leaf in AGES.leaves(node)),
        max(LEAVES[leaf][1] for leaf in AGES.leaves(node)),
    ): node
    for node in AGES.above
}
"""Range of a node -> the node."""


def leaf_of(age: int) -> str:
    return next(node for node, (low, high) in LEAVES.items() if low <= age <= high)


def series(seed: int) -> dict[str, list[Report]]:
    """Cases that return, change, contradict themselves, miss values and share terms."""
    rng = random.Random(seed)
    homes: dict[int, dict[str, str]] = {}
    quarters: dict[str, list[Report]] = {}
    primaryid = 0
    for number, quarter in enumerate(QUARTERS):
        present = [case for case in homes if rng.random() < 0.35]
        present += range(1000 * number, 1000 * number + 60)
        quarters[quarter] = []
        for case in present:
            for _ in range(2 if rng.random() < 0.15 else 1):
                if case not in homes or rng.random() < 0.3:
                    homes[case] = {
                        "age": str(rng.choice([3, 10, 15, 22, 30, 50, 70, 85])),
                        "sex": rng.choice("MF"),
                        "wt": str(rng.randint(40, 110)),
                    }
                    if rng.random() < 0.15:
                        homes[case][rng.choice(["age", "sex", "wt"])] = ""
                primaryid += 1
                terms = [f"Of {case}", *(["Common"] if rng.random() < 0.2 else [])]
                quarters[quarter].append(Report(primaryid, case, **homes[case], pt=tuple(terms)))
    return quarters


class Originals:
    """The super-records of one quarter."""

    def __init__(self, reports: list[Report]) -> None:
        told: dict[int, list[Report]] = defaultdict(list)
        for report in reports:
            told[report.caseid].append(report)
        self.cases = set(told)
        self.age = {c: self._node(AGES, [leaf_of(int(r.age)) for r in rs if r.age])
                    for c, rs in told.items()}  # fmt: skip
        self.sex = {c: self._node(SEXES, [r.sex for r in rs if r.sex]) for c, rs in told.items()}
        self.wt = {c: sorted({int(r.wt) for r in rs if r.wt}) for c, rs in told.items()}
        self.terms = {c: {t.lower() for r in rs for t in r.pt} for c, rs in told.items()}

    @staticmethod
    def _node(tree: Tree, values: list[str]) -> str | None:
        return tree.meeting(values) if values else None
