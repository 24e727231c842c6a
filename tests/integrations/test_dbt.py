"""The dbt package: its tests run by dbt on an artifact, and against plain Python.

dbt is in an environment of its own (`.ci/integrations`), beside DuckDB as srsql has it:
``SRSQL_DBT`` names its executable.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine

PACKAGE = Path(__file__).parents[2] / "integrations" / "dbt"
DBT = os.environ.get("SRSQL_DBT")
QUARTERS = ("2011Q3", "2011Q4")
RELEASE_TESTS = ("--select", "srsql_k_of_the_release", "srsql_theta_of_the_release")
REGION = ("quarter", "age_low", "age_high", "wt_low", "wt_high", "sex")

pytestmark = pytest.mark.skipif(
    DBT is None, reason="SRSQL_DBT does not name a dbt with dbt-duckdb (.ci/integrations does)"
)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dbt")
    with Engine(folder / "w.duckdb") as engine:
        for number, quarter in enumerate(QUARTERS):
            reports = crowd(60, first=1 + 30 * number, version=1 + number)
            engine.ingest([write_quarter(folder, quarter, reports)])
            engine.release(quarter, model="ppms++", k=3, theta="0.5", seed=1)
        engine.publish(":".join(QUARTERS), folder / "out", format="duckdb")
    return folder / "out"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example beside the package, with what dbt installs."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PACKAGE, folder / "dbt", ignore=shutil.ignore_patterns("target", "logs"))
    example = folder / "dbt" / "example"
    dbt(example, folder, "deps")
    return example


def dbt(project: Path, artifact: Path, *words: str) -> subprocess.CompletedProcess[str]:
    assert DBT is not None
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [DBT, "--no-use-colors", *words, "--profiles-dir", "."],
        cwd=project,
        env=kept | {
            "SRSQL_ARTIFACT": str(artifact),
            "SRSQL_DBT_FILE": str(artifact.parent / "made.duckdb"),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        },
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


def results(project: Path) -> dict[str, str]:
    """Test or model -> how it ended."""
    told = json.loads((project / "target" / "run_results.json").read_text())
    return {each["unique_id"].split(".")[2]: each["status"] for each in told["results"]}


def failing(project: Path) -> set[str]:
    return {name for name, status in results(project).items() if status not in ("pass", "success")}


@contextmanager
def reworded(project: Path, old: str, new: str) -> Iterator[None]:
    """The example with something else in the declaration of its models."""
    page = project / "models" / "models.yml"
    before = page.read_text()
    assert old in before
    page.write_text(before.replace(old, new))
    try:
        yield
    finally:
        page.write_text(before)


def test_what_models_make_of_a_release_passes(project: Path, artifact: Path) -> None:
    made = dbt(project, artifact, "build", "--vars", "{k: 3}")
    assert made.returncode == 0, made.stdout
    ended = results(project)
    assert ended == {
        "drug_counts": "success",
        "srsql_k_of_the_release": "pass",
        "srsql_k_of_women": "pass",
        "srsql_singling_out_of_women": "pass",
        "srsql_theta_of_the_release": "pass",
        "women": "success",
    }
    with duckdb.connect(str(artifact.parent / "made.duckdb"), read_only=True) as con:
        ((least,),) = con.execute("SELECT min(cases) FROM drug_counts").fetchall()
    assert least >= 3


def changed(artifact: Path, folder: Path, statement: str) -> Path:
    """A copy of the artifact after one statement on its rows."""
    shutil.copytree(artifact, folder / "out")
    with duckdb.connect(str(folder / "out" / "release.duckdb")) as con:
        con.execute(statement)
    return folder / "out"


def test_a_region_of_one_case_fails(project: Path, artifact: Path, tmp_path: Path) -> None:
    statement = (
        "UPDATE release_2011q4.demo SET age_low = 33, age_high = 33 "
        "WHERE primaryid = (SELECT min(primaryid) FROM release_2011q4.demo)"
    )
    forged = changed(artifact, tmp_path, statement)
    made = dbt(project, forged, "test", *RELEASE_TESTS, "--vars", "{k: 3}")
    assert made.returncode == 1
    assert "srsql_k_of_the_release" in failing(project)


def test_a_term_that_a_whole_region_holds_fails(
    project: Path, artifact: Path, tmp_path: Path
) -> None:
    statement = (
        "UPDATE release_2011q3.reac SET pt = ' reaction\u200b 01 ', pt_key = 'reaction 01' "
        "WHERE caseid IN "
        "(SELECT d.caseid FROM release_2011q3.demo AS d SEMI JOIN "
        "(SELECT * FROM release_2011q3.demo ORDER BY primaryid LIMIT 1) AS o ON "
        " (d.age_low, d.age_high, d.wt_low, d.wt_high, d.sex) IS NOT DISTINCT FROM "
        "(o.age_low, o.age_high, o.wt_low, o.wt_high, o.sex))"
    )
    forged = changed(artifact, tmp_path, statement)
    made = dbt(project, forged, "test", *RELEASE_TESTS, "--vars", "{k: 3}")
    assert made.returncode == 1
    assert failing(project) == {"srsql_theta_of_the_release"}


def test_spellings_with_one_key_are_one_term(project: Path, artifact: Path, tmp_path: Path) -> None:
    """Each case of a region spells the term in another way; by its spelling none is held twice."""
    statement = (
        "UPDATE release_2011q3.reac SET pt = 'Reaction by ' || caseid, pt_key = 'reaction 01' "
        "WHERE caseid IN "
        "(SELECT d.caseid FROM release_2011q3.demo AS d SEMI JOIN "
        "(SELECT * FROM release_2011q3.demo ORDER BY primaryid LIMIT 1) AS o ON "
        " (d.age_low, d.age_high, d.wt_low, d.wt_high, d.sex) IS NOT DISTINCT FROM "
        "(o.age_low, o.age_high, o.wt_low, o.wt_high, o.sex))"
    )
    forged = changed(artifact, tmp_path, statement)
    made = dbt(project, forged, "test", *RELEASE_TESTS, "--vars", "{k: 3}")
    assert made.returncode == 1
    assert failing(project) == {"srsql_theta_of_the_release"}


def rows(artifact: Path, table: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(artifact / "release.duckdb"), read_only=True) as con:
        return con.execute(f"SELECT {', '.join(columns)} FROM main.{table}").fetchall()


def alone(artifact: Path, known: int) -> tuple[int, int]:
    """Cases that the region and so many drugs leave alone, and cases that were looked at."""
    regions = {
        (quarter, case): (quarter, *region)
        for quarter, case, *region in rows(artifact, "demo", ("quarter", "caseid", *REGION[1:]))
        if region[-1] == "F"
    }
    drugs: dict[tuple[str, int], set[str]] = defaultdict(set)
    for quarter, case, drug in rows(artifact, "drug", ("quarter", "caseid", "drugname")):
        if (quarter, case) in regions and drug and drug.strip():
            drugs[quarter, case].add(drug.strip().upper())
    held = drugs if known else {place: set[str]() for place in regions}
    sets = {
        place: [frozenset(each) for each in combinations_with_replacement(sorted(names), known)]
        for place, names in held.items()
    }
    holders: dict[tuple[Any, frozenset[str]], set[int]] = defaultdict(set)
    for place, each in sets.items():
        for items in each:
            holders[regions[place], items].add(place[1])
    found = [
        place for place, each in sets.items()
        if any(len(holders[regions[place], items]) < 2 for items in each)
    ]  # fmt: skip
    return len(found), len(sets)


@pytest.mark.parametrize("known", [0, 1, 2])
def test_singling_out_counts_what_plain_python_counts(
    project: Path, artifact: Path, known: int
) -> None:
    found = alone(artifact, known)
    with reworded(project, "known: 1", f"known: {known}"):
        made = dbt(project, artifact, "build", "--select", "women", "--store-failures",
                   "--vars", json.dumps({"k": 3, "max_share": 0}))  # fmt: skip
    ended = results(project)["srsql_singling_out_of_women"]
    assert ended == ("fail" if found[0] else "pass"), made.stdout
    with duckdb.connect(str(artifact.parent / "made.duckdb"), read_only=True) as con:
        stored = con.execute("FROM main_dbt_test__audit.srsql_singling_out_of_women").fetchall()
    assert stored == ([found] if found[0] else [])
    assert found[1] > 20


def test_singling_out_is_allowed_up_to_the_share_that_is_given(
    project: Path, artifact: Path
) -> None:
    found, looked_at = alone(artifact, 2)
    assert found > 0
    with reworded(project, "known: 1", "known: 2"):
        for share, ended in (
            (f"{found}/{looked_at}", "pass"),
            (f"{found - 1}/{looked_at}", "fail"),
        ):
            dbt(project, artifact, "build", "--select", "women", "--vars",
                json.dumps({"k": 3, "max_share": share}))  # fmt: skip
            assert results(project)["srsql_singling_out_of_women"] == ended


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("known: 1", "known: 3", "known is 0, 1 or 2"),
        ("max_share: \"{{ var('max_share', 1) }}\"", "max_share: half", "half is no share"),
        ("quasi_identifiers: [age_low, age_high, wt_low, wt_high, sex]",
         "quasi_identifiers: age_low", "give quasi_identifiers, a list of columns"),
        ("k: \"{{ var('k', 5) | int }}\"", "k: 1", "k is a whole number from 2 on"),
    ],
)  # fmt: skip
def test_what_would_prove_nothing_is_refused(
    project: Path, artifact: Path, old: str, new: str, said: str
) -> None:
    with reworded(project, old, new):
        made = dbt(project, artifact, "parse", "--vars", "{k: 3}")
    assert made.returncode != 0
    assert said in made.stdout
