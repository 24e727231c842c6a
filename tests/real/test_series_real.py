"""The real ALS quarters as a series: released by every model, attacked, and against the oracle."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import ms, ppms
from support.command import srsql
from support.real_data import needs

from srsql.engine.api.engine import Engine
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases

pytestmark = [pytest.mark.thorough, needs("faers_als")]
LEVELS = "value,theta\nAmyotrophic lateral sclerosis,1\n*,0.5\n"
EMPTY = {"2012Q3", "2014Q2", "2014Q3", "2014Q4", "2016Q1", "2016Q3"}
THIRD, QUARTER = "2016Q4", "2015Q2"
LATE, LAST = "2020Q3", "2023Q1"
"""Most cases that come back do so in these."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Path:
    """The 43 quarters."""
    made: Path = real("als", tmp_path_factory.mktemp("als") / "als.duckdb")
    (made.parent / "levels.csv").write_text(LEVELS)
    return made


@pytest.fixture
def db(loaded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(loaded, tmp_path / "als.duckdb"))


def release(db: Path, loaded: Path, model: str, last: str, first: str = "2012Q3") -> Any:
    made = srsql(
        "release", "--db", db, "--quarter", f"{first}:{last}", "--model", model, "--k", 3,
        "--theta", f"levels:{loaded.parent / 'levels.csv'}", "--on-infeasible", "withhold",
        "--seed", 1, "--json",
    )  # fmt: skip
    assert (made.code, made.notes) == (0, [])
    return made.json


def reported(db: Path, first: str, last: str) -> int:
    """Cases of these quarters, a recurring one once in each."""
    with Engine(db, read_only=True) as engine:
        return int(
            engine.sql(
                "SELECT count(*) FROM (SELECT DISTINCT quarter, caseid FROM raw_faers.demo"
                " WHERE quarter BETWEEN ? AND ?)",
                [first, last],
            )[0][0]
        )


@pytest.mark.parametrize(
    ("model", "first", "last"),
    [
        ("ppms-ear", LATE, LAST),
        ("ppms++", "2014Q1", "2018Q1"),
        ("ppms++", LATE, LAST),
        ("ppms-alpha", LATE, "2022Q4"),
    ],
)
def test_a_series_of_real_quarters_withstands_the_attacks_its_model_defends(
    db: Path, loaded: Path, model: str, first: str, last: str
) -> None:
    made = release(db, loaded, model, last, first)
    facts = [one["manifest"] for one in made["released"]]
    empty = {f["quarter"] for f in facts if not f["cases"]["released"]}
    assert empty == {quarter for quarter in EMPTY if first <= quarter <= last}
    everyone = sum(f["cases"]["released"] + f["cases"]["withheld"] for f in facts)
    assert everyone == reported(db, first, last)
    if first == LATE:
        assert sum(f["cases"]["old"] for f in facts) > 20
    found = srsql("audit", "--db", db, "--json")
    assert found.code == 0
    rows = found.json["releases"]
    assert {row["scope"] for row in rows} == {"group", "match"}
    assert {(row["quarter"]) for row in rows} == {f["quarter"] for f in facts}
    for row in rows:
        assert (row["dig"], row["dsg"], row["ssg"]) == (0, 0, 0)
        assert {"b", "f", "l"} <= set(row["attacks"])
        if model == "ppms-alpha":
            assert "ss" in row["attacks"]
            assert ("md" in row["attacks"]) == (row["quarter"] != last)


def test_the_same_quarters_released_one_by_one_single_cases_out(db: Path, loaded: Path) -> None:
    release(db, loaded, "ms", THIRD)
    found = srsql("audit", "--db", db, "--json")
    assert found.code == 1
    assert sum(row["dig"] for row in found.json["releases"] if row["scope"] == "match") > 0
    worst = min(found.json["evidence"], key=lambda group: group["remaining"])
    assert worst["remaining"] < 3


def oracle_group(
    cases: Cases,
    attributes: Attributes,
    theta_num: NDArray[np.int64],
    theta_den: NDArray[np.int64],
    k: int,
    first: int,
    bounding: Bounding,
) -> NDArray[np.int32]:
    """The unoptimized algorithm in the place of the kernel."""
    thetas = {
        s: Fraction(int(num), int(den))
        for s, (num, den) in enumerate(zip(theta_num, theta_den, strict=True))
    }
    qids: list[ms.Attribute] = []
    for i, span in enumerate(attributes.span):
        nodes = attributes.parent[attributes.tree_start[i] : attributes.tree_start[i + 1]]
        tree = ms.Categorical(tuple(None if p < 0 else int(p) for p in nodes))
        qids.append(ms.Numeric(int(span)) if span else tree)
    records = []
    for r in range(len(cases.low)):
        values = tuple(
            (int(low), int(high)) if isinstance(qid, ms.Numeric) else int(low)
            for qid, low, high in zip(qids, cases.low[r], cases.high[r], strict=True)
        )
        at = range(int(cases.offsets[r]), int(cases.offsets[r + 1]))
        held = {
            int(cases.terms[j]): Fraction(int(cases.weights[j]), cases.weight_scale) for j in at
        }
        records.append(ppms.Case(ms.Record(values, held), new=bool(bounding.carrier[r])))
    problem = ppms.Problem(records, qids, k, thetas, ppms.Model(core_only=True))
    return np.array(ppms.group(problem, first, bounding.leftovers), dtype=np.int32)


def test_the_loss_is_that_of_the_unoptimized_algorithm(
    db: Path, loaded: Path, tmp_path: Path
) -> None:
    ours = release(db, loaded, "ppms++", QUARTER)["released"]
    again = Path(shutil.copy(loaded, tmp_path / "oracle.duckdb"))
    with mock.patch("srsql.udfs.grouping.greedy.group_cases", oracle_group):
        theirs = release(again, loaded, "ppms++", QUARTER)["released"]
    name = "nil (release)"
    assert [one["manifest"]["metrics"][name] for one in ours] == [
        one["manifest"]["metrics"][name] for one in theirs
    ]
