"""Nothing of what stays in the house is in any byte or value of an artifact."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from artifact.conftest import SEED, WITHHELD, Warehouses, quarters
from support.artifacts import make, tables_of

from srsql.schemas import load_dataset

pytestmark = pytest.mark.slow

QUARTER = "2011Q3"
FRAME = b"\x28\xb5\x2f\xfd"
"""What every zstd frame begins with."""


def spellings(number: int) -> list[bytes]:
    """A number as text and as the integers that files hold."""
    return [str(number).encode(), struct.pack("<q", number), struct.pack(">q", number)]


def bytes_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, and every page of the Parquet files as it is before compression."""
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        yield path.name, whole
        if path.suffix != ".parquet":
            continue
        starts = [match.start() for match in re.finditer(re.escape(FRAME), whole)]
        assert len(starts) >= pq.ParquetFile(path).metadata.num_columns
        for start in starts:
            stream = pa.CompressedInputStream(pa.BufferReader(whole[start:]), "zstd")
            try:
                yield f"{path.name} at {start}", stream.read(10**7)
            except OSError:
                stream = pa.CompressedInputStream(pa.BufferReader(whole[start:]), "zstd")
                yield f"{path.name} at {start}", b"".join(_until_it_ends(stream))


def _until_it_ends(stream: Any) -> Iterator[bytes]:
    while True:
        try:
            part = stream.read(1)
        except OSError:  # what follows the frame is another page's header
            return
        if not part:
            return
        yield part


def values_of(folder: Path) -> set[str]:
    """Every value of every table, as text."""
    return {
        str(value)
        for table in tables_of(folder).values()
        for row in table
        for value in row.values()
    }


@pytest.fixture(
    params=[
        "parquet",
        *(pytest.param(form, marks=pytest.mark.thorough) for form in ("csv", "duckdb")),
    ]
)
def published(request: pytest.FixtureRequest, warehouses: Warehouses, tmp_path: Path) -> Path:
    """Under pseudonyms, so that the original ids are secret, too; of one key, since among random
    numbers of 18 digits each of six digits turns up one day."""
    (tmp_path / "key").write_text(hashlib.sha512(b"drawn once").hexdigest())
    return make(
        warehouses["ppms++"], tmp_path / "out", QUARTER, format=request.param,
        case_ids="pseudonym", key_file=tmp_path / "key",
    )  # fmt: skip


def secrets_of(published: Path, db: Path) -> dict[str, list[bytes]]:
    key = bytes.fromhex((published.parent / "key").read_text())
    pads = [bytes(b ^ pad for b in key) for pad in (0x36, 0x5C)]
    with duckdb.connect(str(db), read_only=True) as con:
        seed = con.execute("SELECT private_manifest ->> 'seed' FROM srsql.release").fetchall()[0][0]
        assert int(seed) == SEED
    raw = quarters()[QUARTER]
    return {
        "a withheld term": [b"SECRETREACTION", b"SECRETDISEASE", b"SECRETDRUG"],
        "a withheld case": [b"77770001", b"777000", *spellings(WITHHELD.primaryid)[1:]],
        "a dropped column's value": [b"MFR-"],
        "a raw weight": [r.wt.encode() for r in raw if r.wt],
        "the seed": spellings(SEED),
        "the key": [key, key[:16], *pads, key.hex().encode(), key.hex().upper().encode()],
        "a thing of the catalog": [b"srsql_data", b"group_no", b"group_id", b"release_2011q3"],
    }


def test_no_byte_of_an_artifact_tells_what_stays_in_the_house(
    published: Path, warehouses: Warehouses
) -> None:
    secrets = secrets_of(published, warehouses["ppms++"])
    for name, content in bytes_of(published):
        for what, needles in secrets.items():
            for needle in needles:
                assert needle not in content, (name, what, needle)


@pytest.mark.thorough
def test_no_value_of_an_artifact_is_an_original_one(
    published: Path, warehouses: Warehouses
) -> None:
    values = values_of(published)
    raw = quarters()[QUARTER]
    assert values.isdisjoint(str(r.primaryid) for r in raw if r.primaryid > 400)
    assert values.isdisjoint(r.age for r in raw if r.age)
    assert values.isdisjoint(r.wt for r in raw if r.wt)
    ids = {str(row["caseid"]) for row in tables_of(published)["demo"]}
    assert ids.isdisjoint(str(r.caseid) for r in raw)


@pytest.mark.thorough
def test_no_text_of_an_artifact_names_a_column_that_is_not_published(published: Path) -> None:
    dataset = load_dataset("faers")
    shown = {name for table in dataset.tables for name in table.publish}
    shown |= {qid.name for qid in dataset.qid} | set(dataset.id_columns)
    declared = {
        name
        for table in dataset.tables
        for column in table.columns
        for name in (column.name, *column.aliases)
    }
    dropped = declared - shown - {"case"}  # an alias that is a word
    for path in published.iterdir():
        words = set(re.findall(r"[a-z_]{3,}", path.read_bytes().decode("latin-1")))
        if path.suffix in (".parquet", ".duckdb"):
            # shorter ones come by chance; DuckDB puts a byte after a name that reads as an e
            words = {word for word in words if len(word) > 5} - {"outc_code"}
        assert words.isdisjoint(dropped), path.name


def test_withheld_cases_and_original_ids_are_in_the_warehouse_where_the_search_looks(
    warehouses: Warehouses,
) -> None:
    """The search finds what is there: the warehouse holds every kind of secret but the key."""
    content = warehouses["ppms++"].read_bytes()
    for needle in (b"SECRETREACTION", b"MFR-", b"group_no", str(SEED).encode()):
        assert needle in content, needle


@pytest.mark.thorough
def test_a_withheld_case_is_not_in_an_artifact_that_keeps_its_ids(
    warehouses: Warehouses, tmp_path: Path
) -> None:
    for form in ("parquet", "duckdb"):
        folder = make(warehouses["ms"], tmp_path / form, QUARTER, format=form)
        assert "777000" not in values_of(folder)
        for name, content in bytes_of(folder):
            for needle in (*spellings(WITHHELD.primaryid), *spellings(WITHHELD.caseid)):
                assert needle not in content, (name, needle)
