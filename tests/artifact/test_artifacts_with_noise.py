"""Artifacts whose items counts with noise tell: as they are they pass, and forged they do not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import manifest_of, read_csv, rehash, tables_of, write_csv

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.extras.synth import quarter_range, synthesize

pytestmark = pytest.mark.slow

Q1, Q2 = "2011Q1", "2011Q2"
OPTIONS: dict[str, Any] = {
    "model": "ppms++", "k": 3, "terms": "noisy-tables", "seed": 1, "epsilon": "20",
    "delta": "1/1000",
}  # fmt: skip
NOISE, CASES, ITEMS, PAIRS = (
    "count_noise", "noisy_case_count", "noisy_item_count", "noisy_pair_count"
)  # fmt: skip
FORMS = ("parquet", "csv", "duckdb")
Row = dict[str, Any]
Forge = Callable[[Path], None]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters with counts that have noise, by sex."""
    folder = tmp_path_factory.mktemp("noisy")
    synthesize(folder / "raw", quarter_range(Q1, Q2), cases=700, seed=5)
    cuts = '[[cut]]\nqid = "sex"\nvalue = "F"\n[[cut]]\nqid = "sex"\nvalue = "M"\n'
    (folder / "cuts.toml").write_text(cuts)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
        for quarter in (Q1, Q2):
            engine.release.make(quarter, **OPTIONS, strata=str(folder / "cuts.toml"))
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def published(db: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    with Engine(db, read_only=True) as engine:
        for form in FORMS:
            engine.artifact.publish(Q1, folder / form, format=form)
        engine.artifact.publish(f"{Q1}:{Q2}", folder / "both")
    return folder


@pytest.fixture
def forged(published: Path, tmp_path: Path) -> Path:
    shutil.copytree(published / "csv", tmp_path / "forged")
    return tmp_path / "forged"


@pytest.mark.parametrize("form", FORMS)
def test_an_artifact_has_the_counts_of_the_release(db: Path, published: Path, form: str) -> None:
    verdict = verify(published / form)
    assert verdict.passed, [c for c in verdict.checks if c.faults]
    assert any("that counts have the noise that is stated" in text for text in verdict.cannot_show)
    found = tables_of(published / form)
    assert set(found) == {"demo", NOISE, CASES, ITEMS, PAIRS}
    with Engine(db, read_only=True) as engine:
        for name in (CASES, ITEMS, PAIRS):
            due = engine.sql(f"SELECT * FROM release_2011q1.{name}")
            shown = [tuple(str(value) for value in row.values()) for row in found[name]]
            assert sorted(shown) == sorted(tuple(map(str, row)) for row in due)
    told = manifest_of(published / form)
    assert told["noisy"]["epsilon"] == "20"
    assert "counted" not in told
    readme = " ".join((published / form / "README.md").read_text().split())
    assert "within `margin_95` of it in 95 of 100 counts" in readme
    assert "differential privacy for adding or removing a case" in readme


def test_an_artifact_of_two_quarters_passes(published: Path) -> None:
    verdict = verify(published / "both")
    assert verdict.passed, [c for c in verdict.checks if c.faults]


def _table(name: str, change: Callable[[list[Row]], None]) -> Forge:
    def forge(folder: Path) -> None:
        rows = read_csv(folder, name)
        change(rows)
        write_csv(folder, name, rows)

    return forge


def _noise(table: str, **values: str) -> Forge:
    def change(rows: list[Row]) -> None:
        next(row for row in rows if row["counts"] == table).update(values)

    return _table(NOISE, change)


def _claim(**values: Any) -> Forge:
    """The claim and the parameters, both."""

    def forge(folder: Path) -> None:
        told = json.loads((folder / "manifest.json").read_text())
        for name, value in values.items():
            told["noisy"][name] = value
            told["parameters"][f"noisy_{name}"] = value
        (folder / "manifest.json").write_text(json.dumps(told))

    return forge


def _parameter(name: str, value: Any) -> Forge:
    def forge(folder: Path) -> None:
        told = json.loads((folder / "manifest.json").read_text())
        told["parameters"][name] = value
        (folder / "manifest.json").write_text(json.dumps(told))

    return forge


def _below(rows: list[Row]) -> None:
    rows[0]["cases"] = "1"


def _strange_column(rows: list[Row]) -> None:
    rows[0]["attribute"] = "outc_cod"


def _strange_stratum(rows: list[Row]) -> None:
    rows[-1]["stratum"] = "sex X"


def _twice(rows: list[Row]) -> None:
    rows.insert(1, dict(rows[0]))


def _none(rows: list[Row]) -> None:
    del rows[0]


def _spelled(rows: list[Row]) -> None:
    rows[0]["term"] = rows[0]["term"].upper()


FORGERIES: dict[str, tuple[Forge, str]] = {
    "less noise than epsilon needs": (_noise(ITEMS, scale="1/3"), "noise"),
    "a share of epsilon that is larger": (_noise(ITEMS, epsilon="18"), "noise"),
    "a share of delta that is larger": (_noise(PAIRS, delta="1/1000"), "noise"),
    "fewer counts of a case": (_noise(ITEMS, counts_of_a_case="3"), "noise"),
    "a lower threshold": (_noise(ITEMS, threshold="5"), "noise"),
    "no threshold": (_noise(PAIRS, threshold=""), "noise"),
    "a smaller error": (_noise(ITEMS, mean_error="0.1"), "noise"),
    "a smaller margin": (_noise(ITEMS, margin_95="0"), "noise"),
    "a threshold of strata": (_noise(CASES, threshold="9", delta="1/1000"), "noise"),
    "a count below the threshold": (_table(ITEMS, _below), "noise"),
    "a column that is not counted": (_table(ITEMS, _strange_column), "noise"),
    "a stratum that is none": (_table(ITEMS, _strange_stratum), "noise"),
    "a key twice": (_table(ITEMS, _twice), "noise"),
    "a stratum that is missing": (_table(CASES, _none), "noise"),
    "a spelling instead of a key": (_table(ITEMS, _spelled), "noise"),
    "a smaller epsilon": (_claim(epsilon="1"), "manifest"),
    "more values of a case": (_claim(case_items=9), "noise"),
    "an epsilon that the parameters lack": (_parameter("noisy_epsilon", "1"), "manifest"),
    "noise of a seed": (_parameter("noisy_source", "seeded"), "manifest"),
    "another delta": (_claim(delta="1/2"), "manifest"),
    "a second draw": (_parameter("version", 2), "manifest"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(forged: Path, name: str) -> None:
    forge, check = FORGERIES[name]
    forge(forged)
    rehash(forged, counts=True)
    found = {one.name for one in verify(forged).checks if one.faults}
    assert check in found


@pytest.mark.parametrize(
    "more",
    [
        {"table_items": "drugname,pt,outc_cod"},
        {"term_key": 0},
        {"epsilon": "1/10000", "case_items": 20},
    ],
    ids=["a column without keys", "terms as spelled", "a margin of millions"],
)
def test_what_may_be_released_may_be_published(
    db: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    """The budget of its cases is spent, so that nobody could make it anew."""
    (tmp_path / "w.duckdb").write_bytes(db.read_bytes())
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.release.make(
            Q1, **{**OPTIONS, "allow_linkable": True, **more}, series="other", max_linkable=1
        )
        engine.artifact.publish(Q1, tmp_path / "out", series="other", allow_linkable=True)
    assert verify(tmp_path / "out").passed


@pytest.mark.parametrize("scale", ["1e999999999", "1/0", "-1", "inf"])
def test_a_scale_that_is_no_fraction_is_found_at_once(forged: Path, scale: str) -> None:
    _table(NOISE, lambda rows: rows[0].update(scale=scale))(forged)
    rehash(forged)
    assert "no fractions" in str([check.faults for check in verify(forged).checks])
