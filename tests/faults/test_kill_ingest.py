"""Kill -9 during an ingestion: all of the period or nothing, and a rerun works."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.archives import faers, lines, pack

from srsql.engine.ingest import ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

pytestmark = pytest.mark.thorough

CHILD = """
import os, signal, sys
from srsql.engine import ingest as ingestion
from srsql.engine.ingest import account, ingest
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

point, db, source = sys.argv[1:]
progress = None
if point == "while unpacking":
    ingestion.extract_text = die
elif point == "between two files":
    progress = lambda said: die() if "REAC" in said else None
elif point == "before the commit":
    real = account.record
    account.record = lambda *a: (real(*a), die())
with Warehouse(db) as warehouse:
    ingest(warehouse, [source], load_dataset("faers"), progress=progress)
    if point == "after the commit":
        die()
"""


@pytest.mark.parametrize(
    ("point", "loaded"),
    [
        ("while unpacking", 0),
        ("between two files", 0),
        ("before the commit", 0),
        ("after the commit", 50_000),
    ],
)
def test_a_killed_ingestion_leaves_all_or_nothing_and_a_rerun_works(
    tmp_path: Path, point: str, loaded: int
) -> None:
    drugs = lines("primaryid$drugname", *(f"{101 + 100 * (n % 2)}$Drug {n}" for n in range(50_000)))
    source = pack(tmp_path / "q.zip", faers(drug=drugs))
    db = tmp_path / "w.duckdb"
    Warehouse(db).close()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, point, str(db), str(source)], timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    with Warehouse(db) as warehouse:
        there = warehouse.value(
            "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'raw_faers'"
        )
        rows = warehouse.value("SELECT count(*) FROM raw_faers.drug") if there else 0
        assert (there, rows) == ((7, loaded) if loaded else (0, 0))
        assert warehouse.value("SELECT count(*) FROM srsql.ingestion") == int(loaded > 0)
        (result,) = ingest(warehouse, [source], load_dataset("faers"))
        assert result.status == ("unchanged" if loaded else "loaded")
        assert warehouse.value("SELECT count(*) FROM raw_faers.drug") == 50_000
    if not loaded:
        assert not (tmp_path / "w.duckdb.tmp").exists()
