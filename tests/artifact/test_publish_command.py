"""`srsql publish` and `srsql verify`: what they print, their exit codes, where they work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("publish")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", crowd(30))])
        engine.release("2011Q4", k=3, theta="0.5", seed=1)
    return folder / "w.duckdb"


@pytest.mark.thorough
def test_an_artifact_is_verified_where_there_is_no_warehouse(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(db, tmp_path / "srsql.duckdb")
    made = srsql("publish", "--quarter", "2011Q4", "--to", "out")
    assert (made.code, made.err) == (0, "")
    assert "demo.parquet" in made.out
    assert "srsql verify out" in made.out
    (tmp_path / "srsql.duckdb").unlink()
    checked = srsql("verify", "out")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.splitlines()[-1] == "passed"
    assert "not shown by an artifact alone:" in checked.out


@pytest.mark.thorough
def test_json_is_one_document_with_every_file_and_check(db: Path, tmp_path: Path) -> None:
    options = ["--format", "duckdb", "--storage-version", "v1.2.0", "--json"]
    made = srsql("publish", "--quarter", "2011Q4", "--to", tmp_path / "out", "--db", db, *options)
    assert {f["name"]: f["rows"] for f in made.json["files"]} == {
        "README.md": None,
        "SHA256SUMS": None,
        "croissant.json": None,
        "data-dictionary.csv": None,
        "datapackage.json": None,
        "dcat.jsonld": None,
        "manifest.json": None,
        "methods.md": None,
        "prov.jsonld": None,
        "release.duckdb": 150,
        "report.html": None,
        "value-hierarchies.csv": None,
        "value-thresholds.csv": None,
    }
    found = srsql("verify", tmp_path / "out", "--json").json
    assert found["passed"]
    assert {check["name"] for check in found["checks"]} >= {"files", "content", "k", "theta"}
    assert all(check["passed"] for check in found["checks"])
    assert found["cannot_show"]


@pytest.mark.thorough
def test_a_failed_verification_ends_with_1_and_says_where(db: Path, tmp_path: Path) -> None:
    srsql("publish", "--quarter", "2011Q4", "--to", tmp_path / "out", "--db", db)
    with (tmp_path / "out" / "demo.parquet").open("r+b") as file:
        file.seek(40)
        file.write(b"\xff")
    answer = srsql("verify", tmp_path / "out")
    assert (answer.code, answer.err) == (1, "")
    assert "demo.parquet was changed: its hash is not the one in SHA256SUMS" in answer.out
    assert answer.out.splitlines()[-1] == "FAILED"


@pytest.mark.thorough
def test_a_new_key_is_told_once(db: Path, tmp_path: Path) -> None:
    def publish(to: str) -> str:
        answer = srsql(
            "publish", "--quarter", "2011Q4", "--to", tmp_path / to, "--db", db,
            "--case-ids", "pseudonym", "--key-file", tmp_path / "key",
        )  # fmt: skip
        assert answer.code == 0
        return answer.out

    assert "a new key is in" in publish("a")
    assert "a new key is in" not in publish("b")
    texts = [(tmp_path / name / "SHA256SUMS").read_text() for name in "ab"]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify", "."), "is not an artifact"),
        (("verify", "absent"), "cannot be read"),
        (("publish", "--quarter", "2010Q1", "--to", "out", "--db", "DB"), "is not released"),
        (("publish", "--quarter", "2011Q4", "--to", "out", "--db", "absent"), "no warehouse"),
        (
            ("publish", "--quarter", "2011Q4", "--to", "out", "--db", "DB", "--key-file", "k"),
            "go together",
        ),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_one_line(
    db: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = srsql(*[str(db) if a == "DB" else a for a in arguments])
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert said in line
    assert list(tmp_path.iterdir()) == []
