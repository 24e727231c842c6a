"""What DuckDB tells of the definitions of a warehouse: comments, read off their own headers.

A macro is told by what stands behind ``-- What:`` above it, a table or view by the comment above
it, a column by ``columns.toml``. A macro that calls a kernel, or a macro that does, says that it
needs Python.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from srsql.engine.store.statements import dotted, literal, source

COLUMNS = "columns.toml"
EVERY = "every"
"""Of that file: what a column means wherever its table has no text of its own for it."""
PUBLIC = "public/"
"""The folder of the macros that people call."""
HELPER = "Helper. "
"""How the comment of any other macro begins."""
SHOWN = ("Inputs", "Outputs")
"""What else a header says that people read in a client."""
NEEDS_PYTHON = "Needs Python: pip install srsql, then srsql.install(con); it calls {kernels}."
_DEFINED = re.compile(
    r"((?:^--.*\n)+)CREATE (?:OR REPLACE )?(MACRO|VIEW|TABLE)(?: IF NOT EXISTS)? "
    r"(srsql\w*)\.(\w+)",
    re.MULTILINE,
)
_FIELD = re.compile(r"^-- (\w+):\s+((?:.*\n)(?:--    .*\n|--\s*\n)*)", re.MULTILINE)
_CALL = re.compile(r"\bsrsql(?:_internal)?\.(\w+)\(")
_KERNEL = re.compile(r"\b(srsql_(?!internal\b)\w+)\(")


@dataclass(frozen=True)
class Told:
    """A definition, and what is told of it."""

    file: str
    kind: str
    """``MACRO``, ``MACRO TABLE``, ``VIEW`` or ``TABLE``."""
    schema: str
    name: str
    what: str
    fields: dict[str, str]
    """Of the header, such as ``Inputs`` and ``Outputs``."""
    kernels: tuple[str, ...]
    """Kernels that it calls, by whatever macros."""

    @property
    def is_macro(self) -> bool:
        """Whether it is called."""
        return self.kind.startswith("MACRO")

    @property
    def public(self) -> bool:
        """Whether people call it, or read it."""
        if self.kind in ("VIEW", "TABLE"):
            return self.schema in ("srsql", "srsql_reader")
        return self.schema == "srsql" and self.file.startswith(PUBLIC)

    @property
    def comment(self) -> str:
        """What DuckDB shows of it."""
        parts = [self.what if self.public else HELPER + self.what]
        if self.public:
            parts += [f"{name}: {self.fields[name]}" for name in SHOWN if name in self.fields]
        if self.kernels:
            parts.append(NEEDS_PYTHON.format(kernels=", ".join(self.kernels)))
        return " ".join(parts)

    @property
    def statement(self) -> str:
        """The statement that puts the comment there."""
        return f"COMMENT ON {self.kind} {dotted(self.schema, self.name)} IS {literal(self.comment)}"


def told(files: Iterable[tuple[str, str]]) -> list[Told]:
    """The definitions of files, in order.

    Args:
        files: name and text of each.
    """
    found = []
    calls: dict[str, set[str]] = {}
    kernels: dict[str, set[str]] = {}
    for file, text in files:
        matches = list(_DEFINED.finditer(text))
        for match, after in zip(matches, [*matches[1:], None], strict=True):
            header, kind, schema, name = match.groups()
            body = text[match.end() : after.start() if after else len(text)]
            if kind == "MACRO":
                kind = "MACRO TABLE" if re.match(r"\([^)]*\)\s+AS\s+TABLE\b", body) else "MACRO"
                calls[name], kernels[name] = set(_CALL.findall(body)), set(_KERNEL.findall(body))
            fields = {label: _one_line(part) for label, part in _FIELD.findall(header)}
            what = fields.get("What") or _one_line(header)
            found.append((file, kind, schema, name, what, fields))
    _spread(calls, kernels)
    return [Told(*each, tuple(sorted(kernels.get(each[3], ())))) for each in found]


def _spread(calls: dict[str, set[str]], kernels: dict[str, set[str]]) -> None:
    """What a macro calls needs whatever is called by it."""
    changed = True
    while changed:
        changed = False
        for name, called in calls.items():
            more = set().union(*(kernels.get(each, set()) for each in called)) - kernels[name]
            kernels[name] |= more
            changed = changed or bool(more)


def _one_line(comment: str) -> str:
    text = " ".join(line.removeprefix("--").strip() for line in comment.splitlines()).strip()
    return text[:1].upper() + text[1:]


@cache
def _column_texts() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = tomllib.loads(source(__package__, COLUMNS))
    return texts


def column_text(name: str, column: str) -> str | None:
    """What a column of a table or view of ours holds; None: nothing is written of it."""
    texts = _column_texts()
    return texts.get(name, {}).get(column) or texts[EVERY].get(column)


def column_comment(schema: str, name: str, column: str) -> str:
    """The statement that comments a column; it has a text."""
    text = column_text(name, column)
    assert text is not None, f"{COLUMNS}: {name}.{column}"
    return f"COMMENT ON COLUMN {dotted(schema, name, column)} IS {literal(text)}"
