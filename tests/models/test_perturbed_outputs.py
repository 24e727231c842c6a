"""What leaves the house of a perturbed release: artifacts, reports, signals, answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.perturbed_world import QUARTERS, series
from support.quarters import write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.errors import PublishError, QueryError

pytestmark = pytest.mark.thorough

QUARTER = QUARTERS[0]
OPTIONS: dict[str, Any] = {
    "k": 3,
    "theta": "0.5",
    "on_infeasible": "withhold",
    "leftovers": "withhold",
    "allow_linkable": True,
    "refine": "off",
}
"""Refinement would place whom the tests want withheld."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("outputs")
    with Engine(folder / "w.duckdb") as opened:
        opened.ingest([write_quarter(folder, QUARTER, series(5)[QUARTER])], allow_incomplete=True)
        for model in ("ppms-dp-all", "ppms-dp-num"):
            opened.release(QUARTER, model=model, series=model, **OPTIONS)
        opened.release(QUARTER, model="msdp-all", series="toy", noise="seeded", seed=1, **OPTIONS)
        withheld = opened.sql("SELECT count(*) FROM srsql.withheld AS w")
        assert withheld != [(0,)]
        yield opened


@pytest.mark.parametrize("model", ["ppms-dp-all", "ppms-dp-num"])
def test_an_artifact_tells_nothing_of_what_was_withheld_and_claims_no_k_per_region(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    published = engine.publish(QUARTER, tmp_path / "out", series=model, allow_linkable=True)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["perturbed"]
    assert manifest["counts"]["withheld_cases"] is None
    assert published.counts["withheld_reports"] is None
    assert "local differential privacy" in manifest["guarantee"]
    assert "withheld: not told" in (tmp_path / "out" / "README.md").read_text().lower()
    found = verify(tmp_path / "out")
    assert found.passed
    assert not {"k", "theta"} & {check.name for check in found.checks}
    assert any(text.startswith("k and thresholds") for text in found.cannot_show)


def test_a_seeded_release_is_not_published(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match=r"not for publication.*--noise secure"):
        engine.publish(QUARTER, tmp_path / "out", series="toy", allow_linkable=True)
    assert not (tmp_path / "out").exists()


def test_no_bounds_are_given_of_values_drawn_at_random(engine: Engine) -> None:
    with pytest.raises(QueryError, match="no bounds"):
        engine.query("SELECT COUNT(DISTINCT caseid) FROM demo WHERE age > 18", series="ppms-dp-num")
    found = engine.signals(
        drug="x", reaction="y", min_age=18, series="ppms-dp-all", allow_unknown=True
    )
    assert found.perturbed == (QUARTER,)


@pytest.mark.parametrize("model", ["ppms-dp-all", "ppms-dp-num"])
def test_reports_have_a_loss_without_widths_and_the_public_one_no_withheld_count(
    engine: Engine, model: str
) -> None:
    internal = engine.report(QUARTER, series=model).html
    assert "NIL*" in internal
    public = engine.report(QUARTER, series=model, public=True).html
    assert "cases withheld" not in public
    assert engine.report(None, series=model).html.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("age", ["3", "Infant"])
def test_an_attacker_may_know_a_number_or_the_node_that_it_was_taken_for(
    engine: Engine, age: str
) -> None:
    found = engine.attack(QUARTER, {"age": age}, series="ppms-dp-num")
    assert found.candidates
