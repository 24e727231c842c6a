"""What an anonymized node loses (Lee 2020, equations 5 to 12), and which node is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from srsql.udfs.choice import Floats, scale_of
from srsql.udfs.lattice.node_noise import Counts, Perturbed
from srsql.udfs.problem import Ints

SENSITIVITY = 3
"""Delta u: each of the three losses lies between 0 and 1."""


@dataclass(frozen=True)
class Loss:
    """The information loss of one anonymized dataset."""

    ncp: float
    """Mean penalty of a dimension value, in [0, 1]."""
    emd: float
    rate: float
    dimensions: int

    @property
    def il(self) -> float:
        """Equation 10."""
        return self.ncp + self.emd + self.rate

    @property
    def ncp_printed(self) -> float:
        """Equation 6 as it is printed: summed over the dimensions, so in [0, |A_dim|]."""
        return self.ncp * self.dimensions


def penalty(covered: Ints, leaves: Ints) -> Floats:
    """Equation 5: 0 for a leaf, else the share of leaves that a node covers."""
    return np.asarray(np.where(covered <= 1, 0.0, covered / leaves), dtype=np.float64)


def loss_of(counts: Counts, made: Perturbed, penalties: Floats, dimensions: int) -> Loss:
    """Equations 5 to 10.

    NCP is divided by the number of dimensions, too: the text has it between 0 and 1, which
    equation 6 as printed leaves. EMD compares the informative values of all records. Rate is the
    mean over the classes that have records and were not suppressed.

    Args:
        counts: the original records at the node.
        made: the anonymized ones.
        penalties: [classes] sum of equation 5 over the dimensions.
        dimensions: |A_dim|; a suppressed record is penalized 1 in each.
    """
    total = int(made.count.sum())
    if total == 0:  # nothing is left: everything is lost
        return Loss(1.0, 1.0, 0.0, dimensions)
    sizes = made.sizes(counts.classes)
    hidden = total - int(sizes.sum())
    ncp = (float(sizes @ penalties) + hidden * dimensions) / (total * dimensions)
    before, after = (
        np.bincount(part.value, part.count, minlength=counts.domain) / part.count.sum()
        for part in (counts, made)
    )
    shown = sizes > 0
    rates = made.counterfeits[shown] / sizes[shown]
    rate = math.fsum(rates) / len(rates) if len(rates) else 0.0
    return Loss(ncp, math.fsum(np.abs(before - after)) / 2, rate, dimensions)


def node_weight(il: float, epsilon: Fraction, nodes: int) -> int:
    """An integer in the ratio of exp(epsilon u / (2 Delta u)), u = 3 - IL (equations 11 and 12)."""
    one, used = scale_of(nodes, epsilon)
    return max(1, math.ceil(math.exp(-used * il / (2 * SENSITIVITY)) * one))
