"""A minimality attack on small releases: what knowing the algorithm tells beyond the regions.

The attacker of Wong et al. 2007 knows the algorithm, its parameters and the release (regions,
sensitive values, and here the order of the cases, as under original ids), not the seed, and not
which case has which quasi-identifiers. Tables of a few cases are drawn from a quarter (ages in
decades, weights in steps of 20 kg) and grouped by the product's own kernel. The worlds that fit the
regions as hulls are enumerated, or drawn uniformly where there are more; the same kernel runs on
each with each first case, or with one drawn; those that give the very release stay.

*Values*: of how many combinations of quasi-identifiers a case may have one. *Candidates*: which
case a target is whose quasi-identifiers are known. Both are effective numbers (the exponential of
the entropy, uniform over worlds), compared before and after the attack. Every algorithm is attacked
with its groups as they are, and refined (fast, full): the attacker refines every world as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.minimality.near_choice import seed_generator
from benchmarks.minimality.tables import (
    REAL_QUARTER,
    REFINEMENTS,
    SEED,
    Population,
    Refine,
    Table,
    draw_table,
    population,
)
from benchmarks.minimality.whole_quarter import GROUPS, SMALL_GROUPS, attack_quarter
from benchmarks.minimality.worlds import LEAST_KEPT, Attack, Floats, Ints, Replay, attack
from srsql.udfs.grouping import refine as refinement
from srsql.udfs.grouping.greedy import warm_up

SIZES = ((2, 8), (3, 9))
"""k, and cases of a table."""
SLACKS = (0.0, 0.25)
"""Of the variants of ms that draw among candidates whose ΔIL′ is nearly the least: ties, and up to
so much above it."""
PARTS = (*REFINEMENTS, "drawn", "quarter")
"""The groups as they are and refined; drawn among near-equal candidates; local optimality."""
TABLES, SMALL_TABLES = 20, 3
RUNS, SMALL_RUNS = 3_000, 1_500
"""Worlds with a first case that are tried of one table; fewer than that are all tried."""
NEAR_RUNS = 2
"""Times as many of the variants, of which fewer worlds stay."""


def interval(samples: Sequence[Floats]) -> tuple[float, float, float]:
    """Mean over all, with the 95 % interval of the bootstrap over tables."""
    rng, means = np.random.default_rng(SEED), np.array([each.mean() for each in samples])
    drawn = rng.choice(means, (2_000, len(means))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(means.mean()), float(low), float(high)


def row(name: str, k: int, found: Sequence[Attack | None]) -> str:
    """One line of the result."""
    placed = [each for each in found if each is not None]
    counted = [each for each in placed if each.exact or each.kept >= LEAST_KEPT]
    exact = [each for each in counted if each.exact]
    cells = [name, f"{len(counted)}/{len(placed)}/{len(found)}", f"{len(exact)}"]
    if not counted:
        return "".join(f"{cell:>17}" for cell in [*cells, "nothing to count"])
    cells.append(f"{np.mean([a.share for a in counted]):.3f}")
    for samples in ([a.values for a in counted], [a.candidates for a in counted]):
        mean, low, high = interval(samples)
        cells += [f"{mean:.2f} ({low:.2f}-{high:.2f})", f"{min(s.min() for s in samples):.2f}"]
    cells.append(" ".join(f"{np.mean([a.left[:, at] for a in counted]):.2f}" for at in range(2)))
    cells.append(" ".join(f"{np.mean([a.guess[:, at] for a in counted]):.2f}" for at in range(3)))
    below = [np.mean([(a.possible[:, at] < k).mean() for a in exact]) for at in range(2) if exact]
    cells.append(" ".join(f"{share:.1%}" for share in below) or "-")
    cells.append(f"{np.mean([a.loss for a in counted]):.3f}")
    cells.append(f"{np.mean([a.releases for a in counted]):.2f}")
    return "".join(f"{cell:>17}" for cell in cells)


def paired(name: str, off: Sequence[Attack | None], on: Sequence[Attack | None]) -> str:
    """How much more is left of candidates, and how much better the best guess is, refined: over
    the tables that are counted in both."""
    both = [
        (a, b) for a, b in zip(off, on, strict=True)
        if a and b and all(each.exact or each.kept >= LEAST_KEPT for each in (a, b))
    ]  # fmt: skip
    parts = [f"    {name} less off, {len(both)} tables:"]
    for what, of in (
        ("values", lambda a: a.values),
        ("candidates", lambda a: a.candidates),
        ("candidates left", lambda a: a.left[:, 1]),
        ("best guess", lambda a: a.guess[:, 2]),
        ("regions' guess", lambda a: a.guess[:, 0]),
    ):
        mean, low, high = interval([of(b) - of(a) for a, b in both])
        parts.append(f"{what} {mean:+.3f} ({low:+.3f} to {high:+.3f})")
    return "  ".join(parts)


HEAD = ("algorithm, k", "counted", "exact", "worlds kept", "values", "worst", "candidates",
        "worst", "left", "best guess", "below k", "loss", "releases")  # fmt: skip


def replay(
    people: Population, k: int, n: int, amount: tuple[int, int], parts: Collection[str]
) -> None:
    """Attack the same tables under every algorithm; ``amount``: tables, and runs of each."""
    count, runs = amount
    rng = np.random.default_rng([SEED, k])
    drawn = [(draw_table(people, n, rng), int(rng.integers(n))) for _ in range(count)]
    for model in ("ms", "ppms++"):
        by_refinement: dict[str, list[Attack | None]] = {}
        for refine in (each for each in REFINEMENTS if each in parts):
            found = [
                attack(partial(_run, table, model, k, refine), table, first, Replay(rng, runs))
                for table, first in drawn
            ]
            by_refinement[refine] = found
            print(row(f"{model} {refine}, {k}", k, found), flush=True)
            if refine != "off" and "off" in by_refinement:
                print(paired(f"{model} {refine}, {k}", by_refinement["off"], found), flush=True)
    if "drawn" not in parts:
        return
    tried = [(table, f, table.grouped(table.values, "ms", k, f)) for table, f in drawn]
    same = [np.array_equal(shown, table.near(table.values, k, f, -1.0)) for table, f, shown in tried
            if shown is not None]  # fmt: skip
    for slack in SLACKS:
        seed_generator(SEED)
        how = Replay(rng, runs * NEAR_RUNS, draws=True)
        found = [attack(partial(_near, t, k, slack), t, first, how) for t, first in drawn]
        print(row(f"ms ~{slack:.2f}, {k}", k, found), flush=True)
    if not all(same):
        raise SystemExit(f"without slack the variant of ms groups {len(same) - sum(same)} of "
                         f"{len(same)} tables otherwise than ms")  # fmt: skip


def _run(table: Table, model: str, k: int, refine: Refine, values: Ints, first: int) -> Ints | None:
    return table.grouped(values, model, k, first, refine)


def _near(table: Table, k: int, slack: float, values: Ints, first: int) -> Ints | None:
    return table.near(values, k, first, slack)


def command(arguments: Sequence[str]) -> None:
    """Draw tables, attack each, print one line a setting."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks minimality", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a few tables")
    parser.add_argument("--real-data", type=Path, metavar="DIR", help=f"take {REAL_QUARTER} of it")
    parser.add_argument("--runs", type=int, metavar="N", help="worlds that are tried of a table")
    parser.add_argument("--only", action="append", choices=PARTS, help="a part, or some of them")
    options = parser.parse_args(arguments)
    parts = options.only or PARTS
    began = perf_counter()
    warm_up()
    refinement.warm_up()
    people = population(options.real_data)
    amount = (SMALL_TABLES, SMALL_RUNS) if options.small else (TABLES, RUNS)
    amount = (amount[0], options.runs or amount[1])
    print(f"{len(people[0]):,} cases to draw from, {amount[0]} tables of each size, up to "
          f"{amount[1]:,} worlds with a first case of each")  # fmt: skip
    print("".join(f"{cell:>17}" for cell in HEAD))
    for k, n in SIZES:
        if {*parts} != {"quarter"}:
            replay(people, k, n, amount, parts)
    if "quarter" in parts:
        attack_quarter(people, SMALL_GROUPS if options.small else GROUPS)
    print(f"{perf_counter() - began:.0f} s")
