"""Strata, masking and presets of `srsql signals`, from a warehouse and from an artifact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oracles.signals import Case as Counted
from oracles.signals import contingency, measures
from oracles.strata import Table, mantel_haenszel
from support.quarters import Report, crowd, write_quarter

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.console import Table as ShownTable
from srsql.engine.console.measures import signal_lines, signal_table, signals_parts
from srsql.engine.errors import SignalError

pytestmark = pytest.mark.slow

PAIR: dict[str, Any] = {"drug": "Drug 1", "reaction": "Reaction 01"}
BANDS = {"strata": ["sex", "age"], "age_bands": ["40", "60"]}


def reported() -> list[Report]:
    """Every seventh without an age, every fourth with another drug."""
    return [
        replace(r, age="" if n % 7 == 0 else r.age, drugs=("Drug 1", "Drug 2") if n % 4 == 0 else
                r.drugs) for n, r in enumerate(crowd(80, terms=3))
    ]  # fmt: skip


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("parted")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", reported())])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        yield engine


def table_of(reports: list[Report], **without: str) -> Table:
    cells = [0, 0, 0, 0]
    for r in reports:
        if without.get("drug") in r.drugs or without.get("reaction") in r.pt:
            continue
        cells[2 * (PAIR["drug"] not in r.drugs) + (PAIR["reaction"] not in r.pt)] += 1
    a, b, c, d = cells
    return a, b, c, d


def test_originals_with_every_value_have_the_measures_of_the_strata(house: Engine) -> None:
    (found,) = house.signals(**PAIR, **BANDS, missing="exclude").signals
    own = found.original_stratified
    assert own is not None
    strata: dict[tuple[str, int], list[Report]] = {}
    known = [r for r in reported() if r.age and r.sex in ("M", "F")]
    for r in known:
        strata.setdefault((r.sex, (int(r.age) >= 40) + (int(r.age) >= 60)), []).append(r)
    assert own.strata == len(strata) > 2
    expected = mantel_haenszel([table_of(each) for each in strata.values()])
    for name, value in expected.items():
        assert getattr(own, name) == (None if value is None else pytest.approx(value)), name
    for name in ("n", "e", "prr"):
        ends = {getattr(own, f"{name}_{end}") for end in ("known", "lower", "upper")}
        assert all(end == pytest.approx(getattr(own, name)) for end in ends)
    # the crude table is of the same cases
    assert found.original is not None
    crude = found.original
    assert (crude.a, crude.b, crude.c, crude.d) == table_of(known)


def test_released_bounds_hold_what_the_originals_have(house: Engine) -> None:
    for missing in ("exclude", "spread"):
        found = house.signals(every_pair=True, **BANDS, missing=missing)
        assert len(found.signals) > 5
        shown = 0
        for signal in found.signals:
            own, told = signal.original_stratified, signal.released_stratified
            assert own is not None
            assert told is not None
            for name in ("n", "e", "prr", "ror"):
                value = getattr(own, name)
                lower, upper = (getattr(told, f"{name}_{end}") for end in ("lower", "upper"))
                if value is not None:
                    assert lower <= value * (1 + 1e-9)
                    assert upper is None or value <= upper * (1 + 1e-9)
                    shown += upper is not None and lower < upper
        assert shown > 5


def test_period_is_a_stratum_of_its_own(house: Engine) -> None:
    one = house.signals(**PAIR, strata=["period"]).signals[0]
    assert one.released_stratified is not None
    assert one.released_stratified.strata == 1
    assert one.released_stratified.prr == pytest.approx(one.released.prr)
    assert one.released_stratified.prr_low == pytest.approx(one.released.prr_low)


def test_a_dominant_drug_or_reaction_leaves_with_its_cases(house: Engine) -> None:
    masked = sum("Drug 2" in r.drugs for r in reported())
    for asked, without in (
        ({"without_drug": "drug 2"}, {"drug": "Drug 2"}),
        ({"without_reaction": " reaction 02"}, {"reaction": "Reaction 02"}),
    ):
        found = house.signals(**PAIR, **asked)  # type: ignore[arg-type]
        own = found.signals[0].original
        assert own is not None
        cells = table_of(reported(), **without)
        assert (own.a, own.b, own.c, own.d) == cells
        expected = measures(*cells)["prr"]
        assert own.prr == (None if expected is None else pytest.approx(expected))
        if "drug" in without:
            assert found.masked == masked
            assert found.without == ("drug drug 2",)
            assert any("without the cases that have the drug drug 2" in line
                       for line in signal_lines(found))  # fmt: skip
    with pytest.raises(SignalError, match="no case has the drug 'Drug 22'"):
        house.signals(**PAIR, without_drug="Drug 22")
    with pytest.raises(SignalError, match="is left out"):
        house.signals(**PAIR, without_drug="drug 1 ")


@pytest.mark.thorough
def test_presets_say_which_roles_count_and_what_is_left_out(house: Engine) -> None:
    assert house.signals(**PAIR, preset="suspects").roles == ("PS", "SS")
    assert house.signals(**PAIR, preset="primary").roles == ("PS",)
    usual = house.signals(**PAIR, preset="usual")
    assert (usual.missing, usual.without_indications) == ("exclude", True)
    with pytest.raises(SignalError, match="leave --roles out"):
        house.signals(**PAIR, preset="usual", roles=["PS"])


@pytest.mark.thorough
def test_a_reaction_that_is_an_indication_of_the_case_is_none(tmp_path: Path) -> None:
    reports = [
        replace(r, indi=("Reaction 01",) if n % 3 == 0 else r.indi)
        for n, r in enumerate(crowd(60, terms=3))
    ]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        (kept,) = engine.signals(**PAIR).signals
        (found,) = engine.signals(**PAIR, without_indications=True).signals
    cases = [
        Counted(
            frozenset(r.drugs),
            frozenset(name for name in r.pt if name not in r.indi),
            {},
        )
        for r in reports
    ]
    table = contingency(cases, PAIR["drug"], PAIR["reaction"], {})
    assert found.original is not None
    assert kept.original is not None
    for cell, (lower, _, _) in table.items():
        assert getattr(found.original, cell) == getattr(found.released, cell) == lower
    assert found.original.a < kept.original.a


@pytest.mark.thorough
def test_an_artifact_gives_the_answers_of_the_warehouse(house: Engine, tmp_path: Path) -> None:
    house.publish("2011Q4", tmp_path / "out")
    asked: dict[str, Any] = {
        **PAIR, **BANDS, "preset": "usual", "without_reaction": "Reaction 02",
    }  # fmt: skip
    own = house.signals(**asked, released_only=True)
    with open_artifact(tmp_path / "out") as artifact:
        told = artifact.signals(**asked)
    assert told.signals == own.signals
    assert told.masked == own.masked > 0


def test_strata_are_told_in_a_table_of_their_own_and_in_columns(house: Engine) -> None:
    found = house.signals(**PAIR, **BANDS)
    header, original, released = signal_table(found)
    place = header.index("stratified_prr")
    own = found.signals[0]
    assert own.original_stratified is not None
    assert own.released_stratified is not None
    assert (original[place], released[place]) == (
        own.original_stratified.prr, own.released_stratified.prr,
    )  # fmt: skip
    titles = [part.title for part in signals_parts(found) if isinstance(part, ShownTable)]
    assert titles[-1] == "over strata of sex, age"
    plain = house.signals(**PAIR)
    assert "stratified_prr" not in next(iter(signal_table(plain)))
    assert plain.signals[0].released_stratified is None
