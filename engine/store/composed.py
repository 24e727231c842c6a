"""Macros whose parts are the statements of steps, so that an audit has one definition.

The engine runs a step as statements that make temporary tables; a macro is one query. Where a file
of macros says

    -- parts: audit/release, audit/sizes; of: job; as: _again; reading: audit_target as other

the statements of these steps become parts of its WITH: a table is a part of its name
that is ``MATERIALIZED``, and ``$parameter`` is that column of the one row of ``job``.
``as`` is put behind the names that are written, ``reading`` replaces names that are read.
"""

from __future__ import annotations

import re

from srsql.engine.store.statements import STEPS, queries, source

_PARTS = re.compile(
    r"^ *-- parts: (?P<files>[^;\n]+(?:\n *--   [^;\n]+)*); of: (?P<row>\w+)"
    r"(?:; as: (?P<suffix>\w+))?(?:;\s+(?:--   )?reading: (?P<read>[^;\n]+))?\n",
    re.MULTILINE,
)
_COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)
_CREATE = re.compile(r"CREATE OR REPLACE TEMP TABLE srsql_(\w+) AS\n(.*)", re.DOTALL)
_INSERT = re.compile(r"INSERT INTO temp\.main\.srsql_(\w+)\n(.*)", re.DOTALL)


def macro_text(package: str, file: str) -> str:
    """The text of a file of definitions, with the statements of the steps that it names."""
    return _PARTS.sub(_written, source(package, file))


def _written(found: re.Match[str]) -> str:
    """The parts of a WITH that stand for a line ``-- parts``, each with a comma behind it."""
    files = re.split(r",\s+(?:--\s+)?", found["files"])
    renamed = dict(each.split(" as ") for each in (found["read"] or "").split(", ") if each)
    names = {f"srsql_{old}": new for old, new in renamed.items()}
    parts = []
    for file in files:
        for statement in _statements(file):
            name, query = _part(statement, names, found["suffix"] or "")
            query = re.sub(
                r"\$(\w+)", lambda at: f"(SELECT o.{at[1]} FROM {found['row']} AS o)", query
            )
            parts.append(f"{name} AS MATERIALIZED (\n{query}\n),\n")
    return "".join(parts)


def _statements(file: str) -> list[str]:
    """The statements of a step, or the one of a query (``LAYER/TOPIC.NAME``)."""
    topic, _, name = file.partition(".")
    layer, _, step = topic.partition("/")
    text = queries(topic)[name] if name else source(STEPS, f"{layer}/steps/{step}.sql")
    return [one for part in _COMMENT.sub("", text).split(";\n") if (one := part.strip(" \n;"))]


def _part(statement: str, names: dict[str, str], suffix: str) -> tuple[str, str]:
    """The name of a part and its query; ``names`` knows from then on what it is called.

    Raises:
        ValueError: the statement makes no table.
    """

    def known(name: str) -> str:
        return names.get(f"srsql_{name}", f"srsql_{name}")

    created, inserted = _CREATE.fullmatch(statement), _INSERT.fullmatch(statement)
    found = created or inserted
    if found is None:
        raise ValueError(f"no table is made by: {statement[:60]}")
    table, query = found[1], found[2]
    query = re.sub(r"\btemp\.main\.srsql_(\w+)", lambda at: known(at[1]), query)
    if inserted:
        query = f"SELECT * FROM {known(table)}\nUNION ALL\n({query})"
    written = f"srsql_{table}{suffix}"
    if written == names.get(f"srsql_{table}") or (inserted and not suffix):
        written += "_more"
    names[f"srsql_{table}"] = written
    return written, query
