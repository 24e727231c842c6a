"""Means, shares, bands, HAVING, LIMIT and WITH: the truth lies within the bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from oracles.analysts import Asked, random_question, tables_of
from oracles.query import Record
from support.clinic import QUARTERS, records, released_series

from srsql.engine.api.engine import Engine
from srsql.engine.query.answer import Answer

pytestmark = pytest.mark.slow

WORLDS = 8


@pytest.fixture(scope="module", params=[("ms", "0.8", False, 2), ("ppms++", "1", False, 5),
                                        ("ppms", "1", True, 2)],
                ids=lambda p: f"{p[0]}-{'observed' if p[2] else 'declared'}")  # fmt: skip
def clinic(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Engine, dict[str | None, list[Record]], bool]]:
    model, theta, observed, seed = request.param
    folder = tmp_path_factory.mktemp("analysts")
    db = folder / "w.duckdb"
    quarters = released_series(folder, db, model=model, seed=seed, observed=observed, theta=theta)
    scopes: dict[str | None, tuple[str, ...]] = {None: QUARTERS, **{q: (q,) for q in QUARTERS}}
    found = {s: records(db, quarters, observed=observed, asked=asked)
             for s, asked in scopes.items()}  # fmt: skip
    with Engine(db, read_only=True) as engine:
        yield engine, found, observed


def check(asked: Asked, answer: Answer, truth: list[tuple[Any, ...]]) -> None:
    """The truth of one world against an answer."""
    size, told = len(asked.groups), {row[: len(asked.groups)]: row for row in answer.rows}
    text = f"{asked.sql()}\n{answer.columns}\n{answer.rows}\n{truth}"
    keys = {row[:size] for row in truth}
    assert keys <= set(told), text
    for key, row in told.items():
        if answer.has_certain:
            surely = row[-1] == "certain"
        else:
            surely = "HAVING" in asked.tail or "LIMIT" in asked.tail
        assert key in keys or not surely, text
    for row in truth:
        for n, value in enumerate(row[size:]):
            lower, expected, upper, _ = told[row[:size]][size + 4 * n : size + 4 * n + 4]
            if lower is not None and expected is not None:
                assert lower <= expected + 1e-9, text
            if upper is not None and expected is not None:
                assert expected <= upper + 1e-9, text
            if value is not None and value == value:  # 0 / 0 is NaN, and no share
                assert lower is None or lower - 1e-9 <= value, text
                assert upper is None or value <= upper + 1e-9, text


@pytest.mark.parametrize("questions", [15, pytest.param(110, marks=pytest.mark.thorough)])
def test_the_truth_of_every_world_lies_within_the_bounds(
    clinic: tuple[Engine, dict[str | None, list[Record]], bool], questions: int
) -> None:
    engine, found, observed = clinic
    rng = random.Random(f"analysts {observed} {questions}")
    with_certain = possible = bounded = 0
    worlds = {
        scope: [tables_of(rng, listed, widest=n % 2 == 0) for n in range(WORLDS)]
        for scope, listed in found.items()
    }
    for _ in range(questions):
        asked = random_question(rng, weights=not observed)
        scope = rng.choice([None, *QUARTERS])
        answer = engine.query.ask(asked.sql(), quarter=scope, allow_unknown=True)
        for con in worlds[scope]:
            check(asked, answer, asked.truth(con))
        if asked.source == "demo":
            named = engine.query.ask(asked.with_rows(), quarter=scope, allow_unknown=True)
            assert (named.rows, named.columns) == (answer.rows, answer.columns), asked.with_rows()
        with_certain += answer.has_certain
        possible += sum(answer.has_certain and row[-1] == "possible" for row in answer.rows)
        bounded += any(row[len(asked.groups)] not in (None, 0) for row in answer.rows)
    assert min(with_certain, possible, bounded) >= questions / 12
