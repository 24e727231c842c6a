"""Every public macro says what the engine says, of releases that hide values of cases in one of the
three ways: suppressed, taken apart into clusters, told as counts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.bare import answers
from support.quarters import Report, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.store.definitions import described

pytestmark = pytest.mark.slow

Q1, Q2 = "2011Q1", "2011Q2"
DRUGS, REACTIONS = ("Drug A", "Drug B"), ("Rash", "Cough", "Itch")
USUAL: dict[str, Any] = {"k": 3, "theta": "0.6", "seed": 1, "allow_linkable": True}
MEASURES = ("prr", "prr_low", "prr_high", "ror", "ror_low", "ror_high", "ic", "chi2")
ENDS = tuple(f"{cell}_{end}" for cell in "abcd" for end in ("lower", "upper"))
OWN = (
    "CREATE TEMP VIEW own_case AS SELECT caseid AS case_id, "
    "unnest(srsql.meets(age_low, age_high, 50, 120, 0, 120)) "
    "FROM released.demo SEMI JOIN released.case_latest USING (caseid, quarter)"
)


def reports(rng: random.Random, cases: range, version: int) -> list[Report]:
    """Everybody has an indication of their own, and frequent drugs and reactions."""
    return [
        Report(
            10 * n + version, n, age=str(rng.randint(20, 80)), sex=rng.choice("MF"), wt="70",
            pt=(f"Own {n}", *(r for r in REACTIONS if rng.random() < 0.5)),
            indi=(f"Ill {n % 4}",),
            drugs=tuple(d for d in DRUGS if rng.random() < 0.6) or ("Drug C",),
        )
        for n in cases
    ]  # fmt: skip


KINDS: dict[str, dict[str, Any]] = {
    "suppressed": {"theta": "0.4", "on_infeasible": "suppress", "leftovers": "suppress"},
    "clusters": {"theta": "1", "model": "ms", "terms": "disassociate", "term_attributes": "all"},
    "counts": {"theta": "1", "terms": "tables"},
    "noise": {"model": "ppms-dp-all", "epsilon": "1", "on_infeasible": "withhold"},
}


@dataclass(frozen=True)
class House:
    engine: Engine
    db: Path
    kind: str

    def bare(self, *calls: str) -> list[Any]:
        """What a client without srsql answers."""
        return answers(self.db, calls)


@pytest.fixture(scope="module", params=KINDS)
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp(request.param)
    rng = random.Random(5)
    quarters = {Q1: reports(rng, range(1, 61), 1), Q2: reports(rng, range(41, 101), 2)}
    with Engine(folder / "w.duckdb") as engine:
        for quarter, told in quarters.items():
            engine.ingest([write_quarter(folder, quarter, told)])
            engine.release.make(quarter, **USUAL | KINDS[request.param])
    with Engine(folder / "w.duckdb", read_only=True) as engine:
        yield House(engine, folder / "w.duckdb", request.param)


def cells(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    return {row["cell"]: (row["lower"], row["upper"]) for row in rows}


def same_pair(row: dict[str, Any], due: Any) -> None:
    """Cells, bounds and measures are those of the engine."""
    assert {name: row[name] for name in ENDS} == {name: getattr(due, name) for name in ENDS}
    for name in MEASURES:
        assert row[name] == pytest.approx(getattr(due, name)), name


def test_signals_of_every_pair_are_the_engines_with_the_widest_of_its_bounds(house: House) -> None:
    if house.kind == "clusters":
        (told,) = house.bare("FROM srsql.signals('Drug A', 'Rash')")
        assert "no rows that tell drugs and reactions" in told
        assert "use srsql signals" in told
        return
    for period in (None, Q1, Q2) if house.kind != "counts" else (Q1, Q2):
        named = f", period := '{period}'" if period else ""
        pairs = [(drug, reaction) for drug in DRUGS for reaction in REACTIONS]
        asked = [f"FROM srsql.signals('{d}', '{r}'{named})" for d, r in pairs]
        shown = [f"FROM srsql.pair('{d}', '{r}'{named})" for d, r in pairs]
        *found, every = house.bare(*asked, *shown, f"FROM srsql.signals_all(3{named})")
        hidden = 0
        for (drug, reaction), (row,), pair in zip(
            pairs, found[: len(pairs)], found[len(pairs) :], strict=True
        ):
            answer = house.engine.signals.find(
                drug=drug,
                reaction=reaction,
                quarter=period,
                released_only=True,
                allow_unknown=True,
            )
            due = answer.signals[0].released
            same_pair(row, due)
            assert cells(pair) == {c: (row[f"{c}_lower"], row[f"{c}_upper"]) for c in "abcd"}
            hidden += answer.suppressed
        assert (hidden > 0) == (house.kind == "suppressed")
        answer = house.engine.signals.find(every_pair=True, quarter=period, released_only=True)
        due = {(s.drug, s.reaction): s.released for s in answer.signals}
        assert {(row["drug"], row["reaction"]) for row in every} == set(due)
        for row in every:
            same_pair(row, due[row["drug"], row["reaction"]])


def test_a_view_of_the_readers_own_widens_bounds_as_much(house: House) -> None:
    if house.kind in ("noise", "clusters"):  # no bounds of drawn values; no case that is followed
        return
    named = ", period := '2011Q1'" if house.kind == "counts" else ""
    _, told = house.bare(OWN, f"FROM srsql.signals('Drug A', 'Rash', cases := 'own_case'{named})")
    if house.kind != "suppressed":
        assert "told as counts" in told
        return
    due = house.engine.signals.find(
        drug="Drug A", reaction="Rash", min_age=50, released_only=True
    ).signals[0].released  # fmt: skip
    (row,) = told
    same_pair(row, due)


def test_counts_of_several_periods_need_one(house: House) -> None:
    if house.kind == "counts":
        (told,) = house.bare("FROM srsql.signals('Drug A', 'Rash')")
        assert "counts of several periods are of different cases: give period := '2011Q2'" in told


def test_verdicts_attacks_and_measures_are_the_engines_or_are_refused(house: House) -> None:
    audit, danger, metrics, series = house.bare(
        "FROM srsql.audit()", "FROM srsql.danger()", "FROM srsql.metrics()", "FROM srsql.series()"
    )
    due = house.engine.audit.run(attacks=None)
    names = ("release_id", "scope", "safe", "groups", "dig", "dsg")
    assert [tuple(row[name] for name in names) for row in audit] == [
        tuple(getattr(row, name) for name in names) for row in due.releases
    ]
    assert {(r["period"], r["scope"]) for r in danger} == {
        (r.quarter, r.scope) for r in due.releases
    }
    assert [(r["period"], r["cases"] > 0) for r in series] == [(Q1, True), (Q2, True)]
    for period in (Q1, Q2):
        kept = {(m.measure, m.scope): m.ratio for m in house.engine.audit.metrics(period)}
        shown = [row for row in metrics if row["period"] == period]
        assert [r for r in shown if r["agrees"] is False] == []
        both = [r for r in shown if (r["measure"], r["scope"]) in kept]
        assert {r["measure"] for r in both if r["agrees"]} >= {"withheld", "group_size"}
        for row in both:
            assert row["kept_ratio"] == pytest.approx(kept[row["measure"], row["scope"]])
    qid = {"age": 41, "sex": "f"}
    steps, cases = house.bare(
        f"FROM srsql.attack('{Q1}', {qid})", f"FROM srsql.candidates('{Q1}', {qid})"
    )
    found = house.engine.audit.attack(Q1, {"age": "41", "sex": "f"})
    assert [r["case_id"] for r in cases] == [c.case_id for c in found.candidates]
    assert [(r["name"], r["cases"]) for r in steps if r["step"] == "inferred"] == [
        (i.term, i.holders) for i in found.inferences
    ]


def test_every_public_macro_is_held_against_the_engine() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    public = {each.name for each in described() if each.public and each.is_macro}
    assert {name for name in public if f"srsql.{name}(" not in text} == {"help", "meets_node"}
