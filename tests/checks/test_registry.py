"""The registry of checks has everything that a release is judged by, and nothing else."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from support.people import people
from support.quarters import write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.checks import catalog_facts, require_proof
from srsql.engine.checks.registry import CHECKS, judged
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Check, MeasureRow, ReleaseFacts
from srsql.engine.models import MODELS
from srsql.engine.risk.metrics import measure
from srsql.schemas.glossary import papers
from srsql.sql_macros import MACRO_FILES

pytestmark = pytest.mark.slow

QUARTER = "2011Q1"
NEXT = "2011Q2"
OF_LATTICE = {"informative": "pt", "dimensions": "sex"}
TERMS = {"indi": ("Gout", "Asthma"), "drugs": ("X",)}
OPTIONS: dict[str, dict[str, Any]] = {
    "ppms-alpha": {"alpha": "1", "assume_md": "all"},
    "alpha-k": {"alpha": "1"},
    "l-diversity": {"l": 2},
    "ipa": OF_LATTICE,
    "full-domain": OF_LATTICE,
    "dp-histogram": OF_LATTICE,
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("registry")
    with Engine(folder / "w.duckdb") as opened:
        opened.ingest([write_quarter(folder, QUARTER, people(range(1, 41), **TERMS))])
        opened.ingest([write_quarter(folder, NEXT, people(range(21, 61), **TERMS))])
        yield opened


@pytest.fixture(scope="module")
def releases(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, int]:
    """A release of every model, and of what makes further checks apply, each in its own series."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "knowledge.csv").write_text("drug,disease\nX,Gout\nX,Migraine\n")
    (folder / "sensitive.txt").write_text("Gout\n")
    given = {name: {"model": name, **OPTIONS.get(name, {})} for name in MODELS}
    given["knowledge"] = {"model": "ms", "knowledge": folder / "knowledge.csv"}
    given["sensitive"] = {
        "model": "disassociation", "sensitive_terms": folder / "sensitive.txt"
    }  # fmt: skip
    given["rows and chunks"] = {"model": "ms", "terms": "disassociate"}
    given["whole rows"] = {"model": "ms", "terms": "disassociate", "term_attributes": "all"}
    (folder / "levels.csv").write_text("value,theta\nGout,0.4\n*,1\n")
    given["suppressed"] = {
        "model": "ms", "theta": f"levels:{folder / 'levels.csv'}", "on_infeasible": "suppress"
    }  # fmt: skip
    usual = {"k": 3, "theta": "1", "seed": 1, "allow_linkable": True}
    return {
        name: engine.release(QUARTER, series=f"s{number}", **usual | options).release_id
        for number, (name, options) in enumerate(given.items())
    }


def emitted(engine: Engine, release_id: int) -> set[str]:
    """Measures that the release was judged by: its checks, its audit, metrics with a verdict."""
    stored = engine.sql(
        "SELECT m.measure FROM srsql.measure AS m WHERE m.release_id = ? AND (m.stage = 'check'"
        " OR m.passed IS NOT NULL OR m.measure IN ('dir', 'dsr', 'ssgr'))",
        [release_id],
    )
    return {row[0] for row in stored}


@pytest.mark.thorough
def test_every_measure_that_judges_a_release_is_registered_and_applies_to_it(
    engine: Engine, releases: Mapping[str, int]
) -> None:
    for name, release_id in releases.items():
        facts = catalog_facts(engine.warehouse, release_id)
        found = emitted(engine, release_id)
        known = {measure for check in CHECKS for measure in check.measures}
        assert found <= known, name
        by_catalog = {
            measure
            for check in CHECKS
            for measure in check.measures
            if check.stage != "checks" and check.applies.holds(facts)
        }
        by_rows = {m for check in CHECKS for m in check.measures if check.stage == "checks"}
        assert found - by_rows <= by_catalog, name


@pytest.mark.thorough
def test_every_registered_check_judges_some_release(
    engine: Engine, releases: Mapping[str, int]
) -> None:
    found = set().union(*(emitted(engine, release_id) for release_id in releases.values()))
    assert {measure for check in CHECKS for measure in check.measures} - found == set()


def test_every_entry_names_a_statement_that_exists_and_its_source() -> None:
    texts = [
        (resources.files("srsql.sql_macros") / file).read_text(encoding="utf-8")
        for file in MACRO_FILES
    ]
    macros = {name for text in texts for name in re.findall(r"MACRO (srsql\.\w+)\(", text)}
    for check in CHECKS:
        if check.statement.startswith("srsql."):
            assert check.statement in macros, check.name
        else:
            module, _, function = check.statement.partition(".")
            assert hasattr(importlib.import_module(f"srsql.engine.checks.{module}"), function)
        assert check.source.startswith((*papers(), "SPEC section ")), check.name
        assert check.proves[0].isupper(), check.name
        assert check.proves.endswith("."), check.name
    assert len({(check.name, check.applies.words) for check in CHECKS}) == len(CHECKS)


OF_TABLES_IN_SQL = {"count_tables.sql", "count_table_units.sql"}
"""Checks of count tables that people make in SQL; no release makes any (decision 39)."""


def test_every_macro_of_a_check_is_registered() -> None:
    known = {check.statement.removeprefix("srsql.") for check in CHECKS}
    for file in Path(str(resources.files("srsql.sql_macros") / "checks")).glob("*.sql"):
        made = re.findall(r"MACRO srsql\.(check_\w+)\(", file.read_text(encoding="utf-8"))
        assert set(made) <= known or file.name in OF_TABLES_IN_SQL, file.name


def row(passed: bool | None) -> tuple[Any, ...]:
    return (9, "check_x", "region", 1.0 if passed is False else 0.0, 4.0, 0.0, 0.0, passed)


CHECK: Check[Any] = next(check for check in CHECKS if check.name == "check_k")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([row(True), row(False)], r"failed its own check_x: 1 of 4 \(region\)"),
        ([row(True), row(None)], r"own check_x \(region\) proves nothing"),
        ([], "own check_k proves nothing"),
    ],
)
def test_a_check_that_fails_or_proves_nothing_refuses(
    rows: list[tuple[Any, ...]], text: str
) -> None:
    with pytest.raises(CheckFailedError, match=text):
        require_proof(CHECK, rows)


def test_a_check_that_passes_refuses_nothing() -> None:
    require_proof(CHECK, [row(True), row(True)])


def test_what_a_release_does_not_keep_is_measured_without_a_verdict() -> None:
    rows = [MeasureRow(1, name, "x", 0.0, 1.0, 0.0, 0.0, True) for name in ("group_size", "dr")]
    kept = {
        bounds: [r.passed for r in judged(ReleaseFacts(bounds=frozenset(bounds)), rows)]
        for bounds in ((), ("k",), ("k", "theta"), ("reports", "alpha"))
    }
    assert kept == {
        (): [None, None],
        ("k",): [True, None],
        ("k", "theta"): [True, True],
        ("reports", "alpha"): [None, None],
    }


@pytest.mark.thorough
def test_an_empty_release_has_no_check_of_its_rows_and_none_without_a_verdict(
    engine: Engine,
) -> None:
    (made,) = engine.release_range(
        f"{QUARTER}:{QUARTER}", series="empty", model="full-domain", k=1000, **OF_LATTICE
    ).released
    assert emitted(engine, made.release_id) == {"check_text"}
    (made,) = engine.release_range(
        f"{QUARTER}:{QUARTER}", series="none", model="ms", k=1000, theta="1"
    ).released
    stored = engine.sql(
        "SELECT m.measure, m.passed FROM srsql.measure AS m "
        "WHERE m.release_id = ? AND m.stage = 'check'",
        [made.release_id],
    )
    assert {name for name, _ in stored} == {
        "check_text", "check_k", "check_theta", "check_manifest", "check_complete",
        "check_catalog",
    }  # fmt: skip
    assert all(passed for _, passed in stored)
    found = measure(engine.warehouse, made.release_id)
    assert all(r.passed is not None for r in found if r.measure == "dr")
