"""Random series that suppress values: what is gone stays gone, and every count allows for it.

Judged by the raw reports and the released views alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles.term_key import term_key
from support.quarters import Report, write_quarter
from support.released import regions, rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import NothingToReleaseError, SrsqlError

pytestmark = pytest.mark.thorough

QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4")
K, THETA = 3, Fraction(2, 5)
OPTIONS: dict[str, Any] = {
    "k": K, "theta": "0.4", "on_infeasible": "suppress", "leftovers": "suppress",
    "ids": "original",
}  # fmt: skip
Pair = tuple[int, str]


@dataclass
class Series:
    """What was told and kept back so far, over all versions of all quarters."""

    raw: dict[str, list[Report]]
    shown: set[Pair] = field(default_factory=set)
    gone: set[Pair] = field(default_factory=set)

    def held(self, quarter: str) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for r in self.raw[quarter]:
            found.setdefault(r.caseid, set()).update(map(str.upper, (*r.pt, *r.indi)))
        return found


def reports(rng: random.Random, quarter: int, people: int) -> list[Report]:
    """Cases with few values, some of which many have; a few have a second report."""
    found = []
    everybody = range(20 * quarter, 20 * quarter + people)  # 20 of them for the first time
    for case in sorted(rng.sample(everybody, people * 3 // 4)):
        for version in range(1 + (rng.random() < 0.15)):
            pt = {f"T{min(9, int(rng.paretovariate(0.7)))}" for _ in range(rng.randint(1, 3))}
            indi = {rng.choice(["T1", "T2", "I1", f"I{case}"]) for _ in range(rng.randint(0, 2))}
            found.append(
                Report(
                    primaryid=case * 100 + quarter * 10 + version,
                    caseid=case,
                    age=str(20 + case % 40) if rng.random() < 0.9 else "",
                    sex="MF"[case % 2],
                    wt=str(50 + case % 30),
                    pt=tuple(sorted(pt)),
                    indi=tuple(sorted(indi)),
                    drugs=(f"D{rng.randint(1, 2)}",),
                )
            )
    return found


def look(engine: Engine, series: Series, quarter: str) -> None:
    """The released views of a quarter against everything that is promised."""
    schema = f"release_{quarter.lower()}"
    told: dict[int, dict[str, set[str]]] = {}
    shown: dict[int, set[str]] = {}
    for name, column in (("reac", "pt"), ("indi", "indi_pt")):
        for row in rows(engine.con, f"SELECT * FROM {schema}.{name}"):
            shown.setdefault(row["caseid"], set()).add(row[column])
            told.setdefault(row["primaryid"], {}).setdefault(column, set()).add(row[column])
    held = series.held(quarter)
    released = {row["caseid"] for row in rows(engine.con, f"SELECT caseid FROM {schema}.demo")}
    for cases in regions(engine.con, schema).values():
        assert len(cases) >= K
        counted = Counter(value for case in cases for value in shown.get(case, ()))
        assert all(n <= THETA * len(cases) for n in counted.values())
    now = {(case, value) for case in released for value in shown.get(case, ())}
    gone = {(case, value) for case in released for value in held[case]} - now
    assert not now & series.gone, "what was suppressed before is shown"
    assert not gone & series.shown, "what was told before is suppressed"
    for report in series.raw[quarter]:
        if report.caseid in released:
            for column, values in (("pt", report.pt), ("indi_pt", report.indi)):
                left = told.get(report.primaryid, {}).get(column, set())
                assert bool(left) is bool(values)
                assert left == {v for v in values if (report.caseid, v) in now}
    series.shown |= now
    series.gone |= gone


def ask(engine: Engine, series: Series, quarter: str, rng: random.Random) -> None:
    """Counts of the released cases: what is true of them lies within the bounds."""
    schema = f"release_{quarter.lower()}"
    released = {row["caseid"] for row in rows(engine.con, f"SELECT caseid FROM {schema}.demo")}
    reacs: dict[int, set[str]] = {case: set() for case in released}
    sex, drugs = {}, {}
    for r in series.raw[quarter]:
        if r.caseid in released:
            reacs[r.caseid].update(r.pt)
            sex[r.caseid] = r.sex
            drugs.setdefault(r.caseid, set()).update(r.drugs)

    def within(text: str, truth: int) -> None:
        ((lower, _, upper, known),) = engine.query(text, quarter=quarter, allow_unknown=True).rows
        assert known <= lower <= truth <= upper, text

    value = rng.choice(["T1", "T2", "T3"])
    first = f"FROM demo JOIN reac USING (primaryid, caseid) WHERE pt = '{value}'"
    holders = {case for case, terms in reacs.items() if value in terms}
    within(f"SELECT count(DISTINCT caseid) {first}", len(holders))
    women = {case for case in holders if sex[case] == "F"}
    within(f"SELECT count(DISTINCT caseid) {first} AND sex = 'F'", len(women))
    absent = f"NOT EXISTS (SELECT 1 FROM reac WHERE reac.caseid = demo.caseid AND pt = '{value}')"
    within(f"SELECT count(DISTINCT caseid) FROM demo WHERE {absent}", len(released) - len(holders))
    either = {case for case, terms in reacs.items() if terms & {"T1", "T2"}}
    within(
        "SELECT count(DISTINCT demo.caseid) FROM demo JOIN reac USING (primaryid, caseid) "
        "WHERE pt IN ('T1', 'T2')",
        len(either),
    )
    grouped = engine.query("SELECT pt, count(DISTINCT caseid) FROM reac GROUP BY pt",
                           quarter=quarter)  # fmt: skip
    for name, lower, _, upper, known in grouped.rows:
        truth = sum(name in map(term_key, terms) for terms in reacs.values())  # groups are of keys
        assert known <= lower <= truth <= upper
    with pytest.raises(SrsqlError, match="count cases or reports"):
        engine.query("SELECT count(*) FROM reac", quarter=quarter)
    counts = Counter(term_key(term) for terms in reacs.values() for term in set(terms))
    first_of_all = min(counts, key=lambda term: (-counts[term], str(term)))
    top = engine.query(
        "SELECT pt, count(DISTINCT caseid) AS n FROM reac GROUP BY pt ORDER BY n DESC LIMIT 1",
        quarter=quarter,
    )
    sure = [row[0] for row in top.rows if not top.has_certain or row[-1] == "certain"]
    assert sure in ([], [first_of_all])
    ages = {r.caseid: int(r.age) for r in series.raw[quarter] if r.age}
    own = [ages[case] for case in holders if case in ages]
    means = f"SELECT avg(age) AS m, count(DISTINCT caseid) AS n {first}"
    ((low, _, high, *_),) = engine.query(means, quarter=quarter, allow_unknown=True).rows
    assert not own or low <= sum(own) / len(own) <= high
    reported = [case for case, terms in reacs.items() if terms]
    shares = (
        f"SELECT count(DISTINCT demo.caseid) FILTER (WHERE pt = '{value}') / "
        "count(DISTINCT demo.caseid) FROM demo JOIN reac USING (primaryid, caseid)"
    )
    ((low, _, high, _),) = engine.query(shares, quarter=quarter, allow_unknown=True).rows
    assert not reported or low <= len(holders) / len(reported) <= high
    found = (
        engine.signals(
            drug="D1", reaction=value, quarter=quarter, released_only=True, allow_unknown=True
        )
        .signals[0]
        .released
    )
    on_drug = {case for case in released if "D1" in drugs[case]}
    table = {
        "a": len(on_drug & holders),
        "b": len(on_drug - holders),
        "c": len(holders - on_drug),
        "d": len(released - on_drug - holders),
    }
    for cell, truth in table.items():
        assert getattr(found, f"{cell}_lower") <= truth <= getattr(found, f"{cell}_upper"), cell
        assert getattr(found, f"{cell}_known") <= truth


@pytest.fixture
def engine() -> Iterator[Engine]:
    con = duckdb.connect()
    with Engine(con) as opened:
        yield opened
    con.close()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_suppressed_stays_so_whatever_becomes_of_the_series(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    model = ("ppms++", "ms", "ppms", "ppms++")[seed]
    series = Series({q: reports(rng, n, 40) for n, q in enumerate(QUARTERS, start=1)})
    for quarter, found in series.raw.items():
        engine.ingest([write_quarter(tmp_path, quarter, found)])
        try:
            engine.release(quarter, model=model, seed=seed, **OPTIONS)
        except NothingToReleaseError:
            continue
        look(engine, series, quarter)
        ask(engine, series, quarter, rng)
        every = "SELECT DISTINCT caseid FROM released.demo ORDER BY 1"
        out = [row["caseid"] for row in rows(engine.con, every)]
        if out and rng.random() < 0.7:
            leaver = rng.choice(out)
            engine.con.execute(
                "INSERT INTO srsql.deleted_case VALUES ('faers', ?, 1)", [str(leaver)]
            )
            for (other,) in engine.sql("SELECT quarter FROM srsql.release WHERE status = "
                                       "'released' ORDER BY 1"):  # fmt: skip
                series.raw[other] = [r for r in series.raw[other] if r.caseid != leaver]
                engine.correct(other)
                look(engine, series, other)
    assert series.gone
