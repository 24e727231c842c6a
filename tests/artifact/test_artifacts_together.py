"""Several artifacts of one series, looked at together: what joining them would tell."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from artifact.conftest import Artifacts, Warehouses
from support.artifacts import make, read_csv, rehash, write_csv

from srsql import verify

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def made(warehouses: Warehouses, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("together")
    return [make(warehouses["ppms++"], folder / q, q, format="csv") for q in ("2011Q3", "2011Q4")]


@pytest.fixture
def both(made: list[Path], tmp_path: Path) -> list[Path]:
    return [shutil.copytree(folder, tmp_path / folder.name) for folder in made]


def faults(folders: list[Path]) -> dict[str, list[str]]:
    """Of the checks across artifacts."""
    found = verify(folders)
    return {c.name: list(c.faults) for c in found.checks if c.faults and c.artifact == "series"}


def test_a_series_passes_and_says_which_attacks_that_covers(made: list[Path]) -> None:
    found = verify(made)
    assert found.passed
    totals = {c.name: c.total for c in found.checks if c.artifact == "series"}
    assert totals["cover"] == 30  # cases 31 to 60 are in both quarters
    assert not [text for text in found.cannot_show if "joining" in text]
    assert [text for text in verify(made[1]).cannot_show if "joining" in text]


def test_a_later_region_that_does_not_cover_the_first_is_found_and_named(
    both: list[Path],
) -> None:
    old = {row["caseid"] for row in read_csv(both[0], "demo")}
    rows = read_csv(both[1], "demo")
    region = next(r for r in rows if r["caseid"] in old and r["age_low"] != r["age_high"])
    names = ("age_low", "age_high", "wt_low", "wt_high", "sex")
    crowd = [r["caseid"] for r in rows if all(r[n] == region[n] for n in names)]
    for row in rows:
        if row["caseid"] in crowd:
            row.update(age_low="120", age_high="120")
    write_csv(both[1], "demo", rows)
    rehash(both[1], counts=True, report=True)
    assert verify(both[1]).passed
    told = faults(both)
    assert set(told) == {"cover"}
    assert f"2011Q4 case {region['caseid']}: age does not cover its first region" in " ".join(
        told["cover"]
    )


def test_a_region_with_too_few_new_cases_is_found_and_named(both: list[Path]) -> None:
    """A forger adds to the first quarter a case that counts as new in the second."""
    earlier, later = read_csv(both[0], "demo"), read_csv(both[1], "demo")
    old = {row["caseid"] for row in earlier}
    victim = next(r for r in later if r["caseid"] not in old)
    beside = earlier[0]
    added = [
        beside | {"primaryid": str(10**15 + n), "caseid": row["caseid"]}
        for n, row in enumerate(later)
        if row["caseid"] not in old and row["age_low"] == victim["age_low"]
    ]
    write_csv(both[0], "demo", [*earlier, *added])
    rehash(both[0], counts=True, report=True)
    told = faults(both)
    assert f'2011Q4 region {{"age_low":{victim["age_low"]},' in told["new k"][0]
    assert "k is 3" in told["new k"][0]


def test_artifacts_in_the_wrong_order_or_of_different_series_are_not_compared(
    made: list[Path], kept_artifacts: Artifacts, warehouses: Warehouses, tmp_path: Path
) -> None:
    assert faults(made[::-1]) == {"series": ["2011Q3 is given after 2011Q4: oldest first"]}
    hidden = make(
        warehouses["ppms++"], tmp_path / "out", "2011Q4", format="csv",
        case_ids="pseudonym", key_file=tmp_path / "key",
    )  # fmt: skip
    assert faults([made[0], hidden])["series"] == [
        "2011Q4 has another kind of case ids than 2011Q3",
        "2011Q4 has another key of the pseudonyms than 2011Q3",
    ]


def test_a_history_that_is_not_complete_is_said_to_be(both: list[Path]) -> None:
    rehash(both[1], earlier_releases=["2011Q2", "2011Q3"])
    found = verify(both)
    assert found.passed
    assert [t for t in found.cannot_show if t.startswith("2011Q4: which cases are new")]
    assert {c.name: c.total for c in found.checks if c.artifact == "series"}["cover"] == 0


def test_after_a_release_that_supersedes_another_nobody_knows_who_is_new(both: list[Path]) -> None:
    rehash(both[0], earlier_releases=["2011Q3"])
    found = verify(both)
    assert found.passed
    assert {c.name for c in found.checks if c.artifact == "series"} == {"series"}
    assert len([t for t in found.cannot_show if "which cases are new" in t]) == 2


def test_an_artifact_that_fails_alone_leaves_the_others_uncompared(both: list[Path]) -> None:
    (both[0] / "demo.csv").write_text("")
    found = verify(both)
    assert not found.passed
    assert "series: cover" in found.not_run
