"""Dumps of cumulative sources: what is new, late, changed or gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.dumps import OPTIONS, Q1, Q2, dump, members, withheld
from support.quarters import Report, crowd, next_version, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import IngestError

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def state(engine: Engine) -> list[Any]:
    """Everything in the warehouse but the commands that wrote it, and the numbers they took."""
    names = engine.sql(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT temporary "
        "AND table_name NOT IN ('warehouse', 'run') ORDER BY ALL"
    )
    return [
        (name, sorted(map(repr, engine.sql(f'SELECT * FROM "{schema}"."{name}"'))))
        for schema, name in names
    ]


def changed(report: Report) -> Report:
    return replace(report, pt=(*report.pt, "Rash"))


def raw(engine: Engine) -> dict[str, int]:
    return dict(engine.sql("SELECT quarter, count(*) FROM raw_faers.demo GROUP BY quarter"))


def test_each_report_of_a_dump_is_new_changed_or_as_it_was(engine: Engine) -> None:
    first = crowd(6)
    told = dump(engine, Q1, first)
    assert (told.periods, told.new, told.late) == ((Q1,), 6, 0)
    told = dump(engine, Q1, [changed(first[0]), *first[1:], *crowd(2, 7)])
    assert (told.periods, told.late, told.changed, told.unchanged) == ((), 2, 1, 5)
    assert (told.vanished, told.withdrawn) == (0, 0)
    assert sum(raw(engine).values()) == 6 + 3
    assert raw(engine)[Q1] == 6  # no row of the period itself changes
    told = dump(engine, Q1, [changed(first[0]), *first[1:], *crowd(3, 7)])
    assert (told.late, told.changed, told.unchanged) == (1, 0, 8)  # compared with the newest text


def test_the_same_dump_again_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    path = write_quarter(tmp_path / "again", Q1, crowd(6))
    engine.ingest([path], cumulative=True)
    before = state(engine)
    (again,) = engine.ingest([path], cumulative=True)
    assert again.status == "unchanged"
    assert state(engine) == before


def test_a_period_that_was_loaded_without_dumps_is_compared_as_well(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path / "plain", Q1, crowd(6))])
    assert dump(engine, Q1, crowd(8)).late == 2
    other = write_quarter(tmp_path / "other", Q1, crowd(9))
    for options in ({}, {"replace": True}):
        with pytest.raises(IngestError, match=r"from dumps .* ingest .*zip with --cumulative$"):
            engine.ingest([other], **options)


def test_vanished_cases_are_withdrawn_and_stay_so_where_they_reappear(engine: Engine) -> None:
    first = crowd(8)
    dump(engine, Q1, first)
    engine.release.make(Q1, **OPTIONS)
    told = dump(engine, Q1, first[2:])
    assert told.vanished == 2
    deleted = "SELECT case_id FROM srsql.deleted_case ORDER BY ALL"
    assert engine.sql(deleted) == [("1",), ("2",)]
    assert [each["stale"] for each in engine.status().releases] == [{"deleted": 2}]
    told = dump(engine, Q1, first[1:])
    assert (told.vanished, told.withdrawn, told.unchanged) == (0, 1, 7)
    assert engine.sql(deleted) == [("1",), ("2",)]
    dump(engine, Q2, [*crowd(6, 20), next_version(first[1])])
    engine.release.make(Q2, **OPTIONS)
    assert withheld(engine, Q2) == {2: "deleted"}


def test_a_case_that_keeps_other_reports_is_changed_and_not_withdrawn(engine: Engine) -> None:
    first = crowd(6)
    dump(engine, Q1, [*first, next_version(first[0])])
    engine.release.make(Q1, **OPTIONS)
    told = dump(engine, Q1, first)
    assert told.vanished == 1
    assert engine.sql("SELECT * FROM srsql.deleted_case") == []
    assert [each["stale"] for each in engine.status().releases] == [{"changed": 1}]
    assert raw(engine) == {Q1: 6}
    assert dump(engine, Q1, [*first, next_version(first[0])]).late == 1


def test_more_vanished_reports_than_may_be_refuse_the_dump_and_change_nothing(
    engine: Engine,
) -> None:
    dump(engine, Q1, crowd(50))
    before = state(engine)
    with pytest.raises(IngestError) as refused:
        dump(engine, Q1, crowd(49), max_vanished=0.01)
    assert "lacks 1 of the 50 reports that are known of its periods (2.0%)" in str(refused.value)
    assert "raise --max-vanished (now 0.01)" in str(refused.value)
    assert state(engine) == before
    assert dump(engine, Q1, crowd(49), max_vanished=0.02).vanished == 1


def test_a_report_whose_record_is_damaged_is_not_gone(engine: Engine, tmp_path: Path) -> None:
    reports = crowd(6)
    dump(engine, Q1, reports)
    bad = [*reports[1:], replace(reports[0], age="30$30$30$30$30$30")]
    told = dump(engine, Q1, bad, max_reject_rate=0.5, max_vanished=0.0)
    assert (told.vanished, told.unchanged) == (0, 5)


def test_forgotten_cases_come_with_every_dump_and_stay_forgotten(engine: Engine) -> None:
    dump(engine, Q1, crowd(8))
    engine.release.make(Q1, **OPTIONS)
    engine.forget(["3"], reason="asked")
    told = dump(engine, Q1, crowd(9))
    assert (told.late, told.unchanged, told.vanished) == (1, 7, 0)
    assert engine.sql("SELECT * FROM raw_faers.demo WHERE caseid = 3") == []


def test_a_dump_does_not_go_with_replace_or_a_lake(engine: Engine, tmp_path: Path) -> None:
    path = write_quarter(tmp_path / "one", Q1, crowd(6))
    with pytest.raises(IngestError, match="leave one of them out"):
        engine.ingest([path], cumulative=True, replace=True)
    with pytest.raises(IngestError, match="does not go with a lake"):
        engine.ingest([path], cumulative=True, lake=tmp_path / "lake")
    with pytest.raises(IngestError, match="max-vanished"):
        engine.ingest([path], cumulative=True, max_vanished=2)
    assert not engine.sql("SELECT * FROM srsql.ingestion")


def test_a_dump_that_is_refused_at_the_end_leaves_the_warehouse_as_it_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump(engine, Q1, crowd(6))
    before = state(engine)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("srsql.engine.ingest.cumulative._insert", full)
    with pytest.raises(IngestError, match="No space left"):
        dump(engine, Q1, crowd(9))
    assert state(engine) == before


def test_a_report_that_moves_to_another_case_withdraws_the_first(engine: Engine) -> None:
    first = crowd(8)
    dump(engine, Q1, first)
    engine.release.make(Q1, **OPTIONS)
    told = dump(engine, Q1, [replace(first[0], caseid=77), *first[1:]])
    assert (told.changed, told.vanished) == (1, 1)
    assert engine.sql("SELECT case_id FROM srsql.deleted_case") == [("1",)]
    dump(engine, Q2, crowd(6, 20))
    engine.release.make(Q2, **OPTIONS)
    assert 77 in members(engine, Q2)
