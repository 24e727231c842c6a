"""An artifact, read: its files held against their hashes, its manifest, its rows.

The rows are read into a connection that knows nothing else.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from pydantic import ValidationError
from sqlglot import exp

from srsql.engine.artifact.format import (
    DUCKDB_FILE,
    HIERARCHIES,
    MANIFEST,
    SIGNATURE,
    SIGNATURE_BYTES,
    SUMS,
    THRESHOLDS,
    Manifest,
    Table,
    content_digest,
    file_digest,
    files_of,
    sums_text,
)
from srsql.engine.artifact.verify import Check
from srsql.engine.artifact.verify.contradictions import Trees, shape_faults
from srsql.engine.errors import VerifyError, one_line
from srsql.engine.warehouse.statements import column, create, query, step_file, table, temporary

OPENED = "srsql_artifact"
_LINE = re.compile(r"([0-9a-f]{64})  ([^/\n]+)")


def check_files(folder: Path) -> tuple[list[Check], Manifest | None]:
    """The checks ``files`` and ``manifest``, and the manifest if rows can be checked by it.

    Raises:
        VerifyError: the folder is no artifact, or cannot be read.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    if not {MANIFEST, SUMS} & {entry.name for entry in entries}:
        raise VerifyError(
            f"{folder} is not an artifact (no {MANIFEST}, no {SUMS}): give the folder that "
            "'srsql publish' wrote"
        )
    plain = {e.name: e for e in entries if e.is_file() and not e.is_symlink()}
    try:
        digests = {name: file_digest(path) for name, path in plain.items()}
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    faults = [f"{printable(e.name)} is not a plain file" for e in entries if e.name not in plain]
    listed, unclear = _listed(plain.get(SUMS))
    if SIGNATURE in plain and plain[SIGNATURE].stat().st_size != SIGNATURE_BYTES:
        faults.append(f"{SIGNATURE} is no signature, which has {SIGNATURE_BYTES} bytes")
    unlisted = (SUMS, SIGNATURE)  # a signature is made of the list, and after it
    others = {n: d for n, d in digests.items() if n not in unlisted}
    faults += unclear + _differences(listed, others, SUMS)
    files = Check("files", faults, len(entries))
    if MANIFEST not in plain:
        return [files, Check("manifest", [f"{MANIFEST} is missing"], 1)], None
    manifest, faults = _read_manifest(plain[MANIFEST])
    if manifest is None:
        return [files, Check("manifest", faults, 1)], None
    others.pop(MANIFEST)
    faults = shape_faults(manifest)
    usable = not faults and all(manifest.files.get(n) and n in plain for n in _needed(manifest))
    faults += _differences(dict(manifest.files), others, MANIFEST) + _strangers(manifest, others)
    return [files, Check("manifest", faults, 1)], manifest if usable else None


def _strangers(manifest: Manifest, found: Collection[str]) -> list[str]:
    """Files that are listed and that no artifact has, and those that each has and this one not."""
    known, listed = files_of(manifest) - {MANIFEST, SUMS}, manifest.files.keys()
    return [
        *(f"{name} is no file of an artifact" for name in sorted(listed - known)),
        *(f"{name} is missing" for name in sorted(known - listed - set(found))),
    ]


def _needed(manifest: Manifest) -> set[str]:
    """The files without which no row can be checked."""
    return {THRESHOLDS, HIERARCHIES, *(table.file for table in manifest.tables)}


def printable(name: str) -> str:
    """A file's name as text, whatever bytes it has."""
    return name.encode("utf-8", "backslashreplace").decode()


def _listed(path: Path | None) -> tuple[dict[str, str], list[str]]:
    if path is None:
        return {}, [f"{SUMS} is missing"]
    text = path.read_bytes().decode("utf-8", "replace")
    found, faults = {}, []
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        match = _LINE.fullmatch(line)
        if match:
            found[match[2]] = match[1]
        else:
            faults.append(f"{SUMS} line {number} is not a hash and a name")
    if not faults and sums_text(found) != text:
        faults.append(f"{SUMS} is not as it was written: its lines are out of order or not all")
    return found, faults


def _differences(listed: dict[str, str], found: dict[str, str], where: str) -> list[str]:
    """What the digests of files differ in from those that are listed in ``where``."""
    faults = [f"{printable(n)} is missing" for n in sorted(listed.keys() - found.keys())]
    faults += [
        f"{printable(n)} is not listed in {where}" for n in sorted(found.keys() - listed.keys())
    ]
    return faults + [
        f"{printable(n)} was changed: its hash is not the one in {where}"
        for n in sorted(listed.keys() & found.keys())
        if listed[n] != found[n]
    ]


def _read_manifest(path: Path) -> tuple[Manifest | None, list[str]]:
    try:
        return Manifest.model_validate_json(path.read_bytes()), []
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        return None, [f"{MANIFEST} cannot be read: {key or 'document'}: {first['msg']}"]


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory, which may spill to disk."""
    with (
        TemporaryDirectory(prefix="srsql-verify-") as scratch,
        duckdb.connect(config={"python_enable_replacements": False}) as con,
    ):
        con.execute("SET temp_directory = ?", [scratch])
        con.execute("SET enable_progress_bar = false")
        yield con


def run_step(
    con: duckdb.DuckDBPyConnection, step: str, parameters: Mapping[str, Any] | None = None
) -> None:
    """Run a step on a connection that is no warehouse."""
    for statement in step_file(step).statements():
        named = {name: (parameters or {})[name] for name in statement.named_parameters}
        con.execute(statement, named or None)


def loaded(name: str) -> str:
    """Temporary table with the rows of a table of the artifact."""
    return f"srsql_loaded_{name}"


def load(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest
) -> tuple[list[Check], bool]:
    """Read every table; what a row says is looked at by the other checks.

    Args:
        con: into which the tables are read.
        folder: of the artifact.
        manifest: that declares them.

    Returns:
        The checks ``columns``, ``rows`` and ``content``, and whether every table was read.
    """
    unread = read_tables(con, folder, manifest)
    columns = Check("columns", unread, len(manifest.tables))
    if unread:
        return [columns], False
    lost, changed = [], []
    for item in manifest.tables:
        counting = exp.select(exp.Count(this=exp.Star())).from_(temporary(loaded(item.name)))
        ((rows,),) = con.execute(counting.sql("duckdb")).fetchall()
        if rows != item.rows:
            lost.append(f"{item.file}: {item.name} has {rows} rows, not {item.rows}")
        if content_digest(con, loaded(item.name), item.columns) != item.content_sha256:
            changed.append(f"{item.file}: the rows of {item.name} were changed")
    total = sum(item.rows for item in manifest.tables)
    return [columns, Check("rows", lost, total), Check("content", changed, total)], True


def read_tables(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[str]:
    """Read every table into the temporary table ``loaded(name)``.

    A table of the same name from another artifact is replaced.

    Args:
        con: into which the tables are read.
        folder: of the artifact.
        manifest: that declares them.

    Returns:
        What keeps a table from being read.
    """
    faults = []
    attached = False
    try:
        if manifest.format == "duckdb":
            con.execute(f"ATTACH ? AS {OPENED} (READ_ONLY)", [str(folder / DUCKDB_FILE)])
            attached = True
            faults += _undeclared(con, manifest)
        for item in manifest.tables:
            columns = _columns_of(con, folder, manifest, item)
            wanted = [(c.name, c.type.replace(" ", "")) for c in item.columns]
            if columns != wanted:
                faults.append(f"{item.file}: {item.name}: {_first_difference(columns, wanted)}")
                continue
            names = [column(c.name, "t") for c in item.columns]
            source = exp.alias_(_source(folder, manifest, item), "t", table=True)
            rows = exp.select(*names).from_(source)
            con.execute(create(exp.to_table(loaded(item.name)), rows, temp=True))
    except (duckdb.Error, OSError, UnicodeDecodeError, csv.Error) as error:
        faults.append(f"the tables cannot be read: {one_line(error)}")
    finally:
        if attached:
            with suppress(duckdb.Error):
                con.execute(f"DETACH {OPENED}")
    return faults


def _undeclared(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[str]:
    """What a DuckDB file has beside the declared tables."""
    found = con.execute(query("artifact/reading", "attached_objects"), [OPENED]).fetchall()
    declared = {f"table main.{item.name}" for item in manifest.tables}
    return [f"{DUCKDB_FILE} holds the {name}" for (name,) in found if name not in declared]


def _source(folder: Path, manifest: Manifest, item: Table) -> exp.Expr:
    if manifest.format == "duckdb":
        return table(OPENED, "main", item.name)
    path = exp.Literal.string(_unglobbed(folder / item.file))
    if manifest.format == "parquet":
        plain = exp.EQ(this=exp.to_identifier("hive_partitioning"), expression=exp.false())
        return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[path, plain]))
    kinds = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(c.name, quoted=True), expression=text(c.type))
            for c in item.columns
        ]
    )
    options = {
        "columns": kinds,
        "auto_detect": exp.false(),
        "header": exp.true(),
        "delim": text(","),
        "quote": text('"'),
        "escape": text('"'),
        "nullstr": text(""),
        "allow_quoted_nulls": exp.false(),
        "hive_partitioning": exp.false(),
        "max_line_size": exp.Literal.number(2**24),
    }
    named = [exp.EQ(this=exp.to_identifier(n), expression=v) for n, v in options.items()]
    return exp.Table(this=exp.Anonymous(this="read_csv", expressions=[path, *named]))


def text(value: str) -> exp.Literal:
    """A string literal."""
    return exp.Literal.string(value)


def _unglobbed(path: Path) -> str:
    """The path with every character that DuckDB would take for a pattern made literal."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def _columns_of(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, item: Table
) -> list[tuple[str, str]]:
    """(name, type) as the file has them; a CSV file has names only."""
    if manifest.format == "csv":
        with (folder / item.file).open("rb") as file:
            names = next(csv.reader(io.StringIO(file.readline(65_536).decode())), [])
        kinds = [c.type.replace(" ", "") for c in item.columns]
        return [(n, kinds[i] if i < len(kinds) else "?") for i, n in enumerate(names)]
    described = exp.Describe(this=exp.select("*").from_(_source(folder, manifest, item)))
    return [(row[0], row[1]) for row in con.execute(described.sql("duckdb")).fetchall()]


def _first_difference(found: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> str:
    for number in range(max(len(found), len(wanted))):
        got = found[number] if number < len(found) else None
        due = wanted[number] if number < len(wanted) else None
        if got != due:
            name = " ".join(got) if got else "nothing"
            return f"column {number + 1} is {name}, not {' '.join(due) if due else 'any'}"
    return "columns differ"


def read_thresholds(folder: Path) -> tuple[list[str], list[int], list[int]]:
    """Values, numerators and denominators of their thresholds, side by side.

    Raises:
        ValueError: the file is not as it was written.
    """
    values, nums, dens = [], [], []
    for value, num, den in _read_rows(folder / THRESHOLDS, ["value", "theta_num", "theta_den"]):
        values.append(value)
        nums.append(int(num))
        dens.append(int(den))
    return values, nums, dens


def read_hierarchies(folder: Path) -> Trees:
    """Attribute -> its rows (node, parent); the parent of a root is empty.

    Raises:
        ValueError: the file is not as it was written.
    """
    trees: Trees = {}
    rows = _read_rows(folder / HIERARCHIES, ["attribute", "node", "parent"])
    for attribute, node, parent in rows:
        trees.setdefault(attribute, []).append((node, parent))
    return trees


def _read_rows(path: Path, header: list[str]) -> list[list[str]]:
    """The rows of one of the small files.

    Raises:
        ValueError: it has another header, or a row of another width.
    """
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode()), strict=True))
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    if rows[:1] != [header] or any(len(row) != len(header) for row in rows):
        raise ValueError(f"{path.name} has not the columns {', '.join(header)} in every row")
    return rows[1:]
