"""Who waits, how long, and what that leaves of a group: by a catalog that is written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pytest

import srsql

ONE, TWO, THREE = "2020W53", "2021W01", "2021W02"


@pytest.fixture
def engine() -> Iterator[srsql.Engine]:
    with duckdb.connect() as con:
        opened = srsql.Engine(con)
        opened.sql("CREATE TEMP TABLE late_report (report_id INT, case_id TEXT, quarter TEXT)")
        yield opened


def put(engine: srsql.Engine, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    for row in rows:
        engine.sql(f"INSERT INTO srsql.{name} VALUES ({', '.join('?' * len(row))})", list(row))


def release(number: int, week: str, status: str = "released") -> tuple[Any, ...]:
    return (number, "d", "s", week, "ppms++", status, 3, 3, 1, "", 1, '{"max_delay": 2}')


def members(number: int, cases: str) -> list[tuple[Any, ...]]:
    return [(number, place, case, 0, 1, True) for place, case in enumerate(cases)]


def found(engine: srsql.Engine, call: str) -> dict[str, tuple[Any, ...]]:
    rows = engine.sql(f"SELECT c.* FROM srsql.{call} AS c")
    return {f"{row[1]} {row[2]}": row[3:6] for row in rows}


def two_weeks(engine: srsql.Engine) -> None:
    """``a`` waits from the first week to the second; ``d`` was released in the first."""
    put(engine, "release", [release(1, ONE), release(2, TWO)])
    put(engine, "withheld", [(1, 9, "a", 1, "no_group_fits")])
    put(engine, "waiting", [(1, "a", ONE)])
    put(engine, "member", [*members(1, "d"), *members(2, "abcd")])
    put(engine, "threshold", [(2, 0, "X", 1, 2, 2, True)])


def test_where_the_reports_of_a_case_that_waits_go(engine: srsql.Engine) -> None:
    two_weeks(engine)
    put(engine, "release", [release(3, THREE, "draft")])
    put(engine, "waiting", [(2, "e", TWO), (3, "e", TWO)])
    carried = "SELECT c.* FROM srsql.carried_cases('d', 's', ?) AS c ORDER BY ALL"
    assert engine.sql(carried, [None]) == [
        ("a", ONE, ONE, TWO, [ONE]), ("e", TWO, TWO, None, [TWO]),
    ]  # fmt: skip
    assert engine.sql(carried, [3]) == [
        ("a", ONE, ONE, TWO, [ONE]),
        ("e", TWO, TWO, THREE, [TWO]),
        ("e", TWO, THREE, None, [TWO, THREE]),
    ]
    for number, expected in ((1, []), (2, [("a", ONE)]), (3, [("e", TWO)])):
        assert engine.sql(f"SELECT t.* FROM srsql.taken_in({number}) AS t") == expected
    apart = "SELECT srsql.periods_apart($1, $2, ['batch 1', 'batch 2', 'batch 4'])"
    assert engine.sql(apart, [ONE, THREE]) == [(2,)]
    assert engine.sql(apart, ["batch 1", "batch 4"]) == [(2,)]


def test_delays_are_those_of_the_released_cases(engine: srsql.Engine) -> None:
    two_weeks(engine)
    delays = engine.sql("SELECT d.case_id, d.delay FROM srsql.member_delays(2) AS d ORDER BY 1")
    assert delays == [("a", 1), ("b", 0), ("c", 0), ("d", 0)]
    assert found(engine, "delay_rate(2)") == {
        "delay median": (1, 4, 0),
        "delay 95 %": (1, 4, 1),
        "waiting cases": (0, 4, 0),
        "known_report_period groups": (1, 1, 1),
    }
    assert found(engine, "delay_rate(1)")["waiting cases"] == (1, 2, 0.5)


def test_who_waits_is_withheld_in_no_release_and_not_too_long(engine: srsql.Engine) -> None:
    two_weeks(engine)
    assert found(engine, "check_waiting(2, 1)") == {"check_waiting cases": (0, 1, 0)}
    put(engine, "waiting", [(1, "f", ONE), (2, "f", ONE)])
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 1  # not withheld
    put(engine, "withheld", [(2, 8, "f", 1, "infeasible")])
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 0
    assert found(engine, "check_waiting(1, 2)")["check_waiting cases"][0] == 1  # too long
    engine.sql("DELETE FROM srsql.waiting WHERE release_id = 1 AND case_id = 'f'")
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 1  # not since then
    engine.sql("UPDATE srsql.waiting SET since = ? WHERE release_id = 2", [TWO])
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 0
    put(engine, "waiting", [(1, "f", ONE)])
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 1  # reset meanwhile
    engine.sql("UPDATE srsql.waiting SET since = ? WHERE release_id = 2", [ONE])
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 0
    put(engine, "member", members(1, "f"))
    assert found(engine, "check_waiting(2, 2)")["check_waiting cases"][0] == 1  # released meanwhile


def test_no_row_is_of_a_case_that_waits_and_its_first_report_is_there(
    engine: srsql.Engine,
) -> None:
    two_weeks(engine)
    engine.sql("CREATE TEMP TABLE raw_report AS SELECT 'a' AS case_id, ? AS quarter", [ONE])
    engine.sql("CREATE TEMP TABLE shown_case AS SELECT 'd' AS case_id")
    call = "check_waiting_rows('raw_report', 'late_report', 'shown_case', 1)"
    assert found(engine, call) == {"check_waiting_rows cases": (0, 1, 0)}
    engine.sql("INSERT INTO shown_case VALUES ('a')")
    assert found(engine, call)["check_waiting_rows cases"][0] == 1
    engine.sql("DELETE FROM shown_case")
    engine.sql("UPDATE raw_report SET quarter = ?", [TWO])
    assert found(engine, call)["check_waiting_rows cases"][0] == 1


def test_a_case_may_be_gone_that_a_release_had_wait_and_a_replacement_took_out(
    engine: srsql.Engine,
) -> None:
    two_weeks(engine)
    put(engine, "waiting", [(2, "a", ONE)])
    engine.sql("CREATE TEMP TABLE raw_report AS SELECT 'a' AS case_id, ? AS quarter", [TWO])
    engine.sql("CREATE TEMP TABLE shown_case AS SELECT 'd' AS case_id")
    call = "check_waiting_rows('raw_report', 'late_report', 'shown_case', 2)"
    ((before,),) = engine.sql("SELECT ingestion_id FROM srsql.release WHERE release_id = 1")
    for row, wrong in (
        (("d", ONE, "a", "changed", before + 1), 1),
        (("d", TWO, "a", "absent", before + 1), 1),
        (("d", ONE, "a", "absent", before), 1),  # the release did not have it from there
        (("d", ONE, "b", "absent", before + 1), 1),
        (("other", ONE, "a", "absent", before + 1), 1),
        (("d", ONE, "a", "absent", before + 1), 0),
    ):
        put(engine, "replaced_case", [row])
        assert found(engine, call)["check_waiting_rows cases"][0] == wrong, row


def test_persons_of_whom_a_case_was_released_meanwhile_are_ruled_out(
    engine: srsql.Engine,
) -> None:
    two_weeks(engine)
    put(engine, "member", [(2, 9, "e", 0, 1, True)])
    window = "check_delay windows"
    assert found(engine, "check_delay('person', 'late_report', 2)") == {
        window: (0, 1, 0)
    }  # a, b, c, e
    put(engine, "counted_person", [(2, "b", 1), (2, "c", 1)])
    assert found(engine, "check_delay('person', 'late_report', 2)")[window][0] == 0  # a, b and c, e
    put(engine, "case_term", [(2, 1, 0, 1, True), (2, 2, 0, 1, True)])
    assert (
        found(engine, "check_delay('person', 'late_report', 2)")[window][0] == 0
    )  # one person of three has X
    put(engine, "case_term", [(2, 9, 0, 1, True)])
    assert found(engine, "check_delay('person', 'late_report', 2)")[window][0] == 1  # two of three
    engine.sql("DELETE FROM srsql.case_term")
    put(engine, "counted_person", [(2, "z", 2), (2, "e", 2)])
    put(engine, "member", [(1, 7, "z", 0, 1, True)])
    assert (
        found(engine, "check_delay('person', 'late_report', 2)")[window][0] == 1
    )  # z is e, and was released
    assert (
        found(engine, "check_delay('case', 'late_report', 2)")["check_delay windows"][0] == 0
    )  # four cases are left


def test_those_who_were_released_meanwhile_are_ruled_out(engine: srsql.Engine) -> None:
    two_weeks(engine)
    assert found(engine, "check_delay('case', 'late_report', 2)") == {
        "check_delay windows": (0, 1, 0)
    }
    assert found(engine, "check_delay('case', 'late_report', 1)")["check_delay windows"][:2] == (
        0,
        0,
    )
    put(engine, "case_term", [(2, 0, 0, 1, True), (2, 1, 0, 1, True)])
    assert (
        found(engine, "check_delay('case', 'late_report', 2)")["check_delay windows"][0] == 1
    )  # 2 of 3 have X
    engine.sql("DELETE FROM srsql.case_term")
    put(engine, "member", members(1, "c"))
    assert (
        found(engine, "check_delay('case', 'late_report', 2)")["check_delay windows"][0] == 1
    )  # a and b are left


def test_late_cases_are_known_by_the_dump_that_brought_them(engine: srsql.Engine) -> None:
    two_weeks(engine)
    put(engine, "dump_period", [("d", ONE, 7, f"{ONE}+7"), ("d", TWO, 8, None)])
    put(engine, "taken_case", [(2, "b", ONE, 7), (2, "c", ONE, 6), (1, "d", ONE, 7)])
    late = "SELECT l.* FROM srsql.came_late({}) AS l"
    assert engine.sql(late.format(2)) == [("b", ONE)]
    assert engine.sql(late.format(1)) == []  # of its own period
    delays = engine.sql("SELECT d.case_id, d.delay FROM srsql.member_delays(2) AS d ORDER BY 1")
    assert delays == [("a", 1), ("b", 1), ("c", 0), ("d", 0)]
    put(engine, "member", members(1, "b"))
    assert engine.sql(late.format(2)) == []  # an old case, with a version


def test_who_knows_the_receipt_of_a_late_case_rules_out_who_was_released_since(
    engine: srsql.Engine,
) -> None:
    two_weeks(engine)
    engine.sql("INSERT INTO late_report VALUES (1, 'b', ?)", [ONE])
    before = "SELECT l.* FROM srsql.late_before('late_report', 2) AS l"
    assert engine.sql(before) == [("b", ONE)]
    assert found(engine, "check_delay('case', 'late_report', 2)")["check_delay windows"][:2] == (
        0,
        1,
    )
    put(engine, "member", members(1, "c"))
    assert found(engine, "check_delay('case', 'late_report', 2)")["check_delay windows"][0] == 1
    put(engine, "member", members(1, "b"))
    assert engine.sql(before) == []


def test_a_late_report_stands_only_where_it_may(engine: srsql.Engine) -> None:
    two_weeks(engine)
    put(engine, "series", [("d", "s", "periodical", "released_s", None, "pseudonym")])
    engine.sql("CREATE TEMP TABLE own_case (case_id TEXT)")
    engine.sql("INSERT INTO late_report VALUES (1, 'b', ?)", [ONE])
    call, reports = "check_late('late_report', 'own_case', 2)", "check_late reports"
    assert found(engine, call) == {reports: (0, 1, 0)}
    put(engine, "member", members(1, "b"))
    assert found(engine, call)[reports][0] == 1  # another period has the case
    engine.sql("INSERT INTO own_case VALUES ('b')")
    assert found(engine, call)[reports][0] == 0  # beside a report of its own period
    put(engine, "release", [release(9, TWO)])
    assert found(engine, call)[reports][0] == 0
    assert found(engine, "check_late('late_report', 'own_case', 9)")[reports][0] == 0
    engine.sql("DELETE FROM srsql.member WHERE release_id = 2 AND case_id = 'b'")
    later = found(engine, "check_late('late_report', 'own_case', 9)")
    assert later[reports][0] == 1  # the version before lacks the case
    put(engine, "withheld", [(2, 8, "b", 1, "infeasible")])
    assert found(engine, "check_late('late_report', 'own_case', 9)")[reports][0] == 0
    engine.sql("UPDATE late_report SET quarter = '2020W52'")
    assert found(engine, call)[reports][0] == 1  # its period is not out
    engine.sql("UPDATE late_report SET quarter = ?", [ONE])
    engine.sql("UPDATE srsql.series SET ids = 'original'")
    assert found(engine, call)[reports][0] == 1


def test_late_reports_are_shown_where_a_release_took_them_or_in_their_period(
    engine: srsql.Engine,
) -> None:
    two_weeks(engine)
    engine.sql("CREATE TEMP TABLE late_row (report_id INT, case_id TEXT, quarter TEXT, "
               "ingestion_id INT, label TEXT)")  # fmt: skip
    put(engine, "taken_case", [(2, "b", ONE, 7), (2, "b", ONE, 9)])
    for number, case, quarter, ingestion in (
        (1, "b", ONE, 7), (1, "b", ONE, 9), (2, "x", ONE, 7), (3, "y", "2021W09", 7),
    ):  # fmt: skip
        row = [number, case, quarter, ingestion, f"{quarter}+{ingestion}"]
        engine.sql("INSERT INTO late_row VALUES (?, ?, ?, ?, ?)", row)
    places = engine.sql(
        "SELECT p.* FROM srsql.late_places('late_row', 'd', 's', NULL) AS p ORDER BY 1"
    )
    assert places == [(1, f"{ONE}+9", ONE, TWO), (3, "2021W09+7", "2021W09", "2021W09")]
