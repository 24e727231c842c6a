"""Bounds where drugs or reactions are suppressed: against every original that fits what shows."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.signals import measures
from support.quarters import Report, write_quarter

from srsql.engine.api.analyst import open_artifact
from srsql.engine.api.engine import Engine
from srsql.engine.errors import SignalError

Q1, Q2 = "2011Q3", "2011Q4"
DRUGS, REACTIONS = ("DRUG A", "DRUG B", "DRUG C"), ("RASH", "PAIN", "COUGH")
SIDES = ("drugs", "reactions", "both")
DRUG, REACTION = '[[sensitive]]\ntable = "drug"', '[[sensitive]]\ntable = "reac"\ncolumn = "pt"\n'
MEETS = ("surely", "perhaps", "never")
shown = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from(MEETS)), max_size=5
)  # whether a row shows the drug, the reaction, and whether the case meets the condition
hidden_counts = st.tuples(st.integers(0, 3), st.integers(0, 3))


def some(of: list[int], most: int) -> Iterator[frozenset[int]]:
    for size in range(min(most, len(of)) + 1):
        yield from map(frozenset, combinations(of, size))


def originals(told: list[tuple[bool, bool, str]], hidden: tuple[int, int]) -> set[tuple[int, ...]]:
    """The tables of all originals: who has what is hidden, and who meets the condition."""
    numbers = range(len(told))
    found = set()
    perhaps = [n for n in numbers if told[n][2] == "perhaps"]
    for more_reactions, more_drugs, met in product(
        some([n for n in numbers if not told[n][1]], hidden[0]),
        some([n for n in numbers if not told[n][0]], hidden[1]),
        some(perhaps, len(perhaps)),
    ):
        cells = [0, 0, 0, 0]
        for n, (drug, reaction, meets) in enumerate(told):
            if meets == "surely" or n in met:
                drug, reaction = drug or n in more_drugs, reaction or n in more_reactions
                cells[2 * (not drug) + (not reaction)] += 1
        found.add(tuple(cells))
    return found


@REPEATABLE
@given(told=shown, hidden=hidden_counts)
def test_each_bound_of_a_cell_is_that_of_some_original_and_no_original_passes_it(
    sql: Any, told: list[tuple[bool, bool, str]], hidden: tuple[int, int]
) -> None:
    cells = {
        end: [
            sum(1 for d, r, meets in told if meets in counted and 2 * (not d) + (not r) == cell)
            for cell in range(4)
        ]
        for end, counted in (("lower", MEETS[:1]), ("upper", MEETS[:2]), ("known", MEETS[:1]))
    }
    columns = ", ".join(f"{x}_{end} BIGINT" for end in cells for x in "abcd")
    name = sql.table("shown", columns, [[n for counts in cells.values() for n in counts]])
    (found,) = sql.records(f"FROM srsql.with_suppressed({name}, {hidden[0]}, {hidden[1]})")
    tables = originals(told, hidden)
    for n, cell in enumerate("abcd"):
        assert found[f"{cell}_lower"] == min(table[n] for table in tables)
        assert found[f"{cell}_upper"] == max(table[n] for table in tables)
        assert found[f"{cell}_known"] == found[f"{cell}_lower"]


@REPEATABLE
@given(
    told=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=5),
    hidden=st.integers(0, 2),
    drugs=st.integers(0, 2),
)
def test_no_original_of_two_drugs_passes_the_bounds_of_a_cell(
    sql: Any, told: list[tuple[bool, bool, bool]], hidden: int, drugs: int
) -> None:
    sql.table(
        "weights", "case_id BIGINT, lower BIGINT, expected DECIMAL(18, 12), upper BIGINT",
        [(n, 1, 1, 1) for n in range(len(told))],
    )  # fmt: skip
    held = [(n, "PQ"[at]) for n, case in enumerate(told) for at in (0, 1) if case[at]]
    sql.table("drugs", "case_id BIGINT, drug VARCHAR", held)
    sql.table(
        "reactions",
        "case_id BIGINT, reaction VARCHAR",
        [(n, "X") for n, c in enumerate(told) if c[2]],
    )
    sql.table("triples", "drug VARCHAR, other VARCHAR, reaction VARCHAR", [("P", "Q", "X")])
    (row,) = sql.records(
        "FROM srsql.interaction_tables('temp.main.weights', 'temp.main.drugs', "
        f"'temp.main.reactions', 'temp.main.triples', {hidden}, {drugs})"
    )
    lacking = [[n for n, case in enumerate(told) if not case[at]] for at in range(3)]
    for more in product(*(some(lacking[at], m) for at, m in enumerate((drugs, drugs, hidden)))):
        counts = dict.fromkeys(product((1, 0), repeat=3), 0)
        for n, case in enumerate(told):
            counts[tuple(int(case[at] or n in more[at]) for at in range(3))] += 1
        for cell, count in counts.items():
            name = "n" + "".join(map(str, cell))
            assert row[f"{name}_lower"] <= count <= row[f"{name}_upper"], name


def reports(rng: random.Random, cases: range, version: int) -> list[Report]:
    """Everybody has a drug and a reaction of their own, and frequent ones, which they may lose."""
    return [
        Report(
            10 * n + version, n, age=str(rng.randint(20, 80)), sex=rng.choice("MF"), wt="70",
            pt=(f"Own {n}", *(r for r in REACTIONS if rng.random() < 0.6)),
            indi=(f"Ill {n}",),
            drugs=(f"Own drug {n}", *(d for d in DRUGS if rng.random() < 0.6)),
        )
        for n in cases
    ]  # fmt: skip


def dataset(folder: Path, side: str) -> Path:
    """FAERS whose sensitive values are indications and drugs, reactions, or both."""
    schemas = resources.files("srsql.schemas")
    for name in ("hierarchies", "knowledge"):
        with resources.as_file(schemas / name) as source:
            shutil.copytree(source, folder / name)
    text = (schemas / "faers.toml").read_text(encoding="utf-8")
    text = text.replace('name = "faers"', 'name = "own"', 1)
    if side != "reactions":
        text = text.replace('[[quasi_sensitive]]\ntable = "drug"', DRUG)
    if side == "drugs":
        assert REACTION in text
        text = text.replace(REACTION, REACTION.replace("sensitive", "quasi_sensitive"))
    file = folder / "own.toml"
    file.write_text(text)
    return file


@dataclass(frozen=True)
class House:
    engine: Engine
    file: Path
    side: str
    latest: dict[int, Report]
    quarters: dict[str, list[Report]]


@pytest.fixture(scope="module", params=SIDES)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two quarters of a dataset with suppressed values and nobody withheld."""
    folder = tmp_path_factory.mktemp(request.param)
    rng = random.Random(5)
    quarters = {Q1: reports(rng, range(1, 41), 1), Q2: reports(rng, range(30, 71), 2)}
    file = dataset(folder, request.param)
    with Engine(folder / "w.duckdb", dataset=file) as engine:
        for quarter, told in quarters.items():
            engine.ingest([write_quarter(folder, quarter, told)])
            made = engine.release(quarter, model="ms", k=3, theta="0.5", seed=1,
                                  on_infeasible="suppress", leftovers="suppress")  # fmt: skip
            assert made.manifest["withheld"] == {}
            assert len(made.manifest["suppressed"]) >= 3
        latest = {r.caseid: r for told in quarters.values() for r in told}
        yield House(engine, file, request.param, latest, quarters)


def table(told: list[Report], drug: str, reaction: str) -> list[int]:
    cells = [0, 0, 0, 0]
    for r in told:
        cells[2 * (drug not in r.drugs) + (reaction not in r.pt)] += 1
    return cells


def assert_holds(released: Any, cells: list[int]) -> int:
    """That no cell passes its bounds; how many cells differ from what is shown."""
    for cell, count in zip("abcd", cells, strict=True):
        assert getattr(released, f"{cell}_lower") <= count <= getattr(released, f"{cell}_upper")
        assert getattr(released, f"{cell}_known") <= count
    own = measures(*map(float, cells))
    for name, verdict in (
        ("prr_low", released.signal_prr), ("ror_low", released.signal_ror)
    ):  # fmt: skip
        truth = (own[name] or 0) > 1
        assert verdict in ("undecided", "holds" if truth else "does not")
    return sum(getattr(released, x) != count for x, count in zip("abcd", cells, strict=True))


@pytest.mark.thorough
def test_bounds_of_every_pair_hold_what_the_originals_have(house: House) -> None:
    wrong = 0
    for drug, reaction in product(DRUGS, REACTIONS):
        found = house.engine.signals(drug=drug, reaction=reaction, strata=["sex"])
        assert (found.suppressed > 0) == (house.side != "drugs")
        assert (found.suppressed_drugs > 0) == (house.side != "reactions")
        (signal,) = found.signals
        cells = table([*house.latest.values()], drug, reaction)
        assert signal.original is not None
        assert [getattr(signal.original, x) for x in "abcd"] == cells
        wrong += assert_holds(signal.released, cells)
        parted, own = signal.released_stratified, signal.original_stratified
        assert parted is not None
        assert own is not None
        assert parted.n_lower <= own.n <= parted.n_upper
        assert parted.e_lower - 1e-9 <= own.e <= parted.e_upper + 1e-9
        for name in ("prr", "ror"):
            value = getattr(own, name)
            low, high = (getattr(parted, f"{name}_{end}") for end in ("lower", "upper"))
            assert low is None or low <= value + 1e-9
            assert high is None or value <= high + 1e-9
        assert own.signal_prr == parted.signal_prr or parted.signal_prr == "undecided"
    assert wrong > 9


@pytest.mark.thorough
def test_conditions_on_regions_and_suppressed_values_widen_bounds_together(house: House) -> None:
    for drug, reaction in product(DRUGS, REACTIONS):
        (signal,) = house.engine.signals(
            drug=drug, reaction=reaction, min_age=35, sex="F", released_only=True
        ).signals
        met = [r for r in house.latest.values() if int(r.age) >= 35 and r.sex == "F"]
        assert_holds(signal.released, table(met, drug, reaction))


@pytest.mark.thorough
def test_a_trend_holds_the_originals_of_each_period_and_of_all_up_to_it(house: House) -> None:
    found = house.engine.trend("Drug A", "Rash")
    assert (found.counted.suppressed_drugs > 0) == (house.side != "reactions")
    states = {
        ("period", Q1): house.quarters[Q1],
        ("period", Q2): house.quarters[Q2],
        ("cumulative", Q1): house.quarters[Q1],
        ("cumulative", Q2): [*house.latest.values()],
    }
    assert [(point.span, point.period) for point in found.points] == [*states]
    for point in found.points:
        assert_holds(point.released, table(states[point.span, point.period], "DRUG A", "RASH"))


@pytest.mark.thorough
def test_an_interaction_holds_the_originals(house: House) -> None:
    original, released = house.engine.interaction("Drug A", "Drug B", "Rash").measures
    moved = 0
    for name in (f"n{i}{j}{k}" for i in "10" for j in "10" for k in "10"):
        count = getattr(original, name)
        assert getattr(released, f"{name}_lower") <= count <= getattr(released, f"{name}_upper")
        moved += getattr(released, name) != count
    assert moved
    for name in ("e111", "omega"):
        low, high = (getattr(released, f"{name}_{end}") for end in ("lower", "upper"))
        assert low <= getattr(original, name) <= high


@pytest.mark.thorough
def test_an_artifact_has_the_bounds_of_the_warehouse_and_counts_hold_the_truth(
    house: House, tmp_path: Path
) -> None:
    folders = [tmp_path / quarter for quarter in house.quarters]
    for quarter, folder in zip(house.quarters, folders, strict=True):
        house.engine.publish(quarter, folder)
    asked: dict[str, Any] = {"drug": "drug a", "reaction": "rash"}
    own = house.engine.signals(**asked, released_only=True)
    with open_artifact(*folders, dataset=house.file) as artifact:
        seen = artifact.signals(**asked)
        assert seen.signals == own.signals
        assert seen.suppressed_drugs == own.suppressed_drugs
        assert seen.remarks == own.remarks
        assert "which no artifact can show" in seen.remarks[0]
        assert (
            artifact.trend(**asked).points == house.engine.trend(**asked, released_only=True).points
        )
        told = house.quarters[Q2]
        by_drug = artifact.query(
            "SELECT upper(drugname), COUNT(DISTINCT caseid) FROM drug GROUP BY upper(drugname)",
            quarter=Q2,
        )
        both = artifact.query(
            "SELECT COUNT(DISTINCT d.caseid) FROM drug d JOIN reac r USING (caseid) "
            "WHERE upper(d.drugname) = 'DRUG A' AND upper(r.pt) = 'RASH'",
            quarter=Q2,
        )
    counts = {name: (lower, upper) for name, lower, _, upper, _ in by_drug.rows}
    for drug in DRUGS:
        lower, upper = counts[drug]
        assert lower <= sum(drug in r.drugs for r in told) <= upper
    ((lower, _, upper, _),) = both.rows
    assert lower <= table(told, "DRUG A", "RASH")[0] <= upper


@pytest.mark.thorough
def test_whose_drug_or_reaction_is_hidden_cannot_be_left_out(house: House, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"drug": "Drug A", "reaction": "Rash"}
    left: dict[str, dict[str, Any]] = {
        "drugs": {"without_drug": "Drug B"}, "reactions": {"without_reaction": "Pain"},
    }  # fmt: skip
    for what, option in left.items():
        if house.side in (what, "both"):
            with pytest.raises(SignalError, match=f"have {what} that no row shows"):
                house.engine.signals(**asked, **option)
        else:
            (signal,) = house.engine.signals(**asked, **option).signals
            name = next(iter(option.values())).upper()
            rest = [r for r in house.latest.values() if name not in (*r.drugs, *r.pt)]
            assert_holds(signal.released, table(rest, "DRUG A", "RASH"))
