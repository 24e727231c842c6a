"""IPA at one node of the lattice: suppression, counterfeits, their values (Lee 2020, Algorithm 1).

A node's records are counts: entry ``e`` says that ``count[e]`` records of class ``owner[e]`` have
the informative value ``value[e]``. Every step takes its draws as arrays, so that a test can fix
them; ``perturb`` takes them from a source.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.choice import Floats, scale_of
from srsql.udfs.lattice.segments import first_above, list_totals, running_totals
from srsql.udfs.noise import Uniform, Words, laplace_noise
from srsql.udfs.problem import Ints

SUPPRESSED = -1
"""The class of suppressed records: every dimension is ``*``."""


@dataclass(frozen=True)
class Counts:
    """Records of a node, by class and informative value."""

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
class Perturbed:
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
    insertion: Fraction
    value: Fraction


class Source:
    """Where the draws of a release come from: OpenDP, or for experiments a seed."""

    def __init__(self, seed: int | None) -> None:
        self._seeds = None if seed is None else np.random.default_rng(seed)
        self.uniform = Uniform(None if seed is None else self.seed())

    def seed(self) -> int | None:
        """A seed for another generator; None: the secure one."""
        return None if self._seeds is None else int(self._seeds.integers(2**63))

    def laplace(self, scale: Fraction, count: int) -> Ints:
        """[count] discrete Laplace draws; a scale of 0 draws zeros."""
        if scale == 0:
            return np.zeros(count, np.int64)
        numerators = np.full(count, scale.numerator, np.int64)
        denominators = np.full(count, scale.denominator, np.int64)
        return laplace_noise(numerators, denominators, self.seed())


def suppressed_classes(sizes: Ints, least: int, noise: Ints) -> NDArray[np.bool_]:
    """Definition 3: |E_i| <= t + noise_i, the noise Lap((t - 1) / epsilon) of each class."""
    return np.asarray(sizes <= least + noise, dtype=np.bool_)


def size_changes(sizes: Ints, suppressed: NDArray[np.bool_], noise: Ints) -> Ints:
    """How many records each class gains, or loses where the noise Lap(1 / epsilon) is negative.

    No class loses more than it has, and suppressed ones are left as they are (lines 14 to 17).
    """
    return np.asarray(np.where(suppressed, 0, np.maximum(noise, -sizes)), dtype=np.int64)


def without_removed(counts: Counts, changes: Ints, keys: Words) -> Ints:
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


def keys_needed(counts: Counts, changes: Ints) -> int:
    """How many words ``without_removed`` needs."""
    return int(counts.count[changes[counts.owner] < 0].sum())


class ValueChoice:
    """The exponential mechanism over informative values, for every class (equations 3 and 4).

    Weights are integers in the ratio of exp(epsilon S / 2), with Delta S = 1.
    """

    def __init__(self, counts: Counts, epsilon: Fraction) -> None:
        self._counts, self._starts = counts, counts.starts
        one, used = scale_of(counts.domain, epsilon)
        sizes, self.absent = counts.sizes, counts.domain - np.diff(self._starts)
        held = counts.count / (sizes[counts.owner] + 1)
        other = 1 / ((sizes + 1) * np.maximum(self.absent, 1))
        self.held = _weights(held, one, used)
        self.other = np.where(self.absent > 0, _weights(other, one, used), 0)
        self._running = running_totals(self.held, self._starts)
        self.totals: Ints = list_totals(self.held, self._starts) + self.absent * self.other

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
        of_held = list_totals(self.held, starts)[which]
        rank = np.where(in_class, 0, (points - of_held) // np.maximum(self.other[which], 1))
        # the rank-th value that the class does not have: every held one below it moves it up
        offset = np.arange(len(self._counts.value)) - np.repeat(starts[:-1], np.diff(starts))
        below = first_above(self._counts.value - offset, starts, which, rank) - starts[which]
        return np.asarray(np.where(in_class, found, rank + below), dtype=np.int64)


def _weights(scores: Floats, one: float, used: float) -> Ints:
    """Scores are at most 1."""
    exact = np.exp(used * (scores - 1) / 2) * one
    return np.asarray(np.maximum(np.ceil(exact), 1), dtype=np.int64)


def assemble(
    counts: Counts, left: Ints, suppressed: NDArray[np.bool_], which: Ints, values: Ints
) -> Perturbed:
    """Real records that are left, suppressed ones, and counterfeits, as counts."""
    owner = np.where(suppressed[counts.owner], SUPPRESSED, counts.owner)
    owners, named = np.concatenate([owner, which]), np.concatenate([counts.value, values])
    amounts = np.concatenate([left, np.ones(len(which), np.int64)])
    keys, place = np.unique((owners + 1) * counts.domain + named, return_inverse=True)
    total = np.bincount(place, amounts, minlength=len(keys)).astype(np.int64)
    kept = total > 0
    return Perturbed(
        owner=(keys // counts.domain - 1)[kept],
        value=(keys % counts.domain)[kept],
        count=total[kept],
        counterfeits=np.bincount(which, minlength=counts.classes).astype(np.int64),
        suppressed=suppressed,
    )


def perturb(counts: Counts, budget: Budget, source: Source) -> Perturbed:
    """Algorithm 1 at one node. It inserts the *difference* of n' and n, where the printed loop
    ``for j = 1 to n'`` would about double the class."""
    sizes = counts.sizes
    noise = source.laplace((budget.least - 1) / budget.suppression, counts.classes)
    suppressed = suppressed_classes(sizes, budget.least, noise)
    changes = size_changes(sizes, suppressed, source.laplace(1 / budget.insertion, counts.classes))
    left = without_removed(counts, changes, source.uniform.words(keys_needed(counts, changes)))
    which = np.repeat(np.arange(counts.classes), np.maximum(changes, 0))
    choice = ValueChoice(counts, budget.value)
    values = choice.values(which, source.uniform.below(choice.totals[which]))
    return assemble(counts, left, suppressed, which, values)
