"""One node of the lattice: its anonymized records, and what they lose (Lee 2020).

A node's records are counts: entry ``e`` says that ``count[e]`` records of class ``owner[e]`` have
the informative value ``value[e]``. IPA (Algorithm 1) suppresses small classes, inserts counterfeits
and draws their values. Every step takes its draws as arrays, so that a test can fix them;
``perturb`` takes them from a source. Counts of all cells of a domain with noise are the histogram
that Lee 2020 compares with, and the statistics from which the sound calibration takes a node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.columns import Ints
from srsql.udfs.mechanisms import (
    Floats,
    Source,
    Words,
    first_above,
    list_totals,
    running_totals,
    weight_of_best,
)

SUPPRESSED = -1
"""The class of suppressed records: every dimension is ``*``."""
SENSITIVITY = 3
"""Delta u: each of the three losses lies between 0 and 1."""


@dataclass(frozen=True)
class Counts:
    """The records of a node, by class and informative value."""

    owner: Ints
    """[e] class of each entry, ascending, from 0, none left out."""
    value: Ints
    """[e] informative value, ascending within a class, from 0."""
    count: Ints
    """[e] records, 1 or more."""
    classes: int
    domain: int
    """|Inf|: how many informative values there are."""

    @property
    def starts(self) -> Ints:
        """[classes + 1] first entry of each class."""
        return np.searchsorted(self.owner, np.arange(self.classes + 1)).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """[classes] |E_i|."""
        return list_totals(self.count, self.starts)


@dataclass(frozen=True)
class PerturbedCounts:
    """The anonymized records of a node."""

    owner: Ints
    """[e] class, ``SUPPRESSED`` or from 0; an entry for each class and value."""
    value: Ints
    count: Ints
    counterfeits: Ints
    """[classes] |Counterfeit_i|."""
    suppressed: NDArray[np.bool_]
    """[classes]"""

    def sizes(self, classes: int) -> Ints:
        """[classes] records of each class that is not suppressed."""
        known = self.owner >= 0
        found = np.bincount(self.owner[known], self.count[known], minlength=classes)
        return np.asarray(found, dtype=np.int64)


@dataclass(frozen=True)
class Budget:
    """The parameters of Algorithm 1."""

    least: int
    """t: classes of at most so many records, give or take noise, are suppressed."""
    suppression: Fraction
    """Epsilon of the decision to suppress a class; the others are of later steps."""
    insertion: Fraction
    value: Fraction
    printed: bool = False
    """As Algorithm 1 is printed: n' counterfeits are inserted, and not the difference of n' and n.
    """


def suppressed_classes(sizes: Ints, least: int, noise: Ints) -> NDArray[np.bool_]:
    """[classes] Definition 3: |E_i| <= t + noise_i, noise drawn from Lap((t - 1) / epsilon)."""
    return np.asarray(sizes <= least + noise, dtype=np.bool_)


def size_changes(
    sizes: Ints, suppressed: NDArray[np.bool_], noise: Ints, *, printed: bool = False
) -> Ints:
    """How many records each class gains, or loses where the noise Lap(1 / epsilon) is negative.

    No class loses more than it has; suppressed ones stay (lines 14 to 17). Arrays are [classes].
    As it is printed, no class loses any, and each gains as many as it has and the noise.
    """
    if printed:
        noise = np.maximum(sizes + noise, 0)
    return np.asarray(np.where(suppressed, 0, np.maximum(noise, -sizes)), dtype=np.int64)


def remaining_counts(counts: Counts, changes: Ints, keys: Words) -> Ints:
    """[e] counts after each class that shrinks lost records drawn uniformly.

    ``keys``: a uniform word for every record of the classes that shrink, in the order of entries.
    """
    shrinks = changes[counts.owner] < 0
    entry = np.repeat(np.flatnonzero(shrinks), counts.count[shrinks])
    owner = counts.owner[entry]
    order = np.lexsort((keys, owner))
    sorted_owner = owner[order]
    rank = np.arange(len(order)) - np.searchsorted(sorted_owner, sorted_owner)
    gone = entry[order[rank < -changes[sorted_owner]]]
    return np.asarray(counts.count - np.bincount(gone, minlength=len(counts.count)), dtype=np.int64)


def key_count(counts: Counts, changes: Ints) -> int:
    """How many words ``remaining_counts`` needs."""
    return int(counts.count[changes[counts.owner] < 0].sum())


class ValueChoice:
    """The exponential mechanism over informative values, for every class (equations 3 and 4).

    Weights are integers in the ratio of exp(epsilon S / 2), with Delta S = 1.
    """

    def __init__(self, counts: Counts, epsilon: Fraction) -> None:
        self._counts, self._starts = counts, counts.starts
        top, used = weight_of_best(counts.domain, epsilon)
        sizes, self.absent = counts.sizes, counts.domain - np.diff(self._starts)
        held = _value_weights(counts.count / (sizes[counts.owner] + 1), top, used)
        other = _value_weights(1 / ((sizes + 1) * np.maximum(self.absent, 1)), top, used)
        self.held_weight, self.absent_weight = held, np.where(self.absent > 0, other, 0)
        self._running = running_totals(held, self._starts)
        self.totals: Ints = list_totals(held, self._starts) + self.absent * self.absent_weight

    def values(self, which: Ints, points: Ints) -> Ints:
        """The informative value of each counterfeit.

        Args:
            which: [n] its class.
            points: [n] uniform over 0 .. ``totals[which]`` - 1.
        """
        starts = self._starts
        place = first_above(self._running, starts, which, points)
        in_class = place < starts[which + 1]
        found = self._counts.value[np.where(in_class, place, 0)]
        of_held = list_totals(self.held_weight, starts)[which]
        rank = np.where(in_class, 0, (points - of_held) // np.maximum(self.absent_weight[which], 1))
        # the rank-th value that the class does not have: every held one below it moves it up
        offset = np.arange(len(self._counts.value)) - np.repeat(starts[:-1], np.diff(starts))
        below = first_above(self._counts.value - offset, starts, which, rank) - starts[which]
        return np.asarray(np.where(in_class, found, rank + below), dtype=np.int64)


def _value_weights(scores: Floats, top: float, used: float) -> Ints:
    """Weights of scores, which are at most 1, in the ratio of exp(epsilon S / 2)."""
    exact = np.exp(used * (scores - 1) / 2) * top
    return np.asarray(np.maximum(np.ceil(exact), 1), dtype=np.int64)


def assemble(
    counts: Counts, left: Ints, suppressed: NDArray[np.bool_], which: Ints, values: Ints
) -> PerturbedCounts:
    """The anonymized records of a node.

    Args:
        counts: its original records.
        left: [e] how many of them were not removed.
        suppressed: [classes] whether each class is suppressed.
        which: [n] the class of each counterfeit.
        values: [n] its informative value.
    """
    owner = np.where(suppressed[counts.owner], SUPPRESSED, counts.owner)
    owners, value = np.concatenate([owner, which]), np.concatenate([counts.value, values])
    amounts = np.concatenate([left, np.ones(len(which), np.int64)])
    keys, place = np.unique((owners + 1) * counts.domain + value, return_inverse=True)
    total = np.bincount(place, amounts, minlength=len(keys)).astype(np.int64)
    shown = total > 0
    return PerturbedCounts(
        owner=(keys // counts.domain - 1)[shown],
        value=(keys % counts.domain)[shown],
        count=total[shown],
        counterfeits=np.bincount(which, minlength=counts.classes).astype(np.int64),
        suppressed=suppressed,
    )


def perturb(counts: Counts, budget: Budget, source: Source) -> PerturbedCounts:
    """Algorithm 1 at one node. Unless it is to be as printed, it inserts the *difference* of n' and
    n: the loop of line 18, ``for j = 1 to n'``, about doubles the class."""
    sizes = counts.sizes
    noise = source.laplace((budget.least - 1) / budget.suppression, counts.classes)
    suppressed = suppressed_classes(sizes, budget.least, noise)
    noise = source.laplace(1 / budget.insertion, counts.classes)
    changes = size_changes(sizes, suppressed, noise, printed=budget.printed)
    left = remaining_counts(counts, changes, source.uniform.words(key_count(counts, changes)))
    which = np.repeat(np.arange(counts.classes), np.maximum(changes, 0))
    choice = ValueChoice(counts, budget.value)
    values = choice.values(which, source.uniform.below(choice.totals[which]))
    return assemble(counts, left, suppressed, which, values)


def noisy_counts(cells: Ints, counts: Ints, noise: Ints) -> Ints:
    """[all cells] the count of every cell with its noise; ``counts`` are those of ``cells``."""
    found = noise.copy()
    found[cells] += counts
    return found


def recreate(counts: Counts, cells: Ints, noise: Ints) -> tuple[Counts, PerturbedCounts, Ints]:
    """Records made anew from the noisy counts of all (dimension cell, informative value) pairs.

    Args:
        counts: the original records, a class for each dimension cell that has some.
        cells: [classes] the number of that cell in the domain.
        noise: [all cells * counts.domain] of each pair, cell by cell.

    Returns:
        The original records and the new ones, by the classes of either, and [classes] their cells.
    """
    at = cells[counts.owner] * counts.domain + counts.value
    noisy = np.maximum(noisy_counts(at, counts.count, noise), 0)
    shown = np.flatnonzero(noisy)
    all_cells = np.union1d(shown // counts.domain, cells)
    before = np.zeros(len(noise), np.int64)
    before[at] = counts.count
    owner = np.searchsorted(all_cells, shown // counts.domain)
    extra = np.maximum(noisy - before, 0)[shown]
    original = Counts(
        np.searchsorted(all_cells, cells)[counts.owner], counts.value, counts.count,
        len(all_cells), counts.domain,
    )  # fmt: skip
    perturbed = PerturbedCounts(
        owner=owner,
        value=shown % counts.domain,
        count=noisy[shown],
        counterfeits=np.bincount(owner, extra, minlength=len(all_cells)).astype(np.int64),
        suppressed=np.zeros(len(all_cells), np.bool_),
    )
    return original, perturbed, all_cells


def roll_up(cells: Ints, maps: Sequence[Ints]) -> Ints:
    """Counts of the leaves [w_1, ..., w_d] at a node: leaf i of axis a becomes ``maps[a][i]``.

    Returns:
        [v_1, ..., v_d] with v_a the largest value of the map and one.
    """
    for axis, become in enumerate(maps):
        moved = np.moveaxis(cells, axis, 0)
        grouped = np.zeros((int(become.max()) + 1, *moved.shape[1:]), np.int64)
        np.add.at(grouped, become, moved)
        cells = np.moveaxis(grouped, 0, axis)
    return cells


@dataclass(frozen=True)
class Loss:
    """The information loss of one anonymized dataset."""

    ncp: float
    """Mean penalty of a dimension value, in [0, 1]."""
    emd: float
    """Distance of the distributions of informative values of a class, mean of all classes, in
    [0, 1]."""
    rate: float
    """Mean share of counterfeits in a class, in [0, 1]."""
    dimensions: int
    emd_records: float
    """Distance of the distributions of informative values of all records, in [0, 1]."""

    @property
    def il(self) -> float:
        """Equation 10."""
        return self.ncp + self.emd + self.rate

    @property
    def ncp_printed(self) -> float:
        """Equation 6 as it is printed: summed over the dimensions, so in [0, |A_dim|]."""
        return self.ncp * self.dimensions

    @property
    def il_printed(self) -> float:
        """Equation 10 with it."""
        return self.ncp_printed + self.emd + self.rate


def penalty(covered: Ints, leaves: Ints) -> Floats:
    """Equation 5: 0 for a leaf, else the share of the tree's leaves that a node covers."""
    return np.asarray(np.where(covered <= 1, 0.0, covered / leaves), dtype=np.float64)


def loss_of(counts: Counts, perturbed: PerturbedCounts, penalties: Floats, dimensions: int) -> Loss:
    """What the anonymized records of a node lose (equations 5 to 10).

    NCP is divided by the number of dimensions, too: the text has it between 0 and 1, which
    equation 6 as printed leaves. EMD and Rate are means over the equivalent classes of what is
    released, as equation 9 has it: the text calls EMD one "of two completely different equivalent
    classes", and the authors' code takes the mean over the classes. Suppressed records are one of
    these, in which every value is ``*``: nothing is inserted there and no informative value
    changes, so that it adds nothing but itself to their number. EMD over the informative values of
    all records is told beside it; it hides what one class gains and another loses.

    Args:
        counts: the original records at the node.
        perturbed: the anonymized ones.
        penalties: [classes] sum of equation 5 over the dimensions.
        dimensions: |A_dim|; a suppressed record is penalized 1 in each.
    """
    total = int(perturbed.count.sum())
    if total == 0:  # nothing is left: everything is lost
        return Loss(1.0, 1.0, 0.0, dimensions, 1.0)
    sizes = perturbed.sizes(counts.classes)
    hidden = total - int(sizes.sum())
    ncp = (float(sizes @ penalties) + hidden * dimensions) / (total * dimensions)
    before, after = (
        np.bincount(part.value, part.count, minlength=counts.domain) / part.count.sum()
        for part in (counts, perturbed)
    )
    shown = sizes > 0
    classes = int(shown.sum()) + (hidden > 0)
    rate = math.fsum(perturbed.counterfeits[shown] / sizes[shown]) / classes
    emd = math.fsum(class_distances(counts, perturbed)[shown]) / classes
    return Loss(ncp, emd, rate, dimensions, math.fsum(np.abs(before - after)) / 2)


def class_distances(counts: Counts, perturbed: PerturbedCounts) -> Floats:
    """[classes] equation 7 of each class: its original records and its anonymized ones.

    A class that had no record differs completely from what it has now: 1. Of a class that has none
    now, or is suppressed, the value means nothing.
    """
    known = perturbed.owner >= 0
    parts = (
        (counts.owner, counts.value, counts.count, counts.sizes),
        (
            perturbed.owner[known],
            perturbed.value[known],
            -perturbed.count[known],
            perturbed.sizes(counts.classes),
        ),
    )
    owners = np.concatenate([owner for owner, *_ in parts])
    keys = owners * counts.domain + np.concatenate([value for _, value, *_ in parts])
    shares = np.concatenate([count / size[owner] for owner, _, count, size in parts])
    pairs, place = np.unique(keys, return_inverse=True)
    differences = np.abs(np.bincount(place, shares, minlength=len(pairs)))
    of_class = np.bincount(pairs // counts.domain, differences, minlength=counts.classes)
    return np.asarray(np.where(counts.sizes > 0, of_class / 2, 1.0), dtype=np.float64)


def node_weight(il: float, epsilon: Fraction, nodes: int) -> int:
    """An integer in the ratio of exp(epsilon u / (2 Delta u)), u = 3 - IL (equations 11 and 12)."""
    top, used = weight_of_best(nodes, epsilon)
    return max(1, math.ceil(math.exp(-used * il / (2 * SENSITIVITY)) * top))


def expected_loss(
    sizes: Ints, penalties: Floats, dimensions: int, least: int, insertion: Fraction
) -> float:
    """About what IL would be, from noisy class sizes alone.

    EMD is taken as the share of counterfeits, which it cannot exceed.

    Args:
        sizes: [classes] noisy; what is below 0 counts as 0.
        penalties: [classes] equation 5, summed over the dimensions.
        dimensions: |A_dim|.
        least: t.
        insertion: epsilon of the counterfeits.
    """
    known = np.maximum(sizes, 0)
    total = int(known.sum())
    if total == 0:
        return float(SENSITIVITY)
    shown = known > least
    extra = float(1 / insertion) / 2  # the mean of the noise where it is positive, times one half
    hidden = int(known[~shown].sum())
    ncp = (float(known[shown] @ penalties[shown]) + hidden * dimensions) / (total * dimensions)
    added = extra * int(shown.sum())
    rate = float(np.sum(extra / (known[shown] + extra))) / (int(shown.sum()) + (hidden > 0))
    return ncp + added / (total + added) + rate
