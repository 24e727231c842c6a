"""What the command line says of rows that link: one line, exit 2, and the yes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

MS = ("--quarter", "2011Q3", "--model", "ms", "--k", 3, "--theta", 1, "--seed", 1)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40, terms=400))])
        engine.release("2011Q3", model="ms", k=3, theta="1", seed=9)
    return tmp_path / "w.duckdb"


def test_a_second_series_is_refused_in_one_line_and_told_of_with_the_yes(
    db: Path, tmp_path: Path
) -> None:
    asked = ("release", *MS, "--series", "journal", "--db", db)
    refused = srsql(*asked)
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.splitlines()) == 1
    assert "40 of 40 rows (100.0%) link one to one" in refused.err
    assert "--allow-linkable" in refused.err
    draft = srsql(*asked, "--draft")
    assert draft.code == 0
    assert "40 of 40 rows (100.0%) link one to one to series main" in draft.out
    confirm = ("release", "--quarter", "2011Q3", "--series", "journal", "--confirm", "--db", db)
    assert srsql(*confirm).code == 2
    exposed = srsql(*confirm, "--max-linkable", 1, "--json")
    assert exposed.code == 0
    assert [link["scope"] for link in exposed.json["links"]] == ["series main"]
    publish = ("publish", "--quarter", "2011Q3", "--to", tmp_path / "out", "--db", db)
    assert srsql(*publish).code == 2
    assert not (tmp_path / "out").exists()
    published = srsql(*publish, "--allow-linkable")
    assert published.code == 0
    assert "link one to one to series journal" in published.out


def test_weaker_terms_are_told_in_one_line_and_need_their_own_yes(db: Path) -> None:
    asked = ("release", *MS, "--k", 2, "--supersede", "--allow-linkable", "--db", db)
    refused = srsql(*asked)
    assert (refused.code, refused.out) == (2, "")
    assert "promises less (k 2, was 3)" in refused.err
    made = srsql(*asked, "--weaker", "--change")
    assert made.code == 0
    assert "promises less than the version before: k 2, was 3" in made.out


def test_an_unsafe_audit_of_all_series_exits_with_1(db: Path) -> None:
    alone = srsql("audit", "--all-series", "--db", db)
    assert alone.code == 0
    assert "no quarter is held by two releases" in alone.out
    assert srsql("release", *MS, "--series", "b", "--allow-linkable", "--db", db).code == 0
    joined = srsql("audit", "--all-series", "--db", db)
    assert joined.code == 1
    assert "are left with fewer than 3 candidates by whoever also has series b" in joined.out
    assert joined.out.rstrip().endswith("all series of faers: NOT safe")
    rows = srsql("audit", "--all-series", "--db", db, "--json").json["releases"]
    assert {row["scope"] for row in rows} == {"group", "match"}
    assert srsql("audit", "--all-series", "--series", "b", "--db", db).code == 2
