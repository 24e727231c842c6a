"""Pages: tables and figures put into the templates, everything from outside escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import metadata, resources
from pathlib import Path
from platform import libc_ver, machine
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from srsql.engine.report.drawing import Image, number, plain, scheme_css
from srsql.engine.store.doors import installed
from srsql.schemas.glossary import term
from srsql.version import __version__

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """A table of a page; numbers keep their full value in ``data-value``."""

    key: str
    """Id of the element."""
    caption: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]

    @cached_property
    def numeric(self) -> list[bool]:
        """Of each column, whether it holds numbers, or nothing, and nothing else."""
        return [
            all(row[place] is None or is_number(row[place]) for row in self.rows)
            for place in range(len(self.columns))
        ]


@dataclass(frozen=True)
class Figure:
    """A figure of a page."""

    key: str
    image: Image
    caption: str


@dataclass(frozen=True)
class Fact:
    """One of the figures at the top."""

    key: str
    name: str
    value: Value
    text: str = ""
    """How it is shown, if not as any number."""


@dataclass(frozen=True)
class Page:
    """A page, and the figures on it."""

    html: str
    figures: tuple[Figure, ...]
    """In their order; nothing else is exported of a page."""


DRAWING = 4
"""Raised with every change of what the same data are drawn as, so that a page of an earlier
drawing is not taken for a forged one. 1 was drawn on white whatever the reader's scheme; 2 had
words broken in cells when printed, and names beside which a figure shrank; 3 ran no script, and
its marks had no values under the pointer."""
_LONG_WORD = 22
"""Letters up to which a word is never taken apart."""
DRAWN_WITH = ("duckdb", "jinja2", "matplotlib", "numpy", "scipy")
"""Packages that decide bytes of a page."""


def written_by() -> str:
    """The versions under which the same data give the same bytes of a page.

    The C library computes logarithms, whose last digit is shown.
    """
    versions = [
        f"{name} {metadata.version(name) if installed(name) else 'none'}" for name in DRAWN_WITH
    ]
    system = " ".join([machine(), *libc_ver()])
    return ", ".join([f"srsql {__version__}", f"drawing {DRAWING}", *versions, system])


def _source(name: str) -> str:
    return (resources.files("srsql.engine.report") / "templates" / name).read_text(encoding="utf-8")


def allowed(text: str) -> str:
    """The source by which a Content-Security-Policy allows an inline script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def cell(value: Value) -> str:
    """A value as the reader sees it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return plain(value) if isinstance(value, str) else number(value)


def is_number(value: Value) -> bool:
    """Whether it is aligned as a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_unbroken(value: Value) -> bool:
    """Whether it has a word that no narrow column has room for, such as a hash."""
    return isinstance(value, str) and max(map(len, value.split()), default=0) > _LONG_WORD


def _finished(value: Any) -> Any:
    """What a template writes: a text without what no page may hold, its line ends kept."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return "\n".join(plain(line) for line in value.split("\n"))
    return value


def render(template: str | Path, **context: Any) -> Page:
    """One page; the same context gives the same bytes.

    Args:
        template: one of this folder, or the file of one that extends them.
        context: what it shows.
    """
    figures: list[Figure] = []

    def source(name: str) -> str:
        own = isinstance(template, Path) and name == str(template)
        return Path(name).read_text(encoding="utf-8") if own else _source(name)

    def drawn(figure: Figure) -> Image:
        figures.append(figure)
        return figure.image

    environment = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        finalize=_finished,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cell": cell, "drawn": drawn}
    environment.tests |= {"a_number": is_number, "unbroken": is_unbroken}
    environment.globals["term"] = term
    script = _source("page.js")
    html = environment.get_template(str(template)).render(
        style=scheme_css() + _source("report.css"), script=script, script_hash=allowed(script),
        script_lines=script.count("\n"), software_version=__version__, **context,
    )  # fmt: skip
    return Page(html, tuple(figures))
