"""Runs the guides: every fenced block in order, its output compared with the one the page shows.

``python docs/run_guides.py [PAGE…]`` checks, ``--update`` writes the actual outputs into the pages.
A test runs the same. What the blocks mean:

* ``console``: lines with ``$ `` are commands, what follows each is its output (stdout and stderr;
  a last line ``[exit 1]`` where it failed). ``srsql`` runs within this process, the rest in bash.
* ``python``: run in one namespace per page. ``sql``: run by plain DuckDB, reading the warehouse
  that ``SRSQL_DB`` names, or files where it names none; blocks that follow each other are one
  session. ``r``: run by Rscript, where there is one.
  What they print is shown in the ``text`` block that follows.
* ``toml NAME``, ``csv NAME``: a file of that name is written.
* Anything else is not run.

Pages run in a folder of their own that has the demo (``srsql demo``) in ``srsql-demo``. Before
outputs are compared, what legitimately varies is replaced: seconds, sizes in MiB, the folder, the
interpreter. ``$CHECKOUT`` is the folder of the project.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
from rich.console import Console

from srsql import cli
from srsql.engine import console as terminal
from srsql.engine.console import progress

HERE = Path(__file__).parent
PAGES = (
    "walkthrough.md",
    "analysts.md",
    "audit-in-sql.md",
    "commands.md",
    "embedding.md",
    "configuration.md",
    "operations.md",
    "omop.md",
    "regulators.md",
    "undo.md",
    "public-file.md",
)
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIES = (
    # sizes and hashes of published files depend on the versions of the libraries that write them
    (re.compile(r"^(\S+ +(?:[\d,]+ +)?)[\d,]+ +[0-9a-f]{64}$", re.MULTILINE), r"\1…"),
    (re.compile(r"\b[\d,]+ kB\b"), "… kB"),
    (re.compile(r"\b[\d,.]+ s\b"), "… s"),
    (re.compile(r"[\d,.]+ MiB"), "… MiB"),
    (re.compile(r"^last run .*$", re.MULTILINE), "last run …"),
    (re.compile(r"^  seconds: .*$", re.MULTILINE), "  seconds: …"),  # of each stage
    (
        re.compile(r"^(\d{4}Q\d .*?) +[\d,]+\.\d$", re.MULTILINE),
        r"\1 …",
    ),  # of each quarter of a range
)


@dataclass
class Run:
    """A page as it was run."""

    page: str
    text: str
    """The page with the actual outputs in the place of those it shows."""
    wrong: list[str] = field(default_factory=list)
    """What differs: the block, what the page shows, what came out."""


def run_page(page: Path, folder: Path) -> Run:
    """Run all blocks of ``page`` in ``folder``, which holds ``srsql-demo``."""
    with chdir(folder), mock.patch.dict(os.environ, {"CHECKOUT": str(HERE.parent)}):
        return _Page(page, folder).run()


def commands_of(page: Path) -> set[str]:
    """The commands of srsql that the page runs."""
    return {
        shlex.split(line)[2]
        for kind, _, body in _BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in body.splitlines()
        if kind == "console" and line.startswith("$ srsql ")
    }


def make_demo(folder: Path) -> None:
    """The demo, as a newcomer makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        printed = _srsql(["demo", "srsql-demo"])
    if "[exit" in printed:
        raise RuntimeError(printed)


class _Page:
    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__guide__"}
        self.found = Run(page.name, "")
        self.session: duckdb.DuckDBPyConnection | None = None

    def run(self) -> Run:
        text = self.page.read_text(encoding="utf-8")
        parts: list[str] = []
        at = 0
        printed: str | None = None  # by the block before, if that was python or sql
        for block in _BLOCK.finditer(text):
            kind, name, body = block[1], block[2], block[3]
            between = text[at : block.start()]
            at = block.end()
            parts.append(between)
            if kind not in ("sql", "text"):
                self._leave()
            if printed is not None and not (kind == "text" and not between.strip()):
                self._compare(block.start(), "", printed)
                printed = None
            if kind == "console":
                body = self._console(body, block.start())
            elif kind in ("python", "sql"):
                printed = self._clean(self._output(kind, body))
            elif kind == "r" and shutil.which("Rscript"):
                printed = self._clean(_bash("Rscript --vanilla /dev/stdin", body))
            elif kind == "text" and printed is not None:
                self._compare(block.start(), body, printed)
                body, printed = printed, None
            elif name is not None:
                Path(name).write_text(body, encoding="utf-8")
            parts.append(f"```{kind}{f' {name}' if name else ''}\n{body}```")
        self._leave()
        if printed is not None:
            self._compare(len(text), "", printed)
        self.found.text = "".join(parts) + text[at:]
        return self.found

    def _leave(self) -> None:
        """The end of a session of SQL."""
        if self.session is not None:
            self.session.close()
            self.session = None

    def _console(self, body: str, place: int) -> str:
        shown: list[tuple[str, list[str]]] = []
        for line in body.splitlines():
            if line.startswith("$ "):
                shown.append((line, []))
            elif shown:
                shown[-1][1].append(line)
        lines = []
        for command, output in shown:
            printed = self._clean(self._command(command[2:]))
            self._compare(place, "".join(f"{line}\n" for line in output), printed)
            lines.append(f"{command}\n{printed}")
        return "".join(lines)

    def _command(self, command: str) -> str:
        words = shlex.split(command)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            os.environ[name] = value
            return ""
        if words[0] == "srsql":
            end = words.index("|") if "|" in words else len(words)
            printed = _srsql(words[1:end])
            if end == len(words):
                return printed
            return _bash(shlex.join(words[end + 1 :]), printed)
        return _bash(command, "")

    def _output(self, kind: str, body: str) -> str:
        """What a block of Python or SQL prints, an error as its first line."""
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                if kind == "python":
                    exec(compile(body, str(self.page), "exec"), self.names)
                else:
                    if self.session is None:
                        db = os.environ.get("SRSQL_DB", "")
                        self.session = duckdb.connect(db, read_only=bool(db))
                    found = self.session.sql(body)
                    if found is not None and found.columns != ["Count"]:  # a view was made
                        found.show(max_width=110, max_rows=40)
            except Exception as error:
                print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
        return printed.getvalue()

    def _clean(self, text: str) -> str:
        """Nothing of this machine: no path of it, no trailing blanks."""
        text = text.replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        text = text.replace(sys.executable, "python3")
        lines = [line.rstrip() for line in text.rstrip().splitlines()]
        return "".join(f"{line}\n" for line in lines)

    def _compare(self, place: int, shown: str, printed: str) -> None:
        if _normal(shown) != _normal(printed):
            line = self.page.read_text(encoding="utf-8")[:place].count("\n") + 1
            self.found.wrong.append(
                f"{self.page.name}:{line} shows\n{shown}\nbut what came out is\n{printed}"
            )


def _normal(text: str) -> str:
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def _bash(command: str, given: str) -> str:
    """What another command prints, given what the one before it printed."""
    done = subprocess.run(
        ["bash", "-c", command],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout + (f"[exit {done.returncode}]\n" if done.returncode else "")


def _srsql(words: list[str]) -> str:
    """What a command prints, as into a pipe."""
    printed = io.StringIO()
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    with (
        mock.patch.object(sys, "argv", ["srsql", *words]),
        mock.patch.object(terminal, "out", console),
        mock.patch.object(progress, "EVERY", 3600.0),  # how far it is differs from run to run
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code or 0
    return printed.getvalue() + (f"[exit {code}]\n" if code else "")


@contextmanager
def prepared(demo: Path) -> Iterator[Path]:
    """A folder for one page, with a copy of the demo."""
    with tempfile.TemporaryDirectory(prefix="srsql-guide-") as folder:
        shutil.copytree(demo / "srsql-demo", Path(folder) / "srsql-demo")
        yield Path(folder)


def main(arguments: list[str]) -> int:
    """Check or update the pages; the number of those that differ."""
    update = "--update" in arguments
    pages = [a for a in arguments if a != "--update"] or list(PAGES)
    differing = 0
    with tempfile.TemporaryDirectory(prefix="srsql-guides-") as folder:
        make_demo(Path(folder))
        for name in pages:
            page = HERE / Path(name).name
            with prepared(Path(folder)) as place:
                found = run_page(page, place)
            if update:
                page.write_text(found.text, encoding="utf-8")
            for text in found.wrong:
                print(text, file=sys.stderr)
            differing += bool(found.wrong)
    return 0 if update else differing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
