"""The rounds of an advice: few settings on a small sample, then all; what is said meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from srsql.engine.catalog.series import stored_parameters
from srsql.engine.extras.study.choice import Bounds, judge, recommend
from srsql.engine.extras.study.grid import Cell, Rules
from srsql.engine.extras.study.results import Row, read_cell
from srsql.engine.extras.study.run import Workers, fingerprint, jobs_of, run
from srsql.engine.extras.study.settings import Setting, is_weaker, plain_cells, setting, twins
from srsql.engine.interruption import Interruption
from srsql.engine.release.request import make_request
from srsql.engine.release.stages.opening import kernels
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.udfs.caches import COMPILING
from srsql.udfs.kernels import INTERPRETED, compile_apart

FORMAT = 3
"""Of the files of measured settings; another one measures every setting anew."""
FEW = 2_000
"""Cases of the first round. Their groups are made in seconds, also by kernels that were never
compiled, which takes a minute or two."""
SECONDS, SECONDS_PER_CASE = 5.0, 0.00025
"""Processor time that a setting usually takes: the start of its process, and what grows with its
cases. Measured: 5.4 s with 2,000 synthetic cases, 8 s with 12,400."""
NEAREST = "srsql.udfs.risk.nearest_records"
"""Kernels of RR, which is measured on whole quarters."""
Sample = tuple[int, int] | None
"""Cases and seed; None: the whole quarter."""


@dataclass(frozen=True)
class Trial:
    """On what settings are measured, and by what."""

    warehouse: Warehouse
    dataset: Dataset
    quarter: str
    series: str
    workers: Workers
    folder: Path
    """Of measured settings."""
    seeded: bool
    """The release will be made with the seed that is measured."""
    advised: Callable[[Sequence[Setting]], str]
    """What is to be recommended of the settings that are measured so far."""


@dataclass
class Counted:
    """How many settings a run has measured."""

    settings: int = 0


def first_cells(cells: Sequence[Cell], risk: Fraction | None) -> list[Cell]:
    """What is tried first: of settings that differ in k alone the one of the least k that promises
    the bound on the risk (else the largest); of twins the one that promises more.

    Args:
        cells: all that are to be tried.
        risk: the bound; None: there is none.
    """
    best: dict[str, Cell] = {}
    for cell in plain_cells(cells):
        key = repr([option for option in cell.options if option[0] != "k"])
        if key not in best or _eager(cell, risk) < _eager(best[key], risk):
            best[key] = cell
    return list(best.values())


def _eager(cell: Cell, risk: Fraction | None) -> tuple[bool, int]:
    k = int(dict(cell.options)["k"])
    enough = risk is None or k * risk >= 1
    return not enough, k if enough else -k


Tried = list[tuple[Cell, Setting]]


def try_settings(
    trial: Trial, cells: Sequence[Cell], sample: Sample, wanted: Sequence[Cell], count: Counted
) -> Tried:
    """Measure settings on the sample or on the quarter; they come back as ``wanted`` has them.

    The twin that promises less is tried where the other leaves cases out: elsewhere both make the
    same release.

    Args:
        trial: what measures.
        cells: what is tried, in this order.
        sample: of the quarter.
        wanted: all that was asked for; of these come the twins.
        count: counts those that were not kept from a run before.
    """
    first = plain_cells(cells)
    found = _settings(trial, first, sample, count)
    leaving = {twins(cell): bool(one.error or one.withheld) for cell, one in found}
    asked, done = {_name(cell) for cell in cells}, {_name(cell) for cell in first}
    rest = [
        cell for cell in wanted
        if is_weaker(cell) and _name(cell) not in done
        and leaving.get(twins(cell), _name(cell) in asked)
    ]  # fmt: skip
    found += _settings(trial, rest, sample, count)
    order = {_name(cell): place for place, cell in enumerate(wanted)}
    return sorted(found, key=lambda each: order[_name(each[0])])


def best_first(cells: Sequence[Cell], tried: Tried, bounds: Bounds) -> list[Cell]:
    """The cells in the order in which they are measured: those that did best so far come first.

    Args:
        cells: all of them.
        tried: what was measured of some.
        bounds: by which they are judged.
    """
    judged = judge([one for _, one in tried], bounds)
    names = {one.label: _name(cell) for (cell, one) in tried}
    order = {names[one.label]: place for place, one in enumerate(recommend(judged, bounds))}
    return sorted(cells, key=lambda cell: order.get(_name(cell), len(order)))


def _name(cell: Cell) -> str:
    return repr(cell.options)


def _settings(trial: Trial, cells: Sequence[Cell], sample: Sample, count: Counted) -> Tried:
    on: Literal["sample", "quarter"] = "sample" if sample else "quarter"

    def made(found: Found) -> Tried:
        return [(c, setting(c, on, rows, why, seeded=trial.seeded)) for c, rows, why in found]

    more = {"series": trial.series, "sample": sample}
    return made(
        measured(
            trial, cells, data_of(trial, sample), on, more, count=count,
            best_so_far=lambda found: trial.advised([one for _, one in made(found)]),
        )
    )  # fmt: skip


Found = list[tuple[Cell, list[Row], str | None]]


def measured(
    trial: Trial, cells: Sequence[Cell], data: str, on: str, more: Mapping[str, Any], *,
    count: Counted, best_so_far: Callable[[Found], str],
) -> Found:  # fmt: skip
    """The rows of each cell, or why there are none.

    Args:
        trial: what measures.
        cells: what is released.
        data: what figures follow from beside the cell.
        on: what of, for progress.
        more: what a task has beside what every task has.
        count: counts the cells that were run for it.
        best_so_far: what is said of those that are measured, if it is interrupted.
    """
    files = [(cell, trial.folder / f"{cell.digest(data)}.json") for cell in cells]
    missing = [(c, f) for c, f in files if not c.refused and read_cell(f) is None]
    sample: Sample = more.get("sample")
    _compile(trial, [cell for cell, _ in missing], sample)

    def progress(text: str) -> None:
        if trial.workers.progress:
            trial.workers.progress(f"on the {on}: {text}")

    try:
        broken = run(
            trial.warehouse, trial.dataset, missing, [trial.quarter], Rules(),
            replace(trial.workers, progress=progress), more,
        )  # fmt: skip
    except (Interruption, KeyboardInterrupt):
        kept: Found = [(c, read["rows"], None) for c, f in files if (read := read_cell(f))]
        trial.workers.tell(
            f"{len(kept)} of {len(files)} settings are measured on the {on} and kept in "
            f"{trial.workers.out}: the same command goes on from there"
        )
        if kept and (best := best_so_far(kept)):
            trial.workers.tell(f"best of them: {best}")
        raise
    count.settings += len(missing)
    return [
        (cell, (read_cell(file) or {"rows": []})["rows"], cell.refused or broken.get(file))
        for cell, file in files
    ]


def _compile(trial: Trial, cells: Sequence[Cell], sample: Sample) -> None:
    """Compile once, before the workers begin, what each of them would compile for itself."""
    requests = [make_request("", dict(cell.options)) for cell in cells]
    names = dict.fromkeys(name for request in requests for name in kernels(request, trial.dataset))
    if cells and not sample:
        names[NEAREST] = None
    cases = sample[0] if sample else None
    wanted = [n for n in names if cases is None or cases > INTERPRETED.get(n, -1)]
    with _said_once(
        trial, "compiling, once for this machine: usually a minute or two",
    ):  # fmt: skip
        compile_apart(wanted)


@contextmanager
def _said_once(trial: Trial, line: str) -> Iterator[None]:
    """Say a line when the first kernel has to be compiled."""
    said: list[str] = []

    def say(_: str) -> None:
        if not said:
            said.append(line)
            trial.workers.tell(line)

    COMPILING.append(say)
    try:
        yield
    finally:
        COMPILING.remove(say)


def data_of(trial: Trial, sample: Sample) -> str:
    """What figures follow from beside the setting: quarters, earlier releases, the sample."""
    parameters = [trial.dataset.name, trial.series]
    earlier = trial.warehouse.rows(query("study/data", "exposed_releases"), parameters)
    loaded = fingerprint(trial.warehouse, trial.dataset, [trial.quarter], Rules())
    made_with = stored_parameters(trial.warehouse, trial.dataset.name, trial.series)
    return repr(("advise", FORMAT, loaded, trial.series, earlier, made_with, sample))


def plan_line(
    trial: Trial, first: int, wanted: Sequence[Cell], cases: int, sample: int | None, *, quick: bool
) -> str:
    """What is going to be tried, and how long that usually takes.

    Args:
        trial: what measures.
        first: how many settings the first round has; 0: there is none.
        wanted: all settings.
        cases: of the quarter.
        sample: cases of the sample that all settings are tried on; None: there is none.
        quick: the first round is the only one.
    """
    jobs = jobs_of(trial.warehouse, trial.workers)
    every, parts = len(plain_cells(wanted)), []
    if first:
        few = min(FEW, cases)
        parts.append(f"{first} on {_of(few, cases)} ({_usual(first, few, jobs)})")
    if sample and not quick:
        parts.append(f"{every} on {_of(sample, cases)} ({_usual(every, sample, jobs)})")
        parts.append(f"the best of them on all {cases:,} cases ({_usual(1, cases, 1)} each)")
    elif not quick:
        parts.append(f"{every} on all {cases:,} cases ({_usual(every, cases, jobs)})")
    return (
        f"settings to try: {', then '.join(parts)}; {jobs} at a time. The first run on a "
        "machine compiles as well, a minute or two. Ctrl-C keeps what is measured"
    )


def _of(few: int, cases: int) -> str:
    return f"a sample of {few:,} cases" if few < cases else f"all {cases:,} cases"


def _usual(settings: int, cases: int, jobs: int) -> str:
    seconds = settings * (SECONDS + cases * SECONDS_PER_CASE) / min(jobs, settings)
    if seconds < 50:
        return f"about {max(round(seconds, -1), 10):.0f} seconds"
    minutes = round(seconds / 60)
    return f"about {minutes} {'minute' if minutes == 1 else 'minutes'}"
