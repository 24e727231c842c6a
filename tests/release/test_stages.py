"""The stages of a release: each reads what an earlier one wrote, and nothing else."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.persons import suspect
from support.quarters import crowd
from support.sets import write_rows, write_sets

from srsql.engine.api.engine import Engine
from srsql.engine.release import release as life
from srsql.engine.release.features.table import FEATURES
from srsql.engine.release.request import Request, make_request
from srsql.engine.release.stages.registry import STAGES
from srsql.engine.release.stages.stage import Made, Stage, Tables
from srsql.engine.store.warehouse import Warehouse

TITLES = ["cases", "history", "kernels", "thresholds", "grouping",
          "regions", "terms", "catalog", "tables", "counts", "noise", "singling out",
          "views", "links", "checks", "audit", "metrics"]  # fmt: skip
TERMS = {"terms": "disassociate", "term_attributes": "pt"}
BOUNDS = {"k": 4, "theta": "1/2", "on_infeasible": "withhold"}
KINDS: tuple[dict[str, Any], ...] = (
    {"model": "ppms++", **BOUNDS}, {"model": "ms", "missing": "drop", **BOUNDS},
    {"model": "ppms++", "count": "persons", **BOUNDS},
    {"model": "ms", "leftovers": "suppress", **BOUNDS, "on_infeasible": "suppress"},
    {"model": "ms", **TERMS, **BOUNDS},
    {"model": "ms", **TERMS, **BOUNDS, "term_attributes": "all"},
    {"model": "disassociation", "k": 4, "term_attributes": "pt"},
    {"model": "cba", "k": 4, "term_attributes": "pt", "m": 1},
    {"model": "ppms++", **BOUNDS, "max_delay": 2}, {"model": "k-anonymity", **BOUNDS},
    {"model": "l-diversity", **BOUNDS}, {"model": "ppms-stay", **BOUNDS},
    {"model": "msdp-all", "noise": "seeded", **BOUNDS}, {"model": "full-domain", "k": 4},
    {"model": "ppms++", "terms": "noisy-tables", "k": 4},
)  # fmt: skip
ELSEWHERE = {"linked_quarters", "optional_columns", "parts_rule"}
"""Facts of releases of other tests."""
NAMED = re.compile(r"srsql_(\w+)")


def test_a_stage_reads_what_an_earlier_one_wrote() -> None:
    written = set[str]()
    for stage in STAGES:
        assert set(stage.reads.split()) <= written, stage.run.__name__
        written |= set(stage.writes.split())


def test_stages_of_one_title_follow_each_other_in_the_order_that_progress_tells() -> None:
    assert [title for title, _ in groupby(STAGES, lambda stage: stage.title)] == TITLES


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": "ms"}, set(TITLES) - {"terms", "counts", "noise"}),
        ({"model": "ms", **TERMS}, set(TITLES) - {"counts", "noise"}),
    ],
)
def test_the_stage_of_terms_is_that_of_releases_that_tell_them_apart(
    options: dict[str, Any], told: set[str]
) -> None:
    request = make_request("2011Q4", options)
    assert {stage.title for stage in STAGES if stage.applies(request)} == told


class Watched:
    """Notes which temporary tables the statements of each stage name, and which it makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.named: dict[str, set[str]] = defaultdict(set)
        self.made: dict[str, set[str]] = defaultdict(set)
        self._now = ""
        for method in ("run", "rows", "value", "batches"):
            monkeypatch.setattr(Warehouse, method, self._noting(getattr(Warehouse, method)))
        monkeypatch.setattr(life, "STAGES", tuple(self._watched(stage) for stage in STAGES))

    def _noting(self, run: Any) -> Any:
        def noted(warehouse: Warehouse, query: Any, *rest: Any) -> Any:
            text = query if isinstance(query, str) else getattr(query, "query", None)
            text = text or query.sql("duckdb")
            self.named[self._now].update(NAMED.findall(text), NAMED.findall(repr(rest)))
            return run(warehouse, query, *rest)

        return noted

    def _watched(self, stage: Stage) -> Stage:
        def run(request: Request, made: Made) -> Tables:
            name, warehouse = stage.run.__name__, made.current.warehouse
            before = warehouse.temporary_tables()
            self._now = name
            told = stage.run(request, made)
            self._now = ""
            there = warehouse.temporary_tables()
            self.made[name] |= {each.removeprefix("srsql_") for each in there - before}
            assert set(told) == set(stage.writes.split())
            return told

        return replace(stage, run=run)


@pytest.mark.thorough
def test_stages_name_no_table_but_those_that_they_say_they_read_and_facts_have_their_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    quarters = {"2011Q3": crowd(60), "2011Q4": crowd(60, first=31, version=2)}
    with Engine(copied(tmp_path / "kept", tmp_path / "w.duckdb", quarters)) as engine:
        suspect(engine, [("1", "2", 0.95)])
        manifests = []
        for number, options in enumerate(KINDS):
            made = engine.release("2011Q3", seed=1, series=f"s{number}", allow_linkable=True,
                           ids="pseudonym" if options.get("term_attributes") != "all" else None,
                           **options)  # fmt: skip
            manifests.append(made.manifest)
    dataset, rows = write_sets(tmp_path), write_rows(tmp_path / "rows", 3, 200)
    with Engine(tmp_path / "sets.duckdb", dataset=dataset) as engine:
        engine.ingest([rows], period="2020Q1")
        manifests.append(engine.release("2020Q1", model="ms", seed=1, **BOUNDS).manifest)
    for place, stage in enumerate(STAGES):
        name = stage.run.__name__
        own = watched.made[name]
        others = set[str]().union(*(watched.made[s.run.__name__] for s in STAGES if s != stage))
        reads, writes = set(stage.reads.split()), set(stage.writes.split())
        assert (watched.named[name] & others) - own <= reads, name
        later = set[str]().union(*(set(s.reads.split()) for s in STAGES[place + 1 :]))
        assert own & later <= writes <= own, name
    for feature in FEATURES:
        for key, kind in feature.facts.items():
            told = [manifest[key] for manifest in manifests if key in manifest]
            assert all(type(each) is kind for each in told), key
            assert told or key in ELSEWHERE, key
