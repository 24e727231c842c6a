"""A warehouse that version 0.1 made opens after ``srsql migrate`` and says what it said then."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql

from srsql import Engine
from srsql.engine.errors import WarehouseError
from srsql.engine.warehouse import migrate as module
from srsql.engine.warehouse.migrate import migrate

OLD = Path(__file__).parents[1] / "fixtures" / "release_0_1"
VARIES = {"bytes_on_disk", "software_version", "path"}
SINCE = {"linkable"}
"""Measures that version 0.1 did not have."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The warehouse of version 0.1, with what its series refer to."""
    db = tmp_path / "warehouse.duckdb"
    with gzip.open(OLD / "warehouse.duckdb.gz") as packed, db.open("wb") as file:
        shutil.copyfileobj(packed, file)
    shutil.copy(OLD / "theirs.toml", tmp_path)
    return db


def figures(found: Any) -> Any:
    """Numbers, truth values and names of figures of a document, without texts and what may vary."""
    if isinstance(found, dict):
        return {name: figures(value) for name, value in found.items() if name not in VARIES}
    if isinstance(found, list):
        known = [v for v in found if not (isinstance(v, dict) and v.get("measure") in SINCE)]
        return [figures(value) for value in known]
    return found if isinstance(found, int | float | None) else None


def test_what_version_0_1_said_is_said_after_the_migration(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old.parent)
    made = migrate(old)
    assert (made.from_layout, made.to_layout) == (1, module.LAYOUT)
    assert made.kept is not None
    assert Path(made.kept).is_file()
    expected = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))
    asked = [c for c in expected["commands"] if c["arguments"][0] in ("status", "metrics", "audit")]
    assert len(asked) > 5
    for command in asked:
        run = srsql(*command["arguments"], "--json")
        assert run.code == command["code"], (command["arguments"], run.err)
        assert figures(json.loads(run.out)) == figures(command["document"]), command["arguments"]


def test_released_rows_are_byte_for_byte_those_of_version_0_1(old: Path) -> None:
    migrate(old)
    sys.path.insert(0, str(OLD))
    try:
        from expect import digest
    finally:
        sys.path.remove(str(OLD))
    expected = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))["tables"]
    with duckdb.connect(str(old), read_only=True) as con:
        assert expected
        for view, told in expected.items():
            rows = con.execute(f"SELECT * FROM {view}").fetchall()
            assert (len(rows), digest(rows)) == (told["rows"], told["sha256"]), view


def test_the_next_release_has_a_number_of_its_own(old: Path) -> None:
    with duckdb.connect(str(old), read_only=True) as con:
        ((last,),) = con.execute("SELECT max(release_id) FROM srsql.release").fetchall()
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        made = engine.release("2020Q1", k=3, theta="1", seed=1, series="after", allow_linkable=True)
    assert made.release_id > last


def test_an_old_warehouse_is_not_opened_but_the_way_out_is_named(old: Path) -> None:
    with pytest.raises(WarehouseError, match=r"layout 1, .* run 'srsql migrate'"):
        Engine(old)


def test_a_second_migration_has_nothing_to_do(old: Path) -> None:
    migrate(old)
    again = migrate(old)
    assert again.kept is None
    assert again.from_layout == again.to_layout


def test_a_migration_that_loses_a_row_changes_nothing(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = old.read_bytes()
    take = module._take

    def careless(copy: Path, layout: int) -> None:
        take(copy, layout)
        with duckdb.connect(str(copy)) as con:
            con.execute("DELETE FROM srsql.member WHERE case_no = 0")

    monkeypatch.setattr(module, "_take", careless)
    with pytest.raises(WarehouseError, match="member would have"):
        migrate(old)
    assert old.read_bytes() == before
    assert sorted(file.name for file in old.parent.iterdir()) == ["theirs.toml", old.name]


def test_what_is_no_warehouse_is_told(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no warehouse at"):
        migrate(tmp_path / "absent.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as con:
        con.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(WarehouseError, match="is no warehouse of srsql"):
        migrate(tmp_path / "other.duckdb")
