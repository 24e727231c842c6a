"""Oracle of the perturbing models, from the text of Wu 2022, section IV, and SPEC section 10.

Hierarchies are the label trees of ``oracles.trees``; scores are exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

from oracles.trees import Tree


def phi(tree: Tree, node: str, top: str) -> set[str]:
    """The node and its ancestors within the subtree of ``top``."""
    path = tree.path(node)
    return set(path[: path.index(top) + 1])


def distortion(tree: Tree, u: str, v: str, top: str) -> Fraction:
    """IL_c(u, v)."""
    one, other = phi(tree, u, top), phi(tree, v, top)
    return Fraction(len(one | other) - len(one & other), len(one | other))


def candidates(tree: Tree, dom: Iterable[str]) -> set[str]:
    """psi: the values and their ancestors in the smallest subtree that has them all."""
    values = list(dom)
    top = tree.meeting(values)
    return {node for value in values for node in phi(tree, value, top)}


def score(tree: Tree, dom: Iterable[str], v: str) -> Fraction:
    """q(v), over u in dom as defined (the paper's example sums over psi without v)."""
    values = list(dom)
    top = tree.meeting(values)
    return sum((distortion(tree, u, v, top) for u in values), Fraction(0))


def sensitivity(tree: Tree, dom: Iterable[str]) -> Fraction:
    """dq: max - min of IL_c over u in dom and v in psi."""
    values = list(dom)
    top = tree.meeting(values)
    losses = [distortion(tree, u, v, top) for u in values for v in candidates(tree, values)]
    return max(losses) - min(losses)


def paper_chances(tree: Tree, dom: Iterable[str], epsilon: Fraction) -> dict[str, float]:
    """Probability of each candidate; a single one is certain."""
    values = list(dom)
    found = candidates(tree, values)
    if len(found) == 1:
        return dict.fromkeys(found, 1.0)
    dq = sensitivity(tree, values)
    return _normalized(
        {v: math.exp(float(-epsilon * score(tree, values, v) / (2 * dq))) for v in found}
    )


def sound_chances(tree: Tree, value: str, epsilon: Fraction) -> dict[str, float]:
    """Probability of every node of the tree for the record's own value, dq = 1."""
    return _normalized(
        {
            v: math.exp(float(-epsilon * distortion(tree, value, v, tree.root) / 2))
            for v in tree.above
        }
    )


def _normalized(weights: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


def laplace_cdf(z: int, scale: float) -> float:
    """P(Z <= z) of the discrete Laplace distribution, P(z) proportional to exp(-|z| / scale)."""
    ratio = math.exp(-1 / scale)
    if z < 0:
        return ratio ** (-z) / (1 + ratio)
    return 1 - ratio ** (z + 1) / (1 + ratio)


def merged(groups: Sequence[Sequence[int]], generalized: Sequence[Hashable]) -> list[list[int]]:
    """Groups with equal generalized categories become one, in the order of the first."""
    found: dict[Hashable, list[int]] = {}
    for members, key in zip(groups, generalized, strict=True):
        found.setdefault(key, []).extend(members)
    return [sorted(members) for members in found.values()]


def covering(tree: Tree, members: Iterable[str], earlier: Iterable[str]) -> str:
    """QID^C-covering, then generalization: the node over the members and their earlier nodes."""
    return tree.meeting([*members, *earlier])
