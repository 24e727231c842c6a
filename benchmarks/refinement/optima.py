"""A few records of a period, and the best of all their groupings.

Written from the definitions, without the kernels: a group has k members, sigma_s <= theta |g| for
every value (Lin 2016, Definition 3), and loses IL(g) (eq. (1)); a quasi-identifier that some
member does not know is shown of nobody and costs 1 for each member that knows it (SPEC section 2).
The best grouping leaves the fewest without a group, then loses least: by dynamic programming over
all subsets. Since refinement withholds nobody whom the algorithm before it places, its losses are
set beside those of the best grouping that does not, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsql import Engine
from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping.refine import Refinement, Standing, refine_groups
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases
from srsql.udfs.risk.least_loss import MISSING, least_losses, pair_losses

Ints = NDArray[np.int64]
NEVER = 2**60
MORE_SEEDS = 64
"""As a release that is refined has it."""
EFFORTS: tuple[Refinement, ...] = ("fast", "full")


HEAD = ("theta", "", "as many", "mean ratio", "worst", "same cases", "mean ratio", "worst",
        "all placed", "not here", "left out")  # fmt: skip


class Outcomes(NamedTuple):
    """Cases without a group and the loss of the others: here, and at best."""

    own: tuple[int, int]
    optimal: tuple[int, int]
    kept: tuple[int, int]
    """Of the best that keeps everybody whom the algorithm before refinement places."""


@dataclass(frozen=True)
class Qid:
    """A quasi-identifier: a number with the span of its domain, or a tree in preorder."""

    span: int
    parent: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    height: tuple[int, ...] = ()

    @property
    def most(self) -> int:
        """What its losses are measured against: the span, or the height of the root."""
        return self.span or self.height[0]


@dataclass(frozen=True)
class Records:
    """n records: boxes [n, d], which values are known, and which sensitive values are held."""

    qids: tuple[Qid, ...]
    low: Ints
    high: Ints
    known: NDArray[np.bool_]
    holds: NDArray[np.bool_]

    def of(self, who: Ints) -> Records:
        """Some of them, with the sensitive values that they hold."""
        holds = self.holds[who]
        held = holds.any(axis=0)
        return Records(self.qids, self.low[who], self.high[who], self.known[who], holds[:, held])


@cache
def _subsets(n: int) -> NDArray[np.bool_]:
    """[2^n, n] the members of every subset."""
    return np.arange(2**n)[:, None] >> np.arange(n) & 1 == 1


@cache
def _parts(n: int) -> list[Ints]:
    """For every subset those of its subsets that have its first member."""
    found = [np.zeros(0, np.int64)]
    for mask in range(1, 2**n):
        first = mask & -mask
        rest, part, listed = mask ^ first, mask ^ first, []
        while True:
            listed.append(part | first)
            if part == 0:
                break
            part = (part - 1) & rest
        found.append(np.array(listed))
    return found


def losses(records: Records, k: int, theta: Fraction) -> Ints:
    """[2^n] what each subset loses as a group, in units of 1 / :func:`unit`; -1: it may be none."""
    members = _subsets(len(records.low))
    size, whole = members.sum(axis=1), unit(records)
    lost = np.zeros(len(members), np.int64)
    for i, qid in enumerate(records.qids):
        low = np.where(members, records.low[:, i], NEVER).min(axis=1)
        high = np.where(members, records.high[:, i], -NEVER).max(axis=1)
        if qid.span:
            width = high - low
        else:
            width = np.zeros(len(members), np.int64)
            for node in range(len(qid.parent)):  # in preorder the deepest node comes last
                inside = (node <= low) & (high <= qid.last[node])
                width = np.where(inside, qid.height[node], width)
        knowing = (members & records.known[:, i]).sum(axis=1)
        each = width * (whole // qid.most) if qid.most else 0 * width
        lost += np.where(knowing == size, size * each, knowing * whole)
    allowed = size >= k
    if theta < 1:
        sigma = members.astype(np.int64) @ records.holds.astype(np.int64)
        bound = theta.numerator * size[:, None]
        allowed &= (sigma * theta.denominator <= bound).all(axis=1)
    return np.where(allowed, lost, -1)


def unit(records: Records) -> int:
    """So many units are the loss of a value that is not shown at all."""
    return math.lcm(*(qid.most or 1 for qid in records.qids))


def least(records: Records, k: int) -> float:
    """What all of them lose at least in groups of k, in units of 1 / :func:`unit`."""
    values = np.full(records.known.shape, MISSING, np.int64)
    tables = []
    for i, qid in enumerate(records.qids):
        who = np.flatnonzero(records.known[:, i])
        ends = np.stack([records.low[who, i], records.high[who, i]], axis=1)
        known, values[who, i] = np.unique(ends, axis=0, return_inverse=True)
        if qid.span:
            tables.append(pair_losses(known[:, 0], known[:, 1], qid.span))
            continue
        table = np.zeros((len(known), len(known)))
        for node in range(len(qid.parent)):
            inside = (node <= known[:, 0]) & (known[:, 1] <= qid.last[node])
            table[np.ix_(inside, inside)] = qid.height[node] / max(qid.most, 1)
        tables.append(table)
    cases = np.ones(len(values), np.int64)
    return float(least_losses(values, cases, tables, k).sum()) * unit(records)


def best(lost: Ints, group: NDArray[np.int32]) -> tuple[int, int]:
    """Fewest records without a group, and the least that the others lose then.

    Who is in a group of ``group`` is in one; it keeps all bounds.
    """
    n = len(group)
    left_out = int(lost.max(initial=0)) * n + 1  # dearer than any groups are
    alone = np.where(group < 0, left_out, NEVER // n)
    cost = np.where(lost < 0, NEVER, lost)
    least = np.zeros(2**n, np.int64)
    for mask, parts in enumerate(_parts(n)):
        if mask:
            first = (mask & -mask).bit_length() - 1
            without = alone[first] + least[mask & (mask - 1)]
            least[mask] = min(without, (cost[parts] + least[mask ^ parts]).min())
    return divmod(int(least[-1]), left_out)


def outcome(group: NDArray[np.int32], lost: Ints) -> tuple[int, int]:
    """The same of a grouping.

    Raises:
        ValueError: one of its groups breaks a bound.
    """
    total = 0
    for g in range(int(group.max(initial=-1)) + 1):
        own = int(lost[(1 << np.flatnonzero(group == g)).sum()])
        if own < 0:
            raise ValueError("a group breaks a bound")
        total += own
    return int((group < 0).sum()), total


def greedy(records: Records, k: int, theta: Fraction, draw: int, seeds: int) -> NDArray[np.int32]:
    """The papers' algorithm on each missingness pattern by itself; -1: without a group."""
    group = np.full(len(records.low), -1, np.int32)
    for pattern in np.unique(records.known, axis=0):
        who = np.flatnonzero((records.known == pattern).all(axis=1))
        if len(who) < k:
            continue
        part = records.of(who)
        bounding = Bounding(
            np.ones(len(who), np.bool_), np.ones(len(who), np.bool_), np.zeros(len(who), np.int8),
            more_seeds=seeds,
        )  # fmt: skip
        shown = np.flatnonzero(pattern)
        found = group_cases(
            _cases(part, shown), _attributes([records.qids[i] for i in shown]),
            *_thetas(part, theta), k, draw % len(who), bounding,
        )  # fmt: skip
        group[who[found >= 0]] = found[found >= 0] + group.max() + 1
    return group


def refined(
    records: Records, k: int, theta: Fraction, start: NDArray[np.int32], effort: Refinement
) -> NDArray[np.int32]:
    """These groups, refined."""
    known = (records.known << np.arange(len(records.qids))).sum(axis=1)
    return refine_groups(
        _cases(records, np.arange(len(records.qids))), _attributes(records.qids),
        *_thetas(records, theta), k, Bounding.of_all(len(start)),
        Standing(known, start.astype(np.int64), effort),
    )  # fmt: skip


def _cases(records: Records, shown: Ints) -> Cases:
    known = records.known[:, shown]
    case, term = np.nonzero(records.holds)
    offsets = np.searchsorted(case, np.arange(len(records.low) + 1)).astype(np.int64)
    return Cases(
        np.where(known, records.low[:, shown], 0), np.where(known, records.high[:, shown], 0),
        offsets, term.astype(np.int32), np.ones(len(term), np.int64), 1,
    )  # fmt: skip


def _attributes(qids: Sequence[Qid]) -> Attributes:
    return Attributes(
        np.array([qid.span for qid in qids], np.int64),
        np.cumsum([0, *(len(qid.parent) for qid in qids)], dtype=np.int64),
        *(
            np.array([node for qid in qids for node in getattr(qid, name)], np.int64)
            for name in ("parent", "last", "height")
        ),
    )


def _thetas(records: Records, theta: Fraction) -> tuple[Ints, Ints]:
    count = records.holds.shape[1]
    return np.full(count, theta.numerator), np.full(count, theta.denominator)


def read_records(source: Sequence[Path], dataset: str, missing: str) -> Records:
    """The cases of a period, as a release sees them."""
    with (
        TemporaryDirectory(prefix="srsql-refinement-") as folder,
        Engine(Path(folder) / "warehouse.duckdb", dataset=dataset) as engine,
    ):
        period = engine.ingest(source, allow_incomplete=True)[-1].quarter
        made = engine.release.make(
            period, model="ms", k=2, theta="1", seed=1, refine="off", missing=missing, draft=True
        )
        spans = engine.sql(
            "SELECT attribute, span FROM srsql.attribute WHERE release_id = ? ORDER BY position",
            [made.release_id],
        )
        trees = engine.dataset().hierarchies
        qids = tuple(
            Qid(0, trees[name].parent, trees[name].last, trees[name].height)
            if name in trees
            else Qid(span)
            for name, span in spans
        )
        boxes = np.array(
            engine.sql(
                "SELECT coalesce(low, -1), coalesce(high, -1), low IS NOT NULL "
                "FROM srsql.case_qid WHERE release_id = ? ORDER BY case_no, position",
                [made.release_id],
            ),
            np.int64,
        ).reshape(-1, len(qids), 3)
        held = np.array(
            engine.sql(
                "SELECT dense_rank() OVER (ORDER BY q.case_no) - 1, t.term_no "
                "FROM (SELECT DISTINCT case_no FROM srsql.case_qid WHERE release_id = $1) AS q "
                "LEFT JOIN srsql.case_term AS t ON t.release_id = $1 AND q.case_no = t.case_no",
                [made.release_id],
            ),
            float,
        )
    pairs = held[~np.isnan(held[:, 1])].astype(np.int64)
    holds = np.zeros((len(boxes), pairs[:, 1].max(initial=0) + 1), np.bool_)
    holds[pairs[:, 0], pairs[:, 1]] = True
    known = boxes[:, :, 2] == 1
    everyone = Records(qids, boxes[:, :, 0], boxes[:, :, 1], known, holds)
    return everyone.of(np.flatnonzero(known.all(axis=1) | (missing == "keep")))


def run(
    *, source: Sequence[Path], dataset: str, instances: int, records: int, k: int,
    theta: Sequence[Fraction], missing: str,
) -> None:  # fmt: skip
    """Print the losses as ratios to the best, of the papers' algorithm and of each effort."""
    people = read_records(source, dataset, missing)
    rng = np.random.default_rng(2016)
    drawn = [
        people.of(np.sort(rng.choice(len(people.low), records, replace=False)))
        for _ in range(instances)
    ]
    print(f"{instances} times {records} of {len(people.low):,} records, k = {k}, missing values: "
          f"{missing}")  # fmt: skip
    print(_line(HEAD))
    anybody = np.full(records, -1, np.int32)
    found_best = [
        (best(losses(each, k, Fraction(1)), anybody)[1], least(each, k)) for each in drawn
    ]
    above = [optimal / low for optimal, low in found_best if low]
    print(f"theta 1: the best loses {np.mean(above):.2f} times the bound (worst {max(above):.2f})")
    for bound in theta:
        found: dict[str, list[Outcomes]] = {}
        for number, instance in enumerate(drawn):
            lost = losses(instance, k, bound)
            optimal = best(lost, anybody)
            papers = greedy(instance, k, bound, number, 0)
            start = greedy(instance, k, bound, number, MORE_SEEDS)
            groups = {effort: refined(instance, k, bound, start, effort) for effort in EFFORTS}
            kept = best(lost, start)
            found.setdefault("greedy", []).append(
                Outcomes(outcome(papers, lost), optimal, best(lost, papers))
            )
            for effort, group in groups.items():
                found.setdefault(effort, []).append(Outcomes(outcome(group, lost), optimal, kept))
        for name, outcomes in found.items():
            print(_row(f"{bound}", name, outcomes), flush=True)


def _row(theta: str, name: str, found: Sequence[Outcomes]) -> str:
    cells = []
    for least in ("optimal", "kept"):
        pairs = [(each.own, getattr(each, least)) for each in found]
        ratios = [
            own[1] / other[1] if other[1] else 1.0 + own[1]
            for own, other in pairs
            if own[0] == other[0]
        ]
        cells += [f"{len(ratios)}"]
        cells += [f"{np.mean(ratios):.3f}", f"{max(ratios):.3f}"] if ratios else ["-", "-"]
    whole = [each.own for each in found if each.optimal[0] == 0]
    cells += [f"{len(whole)}", f"{sum(own[0] > 0 for own in whole)}"]
    cells.append(f"{sum(each.own[0] - each.optimal[0] for each in found)}")
    return _line([theta, name, *cells])


def _line(cells: Sequence[str]) -> str:
    return "".join(f"{cell:>12}" for cell in cells)
