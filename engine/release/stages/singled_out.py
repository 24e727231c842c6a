"""What known items single out is measured, for the public manifest."""

from __future__ import annotations

from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on
from srsql.engine.risk.singling_out import KERNELS, SOME_CASES, measure_singling_out
from srsql.udfs.kernels import load_kernels


def single_out(request: Request, made: Made) -> Tables:
    """Measure it on some cases."""
    current = made.current
    load_kernels([KERNELS] if current.visible_dataset.rows else [])
    made.exposed = measure_singling_out(
        current.warehouse, current.visible_dataset, current.release_id, SOME_CASES
    )
    return handed_on(SINGLED_OUT.writes)


SINGLED_OUT = Stage(
    "singling out",
    "What items of a case single its rows out is measured.",
    single_out,
    writes="original_term",
)
