from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import make
from support.drawn_once import drawing
from support.quarters import Report, crowd, next_version, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.models import MODELS
from srsql.engine.parameters import declared
from srsql.engine.report.page import Page

SEED = 918273645546372819
OPTIONS: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": SEED}
WITHHELD = Report(
    77770001,
    777000,
    sex="M",
    pt=("SECRETREACTION",),
    indi=("SECRETDISEASE",),
    drugs=("SECRETDRUG",),
)
HOSTILE = (
    'a "quoted" term',
    "with, comma",
    " edges ",
    "back\\slash",
    "Crème brûlée 注",
    "'; DROP--",
)
"""Terms that a careless writer of files would lose."""


def disguised(report: Report) -> Report:
    """The same values as sources write them: days and pounds, to be told from what is released."""
    days, pounds = int(report.age) * 365 + 111, int(report.wt) * 2 + 0.37
    return replace(report, age=str(days), age_cod="DY", wt=f"{pounds:.2f}", wt_cod="LBS")


def quarters() -> dict[str, list[Report]]:
    first = [disguised(r) for r in crowd(60)]
    first[:6] = [replace(r, pt=(h, *r.pt)) for r, h in zip(first, HOSTILE, strict=False)]
    second = [disguised(r) for r in crowd(60, first=31, version=2)]
    twice = [next_version(next_version(r)) for r in second[:5]]
    return {"2011Q3": [*first, WITHHELD], "2011Q4": [*second, *twice]}


def unrefined(model: str) -> dict[str, str]:
    """Refinement would place the case that is to be withheld."""
    return {"refine": "off"} if "refine" in declared(MODELS[model]) else {}


class Warehouses(dict[str, Path]):
    """Model -> a warehouse in which both quarters are released, made when it is first asked for.

    With the ids of the source, so that what hides them has something to hide.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __missing__(self, model: str) -> Path:
        db = self.folder / f"{model}.duckdb"
        with Engine(db) as engine:
            engine.ingest([write_quarter(self.folder, q, r) for q, r in quarters().items()])
            for quarter in quarters():
                engine.release(quarter, model=model, ids="original", **OPTIONS, **unrefined(model))
        self[model] = db
        return db


class Artifacts(dict[tuple[str, str], Path]):
    """(model, format) -> the artifact of 2011Q3; not to be changed."""

    def __init__(self, folder: Path, warehouses: Warehouses) -> None:
        self.folder = folder
        self.warehouses = warehouses

    def __missing__(self, key: tuple[str, str]) -> Path:
        model, form = key
        to = self.folder / f"{model}-{form}"
        self[key] = make(self.warehouses[model], to, "2011Q3", format=form)
        return self[key]


@pytest.fixture(scope="module")
def plain_pages() -> Iterator[None]:
    """Reports of one line: drawing takes longer than all that is looked at beside them."""

    def page(_: Any, quarter: str) -> Page:
        return Page(f"<p>{quarter}</p>\n", ())

    with drawing(page):
        yield


@pytest.fixture(scope="session")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Warehouses:
    return Warehouses(tmp_path_factory.mktemp("warehouses"))


@pytest.fixture(scope="session")
def kept_artifacts(warehouses: Warehouses, tmp_path_factory: pytest.TempPathFactory) -> Artifacts:
    return Artifacts(tmp_path_factory.mktemp("artifacts"), warehouses)


@pytest.fixture(params=["parquet", "csv", "duckdb"])
def artifact(request: pytest.FixtureRequest, kept_artifacts: Artifacts, tmp_path: Path) -> Path:
    """A copy of the artifact of 2011Q3 under ms, in each format."""
    shutil.copytree(kept_artifacts["ms", request.param], tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def csv_artifact(kept_artifacts: Artifacts, tmp_path: Path) -> Path:
    shutil.copytree(kept_artifacts["ms", "csv"], tmp_path / "csv")
    return tmp_path / "csv"
