"""The examples that every derivation of a term's key is held against, and each derivation."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
from support.node import NODE

from srsql.engine.artifact.verify.term_keys import key_of_term
from srsql.engine.catalog.datasets import term_key as key_in_sql
from srsql.engine.checks import checked_key
from srsql.engine.extras.verifier_page import verifier_page
from srsql.engine.store.statements import STEPS, column, parsed
from srsql.udfs.register import register_udfs
from srsql.udfs.term_key import term_key

Keys = Callable[[Sequence[str]], list[str | None]]
EVERY_CHARACTER = tuple(chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF)
"""All code points that a text can have."""
IN_NODE = """
const vm = require("vm"), fs = require("fs");
globalThis.addEventListener = () => {};
vm.runInThisContext(fs.readFileSync(process.argv[1], "utf8"));
const texts = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(vm.runInThisContext("termKey") && texts.map(text =>
  vm.runInThisContext("termKey")(text) || null)));
"""


def examples() -> list[tuple[str, str, str | None]]:
    """What it shows, the text and its key; control characters are escaped in the file."""
    file = Path(__file__).parents[1] / "fixtures" / "term_keys.csv"
    with file.open(encoding="ascii", newline="") as opened:
        return [
            (row["what"], json.loads(row["text"]), json.loads(row["key"]))
            for row in csv.DictReader(opened)
        ]


def by_maker(texts: Sequence[str]) -> list[str | None]:
    return [term_key(text) for text in texts]


def by_verification(texts: Sequence[str]) -> list[str | None]:
    return [key_of_term(text) for text in texts]


def by_macro(texts: Sequence[str]) -> list[str | None]:
    """What ``srsql.term_key`` says."""
    with duckdb.connect() as con:
        register_udfs(con)
        con.execute("CREATE SCHEMA srsql")
        for statement in parsed(STEPS, "warehouse/term_key.sql"):
            con.execute(statement)
        return _asked(con, key_in_sql(column("text", "u"), 1).sql("duckdb"), texts)


def by_checks(texts: Sequence[str]) -> list[str | None]:
    """What the UDF of the checks says, for which a blank term may be empty."""
    with duckdb.connect() as con:
        register_udfs(con)
        keys = _asked(con, checked_key(column("text", "u"), 1).sql("duckdb"), texts)
    return [key or None for key in keys]


def _asked(con: duckdb.DuckDBPyConnection, key: str, texts: Sequence[str]) -> list[str | None]:
    given = "SELECT unnest($1::VARCHAR[]) AS text, unnest(range(len($1::VARCHAR[]))) AS place"
    rows = con.execute(f"SELECT {key} FROM ({given}) AS u ORDER BY u.place", [list(texts)])
    return [row[0] for row in rows.fetchall()]


def by_page(scratch: Path) -> Keys:
    """What the page for browsers says, in Node; its script is written into ``scratch``."""
    found = re.search(
        r'<script type="text/plain" id="work">(.*?)</script>', verifier_page(), re.DOTALL
    )
    assert found is not None
    script = scratch / "work.js"
    script.write_text(found[1], encoding="utf-8")

    def keys(texts: Sequence[str]) -> list[str | None]:
        assert NODE is not None
        done = subprocess.run(
            [NODE, "-e", IN_NODE, str(script)],
            input=json.dumps(list(texts)), capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        told: list[str | None] = json.loads(done.stdout)
        return told

    return keys
