"""Time trends of a pair: the macro against the definition, the command, artifacts and the plot."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.signals import Case, Condition
from oracles.suppression import Hidden
from oracles.trends import State, trend
from support.quarters import Report, crowd, write_quarter

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.console.field_signals import trend_parts, trend_table
from srsql.engine.errors import SignalError

PERIODS = ("2011Q1", "2011Q2", "2011Q3")
PAIR = ("P", "X")
boxes = st.none() | st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda p: (min(p), max(p)))
told = st.builds(
    lambda drugs, reactions, box: Case(drugs, reactions, {0: box}),
    st.frozensets(st.sampled_from(("P", "Q"))),
    st.frozensets(st.sampled_from(("X", "Y"))),
    boxes,
)
series = st.dictionaries(
    st.tuples(st.integers(1, 6), st.sampled_from(PERIODS)), told, max_size=14
).map(lambda found: [State(*key, case) for key, case in sorted(found.items(), key=lambda x: x[0])])


def measured(sql: Any, states: list[State], suppressed: dict[str, Hidden]) -> list[dict[str, Any]]:
    """As `srsql signals --trend` runs the macros."""
    numbered = list(enumerate(states))
    rows = [
        (n, s.period, min((o.period for o in states if o.case == s.case and o.period > s.period),
                          default=None))
        for n, s in numbered
    ]  # fmt: skip
    sql.table("cases", "case_id BIGINT, quarter VARCHAR, until VARCHAR", rows)
    sql.table(
        "boxes",
        "case_id BIGINT, position INTEGER, low BIGINT, high BIGINT",
        [(n, 0, *(s.told.boxes[0] or (None, None))) for n, s in numbered],
    )
    sql.table(
        "conditions",
        "position INTEGER, low BIGINT, high BIGINT, domain_low BIGINT, domain_high BIGINT",
        [(0, 1, 3, 0, 4)],
    )
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE weights AS FROM srsql.signal_weights("
        "'temp.main.cases', 'temp.main.boxes', 'temp.main.conditions')"
    )
    for what in ("drug", "reaction"):
        held = [(n, name) for n, s in numbered for name in getattr(s.told, f"{what}s")]
        sql.table(f"{what}s", f"case_id BIGINT, {what} VARCHAR", held)
    sql.table("pairs", "drug VARCHAR, reaction VARCHAR", [PAIR])
    sql.table(
        "periods",
        "period VARCHAR, suppressed BIGINT, suppressed_drugs BIGINT",
        [(period, *hidden) for period, hidden in suppressed.items()],
    )
    found: list[dict[str, Any]] = sql.records(
        "FROM srsql.trend_tables('temp.main.cases', 'temp.main.weights', 'temp.main.drugs', "
        "'temp.main.reactions', 'temp.main.pairs', 'temp.main.periods')"
    )
    return found


@pytest.mark.slow
@REPEATABLE
@given(states=series, hidden=st.tuples(*[st.tuples(st.integers(0, 2), st.integers(0, 1))] * 3))
def test_each_period_has_its_cases_and_each_span_up_to_one_has_them_once(
    sql: Any, states: list[State], hidden: tuple[Hidden, Hidden, Hidden]
) -> None:
    suppressed = dict(zip(PERIODS, hidden, strict=True))
    expected = trend(states, PERIODS, PAIR, {0: Condition((1, 3), (0, 4))}, suppressed)
    rows = {(row["span"], row["period"]): row for row in measured(sql, states, suppressed)}
    assert rows.keys() == expected.keys()
    for key, cells in expected.items():
        for cell, (lower, share, upper) in cells.items():
            row = rows[key]
            assert row[cell] == pytest.approx(share, abs=1e-9)
            assert (row[f"{cell}_lower"], row[f"{cell}_upper"]) == (lower, upper)
            assert row[f"{cell}_known"] == lower


def reported(first: int, version: int) -> list[Report]:
    """80 cases; every seventh has no age, every fourth another drug."""
    return [
        replace(
            r, age="" if r.caseid % 7 == 0 else r.age,
            drugs=("Drug 1", "Drug 2") if (r.caseid + version) % 4 == 0 else r.drugs,
        )
        for r in crowd(80, first=first, terms=3, version=version)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("trend")
    with Engine(folder / "w.duckdb") as engine:
        for quarter, reports in (("2011Q3", reported(1, 1)), ("2011Q4", reported(41, 2))):
            engine.ingest([write_quarter(folder, quarter, reports)])
            engine.release(quarter, k=3, theta="1", seed=1)
        yield engine


ASKED: dict[str, Any] = {"drug": "drug 1", "reaction": "Reaction 01"}


def cells_of(reports: list[Report]) -> list[int]:
    cells = [0, 0, 0, 0]
    for r in reports:
        cells[2 * ("Drug 1" not in r.drugs) + ("Reaction 01" not in r.pt)] += 1
    return cells


@pytest.mark.slow
def test_originals_have_the_cases_of_each_period_and_their_latest_states(house: Engine) -> None:
    found = house.trend(**ASKED)
    old, new = reported(1, 1), reported(41, 2)
    latest = [r for r in old if r.caseid <= 40] + new
    expected = {
        ("period", "2011Q3"): old,
        ("period", "2011Q4"): new,
        ("cumulative", "2011Q3"): old,
        ("cumulative", "2011Q4"): latest,
    }
    assert [(point.span, point.period) for point in found.points] == list(expected)
    for point in found.points:
        own = point.original
        assert own is not None
        assert [own.a, own.b, own.c, own.d] == cells_of(expected[point.span, point.period])
    # the last one is what signals have
    (signal,) = house.signals(**ASKED).signals
    last = found.points[-1]
    assert last.released.prr == signal.released.prr
    assert last.original is not None
    assert signal.original is not None
    assert last.original.ror_low == signal.original.ror_low
    assert last.released.signal_mhra == signal.released.signal_mhra


def test_released_bounds_of_every_point_hold_what_the_originals_have(house: Engine) -> None:
    found = house.trend(**ASKED, min_age=40, max_age=60)
    wide = 0
    for point in found.points:
        assert point.original is not None
        for cell in "abcd":
            low, high = (getattr(point.released, f"{cell}_{end}") for end in ("lower", "upper"))
            assert low <= getattr(point.original, cell) <= high
            wide += low < high
    assert wide > 4


@pytest.mark.thorough
def test_an_artifact_of_several_quarters_gives_the_trend_of_the_warehouse(
    house: Engine, tmp_path: Path
) -> None:
    folders = []
    for quarter in ("2011Q3", "2011Q4"):
        folders.append(tmp_path / quarter)
        house.publish(quarter, folders[-1])
    own = house.trend(**ASKED, sex="F", released_only=True)
    with open_artifact(*folders) as artifact:
        seen = artifact.trend(**ASKED, sex="F")
    assert seen.points == own.points
    assert all(point.original is None for point in seen.points)


@pytest.mark.thorough
def test_the_table_the_lines_and_the_plot_have_every_point(house: Engine, tmp_path: Path) -> None:
    file = tmp_path / "trend.svg"
    found = house.trend(**ASKED, figure=file)
    header, *rows = trend_table(found)
    assert len(rows) == 8  # two spans, two periods, two data
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    assert rows[0][header.index("a")] == found.points[0].original.a  # type: ignore[union-attr]
    titles = [part.title for part in trend_parts(found) if not isinstance(part, str)]
    assert titles == ["by period", "all periods up to each"]
    drawn = file.read_bytes()
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert b"2011Q4" in drawn
    again = tmp_path / "again.svg"
    house.trend(**ASKED, figure=again)
    assert again.read_bytes() == drawn
    with pytest.raises(SignalError, match="give another --figure"):
        house.trend(**ASKED, figure=tmp_path / "no" / "trend.svg")


@pytest.mark.slow
def test_nobody_at_all_is_a_trend_of_zeros(house: Engine, tmp_path: Path) -> None:
    found = house.trend("no such drug", "Reaction 01", allow_unknown=True, released_only=True,
                        figure=tmp_path / "zeros.svg")  # fmt: skip
    assert {point.released.a for point in found.points} == {0}
    assert found.counted.unknown == ("no released case has the drug 'no such drug': it counts as "
                                     "none",)  # fmt: skip
    with pytest.raises(SignalError, match="no case has the drug"):
        house.trend("no such drug", "Reaction 01")


@pytest.mark.thorough
def test_an_observed_domain_is_that_of_the_latest_states(tmp_path: Path) -> None:
    """Cases 1 to 4 are 10 years old at first and 50 then: no trend knows of the ten any more."""
    text = (resources.files("srsql.schemas") / "faers.toml").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines(True) if not line.startswith("groups = ")]
    old = "domain = [0, 120]"
    assert old in text
    (tmp_path / "own.toml").write_text("".join(kept).replace(old, 'domain = "observed"', 1))
    (tmp_path / "hierarchies").mkdir()
    shipped = (resources.files("srsql.schemas") / "hierarchies").iterdir()
    for file in (each for each in shipped if each.name.endswith(".csv")):
        (tmp_path / "hierarchies" / file.name).write_bytes(file.read_bytes())

    def told(version: int, ages: dict[int, str]) -> list[Report]:
        held = {"drugs": ("Drug 1",), "pt": ("Reaction 01",)}
        return [Report(10 * n + version, n, age=age, **held) for n, age in ages.items()]

    first = told(1, dict.fromkeys(range(1, 5), "10"))
    second = told(2, {n: "50" if n < 5 else "41" if n < 9 else "" for n in range(1, 13)})
    with Engine(tmp_path / "w.duckdb", dataset=tmp_path / "own.toml") as engine:
        for quarter, reports in (("2011Q3", first), ("2011Q4", second)):
            engine.ingest([write_quarter(tmp_path, quarter, reports)])
            engine.release(quarter, model="ms", k=2, theta="1", seed=1)
        (asked,) = engine.signals(**ASKED, min_age=45).signals
        latest = engine.trend(**ASKED, min_age=45).points[-1]
    assert asked.original
    assert latest.original
    assert asked.original.a == pytest.approx(4 + 4 * 6 / 10)  # 45 to 50 of 41 to 50
    assert latest.original.a == asked.original.a
    assert latest.released.a == asked.released.a
