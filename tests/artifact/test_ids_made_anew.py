"""Ids that a forger makes anew: seen by how they are spread, refused in corrections, else told."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import manifest_of, read_csv, rehash, write_csv
from support.node import NODE, opened_in_node
from support.quarters import crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

FIRST, LATER, CORRECTED = "2011Q3", "2011Q4", "corrected"
OPTIONS: dict[str, Any] = {
    "k": 3, "theta": "1", "seed": 1, "ids": "pseudonym", "series": "p", "allow_linkable": True
}  # fmt: skip
NUMBER = 23456701
NONE = "none of their ids is in an artifact of an earlier quarter"


@pytest.fixture(scope="module")
def made(plain_pages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters that share thirty cases, and a correction of the first."""
    folder = tmp_path_factory.mktemp("anew")
    reports = {FIRST: crowd(60, first=NUMBER), LATER: crowd(60, first=NUMBER + 30, version=2)}
    to: dict[str, Any] = {"series": "p", "format": "csv", "allow_linkable": True}
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, q, r) for q, r in reports.items()])
        for quarter in reports:
            engine.release(quarter, **OPTIONS)
            engine.publish(quarter, folder / quarter, **to)
        engine.sql("INSERT INTO srsql.deleted_case VALUES ('faers', ?, 1)", [str(NUMBER + 2)])
        engine.correct(FIRST, series="p")
        engine.publish(FIRST, folder / CORRECTED, **to)
    return folder


def renumbered(folder: Path, to: Path, bits: int) -> Path:
    """The artifact with new ids of so many bits, in the order of the old ones."""
    shutil.copytree(folder, to)
    luck = random.Random(bits)
    names = {
        role: next(c["name"] for c in manifest_of(to)["tables"][0]["columns"] if c["role"] == role)
        for role in ("report id", "case id")
    }
    new: dict[str, dict[str, str]] = {}
    for name in names.values():
        old = sorted({row[name] for row in read_csv(to, "demo")}, key=int)
        fresh = sorted(luck.sample(range(2**bits), len(old)))
        new[name] = dict(zip(old, map(str, fresh), strict=True))
    for table in manifest_of(to)["tables"]:
        rows = read_csv(to, table["name"])
        for row in rows:
            row.update({name: new[name][row[name]] for name in names.values()})
        write_csv(to, table["name"], rows)
    rehash(to, counts=True, report=True)
    return to


def told(found: Any) -> list[str]:
    return [text for text in found if NONE in text]


def test_ids_that_are_not_spread_as_pseudonyms_are_refused(made: Path, tmp_path: Path) -> None:
    short = renumbered(made / FIRST, tmp_path / "short", 24)
    faults = [fault for check in verify(short).checks for fault in check.faults]
    assert sum("bits of 60 ids are not those of pseudonyms" in text for text in faults) == 2
    if NODE:
        (check,) = [c for c in opened_in_node(tmp_path, short)["checks"] if c["name"] == "ids"]
        assert check["count"] == 2
        assert all("bits of 60 ids are not those of" in place for place in check["places"])


def test_a_later_quarter_of_which_no_id_is_old_is_told(made: Path, tmp_path: Path) -> None:
    honest = [made / FIRST, made / LATER]
    assert verify(honest).passed
    assert not told(verify(honest).cannot_show)
    anew = [made / FIRST, renumbered(made / LATER, tmp_path / "anew", 53)]
    found = verify(anew)
    assert found.passed
    (text,) = told(found.cannot_show)
    assert text.startswith(f"{LATER}: whether any of its 60 cases came before")
    if NODE:
        assert not told(opened_in_node(tmp_path, *honest)["notShown"])
        (text,) = told(opened_in_node(tmp_path, *anew)["notShown"])
        assert text.startswith(f"{LATER}: whether any of its 60 cases came before")


def test_a_correction_that_shows_other_cases_than_the_version_before_is_refused(
    made: Path, tmp_path: Path
) -> None:
    assert verify([made / FIRST, made / CORRECTED, made / LATER]).passed
    anew = renumbered(made / CORRECTED, tmp_path / "anew", 53)
    found = verify([made / FIRST, anew])
    assert any("is a correction, and 57 of its 57 cases are not in" in t for t in found.failures)
