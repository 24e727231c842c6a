"""Randomness of the perturbing models: discrete Laplace noise and uniform words.

Two sources. ``secure`` (seed None) is OpenDP: its exact discrete Laplace sampler (integers and
rationals only, so that no floating-point attack applies; Canonne, Kamath and Steinke 2020) and its
cryptographically secure generator, which nobody can seed. ``seeded`` is a NumPy generator for
experiments: whoever learns the seed takes the noise off again.
"""

from __future__ import annotations

import ctypes
import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.problem import Ints

FARTHEST = 2**62
"""Noise is cut here, so that it can be added to a value in 64 bits."""
_PART = 20_000
"""Draws per call of the library, so that every processor has some."""

Words = NDArray[np.uint64]


def laplace_noise(numerators: Ints, denominators: Ints, seed: int | None) -> Ints:
    """Independent draws Z with P(Z = z) proportional to exp(-|z| / scale), z in granules.

    Args:
        numerators: [n] of each draw's scale, above 0.
        denominators: [n] likewise.
        seed: of the NumPy generator; None: OpenDP with its secure generator.

    Returns:
        [n] draws. The scale of a secure draw is the fraction rounded up to a double.

    Raises:
        ValueError: a scale is not above 0.
    """
    if bool((numerators < 1).any() or (denominators < 1).any()):
        raise ValueError("a scale of noise must be above 0")
    if seed is not None:
        return _seeded_laplace(numerators / denominators, np.random.default_rng(seed))
    noise = np.empty(len(numerators), np.int64)
    scales, which = np.unique(np.stack([numerators, denominators]), axis=1, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(scales.shape[1] + 1))
    parts = [
        (conservative_scale(int(num), int(den)), order[start : min(start + _PART, stop)])
        for (num, den), first, stop in zip(scales.T, ends[:-1], ends[1:], strict=True)
        for start in range(int(first), int(stop), _PART)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        drawn = pool.map(lambda part: _secure_laplace(part[0], len(part[1])), parts)
        for (_, rows), draws in zip(parts, drawn, strict=True):
            noise[rows] = draws
    return noise


def conservative_scale(numerator: int, denominator: int) -> float:
    """The fraction as a double that is not below it, so that no draw has too little noise."""
    return math.nextafter(numerator / denominator, math.inf)


def _secure_laplace(scale: float, count: int) -> Ints:
    """Draws of OpenDP's discrete Laplace measurement over 64-bit integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=scale)
    draws = np.array(measurement([0] * count), dtype=np.int64)
    return np.asarray(np.clip(draws, -FARTHEST, FARTHEST), dtype=np.int64)


def _seeded_laplace(scales: NDArray[np.float64], generator: np.random.Generator) -> Ints:
    """A discrete Laplace variable is the difference of two geometric ones."""
    chance = -np.expm1(-1 / scales)
    first, second = generator.geometric(chance), generator.geometric(chance)
    noise = np.clip(first.astype(np.int64) - second, -FARTHEST, FARTHEST)
    return np.asarray(noise, dtype=np.int64)


class Uniform:
    """A stream of uniform 64-bit words."""

    def __init__(self, seed: int | None) -> None:
        self._generator = None if seed is None else np.random.default_rng(seed)

    def words(self, count: int) -> Words:
        """[count] independent words, uniform over 0 .. 2**64 - 1."""
        if self._generator is not None:
            return self._generator.integers(0, 2**64, count, dtype=np.uint64)
        return _secure_words(count)

    def below(self, totals: Ints) -> Ints:
        """[n] independent integers, the i-th uniform over 0 .. totals[i] - 1; totals above 0.

        Words of the incomplete last cycle are drawn again, so that no value is likelier.
        """
        sizes = totals.astype(np.uint64)
        excess = (np.uint64(0) - sizes) % sizes
        drawn = self.words(len(sizes))
        while len(again := np.flatnonzero(drawn < excess)):
            drawn[again] = self.words(len(again))
        return (drawn % sizes).astype(np.int64)


def _secure_words(count: int) -> Words:
    """Bytes of OpenDP's secure generator."""
    from opendp._data import fill_bytes

    words = np.empty(count, np.uint64)
    pointer = ctypes.cast(words.ctypes.data, ctypes.POINTER(ctypes.c_uint8))
    if not fill_bytes(pointer, words.nbytes):
        raise OSError("the secure generator of the system gave no random bytes")
    return words
