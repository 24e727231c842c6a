"""Statements: the `.sql` files of the package, what they name, and expressions of sqlglot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import duckdb
import sqlglot
from sqlglot import exp

STORE = "srsql_data"
"""Schema of the released rows. The views name it, so it must not be ``srsql``: DuckDB calls a
catalog after its file, and in a file called ``srsql.duckdb`` the name ``srsql.x`` is ambiguous."""

SPACE = (
    " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What counts as white space at the ends of a value: Unicode's, the zero-width ones included."""
SPACES = "[" + "".join(rf"\x{{{ord(character):x}}}" for character in SPACE) + "]"
"""The same as a class of a regular expression of DuckDB, which trims five times as fast."""
IGNORABLE = (
    r"\x{ad}\x{34f}\x{61c}\x{115f}-\x{1160}\x{17b4}-\x{17b5}\x{180b}-\x{180f}\x{200b}-\x{200f}"
    r"\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}"
    r"\x{fff0}-\x{fff8}\x{1bca0}-\x{1bca3}\x{1d173}-\x{1d17a}\x{e0000}-\x{e0fff}"
)
"""Characters without a shape of their own, which a reader cannot see: Unicode's property
Default_Ignorable_Code_Point, as ranges within a class of a regular expression."""
INVISIBLE = f"^[{SPACES[1:-1]}{IGNORABLE}]+|[{SPACES[1:-1]}{IGNORABLE}]+$|[{IGNORABLE}]+"
"""What the normal form of a term leaves out: white space at its ends, ignorable characters
anywhere."""


def spaces_and(signs: str) -> str:
    """White space and other signs, as a class of a regular expression: what is no part of an id at
    the ends of a field of a rejected line, of whose quotes nothing is known."""
    return SPACES.removesuffix("]") + "".join(rf"\x{{{ord(sign):x}}}" for sign in signs) + "]"


def quoted(name: str) -> str:
    """``name`` as a quoted identifier of DuckDB, whatever it contains.

    Here and in ``literal`` without sqlglot, whose generator takes longer to load than a warehouse
    to open.
    """
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """``value`` as a string literal, for the statements that take no parameters."""
    return "'" + value.replace("'", "''") + "'"


def dotted(*parts: str) -> str:
    """A qualified name, every part quoted."""
    return ".".join(quoted(part) for part in parts)


STEPS = "srsql.sql_macros"
_NAMED = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def queries(topic: str) -> Mapping[str, str]:
    """The statements of ``sql_macros/LAYER/queries/TOPIC.sql`` by name.

    Each begins with a line ``-- name: NAME``; comments below it say what it returns.

    Args:
        topic: ``LAYER/TOPIC``.
    """
    layer, _, name = topic.partition("/")
    _, *parts = _NAMED.split(source(STEPS, f"{layer}/queries/{name}.sql"))
    return {
        title: text.strip().removesuffix(";")
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def query(topic: str, name: str, **tables: str) -> str:
    """One named statement of ``sql_macros/LAYER/queries/TOPIC.sql``.

    Args:
        topic: ``LAYER/TOPIC``.
        name: what stands behind its ``-- name:``.
        tables: for every table that the statement names as ``temp.main.srsql_NAME``, the temporary
            table that is read or written in its place.
    """
    return bound(queries(topic)[name], tables)


def bound(text: str, tables: Mapping[str, str]) -> str:
    """``text`` with other temporary tables in the place of those that it names.

    Raises:
        KeyError: the text names no such table.
    """
    for formal, actual in tables.items():
        text, found = re.subn(rf"\btemp\.main\.srsql_{formal}\b", f"temp.main.{actual}", text)
        if not found:
            raise KeyError(f"no table srsql_{formal} is named in the statement")
    return text


@dataclass(frozen=True)
class Step:
    """The static statements of one step of a layer, and the tables that its header declares."""

    text: str
    reads: tuple[str, ...]
    """Temporary tables without ``srsql_``, catalog tables with ``srsql.``."""
    writes: tuple[str, ...]
    """Temporary tables without ``srsql_``."""
    stores: tuple[str, ...]
    """Catalog tables that it changes."""

    def statements(self, tables: tuple[tuple[str, str], ...] = ()) -> tuple[duckdb.Statement, ...]:
        """The parsed statements, with other temporary tables in the place of those named."""
        return _parsed_step(self.text, tables)


@cache
def step_file(step: str) -> Step:
    """The step ``LAYER/STEP`` with what its header says of it."""
    layer, _, name = step.partition("/")
    text = source(STEPS, f"{layer}/steps/{name}.sql")
    reads, writes = (_declared(text, label) for label in ("Reads", "Writes"))
    return Step(
        text,
        reads,
        tuple(name for name in writes if "." not in name),
        tuple(name for name in writes if "." in name),
    )


def _declared(text: str, label: str) -> tuple[str, ...]:
    """The tables behind ``-- LABEL:`` in a header, without the columns in parentheses."""
    found = re.search(rf"^-- {label}:((?:.*\n)(?:--   .*\n)*)", text, re.MULTILINE)
    if not found:
        return ()
    listed = re.sub(r"\([^)]*\)", "", found[1].replace("\n--", " "))
    return tuple(name.strip() for name in listed.split(",") if name.strip(" .\n"))


@cache
def _parsed_step(text: str, tables: tuple[tuple[str, str], ...]) -> tuple[duckdb.Statement, ...]:
    return tuple(duckdb.extract_statements(bound(text, dict(tables))))


@cache
def source(package: str, file: str) -> str:
    """The text of one `.sql` file of the package."""
    return (_folder(package) / file).read_text(encoding="utf-8")


@cache
def _folder(package: str) -> Traversable:
    return resources.files(package)


@cache
def parsed(package: str, file: str) -> tuple[duckdb.Statement, ...]:
    """The statements of one `.sql` file of the package, in order, for any connection.

    Parsing a macro takes longer than making it, so that it is done once for all warehouses that a
    process opens.
    """
    return tuple(duckdb.extract_statements(source(package, file)))


@cache
def statements(package: str, file: str) -> tuple[str, ...]:
    """The texts of the statements of one `.sql` file of the package, in order."""
    return tuple(statement.query.strip() for statement in parsed(package, file))


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column reference."""
    return exp.column(
        exp.to_identifier(name, quoted=True),
        table=exp.to_identifier(table, quoted=True) if table else None,
    )


def table(*parts: str, alias: str | None = None) -> exp.Table:
    """A quoted table reference: ``name``, ``schema, name`` or ``catalog, schema, name``."""
    names = [exp.to_identifier(part, quoted=True) for part in parts]
    reference = exp.Table(
        this=names[-1],
        db=names[-2] if len(names) > 1 else None,
        catalog=names[-3] if len(names) > 2 else None,
    )
    if alias:
        reference.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return reference


def temporary(name: str, alias: str | None = None) -> exp.Table:
    """A reference to a temporary table, immune to the caller's search path."""
    return table("temp", "main", name, alias=alias)


def create(target: exp.Table, query: exp.Query, kind: str = "TABLE", *, temp: bool = False) -> str:
    """``CREATE OR REPLACE [TEMP] TABLE|VIEW target AS query`` as text."""
    properties = exp.Properties(expressions=[exp.TemporaryProperty()]) if temp else None
    return exp.Create(
        this=target, kind=kind, expression=query, replace=True, properties=properties
    ).sql(dialect="duckdb")


def with_rows(statement: str, **rows: exp.Query) -> exp.Query:
    """A static statement over rows that depend on the dataset.

    Args:
        statement: its text, in which the rows are tables of these names.
        rows: by name; each is computed once and may read those before it.
    """
    found = sqlglot.parse_one(statement, read="duckdb")
    assert isinstance(found, exp.Query)
    found.pop_comments()
    own = [cte.copy() for cte in found.ctes]
    found.set("with_", None)
    for name, query in rows.items():
        found = found.with_(exp.to_identifier(name), as_=query, materialized=True, copy=False)
    for cte in own:
        found.args["with_"].append("expressions", cte)
    return found


def check_row(release_id: int, scope: tuple[str, str], wrong: exp.Expr) -> exp.Expr:
    """The uniform row of a check over the rows of a query, as the one projection of it.

    Args:
        release_id: stands in the row.
        scope: the name of the measure, and of what it counts.
        wrong: what is true of a row that breaks the rule.
    """
    arguments: list[exp.Expr] = [
        exp.Literal.number(release_id),
        *(exp.Literal.string(text) for text in scope),
        exp.func("count_if", wrong),
        exp.Count(this=exp.Star()),
        exp.Literal.number(0),
    ]
    return exp.Anonymous(this="unnest", expressions=[scalar_macro("check_row", *arguments)])


def scalar_macro(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of one of our scalar macros."""
    call = exp.Anonymous(this=name, expressions=list(arguments))
    return exp.Dot.build([exp.to_identifier("srsql"), call])


def union_all(queries: list[exp.Query]) -> exp.Query:
    """The queries one after the other; they belong to what is returned."""
    joined = queries[0]
    for query in queries[1:]:  # copies would be of all that came before
        joined = exp.union(joined, query, distinct=False, copy=False)
    return joined


def bare(value: exp.Expr, *, many: bool = False) -> exp.Expr:
    """``value`` without the white space of ``SPACE`` at its ends; ``many``: see ``normal_form``."""
    without = _without(f"^{SPACES}+|{SPACES}+$", value)
    if not many:
        return without
    return exp.Case().when(_seen_at_ends(value), value.copy()).else_(without)


def normal_form(value: exp.Expr, *, many: bool = False) -> exp.Expr:
    """The one normal form of a term (SPEC section 2), empty where nothing is left.

    Ignorable characters are taken out, white space at its ends as well; what remains is composed
    (Unicode NFC) and in upper case. In this order, since a character between two others keeps them
    from being composed.

    Args:
        value: a text.
        many: it is worked out for each of many rows, most of which are plain ASCII: these are told
            apart, which makes the statement longer.
    """
    composed = exp.Anonymous(this="nfc_normalize", expressions=[_without(INVISIBLE, value)])
    if not many:
        return exp.Upper(this=composed)
    in_ascii = exp.EQ(
        this=exp.Anonymous(this="strlen", expressions=[value.copy()]),
        expression=exp.Length(this=value.copy()),
    )
    plain = exp.and_(in_ascii, _seen_at_ends(value))  # where nothing is to be done but upper case
    return exp.Case().when(plain, exp.Upper(this=value.copy())).else_(exp.Upper(this=composed))


def _seen_at_ends(value: exp.Expr) -> exp.Expr:
    """Whether the first and the last character of a text are visible ones of ASCII, as they mostly
    are: to look takes a fraction of the time of regular expressions."""
    ends = (
        exp.Anonymous(this="array_extract", expressions=[value.copy(), exp.Literal.number(place)])
        for place in (1, -1)
    )
    low, high = exp.Literal.string("!"), exp.Literal.string("~")
    return exp.and_(*(exp.Between(this=end, low=low.copy(), high=high.copy()) for end in ends))


def _without(pattern: str, value: exp.Expr) -> exp.Expr:
    """A text without what a regular expression matches."""
    texts = [exp.Literal.string(text) for text in (pattern, "", "g")]
    return exp.Anonymous(this="regexp_replace", expressions=[value, *texts])
