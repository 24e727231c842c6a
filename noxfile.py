"""One command for everything: ``nox`` runs what CI runs, ``nox -s fast`` what a change needs first.

``nox -l`` lists the sessions. Each has an environment of its own, made of ``constraints.txt`` where
it is not about other versions; arguments after ``--`` go to the session's command.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
CONSTRAINED = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
nox.options.sessions = ["ci"]


def _install(session: nox.Session, extras: str) -> None:
    session.install("-e", f".[{extras}]", env=CONSTRAINED)


def _check(session: nox.Session, part: str) -> None:
    _install(session, "test,lint")
    session.run("bash", ".ci/check", part, external=True)


@nox.session(venv_backend="none")
def ci(session: nox.Session) -> None:
    """What a change must pass: .ci/run, on the last commit."""
    session.run("bash", ".ci/run", external=True)


@nox.session
def fast(session: nox.Session) -> None:
    """The tests that are not marked slow: under two minutes on two processors."""
    _install(session, "test")
    session.run("pytest", "-n", "2", "-m", "not slow", *session.posargs)


@nox.session
def thorough(session: nox.Session) -> None:
    """The tests that the other sessions leave out."""
    _install(session, "test")
    everything = {"SRSQL_IN_FULL": "1"}
    session.run("pytest", "-n", "2", "-m", "thorough", *session.posargs, env=everything)


@nox.session
def tests(session: nox.Session) -> None:
    """All tests but the thorough lane, with the coverage of the fast lane and the ten slowest."""
    _install(session, "test")
    session.run("pytest", "-n", "2", "--cov", "--durations=10", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, its format, sqlfluff."""
    _check(session, "lint")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict."""
    _check(session, "types")


@nox.session
def layers(session: nox.Session) -> None:
    """The contracts of imports, and the measures of the house."""
    _check(session, "layers")


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Small benchmarks, which fail where a ratio is not what it should be."""
    _check(session, "benchmarks")


@nox.session
def docs(session: nox.Session) -> None:
    """Write options and reference anew, compare the guides (``-- --update`` writes them, too)."""
    _install(session, "test")
    session.run("python", "docs/build_options.py")
    session.run("python", "docs/build_reference.py")
    session.run("python", "docs/build_features.py")
    session.run("python", "-m", "benchmarks", "papers", "--update")
    session.run("python", "docs/run_guides.py", *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """The site of the docs, built strictly (``-- serve`` shows it)."""
    session.install("-r", "docs/requirements.txt")
    session.run("mkdocs", *(session.posargs or ["build", "--strict"]))


@nox.session
def notebooks(session: nox.Session) -> None:
    """Run the notebooks (``-- --update`` writes what they print)."""
    _install(session, "test")
    session.install("nbclient>=0.10,<1", "ipykernel>=6,<8")
    session.run("python", "docs/run_notebooks.py", *session.posargs)


@nox.session
def oldest(session: nox.Session) -> None:
    """The lower bounds of pyproject.toml together, with the demo and the fast lane."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    session.install(*(re.sub(r">=([\d.]+).*", r"==\1", bound) for bound in wanted))
    session.install("--no-deps", "-e", ".")
    session.run("pip", "check")
    session.run("srsql", "demo", str(Path(session.create_tmp()) / "demo"))
    session.run("pytest", "-n", "2", "-m", "not slow", *session.posargs)


@nox.session
def constraints(session: nox.Session) -> None:
    """Write constraints.txt anew, with the newest versions that pyproject.toml allows."""
    session.install("-e", ".[test,lint]")
    frozen = session.run("pip", "freeze", "--exclude-editable", silent=True)
    assert isinstance(frozen, str)
    file = ROOT / "constraints.txt"
    comment = [line for line in file.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    file.write_text("\n".join([*comment, *frozen.split(), ""]), encoding="utf-8")
