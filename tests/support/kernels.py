"""Compiles the kernels that the workers would compile at the same time; see ``conftest.py``."""

from __future__ import annotations

import sys

from srsql.udfs.checks import witnesses
from srsql.udfs.grouping import greedy, leftover_values, partition, refine
from srsql.udfs.risk import nearest_records, singling_out
from srsql.udfs.terms import warm_up_disassociation, warm_up_generalization

SHARES = {
    "refining": (nearest_records.warm_up, witnesses.warm_up, refine.warm_up),
    "others": (
        greedy.warm_up,
        singling_out.warm_up,
        partition.warm_up,
        leftover_values.warm_up,
        warm_up_disassociation,
        warm_up_generalization,
    ),
}
"""All kernels, with the types that the engine calls them with, in two shares of about one size."""


def compile_share(name: str) -> None:
    """Load a share of the kernels from the cache, or compile it."""
    for warm_up in SHARES[name]:
        warm_up()


if __name__ == "__main__":
    compile_share(sys.argv[1])
