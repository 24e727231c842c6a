"""What an artifact claims of derived columns follows from their rules, or verify refuses it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import content_of, manifest_of, read_csv, rehash
from support.ward import write_rows, write_ward

from srsql import Engine
from srsql.engine.artifact.verify.verify import verify

pytestmark = pytest.mark.thorough

Told = dict[str, Any]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ward")
    dataset = write_ward(folder)
    write_rows(folder, random.Random(4), 200)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([folder / "rows"], dataset=str(dataset), period="2020")
        engine.release("2020", k=5, theta="0.9", on_infeasible="withhold", seed=1)
        engine.publish("2020", folder / "out", format="csv")
    return folder / "out"


def of(told: Told, name: str) -> Told:
    return next(claim for claim in told["derived"] if claim["name"] == name)


def test_what_is_published_has_its_rules_and_passes(published: Path) -> None:
    told = manifest_of(published)
    assert of(told, "seen_quarter") == {
        "name": "seen_quarter", "attributes": ["season"], "rule": "period",
        "sources": ["visit.seen"], "step": "quarter", "claim": "sources withheld",
    }  # fmt: skip
    assert of(told, "onset") == {
        "name": "onset", "rule": "elapsed", "sources": ["taken.begun", "visit.told"],
        "classes": [7, 30, 90], "claim": "sources withheld",
        "labels": ["before the start", "0-6 days", "7-29 days", "30-89 days", "90 days or more"],
    }  # fmt: skip
    roles = {c["name"]: c["role"] for c in told["tables"][0]["columns"]}
    assert [name for name, role in roles.items() if role == "derived"] == [
        "month", "onset", "grave", "many",
    ]  # fmt: skip
    found = verify(published)
    assert found.passed
    assert [c.total for c in found.checks if c.name == "derived"] == [6]
    assert "onset: days from taken.begun to visit.told in classes" in (
        published / "README.md"
    ).read_text(encoding="utf-8")
    assert "Derived</b> are seen_year: year of visit.seen (visit.seen is not published)" in (
        published / "report.html"
    ).read_text(encoding="utf-8")


def change(name: str, **values: Any) -> Callable[[Told], None]:
    return lambda told: of(told, name).update(values)


def without(name: str) -> Callable[[Told], None]:
    return lambda told: told.update(derived=[c for c in told["derived"] if c["name"] != name])


@pytest.mark.parametrize(
    ("forged", "fault"),
    [
        (change("many", claim="sources withheld"),
         "many: it claims that its sources are withheld, and taken.drug is published"),
        (change("grave", sources=["finding.other"]),
         "grave: it claims that its sources are published, and none is"),
        (change("onset", claim="sources published"),
         "onset: its sources are dates, which are never published, and it claims otherwise"),
        (change("month", step="day"), "cannot be read: derived.2.step: Input should be 'year'"),
        (change("month", step="quarter"), "month: rows show '2018-"),
        (change("seen_quarter", step="year"), "seen_quarter: season has the node 2015Q1, finer"),
        (change("onset", classes=[1, 2, 3]), "onset: its class from 0 to below 1 holds fewer"),
        (change("onset", classes=[14, 30, 90]), "onset: its classes are called before the start"),
        (change("grave", labels=["grave", "not serious"]), "grave: rows show 'serious', which"),
        (change("grave", values=["OT"]), "the parameter derived does not say what the rules say"),
        (change("month", sources=["visit.visit_id"]), "month: its source visit.visit_id is an id"),
        (change("seen_year", attributes=["years"]), "seen_year: years is no quasi-identifier"),
        (change("onset", rule="number"), "onset: its rule, number, is not of 2 columns"),
        (without("onset"), "derived column onset: no rule is told"),
        (without("seen_year"), "the parameter derived does not say what the rules say"),
        (lambda told: told.pop("derived"), "derived column grave: no rule is told"),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_give_the_claim_is_refused(
    published: Path, tmp_path: Path, forged: Callable[[Told], Any], fault: str
) -> None:
    folder = tmp_path / "forged"
    shutil.copytree(published, folder)
    told = manifest_of(folder)
    forged(told)
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash(folder, series=told["series"])
    faults = [text for check in verify(folder).checks for text in check.faults]
    assert any(fault in text for text in faults), faults


def test_a_row_with_another_class_is_refused(published: Path, tmp_path: Path) -> None:
    folder = tmp_path / "forged"
    shutil.copytree(published, folder)
    file = folder / "visit.csv"
    text = file.read_text(encoding="utf-8")
    assert "90 days or more" in text
    file.write_text(text.replace("90 days or more", "91 days", 1), encoding="utf-8")
    told = manifest_of(folder)
    table = next(t for t in told["tables"] if t["name"] == "visit")
    table["content_sha256"] = content_of(read_csv(folder, "visit"))
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash(folder, series=told["series"])
    faults = {check.name: check.faults for check in verify(folder).checks}
    assert faults["derived"] == [
        "derived column onset: rows show '91 days', which its rule does not make"
    ]
