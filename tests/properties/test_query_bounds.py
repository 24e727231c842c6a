"""Generated questions: the truth lies within the bounds, which no other bounds improve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from oracles.query import (
    Among,
    Between,
    Bins,
    Column,
    Compare,
    Has,
    Join,
    Not,
    NoValue,
    Null,
    Question,
    Record,
    bounds,
    truth,
)
from sqlglot import exp
from support.clinic import (
    CHILDREN,
    DRUGS,
    QUARTERS,
    TERMS,
    UNKNOWN,
    records,
    released_series,
    unreleased,
)

from srsql.engine.api.engine import Engine
from srsql.engine.errors import QueryError
from srsql.engine.query.answer import Answer

pytestmark = pytest.mark.thorough

SETTINGS = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
"""No shrinking: a question is small as it is, and trying all its values is slow."""
NUMBERS = st.sampled_from([-1, 0, 2, 3, 4, 4.5, 5, 6, 9, 40])
OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
NODES = st.sampled_from(["A", "B", "C", "AB"])
VALUES = {"drug": DRUGS[:3], "reac": TERMS, "indi": TERMS[:2], "outc": ("HO", "DE")}


@dataclass(frozen=True, repr=False)
class World:
    engine: Engine
    copies: duckdb.DuckDBPyConnection
    """Tables that hold what the views show, and nothing else."""
    records: dict[str | None, list[Record]]
    """Of one quarter, or of all."""
    withheld: list[Record]


@pytest.fixture(
    scope="module",
    params=[("ms", "0.8", False), ("ppms++", "1", False), ("ppms", "1", True)],
    ids=lambda p: f"{p[0]}-{'observed' if p[2] else 'declared'}",
)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    model, theta, observed = request.param
    folder = tmp_path_factory.mktemp("query")
    db = folder / "w.duckdb"
    quarters = released_series(folder, db, model=model, seed=2, observed=observed, theta=theta)
    scopes: dict[str | None, tuple[str, ...]] = {None: QUARTERS, **{q: (q,) for q in QUARTERS}}
    found = {
        scope: records(db, quarters, observed=observed, asked=asked)
        for scope, asked in scopes.items()
    }
    assert all(found.values())
    withheld = unreleased(db, quarters)
    with copied_views(db) as copies, Engine(db, read_only=True) as engine:
        yield World(engine, copies, found, withheld)


def copied_views(db: Path) -> duckdb.DuckDBPyConnection:
    """A database with the released rows alone."""
    con = duckdb.connect()
    con.execute(f"ATTACH '{db}' AS house (READ_ONLY)")
    for schema, name in con.execute(
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'house' "
        "AND schema_name LIKE 'release%'"
    ).fetchall():
        con.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        con.execute(f'CREATE TABLE "{schema}"."{name}" AS FROM house."{schema}"."{name}"')
    con.execute("DETACH house")
    return con


@st.composite
def conditions(draw: st.DrawFn, tables: tuple[str, ...], depth: int = 3) -> Any:
    """Any condition over the quasi-identifiers and these child tables."""
    if depth and draw(st.booleans()):
        parts = draw(st.lists(conditions(tables, depth - 1), min_size=2, max_size=3))
        joined = Join(draw(st.sampled_from(["AND", "OR"])), tuple(parts))
        return Not(joined) if draw(st.booleans()) else joined
    number = st.builds(Compare, st.sampled_from(["age", "wt"]), OPERATORS, NUMBERS)
    kinds = [
        number,
        number,
        st.builds(Between, st.sampled_from(["age", "wt"]), NUMBERS, NUMBERS),
        st.builds(Among, st.just("age"), st.tuples(NUMBERS, NUMBERS), st.booleans()),
        st.builds(Compare, st.just("sex"), st.sampled_from(["=", "<>"]), NODES),
        st.builds(Among, st.just("sex"), st.tuples(NODES, NODES), st.booleans()),
        st.builds(NoValue, st.sampled_from(["age", "wt", "sex"]), st.booleans()),
    ]
    for table, name in CHILDREN.items():
        value = st.sampled_from(VALUES[table])
        by, form = st.sampled_from(["primaryid", "caseid"]), st.sampled_from(["exists", "in"])
        kinds.append(st.builds(Has, st.just(table), st.just(name), value, by, form))
        if table in tables:
            here = st.just(table)
            blanks = table == "indi"  # a placeholder meets nothing but = and IN, as they are
            signs = st.just("=") if blanks else OPERATORS
            kinds.append(st.builds(Compare, st.just(name), signs, value, here))
            listed, negated = st.tuples(value, value), st.just(False) if blanks else st.booleans()
            kinds.append(st.builds(Among, st.just(name), listed, negated, here))
            if not blanks:
                kinds.append(st.builds(Null, here, st.just(name)))
    leaf = draw(st.one_of(kinds))
    return Not(leaf) if draw(st.integers(0, 3)) == 0 else leaf


@st.composite
def questions(draw: st.DrawFn) -> Question:
    tables = tuple(draw(st.lists(st.sampled_from(sorted(CHILDREN)), unique=True, max_size=2)))
    children = tuple(
        (t, draw(st.sampled_from(["primaryid", "primaryid", "caseid"]))) for t in tables
    )
    labels = st.sampled_from(["low", "high"])
    branches = st.lists(st.tuples(conditions(tables, 1), labels), min_size=1, max_size=2)
    kinds: list[st.SearchStrategy[Any]] = [
        st.builds(Bins, branches.map(tuple), st.one_of(st.none(), labels)),
        st.just(Column("sex")),
        *(st.just(Column(CHILDREN[table], table)) for table in tables),
    ]
    groups = draw(st.lists(st.one_of(kinds), max_size=2, unique_by=lambda g: g.sql()))
    return Question(
        draw(st.sampled_from(["cases", "cases", "reports", "rows"])),
        children,
        draw(conditions(tables)),
        tuple(groups),
        draw(st.sampled_from(["using", "on", "where"])),
        draw(st.sampled_from(["demo", *tables])),
        UNKNOWN,
    )


def asked(question: Question) -> list[str]:
    """The quasi-identifiers that the question speaks of."""
    text = repr(question)
    return [name for name in ("age", "wt", "sex") if f"name='{name}'" in text]


def relations(sql: str) -> set[str]:
    """The schemas that a statement reads."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    steps = {step.alias for step in tree.find_all(exp.CTE)}
    read = [t for t in tree.find_all(exp.Table) if t.db or t.name not in steps]
    return {t.db for t in read}


def answered(engine: Engine, question: Question, **options: Any) -> Answer:
    """The answer; questions that negate what a placeholder may decide are others' matter."""
    try:
        return engine.query(question.sql(), allow_unknown=True, **options)
    except QueryError as refusal:
        if "and the like are published as missing" in str(refusal):
            reject()
        raise


def by_group(answer: Answer) -> dict[Any, tuple[int, float, int, int]]:
    return {row[:-4]: row[-4:] for row in answer.rows}


@settings(SETTINGS, max_examples=20)
@given(question=questions(), quarter=st.sampled_from([None, *QUARTERS]))
def test_the_truth_lies_within_bounds_that_are_as_tight_as_the_regions_allow(
    world: World, question: Question, quarter: str | None
) -> None:
    here = world.records[quarter]
    names = asked(question)
    answer = answered(world.engine, question, quarter=quarter)
    found = by_group(answer)
    expected = bounds(question, here, names)
    if not question.groups:
        expected = expected or {(): (0, 0, 0, 0)}
    assert {g: (f[0], f[2], f[3]) for g, f in found.items()} == {
        g: (e[0], e[2], e[3]) for g, e in expected.items()
    }
    for group, (lower, point, upper, known) in found.items():
        assert known <= lower <= point <= upper
        assert point == pytest.approx(float(expected[group][1]), abs=1e-6)
    assert world.copies.execute(answer.sql).fetchall() == list(answer.rows)
    assert relations(answer.sql) <= {"released"} | {f"release_{q.lower()}" for q in QUARTERS}
    if not names:
        assert all(row[0] == row[2] for row in found.values())
    for every in (True, False):
        counts = truth(question, here, names, every=every)
        assert set(counts) <= set(found)
        for group, (lower, _, upper, _) in found.items():
            assert lower <= counts[group] <= upper


@settings(SETTINGS, max_examples=6)
@given(question=questions().filter(lambda q: q.counted == "cases" and not q.groups))
def test_with_the_withheld_the_truth_of_all_cases_lies_below_the_upper_bound(
    world: World, question: Question
) -> None:
    names = asked(question)
    narrow = answered(world.engine, question)
    wide = answered(world.engine, question, include_withheld=True)
    assert wide.withheld == len(world.withheld)
    assert wide.rows[0][:2] == narrow.rows[0][:2]
    assert wide.rows[0][2] == narrow.rows[0][2] + len(world.withheld)
    everyone = [*world.records[None], *world.withheld]
    for every in (True, False):
        assert truth(question, everyone, names, every=every)[()] <= wide.rows[0][2]


@pytest.mark.parametrize("quarter", [None, *QUARTERS])
def test_without_a_value_are_of_the_originals_no_more_than_upper_and_those_with_one_no_fewer(
    world: World, quarter: str | None
) -> None:
    """IS NULL is asked of the release; in the originals who gave a value up has one."""
    released = world.records[quarter]
    originals = [replace(record, region={}) for record in released]
    outside = 0
    for name in ("age", "wt", "sex"):
        others = [Compare("age", ">=", 4), Compare("sex", "=", "A"), Compare("wt", "<", 6)]
        gave_up = {
            r.case for r in released
            if None not in r.hull[name] and None in [value for value, _ in r.region[name]]
        }  # fmt: skip
        for beside in [None, *(other for other in others if other.name != name)]:
            for negated in (False, True):
                test = NoValue(name, negated)
                condition = test if beside is None else Join("AND", (test, beside))
                question = Question("cases", (), condition, (), "using")
                ((lower, _, upper, _),) = world.engine.query(question.sql(), quarter=quarter).rows
                for every in (True, False):
                    names = asked(question)
                    assert lower <= truth(question, released, names, every=every)[()] <= upper
                    true = truth(question, originals, names, every=every)[()]
                    assert true >= lower if negated else true <= upper
                    assert lower - len(gave_up) <= true <= upper + len(gave_up)
                    outside += not lower <= true <= upper
        assert outside or not gave_up
