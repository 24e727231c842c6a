"""Synthetic FAERS-layout quarters that imitate the real ones.

Every draw is a function of the seed and the case (``draws``), so a quarter needs no other quarter:
cases and their versions (``population``), what is known of a person (``demographics``), sets of
terms (``children``, ``tails``, ``vocabulary``), tables, layouts and archives. Row counts are exact.

Measured on the real samples, and on a synthetic 2022Q4 and 2011Q4 at scale 1 with seed 0:

==========================================  ==================  ==================
quantity                                    real                synthetic
==========================================  ==================  ==================
age, weight and sex known, 2022Q4           27.7 %              27.7 %
the same, legacy                            30.6 % (2010Q3)     30.5 % (2011Q4)
age and sex known, weight not, 2022Q4       45.4 %              44.6 %
rows superseded within three years, legacy  27.7 % (all years)  25.2 %
the same, current                           13.9 % (all years)  11.8 %
INDI rows of unknown indication, 2022Q4     41.2 %              41.0 %
most frequent reaction, share of rows       2.2 %               2.3 %
10th, 100th, 1000th reaction                .87, .20, .013 %    .98, .17, .013 %
distinct reactions in 94,620 rows           4,830               5,676
of them seen once                           1,625               2,257
most frequent known indication              14.0 %              12.6 %
distinct indications in 80,625 rows         1,867               2,062
of them seen once                           572                 679
largest set of drugs, of reactions          422, 173            422, 200
age in years: quartiles                     44, 59, 69          43, 58, 69
weights with a decimal fraction             36 %                35 %
==========================================  ==================  ==================

The 2022Q4 sample holds only follow-ups of old cases, whose sets are longer than the average
(10.7 reactions a report; all of 2022Q4 has 3.3 a report, which is what is imitated).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from srsql.engine.parameters.calls import strict
from srsql.engine.synth.columns import Column
from srsql.engine.synth.draws import Draws
from srsql.engine.synth.layouts import (
    archive_name,
    byte_order_mark,
    columns_of,
    headers,
    member_name,
)
from srsql.engine.synth.population import deleted_cases
from srsql.engine.synth.quarters import (
    LEGACY_END,
    Plan,
    SynthError,
    index_of,
    label_of,
    quarter_range,
    real_counts,
)
from srsql.engine.synth.tables import quarter_of, tables
from srsql.engine.synth.write import archive, lines

__all__ = ["SynthError", "quarter_range", "synthesize"]


@strict(SynthError)
def synthesize(
    out: str | Path,
    quarters: Sequence[str],
    *,
    cases: int | None = None,
    scale: float | None = None,
    seed: int = 0,
    zipped: bool = True,
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write one archive per quarter into ``out`` and return their paths.

    ``cases`` gives every quarter so many new cases, plus the follow-ups of earlier ones;
    ``scale`` takes each quarter's real row counts times ``scale``, exactly. A quarter is the same
    bytes whatever other quarters are asked for. An equal archive that exists is kept.

    Raises SynthError (one line) for quarters or sizes that cannot be made, and for a different
    archive of the same name.
    """
    indexes = [index_of(label) for label in quarters]
    plan = _checked(Plan(seed, cases, scale), indexes)
    written = []
    for index in indexes:
        if progress is not None:
            progress(label_of(index))
        written.append(_write(Path(out), plan, index, zipped=zipped))
    return written


def _checked(plan: Plan, indexes: list[int]) -> Plan:
    if (plan.cases is None) == (plan.scale is None):
        raise SynthError("give either cases or scale")
    if plan.cases is not None and plan.cases < 1:
        raise SynthError(f"cases must be at least 1, not {plan.cases}")
    if plan.scale is not None:
        if not 0 < plan.scale <= 100:
            raise SynthError(f"scale must be above 0 and at most 100, not {plan.scale}")
        for index in indexes:
            if index not in real_counts():
                raise SynthError(f"{label_of(index)} has no real row counts; give cases instead")
    return plan


def _write(out: Path, plan: Plan, index: int, *, zipped: bool) -> Path:
    target = out / (archive_name(index) + (".zip" if zipped else ""))
    draws, legacy = Draws(plan.seed), index < LEGACY_END
    with archive(target, zipped=zipped) as sink:
        for table, columns, rows in tables(quarter_of(plan, draws, index)):
            header = headers(index)[table]
            wanted: list[Column] = [columns[name] for name in columns_of(header)]
            start = byte_order_mark(index, table) + header.encode()
            sink.add(member_name(index, table), lines(start, wanted, rows, trailing=legacy))
        gone = deleted_cases(plan, draws, index)
        if gone.size:
            text = "".join(f"{case}\r\n" for case in np.sort(gone).tolist())
            sink.add(member_name(index, "delete"), [text.encode()])
    return target
