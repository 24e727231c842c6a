"""A release that fails its own check, or anything else, leaves the warehouse as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.files import copied
from support.lanes import thorough_but
from support.people import audited, people
from support.quarters import crowd
from support.released import content, regions

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.models.bounding import Ms
from srsql.engine.store.warehouse import Warehouse
from srsql.udfs.grouping import greedy

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "0.5", "seed": 1, "allow_linkable": True}


@pytest.fixture
def loaded(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    """An earlier quarter is out; every second case of the next one has the same disease."""
    common = [
        replace(r, indi=("Common",)) if r.caseid % 2 else r for r in crowd(40, first=21, version=2)
    ]
    made = copied(kept / "rollback", tmp_path / "w.duckdb", {"2011Q3": crowd(40), "2011Q4": common})
    with Engine(made) as opened:
        opened.release("2011Q3", **OPTIONS)
        yield opened


def after_grouping(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    """Let the model group as it does, then change its groups."""
    group = Ms.group

    def spoiled(self: Ms, grouping: Grouping) -> None:
        group(self, grouping)
        for statement in statements:
            grouping.warehouse.run(statement)

    monkeypatch.setattr(Ms, "group", spoiled)


def after_step(monkeypatch: pytest.MonkeyPatch, file: str, statement: str) -> None:
    run_step = Warehouse.run_step

    def spoiled(self: Warehouse, step: str, *more: Any, **tables: str) -> dict[str, str]:
        written = run_step(self, step, *more, **tables)
        if step == file:
            self.run(statement)
        return written

    monkeypatch.setattr(Warehouse, "run_step", spoiled)


def a_group_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    after_grouping(
        monkeypatch,
        "UPDATE temp.main.srsql_grouped SET group_no = 1000 "
        "WHERE case_no = (SELECT min(g.case_no) FROM temp.main.srsql_grouped AS g)",
    )


def a_common_disease_in_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    after_grouping(monkeypatch, "UPDATE temp.main.srsql_grouped SET group_no = case_no % 2")


def regions_that_miss_their_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    # all to one point, so that k and theta hold and only the truth is lost
    after_step(
        monkeypatch,
        "grouping/regions",
        "UPDATE temp.main.srsql_region SET low = 30, high = 30 WHERE position = 0",
    )


def a_lost_report(monkeypatch: pytest.MonkeyPatch) -> None:
    after_step(
        monkeypatch,
        "grouping/regions",
        "DELETE FROM temp.main.srsql_case_report WHERE report_id = "
        "(SELECT min(r.report_id) FROM temp.main.srsql_case_report AS r)",
    )


@pytest.mark.parametrize(
    ("spoil", "check", "draft"),
    thorough_but(
        [
            (a_group_of_one, "check_k", False),
            (a_common_disease_in_one_group, "check_theta", False),
            (a_lost_report, "check_(k|complete|manifest)", True),
        ],
        (
            (*spoiled, draft)
            for spoiled in (
                (a_group_of_one, "check_k"),
                (a_common_disease_in_one_group, "check_theta"),
                (regions_that_miss_their_cases, "check_inside"),
                (a_lost_report, "check_(k|complete|manifest)"),
            )
            for draft in (False, True)
        ),
    ),
)
def test_a_release_that_fails_its_own_check_changes_nothing_and_a_rerun_works(
    loaded: Engine,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[pytest.MonkeyPatch], None],
    check: str,
    draft: bool,
) -> None:
    before = content(loaded.con)
    with monkeypatch.context() as spoiled:
        spoil(spoiled)
        with pytest.raises(CheckFailedError, match=check) as caught:
            loaded.release("2011Q4", **OPTIONS, draft=draft)
    assert "nothing was released" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert content(loaded.con) == before
    made = loaded.release("2011Q4", **OPTIONS, draft=draft)
    assert min(len(cases) for cases in regions(loaded.con, made.schema).values()) >= 3


@pytest.mark.thorough
def test_a_failed_replacement_keeps_the_release_it_was_to_replace(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(loaded.con)
    a_group_of_one(monkeypatch)
    with pytest.raises(CheckFailedError):
        loaded.release("2011Q3", **OPTIONS, supersede=True)
    assert content(loaded.con) == before


@pytest.mark.thorough
def test_a_failed_remake_of_a_draft_keeps_the_draft(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded.release("2011Q4", **OPTIONS, draft=True)
    before = content(loaded.con)
    a_group_of_one(monkeypatch)
    with pytest.raises(CheckFailedError):
        loaded.release("2011Q4", **OPTIONS, draft=True)
    assert content(loaded.con) == before


@pytest.mark.thorough
@pytest.mark.parametrize(
    "stage",
    [
        "cases",
        "history",
        "thresholds",
        "grouping",
        "regions",
        "catalog",
        "views",
        "checks",
        "audit",
        "metrics",
    ],
)
def test_an_interruption_at_any_stage_changes_nothing(loaded: Engine, stage: str) -> None:
    def interrupt(said: str) -> None:
        if said == stage:
            raise KeyboardInterrupt

    before = content(loaded.con)
    with pytest.raises(KeyboardInterrupt):
        loaded.release("2011Q4", **OPTIONS, progress=interrupt)
    assert content(loaded.con) == before


def test_an_error_of_the_database_is_one_line_and_changes_nothing(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(loaded.con)
    after_step(monkeypatch, "release/catalog", "SELECT 1 FROM srsql.no_such_table")
    with pytest.raises(ReleaseError, match="2011Q4 was not released, the warehouse is as it was"):
        loaded.release("2011Q4", **OPTIONS)
    assert content(loaded.con) == before


# a periodical release that breaks its own bound, or endangers what is out


@pytest.fixture
def series(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    """Two groups of three are out, of whom all come back as old people, with twelve new cases."""
    later = [replace(r, age="90") for r in people(range(1, 7), 2)] + people(range(21, 33), 2)
    quarters = {"2011Q1": people(range(1, 7), age="25"), "2011Q2": later}
    made = copied(kept / "attacked", tmp_path / "w.duckdb", quarters)
    with Engine(made) as opened:
        opened.release("2011Q1", **PERIODICAL_OPTIONS)
        yield opened


PERIODICAL_OPTIONS: dict[str, Any] = OPTIONS | {"model": "ppms", "refine": "off"}
"""Refinement would mend groups that are spoiled."""


def regions_of_this_quarter_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No QID-bounding: a case that was 25 is now 90, and no region says it was ever 25."""
    after_step(
        monkeypatch,
        "grouping/history",
        "CREATE OR REPLACE TEMP TABLE srsql_bounded AS SELECT b.* FROM temp.main.srsql_box AS b",
    )


def groups_of_old_and_new_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts every case towards k: one new case among two old ones."""

    def by_number(cases: Any, *_: Any) -> Any:
        return (np.arange(len(cases.low)) % 6).astype(np.int32)

    monkeypatch.setattr(greedy, "group_cases", by_number)


def a_catalog_with_other_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    after_step(
        monkeypatch,
        "release/catalog",
        "UPDATE srsql.region SET low = 0, high = 119 WHERE release_id = 2 AND position = 0",
    )


def a_catalog_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    after_step(
        monkeypatch,
        "release/catalog",
        "DELETE FROM srsql.case_term WHERE release_id = 2 AND term_no = 0",
    )


def a_catalog_without_substantial_symptoms(monkeypatch: pytest.MonkeyPatch) -> None:
    after_step(
        monkeypatch,
        "release/catalog",
        "UPDATE srsql.ss_rule SET cutoff = 1 WHERE release_id = 2 AND attribute = 'pt'",
    )


@pytest.mark.thorough
@pytest.mark.parametrize("draft", [False, True])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (regions_of_this_quarter_alone, "failed its own audit: .* the worst one of 2011Q1"),
        (groups_of_old_and_new_alike, "failed its own audit: .* the worst one of 2011Q2"),
        (a_catalog_with_other_regions, r"check_catalog: .*\(region\)"),
        (a_catalog_without_a_value, r"check_catalog: .*\(value\)"),
        (a_catalog_without_substantial_symptoms, r"check_catalog: .*\(substantial symptoms\)"),
    ],
)
def test_a_release_that_endangers_a_group_of_any_quarter_changes_nothing_and_a_rerun_works(
    series: Engine,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[pytest.MonkeyPatch], None],
    words: str,
    draft: bool,
) -> None:
    before = content(series.con)
    with monkeypatch.context() as spoiled:
        spoil(spoiled)
        with pytest.raises(CheckFailedError, match=words) as caught:
            series.release("2011Q2", **PERIODICAL_OPTIONS, draft=draft)
    assert "nothing was released" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert content(series.con) == before
    series.release("2011Q2", **PERIODICAL_OPTIONS, draft=draft)
    if draft:
        series.confirm("2011Q2")
    assert {row.quarter for row in audited(series).releases} == {"2011Q1", "2011Q2"}


@pytest.mark.thorough
def test_a_draft_whose_regions_were_changed_is_refused_when_it_is_confirmed(
    series: Engine,
) -> None:
    made = series.release("2011Q2", **PERIODICAL_OPTIONS, draft=True)
    series.con.execute(
        "UPDATE srsql.region SET low = high WHERE release_id = ? AND position = 0",
        [made.release_id],
    )
    before = content(series.con)
    with pytest.raises(CheckFailedError, match=r"failed its own audit: .* the worst one of 2011Q1"):
        series.confirm("2011Q2")
    assert content(series.con) == before
