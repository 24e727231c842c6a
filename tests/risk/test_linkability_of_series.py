"""How many rows of a release link to another one, read from the views in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from oracles.linkability import Row, links
from support.quarters import Report, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.measures import MeasureRow

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "1", "allow_linkable": True}
NODES = {"Any": None, "M": (1, 1), "F": (2, 2)}
ITEMS = {"drug": ["drugname"], "reac": ["pt"], "indi": ["indi_pt"], "outc": ["outc_cod"]}


def reports(seed: int, count: int, first: int = 1) -> list[Report]:
    """Cases of few terms in several spellings, some QIDs missing, some of two reports."""
    draw = random.Random(seed)
    found = []
    for case in range(first, first + count):
        for version in range(1, 3 if draw.random() < 0.2 else 2):
            found.append(
                Report(
                    primaryid=10 * case + version,
                    caseid=case,
                    age=draw.choice(["", str(draw.randint(20, 60)), str(draw.randint(20, 60))]),
                    sex=draw.choice(["M", "F", "F", ""]),
                    wt=draw.choice(["", str(draw.randint(50, 90))]),
                    pt=tuple(draw.sample(["Rash", " rash", "Nausea", "Pain"], draw.randint(1, 2))),
                    indi=tuple(draw.sample(["Pain", "Asthma"], draw.randint(0, 1))),
                    drugs=tuple(draw.sample(["Aspirin", "ASPIRIN ", "Insulin"], 1)),
                    roles=("SS",) if draw.random() < 0.5 else ("PS",),
                )
            )
    return found


def shown(engine: Engine, schema: str) -> dict[int, Row]:
    """Case -> its row, from the views alone."""
    items: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for table, columns in ITEMS.items():
        for row in rows(engine.con, f'FROM "{schema}"."{table}"'):
            for name in columns:
                if row[name] is not None:
                    items[row["caseid"]].add((name, row[name].strip()))
    return {
        row["caseid"]: Row(
            frozenset(items[row["caseid"]]),
            (
                None if row["age_low"] is None else (row["age_low"], row["age_high"]),
                None if row["wt_low"] is None else (row["wt_low"], row["wt_high"]),
                NODES[row["sex"]],
            ),
        )
        for row in rows(engine.con, f'FROM "{schema}".demo')
    }


def linkable(found: list[MeasureRow]) -> dict[str, tuple[float | None, float | None]]:
    return {r.scope: (r.violating, r.total) for r in found if r.measure == "linkable"}


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_link_to_another_series_are_those_of_the_definition(
    tmp_path: Path, seed: int
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", reports(seed, 40))])
        for series in ("main", "journal", "industry"):
            engine.release("2011Q3", **OPTIONS, seed=seed, series=series)
        main, journal, industry = (
            shown(engine, f"release_{name}2011q3") for name in ("", "journal_", "industry_")
        )
        found = linkable(engine.metrics("2011Q3"))
    both = [links(main, other) for other in (industry, journal)]
    assert found == {
        "series industry": (len(both[0]), len(main)),
        "series journal": (len(both[1]), len(main)),
        "any of these": (len(both[0].keys() | both[1].keys()), len(main)),
    }
    assert found["any of these"][0]


def test_versions_and_the_quarters_beside_are_compared_too(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        quarters = {"2011Q2": (1, 30), "2011Q3": (20, 40), "2011Q4": (50, 40)}
        engine.ingest(
            [
                write_quarter(tmp_path, quarter, reports(n, count, first))
                for n, (quarter, (first, count)) in enumerate(quarters.items())
            ]
        )
        for quarter in quarters:
            engine.release(quarter, **OPTIONS, seed=1)
        seen = {quarter: shown(engine, f"release_{quarter.lower()}") for quarter in quarters}
        engine.release("2011Q3", **OPTIONS, seed=2, supersede=True)
        new = shown(engine, "release_2011q3")
        found = linkable(engine.metrics("2011Q3"))
    assert found == {
        "earlier version (release 2)": (len(links(new, seen["2011Q3"])), len(new)),
        "2011Q2 of this series": (len(links(new, seen["2011Q2"])), len(new)),
        "2011Q4 of this series": (len(links(new, seen["2011Q4"])), len(new)),
    }


def test_a_release_alone_in_its_quarter_has_no_row_of_linkability(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", reports(1, 30))])
        made = engine.release("2011Q3", **OPTIONS, seed=1)
        assert made.links == []
        assert linkable(engine.metrics("2011Q3")) == {}
        draft = engine.release("2011Q3", **OPTIONS, seed=1, series="journal", draft=True)
        assert linkable(engine.metrics("2011Q3")) == {}  # a draft is nowhere
        assert [row.scope for row in draft.links] == ["series main"]
