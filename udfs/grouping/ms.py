"""The grouping of MS(k, theta*)-bounding (Lin 2016, Algorithms 1 and 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from srsql.udfs.grouping.greedy import Leftovers, group_cases
from srsql.udfs.problem import Attributes, Bounding, Cases, Ints


def ms_group(
    cases: Cases,
    attributes: Attributes,
    theta_num: Ints,
    theta_den: Ints,
    k: int,
    first: int,
    leftovers: Leftovers = "withhold",
) -> NDArray[np.int32]:
    """Group cases so that each group has >= k cases and sigma_s <= theta_s |g| for every term s.

    Arguments and result as for ``group_cases``; every case carries the bounds.
    """
    everyone = Bounding.of_all(len(cases.low))
    return group_cases(cases, attributes, theta_num, theta_den, k, first, everyone, leftovers)
