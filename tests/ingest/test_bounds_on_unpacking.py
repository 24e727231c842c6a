"""What a zip takes unpacked is bounded before the disk is full, whatever it says of itself."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import duckdb
import pytest
from support.archives import faers, pack
from support.command import srsql

from srsql.engine.errors import IngestError
from srsql.engine.ingest import IngestOptions, ingest, sources
from srsql.engine.ingest.sources import most_unpacked
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset, parse_dataset

pytestmark = pytest.mark.slow

HEADER = b"primaryid$caseid$age$sex\n"
LINE = b"1$1$$$$$$$$$$$$$$$$$$$$\n"


def bomb(path: Path, lines: int) -> Path:
    """A quarter whose DRUG file has so many equal lines."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in faers().items():
            if "DRUG" not in name:
                archive.writestr(zipfile.ZipInfo(name), content)
        with archive.open("ascii/DRUG21Q1.txt", "w") as file:
            file.write(HEADER)
            for _ in range(lines // 100_000):
                file.write(LINE * 100_000)
    return path


def refused(source: Path, max_unpacked: str | None = None) -> str:
    with Warehouse(":memory:") as warehouse:
        with pytest.raises(IngestError) as caught:
            ingest(
                warehouse, [source], load_dataset("faers"), IngestOptions(max_unpacked=max_unpacked)
            )
        assert warehouse.rows("SELECT * FROM srsql.ingestion") == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_small_zip_that_takes_gigabytes_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = bomb(tmp_path / "q.zip", 3_000_000)
    assert source.stat().st_size < 1_000_000
    monkeypatch.setattr("srsql.engine.ingest.period.extract_text", None)  # nothing is unpacked
    line = refused(source)
    assert line.startswith("q.zip takes 72.0 MB unpacked, which is more than 64.0 MB")
    assert "--max-unpacked" in line
    refused(source, "1MB")


@pytest.mark.thorough
def test_with_a_yes_it_is_taken(tmp_path: Path) -> None:
    source = pack(tmp_path / "q.zip", faers())
    assert "takes" in refused(source, "100")
    with Warehouse(":memory:") as warehouse:
        options = IngestOptions(max_unpacked="1 KiB", max_reject_rate=1, allow_incomplete=True)
        (done,) = ingest(warehouse, [source], load_dataset("faers"), options)
    assert done.files[0].loaded == 2


def test_what_a_zip_says_of_its_sizes_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entries say that they are small: the bytes are counted as they come."""
    monkeypatch.setattr(sources, "LEAST", 1000)
    monkeypatch.setattr(sources, "RATIO", 1)
    source = bomb(tmp_path / "q.zip", 100_000)
    data = bytearray(source.read_bytes())
    at = 0
    while (at := data.find(b"PK\1\2", at)) >= 0:
        struct.pack_into("<I", data, at + 24, 10)
        at += 4
    source.write_bytes(data)
    line = refused(source)
    assert "damaged" in line or "takes more than" in line


def test_bytes_are_counted_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LEAST", 1000)
    monkeypatch.setattr(sources, "RATIO", 1)
    source = bomb(tmp_path / "q.zip", 300_000)
    monkeypatch.setattr(zipfile.ZipInfo, "file_size", 0, raising=False)
    unpacking = sources.Unpacking("q.zip", 1000)
    unpacking.take(1000)
    with pytest.raises(IngestError, match=r"q\.zip takes more than 1\.0 KB unpacked"):
        unpacking.take(1)
    assert source.exists()


def test_entries_that_lie_on_top_of_each_other_are_refused_or_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every entry of the directory points at the same bytes."""
    monkeypatch.setattr(sources, "RATIO", 2)
    monkeypatch.setattr(sources, "LEAST", 1000)
    content = HEADER + LINE * 20_000
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("DEMO21Q1.txt", content)
        (one,) = archive.infolist()
        for name in ("DRUG21Q1.txt", "REAC21Q1.txt", "INDI21Q1.txt", "OUTC21Q1.txt"):
            other = zipfile.ZipInfo(name)
            for field in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(other, field, getattr(one, field))
            archive.filelist.append(other)
            archive.NameToInfo[name] = other
    (tmp_path / "q.zip").write_bytes(target.getvalue())
    assert "takes" in refused(tmp_path / "q.zip")


def test_a_zip_within_a_zip_is_not_unpacked(tmp_path: Path) -> None:
    inner = pack(tmp_path / "faers_ascii_2021Q1.zip", faers())
    outer = pack(tmp_path / "outer.zip", {inner.name: inner.read_bytes()})
    assert "no file of dataset 'faers' in it (it has: faers_ascii_2021Q1.zip" in refused(outer)


@pytest.mark.parametrize(
    ("text", "packed", "bound"),
    [
        (None, 10**6, 10**8),
        (None, 100, 64 * 10**6),
        (None, 10**9, 8 * 10**9),
        (None, None, 8 * 10**9),
        ("20GB", 100, 20 * 10**9),
        (" 5 mib ", 100, 5 * 2**20),
        ("700", None, 700),
    ],
)
def test_the_bound_follows_from_the_size_of_the_zip_or_what_is_said(
    text: str | None, packed: int | None, bound: int
) -> None:
    assert most_unpacked(text, packed) == bound


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["", "much", "-1", "0", "1e9", "5 PB"])
def test_a_bound_that_is_no_size_is_refused(tmp_path: Path, text: str) -> None:
    source = pack(tmp_path / "q.zip", faers())
    answer = srsql("ingest", source, f"--max-unpacked={text}", "--db", tmp_path / "w.duckdb")
    assert answer.code == 2
    assert "--max-unpacked" in answer.err


@pytest.mark.thorough
def test_a_parquet_file_of_very_many_equal_values_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("node,parent\nAny,\nA,Any\n")
    text = """
name = "clinic"
report_table = "visit"
report_id = "visit_id"
case_id = "visit_id"
[source]
reader = "parquet"
[tables.visit]
files = ["visits*"]
columns = ["visit_id", "ward", "note"]
[[qid]]
name = "ward"
kind = "categorical"
column = "ward"
hierarchy = "wards.csv"
[[sensitive]]
table = "visit"
column = "note"
"""
    source = tmp_path / "visits.parquet"
    duckdb.execute(
        f"COPY (SELECT i AS visit_id, 'A' AS ward, repeat('x', 10000) AS note FROM range(20000) "
        f"AS t(i)) TO '{source}' (FORMAT parquet, COMPRESSION zstd)"
    )
    assert source.stat().st_size < 2 * 10**6
    dataset = parse_dataset(text, tmp_path)
    with Warehouse(":memory:") as warehouse:
        for bound in ("100MB", "1KB"):
            with pytest.raises(IngestError, match=r"visits\.parquet takes more than"):
                ingest(warehouse, [source], dataset, IngestOptions("1", max_unpacked=bound))
        assert warehouse.rows("SELECT table_name FROM duckdb_tables() WHERE temporary") == []
        (done,) = ingest(warehouse, [source], dataset, IngestOptions("1"))
    assert done.files[0].loaded == 20_000
