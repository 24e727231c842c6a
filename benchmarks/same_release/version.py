"""One installed version of srsql, and the dump that it makes of a scenario."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.same_release.scenarios import WAREHOUSE, Scenario

READER = Path(__file__).with_name("read.py")
COMPLETE = "scenario.json"
"""Written last: what the dump is of."""
Progress = Callable[[str], None]


class MisuseError(Exception):
    """What is said in one line, and ends the comparison."""


class Version:
    """A command that starts a Python with srsql; knows nothing of what is inside."""

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        if not words:
            raise MisuseError("an empty command is no Python")
        self._python = [str(Path(w).absolute()) if Path(w).is_file() else w for w in words]
        # what this process imports srsql from is not what the version shall import it from
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "SRSQL_DB", "COLUMNS")
        } | {"NO_COLOR": "1", "COLUMNS": "100"}
        self.place = self._said("-c", "import srsql; print(srsql.__path__[0])")
        self.number = self._said("-m", "srsql.cli", "--version").split()[-1]
        self._has_ids = "--ids" in self._said("-m", "srsql.cli", "release", "--help")
        lacking = "--allow-incomplete"
        self._refuses_samples = lacking in self._said("-m", "srsql.cli", "ingest", "--help")

    def srsql(self, *arguments: str, folder: Path) -> dict[str, Any]:
        """Run a command in the folder: its arguments, exit code, document or text, and errors.

        Where releases may have pseudonyms, under a key that no two have in common, they do not.
        Where a source in which reports lack rows is refused, it is taken in all the same.
        """
        plain = self._has_ids and arguments[0] in ("release", "demo")
        lacking = self._refuses_samples and arguments[0] == "ingest"
        given = [*arguments, *(["--ids", "original"] if plain else [])]
        given += ["--allow-incomplete"] if lacking else []
        ran = self._run("-m", "srsql.cli", *given, folder=folder)
        answer: dict[str, Any] = {"arguments": list(arguments), "code": ran.returncode}
        try:
            answer["document"] = json.loads(ran.stdout)
        except json.JSONDecodeError:
            answer["text"] = ran.stdout
        return answer | {"errors": ran.stderr}

    def read(self, source: Path, out: Path) -> None:
        """Write the released tables of a warehouse or an artifact as CSV files."""
        ran = self._run(str(READER), str(source.absolute()), str(out.absolute()))
        if ran.returncode:
            last = (ran.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise MisuseError(f"{source} cannot be read: {last}")

    def _said(self, *arguments: str) -> str:
        """What it prints about itself."""
        ran = self._run(*arguments)
        if ran.returncode or not ran.stdout.strip():
            last = (ran.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise MisuseError(f"{shlex.join(self._python)} has no srsql: {last}")
        return ran.stdout.strip()

    def _run(self, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [*self._python, *arguments],
                capture_output=True,
                text=True,
                cwd=folder,
                env=self._environment,
                check=False,
            )
        except OSError as error:
            raise MisuseError(f"{self._python[0]} cannot be started: {error.strerror}") from None


def dump(
    version: Version, scenario: Scenario, side: Path, real_data: Path | None, progress: Progress
) -> Path:
    """Make the scenario with a version.

    Args:
        version: which makes it.
        scenario: what to make.
        side: folder of all dumps of this version; files that several scenarios load are loaded
            once and kept in ``ingested``.
        real_data: folder of the real data.
        progress: is told what is done next.

    Returns:
        The folder of the dump: ``commands.json``, ``tables``, ``artifacts`` and ``files.json``.
    """
    folder = side / scenario.name
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    for name, text in scenario.files.items():
        (work / name).write_text(text, encoding="utf-8")
    answers = []
    if scenario.source:
        progress("ingest")
        loaded, answer = _ingested(version, scenario, side, real_data)
        shutil.copy(loaded, work / WAREHOUSE)
        answers.append(answer)
    for arguments in scenario.commands:
        progress(" ".join(arguments[:2]))
        answers.append(version.srsql(*arguments, folder=work))
    _write(folder / "commands.json", answers)
    if answers[int(bool(scenario.source))]["code"]:
        print(f"  note: {version.place}: the release itself failed", file=sys.stderr)
    progress("reading")
    version.read(work / scenario.warehouse, folder / "tables")
    for name in scenario.artifacts:
        if (work / name).is_dir():
            version.read(work / name, folder / "tables")
            shutil.copytree(work / name, folder / "artifacts" / name)
    _write(folder / "files.json", _members(work))
    for page in sorted(work.glob("*/*.html")):
        if page.parent.name not in scenario.artifacts:
            (folder / "pages").mkdir(exist_ok=True)
            shutil.copy(page, folder / "pages" / page.name)
    shutil.rmtree(work)
    _write(folder / COMPLETE, description(scenario) | {"version": version.number})
    return folder


def description(scenario: Scenario) -> dict[str, Any]:
    """What a dump must have been made of to be of use."""
    kept: dict[str, Any] = json.loads(json.dumps(asdict(scenario)))
    kept.pop("draws")
    return kept


def kept_dump(side: Path, scenario: Scenario) -> Path | None:
    """The dump of a scenario in a folder of dumps; None if there is none.

    Raises:
        MisuseError: it is a dump of another scenario of that name.
    """
    folder = side / scenario.name
    if not (folder / COMPLETE).is_file():
        return None
    found = json.loads((folder / COMPLETE).read_text(encoding="utf-8"))
    found.pop("version")
    if found != description(scenario):
        raise MisuseError(f"{folder} is a dump of other commands: make it anew")
    return folder


def _ingested(
    version: Version, scenario: Scenario, side: Path, real_data: Path | None
) -> tuple[Path, dict[str, Any]]:
    """The warehouse with the files of the scenario, and what the command answered."""
    if real_data is None or not scenario.sources(real_data).exists():
        raise MisuseError(f"{scenario.name} needs --real-data DIR with {scenario.source} in it")
    folder = side / "ingested" / Path(scenario.source).stem
    said = folder / "answer.json"
    if not said.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        source = str(scenario.sources(real_data).absolute())
        answer = version.srsql(
            "ingest", "--dataset", scenario.dataset, source, "--db", WAREHOUSE, "--json",
            folder=folder,
        )  # fmt: skip
        if answer["code"]:
            raise MisuseError(f"{source} cannot be loaded: {answer['errors'].strip()}")
        _write(said, answer | {"arguments": ["ingest", scenario.source]})
    return folder / WAREHOUSE, json.loads(said.read_text(encoding="utf-8"))


def _members(folder: Path) -> dict[str, str]:
    """Hashes of the files in the archives that a scenario wrote itself."""
    found = {}
    for path in sorted(folder.rglob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                found[f"{path.name}/{name}"] = hashlib.sha256(archive.read(name)).hexdigest()
    return found


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
