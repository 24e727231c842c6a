"""Measures over strata from told counts: those of the printed formulas where every stratum is told,
bounds around the truth else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from oracles.count_tables import NOTHING, Counts, Key, Maker, Node
from oracles.strata import Table, mantel_haenszel
from signals.test_count_table_signals import ITEMS, RULES, TREE, known, publish, world
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import SignalError
from srsql.engine.extras.synth import quarter_range, synthesize

PARTS: tuple[dict[int, tuple[Node, ...]], ...] = (
    {1: ("F65", "F0"), 2: ("M", "U")},
    {1: ("F65", "F0"), 2: ("M",), 3: ("U",)},
    {1: ("F65",), 2: ("F0", "M", "U")},
)
CELLS = ("a", "b", "c", "d")


def table_of(counts: Counts, leaves: tuple[Node, ...], drug: Any, reaction: Any) -> Table:
    """The true 2 x 2 table of some leaves."""

    def of(key: Key) -> int:
        return sum(counts.of(leaf, key) for leaf in leaves)

    both, one, other = (of(frozenset(i)) for i in ((drug, reaction), (drug,), (reaction,)))
    return both, one - both, other - both, of(NOTHING) - one - other + both


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(8))
def test_tables_of_strata_are_exact_where_told_and_bounded_else(
    sql: Any, seed: int, part: dict[int, tuple[Node, ...]]
) -> None:
    units = world(seed)
    maker = Maker(units, TREE, RULES)
    told, counts = maker.tell(), Counts(units, TREE)
    publish(sql, told)
    weights = [
        (
            number,
            node,
            set(TREE.leaves(node)) <= set(leaves),
            bool({*TREE.leaves(node)} & {*leaves}),
        )
        for number, leaves in part.items()
        for node in TREE.nodes()
    ]
    cells: list[tuple[Any, ...]] = []
    for key, found in told.items():
        named = {item[0]: item[1] for item in key}
        if set(named) <= {"drug", "reac"}:
            cells += [(named.get("drug"), named.get("reac"), n, c) for n, c in found.items() if c]
    pairs = [(d[1], r[1]) for d in ITEMS[:2] for r in ITEMS[2:4]]
    asked = ", ".join(
        [
            sql.table(
                "cell", "drug VARCHAR, reaction VARCHAR, stratum VARCHAR, cases BIGINT", cells
            ),
            sql.table(
                "weight", "stratum INTEGER, node VARCHAR, surely BOOLEAN, maybe BOOLEAN", weights
            ),
            sql.table("pair", "drug VARCHAR, reaction VARCHAR", pairs),
        ]
    )
    found = sql.records(f"SELECT * FROM srsql.count_contingency_by_stratum({asked})")
    assert len(found) == len(pairs) * len(part)
    for row in found:
        drug, reaction = ("drug", row["drug"]), ("reac", row["reaction"])
        leaves = part[row["stratum"]]
        truth = table_of(counts, leaves, drug, reaction)
        for name, value in zip(CELLS, truth, strict=True):
            assert row[f"{name}_lower"] <= value <= row[f"{name}_upper"], (row, truth)
        keys = [frozenset(i) for i in ((), (drug,), (reaction,), (drug, reaction))]
        if all(known(told, leaf, key) for leaf in leaves for key in keys):
            assert tuple(row[name] for name in CELLS) == truth
            assert all(row[f"{name}_lower"] == row[f"{name}_upper"] for name in CELLS)


Q1 = "2011Q1"


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("strata")
    synthesize(folder / "raw", quarter_range(Q1, Q1), cases=1_500, seed=3)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
        engine.release.make(Q1, model="ppms++", k=3, theta="0.4", terms="tables", seed=1)
        yield engine


def holders(engine: Engine) -> list[tuple[dict[str, Any], set[str], set[str]]]:
    """Of each released case its region, its suspect drugs and its reactions, from raw rows."""
    original = {
        str(pseudonym): str(case)
        for case, pseudonym in engine.sql("SELECT case_id, pseudonym FROM srsql.id_pseudonym")
    }
    held: dict[str, tuple[set[str], set[str]]] = {}
    for place, (source, name, more) in enumerate(
        (
            ("drug", "drugname", "AND upper(trim(role_cod)) IN ('PS', 'SS')"),
            ("reac", "pt", ""),
        )
    ):
        for case, term in engine.sql(
            f"SELECT DISTINCT d.caseid::VARCHAR, t.srsql_{name} FROM raw_faers.{source} AS t "
            "INNER JOIN raw_faers.demo AS d USING (primaryid, quarter) "
            f"WHERE quarter = '{Q1}' AND t.srsql_{name} IS NOT NULL {more}"
        ):
            held.setdefault(str(case), (set(), set()))[place].add(term)
    shown = rows(engine.con, f"SELECT * FROM release_{Q1.lower()}.demo")
    return [(row, *held.get(original[str(row["caseid"])], (set(), set()))) for row in shown]


def sex(row: dict[str, Any]) -> str:
    return row["sex"] if row["sex"] in ("F", "M") else "other"


def age(row: dict[str, Any]) -> str:
    low, high = row["age_low"], row["age_high"]
    if low is None:
        return "other"
    return "old" if low >= 65 else "young" if high < 18 else (
        "grown" if low >= 18 and high < 65 else "other"
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("by", [("sex",), ("age",), ("sex", "age")])
def test_measures_over_told_strata_are_those_of_the_formulas(
    released: Engine, by: tuple[str, ...]
) -> None:
    cases = holders(released)
    place = {"sex": sex, "age": age}
    found = released.signals.find(
        every_pair=True, quarter=Q1, released_only=True, strata=list(by)
    ).signals
    assert len(found) > 20
    exact = 0
    for signal in found:
        tables: dict[tuple[str, ...], list[int]] = {}
        for row, drugs, reactions in cases:
            cell = 2 * (signal.drug not in drugs) + (signal.reaction not in reactions)
            at = tuple(place[name](row) for name in by)
            tables.setdefault(at, [0, 0, 0, 0])[cell] += 1
        truth = mantel_haenszel([(a, b, c, d) for a, b, c, d in tables.values()])
        own = signal.released_stratified
        assert own is not None
        assert own.n_lower <= (truth["n"] or 0) <= own.n_upper
        for name in ("prr", "ror"):
            value, lower, upper = (
                truth[name],
                getattr(own, f"{name}_lower"),
                getattr(own, f"{name}_upper"),
            )
            if value is not None:
                assert lower is None or lower <= value * (1 + 1e-9)
                assert upper is None or value <= upper * (1 + 1e-9)
            verdict = getattr(own, f"signal_{name}")
            holds = (truth[f"{name}_low"] or 0) > 1
            assert verdict in ("undecided", "holds" if holds else "does not")
        if own.prr is None and own.ror is None:
            continue
        exact += 1
        for name in ("prr", "prr_low", "prr_high", "ror", "ror_low", "ror_high"):
            value = truth[name]
            assert getattr(own, name) == (None if value is None else pytest.approx(value, rel=1e-9))
    if by == ("sex",):
        assert exact


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"strata": ["sex"], "released_only": False}, "give --released-only"),
        ({"strata": ["age"], "age_bands": ["50"]}, "leave --age-bands out"),
        ({"strata": ["period"]}, r"has no strata of period \(it has: sex, age\)"),
    ],
)
def test_strata_that_are_not_told_are_refused(
    released: Engine, asked: dict[str, Any], text: str
) -> None:
    with pytest.raises(SignalError, match=text):
        released.signals.find(every_pair=True, quarter=Q1, **({"released_only": True} | asked))
