"""The command line: make the dumps, compare them, say what came of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import benchmarks.same_release as package
from benchmarks.same_release.compare import compare
from benchmarks.same_release.result import Result
from benchmarks.same_release.scenarios import SCENARIOS, Scenario
from benchmarks.same_release.version import MisuseError, Version, dump, kept_dump

DIFF_LINES, DIFF_WIDTH = 40, 300
"""What is printed of one diff."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise MisuseError(message)


def command(arguments: list[str]) -> None:
    """Run with these arguments; exit code 1 where a value differs, 2 on misuse."""
    try:
        options = _parse(arguments)
        failed = _run(options)
    except MisuseError as error:
        print(f"same_release: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(1 if failed else 0)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="python -m benchmarks same_release",
        description=package.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="scenarios: " + ", ".join(SCENARIOS),
    )
    parser.add_argument("--before", metavar="PYTHON", help="the version to compare with")
    parser.add_argument("--after", metavar="PYTHON", help="the version to compare")
    parser.add_argument("--real-data", metavar="DIR", type=Path, help="folder of the real files")
    parser.add_argument("--only", metavar="NAME", nargs="+", action="extend", help="scenarios")
    parser.add_argument("--small", action="store_true", help="the demo only")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="where dumps are kept")
    for side in ("before", "after"):
        parser.add_argument(
            f"--{side}-dumps", metavar="DIR", type=Path, help=f"{side}: dumps made earlier"
        )
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.only or () if name not in SCENARIOS]:
        raise MisuseError(f"no scenario {unknown[0]!r}: there are {', '.join(SCENARIOS)}")
    if options.small and options.only:
        raise MisuseError("--small and --only exclude each other")
    if (options.before is None) == (options.before_dumps is None):
        raise MisuseError("give --before PYTHON or --before-dumps DIR, and not both")
    if options.after and options.after_dumps:
        raise MisuseError("--after and --after-dumps exclude each other")
    alone = options.after is None and options.after_dumps is None
    if alone and (options.keep is None or options.before is None):
        raise MisuseError("give --after PYTHON, or --before and --keep to make dumps alone")
    for folder in (options.before_dumps, options.after_dumps, options.real_data):
        if folder is not None and not folder.is_dir():
            raise MisuseError(f"{folder} is not a folder")
    for folder in filter(None, (options.before_dumps, options.after_dumps)):
        if options.keep and folder.absolute().parent == options.keep.absolute():
            other = "after" if folder == options.before_dumps else "before"
            if folder.name == other:
                raise MisuseError(f"{folder} would be overwritten: give another --keep")
    return options


def _run(options: argparse.Namespace) -> list[str]:
    """Make and compare; the names of the scenarios in which something differs."""
    names = ["demo"] if options.small else options.only or list(SCENARIOS)
    scenarios = [SCENARIOS[name] for name in dict.fromkeys(names)]
    before = Version(options.before) if options.before else None
    after = Version(options.after) if options.after else None
    for what, version in (("before", before), ("after", after)):
        if version:
            print(f"{what}: srsql {version.number} at {version.place}")
    compared = after is not None or options.after_dumps is not None
    with tempfile.TemporaryDirectory() as scratch:
        place = options.keep or Path(scratch)
        failed = []
        for scenario in scenarios:
            print(f"\n{scenario.name}", flush=True)
            one = _side(before, scenario, place / "before", options)
            if compared:
                other = _side(after, scenario, place / "after", options)
                result = compare(scenario, one, other)
                show(result, options.keep and other)
                failed += [] if result.same else [scenario.name]
    if compared:
        said = f"DIFFERENT: {', '.join(failed)}" if failed else "same"
        print(f"\n{len(scenarios)} scenarios: {said}")
    return failed


def _side(
    version: Version | None, scenario: Scenario, side: Path, options: argparse.Namespace
) -> Path:
    """The dump of one version, made now or earlier."""
    if version is None:
        dumps = getattr(options, f"{side.name}_dumps")
        found = kept_dump(dumps, scenario)
        if found is None:
            raise MisuseError(f"{dumps} has no dump of {scenario.name}")
        return found
    began = perf_counter()
    terminal = sys.stderr.isatty()

    def progress(step: str) -> None:
        if terminal:
            print(f"\r\033[K  {side.name}: {step}", end="", file=sys.stderr, flush=True)

    found = dump(version, scenario, side, options.real_data, progress)
    if terminal:
        print("\r\033[K", end="", file=sys.stderr)
    print(f"  made {side.name} in {perf_counter() - began:.0f} s", flush=True)
    return found


def show(result: Result, kept: Path | None) -> None:
    """Print what came of a scenario; whole diffs go to a file where dumps are kept."""
    counts = ", ".join(f"{number:,} {kind}" for kind, number in result.equal.items() if number)
    print(f"  equal: {counts or 'nothing'}")
    for note in result.notes:
        print(f"  note: {note}")
    whole = []
    for name, lines in result.texts:
        print(f"  text: {name}")
        whole += [f"text: {name}", *lines]
        for line in lines[:DIFF_LINES]:
            print(f"      {line[:DIFF_WIDTH]}")
        if len(lines) > DIFF_LINES:
            where = f", see {kept / 'texts.diff'}" if kept else ""
            print(f"      {len(lines) - DIFF_LINES} more lines{where}")
    if kept:
        (kept / "texts.diff").write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
    for failure in result.failures:
        print(f"  DIFFERENT: {failure}")
    print(f"  {'same' if result.same else 'DIFFERENT'}", flush=True)
