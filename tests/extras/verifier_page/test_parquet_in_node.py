"""Parquet in the page for browsers: with the reader that others wrote, and without it, in Node."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.artifacts import edit, rehash
from support.node import NO_PARQUET_READER, NODE, PARQUET_READER, opened_in_node

from srsql import verify

FIRST = Path(__file__).parents[2] / "fixtures" / "release_0_1" / "artifact-parquet"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="no node on PATH")]
reads_parquet = pytest.mark.skipif(PARQUET_READER is None, reason=NO_PARQUET_READER)


def test_a_page_without_a_reader_says_in_one_line_what_to_do_with_parquet(tmp_path: Path) -> None:
    opened = opened_in_node(tmp_path, FIRST)
    assert not opened["passed"]
    assert opened["asked"] is None
    assert [check["count"] for check in opened["checks"]] == [0] * len(opened["checks"])
    assert {"k", "theta", "columns"} <= set(opened["notRun"])
    for way_out in ("srsql publish --format csv", "--parquet-reader", "srsql verify"):
        assert way_out in opened["why"]
    assert "\n" not in opened["why"]


@reads_parquet
def test_a_page_with_the_reader_counts_in_parquet_what_verify_counts(tmp_path: Path) -> None:
    opened = opened_in_node(tmp_path, FIRST, parquet_reader=PARQUET_READER)
    assert opened["passed"], opened["checks"]
    totals = {check.name: check.total for check in verify(FIRST).checks}
    counted = {check["name"]: check["total"] for check in opened["checks"]}
    assert {name: counted[name] for name in ("k", "theta", "rows")} == {
        name: totals[name] for name in ("k", "theta", "rows")
    }


def cut(folder: Path) -> None:
    file = folder / "reac.parquet"
    file.write_bytes(file.read_bytes()[:-40])


def very_many(folder: Path) -> None:
    """A small file that would take gigabytes."""
    rows = pa.table({"primaryid": pa.nulls(2**25 + 1, pa.int64())})
    pq.write_table(rows, folder / "reac.parquet", compression="zstd")


def bad_bytes(folder: Path) -> None:
    """Bytes that are no UTF-8, in a file that is not compressed."""
    file = folder / "reac.parquet"
    table = pq.read_table(file)
    pq.write_table(table, file, compression="none", use_dictionary=False)
    term = table.column("pt")[0].as_py().encode()
    file.write_bytes(file.read_bytes().replace(term, b"\xff" * len(term), 1))


@reads_parquet
@pytest.mark.parametrize(
    ("forge", "check", "told"),
    [
        (
            lambda f: edit(f, "drug", "SELECT * REPLACE ('x' AS drugname) FROM t"),
            "content",
            "the rows of drug were changed",
        ),
        (
            lambda f: edit(f, "reac", "SELECT * REPLACE (primaryid::VARCHAR AS primaryid) FROM t"),
            "columns",
            "has VARCHAR for primaryid, which is BIGINT",
        ),
        (cut, "columns", "cannot be read"),
        (very_many, "columns", "which is too much for this page"),
        (bad_bytes, "columns", "cannot be read"),
    ],
    ids=["a row changed", "another type", "cut", "very many rows", "no UTF-8"],
)
def test_a_forged_parquet_file_fails_the_check_that_has_to_see_it(
    forge: Callable[[Path], Any], check: str, told: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(FIRST, tmp_path / "forged")
    forge(folder)
    rehash(folder)
    opened = opened_in_node(tmp_path, folder, parquet_reader=PARQUET_READER)
    assert not opened["passed"]
    failed = {each["name"]: each["places"] for each in opened["checks"] if each["count"]}
    assert any(told in place for place in failed.get(check, [])), failed
