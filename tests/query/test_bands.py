"""What is computed from a number against DuckDB's own result for each value."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles.analysts import AGE_BANDS
from support.clinic import write_dataset

from srsql.engine.errors import QueryError
from srsql.engine.query.question import read_question
from srsql.engine.query.vocabulary import Views
from srsql.engine.query.worlds import Span, make_cells
from srsql.schemas import Dataset, load_dataset

VIEWS = Views({"2011Q4": "release_2011q4"}, None, None)
MORE = (
    "age * 2 % 5", "CAST(age * 3 / 2 AS INT)", "round(age / 3, 1)", "floor(age) // 2", "-age % 4",
    "least(age, 2.5)", "CAST(age AS DECIMAL(4, 1)) / 3", "ceil(-age / 3)", "age // -2",
)  # fmt: skip


@pytest.fixture(params=[("1", "[0, 6]"), ("0.5", "[-3, 6]"), ("0.25", "[-2, 2]"), ("2", "[-8, 8]"),
                        ("10", "[-40, 120]")], ids=lambda p: p[0])  # fmt: skip
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Dataset, list[Decimal]]:
    step, domain = request.param
    file = write_dataset(tmp_path, observed=False)
    text = file.read_text(encoding="utf-8")
    old = "domain = [0, 6]\ngranularity = 1"
    assert old in text
    file.write_text(text.replace(old, f"domain = {domain}\ngranularity = {step}"), encoding="utf-8")
    low, high = (Decimal(end) for end in domain.strip("[]").split(","))
    values = list(itertools.takewhile(lambda v: v <= high, itertools.count(low, Decimal(step))))
    return load_dataset(str(file)), values


def granules(values: list[Decimal], step: Decimal) -> set[int]:
    return {int(value / step) for value in values}


def inside(spans: tuple[Span, ...]) -> set[int]:
    return {value for low, high in spans for value in range(low, high + 1)}


def of_duckdb(text: str, values: list[Decimal], step: Decimal) -> list[Any]:
    digits = max(0, -int(step.normalize().as_tuple().exponent))
    kind = f"DECIMAL(18, {digits})" if digits else "BIGINT"
    rows = ", ".join(f"({value}::{kind})" for value in values)
    return [
        row[0] for row in duckdb.execute(f"SELECT {text} FROM (VALUES {rows}) t(age)").fetchall()
    ]


def test_bands_part_the_values_as_duckdb_does(dataset: tuple[Dataset, list[Decimal]]) -> None:
    schema, values = dataset
    step = schema.qid[0].granularity
    for text in (*AGE_BANDS, *MORE):
        parts = defaultdict(list)
        for value, result in zip(values, of_duckdb(text, values, step), strict=True):
            parts[result].append(value)
        wanted = {frozenset(granules(part, step)) for part in parts.values()}
        asked = read_question(schema, VIEWS, f"SELECT {text} AS g, COUNT(*) FROM demo GROUP BY g")
        (band,) = asked.bands
        assert {frozenset(inside(part)) for part in band.parts} == wanted, text
        cells = make_cells(schema, 0, [], labelled=False, bands=[band])
        assert {frozenset(inside(cell.spans)) for cell in cells if cell.spans} == wanted
        shown = asked.groups[0][1].sql("duckdb")
        for cell in cells[:-1]:
            assert cell.value is not None
            own = duckdb.execute(
                f'SELECT {shown} FROM (SELECT {cell.value}::BIGINT AS "value_age") AS w'
            ).fetchall()[0][0]
            (result,) = of_duckdb(text, [cell.value * step], step)
            assert (own, type(own)) == (result, type(result)), text


def test_conditions_hold_for_the_values_that_duckdb_says(
    dataset: tuple[Dataset, list[Decimal]],
) -> None:
    schema, values = dataset
    step, rng = schema.qid[0].granularity, random.Random(str(dataset[1]))
    numeric = [text for text in (*AGE_BANDS, *MORE) if "||" not in text and ">=" not in text]
    for _ in range(60):
        text, other = rng.sample(numeric, 2)
        limits = sorted(rng.sample(range(-4, 9), 2))
        condition = rng.choice([
            f"{text} {rng.choice(['<', '<=', '=', '<>', '>', '>='])} {limits[0]}",
            f"{text} IN ({limits[0]}, {limits[1]})", f"{text} BETWEEN {limits[0]} AND {limits[1]}",
            f"{text} < {other}", f"{limits[1]} > {text}", f"NOT ({text} = {limits[0]})",
        ])  # fmt: skip
        wanted = {
            int(value / step)
            for value, holds in zip(values, of_duckdb(condition, values, step), strict=True)
            if holds
        }
        asked = read_question(schema, VIEWS, f"SELECT COUNT(*) FROM demo WHERE {condition}")
        whole = granules(values, step)
        held = whole
        for atom in asked.atoms:
            held = held & inside(tuple((max(a, -999), min(b, 999)) for a, b in atom.values))
        assert (whole - held if condition.startswith("NOT") else held) == wanted, condition


def test_what_has_no_result_or_no_end_is_refused(tmp_path: Path) -> None:
    schema = load_dataset(str(write_dataset(tmp_path, observed=True)))
    for text, words in (
        ("wt // 10", "wt may have more than 100,000 values"),
        ("10 // age", "has no result where age is 0"),
        ("10 / age", "has no result where age is 0"),
        ("age // 1e1", "write the number with digits"),
        ("age::DATE", "CAST to DATE is not understood"),
    ):
        with pytest.raises(QueryError, match=words):
            read_question(schema, VIEWS, f"SELECT {text} AS g, COUNT(*) FROM demo GROUP BY g")
