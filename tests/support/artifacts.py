"""Artifacts as somebody without the engine reads and forges them: csv, json, hashlib."""

from __future__ import annotations

import csv
import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any
from unicodedata import normalize

import duckdb
from sqlglot import parse_one

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.described import (
    comment_statement,
    comments,
    copy_statement,
    described_files,
    parquet_metadata,
)
from srsql.engine.artifact.documents import dictionary_csv, range_readme, readme
from srsql.engine.artifact.format import (
    CATALOGUED,
    CATALOGUES,
    AnyManifest,
    Manifest,
    RangeManifest,
    quarters_of,
)
from srsql.engine.artifact.verify.reading import connection, read_tables
from srsql.engine.artifact.verify.verify import drawn_report
from srsql.engine.extras.catalogues.catalogues import catalogues
from srsql.schemas import load_dataset

Rows = list[dict[str, str | None]]
DATA = (".parquet", ".csv", ".duckdb")


def make(db: Path, to: Path, quarter: str, **options: Any) -> Path:
    """Publish; the warehouse is opened for reading only."""
    with Engine(db, read_only=True) as engine:
        # several series of a quarter are out, which a test of its own refuses
        engine.publish(quarter, to, **({"allow_linkable": True} | options))
    return to


def manifest_of(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return told


def tables_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Table -> its rows, from whatever file they are in; those of a CSV file are text."""
    found: dict[str, list[dict[str, Any]]] = {}
    told = manifest_of(folder)
    if told["format"] == "csv":
        return {t["name"]: read_csv(folder, t["name"]) for t in told["tables"]}
    with duckdb.connect() as con:
        if told["format"] == "duckdb":
            con.execute("ATTACH ? AS it (READ_ONLY)", [str(folder / "release.duckdb")])
        for table in told["tables"]:
            source = (
                f"it.{table['name']}"
                if told["format"] == "duckdb"
                else f"'{folder / table['file']}'"
            )
            cursor = con.execute(f"SELECT * FROM {source}")
            names = [entry[0] for entry in cursor.description]
            found[table["name"]] = [dict(zip(names, r, strict=True)) for r in cursor.fetchall()]
    return found


def read_csv(folder: Path, table: str) -> Rows:
    """The rows of a CSV artifact; an empty field is None."""
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]


def write_csv(folder: Path, table: str, rows: Rows) -> None:
    told = manifest_of(folder)
    tables = told["tables"] if "tables" in told else told["quarters"][0]["tables"]
    names = [c["name"] for t in tables if t["name"] == table for c in t["columns"]]
    if "quarters" in told and "quarter" not in names:
        names.insert(0, "quarter")
    with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{k: "" if v is None else v for k, v in row.items()} for row in rows])


def thresholds_of(folder: Path) -> dict[str, tuple[int, int]]:
    with (folder / "value-thresholds.csv").open(encoding="utf-8", newline="") as file:
        return {
            r["value"]: (int(r["theta_num"]), int(r["theta_den"])) for r in csv.DictReader(file)
        }


def content_of(rows: list[dict[str, Any]]) -> str:
    """SHA-256 over the rows: netstrings, ``-`` where a value is missing, a line feed after each."""
    digest = hashlib.sha256()
    for row in rows:
        for value in row.values():
            text = str(value).encode()
            digest.update(b"-," if value is None else b"%d:%b," % (len(text), text))
        digest.update(b"\n")
    return digest.hexdigest()


def rehash(
    folder: Path, *, counts: bool = False, report: bool = False, reworded: bool = True,
    **changes: Any,
) -> None:  # fmt: skip
    """Make the hashes agree with the files, as a forger would.

    ``counts``: the numbers and the digests of the rows as well; ``changes``: keys of the manifest.
    README and dictionary then follow the manifest, if it can be read at all; so does, if asked for,
    the report. The documents for catalogues follow it, too, unless ``reworded`` is false.
    """
    told = manifest_of(folder) | changes
    if counts:
        tables = tables_of(folder)
        for table in told["tables"]:
            table["rows"] = len(tables[table["name"]])
            table["content_sha256"] = content_of(tables[table["name"]])
    if counts and told["report_table"] is not None:
        reports = tables[told["report_table"]]
        told["counts"]["released_reports"] = len(reports)
        told["counts"]["released_cases"] = len({row[case_id_of(told)] for row in reports})
        if "measured_cases" in told["parameters"]:
            told["parameters"]["measured_cases"] = told["counts"]["released_cases"]
        if told.get("shown"):
            told["shown"] = shown_of(folder, told, reports)
        if told.get("unprotected"):
            told["unprotected"] = unprotected_of(folder, told, tables)
    if isinstance(told["artifact_version"], int) and told["artifact_version"] < CATALOGUED:
        for name in CATALOGUES:
            (folder / name).unlink(missing_ok=True)
        told.pop("stated", None)
        told.pop("shown", None)
        told.pop("unprotected", None)
    if counts or changes:
        _reword(folder, told)
    if report:
        _redraw(folder, told)
    if reworded:
        _recatalogue(folder, told, Manifest)
    unlisted = ("manifest.json", "SHA256SUMS", "SHA256SUMS.sig")
    others = [p for p in folder.iterdir() if p.name not in unlisted]
    told["files"] = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in others}
    (folder / "manifest.json").write_text(json.dumps(told))
    listed = sorted(p for p in folder.iterdir() if p.name not in unlisted[1:])
    (folder / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in listed)
    )


def _reword(folder: Path, told: dict[str, Any]) -> None:
    """A forger has the program, too, and lets it write the documents."""
    try:
        m = Manifest.model_validate_json(json.dumps(told))
    except ValueError:
        return
    if not m.tables:
        return
    (folder / "README.md").write_bytes(readme(m))
    (folder / "data-dictionary.csv").write_bytes(dictionary_csv(m))


def case_id_of(told: dict[str, Any]) -> str:
    """The column of case ids in the report table, as a manifest declares it."""
    (columns,) = (t["columns"] for t in told["tables"] if t["name"] == told["report_table"])
    return next((c["name"] for c in columns if c.get("role") == "case id"), "caseid")


def shown_of(
    folder: Path, told: dict[str, Any], reports: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """How exactly cases show each quasi-identifier: one value, several, or anything."""
    with (folder / "value-hierarchies.csv").open(encoding="utf-8", newline="") as file:
        nodes = list(csv.DictReader(file))
    found = []
    for attribute in told["attributes"]:
        name, cases = attribute["name"], {}
        inner = {node["parent"] for node in nodes if node["attribute"] == name}
        roots = {n["node"] for n in nodes if n["attribute"] == name and not n["parent"]}
        for row in reports:
            if attribute["kind"] == "numeric":
                low, high = row[f"{name}_low"], row[f"{name}_high"]
                how = "any" if low is None else "single" if low == high else "several"
            else:
                node = row[name]
                how = "any" if node in roots else "several" if node in inner else "single"
            cases[row[case_id_of(told)]] = how
        hows = list(cases.values())
        found.append(
            {"attribute": name, **{h: hows.count(h) for h in ("single", "several", "any")}}
        )
    return found


def unprotected_of(
    folder: Path, told: dict[str, Any], tables: dict[str, Any]
) -> dict[str, int] | None:
    """How much of the rows of a quarter a threshold of 1 leaves unbounded."""
    with (folder / "value-thresholds.csv").open(encoding="utf-8", newline="") as file:
        listed = [
            row for row in csv.DictReader(file) if row.get("quarter") in (None, told["quarter"])
        ]
    free = {row["value"]: row["theta_num"] == row["theta_den"] for row in listed}
    if not free:
        return None
    held = {
        (row[case_id_of(told)], _value_of(row, column["name"]))
        for table in told["tables"]
        for column in table["columns"]
        if column["role"] == "sensitive"
        for row in tables[table["name"]]
    }
    known = [free[value] for _, value in held if value in free]
    return {
        "values": sum(free.values()), "all_values": len(free),
        "held_unprotected": sum(known), "held": len(known),
    }  # fmt: skip


def _value_of(row: dict[str, Any], name: str) -> str | None:
    """By what a term is counted: its key, or its spelling where rows have none."""
    if f"{name}_key" in row:
        key: str | None = row[f"{name}_key"]
        return key
    return normalize("NFC", str(row[name]).strip()).upper()


def _recatalogue(folder: Path, told: dict[str, Any], kind: type[Manifest | RangeManifest]) -> None:
    """A forger lets the program write the documents for catalogues, too."""
    try:
        manifest: AnyManifest = kind.model_validate_json(json.dumps(told))
    except ValueError:
        return
    parts = quarters_of(manifest)
    if manifest.artifact_version < CATALOGUED or not parts[0].tables:
        return
    paths = [folder / name for name in described_files(manifest)]
    if not all(path.is_file() for path in paths):
        return
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    manifest = manifest.model_copy(update={"files": digests})
    try:
        written = catalogues(manifest, {path.name: path.stat().st_size for path in paths})
    except KeyError:  # the manifest speaks of files that are not there
        return
    for name, content in written.items():
        (folder / name).write_bytes(content)


def _redraw(folder: Path, told: dict[str, Any]) -> None:
    """The report of the rows as they are now."""
    manifest = Manifest.model_validate_json(json.dumps(told))
    with connection(folder) as con:
        assert read_tables(con, folder, manifest) == []
        page = drawn_report(con, folder, manifest, load_dataset("faers"))
    (folder / "report.html").write_text(page, encoding="utf-8")


def edit(folder: Path, table: str, query: str) -> None:
    """Replace the rows of a Parquet or DuckDB artifact's table by those of ``query`` over ``t``.

    The file describes itself as before: a forger has the program.
    """
    told = manifest_of(folder)
    manifest = Manifest.model_validate_json(json.dumps(told))
    with duckdb.connect() as con:
        if told["format"] == "duckdb":
            con.execute("ATTACH ? AS it", [str(folder / "release.duckdb")])
            con.execute(f"CREATE TABLE t AS FROM it.{table}")
            con.execute(f"CREATE OR REPLACE TABLE it.{table} AS {query}")
            for comment in comments([manifest]):
                if comment[1][1] == table:
                    with suppress(duckdb.CatalogException):  # the column is gone
                        con.execute(comment_statement("it", comment))
            con.execute("CHECKPOINT it")
            return
        file = folder / f"{table}.{told['format']}"
        con.execute(f"CREATE TABLE t AS FROM '{file}'")
        rows = parse_one(query, read="duckdb")
        metadata = parquet_metadata(manifest, manifest.table(table))
        con.execute(copy_statement(rows, told["format"], metadata), [str(file)])


def rehash_range(
    folder: Path, *, report: bool = False, reworded: bool = True, **changes: Any
) -> None:
    """The same as ``rehash`` for a CSV artifact of several quarters, numbers and digests included.

    Whatever quarter the manifest lists gets the rows that the tables have of it; ``changes``: keys
    of the manifest; ``reworded``: the documents for catalogues follow it.
    """
    told = manifest_of(folder)
    cases: set[Any] = set()
    for part in told["quarters"]:
        tables = {
            table["name"]: [
                r for r in read_csv(folder, table["name"]) if r["quarter"] == part["quarter"]
            ]
            for table in part["tables"]
        }
        for table in part["tables"]:
            rows = tables[table["name"]]
            names = [column["name"] for column in table["columns"]]
            table["rows"] = len(rows)
            table["content_sha256"] = content_of([{n: row[n] for n in names} for row in rows])
            if table["name"] == part["report_table"]:
                part["counts"]["released_reports"] = len(rows)
                part["counts"]["released_cases"] = len({row[case_id_of(part)] for row in rows})
                part["shown"] = shown_of(folder, part, rows)
                cases |= {row[case_id_of(part)] for row in rows}
        part["unprotected"] = unprotected_of(folder, part, tables)
    if "released_cases" in told:
        told["released_cases"] = len(cases)
    told |= changes
    (folder / "manifest.json").write_text(json.dumps(told))
    whole = RangeManifest.model_validate_json(json.dumps(told))
    parts = quarters_of(whole)
    (folder / "README.md").write_bytes(range_readme(whole))
    (folder / "data-dictionary.csv").write_bytes(dictionary_csv(parts[0]))
    for part in parts if report else ():
        with connection(folder) as con:
            assert read_tables(con, folder, part) == []
            page = drawn_report(con, folder, part, load_dataset("faers"))
        (folder / part.report_file).write_text(page, encoding="utf-8")
    if reworded:
        _recatalogue(folder, told, RangeManifest)
    unlisted = ("manifest.json", "SHA256SUMS", "SHA256SUMS.sig")
    others = [p for p in folder.iterdir() if p.name not in unlisted]
    told["files"] = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in others}
    (folder / "manifest.json").write_text(json.dumps(told))
    listed = sorted(p for p in folder.iterdir() if p.name not in unlisted[1:])
    (folder / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in listed)
    )
