"""The rows of an artifact, and what else its tables' files hold.

Its maker is a stranger: the rows are read into a connection that knows nothing else and opens
no other file, whatever a view of a DuckDB file says, loads no extension, and cannot be told
otherwise. No view of a file is run.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.described import (
    LATEST,
    comments,
    ids_follow,
    latest_query,
    parquet_metadata,
    same_metadata,
    schema_name,
    union_view,
)
from srsql.engine.artifact.format import (
    DESCRIBED,
    DUCKDB_FILE,
    MANIFEST,
    QUARTER,
    AnyManifest,
    Column,
    Manifest,
    QuarterManifest,
    Table,
    content_digest,
    quarters_of,
    stored_columns,
)
from srsql.engine.artifact.verify.contradictions import written_here
from srsql.engine.artifact.verify.files import MARKED, NUMBER, UNSAFE, printable
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.errors import one_line
from srsql.engine.store.database_file import show_no_progress_bar
from srsql.engine.store.scratch import private_folder
from srsql.engine.store.statements import (
    column,
    create,
    dotted,
    query,
    step_file,
    table,
    temporary,
    union_all,
)
from srsql.schemas.outside import open_plain

OPENED = "srsql_artifact"
_OPENING = re.compile(r"\((?=\(*SELECT )")
_CLOSING = re.compile(r"\)(?=\)*(?: UNION ALL |;?$))")
SAFE = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""What keeps a connection to the files that it was allowed."""


@contextmanager
def connection(
    *folders: Path, memory_limit: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory, which may spill to disk and opens the files of these folders.

    Neither a view, a macro nor a link of theirs leads it to any other file, and it loads no
    extension; nothing turns that off again.

    Args:
        folders: whose files may be read.
        memory_limit: of DuckDB; None: what it takes by itself.
    """
    with (
        private_folder(Path(gettempdir()) / "srsql-verify") as scratch,
        duckdb.connect(config={"python_enable_replacements": False}) as con,
    ):
        con.execute("SET temp_directory = ?", [str(scratch)])
        if memory_limit is not None:
            con.execute("SET memory_limit = ?", [memory_limit])
        show_no_progress_bar(con)
        con.execute("SET allowed_paths = ?", [_allowed(folders)])
        for statement in SAFE:
            con.execute(statement)
        yield con


def _allowed(folders: Sequence[Path]) -> list[str]:
    """The plain files of the folders, as paths and as the patterns that they are read by."""
    files = [f for folder in folders for f in sorted(folder.iterdir())]
    plain = [f.absolute() for f in files if f.is_file() and not f.is_symlink()]
    # DuckDB looks for a log of changes beside its file; where there is one, `files` says so
    logs = [f"{f}.wal" for f in plain if f.name == DUCKDB_FILE]
    return [*logs, *(text for f in plain for text in dict.fromkeys((str(f), unglobbed(f))))]


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
        rows = count(con, temporary(loaded(item.name)))
        if rows != item.rows:
            lost.append(f"{item.file}: {item.name} has {rows} rows, not {item.rows}")
        if content_digest(con, loaded(item.name), item.columns) != item.content_sha256:
            changed.append(f"{item.file}: the rows of {item.name} were changed")
    total = sum(item.rows for item in manifest.tables)
    return [columns, Check("rows", lost, total), Check("content", changed, total)], True


def count(con: duckdb.DuckDBPyConnection, source: exp.Expr) -> int:
    """How many rows there are."""
    counting = exp.select(exp.Count(this=exp.Star())).from_(source)
    ((rows,),) = con.execute(counting.sql("duckdb")).fetchall()
    return int(rows)


def read_tables(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[str]:
    """Read every table of one quarter into the temporary table ``loaded(name)``.

    A table of the same name from another artifact is replaced.

    Returns:
        What keeps a table from being read.
    """
    faults = []
    try:
        with attached(con, folder) if manifest.format == "duckdb" else nullcontext():
            for item in manifest.tables:
                shown = stored_columns(manifest, item)
                found = columns_of(con, folder, manifest, item)
                wanted = [(c.name, c.type.replace(" ", "")) for c in shown]
                if found != wanted:
                    faults.append(f"{item.file}: {item.name}: {first_difference(found, wanted)}")
                    continue
                rows = _rows(con, folder, manifest, item)
                con.execute(create(exp.to_table(loaded(item.name)), rows, temp=True))
    except (duckdb.Error, OSError, UnicodeDecodeError, csv.Error) as error:
        faults.append(f"the tables cannot be read: {one_line(error)}")
    return faults


@contextmanager
def attached(con: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[None]:
    """While this lasts, the DuckDB file of a folder is there to be read."""
    con.execute(f"ATTACH ? AS {OPENED} (READ_ONLY)", [str((folder / DUCKDB_FILE).absolute())])
    try:
        yield
    finally:
        with suppress(duckdb.Error):
            con.execute(f"DETACH {OPENED}")


def whole(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, item: Table
) -> exp.Table:
    """The rows of all quarters of a table, read once into the database of the connection."""
    place = sha256(str(folder.absolute()).encode()).hexdigest()[:16]
    name = f"srsql_whole_{place}_{item.name}"
    known = con.execute(query("artifact/reading", "has_table"), [name]).fetchall()
    if not known:
        shown = [_value(manifest, c) for c in stored_columns(manifest, item)]
        source = exp.alias_(_source(folder, manifest, item), "t", table=True)
        con.execute(create(table("memory", "main", name), exp.select(*shown).from_(source)))
    return table("memory", "main", name)


def _rows(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, item: Table
) -> exp.Select:
    """The rows of a table, of the quarter of the manifest."""
    if isinstance(manifest, QuarterManifest) and manifest.format != "duckdb":
        names = [column(c.name, "t") for c in item.columns]
        source = exp.alias_(whole(con, folder, manifest, item), "t", table=True)
        of_quarter = column(QUARTER, "t").eq(text(manifest.quarter))
        return exp.select(*names).from_(source).where(of_quarter)
    shown = [_value(manifest, c) for c in item.columns]
    return exp.select(*shown).from_(exp.alias_(_source(folder, manifest, item), "t", table=True))


def _value(manifest: Manifest, shown: Column) -> exp.Expr:
    """A value as it was released: of a formula in CSV the apostrophe in front of it goes."""
    value = column(shown.name, "t")
    if not manifest.csv_safe or manifest.format != "csv" or shown.type != "VARCHAR":
        return value
    marked = exp.Anonymous(this="regexp_matches", expressions=[value, text(MARKED)])
    rest = exp.Anonymous(this="substr", expressions=[value.copy(), exp.Literal.number(2)])
    return exp.Case().when(marked, rest).else_(value.copy()).as_(shown.name, quoted=True)


def _source(folder: Path, manifest: Manifest, item: Table) -> exp.Expr:
    if manifest.format == "duckdb":
        return table(OPENED, schema_name(manifest), item.name)
    path = exp.Literal.string(unglobbed(folder / item.file))
    if manifest.format == "parquet":
        plain = exp.EQ(this=exp.to_identifier("hive_partitioning"), expression=exp.false())
        return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[path, plain]))
    kinds = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(c.name, quoted=True), expression=text(c.type))
            for c in stored_columns(manifest, item)
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


def unglobbed(path: Path) -> str:
    """The path with every character that DuckDB would take for a pattern made literal."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def columns_of(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, item: Table
) -> list[tuple[str, str]]:
    """(name, type) as the file has them; a CSV file has names only."""
    if manifest.format == "csv":
        with open_plain(folder / item.file, links=False) as file:
            names = next(csv.reader(io.StringIO(file.readline(65_536).decode())), [])
        kinds = [c.type.replace(" ", "") for c in stored_columns(manifest, item)]
        return [(n, kinds[i] if i < len(kinds) else "?") for i, n in enumerate(names)]
    if manifest.format == "duckdb":
        named = [OPENED, schema_name(manifest), item.name]
        if not con.execute(query("artifact/reading", "is_table"), named).fetchall():
            return []  # a view is not run
    described = exp.Describe(this=exp.select("*").from_(_source(folder, manifest, item)))
    return [(row[0], row[1]) for row in con.execute(described.sql("duckdb")).fetchall()]


def first_difference(found: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> str:
    """Where the columns of a file, with their types, are not the declared ones."""
    for number in range(max(len(found), len(wanted))):
        got = found[number] if number < len(found) else None
        due = wanted[number] if number < len(wanted) else None
        if got != due:
            name = " ".join(got) if got else "nothing"
            return f"column {number + 1} is {name}, not {' '.join(due) if due else 'any'}"
    return "columns differ"


def check_tables(con: duckdb.DuckDBPyConnection, folder: Path, manifest: AnyManifest) -> Check:
    """The check ``columns`` of what files hold beside the declared rows: objects, descriptions.

    And of what several quarters have together: their rows are all declared, and each case's latest
    quarter is the one that the rows give.
    """
    parts, faults = quarters_of(manifest), list[str]()
    try:
        if parts[0].format == "duckdb":
            with attached(con, folder):
                faults += _undeclared(con, parts)
                faults += [] if faults else _latest_faults(con, parts)
        else:
            faults += _stray_rows(con, folder, parts)
            faults += [] if faults else _formulas(con, folder, parts[0])
            faults += _metadata_faults(con, folder, parts)
    except (duckdb.Error, OSError, UnicodeDecodeError, csv.Error) as error:
        faults.append(f"the tables cannot be read: {one_line(error)}")
    return Check("columns", faults, len(parts[0].tables))


def _undeclared(con: duckdb.DuckDBPyConnection, parts: Sequence[Manifest]) -> list[str]:
    """What a DuckDB file has beside the declared tables and what describes them, and what not."""
    statement = query("artifact/reading", "attached_objects")
    found = {_flat(row[0]) for row in con.execute(statement, [OPENED]).fetchall()}
    due = {f"table {schema_name(part)}.{item.name}" for part in parts for item in part.tables}
    if isinstance(parts[0], QuarterManifest):
        due |= {f"schema {schema_name(part)}" for part in parts} | _view_texts(con, parts)
        due |= {f"table main.{LATEST}"} if ids_follow(parts[0]) else set()
    if parts[0].artifact_version >= DESCRIBED:
        if written_here(parts[0]):
            due |= {f"{kind} {'.'.join(name)}: {words}" for kind, name, words in comments(parts)}
        else:  # other versions may word it otherwise
            found = {name for name in found if not name.startswith("comment on ")}
    strange, missing = (
        sorted(name.partition(": ")[0] for name in names) for names in (found - due, due - found)
    )
    faults = [f"{DUCKDB_FILE} holds the {printable(name)}" for name in strange]
    return faults + [f"{DUCKDB_FILE} lacks the {name}" for name in missing]


def _view_texts(con: duckdb.DuckDBPyConnection, parts: Sequence[Manifest]) -> set[str]:
    """The views over all quarters, as this DuckDB writes their text."""
    con.execute("BEGIN")
    try:
        for part in parts:
            con.execute(f"CREATE SCHEMA {dotted('memory', schema_name(part))}")
            for item in part.tables:
                cells = [
                    exp.cast(exp.null(), c.type, dialect="duckdb").as_(c.name, quoted=True)
                    for c in item.columns
                ]
                target = table("memory", schema_name(part), item.name)
                con.execute(create(target, exp.select(*cells).where(exp.false())))
        for item in parts[0].tables:
            made = create(table("memory", "main", item.name), union_view(parts, item.name), "VIEW")
            con.execute(made)
        statement = query("artifact/reading", "view_texts")
        return {_flat(row[0]) for row in con.execute(statement).fetchall()}
    finally:
        con.execute("ROLLBACK")


def _flat(text: str) -> str:
    """A view's text without the parentheses around the parts of a union.

    DuckDB writes ``A UNION ALL B UNION ALL C`` otherwise when it comes from a file. What stands in
    any other parentheses stays there.
    """
    if not text.startswith("view "):
        return text
    return _CLOSING.sub("", _OPENING.sub("", text.replace(")UNION ALL (", ") UNION ALL (")))


def _latest_faults(con: duckdb.DuckDBPyConnection, parts: Sequence[Manifest]) -> list[str]:
    """Whether the latest quarter of each case is the one that the rows of the file give."""
    if not (isinstance(parts[0], QuarterManifest) and ids_follow(parts[0])):
        return []
    sources = [table(OPENED, schema_name(p), str(p.report_table)) for p in parts]
    given = exp.select("*").from_(table(OPENED, "main", LATEST))
    due = latest_query(parts, sources)
    due.set("order", None)
    both = [
        exp.select("*").from_(exp.except_(one, other, distinct=False).subquery("e"))
        for one, other in ((given, due), (due, given))
    ]
    differing = union_all(list(both))
    rows = count(con, differing.subquery("d"))
    return [f"{DUCKDB_FILE}: {LATEST} has {rows} row(s) that are not so"] if rows else []


def _stray_rows(
    con: duckdb.DuckDBPyConnection, folder: Path, parts: Sequence[Manifest]
) -> list[str]:
    """Rows of no quarter that is declared, in files that hold several."""
    faults = []
    for item in parts[0].tables if isinstance(parts[0], QuarterManifest) else ():
        shown = [(c.name, c.type.replace(" ", "")) for c in stored_columns(parts[0], item)]
        found = columns_of(con, folder, parts[0], item)
        if found != shown:
            faults.append(f"{item.file}: {item.name}: {first_difference(found, shown)}")
            continue
        rows = count(con, whole(con, folder, parts[0], item))
        due = sum(part.table(item.name).rows for part in parts)
        if rows != due:
            faults.append(f"{item.file}: {item.name} has {rows} rows, not {due}")
    return faults


def _formulas(con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> list[str]:
    """Cells of CSV files that a spreadsheet would run, where the manifest says that there are none.

    Tables whose columns cannot be read are another fault.
    """
    faults = []
    for item in manifest.tables if manifest.csv_safe and manifest.format == "csv" else ():
        shown = stored_columns(manifest, item)
        declared = [(c.name, c.type.replace(" ", "")) for c in shown]
        found = [
            exp.and_(
                exp.Anonymous(this="regexp_matches", expressions=[value, text(UNSAFE)]),
                exp.Not(
                    this=exp.Anonymous(
                        this="regexp_full_match", expressions=[value.copy(), text(NUMBER)]
                    )
                ),
            )
            for value in (column(c.name, "t") for c in shown if c.type == "VARCHAR")
        ]
        if not found or columns_of(con, folder, manifest, item) != declared:
            continue
        rows = exp.select("*").from_(exp.alias_(_source(folder, manifest, item), "t", table=True))
        unsafe = count(con, rows.where(exp.or_(*found)).subquery("u"))
        if unsafe:
            faults.append(
                f"{item.file}: {unsafe} row(s) of {item.name} have a cell that a spreadsheet runs "
                "as a formula, though csv_safe is true"
            )
    return faults


def _metadata_faults(
    con: duckdb.DuckDBPyConnection, folder: Path, parts: Sequence[Manifest]
) -> list[str]:
    """Parquet files that describe themselves otherwise than the manifest."""
    first = parts[0]
    if first.format != "parquet" or first.artifact_version < DESCRIBED or not written_here(first):
        return []
    faults = []
    for item in first.tables:
        path = unglobbed(folder / item.file)
        rows = con.execute(query("artifact/reading", "file_metadata"), [path]).fetchall()
        if not same_metadata(dict(rows), parquet_metadata(first, item)):
            faults.append(f"{item.file} does not describe itself as {MANIFEST} says")
    return faults
