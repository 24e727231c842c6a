"""Compiles the kernels that the workers would compile at the same time; see ``conftest.py``."""

from __future__ import annotations

import sys

from srsql.udfs import kernels

SHARES = {
    "refining": (
        "srsql.udfs.risk.nearest_records",
        "srsql.udfs.checks.witnesses",
        "srsql.udfs.grouping.refine",
    ),
    "others": (
        "srsql.udfs.grouping.greedy",
        "srsql.udfs.risk.singling_out",
        "srsql.udfs.grouping.partition",
        "srsql.udfs.grouping.leftover_values",
        "srsql.udfs.grouping.cohorts",
        "srsql.udfs.terms:warm_up_disassociation",
        "srsql.udfs.terms:warm_up_generalization",
        "srsql.udfs.terms:warm_up_permutations",
    ),
}
"""All kernels, with the types that the engine calls them with, in two shares of about one size."""


def compile_share(name: str) -> None:
    """Load a share of the kernels from the cache, or compile it, and say that it is kept: what is
    not said to be kept is interpreted for a few cases, in every worker anew."""
    kernels._load(SHARES[name])
    for mark in kernels._marks(SHARES[name]).values():
        mark.touch()


if __name__ == "__main__":
    compile_share(sys.argv[1])
