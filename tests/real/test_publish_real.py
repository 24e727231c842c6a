"""A real quarter, published in every format, verified where nothing else is left."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from oracles.artifact import regions, terms, too_frequent, too_small
from support.artifacts import manifest_of, read_csv, tables_of, thresholds_of
from support.command import srsql
from support.real_data import DATA, needs

from srsql.engine.api.engine import Engine

ARCHIVE = DATA / "faers" / "faers_ascii_2022Q4.zip"
pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]
REGION = ("age_low", "age_high", "wt_low", "wt_high", "sex")
DROPPED = ("mfr_num", "mfr_sndr", "auth_num", "lit_ref")


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Path:
    """A folder with an artifact a format and nothing else."""
    folder = tmp_path_factory.mktemp("published")
    with Engine(real("2022Q4", folder / "w.duckdb")) as engine:
        engine.release("2022Q4", on_infeasible="withhold", seed=1)
        for form in ("parquet", "csv", "duckdb"):
            engine.publish("2022Q4", folder / form, format=form)  # type: ignore[arg-type]
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    shutil.rmtree(folder / "w.duckdb.tmp", ignore_errors=True)
    return folder


def test_a_real_artifact_is_verified_from_its_folder_alone(artifacts: Path) -> None:
    assert sorted(path.name for path in artifacts.iterdir()) == ["csv", "duckdb", "parquet"]
    for folder in artifacts.iterdir():
        answer = srsql("verify", folder)
        assert (answer.code, answer.err) == (0, "")


def test_k_and_theta_of_a_real_artifact_hold_by_their_definitions(artifacts: Path) -> None:
    folder = artifacts / "csv"
    crowds = regions(read_csv(folder, "demo"), REGION)
    held = terms(
        (row["caseid"], row[column])
        for table, column in (("reac", "pt"), ("indi", "indi_pt"))
        for row in read_csv(folder, table)
    )
    assert sum(map(len, crowds.values())) == manifest_of(folder)["counts"]["released_cases"]
    assert not too_small(crowds, 5)
    assert not too_frequent(crowds, held, thresholds_of(folder))


def test_no_value_of_a_dropped_column_is_in_a_real_artifact(artifacts: Path) -> None:
    with zipfile.ZipFile(ARCHIVE) as archive:
        (name,) = [n for n in archive.namelist() if Path(n).stem.lower().startswith("demo")]
        text = archive.read(name).decode("utf-8", "replace")
    lines = csv.DictReader(io.StringIO(text), delimiter="$", quoting=csv.QUOTE_NONE)
    values = {row[n] or "" for row in lines for n in DROPPED}
    secret = sorted(v for v in values if len(v) > 8 and any(c.isdigit() for c in v))
    assert len(secret) > 1000
    for form in ("parquet", "csv", "duckdb"):
        shown = {
            str(v) for t in tables_of(artifacts / form).values() for r in t for v in r.values()
        }
        assert shown.isdisjoint(secret)
    whole = b"".join(path.read_bytes() for path in (artifacts / "csv").iterdir())
    assert not [value for value in secret[:: len(secret) // 500] if value.encode() in whole]
