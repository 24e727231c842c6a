"""Whatever is changed in an artifact is found and named, by hashes or by the rows themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from artifact.conftest import Artifacts
from support.artifacts import edit, manifest_of, read_csv, rehash, tables_of, write_csv

from srsql import verify
from srsql.engine.artifact.verify import Verified
from srsql.engine.artifact.verify.files import check_files

pytestmark = pytest.mark.thorough


def faults(folder: Path) -> dict[str, list[str]]:
    """Check -> its faults, of a verification that must fail."""
    found = verify(folder)
    assert not found.passed
    return {check.name: list(check.faults) for check in found.checks if check.faults}


def test_one_changed_byte_in_any_file_is_found_and_the_file_is_named(artifact: Path) -> None:
    for path in sorted(artifact.iterdir()):
        whole = path.read_bytes()
        for at in (0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 2, len(whole) - 1):
            changed = bytearray(whole)
            changed[at] ^= 1
            path.write_bytes(changed)
            told = check_files(artifact)[0][0].faults
            assert any(path.name in text for text in told) or path.name == "SHA256SUMS"
            if path.name != "SHA256SUMS":
                assert told == [f"{path.name} was changed: its hash is not the one in SHA256SUMS"]
        assert list(told) == faults(artifact)["files"]
        path.write_bytes(whole)
    assert verify(artifact).passed


def test_a_byte_more_or_less_at_the_end_of_any_file_is_found(artifact: Path) -> None:
    for path in sorted(artifact.iterdir()):
        whole = path.read_bytes()
        for other in (whole + b"\n", whole[:-1], b""):
            path.write_bytes(other)
            assert check_files(artifact)[0][0].faults
        path.write_bytes(whole)


def test_a_file_that_is_missing_is_named(artifact: Path) -> None:
    for path in sorted(artifact.iterdir()):
        whole = path.read_bytes()
        path.unlink()
        assert f"{path.name} is missing" in check_files(artifact)[0][0].faults
        path.write_bytes(whole)


def test_a_file_folder_or_link_that_does_not_belong_is_named(artifact: Path) -> None:
    (artifact / "notes.txt").write_text("raw data attached")
    assert faults(artifact)["files"] == ["notes.txt is not listed in SHA256SUMS"]
    (artifact / "notes.txt").unlink()
    (artifact / "raw").mkdir()
    assert faults(artifact)["files"] == ["raw is not a plain file"]
    (artifact / "raw").rmdir()
    outside = artifact.parent / "README.md"
    shutil.move(artifact / "README.md", outside)
    (artifact / "README.md").symlink_to(outside)
    assert "README.md is not a plain file" in faults(artifact)["files"]


def test_a_listed_file_that_the_manifest_does_not_know_is_named(csv_artifact: Path) -> None:
    told = manifest_of(csv_artifact)
    (csv_artifact / "more.csv").write_text("a,b\n1,2\n")
    rehash(csv_artifact)
    known = told["files"]
    (csv_artifact / "manifest.json").write_text(json.dumps(told | {"files": known}))
    rewrite_sums(csv_artifact)
    assert faults(csv_artifact) == {"manifest": ["more.csv is not listed in manifest.json"]}


def rewrite_sums(folder: Path) -> None:
    import hashlib

    listed = sorted(p for p in folder.iterdir() if p.name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in listed)
    )


def without_first(folder: Path) -> None:
    """Take the first report of the table away."""
    first = tables_of(folder)["demo"][0]["primaryid"]
    if manifest_of(folder)["format"] == "csv":
        write_csv(folder, "demo", read_csv(folder, "demo")[1:])
    else:
        edit(folder, "demo", f"SELECT * FROM t WHERE primaryid <> {first} ORDER BY primaryid")


def test_one_removed_row_is_found_although_the_hashes_were_made_anew(artifact: Path) -> None:
    without_first(artifact)
    rehash(artifact)
    told = faults(artifact)
    file = manifest_of(artifact)["tables"][0]["file"]
    assert told["rows"] == [f"{file}: demo has 59 rows, not 60"]
    assert told["content"] == [f"{file}: the rows of demo were changed"]
    assert told["counts"] == [
        "cases: 59 in the rows, 60 in the manifest",
        "reports: 59 in the rows, 60 in the manifest",
    ]
    assert "drug row 1" in told["ids"][0]


def narrowed(folder: Path) -> str:
    """Give one case a region of its own within the one it shares; its age."""
    row = next(r for r in tables_of(folder)["demo"] if int(r["age_low"]) < int(r["age_high"]))
    age = row["age_low"]
    if manifest_of(folder)["format"] == "csv":
        rows = read_csv(folder, "demo")
        write_csv(
            folder,
            "demo",
            [r | {"age_high": age} if r["caseid"] == row["caseid"] else r for r in rows],
        )
    else:
        edit(
            folder,
            "demo",
            f"SELECT * REPLACE (CASE WHEN caseid = {row['caseid']} THEN {age} ELSE age_high END "
            "AS age_high) FROM t ORDER BY primaryid",
        )
    return f'{{"age_low":{age},"age_high":{age},'


def test_one_narrowed_region_is_found_by_the_hashes(artifact: Path) -> None:
    narrowed(artifact)
    file = manifest_of(artifact)["tables"][0]["file"]
    told = faults(artifact)
    assert told["files"] == [f"{file} was changed: its hash is not the one in SHA256SUMS"]
    assert told["content"] == [f"{file}: the rows of demo were changed"]


def test_one_narrowed_region_is_found_and_named_although_everything_was_made_anew(
    artifact: Path,
) -> None:
    region = narrowed(artifact)
    rehash(artifact, counts=True)
    told = faults(artifact)
    assert set(told) <= {"k", "theta"}
    assert any(f"region {region}" in t and "is shared by 1 case(s), k is 3" in t for t in told["k"])


def test_a_broken_threshold_is_found_and_named_although_everything_was_made_anew(
    csv_artifact: Path,
) -> None:
    rows = read_csv(csv_artifact, "demo")
    regions: dict[tuple[str | None, ...], list[str | None]] = {}
    for row in rows:
        regions.setdefault(tuple(list(row.values())[3:]), []).append(row["caseid"])
    crowd = next(iter(regions.values()))
    terms = [
        r | {"pt": " reaction 01\t"} if r["caseid"] in crowd else r
        for r in read_csv(csv_artifact, "reac")
    ]
    write_csv(csv_artifact, "reac", terms)
    rehash(csv_artifact, counts=True)
    told = faults(csv_artifact)
    assert set(told) <= {"theta", "thresholds"}  # a term may be in no row any more
    assert len(told["theta"]) == 1
    size = len(set(crowd))
    assert f"{size} of {size} cases hold REACTION 01, its threshold is 1/2" in told["theta"][0]


def test_a_value_without_threshold_and_a_threshold_without_value_are_found(
    csv_artifact: Path,
) -> None:
    rows = read_csv(csv_artifact, "reac")
    write_csv(csv_artifact, "reac", [rows[0] | {"pt": "Unheard of"}, *rows[1:]])
    with (csv_artifact / "value-thresholds.csv").open("a") as file:
        file.write('"OF A WITHHELD CASE","1","2"\n"DISEASE 00","3","2"\n')
    rehash(csv_artifact, counts=True)
    told = faults(csv_artifact)
    assert "cases hold UNHEARD OF, which has no threshold" in told["theta"][0]
    assert sorted(told["thresholds"]) == [
        "DISEASE 00 has the threshold 1/2, 2 time(s)",
        "DISEASE 00 has the threshold 3/2, the parameter theta is 1/2",
        "OF A WITHHELD CASE is in no row",
    ]


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("age_high", "121", "age {low} to 121 ends above the domain, which ends at 120"),
        ("age_low", "-1", "age -1 to {high} begins below the domain, which begins at 0"),
        ("age_low", "120", "age 120 to {high}: it ends before it begins"),
        ("age_low", None, "age None to {high}: one end is missing"),
        ("sex", "Female", "sex 'Female' is no node of its hierarchy"),
    ],
)
def test_a_region_that_no_release_can_have_is_found(
    csv_artifact: Path, column: str, value: str | None, said: str
) -> None:
    rows = read_csv(csv_artifact, "demo")
    low, high = rows[0]["age_low"], rows[0]["age_high"]
    write_csv(csv_artifact, "demo", [rows[0] | {column: value}, *rows[1:]])
    rehash(csv_artifact, counts=True)
    assert faults(csv_artifact)["bounds"] == [said.format(low=low, high=high)]


def test_rows_out_of_order_reports_twice_and_strange_quarters_are_found(
    csv_artifact: Path,
) -> None:
    rows = read_csv(csv_artifact, "demo")
    changed = [rows[1], rows[0], rows[2], *rows[2:-1], rows[-1] | {"quarter": "2011Q4"}]
    write_csv(csv_artifact, "demo", changed)
    rehash(csv_artifact, counts=True)
    told = faults(csv_artifact)
    assert told["order"] == [
        f"reports row 2: report {rows[0]['primaryid']} stands after {rows[1]['primaryid']}"
    ]
    assert told["ids"] == [f"report {rows[2]['primaryid']} has 2 row(s), 2 with a case id"]
    assert told["period"] == [f"report {rows[-1]['primaryid']} is of 2011Q4"]


def test_a_column_more_is_found_in_every_format(artifact: Path) -> None:
    form = manifest_of(artifact)["format"]
    if form == "csv":
        lines = (artifact / "demo.csv").read_text().splitlines()
        (artifact / "demo.csv").write_text(
            "".join(f"{line},{'mfr' if n == 0 else n}\n" for n, line in enumerate(lines))
        )
    else:
        edit(artifact, "demo", "SELECT *, 'raw' AS mfr FROM t ORDER BY primaryid")
    rehash(artifact)
    assert "demo: column 9 is mfr" in faults(artifact)["columns"][0]


def test_whatever_else_hides_in_a_duckdb_file_is_found(
    kept_artifacts: Artifacts, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(kept_artifacts["ms", "duckdb"], folder)
    with duckdb.connect(str(folder / "release.duckdb")) as con:
        con.execute("CREATE SCHEMA more")
        con.execute("CREATE TABLE more.raw AS SELECT 1 AS x")
        con.execute("CREATE VIEW look AS SELECT 'secret' AS x")
        con.execute("CREATE MACRO peep() AS 'secret'")
        con.execute("CREATE TYPE mood AS ENUM ('secret')")
    rehash(folder)
    assert faults(folder)["columns"] == [
        f"release.duckdb holds the {what}"
        for what in ("macro main.peep", "schema more", "table more.raw", "type main.mood",
                     "view main.look")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": 1}, "k: Input should be greater than or equal to 2"),
        ({"k": "3"}, "k: Input should be a valid integer"),
        ({"secret": 1}, "secret: Extra inputs are not permitted"),
        ({"report_table": "nobody"}, "the tables are not each there once"),
        ({"format": "duckdb"}, "table demo is not in release.duckdb"),
        ({"artifact_version": 5}, "artifact_version: Input should be 1, 2, 3 or 4"),
        ({"attributes": []}, "table demo does not have the region's columns"),
        ({"tables": []}, "the tables are not each there once"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_found(
    csv_artifact: Path, change: dict[str, object], said: str
) -> None:
    rehash(csv_artifact, **change)
    found = verify(csv_artifact)
    assert not found.passed
    assert found.failures[0].startswith("manifest: ")
    assert said in found.failures[0]


@pytest.mark.parametrize("path", ["../../secret.csv", "/etc/passwd", "demo.csv\n", "a b"])
def test_a_manifest_never_leads_out_of_its_folder(csv_artifact: Path, path: str) -> None:
    told = manifest_of(csv_artifact)
    told["tables"][0]["file"] = path
    rehash(csv_artifact, tables=told["tables"])
    assert "tables.0.file" in faults(csv_artifact)["manifest"][0]


def test_a_type_is_never_a_statement(csv_artifact: Path) -> None:
    told = manifest_of(csv_artifact)
    told["tables"][0]["columns"][0]["type"] = "BIGINT); DROP TABLE t; --"
    rehash(csv_artifact, tables=told["tables"])
    assert "tables.0.columns.0.type" in faults(csv_artifact)["manifest"][0]


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "null", '{"k": 1e999}', "\udcff"])
def test_a_manifest_that_is_no_document_is_found(csv_artifact: Path, text: str) -> None:
    (csv_artifact / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    rewrite_sums(csv_artifact)
    found = verify(csv_artifact)
    assert found.failures[0].startswith("manifest: manifest.json cannot be read")
    assert "k" in not_run(found)


def not_run(found: Verified) -> set[str]:
    return {name.rpartition(": ")[2] for name in found.not_run}


def test_tables_that_cannot_be_read_leave_their_checks_not_run(artifact: Path) -> None:
    file = manifest_of(artifact)["tables"][0]["file"]
    (artifact / file).write_bytes(b"\0" * 5000)
    rehash(artifact)
    found = verify(artifact)
    assert not found.passed
    assert {"k", "theta", "bounds"} <= not_run(found)
    assert found.failures[0].startswith("columns: ")


@pytest.mark.parametrize("name", ["value-thresholds.csv", "value-hierarchies.csv"])
@pytest.mark.parametrize("text", ["", "a,b\n", '"value","theta_num","theta_den"\n"x","y","2"\n'])
def test_small_files_that_cannot_be_read_leave_the_checks_not_run(
    csv_artifact: Path, name: str, text: str
) -> None:
    (csv_artifact / name).write_text(text)
    rehash(csv_artifact)
    found = verify(csv_artifact)
    assert not found.passed
    assert "theta" in not_run(found)
    assert found.failures
