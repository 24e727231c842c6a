"""What a script can check before a version is published: ``docs/releasing.md`` has the whole list.

``python .ci/release_check.py --tag v0.4.0`` builds wheel and sdist of what is committed, holds
names, dates and metadata against each other, and installs both in empty environments. Without
``--tag`` it tries the same of the version as it stands. It publishes nothing. Exit code 1:
something is to be mended.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("build>=1.2,<2", "twine>=6,<7")
NEVER = re.compile(r"(?:^|/)(?:__pycache__|\.venv|\.git)/|\.(?:duckdb|wal|zip|key|pem|nbi|nbc)$")
"""What no distribution holds: caches, environments, warehouses, archives and keys."""
LEFT = (
    ".ci/run on Python 3.11, 3.12 and 3.13: the workflow of the commit",
    ".ci/integrations and .ci/thorough",
    "migration of a warehouse of the last version, on a copy",
)
"""What a person looks at."""


def texts_wrong(root: Path, tag: str | None) -> Iterator[str]:
    """Where version, tag, changelog and citation contradict each other."""
    (version,) = re.findall(r'^__version__ = "(.+)"$', _text(root, "version.py"), re.MULTILINE)
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, version.py has {version}"
    changelog = _text(root, "CHANGELOG.md")
    heads = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    dated = [head for head in heads if head.startswith((version, f"[{version}]"))]
    dates = re.findall(r"\d{4}-\d{2}-\d{2}", dated[0]) if dated else []
    if not dated:
        yield f"the changelog has no section of {version}"
    elif not dates:
        yield f"the section of {version} in the changelog has no date"
    unreleased = changelog.partition("\n## Unreleased")[2].partition("\n## ")[0].strip()
    if tag is not None and unreleased:
        yield "Unreleased of the changelog is not empty: give its lines the version and a date"
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", _text(root, "CITATION.cff"), re.M))
    if cited.get("version") != version:
        yield f"CITATION.cff has version {cited.get('version')}, version.py {version}"
    if tag is not None and dates and cited.get("date-released") != dates[0]:
        yield f"CITATION.cff has {cited.get('date-released')}, the changelog {dates[0]}"


def files_wrong(distribution: Path) -> Iterator[str]:
    """What a wheel or sdist holds that it must not, or lacks."""
    if distribution.suffix == ".whl":
        with zipfile.ZipFile(distribution) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(distribution) as archive:
            names = archive.getnames()
    for name in names:
        if NEVER.search(name):
            yield f"{distribution.name} has {name}"
    if distribution.suffix == ".whl" and any("/tests/" in name for name in names):
        yield f"{distribution.name} has tests"
    for needed in ("py.typed", "engine/console/options.json", "schemas/glossary.toml"):
        if not any(name.endswith(needed) for name in names):
            yield f"{distribution.name} lacks {needed}"


def run(*command: str | Path, cwd: Path) -> str | None:
    """None, or what was wrong in a line."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["nothing was said"]
    return f"{Path(command[0]).name} {command[1]} ended with {done.returncode}: {said[-1]}"


def built_wrong(root: Path, work: Path, *, quick: bool) -> Iterator[str]:
    """Build both, check them, and install each in an environment of its own."""
    source, dist, tools = work / "srsql", work / "dist", work / "tools"
    for command in (
        ("git", "clone", "-q", root, source),
        (sys.executable, "-m", "venv", tools),
        (tools / "bin/pip", "install", "-q", *TOOLS),
        (tools / "bin/python", "-m", "build", "--outdir", dist, source),
    ):
        if (wrong := run(*command, cwd=work)) is not None:
            yield wrong
            return
    made = sorted(dist.iterdir())
    print(*(f"built {path.name}, {path.stat().st_size:,} bytes" for path in made), sep="\n")
    if wrong := run(tools / "bin/twine", "check", "--strict", *made, cwd=work):
        yield wrong
    for distribution in made:
        yield from files_wrong(distribution)
        place = work / distribution.suffix.removeprefix(".")
        steps: list[tuple[str | Path, ...]] = [
            (sys.executable, "-m", "venv", place),
            (place / "bin/pip", "install", "-q", "-c", source / "constraints.txt", distribution),
            (place / "bin/srsql", "--version"),
            (place / "bin/srsql", "doctor"),
        ]
        steps += [] if quick else [(place / "bin/srsql", "demo", place / "demo")]
        for step in steps:
            if (wrong := run(*step, cwd=work)) is not None:
                yield f"{distribution.name}: {wrong}"
                break
        else:
            print(f"{distribution.name} is installed and answers")


def _text(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Print what is wrong and what is left; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tag", help="the tag to be made, such as v0.4.0")
    parser.add_argument("--quick", action="store_true", help="do not run the demo")
    parser.add_argument("--texts", action="store_true", help="build nothing")
    options = parser.parse_args(arguments)
    wrong = list(texts_wrong(ROOT, options.tag))
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wrong += ["something is not committed"] if status.stdout.strip() else []
    if not options.texts:
        with tempfile.TemporaryDirectory() as work:
            wrong += built_wrong(ROOT, Path(work), quick=options.quick)
    print(*(f"wrong: {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    print(*(f"left for a person: {line}" for line in LEFT), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
