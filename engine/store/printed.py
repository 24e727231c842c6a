"""One file of plain SQL with which published artifacts are audited in a client without srsql.

It has the public macros of an audit, all that they call, and the tables of the catalog that they
read, as a warehouse has them; then the statements that fill these tables from the artifacts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import duckdb

from srsql.engine.store.comments import told
from srsql.engine.store.composed import macro_text
from srsql.engine.store.definitions import INTERNAL, READER, definition_files, described
from srsql.engine.store.statements import STEPS, source
from srsql.version import __version__

PRINTED = tuple(
    f"srsql.{name}"
    for name in ("series", "audit", "danger", "metrics", "attack", "candidates", "help")
)
"""The public macros of the file; ``srsql.not_evaluated`` comes with its statements."""
UNTOLD = "artifact/auditor/untold.sql"
FILLING = ("artifact/auditor/reading.sql", "artifact/auditor/filling.sql")
HEAD = """\
-- The audit of published artifacts in plain SQL, printed by srsql {version}: srsql macros --public
--
-- It needs a DuckDB client of version 1.5 or later with no other database in use, and the folders
-- of artifacts as they were published (DuckDB, Parquet or CSV): of one period, or of a series.
--
--     $ duckdb
--     SET VARIABLE artifacts = ['release-2011Q3', 'release-2011Q4'];
--     .read audit.sql
--     FROM srsql.audit();
--
-- k, the attacks and the thresholds are those of the artifacts; srsql.audit(k := 7, theta := '1/3',
-- attacks := ['b', 'f', 'l']) judges by others. A series that is not called main needs
-- series := 'NAME': FROM srsql.series(). What is not told: FROM srsql.not_evaluated(). Every macro:
-- FROM srsql.help(). Files are opened in these folders alone: manifest.json, the tables that it
-- names, value-thresholds.csv and value-hierarchies.csv. Other artifacts: begin with a new client.

-- One transaction: a client that goes on after an error has nothing to audit.
BEGIN TRANSACTION;

CREATE SCHEMA srsql;
CREATE SCHEMA {internal};
CREATE SCHEMA {reader};
"""
_DEFINES = re.compile(
    r"CREATE (?:OR REPLACE )?(MACRO|VIEW|TABLE)(?: IF NOT EXISTS)? (srsql\w*\.\w+)", re.MULTILINE
)
_NAMES = re.compile(r"\bsrsql(?:_internal|_reader)?\.\w+")
_COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """A macro, table or view of a warehouse."""

    name: str
    is_macro: bool
    text: str

    @property
    def reads(self) -> set[str]:
        """The names that it may read or call."""
        return set(_NAMES.findall(self.text)) - {self.name if self.is_macro else ""}


def public_file() -> str:
    """The text of the file."""
    parts = [HEAD.format(version=__version__, internal=INTERNAL, reader=READER)]
    needed = _needed()
    parts += [f"{each.text};\n" for each in needed]
    parts += [_COMMENT.sub("", source(STEPS, file)) for file in (*FILLING, UNTOLD)]
    names = {each.name for each in needed}
    untold = told([(f"public/{UNTOLD}", source(STEPS, UNTOLD))])
    comments = [
        f"{each.statement};\n"
        for each in (*described(), *untold)
        if f"{each.schema}.{each.name}" in names or each in untold
    ]
    return "\n".join([*parts, "".join(comments), "COMMIT;\n"])


def _needed() -> list[Definition]:
    """The public macros and all that they need, in the order in which they can be made."""
    found = [each for file in definition_files() for each in _definitions(macro_text(*file))]
    needed: set[str] = set()
    wanted = set(PRINTED)
    while wanted:
        needed |= wanted
        read = {name for each in found if each.name in wanted for name in each.reads}
        wanted = read - needed
    return [each for each in found if each.name in needed]


def _definitions(text: str) -> list[Definition]:
    """The definitions of a file, without their comments."""
    found = []
    for statement in duckdb.extract_statements(text):
        plain = _COMMENT.sub("", statement.query).strip(" \n;")
        defined = _DEFINES.match(plain)
        if defined:
            found.append(Definition(defined[2], defined[1] == "MACRO", plain))
    return found
