"""Releases of the same cases with groups refined and not: what is lost, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from benchmarks.stage_watch import StageWatch
from srsql import Engine, SrsqlError

SERIES = "refinement"
CASE_LOSSES = """
    SELECT m.case_id, any_value(l.loss) + coalesce(any_value(g.values), 0) AS loss
    FROM srsql.member AS m
    INNER JOIN (
        SELECT group_id, coalesce(sum(loss), 0) AS loss FROM srsql.group_loss(?) GROUP BY group_id
    ) AS l ON m.group_id = l.group_id
    LEFT JOIN (
        SELECT case_no, count(*) AS values
        FROM srsql.case_qid WHERE release_id = ? AND given_up GROUP BY case_no
    ) AS g ON m.case_no = g.case_no
    WHERE m.release_id = ?
    GROUP BY m.case_id
"""
LARGEST = """
    SELECT max(g.cases) FROM (
        SELECT count(*) AS cases FROM srsql.member WHERE release_id = ? GROUP BY group_id
    ) AS g
"""
HEAD = ("model", "k", "theta", "seed", "refine", "NIL", "of the same", "cases", "withheld",
        "given up", "largest", "CPU s")  # fmt: skip


@dataclass(frozen=True)
class Figures:
    """Of a series; the losses as ``srsql metrics`` counts them, before they are divided."""

    loss: float
    values: float
    """Released cases times quasi-identifiers."""
    withheld: int
    given_up: int
    largest: int
    seconds: float
    """Of the grouping stage, refinement included."""
    cases: pd.DataFrame
    """period, case_id, loss: of each released case."""


def series_of(engine: Engine, quarters: Sequence[str], options: dict[str, Any]) -> Figures:
    """Release the periods one after the other."""
    watch = StageWatch("grouping")
    loss = values = 0.0
    withheld = given_up = largest = 0
    cases = []
    for quarter in quarters:
        told = engine.release.make_range(
            f"{quarter}:{quarter}", series=SERIES, progress=watch, ids="original",
            on_infeasible="withhold", allow_linkable=True, **options,
        ).released[0]  # fmt: skip
        ((lost, total),) = engine.sql(
            "SELECT violating, total FROM srsql.measure "
            "WHERE release_id = ? AND stage = 'metric' AND measure = 'nil'",
            [told.release_id],
        )
        loss, values = loss + (lost or 0), values + (total or 0)
        withheld += told.manifest["cases"]["withheld"]
        given_up += sum(told.manifest["values_given_up"].values())
        largest = max(largest, engine.sql(LARGEST, [told.release_id])[0][0] or 0)
        own = engine.frame(CASE_LOSSES, [told.release_id] * 3)
        cases.append(own.assign(period=quarter))
    return Figures(loss, values, withheld, given_up, largest, watch.cpu, pd.concat(cases))


def of_the_same(found: Sequence[Figures], qids: int) -> list[float]:
    """NIL over the cases that all of these series release."""
    keys = ["period", "case_id"]
    common = found[0].cases[keys]
    for figures in found[1:]:
        common = common.merge(figures.cases[keys], on=keys)
    return [float(figures.cases.merge(common, on=keys)["loss"].mean()) / qids for figures in found]


def settings(
    models: Sequence[str], k: Sequence[int], theta: Sequence[str], seeds: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Options of a release; where alpha needs the next period, every case counts as stopping."""
    for model, each, bound, seed in product(models, k, theta, seeds):
        alpha = {"assume_md": "all"} if model == "ppms-alpha" else {}
        yield {"model": model, "k": each, "theta": bound, "seed": seed, **alpha}


def run(
    *, source: Sequence[Path], dataset: str, quarters: Sequence[str] | None, models: Sequence[str],
    k: Sequence[int], theta: Sequence[str], seeds: Sequence[int], missing: str,
    efforts: Sequence[str],
) -> None:  # fmt: skip
    """Print one line for each setting and effort."""
    with TemporaryDirectory(prefix="srsql-refinement-") as folder:
        snapshot = Path(folder) / "snapshot.duckdb"
        with Engine(snapshot, dataset=dataset) as engine:
            loaded = sorted({row.quarter for row in engine.ingest(source, allow_incomplete=True)})
            qids = len(engine.dataset().qid)
        chosen = list(quarters or loaded)
        print(f"{chosen[0]} to {chosen[-1]}, {len(chosen)} periods, missing values: {missing}")
        print(_line(HEAD))
        for options in settings(models, k, theta, seeds):
            told, found = [], []
            for effort in efforts:
                copy = Path(folder) / "copy.duckdb"
                copyfile(snapshot, copy)
                try:
                    with Engine(copy, dataset=dataset) as engine:
                        asked = {**options, "missing": missing, "refine": effort}
                        found.append(series_of(engine, chosen, asked))
                    told.append(effort)
                except SrsqlError as error:
                    print(_line([*_named(options), effort]), str(error), flush=True)
                copy.unlink()
            same = of_the_same(found, qids) if found else []
            for effort, figures, common in zip(told, found, same, strict=True):
                print(_row(options, effort, figures, common), flush=True)


def _named(options: dict[str, Any]) -> list[str]:
    return [str(options[name]) for name in ("model", "k", "theta", "seed")]


def _row(options: dict[str, Any], effort: str, figures: Figures, common: float) -> str:
    nil = figures.loss / figures.values if figures.values else 0.0
    cells = [f"{nil:.5f}", f"{common:.5f}", f"{len(figures.cases):,}", f"{figures.withheld:,}"]
    cells += [f"{figures.given_up:,}", f"{figures.largest:,}", f"{figures.seconds:.1f}"]
    return _line([*_named(options), effort, *cells])


def _line(cells: Sequence[str]) -> str:
    return "".join(f"{cell:>12}" for cell in cells)
