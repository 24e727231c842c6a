"""Frequency tails: words by rank, drawn near a latent profile or from the whole.

The share of the word of rank r follows a rank-frequency curve, log-log linear between anchors:
those measured on the 2022Q4 sample (8,905 reports: 94,620 REAC, 47,423 known INDI, 15,278 DRUG
rows) and a tail beyond that keeps its counts of distinct terms and of terms seen once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from srsql.engine.synth.draws import Bools, Floats, Ints

Words = NDArray[np.object_]

CELLS = 200
"""Number of latent profiles; a case belongs to one, and its terms lean towards it."""

REACTION_CURVE = [
    (1, 0.0219), (3, 0.0124), (5, 0.0110), (10, 0.0087), (20, 0.00675), (50, 0.0033),
    (100, 0.0020), (200, 0.00094), (500, 0.00036), (1000, 0.000127), (2000, 0.000042),
    (3000, 0.0000190), (6000, 0.0000036), (14000, 0.0000005),
]  # fmt: skip
INDICATION_CURVE = [
    (1, 0.140), (2, 0.0567), (3, 0.0340), (5, 0.0264), (10, 0.0172), (20, 0.0072), (50, 0.0031),
    (100, 0.00183), (200, 0.00074), (500, 0.00019), (1000, 0.000063), (2000, 0.000014),
    (10000, 0.0000005),
]  # fmt: skip
DRUG_CURVE = [
    (1, 0.0230), (2, 0.0190), (5, 0.0130), (10, 0.0100), (20, 0.0070), (50, 0.0029),
    (100, 0.0017), (200, 0.00085), (500, 0.00026), (1000, 0.000115), (5000, 0.0000150),
    (40000, 0.0000012),
]  # fmt: skip


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling frequency, drawn from the whole or from near a profile.

    The words beyond the ``head`` most frequent stand on a line in random order, each as long as
    its frequency; a profile owns 1/``CELLS`` of the line. Drawing from the line with probability
    ``lean`` and from the rest of the frequencies otherwise leaves every word its frequency.
    """

    words: Words
    lean: float
    _all: Floats
    _line: Floats
    _order: Ints

    def positions(self, words: Sequence[str]) -> Ints:
        """Return the rank of each of some words."""
        return np.array([int(np.flatnonzero(self.words == word)[0]) for word in words])

    def anywhere(self, u: Floats) -> Ints:
        """Return words drawn without regard to profile."""
        return np.searchsorted(self._all, u, side="right").astype(np.int64)

    def at(self, place: Floats) -> Ints:
        """Return the words at places of [0, 1) on the line."""
        return self._order[np.searchsorted(self._line, place, side="right")]

    def near(self, cell: Ints, u: Floats) -> Ints:
        """Return words drawn from the stretch of the line each profile owns."""
        return self.at((cell + u) / CELLS)

    def draw(self, cell: Ints, local: Bools, u: Floats) -> Ints:
        """Return words near the profile where ``local``, from anywhere elsewhere."""
        return np.where(local, self.near(cell, u), self.anywhere(u))


def with_tail(words: Words, curve: list[tuple[int, float]], head: int, lean: float) -> Vocabulary:
    """Return words with the frequencies of a rank-frequency curve."""
    ranks, shares = np.log(np.array(curve, dtype=np.float64)).T
    p = np.exp(np.interp(np.log(np.arange(1, len(words) + 1)), ranks, shares))
    p /= p.sum()
    line = p.copy()
    line[:head] = 0
    line /= line.sum()
    rest = np.maximum(p - lean * line, 0)
    order = np.random.default_rng(len(words)).permutation(len(words))
    return Vocabulary(words, lean, _cumulative(rest), _cumulative(line[order]), order)


def _cumulative(p: Floats) -> Floats:
    total = np.cumsum(p)
    total /= total[-1]
    total[np.flatnonzero(p)[-1] :] = 1.0
    return np.asarray(total)
