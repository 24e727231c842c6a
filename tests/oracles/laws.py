"""Oracle of the laws of draws and of pseudonyms: sums and the standard library, term by term."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence


def laplace_mass(z: int, scale: float) -> float:
    """P(Z = z) of discrete Laplace noise."""
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** abs(z)


def near(middle: int, margin: int, scale: float, domain: tuple[int, int]) -> float:
    """The chance that a value with noise, cut to its domain, lies within a margin of itself."""
    reach = int(scale * 60) + abs(domain[1] - domain[0]) + abs(middle) + margin
    total = 0.0
    for z in range(-reach, reach + 1):
        shown = min(max(middle + z, domain[0]), domain[1])
        total += laplace_mass(z, scale) * (abs(shown - middle) <= margin)
    return total


def at_least(chances: Sequence[float], hits: int) -> float:
    """The chance that so many or more of independent events happen."""
    law = [1.0]
    for chance in chances:
        law = [
            (law[n] if n < len(law) else 0.0) * (1 - chance) + (law[n - 1] * chance if n else 0.0)
            for n in range(len(law) + 1)
        ]
    return sum(law[hits:])


def pseudonym(key: bytes, kind: str, name: str, quarter: str = "", attempt: int = 0) -> int:
    """53 bits of HMAC-SHA-256 (RFC 2104) of an id, as SPEC section 5 writes its text."""
    text = f"{kind}:{attempt}:{len(quarter.encode())}:{quarter}:{name}"
    digest = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return int(digest[:14], 16) >> 3
