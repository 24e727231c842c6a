"""The kernel of the periodical models beside that of MS, on the same quarter with a past.

A quarter of the cases are old: their age and weight are intervals, as those of a covered region.
``known`` is how many QIDs of age, sex and weight all cases know: with fewer, most are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernel import SEED, problem
from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases

OLD, STOPS, K = 0.25, 0.9, 5
KNOWN = {3: [0, 1, 2], 2: [0, 2], 1: [2], 0: []}
SIZES = {3: [100_000, 400_000], 2: [50_000, 150_000], 1: [50_000, 150_000], 0: [50_000, 150_000]}
SMALL = {3: [20_000, 80_000], 0: [5_000, 10_000]}


@dataclass(frozen=True)
class Quarter:
    """One grouping problem and what is known of its cases."""

    cases: Cases
    attributes: Attributes
    theta_num: NDArray[np.int64]
    theta_den: NDArray[np.int64]
    new: NDArray[np.bool_]
    stops: NDArray[np.bool_]
    substantial: NDArray[np.bool_]

    def bounding(self, model: str) -> Bounding:
        n = len(self.new)
        if model == "ms":
            return Bounding.of_all(n)
        alpha = model == "ppms-alpha"
        carrier = self.new & self.stops if alpha else self.new
        kind = np.where(self.substantial, 1 + ~self.stops + 2 * ~self.new, 0).astype(np.int8)
        return Bounding(
            carrier,
            carrier if model == "ppms++" else np.ones(n, np.bool_),
            kind if alpha else np.zeros(n, np.int8),
            1,
            2,
            after_join=True,
            from_last=alpha,
        )

    def seconds(self, model: str) -> tuple[float, int]:
        began = perf_counter()
        found = group_cases(
            self.cases, self.attributes, self.theta_num, self.theta_den, K, 0, self.bounding(model)
        )
        return perf_counter() - began, int(found.max()) + 1


def quarter(n: int, known: int) -> Quarter:
    cases, attributes, num, den = problem(n, 3)
    rng = np.random.default_rng(SEED)
    new = rng.random(n) >= OLD
    kept = KNOWN[known]
    low, high = cases.low[:, kept].copy(), cases.high[:, kept].copy()
    for column, qid in enumerate(kept):
        span = attributes.span[qid]
        if span:
            wider = np.where(new, 0, rng.integers(0, 4, n))
            high[:, column] = np.minimum(span, high[:, column] + wider)
    nodes = [np.arange(attributes.tree_start[q], attributes.tree_start[q + 1]) for q in kept]
    flat = np.concatenate([np.empty(0, np.int64), *nodes])
    fewer = Attributes(
        span=attributes.span[kept],
        tree_start=np.cumsum([0, *map(len, nodes)]).astype(np.int64),
        parent=attributes.parent[flat],
        last=attributes.last[flat],
        height=attributes.height[flat],
    )
    counts = np.diff(cases.offsets)
    return Quarter(
        Cases(low, high, cases.offsets, cases.terms, cases.weights, 1),
        fewer,
        num,
        den,
        new,
        rng.random(n) < STOPS,
        counts >= counts.mean() + counts.std(),
    )


def main(small: bool) -> None:
    """Print seconds, and their ratio to those of MS on the same quarter."""
    models = ("ms", "ppms-ear", "ppms++", "ppms-alpha")
    for model in models:
        quarter(300, 3).seconds(model)  # compiled, or loaded from the cache
    print("".join(f"{c:>12}" for c in ("cases", "known", "model", "groups", "seconds", "to ms")))
    for known, sizes in (SMALL if small else SIZES).items():
        for n in sizes:
            made = quarter(n, known)
            base = 0.0
            for model in models:
                seconds, groups = made.seconds(model)
                base = base or seconds
                cells = (f"{n:,}", known, model, f"{groups:,}", f"{seconds:.2f}")
                print("".join(f"{c:>12}" for c in (*cells, f"{seconds / base:.1f}")), flush=True)
