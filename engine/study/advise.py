"""`srsql advise`: settings swept on a sample and on the quarter, one recommended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from srsql.engine.errors import AdviseError
from srsql.engine.study.advise_words import reason_for, reason_none
from srsql.engine.study.choice import judge, missed, nearest, recommend, shortlist
from srsql.engine.study.grid import Cell, Rules
from srsql.engine.study.results import read_cell
from srsql.engine.study.run import CELLS, Progress, fingerprint, run
from srsql.engine.study.sample import count_cases
from srsql.engine.study.settings import Setting, setting
from srsql.engine.study.sweep import SEED, Bounds, Sweep, models_for, settings
from srsql.engine.warehouse.catalog import dataset_names
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

FORMAT = 2
"""Of the files of measured settings; another one measures every setting anew."""
WORKER = "srsql.engine.api.setting_worker"


@dataclass(frozen=True)
class Advice:
    """What to release next, and what that follows from."""

    dataset: str
    series: str
    quarter: str
    after: list[str]
    """Quarters of the earlier releases of the series, which the attacker has; once for each."""
    cases: int
    """Of the quarter."""
    sample: int | None
    """Cases that all settings were tried on; None: the whole quarter."""
    max_risk: float | None
    max_loss: float | None
    max_confidence: float | None
    recommended: Setting | None
    nearest: Setting | None
    """If none keeps the bounds: which comes nearest."""
    misses: dict[str, tuple[float, float]]
    """Bounds that this one breaks: name -> figure, bound."""
    reason: str
    command: list[str] | None
    """The release that is recommended."""
    settings: list[Setting]
    """Measured on the whole quarter, in the order of the sweep."""
    sampled: list[Setting]
    """Measured on the sample; empty where there is none."""
    measured: int
    """Measured in this run; the rest was before."""
    files: list[str]
    """Page, CSV, Parquet."""


@dataclass(frozen=True)
class _Place:
    """Where and of what settings are measured."""

    warehouse: Warehouse
    dataset: Dataset
    quarter: str
    series: str
    folder: Path
    jobs: int | None
    progress: Progress | None
    seeded: bool
    """The release will be made with the seed that is measured."""


def advise(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    bounds: Bounds,
    sweep: Sweep,
    *,
    series: str,
    out: Path,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Recommend how to release a quarter next in a series. The warehouse is only read.

    Every setting is released on a private copy of the warehouse, after the earlier releases of the
    series, and measured there. If the quarter has more cases than ``sweep.sample``, all settings
    are tried on a sample of them, and those that may be best measured on the whole quarter; what is
    recommended rests on figures of the whole quarter alone. Measured settings are kept in ``out``.

    Args:
        warehouse: a file.
        dataset: whose quarter.
        quarter: one that may be released next in the series.
        bounds: what the release must keep.
        sweep: the settings to choose from.
        series: whose next release it is.
        out: folder for page, table and measured settings, made if absent.
        jobs: workers at a time; None: as many as cores and memory take.
        progress: takes one line at a time.

    Raises:
        AdviseError: the quarter is out already, no setting can be released, or ``out`` cannot be
            written.
    """
    from srsql.engine.study.advise_page import write_all  # brings matplotlib

    if jobs is not None and jobs < 1:
        raise AdviseError(f"--jobs {jobs}: give at least 1")
    models = models_for(warehouse, dataset, series, quarter, sweep.models)
    wanted = settings(sweep, models)
    place = _Place(
        warehouse, dataset, quarter, series, _folder(out), jobs, progress, sweep.seed is not None
    )
    cases = count_cases(warehouse, dataset, quarter)
    sampled: list[Setting] = []
    todo, measured = wanted, 0
    if 0 < sweep.sample < cases:
        tried, measured = _measured(place, wanted, (sweep.sample, _seed(sweep)))
        sampled = judge(tried, bounds)
        todo = [wanted[n] for n in shortlist(sampled, bounds)]
    whole, more = _measured(place, todo, None)
    found = judge(whole, bounds)
    if all(one.error for one in found):
        raise AdviseError(f"no setting can be released: {found[0].label}: {found[0].error}")
    kept = recommend(found, bounds)
    best = kept[0] if kept else None
    near = None if best else nearest(found, bounds)
    after = _after(place)
    made: dict[str, Any] = {
        "dataset": dataset.name,
        "series": series,
        "quarter": quarter,
        "after": after,
        "cases": cases,
        "sample": sweep.sample if sampled else None,
        "max_risk": _float(bounds.risk),
        "max_loss": _float(bounds.loss),
        "max_confidence": _float(bounds.confidence),
        "recommended": best,
        "nearest": near,
        "misses": missed(near, bounds) if near else {},
        "reason": reason_for(kept, found, bounds)
        if best
        else reason_none(near, bounds, joined=bool(after)),
        "command": _command(place, best, sweep) if best else None,
        "settings": found,
        "sampled": sampled,
        "measured": measured + more,
    }
    return Advice(**made, files=write_all(dataset, Advice(**made, files=[]), out))


def _float(bound: Any) -> float | None:
    return None if bound is None else float(bound)


def _seed(sweep: Sweep) -> int:
    return SEED if sweep.seed is None else sweep.seed


def _folder(out: Path) -> Path:
    folder = out / CELLS
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AdviseError(f"{folder} cannot be made ({error.strerror}): give --out") from None
    return folder


def _measured(
    place: _Place, cells: Sequence[Cell], sample: tuple[int, int] | None
) -> tuple[list[Setting], int]:
    """The settings on the sample (cases, seed) or on the quarter; how many were run for it."""
    on: Literal["sample", "quarter"] = "sample" if sample else "quarter"
    data = _data(place, sample)
    filed = [(cell, place.folder / f"{cell.digest(data)}.json") for cell in cells]
    missing = [(c, f) for c, f in filed if not c.refused and read_cell(f) is None]

    def tell(text: str) -> None:
        if place.progress:
            place.progress(f"on the {on}: {text}")

    broken = run(
        place.warehouse,
        place.dataset,
        missing,
        [place.quarter],
        Rules(),
        place.jobs,
        tell,
        module=WORKER,
        more={"series": place.series, "sample": sample},
    )
    found = []
    for cell, file in filed:
        told = read_cell(file) or {"rows": []}
        why = cell.refused or broken.get(file)
        found.append(setting(cell, on, told["rows"], why, seeded=place.seeded))
    return found, len(missing)


def _data(place: _Place, sample: tuple[int, int] | None) -> str:
    """What figures follow from beside the setting: quarters, earlier releases, the sample."""
    earlier = place.warehouse.rows(
        "SELECT r.release_id, r.quarter, r.status, md5(r.private_manifest) "
        "FROM srsql.release AS r WHERE r.dataset = ? AND r.series = ? AND r.status <> 'draft' "
        "ORDER BY r.release_id",
        [place.dataset.name, place.series],
    )
    loaded = fingerprint(place.warehouse, place.dataset, [place.quarter], Rules())
    return repr(("advise", FORMAT, loaded, place.series, earlier, sample))


def _after(place: _Place) -> list[str]:
    return [
        row[0]
        for row in place.warehouse.rows(
            "SELECT r.quarter FROM srsql.release AS r WHERE r.dataset = ? AND r.series = ? "
            "AND r.status <> 'draft' ORDER BY r.quarter, r.release_id",
            [place.dataset.name, place.series],
        )
    ]


def _command(place: _Place, best: Setting, sweep: Sweep) -> list[str]:
    """The recommended release as it is typed; without the seed unless one was given."""
    told = {
        "quarter": place.quarter,
        "dataset": place.dataset.name if len(dataset_names(place.warehouse)) > 1 else None,
        "series": place.series,
        "model": best.model,
        "k": best.k,
        "theta": best.theta,
        "epsilon": best.epsilon,
        "missing": sweep.missing,
        "on-infeasible": sweep.on_infeasible,
        "seed": sweep.seed,
    }
    words = ["srsql", "release"]
    for name, value in told.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    return words
