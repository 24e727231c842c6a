"""Columns that are published only where a series asks for them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from support.artifacts import manifest_of
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import DatasetError, ReleaseError

OPTIONS = {"k": 3, "theta": "0.5", "seed": 1, "on_infeasible": "withhold", "allow_linkable": True}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("optional")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([
            write_quarter(folder, quarter, crowd(60, first=first))
            for quarter, first in (("2011Q1", 1), ("2011Q2", 101))
        ])  # fmt: skip
        engine.con.execute(
            "UPDATE raw_faers.drug SET prod_ai = drugname, "
            "route = CASE WHEN caseid % 3 = 0 THEN 'Oral' END"
        )
        engine.release("2011Q1", **OPTIONS)
        engine.release("2011Q1", series="open", columns=["drug.route", "drug.prod_ai"], **OPTIONS)
    return folder / "w.duckdb"


def names(engine: Engine, view: str) -> list[str]:
    return [row[0] for row in engine.sql(f"DESCRIBE {view}")]


@pytest.mark.slow
def test_they_stand_in_the_rows_of_that_series_alone(db: Path) -> None:
    with Engine(db, read_only=True) as engine:
        plain = names(engine, "release_2011q1.drug")
        assert names(engine, "release_open_2011q1.drug") == [
            *plain[:-1],
            "prod_ai",
            "route",
            plain[-1],
        ]
        told = engine.sql("SELECT published_verbatim FROM release_open_2011q1.manifest")[0][0]
        assert "drug.prod_ai, drug.route" in told
        assert "optional_columns" not in names(engine, "release_2011q1.manifest")
        found = {row.scope: row for row in engine.metrics("2011Q1", series="open")
                 if row.measure == "one_candidate_by_column"}  # fmt: skip
        assert set(found) == {"drug.prod_ai", "drug.route"}
        assert all(row.measure != "one_candidate_by_column" for row in engine.metrics("2011Q1"))


@pytest.mark.thorough
def test_a_series_keeps_them_and_takes_no_others(db: Path) -> None:
    with Engine(db) as engine:
        with pytest.raises(ReleaseError, match="a series shows the same in all"):
            engine.release("2011Q2", columns="drug.route", change=True, weaker=True, **OPTIONS)
        with pytest.raises(ReleaseError, match=r"'drug[.]lot_num' is no optional column of faers"):
            engine.release("2011Q2", columns="drug.lot_num", series="third", **OPTIONS)
        engine.release("2011Q2", series="open", draft=True, **OPTIONS)
        engine.confirm("2011Q2", series="open", allow_linkable=True)
        assert names(engine, "released_open.drug")[-2:] == ["prod_ai", "route"]


@pytest.mark.thorough
def test_an_artifact_with_them_passes(db: Path, tmp_path: Path) -> None:
    with Engine(db, read_only=True) as engine:
        engine.publish("2011Q1", tmp_path / "out", series="open", allow_linkable=True)
    assert verify(tmp_path / "out").passed
    table = next(t for t in manifest_of(tmp_path / "out")["tables"] if t["name"] == "drug")
    assert [c["name"] for c in table["columns"] if c["role"] == "published as it is"] == [
        "role_cod", "prod_ai", "route",
    ]  # fmt: skip


def test_rows_that_are_taken_apart_show_none(db: Path) -> None:
    with (
        Engine(db) as engine,
        pytest.raises(ReleaseError, match=r"no rows of drug that could show"),
    ):
        engine.release("2011Q2", series="apart", columns="drug.route", terms="disassociate",
                       term_attributes="drugname", **OPTIONS)  # fmt: skip


def test_a_declaration_keeps_what_a_release_shows(db: Path, tmp_path: Path) -> None:
    text = (resources.files("srsql.schemas") / "faers.toml").read_text(encoding="utf-8")
    for name in ("sex.csv", "age_groups.csv"):
        (tmp_path / "hierarchies").mkdir(exist_ok=True)
        tree = (resources.files("srsql.schemas") / "hierarchies" / name).read_bytes()
        (tmp_path / "hierarchies" / name).write_bytes(tree)
    (tmp_path / "faers.toml").write_text(text.replace('"route", ', "", 1), encoding="utf-8")
    source = write_quarter(tmp_path, "2011Q3", crowd(60, first=201))
    with Engine(db) as engine, pytest.raises(DatasetError, match=r"the optional column drug[.]rou"):
        engine.ingest([source], dataset=str(tmp_path / "faers.toml"))
