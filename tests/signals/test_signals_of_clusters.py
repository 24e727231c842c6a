"""Signals of releases whose whole rows are taken apart: bounds, roles, artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.quarters import side_effects
from support.released import rows

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.errors import SignalError
from srsql.engine.shapes.item_means import mean_support

pytestmark = pytest.mark.thorough

QUARTER = "2011Q4"
DRUGS = [f"DRUG {n}" for n in range(5)]
REACTIONS = [f"REACTION {n}" for n in range(6)]
CELLS = "abcd"
PATIENTS = side_effects(3, DRUGS, REACTIONS)
APART = {"model": "ms", "k": 3, "theta": "2/3", "seed": 1, "terms": "disassociate"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("clusters")
    with Engine(copied(folder / "kept", folder / "w.duckdb", {QUARTER: PATIENTS})) as opened:
        opened.release(QUARTER, **APART, term_attributes="all")
        opened.release(
            QUARTER, **APART, term_attributes="drugname/role_cod,pt", term_cases=16, series="roles"
        )
        opened.release(QUARTER, **APART, term_attributes="pt", term_cases=16, series="bare")
        yield opened


@pytest.mark.parametrize(
    "asked",
    [{"strata": ["sex"]}, {"without_drug": "DRUG 1"}, {"without_indications": True}],
)
def test_what_only_rows_of_cases_tell_is_refused(engine: Engine, asked: dict[str, Any]) -> None:
    with pytest.raises(SignalError, match="told of clusters, and of no row of a case: leave --"):
        engine.signals(drug="DRUG 0", reaction="REACTION 0", quarter=QUARTER, **asked)


@pytest.mark.parametrize("series", ["main", "roles"])
@pytest.mark.parametrize("who", [{}, {"min_age": 30, "max_age": 60, "sex": "F"}])
def test_the_originals_are_within_the_bounds_of_every_pair(
    engine: Engine, series: str, who: dict[str, object]
) -> None:
    found = engine.signals(every_pair=True, series=series, **who)
    assert found.roles == (("PS", "SS") if series == "roles" else ())
    assert len(found.signals) > 3
    for signal in found.signals:
        assert signal.original is not None
        for cell in CELLS:
            low, high = (getattr(signal.released, f"{cell}_{end}") for end in ("lower", "upper"))
            assert low <= getattr(signal.original, f"{cell}_lower")
            assert getattr(signal.original, f"{cell}_upper") <= high
            assert low - 1e-9 <= getattr(signal.released, cell) <= high + 1e-9
            assert getattr(signal.released, f"{cell}_known") == low


def test_counts_of_two_items_have_the_upper_bound_of_their_pair(engine: Engine) -> None:
    """``srsql.term_counts`` and ``srsql.term_pairs`` find it in two ways, of every case."""
    pairs = engine.signals(every_pair=True, released_only=True).signals
    counts = engine.count_terms(
        QUARTER, [(f"drugname:{s.drug}", f"pt:{s.reaction}") for s in pairs]
    )
    assert [c.upper for c in counts] == [s.released.a_upper for s in pairs]
    (told,) = rows(engine.con, "FROM release_2011q4.manifest")
    assert told["item_cases"] == 2
    assert any(c.upper for c in counts)


def test_who_lacks_a_value_is_left_out_where_that_is_asked(engine: Engine) -> None:
    asked = {"drug": "DRUG 1", "reaction": "REACTION 2", "max_age": 200}
    (spread,) = engine.signals(**asked, released_only=True).signals
    (complete,) = engine.signals(**asked, released_only=True, missing="exclude").signals
    assert spread.released_complete == complete.released
    cases = [sum(getattr(s.released, f"{c}_upper") for c in CELLS) for s in (complete, spread)]
    assert cases[0] < cases[1]


def test_one_pair_is_measured_as_it_is_among_all(engine: Engine) -> None:
    every = engine.signals(every_pair=True, released_only=True)
    (one,) = engine.signals(drug="drug 0", reaction="Reaction 0", released_only=True).signals
    (same,) = [s for s in every.signals if (s.drug, s.reaction) == ("drug 0", "reaction 0")]
    assert one.released == same.released
    assert one.released.prr is not None
    assert one.released.prr > 1
    assert all(signal.released.a >= 3 for signal in every.signals)


def test_an_artifact_gives_the_answers_of_the_warehouse(engine: Engine, tmp_path: Path) -> None:
    engine.publish(QUARTER, to=tmp_path / "out", series="roles")
    with open_artifact(tmp_path / "out") as artifact:
        for options in ({"every_pair": True}, {"drug": "DRUG 1", "reaction": "REACTION 2"}):
            ours = engine.signals(**options, min_age=40, series="roles", released_only=True)
            theirs = artifact.signals(**options, min_age=40)
            assert tuple(theirs.signals) == tuple(ours.signals)
            assert theirs.priors == ours.priors


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"roles": ["PS"]}, "tells drugs without their roles: give --roles all"),
        ({"series": "bare"}, "tells none of drugname: signals need a series"),
        ({"drug": "DRUG 77"}, "no released case has the drug 'DRUG 77': did you mean"),
    ],
)
def test_what_clusters_do_not_tell_is_refused_in_one_line(
    engine: Engine, options: dict[str, object], text: str
) -> None:
    asked = {"drug": "DRUG 1", "reaction": "REACTION 2", "released_only": True} | options
    with pytest.raises(SignalError) as refused:
        engine.signals(**asked)
    assert text in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_item_stands_for_as_many_records_as_a_censored_power_law_says() -> None:
    supports = {j: round(1e6 * j**-1.5) for j in range(1, 31)}
    counted = {(j, 30): n for j, n in supports.items() if j >= 5}
    hidden = sum(n for j, n in supports.items() if j < 5)
    truth = sum(j * n for j, n in supports.items() if j < 5) / hidden
    assert mean_support(counted, {30: hidden}, 5) == pytest.approx(truth, rel=1e-3)
    assert mean_support(counted, {30: hidden}, 2) == 1
    assert mean_support({}, {30: hidden}, 5) == mean_support(counted, {}, 5) == 1
