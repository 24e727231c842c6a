"""Mutated sources: whatever comes, it is one line or books that balance, and nothing half done."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles import clinic, hospital
from support import mutations
from support.amount import some_of
from support.archives import vaers

from srsql import Engine
from srsql.engine.errors import SrsqlError
from srsql.engine.ingest import IngestedPeriod

FEW, MANY = range(8), range(1000, 1000 + some_of(300))
VAERS = vaers(
    'VAERS_ID,STATE,AGE_YRS,SEX,SYMPTOM_TEXT\n1,CT,42.5,F,"He said ""no"",\nthen left"\n'
    + "".join(f"{n},NY,{n},M,plain text {n}\n" for n in range(2, 12))
)
Attempt = Callable[[Engine, Path, random.Random, str], list[IngestedPeriod]]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(duckdb.connect()) as opened, opened.con:
        yield opened


def rates(rng: random.Random) -> dict[str, Any]:
    """How much of a source may be wrong: as usual, or all of it."""
    lenient = rng.random() < 0.5
    return {"max_reject_rate": 1, "max_unread": 1, "allow_incomplete": True} if lenient else {}


def try_vaers(engine: Engine, folder: Path, rng: random.Random, period: str) -> Any:
    files = {
        f"{period}{name[4:]}": text if isinstance(text, bytes) else text.encode()
        for name, text in VAERS.items()
    }
    if rng.random() < 0.6:
        files = mutations.mutated_text(rng, files)
    source = folder / f"{period}.zip"
    source.write_bytes(mutations.packed(rng, files))
    return engine.ingest([source], dataset="vaers", **rates(rng))


def try_csv(engine: Engine, folder: Path, rng: random.Random, period: str) -> Any:
    data = clinic.write(folder, clinic.visits(), clinic.findings(["ache", "rash, red", 'a"b']))
    files = {file.name: file.read_bytes() for file in data.iterdir()}
    for name, content in mutations.mutated_text(rng, files).items():
        (data / name).write_bytes(content)
    return engine.ingest([data], dataset=folder / "clinic.toml", period=period, **rates(rng))


def columns_of(rng: random.Random, names: list[str]) -> list[str]:
    """A SELECT list over text columns: types, names and columns changed."""
    listed = []
    for name in names:
        kind = rng.choice(mutations.TYPES)
        value = mutations.odd_value(rng, kind)
        text = "NULL" if value is None else "'" + value.replace("'", "''") + "'"
        way = rng.randrange(8)
        shown = {
            0: f"CAST({text} AS {kind})",
            1: f'TRY_CAST("{name}" AS {rng.choice(("BIGINT", "DOUBLE", "DATE"))})',
            2: "NULL",
            3: "'" + rng.choice(mutations.NASTY).replace("'", "''").replace("\0", "") + "'",
        }.get(way, f'"{name}"')
        label = {4: name.upper(), 5: f" {name} "}.get(way, name)
        if way != 6 or rng.random() < 0.7:
            listed.append(f'{shown} AS "{label}"')
        if way == 7 and rng.random() < 0.3:
            listed.append(f'"{name}" AS "{name.swapcase()} "')
    return listed or ["1 AS nothing"]


def try_parquet(engine: Engine, folder: Path, rng: random.Random, period: str) -> Any:
    data = clinic.write(folder, clinic.visits(), clinic.findings(["ache", "rash"]))
    toml = (folder / "clinic.toml").read_text().replace('reader = "csv"', 'reader = "parquet"')
    (folder / "clinic.toml").write_text(toml.replace("*.csv", "*.parquet"))
    with duckdb.connect() as con:
        for file in list(data.iterdir()):
            rows = f"read_csv('{file}', all_varchar = true)"
            names = [row[0] for row in con.execute(f"DESCRIBE FROM {rows}").fetchall()]
            listed = [f'"{name}"' for name in names]
            if rng.random() < 0.5:
                listed = columns_of(rng, names)
            where = rng.choice(("true", "true", "false"))
            target = file.with_suffix(".parquet")
            try:
                con.execute(
                    f"COPY (SELECT {', '.join(listed)} FROM {rows} WHERE {where}) TO '{target}' "
                    f"(FORMAT parquet, COMPRESSION {rng.choice(('zstd', 'snappy', 'none'))})"
                )
            except duckdb.Error:  # a type that Parquet has not
                con.execute(f"COPY (FROM {rows}) TO '{target}'")
            file.unlink()
            if rng.random() < 0.4:
                target.write_bytes(mutations.mutated_bytes(rng, target.read_bytes()))
    return engine.ingest([data], dataset=folder / "clinic.toml", period=period, **rates(rng))


def try_tables(engine: Engine, folder: Path, rng: random.Random, period: str) -> Any:
    folder.mkdir()
    con = engine.con
    con.execute("DROP SCHEMA IF EXISTS hospital CASCADE")
    numbers = range(12)
    hospital.Hospital(
        [(period, f"V{n}", f"P{n}", str(20 + n), "MF"[n % 2], "ward") for n in numbers],
        [(period, f"V{n}", f"ache {n}", "ASPIRIN") for n in numbers],
    ).create(con)
    for name in ('"Adverse Events"', "finding"):
        if rng.random() < 0.6:
            described = con.execute(f"DESCRIBE hospital.{name}").fetchall()
            kept = [f'"{row[0]}"' for row in described if row[0] in ("Quarter", "Visit No.")]
            names = [row[0] for row in described]
            listed = columns_of(rng, names if rng.random() < 0.5 else names[2:])
            listed += [] if len(listed) > len(names) - 2 else kept
            fail = ", error('a view that fails') AS surname_too" if rng.random() < 0.1 else ""
            con.execute(f"ALTER TABLE hospital.{name} RENAME TO kept_{len(listed)}_{name[1:4]}")
            source = f"hospital.kept_{len(listed)}_{name[1:4]}"
            kind = rng.choice(("VIEW", "TABLE")) if not fail else "VIEW"
            try:
                con.execute(
                    f"CREATE {kind} hospital.{name} AS SELECT {', '.join(listed)}{fail} "
                    f"FROM {source}"
                )
            except duckdb.Error:
                con.execute(f"CREATE VIEW hospital.{name} AS FROM {source}")
    rule = rng.choice(("label",) * 8 + ("year", "quarter", "month"))
    text = hospital.toml(period=rule, id_type=rng.choice(("text", "text", "integer")))
    (folder / "clinic.toml").write_text(text.replace('"clinic"', f'"clinic{period}"'))
    asked = rng.choice((period, None))
    return engine.ingest([], dataset=folder / "clinic.toml", period=asked, **rates(rng))


def state(engine: Engine) -> dict[str, Any]:
    """What an ingestion may change."""
    raw = engine.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary AND "
        "(schema_name LIKE 'raw_%' OR (schema_name = 'srsql' AND table_name IN "
        "('ingestion', 'reject', 'dataset', 'deleted_case', 'ingested_file', 'ingested_column', "
        "'ingested_text', 'required_table'))) ORDER BY ALL"
    )
    counted = {
        f"{schema}.{name}": engine.sql(f'SELECT count(*) FROM "{schema}"."{name}"')[0][0]
        for schema, name in raw
    }
    left = engine.sql("SELECT table_name FROM duckdb_tables() WHERE temporary")
    return {**counted, "temporary": left}


def check_books(engine: Engine, done: list[IngestedPeriod]) -> None:
    """Every record is loaded or rejected, and each that is rejected says where and why."""
    for item in done:
        ((ingestion,),) = engine.sql(
            "SELECT ingestion_id FROM srsql.ingestion WHERE quarter = ? AND NOT replaced",
            [item.quarter],
        )
        for file in item.files:
            assert file.records == file.loaded + file.rejected
            rejects = engine.sql(
                "SELECT kind, line, reason, record FROM srsql.reject WHERE ingestion_id = ? "
                "AND file = ?",
                [ingestion, file.file],
            )
            rows = [row for row in rejects if row[0] == "row"]
            assert len(rows) == file.rejected
            assert len(rejects) - len(rows) == file.values_rejected
            assert all(line >= 2 and reason for _, line, reason, _ in rejects)
            assert sum(file.reasons.values()) == len(rejects)


def attempt(engine: Engine, tmp_path: Path, made: Attempt, seed: int) -> bool:
    """One hostile source; whether anything of it was loaded."""
    rng, before = random.Random(seed), state(engine)
    try:
        done = made(engine, tmp_path / f"{made.__name__}-{seed}", rng, str(2000 + seed))
    except SrsqlError as error:
        text = str(error)
        assert "\n" not in text, text
        assert "defect" not in text, text
        assert "Traceback" not in text, text
        after = state(engine)
        if made is try_tables and after != before:  # periods before the refused one are in
            assert after["temporary"] == before["temporary"]
            return True
        assert after == before, text
        return False
    check_books(engine, done)
    assert state(engine)["temporary"] == before["temporary"]
    return True


def attempts(engine: Engine, tmp_path: Path, made: Attempt, seeds: range) -> None:
    if made is try_vaers:
        (tmp_path / "zips").mkdir()

        def in_folder(engine: Engine, _: Path, rng: random.Random, period: str) -> Any:
            return try_vaers(engine, tmp_path / "zips", rng, period)

        made, in_folder.__name__ = in_folder, made.__name__
    loaded = [attempt(engine, tmp_path, made, seed) for seed in seeds]
    if seeds is MANY:  # both happen, or nothing is proved
        assert 0.1 < sum(loaded) / len(loaded) < 0.95, sum(loaded)


KINDS = [try_vaers, try_csv, try_parquet, try_tables]


@pytest.mark.slow
@pytest.mark.parametrize("made", KINDS)
def test_a_few_hostile_sources_are_refused_or_accounted_for(
    engine: Engine, tmp_path: Path, made: Attempt
) -> None:
    attempts(engine, tmp_path, made, FEW)


@pytest.mark.thorough
@pytest.mark.parametrize("made", KINDS)
def test_many_hostile_sources_are_refused_or_accounted_for(
    engine: Engine, tmp_path: Path, made: Attempt
) -> None:
    attempts(engine, tmp_path, made, MANY)
