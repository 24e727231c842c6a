"""What an artifact shows and says of the ids of its series."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import pytest
from artifact.test_secrets import bytes_of, spellings
from support.artifacts import make, manifest_of, rehash, tables_of
from support.quarters import Report, crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.catalog.series import IDS

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"k": 3, "theta": "1", "seed": 1}
FIRST = 23456701


def quarters() -> dict[str, list[Report]]:
    """Ids as long as those of FAERS, so that no other value looks like one; 30 cases in both."""
    return {"2011Q3": crowd(60, first=FIRST), "2011Q4": crowd(60, first=FIRST + 30, version=2)}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three series of one model, which differ in their ids."""
    folder = tmp_path_factory.mktemp("ids")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, q, r) for q, r in quarters().items()])
        for ids in ("pseudonym", "per-quarter", "original"):
            for quarter in quarters():
                engine.release(quarter, **OPTIONS, series=ids, ids=ids, allow_linkable=True)
    return folder / "w.duckdb"


@pytest.mark.parametrize("form", ["parquet", "csv", "duckdb"])
@pytest.mark.parametrize("ids", ["pseudonym", "per-quarter"])
def test_no_byte_of_an_artifact_is_an_original_id_or_the_key_of_its_series(
    db: Path, tmp_path: Path, ids: str, form: str
) -> None:
    made = make(db, tmp_path / "out", "2011Q4", series=ids, format=form)
    with Engine(db, read_only=True) as engine:
        ((key,),) = engine.sql("SELECT pseudonym_key FROM srsql.series WHERE series = ?", [ids])
    pads = [bytes(b ^ pad for b in key) for pad in (0x36, 0x5C)]
    needles = [key, key[:16], *pads, key.hex().encode(), b"id_pseudonym"]
    real = {n for r in quarters()["2011Q4"] for n in (r.caseid, r.primaryid)}
    needles += [spelling for number in real for spelling in spellings(number)]
    for name, content in bytes_of(made):
        for needle in needles:
            assert needle not in content, (name, needle)
    shown = {int(row[n]) for row in tables_of(made)["demo"] for n in ("caseid", "primaryid")}
    assert len(shown) == 120
    assert shown.isdisjoint(real)
    assert max(shown) < 2**53


@pytest.mark.parametrize("ids", ["pseudonym", "per-quarter", "original"])
def test_manifest_readme_and_report_say_which_ids_the_series_has(
    db: Path, tmp_path: Path, ids: str
) -> None:
    made = make(db, tmp_path / "out", "2011Q4", series=ids)
    assert manifest_of(made)["parameters"]["ids"] == ids
    assert IDS[ids] in (made / "README.md").read_text()
    assert IDS[ids] in html.unescape((made / "report.html").read_text())
    everywhere = "in every quarter" in (made / "data-dictionary.csv").read_text()
    assert everywhere == (ids != "per-quarter")
    assert verify(made).passed


def test_original_ids_under_the_key_of_a_publication_are_told_as_pseudonyms(
    db: Path, tmp_path: Path
) -> None:
    made = make(
        db, tmp_path / "out", "2011Q4", series="original", case_ids="pseudonym",
        key_file=tmp_path / "key",
    )  # fmt: skip
    assert manifest_of(made)["parameters"]["ids"] == "pseudonym"
    for name in ("README.md", "report.html"):
        assert IDS["original"] not in html.unescape((made / name).read_text())
    assert verify(made).passed


def test_artifacts_with_pseudonyms_of_a_series_are_checked_together(
    db: Path, tmp_path: Path
) -> None:
    folders = [make(db, tmp_path / q, q, series="pseudonym") for q in quarters()]
    found = verify(folders)
    assert found.passed
    (cover,) = (check for check in found.checks if check.name == "cover")
    assert cover.total == 30


def test_that_ids_of_a_quarter_join_nothing_is_listed_and_not_passed_over(
    db: Path, tmp_path: Path
) -> None:
    folders = [make(db, tmp_path / q, q, series="per-quarter") for q in quarters()]
    found = verify(folders)
    assert found.passed
    assert {check.name for check in found.checks}.isdisjoint({"cover", "new k", "new theta"})
    listed = [text for text in found.cannot_show if "another id in every quarter" in text]
    assert [text[:6] for text in listed] == list(quarters())


def test_a_kind_of_ids_that_there_is_not_is_a_fault(db: Path, tmp_path: Path) -> None:
    made = make(db, tmp_path / "out", "2011Q4", series="original", format="csv")
    parameters = manifest_of(made)["parameters"]
    rehash(made, parameters=parameters | {"ids": "hashed"})
    assert any("parameter ids is 'hashed'" in text for text in verify(made).failures)


def test_artifacts_of_two_kinds_of_ids_are_not_compared(db: Path, tmp_path: Path) -> None:
    folders = [make(db, tmp_path / q, q, series="original", format="csv") for q in quarters()]
    parameters = manifest_of(folders[1])["parameters"]
    rehash(folders[1], parameters=parameters | {"ids": "pseudonym"})
    assert "series: 2011Q4 has another kind of case ids than 2011Q3" in verify(folders).failures
    del parameters["ids"]  # as in artifacts of earlier versions
    rehash(folders[1], parameters=parameters, report=True)
    assert verify(folders).passed


def test_a_case_of_one_report_has_two_pseudonyms_that_share_nothing(
    db: Path, tmp_path: Path
) -> None:
    made = make(db, tmp_path / "out", "2011Q4", series="pseudonym")
    pairs = {(row["caseid"], row["primaryid"]) for row in tables_of(made)["demo"]}
    assert len({case - report for case, report in pairs}) == len(pairs) == 60
    assert len({case ^ report for case, report in pairs}) == 60
