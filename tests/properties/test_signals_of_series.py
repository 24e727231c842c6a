"""Signals of random released series lie around the truth, and analysts need no raw table."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from oracles.signals import Case, Condition, contingency, measures
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import SignalError
from srsql.engine.signals.results import Measures

pytestmark = pytest.mark.thorough

DRUGS, REACTIONS = ("Drug A", "Drug B", "Drug C"), ("Pain", "Rash", "Cough", "Fever")
ROLES = ("PS", "SS", "C", "I")
DOMAIN = {0: (0, 120), 2: (0, 1)}
SEX = {"M": (0, 0), "F": (1, 1)}


def quarter(rng: random.Random, cases: range, version: int) -> list[Report]:
    found = []
    for case in cases:
        ages = [rng.choice(["", str(rng.randint(10, 70))])] * 2
        if rng.random() < 0.1:
            ages[1] = str(rng.randint(10, 70))
        for number in range(rng.choice([1, 1, 2])):
            found.append(
                Report(
                    100 * case + 10 * version + number,
                    case,
                    age=ages[number],
                    sex=rng.choice(["M", "F", ""]),
                    wt="70",
                    pt=tuple(f" {r.lower()} " for r in REACTIONS if rng.random() < 0.3),
                    drugs=tuple(d for d in DRUGS if rng.random() < 0.5),
                    roles=tuple(rng.choices(ROLES, [4, 2, 1, 1], k=len(DRUGS))),
                )
            )
    return found


def truth(quarters: list[list[Report]], roles: tuple[str, ...] = ("PS", "SS")) -> list[Case]:
    """Each case as its latest quarter tells, in the oracle's shape; drugs of these roles alone."""
    latest = {report.caseid: n for n, reports in enumerate(quarters) for report in reports}
    found = []
    for case, n in latest.items():
        own = [report for report in quarters[n] if report.caseid == case]
        ages = [int(report.age) for report in own if report.age]
        sexes = [SEX[report.sex][0] for report in own if report.sex]
        found.append(
            Case(
                frozenset(
                    drug.lower()
                    for report in own
                    for drug, role in zip(report.drugs, report.roles, strict=False)
                    if role in roles
                ),
                frozenset(r.strip().lower() for report in own for r in report.pt),
                {
                    0: (min(ages), max(ages)) if ages else None,
                    2: (min(sexes), max(sexes)) if sexes else None,
                },
            )
        )
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_lies_between_the_released_bounds_and_without_conditions_nothing_is_biased(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    quarters = [quarter(rng, range(1, 50), 1), quarter(rng, range(25, 80), 2)]
    model, low, high = rng.choice(["ppms++", "ms"]), rng.randint(15, 40), rng.randint(41, 60)
    sex = rng.choice(["M", "F"])
    asked = {0: Condition((low, high), DOMAIN[0]), 2: Condition(SEX[sex], DOMAIN[2])}
    with Engine(tmp_path / "w.duckdb") as engine:
        for label, reports in zip(("2011Q1", "2011Q2"), quarters, strict=True):
            engine.ingest([write_quarter(tmp_path, label, reports)])
            engine.release(label, model=model, k=3, theta="1", seed=seed, leftovers="merge")
        withheld = engine.sql("SELECT count(*) FROM srsql.withheld AS w")
        assert withheld == [(0,)]
        cases = truth(quarters)
        left_out = engine.signals(
            every_pair=True, min_age=low, max_age=high, sex=sex, missing="exclude"
        )
        plain = engine.signals(every_pair=True)
        strict = engine.signals(every_pair=True, min_age=low, max_age=high, sex=sex)
        beside = engine.signals(drug="Drug A", reaction="pain", roles=["C", "i"])
        nobody = engine.signals(drug="Drug A", reaction="pain", roles=["X"])
        one = engine.signals(drug="DRUG a", reaction="Pain", quarter="2011Q1")
        public = [
            engine.signals(drug="drug A", reaction="PAIN", released_only=only, max_age=high)
            for only in (False, True)
        ]
    assert plain.signals
    for signal in plain.signals:
        table = contingency(cases, signal.drug, signal.reaction, {})
        assert signal.original == signal.released
        assert {cell: getattr(signal.released, cell) for cell in "abcd"} == {
            cell: counts[1] for cell, counts in table.items()
        }
        numbers = [float(table[cell][1]) for cell in "abcd"]
        assert signal.released.prr == pytest.approx(measures(*numbers)["prr"])
    # 12 pairs are too few for a prior
    assert [row.measure for row in plain.quantiles if not row.pairs] == ["ebgm_bias"]
    for row in filter(lambda row: row.pairs, plain.quantiles):
        assert row.least == row.most == (1 if row.measure.endswith("bias") else 0)
    for signal in strict.signals:
        table = contingency(cases, signal.drug, signal.reaction, asked)
        assert signal.original is not None
        for cell, (lower, expected, upper) in table.items():
            assert bounds(signal.original, cell) == (lower, upper)
            assert getattr(signal.original, cell) == pytest.approx(float(expected), abs=1e-6)
            least, most = bounds(signal.released, cell)
            assert least <= lower <= upper <= most
            assert least <= getattr(signal.released, cell) <= most + 1e-6
    whole = [c for c in cases if c.boxes[0] and c.boxes[2]]
    for signal in left_out.signals:
        # the table of who has both values, as the usual tools count it
        table = contingency(whole, signal.drug, signal.reaction, asked)
        assert signal.original is not None
        assert table["a"][0] >= 3
        for cell, (lower, expected, upper) in table.items():
            assert bounds(signal.original, cell) == (lower, upper)
            assert getattr(signal.original, f"{cell}_known") == lower
            assert getattr(signal.original, cell) == pytest.approx(float(expected), abs=1e-6)
        if all(bounds(signal.original, cell)[0] == bounds(signal.original, cell)[1]
               for cell in "abcd"):  # fmt: skip
            numbers = [float(table[cell][1]) for cell in "abcd"]
            for name, value in measures(*numbers).items():
                assert getattr(signal.original, name) == (
                    None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
                )
    assert (nobody.signals[0].released.a, nobody.signals[0].released.b) == (0, 0)
    other = contingency(truth(quarters, ("C", "I")), "DRUG A", "PAIN", {})
    assert {cell: getattr(beside.signals[0].released, cell) for cell in "abcd"} == {
        cell: counts[1] for cell, counts in other.items()
    }
    first = contingency(truth(quarters[:1]), "DRUG A", "PAIN", {})
    assert one.signals[0].released.a == first["a"][0]
    assert public[1].signals[0].released == public[0].signals[0].released
    assert public[1].signals[0].original is None


def bounds(measured: Measures, cell: str) -> tuple[int, int]:
    return getattr(measured, f"{cell}_lower"), getattr(measured, f"{cell}_upper")


def test_what_analysts_run_reads_no_raw_table(tmp_path: Path) -> None:
    rng = random.Random(7)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q1", quarter(rng, range(40), 1))])
        engine.release("2011Q1", k=3, theta="1", seed=1, leftovers="merge", series="partners")
        engine.con.execute("DROP SCHEMA raw_faers CASCADE")
        for table in ("case_qid", "case_term", "member", "withheld"):
            engine.con.execute(f"DELETE FROM srsql.{table}")
        found = engine.signals(
            every_pair=True, min_age=20, sex="F", released_only=True, series="partners"
        )
        (one,) = engine.signals(
            drug="drug a", reaction="PAIN", min_age=20, released_only=True, series="partners"
        ).signals
        with pytest.raises(SignalError, match=r"no released case .* did you mean 'DRUG A'"):
            engine.signals(drug="drog a", reaction="PAIN", released_only=True, series="partners")
    assert one.released_complete is not None
    assert one.original_complete is None
    assert found.signals
    assert all(s.original is None and s.bias is None for s in found.signals)
    assert found.quantiles == ()
