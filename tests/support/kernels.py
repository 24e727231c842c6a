"""Compiles the kernels that the workers would compile at the same time; see ``conftest.py``."""

from __future__ import annotations

from srsql.udfs.checks import witnesses
from srsql.udfs.grouping import leftover_values, partition
from srsql.udfs.risk import nearest_records, singling_out
from srsql.udfs.terms import warm_up_disassociation, warm_up_generalization


def compile_all() -> None:
    """All but those of grouping and refinement, with the types that the engine calls them with."""
    nearest_records.warm_up()
    singling_out.warm_up()
    partition.warm_up()
    leftover_values.warm_up()
    warm_up_disassociation()
    warm_up_generalization()
    witnesses.warm_up()


if __name__ == "__main__":
    compile_all()
