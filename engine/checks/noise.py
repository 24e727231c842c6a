"""The law of what was drawn: whether noise has the scale that is charged, and nobody's seed.

The catalog has both what a value was drawn around and what was drawn. Under the law that a release
claims, the chance that a draw falls within a margin is known of every draw, however it was cut to
its domain. The share of draws that do is compared with the mean of these chances. By Hoeffding 1963
(theorem 1) a share that is n times KL nats away from it, n draws long, has a chance of at most
exp(-n KL), whatever the single chances are: nothing is approximated.

A release fails where that chance is below ``FALSE_ALARM`` over all margins of an attribute: one
release in a million with ten attributes. Noise of a tenth of the scale is seen of some 30 draws
that no domain cuts, of 200 to 300 where the scale is three times the domain; fewer draws prove
nothing, and cannot be told from draws that are right. What a single draw decides (the node of
``ipa``), and a generator with a seed that nobody kept, cannot be told either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsql.engine.checks import Evidence, as_measures
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import query
from srsql.schemas.outside import json_of

TOPIC = "checks/noise"
FALSE_ALARM = 1e-7
"""Of all margins of one attribute, and of all that is compared of seeds: ten such are 1e-6."""
MARGINS = (0.0, 1 / 64, 1 / 16, 1 / 4, 1.0)
"""Within how many scales of its value a draw is looked for."""
SCORES = (0.0, 0.5, 0.75)
"""How much worse than the best node, in sensitivities, the node that is looked for may be."""
SEEDS = 16
"""Seeds from 0 on that are tried beside the one of the release."""
LEAST_WIDTH = {"sound": 1, "paper": 5, "printed": 0}
"""Granules of the range that noise is scaled to, at least; by calibration."""
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Margin:
    """How often a draw fell within one margin, and how often it should have."""

    draws: int
    hits: int
    expected: float

    @property
    def nats(self) -> float:
        """How far apart the two are: under the law at most with a chance of exp(-nats)."""
        return nats(self.draws, self.hits, self.expected)


def nats(draws: int, hits: int, expected: float) -> float:
    """``draws`` times the Kullback-Leibler divergence of two shares (Hoeffding 1963, theorem 1)."""
    if draws == 0:
        return 0.0
    share, due = hits / draws, min(max(expected / draws, 0.0), 1.0)
    total = 0.0
    for found, chance in ((share, due), (1 - share, 1 - due)):
        if found > 0:
            total += float("inf") if chance <= 0 else found * log(found / chance)
    return draws * max(total, 0.0)


def refused(margins: Sequence[Margin], among: int = 1) -> int:
    """How many of the margins the law cannot have, at one false alarm in 1 / ``FALSE_ALARM``.

    ``among``: how many such draws one was taken of, whose choice may have looked at them.
    """
    most = log(2 * among * max(len(margins), 1) / FALSE_ALARM)
    return sum(margin.nats > most + 1e-6 * margin.draws for margin in margins)


def laplace_below(values: Numbers, scales: Floats) -> Floats:
    """P(Z <= z) of discrete Laplace noise: P(Z = z) is proportional to exp(-|z| / scale)."""
    whole = 1 + np.exp(-1 / scales)
    above = 1 - np.exp(-(np.maximum(values, 0) + 1) / scales) / whole
    below = np.exp(np.minimum(values, 0) / scales) / whole
    return np.asarray(np.where(values >= 0, above, below), dtype=np.float64)


def margins_of_numbers(
    middle: Numbers, drawn: Numbers, scales: Floats, domain: tuple[int, int]
) -> list[Margin]:
    """How often numbers lie near their values, after noise was added and cut to the domain.

    Args:
        middle: [n] what noise was added to.
        drawn: [n] what is published.
        scales: [n] of the noise.
        domain: least and largest value that is published.
    """
    low, high = domain
    found = []
    for part in MARGINS:
        margin = np.floor(scales * part).astype(np.int64)
        upper = np.where(middle + margin >= high, 1.0, laplace_below(margin, scales))
        lower = np.where(middle - margin <= low, 0.0, laplace_below(-margin - 1, scales))
        near = np.abs(drawn - middle) <= margin
        # a value outside of the domain is cut, too: what is near it may be nothing at all
        inside = (middle + margin >= low) & (middle - margin <= high)
        chances = np.where(inside, upper - lower, 0.0)
        found.append(Margin(len(middle), int(near.sum()), float(chances.sum())))
    return found


class Tree:
    """A hierarchy by preorder numbers: every node, its last descendant and its depth."""

    def __init__(self, rows: Iterable[tuple[int, int, int]]) -> None:
        listed = sorted(rows)
        self.last = {pre: last for pre, last, _ in listed}
        self.depth = {pre: depth for pre, _, depth in listed}
        self.nodes = list(self.last)

    def above(self, node: int) -> list[int]:
        """The node and its ancestors, the root first."""
        return [each for each in self.nodes if each <= node <= self.last[each]]

    def loss(self, one: int, other: int, top: int) -> float:
        """1 - |shared| / |all| of the paths up to ``top`` (Wu 2022, section IV.C)."""
        paths = [{each for each in self.above(node) if each >= top} for node in (one, other)]
        return 1 - len(paths[0] & paths[1]) / len(paths[0] | paths[1])

    def chances(
        self, values: Sequence[int], epsilon: float, *, paper: bool
    ) -> tuple[dict[int, float], dict[int, float]]:
        """The chance of each candidate, and its score less the best one in sensitivities."""
        if paper:
            shared = set(self.above(values[0])).intersection(*map(self.above, values))
            top = max(shared, key=self.depth.__getitem__)
            listed = sorted({n for value in values for n in self.above(value) if n >= top})
        else:
            top, listed = self.nodes[0], self.nodes
        losses = {node: [self.loss(value, node, top) for value in values] for node in listed}
        every = [loss for each in losses.values() for loss in each]
        sensitivity = (max(every) - min(every)) if paper else 1.0
        best = min(map(sum, losses.values()))
        worse = {n: (sum(each) - best) / (sensitivity or 1.0) for n, each in losses.items()}
        weights = {node: np.exp(-epsilon * each / 2) for node, each in worse.items()}
        total = sum(weights.values())
        return {node: float(each / total) for node, each in weights.items()}, worse


def margins_of_choices(
    tree: Tree, rows: Iterable[tuple[list[int], int, int]], epsilon: float, *, paper: bool
) -> list[Margin]:
    """How often a node that is about the best one was chosen.

    Args:
        tree: of the category.
        rows: the values that the choice is for, the node that was chosen, how many cases have both.
        epsilon: of a choice.
        paper: whether candidates and sensitivity are those of Wu 2022.
    """
    known: dict[tuple[int, ...], Any] = {}
    draws, hits, due = 0, [0] * len(SCORES), [0.0] * len(SCORES)
    for values, drawn, cases in rows:
        key = tuple(values)
        if key not in known:
            known[key] = tree.chances(key, epsilon, paper=paper)
        chances, worse = known[key]
        draws += cases
        for at, score in enumerate(SCORES):
            good = {node for node, each in worse.items() if each <= score + 1e-9}
            hits[at] += cases * (drawn in good)
            due[at] += cases * min(1.0, sum(chances[node] for node in good))
    return [Margin(draws, hits[at], due[at]) for at in range(len(SCORES))]


@dataclass(frozen=True)
class Perturbed:
    """One attribute that a release drew, as the catalog has it."""

    position: int
    name: str
    numeric: bool
    calibration: str
    noise: str
    epsilon: Fraction

    @property
    def by_group(self) -> bool:
        """Whether range and candidates are those of the group (Wu 2022)."""
        return self.calibration != "sound"


def perturbed_attributes(evidence: Evidence) -> list[Perturbed]:
    """What a release drew, in the order of the schema."""
    rows = evidence.release.warehouse.rows(
        query(TOPIC, "perturbation"), {"release": evidence.release.release_id}
    )
    return [
        Perturbed(position, name, mechanism == "discrete laplace", calibration, noise,
                  Fraction(num, den))
        for position, name, mechanism, calibration, noise, num, den in rows
    ]  # fmt: skip


def check_noise(evidence: Evidence) -> list[Measure]:
    """The draws of every attribute, against the law of what is charged for them."""
    release, found = evidence.release, list[MeasureRow]()
    for each in perturbed_attributes(evidence):
        if each.numeric:
            middle, drawn, scales = _numbers(evidence, each)
            domain, has = _domain(evidence, each), scales > 0
            margins = margins_of_numbers(middle[has], drawn[has], scales[has], domain)
            if not has.all():  # without noise a value is what it was
                as_is = np.clip(middle[~has], *domain) == drawn[~has]
                margins.append(Margin(len(as_is), int(as_is.sum()), float(len(as_is))))
        else:
            of = {"dataset": release.dataset.name, "attribute": each.name}
            tree = Tree(release.warehouse.rows(query(TOPIC, "nodes"), of))
            asked = {"release": release.release_id, "position": each.position,
                     "by_group": each.by_group}  # fmt: skip
            rows = release.warehouse.rows(query(TOPIC, "choices"), asked)
            margins = margins_of_choices(tree, rows, float(each.epsilon), paper=each.by_group)
        found.append(told(evidence, "check_noise", f"law of {each.name}", margins))
    return as_measures(found)


def told(
    evidence: Evidence, name: str, scope: str, margins: Sequence[Margin], among: int = 1
) -> MeasureRow:
    """The uniform row of a law; see ``refused``."""
    return row(evidence, name, scope, refused(margins, among), len(margins))


def row(evidence: Evidence, name: str, scope: str, violating: int, total: int) -> MeasureRow:
    """A uniform row that passes where nothing is violating."""
    share = violating / total if total else None
    return MeasureRow(evidence.release.release_id, name, scope, float(violating), float(total),
                      share, 0.0, violating == 0)  # fmt: skip


def _numbers(evidence: Evidence, each: Perturbed) -> tuple[Numbers, Numbers, Floats]:
    """Values, draws and the scales of their noise, in the order of the cases."""
    asked = {"release": evidence.release.release_id, "position": each.position}
    rows = evidence.release.warehouse.con.execute(query(TOPIC, "numbers"), asked).fetchnumpy()
    middle, drawn, width = (np.asarray(values, dtype=np.int64) for values in rows.values())
    low, high = _domain(evidence, each)
    if not each.by_group:
        width = np.full(len(middle), high - low, np.int64)
    width = np.maximum(width, LEAST_WIDTH[each.calibration])
    return middle, drawn, width / float(each.epsilon)


def _domain(evidence: Evidence, each: Perturbed) -> tuple[int, int]:
    """The declared ends in granules; without, what was drawn (its own check refuses that)."""
    ends = evidence.release.dataset.qid[each.position].ends
    return ends if ends is not None else (-(2**62), 2**62)


def check_fresh(evidence: Evidence) -> list[Measure]:
    """That draws which pass for secure are neither those of a seed nor those of another release."""
    found = []
    for each in perturbed_attributes(evidence):
        if not each.numeric or each.noise != "secure":
            continue
        domain = _domain(evidence, each)
        asked = {"release": evidence.release.release_id, "position": each.position,
                 "low": domain[0], "high": domain[1]}  # fmt: skip
        ((pairs, same),) = evidence.release.warehouse.rows(query(TOPIC, "drawn_elsewhere"), asked)
        middle, drawn, scales = _numbers(evidence, each)
        has = scales > 0
        middle, drawn, scales = middle[has], drawn[has], scales[has]
        seeded = any(
            _repeats(seed, middle, drawn, scales, domain)
            for seed in seeds_of(evidence, f"noise/{each.position}")
        )
        alike = False
        if len(scales):
            likeliest = float(np.tanh(1 / (2 * scales.min())))
            alike = same > pairs * likeliest and nats(
                pairs, same, pairs * likeliest
            ) > log(1 / FALSE_ALARM)  # fmt: skip
        found.append(
            row(evidence, "check_fresh", f"draws of {each.name}", int(seeded) + int(alike), 2)
        )
    if not found:
        found.append(row(evidence, "check_fresh", "draws of numbers", 0, 0))
    return as_measures(found)


def seeds_of(evidence: Evidence, use: str) -> Iterator[int]:
    """What a generator may have been started with: small numbers, and what an experiment takes for
    the seed of the release and for small ones."""
    told = manifest_of(evidence)
    release = evidence.release
    for seed in (told.get("seed"), *range(SEEDS)):
        text = f"{seed}/{release.dataset.name}/{release.quarter}/{use}"
        yield int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
    yield from (seed for seed in (told.get("seed"), 42, *range(SEEDS)) if isinstance(seed, int))


def manifest_of(evidence: Evidence) -> dict[str, Any]:
    """What the private manifest of a release tells."""
    asked = {"release": evidence.release.release_id}
    found = json_of(evidence.release.warehouse.value(query(TOPIC, "told"), asked))
    return found if isinstance(found, dict) else {}


def _repeats(
    seed: int, middle: Numbers, drawn: Numbers, scales: Floats, domain: tuple[int, int]
) -> bool:
    """Whether a generator started so gives these draws, which by chance it would never."""
    noise = seeded_laplace(seed, scales)
    again = np.clip(middle + noise, *domain)
    if not len(again) or not bool((again == drawn).all()):
        return False
    inner = (drawn > domain[0]) & (drawn < domain[1])
    # each equal draw within the domain has a chance of 1 / scale at most, one at an end of 1
    return bool(np.log(np.maximum(scales[inner], 1)).sum() > log(1 / FALSE_ALARM))


def seeded_laplace(seed: int, scales: Floats) -> Numbers:
    """[n] the difference of two geometric variables of a NumPy generator."""
    generator = np.random.default_rng(seed)
    chance = -np.expm1(-1 / scales)
    first, second = generator.geometric(chance), generator.geometric(chance)
    return np.asarray(first.astype(np.int64) - second, dtype=np.int64)
