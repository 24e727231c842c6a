"""One setting in a process of its own: release the quarter on a copy, measure, write one file.

Run as ``python -m srsql.engine.api.setting_worker`` with a task as ``cell_worker`` takes it, with
``series`` and ``sample`` (``[cases, seed]``, or None for the whole quarter) in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from srsql.engine.api.cell_worker import Row, own_engine, serve
from srsql.engine.api.engine import Engine
from srsql.engine.audit.evidence import extremes
from srsql.engine.errors import SrsqlError
from srsql.engine.study.results import LOADING, finite
from srsql.engine.study.sample import thin


def run_setting(task: dict[str, Any], tell: Callable[[str], None]) -> list[Row]:
    """What a release with these options measures, in uniform rows; or why there is none.

    Args:
        task: as ``cell_worker.run_cell`` takes it, with ``series`` and ``sample``.
        tell: takes what is being done.
    """
    (quarter,) = task["quarters"]
    with own_engine(task) as engine:
        dataset = engine.dataset()
        if task["sample"]:
            tell("sample")
            thin(engine.warehouse, dataset, quarter, *task["sample"])
        try:
            release = engine.release(
                quarter, series=task["series"], progress=tell, **task["options"]
            )
        except SrsqlError as error:
            return [{"measure": "release", "error": " ".join(str(error).split())}]
        seconds = sum(duration for stage, duration in release.seconds.items() if stage != LOADING)
        rows: list[Row] = [
            {"measure": "release", "seconds": seconds},
            {"measure": "k_effective", "ratio": release.manifest["k_effective"]},
            {"measure": "groups", "ratio": release.manifest["groups"]},
        ]
        rows += [
            {
                "measure": "infeasible",
                "scope": value["value"],
                "violating": value["cases"],
                "total": value["total"],
                "ratio": value["frequency"],
                "threshold": value["theta"],
            }
            for value in release.manifest["infeasible"]
        ]
        tell("metrics")
        rows += [
            {name: value for name, value in asdict(row).items() if name != "release"}
            for row in engine.metrics(quarter, series=task["series"])
        ]
        tell("worst target")
        rows += _worst(engine, quarter, task["series"])
    return [{name: finite(value) for name, value in row.items()} for row in rows]


def _worst(engine: Engine, quarter: str, series: str) -> list[Row]:
    found = extremes(engine.warehouse, engine.dataset(), series, quarter)
    return [
        {"measure": "fewest", "scope": ",".join(found.attacks), "ratio": found.fewest},
        {
            "measure": "confidence",
            "scope": found.term,
            "violating": found.held,
            "total": found.of,
            "threshold": found.theta,
        },
    ]


if __name__ == "__main__":
    serve(run_setting)
