"""Files with signs changed at random: each line is loaded or rejected, no record holds another."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.archives import unpack
from support.mutated_records import (
    KINDS,
    Kind,
    covered,
    expected,
    mutate,
    report_number,
    valid_records,
)

from srsql.engine.ingest import IngestedFile, IngestOptions, ingest
from srsql.engine.store.warehouse import Warehouse


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with Warehouse(":memory:") as opened:
        yield opened


def ingested(warehouse: Warehouse, kind: Kind, folder: Path, text: str, year: int) -> IngestedFile:
    source = unpack(folder / str(year), kind.files(text, year))
    options = IngestOptions(
        period=str(year) if kind.name.startswith("own") else None,
        max_reject_rate=1.0,
        max_unread=1.0,
        allow_incomplete=True,
    )
    (result,) = ingest(warehouse, [source], kind.dataset(folder), options)
    return result.files[0]


def check(
    warehouse: Warehouse, kind: Kind, folder: Path, seed: int, size: tuple[int, int]
) -> tuple[int, int, int]:
    """One mutated file of so many records and changes; records loaded, over several lines, and
    rejected."""
    rng, year = random.Random(f"{kind.name} {seed}"), 2000 + seed
    count, times = size
    texts, untouched = mutate(kind, rng, valid_records(kind, rng, count), times)
    text = kind.delimiter.join(kind.columns) + "\n" + "".join(texts)
    wanted = expected(kind, text)
    file = ingested(warehouse, kind, folder, text, year)

    listed = ", ".join(f'"{name}"' for name in kind.columns)
    rows = warehouse.rows(
        f"SELECT srsql_line, {listed} FROM {kind.table()} WHERE quarter LIKE ? ORDER BY srsql_line",
        [f"{year}%"],
    )
    rejected = warehouse.rows(
        "SELECT line FROM srsql.reject WHERE kind = 'row' AND quarter LIKE ? AND file = ? "
        "ORDER BY line",
        [f"{year}%", file.file],
    )
    assert rows == [(record.line, *values) for record, values in wanted.loaded]
    assert [line for (line,) in rejected] == [record.line for record in wanted.rejected]
    parts = [record for record, _ in wanted.loaded] + wanted.rejected
    assert covered(parts) == list(range(2, wanted.last + 1))
    assert (file.records, file.loaded) == (len(parts), len(rows))

    ids = {report_number(number) for number in untouched}
    for _, report, *values in rows:
        held = {m for value in values for m in re.findall(r"(?=(4\d{6}))", str(value or ""))}
        assert held & ids <= {str(report).removeprefix("R")}, (report, values)
    several = sum(record.lines > 1 for record, _ in wanted.loaded)
    return len(rows), several, len(rejected)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_mutated_file_is_read_as_by_the_contract_and_no_value_holds_another_record(
    warehouse: Warehouse, tmp_path: Path, kind: Kind
) -> None:
    loaded, several, rejected = check(warehouse, kind, tmp_path, 0, (400, 120))
    assert loaded > 200
    assert rejected > 20
    assert (several > 20) == kind.quoted


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_of_twenty_thousand_mutations_none_makes_a_record_hold_another(
    warehouse: Warehouse, tmp_path: Path, kind: Kind
) -> None:
    counts = [check(warehouse, kind, tmp_path, seed, (2000, 1000)) for seed in range(20)]
    loaded, several, rejected = (sum(column) for column in zip(*counts, strict=True))
    assert loaded > 20_000
    assert rejected > 5_000
    assert (several > 2_000) == kind.quoted
