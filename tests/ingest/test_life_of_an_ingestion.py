"""Once, again, replaced, refused: what happens to the warehouse."""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.archives import ages, demo, faers, lines, pack, unpack, vaers

from srsql.engine.catalog.datasets import dataset_names, register_dataset, registered_dataset
from srsql.engine.errors import DatasetError, IngestError
from srsql.engine.ingest import IngestedPeriod, IngestOptions, ingest, records
from srsql.engine.ingest.sources import Member
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import load_dataset, parse_dataset

pytestmark = pytest.mark.slow

Take = Callable[..., IngestedPeriod]


def state(warehouse: Warehouse) -> list[Any]:
    """Everything in the warehouse."""
    names = warehouse.rows(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary "
        "AND table_name <> 'warehouse' ORDER BY ALL"
    )
    return [
        (schema, name, warehouse.rows(f'SELECT * FROM "{schema}"."{name}" ORDER BY ALL'))
        for schema, name in names
    ]


def test_the_same_file_again_changes_nothing(take: Take, warehouse: Warehouse) -> None:
    bad = faers(demo=ages("42$YR", "400$YR"), outc=lines("primaryid$outc_cod", "101"))
    first = take(bad)
    before = state(warehouse)
    again = take(bad)
    assert again.status == "unchanged"
    assert again.files == first.files
    assert state(warehouse) == before


def test_a_different_file_is_refused_unless_it_replaces(take: Take, warehouse: Warehouse) -> None:
    deleted = {"DELETE21Q1.txt": "10\n20\n"}
    take(faers() | deleted)
    before = state(warehouse)
    other = faers(demo=demo("301$30$1$I$42$YR$M$70$KG$US")) | {"DELETE21Q1.txt": "30\n"}
    with pytest.raises(IngestError, match="--replace"):
        take(other)
    assert state(warehouse) == before
    result = take(other, replace=True)
    assert result.status == "replaced"
    assert warehouse.rows("SELECT primaryid FROM raw_faers.demo") == [(301,)]
    withdrawn = warehouse.rows("SELECT case_id FROM srsql.deleted_case ORDER BY ALL")
    assert withdrawn == [("10",), ("20",), ("30",)]  # a withdrawal outlives its file
    assert warehouse.rows("SELECT replaced FROM srsql.ingestion ORDER BY ingestion_id") == [
        (True,),
        (False,),
    ]
    assert warehouse.value("SELECT count(DISTINCT ingestion_id) FROM srsql.ingested_file") == 2
    assert take(other).status == "unchanged"


@pytest.mark.thorough
def test_quarters_live_side_by_side_and_datasets_too(take: Take, warehouse: Warehouse) -> None:
    take(faers("21Q1"))
    take(faers("21Q2"))
    take(vaers("VAERS_ID\n1\n"), dataset="vaers")
    assert warehouse.rows(
        "SELECT quarter, count(*) FROM raw_faers.demo GROUP BY ALL ORDER BY ALL"
    ) == [("2021Q1", 2), ("2021Q2", 2)]
    assert dataset_names(warehouse) == ["faers", "vaers"]


def test_too_many_rejects_stop_the_period_with_nothing_changed(
    take: Take, warehouse: Warehouse
) -> None:
    before = state(warehouse)
    with pytest.raises(IngestError) as caught:
        take(faers(outc=lines("primaryid$outc_cod", "101", "102", "101$HO")), max_reject_rate=0.1)
    text = str(caught.value)
    for part in ("2 of 10", "20.0%", "too few fields", "ascii/OUTC21Q1.txt:2", "--max-reject-rate"):
        assert part in text
    assert "\n" not in text
    assert state(warehouse) == before


def test_a_big_table_may_not_hide_its_rejects_behind_the_others(take: Take) -> None:
    good, bad = ["101$HO"] * 980, ["101"] * 20
    files = faers(
        outc=lines("primaryid$outc_cod", *good, *bad),
        reac=lines("primaryid$pt", *["101$Rash"] * 5000),
    )
    with pytest.raises(IngestError, match=r"20 of 1,000 records of ascii/OUTC21Q1\.txt"):
        take(files, max_reject_rate=0.01)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (faers(reac=None), "no file for table reac"),
        (faers(demo=""), "empty, without even a header"),
        (faers(demo="\nprimaryid$caseid\n"), "no header in line 1"),
        (faers(demo="caseid$age\n10$5\n"), "no column primaryid or isr"),
        (faers(demo="primaryid$age\n10$5\n"), "no column caseid or case"),
        (faers(demo="primaryid$primaryid$caseid\n"), "in the header twice"),
        (faers() | {"DRUG21Q2.txt": "x"}, "more than one period"),
        ({"readme.txt": "x"}, "no file of dataset 'faers'"),
        ({f"x/{n[6:10]}.txt": c for n, c in faers().items()}, "give it with --period"),
    ],
)
def test_what_cannot_be_ingested_is_one_line_and_changes_nothing(
    take: Take, warehouse: Warehouse, files: dict[str, str | bytes], message: str
) -> None:
    before = state(warehouse)
    with pytest.raises(IngestError, match=message) as caught:
        take(files)
    assert "\n" not in str(caught.value)
    assert state(warehouse) == before


def test_an_archive_cut_off_anywhere_is_refused(warehouse: Warehouse, tmp_path: Path) -> None:
    whole = pack(tmp_path / "faers_ascii_2021Q1.zip", faers()).read_bytes()
    before = state(warehouse)
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        path = tmp_path / "cut.zip"
        path.write_bytes(whole[:cut])
        with pytest.raises(IngestError):
            ingest(warehouse, [path], load_dataset("faers"))
    broken = bytearray(whole)
    broken[60:75] = b"x" * 15
    path.write_bytes(broken)
    with pytest.raises(IngestError, match="damaged"):
        ingest(warehouse, [path], load_dataset("faers"))
    assert state(warehouse) == before


def test_a_missing_path_and_two_sources_for_one_period_are_refused(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    with pytest.raises(IngestError, match="no such file"):
        ingest(warehouse, [tmp_path / "none.zip"], load_dataset("faers"))
    one, two = pack(tmp_path / "a.zip", faers()), unpack(tmp_path / "b", faers())
    with pytest.raises(IngestError, match="both hold 2021Q1"):
        ingest(warehouse, [one, two], load_dataset("faers"))


def test_a_given_period_fills_in_but_never_contradicts(take: Take) -> None:
    nameless = {f"x/{name[6:10]}.txt": content for name, content in faers().items()}
    assert take(nameless, period="1999Q3").quarter == "1999Q3"
    assert take(faers(), period="2021Q1").status == "loaded"
    with pytest.raises(IngestError, match="not 2021Q2"):
        take(faers("21Q3"), period="2021Q2")


def test_a_given_week_never_contradicts_that_of_the_file_names(take: Take) -> None:
    of_a_week = {name.replace("21Q1", "_2021W07"): text for name, text in faers().items()}
    with pytest.raises(IngestError, match="is 2021W07 by its file names, not 2021W08"):
        take(of_a_week, period="2021W08")
    assert take(of_a_week, period="2021W07").quarter == "2021W07"


@pytest.mark.thorough
def test_a_directory_of_zips_is_all_of_them(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    for period in ("21Q1", "21Q2"):
        pack(folder / f"{period}.zip", faers(period))
    said: list[str] = []
    results = ingest(warehouse, [folder], load_dataset("faers"), progress=said.append)
    assert [r.quarter for r in results] == ["2021Q1", "2021Q2"]
    files = len(said) // 2
    assert said[0] == (
        f"0 of 2 periods; 1 of {files} files; 2021Q1 ascii/DEMO21Q1.txt: "
        "2 records, 2 loaded, 0 rejected"
    )
    assert said[-1].startswith(f"1 of 2 periods; {files} of {files} files; 2021Q2 ")


def test_a_full_disk_is_one_line_and_changes_nothing(
    take: Take, warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(warehouse)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("srsql.engine.ingest.period.extract_text", full)
    with pytest.raises(IngestError, match="No space left on device; nothing was changed"):
        take(faers())
    assert state(warehouse) == before
    assert not (tmp_path / "test.duckdb.tmp").exists()


def test_what_goes_wrong_with_a_file_that_is_unpacked_ahead_changes_nothing(
    take: Take, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, threads = state(warehouse), threading.active_count()
    ahead: list[bool] = []

    def full_at_the_second(
        member: Member, target: Path, encoding: str | None
    ) -> records.ExtractedFile:
        ahead.append(threading.current_thread() is not threading.main_thread())
        if len(ahead) > 1:
            raise OSError(28, "No space left on device")
        return records.extract_text(member, target, encoding)

    monkeypatch.setattr("srsql.engine.ingest.period.extract_text", full_at_the_second)
    with pytest.raises(IngestError, match="No space left on device; nothing was changed"):
        take(faers())
    assert ahead == [False, True]
    assert state(warehouse) == before
    assert threading.active_count() == threads


@pytest.mark.thorough
def test_the_workspace_is_removed_and_leftovers_of_a_killed_run_with_it(tmp_path: Path) -> None:
    db = tmp_path / "test.duckdb"
    leftover = tmp_path / "test.duckdb.tmp" / "ingest-0-killed"
    leftover.mkdir(parents=True)
    (leftover / "file.txt").write_text("secret")
    with Warehouse(db) as opened:
        assert not leftover.exists()
        ingest(opened, [pack(tmp_path / "one.zip", faers())], load_dataset("faers"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "test.duckdb"]


@pytest.mark.thorough
def test_a_line_longer_than_the_limit_is_refused(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LONGEST_LINE", 1 << 20)
    with pytest.raises(IngestError, match="line 2 is longer"):
        take(faers(drug=b"primaryid$drugname\n" + b"x" * (3 << 20)))


def test_a_line_just_below_the_limit_is_read(take: Take, warehouse: Warehouse) -> None:
    name = "x" * ((8 << 20) - 10)
    take(faers(drug=f"primaryid$drugname\n101${name}\n101$y\n"))
    assert warehouse.rows("SELECT length(drugname) FROM raw_faers.drug") == [(len(name),), (1,)]


@pytest.mark.thorough
def test_line_numbers_hold_on_a_big_file_with_several_threads(tmp_path: Path) -> None:
    con = duckdb.connect()
    con.execute("SET preserve_insertion_order = false")
    warehouse = Warehouse(con, threads=4)
    body = b"".join(b"%d$%s\n" % (n, b"x" * (n % 120)) if n % 7 else b"\n" for n in range(600_000))
    path = pack(tmp_path / "q.zip", faers(outc=b"primaryid$outc_cod\n" + body))
    assert len(body) > 32 << 20
    ingest(
        warehouse,
        [path],
        load_dataset("faers"),
        IngestOptions(max_reject_rate=1, max_unread=1, allow_incomplete=True),
    )
    wrong = "count(*) FILTER (primaryid <> srsql_line - 2)"
    assert warehouse.rows(f"SELECT count(*), {wrong} FROM raw_faers.outc") == [(514_285, 0)]
    assert warehouse.value("SELECT current_setting('preserve_insertion_order')") is False
    con.close()


def test_a_connection_of_the_caller_is_used_and_no_temporary_table_stays(tmp_path: Path) -> None:
    con = duckdb.connect()
    ingest(Warehouse(con), [pack(tmp_path / "q.zip", faers())], load_dataset("faers"))
    assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    con.close()


def test_an_encrypted_archive_is_refused(warehouse: Warehouse, tmp_path: Path) -> None:
    path = pack(tmp_path / "q.zip", faers())
    with zipfile.ZipFile(path) as archive:
        offsets = [entry.header_offset for entry in archive.infolist()]
    content = bytearray(path.read_bytes())
    for offset in offsets:
        content[offset + 6] |= 1
    start = content.find(b"PK\x01\x02")
    while start >= 0:
        content[start + 8] |= 1
        start = content.find(b"PK\x01\x02", start + 4)
    path.write_bytes(content)
    with pytest.raises(IngestError, match="cannot be unpacked"):
        ingest(warehouse, [path], load_dataset("faers"))


@pytest.mark.parametrize("name", ["faers", "vaers"])
def test_a_registered_dataset_comes_back_with_its_hierarchies(
    warehouse: Warehouse, name: str
) -> None:
    dataset = load_dataset(name)
    register_dataset(warehouse, dataset, "builtin")
    register_dataset(warehouse, dataset, "builtin")
    back = registered_dataset(warehouse, name)
    assert back == dataset
    assert back.hierarchies == dataset.hierarchies
    register_dataset(warehouse, back, "again")
    assert warehouse.value("SELECT count(*) FROM srsql.dataset") == 1


def test_hierarchies_of_a_users_folder_survive_without_the_folder(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    tree = 'node,parent,low,high\nAny,,,\n"b, ""B""",Any,0,4.50\na,Any,5,120\n'
    (tmp_path / "own.csv").write_text(tree)
    text = load_dataset("faers").text.replace("hierarchies/sex.csv", "own.csv")
    text = text.replace('aliases = { MALE = "M", FEMALE = "F" }', "")
    dataset = parse_dataset(text, tmp_path)
    register_dataset(warehouse, dataset, "own")
    os.remove(tmp_path / "own.csv")
    back = registered_dataset(warehouse, "faers")
    assert back.hierarchies == dataset.hierarchies
    assert back.hierarchies["sex"].labels == ("Any", 'b, "B"', "a")
    assert warehouse.rows(
        "SELECT node, ancestor, depth, height, leaf_count FROM srsql.hierarchy "
        "WHERE attribute = 'sex' ORDER BY ALL"
    ) == [
        ("Any", "Any", 0, 1, 2),
        ("a", "Any", 0, 1, 2),
        ("a", "a", 1, 0, 1),
        ('b, "B"', "Any", 0, 1, 2),
        ('b, "B"', 'b, "B"', 1, 0, 1),
    ]


def test_a_changed_schema_is_taken_only_while_there_is_no_data(
    take: Take, warehouse: Warehouse
) -> None:
    dataset = load_dataset("faers")
    changed = dataset.model_copy(update={"text": dataset.text + "\n# changed", "id_type": "text"})
    register_dataset(warehouse, dataset, "one")
    register_dataset(warehouse, changed, "two")
    register_dataset(warehouse, dataset, "three")
    assert warehouse.rows("SELECT origin FROM srsql.dataset") == [("three",)]
    take(faers())
    with pytest.raises(DatasetError, match="registered with another schema"):
        register_dataset(warehouse, changed, "four")


def test_an_unknown_dataset_is_named_with_those_there_are(warehouse: Warehouse) -> None:
    with pytest.raises(DatasetError, match=r"no dataset 'x' .* none"):
        registered_dataset(warehouse, "x")
