"""The verifier's page without a browser: what its work says of artifacts, in Node."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import manifest_of, read_csv, rehash, thresholds_of
from support.node import NODE, opened_in_node
from support.sets import SETS, move_case, write_rows, write_sets

from srsql import Engine, verify

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="no node on PATH")]
QIDS = ("age_low", "age_high", "sex", "wt_low", "wt_high", "country", "job")
OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "seed": 7, "on_infeasible": "withhold"}


@pytest.fixture(scope="module")
def made(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Artifacts of two sets of quasi-identifiers: values with a threshold of 1, and none."""
    folder = tmp_path_factory.mktemp("node")
    dataset, rows = write_sets(folder), write_rows(folder / "rows", 1, 90)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([rows], dataset=str(dataset), period="2020")
        for series, theta in (("some", "frequency"), ("none", "1/2")):
            engine.release("2020", series=series, theta=theta, **OPTIONS, allow_linkable=True)
            engine.publish(
                "2020", folder / series, series=series, format="csv", allow_linkable=True
            )
    return folder


def union_sizes(folder: Path) -> list[int]:
    """Of each case, how many share the region of all its quasi-identifiers."""
    regions = {r["patient_id"]: tuple(r[n] for n in QIDS) for r in read_csv(folder, "visit")}
    return [[*regions.values()].count(region) for region in regions.values()]


def check_of(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [check for check in told["checks"] if check["name"] == name]
    return dict(found)


def test_what_all_sets_single_out_is_counted_anew(made: Path, tmp_path: Path) -> None:
    told = opened_in_node(tmp_path, made / "some")
    assert told["passed"], told
    sizes = union_sizes(made / "some")
    below, alone = sum(size < OPTIONS["k"] for size in sizes), sizes.count(1)
    assert 0 < alone < below < len(sizes)
    check = check_of(told, "sets")
    assert check["total"] == len(SETS)
    assert check["note"] == (
        f"who knows all sets is left with fewer than k candidates in {below} of {len(sizes)} "
        f"cases, with one in {alone}"
    )
    assert not any("sets" in words for words in told["notShown"])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"union_below_k_percent": 0}, "parameter union_below_k_percent is 0, the rows give"),
        ({"union_one_candidate_percent": 99}, "union_one_candidate_percent is 99, the rows give"),
        ({"qid_sets": "clinic: age; work: job"}, "does not say what the sets are"),
    ],
)
def test_a_figure_of_all_sets_that_the_rows_do_not_give_fails(
    made: Path, tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    folder = shutil.copytree(made / "some", tmp_path / "out")
    rehash(folder, parameters=manifest_of(folder)["parameters"] | changes)
    told = opened_in_node(tmp_path, folder)
    check = check_of(told, "sets")
    assert not told["passed"]
    assert [why in place for place in check["places"]] == [True]
    assert any(why in failure for failure in verify(folder).failures)


def test_rows_that_single_out_more_than_is_told_fail(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made / "some", tmp_path / "out")
    told = manifest_of(folder)["parameters"]
    for _ in range(3):
        move_case(folder, ("country",))
    lowered = {name: 0 for name in told if name.startswith("union_")}
    rehash(folder, parameters=told | lowered)
    assert check_of(opened_in_node(tmp_path, folder), "sets")["count"] == 2


def test_sets_of_rows_that_cannot_be_read_are_not_checked(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made / "some", tmp_path / "out")
    (folder / "visit.csv").unlink()
    told = opened_in_node(tmp_path, folder)
    assert not told["passed"]
    assert "sets" in told["notRun"]


def test_thresholds_of_1_are_named_where_there_are_any(made: Path, tmp_path: Path) -> None:
    for series in ("some", "none"):
        free = [num == den for num, den in thresholds_of(made / series).values()]
        said = [s for s in opened_in_node(tmp_path, made / series)["unprotected"] if "of 1:" in s]
        due = f"{sum(free)} of {len(free)} values have a threshold of 1: everybody of a region may"
        assert [s.startswith(due) for s in said] == [True] * any(free)
        assert any(free) == (series == "some")
