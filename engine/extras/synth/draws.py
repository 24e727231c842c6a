"""Counter-based randomness: every draw is a function of (seed, case, purpose, position).

Nothing is remembered from one quarter to the next: the versions of a case agree with one
another because each of them asks the same questions and gets the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_LOW32 = np.uint64(0xFFFFFFFF)


def mix(words: Keys) -> Keys:
    """SplitMix64's finalizer (Steele, Lea and Flood 2014), element by element."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _salt(purpose: str) -> int:
    value = 0xCBF29CE484222325
    for byte in purpose.encode():
        value = ((value ^ byte) * 0x100000001B3) & _WORD
    return value


@dataclass(frozen=True)
class Draws:
    """The random function of one seed; ``purpose`` names keep the streams apart."""

    seed: int

    def keys(self, ids: Ints) -> Keys:
        """Return a 64-bit key for each id, the same wherever the id comes up again."""
        start = np.uint64((self.seed * _GOLDEN + _salt("case")) & _WORD)
        return mix(mix(ids.astype(np.uint64) + start) ^ start)

    def bits(self, keys: Keys, purpose: str, position: Ints | int = 0) -> Keys:
        """Return 64 random bits for each key.

        Args:
            keys: see ``keys``.
            purpose: the name of the stream.
            position: the place within the stream, one for all keys or one for each.
        """
        step = np.asarray(position, dtype=np.int64).astype(np.uint64) * np.uint64(_GOLDEN)
        return mix((keys ^ np.uint64(_salt(purpose))) + step)

    def unit(self, keys: Keys, purpose: str, position: Ints | int = 0) -> Floats:
        """Return uniform numbers of [0, 1); the arguments are those of ``bits``."""
        return to_unit(self.bits(keys, purpose, position))

    def normal(self, keys: Keys, purpose: str) -> Floats:
        """Return standard normal numbers (Box-Muller on the two halves of one word)."""
        words = self.bits(keys, purpose)
        radius = np.sqrt(-2.0 * np.log(((words >> np.uint64(32)).astype(np.float64) + 1) / 2**32))
        return np.asarray(
            radius * np.cos((words & _LOW32).astype(np.float64) * (2 * np.pi / 2**32))
        )


def to_unit(words: Keys) -> Floats:
    """Return the upper 53 bits as uniform numbers of [0, 1)."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fields(words: Keys, count: int) -> list[Floats]:
    """Split each word into ``count`` (at most 4) independent uniform numbers of 16 bits."""
    mask = np.uint64(0xFFFF)
    return [
        ((words >> np.uint64(16 * i)) & mask).astype(np.float64) * 2.0**-16 for i in range(count)
    ]


def pick(shares: list[float], u: Floats) -> Ints:
    """Return the index of the share each uniform number falls into (the last takes the rest)."""
    edges = np.cumsum(np.asarray(shares, dtype=np.float64))[:-1]
    return np.searchsorted(edges, u, side="right").astype(np.int64)
