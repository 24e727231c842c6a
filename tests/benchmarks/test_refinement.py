"""The best of all groupings is the best, and each part of the benchmark prints its table."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from oracles import ms, ppms
from oracles.refine import World
from support.benchmark import load
from support.quarters import crowd, write_quarter

optima, refinement = load("refinement.optima"), load("refinement")
AGE = optima.Qid(100)
NOBODY = np.full(7, -1)
SEX = optima.Qid(0, (-1, 0, 0), (2, 1, 2), (1, 0, 0))


def records(boxes: list[list[int | None]], held: list[set[int]]) -> object:
    """Of an age and a sex; None: unknown."""
    values = np.array([[-1 if v is None else v for v in box] for box in boxes])
    holds = np.array([[term in terms for term in range(4)] for terms in held])
    return optima.Records((AGE, SEX)[: values.shape[1]], values, values, values >= 0, holds)


def test_the_best_grouping_of_six_ages_is_two_threes() -> None:
    people = records([[10], [90], [12], [95], [11], [91]], [set()] * 6)
    lost = optima.losses(people, 3, Fraction(1))
    assert optima.best(lost, NOBODY[:6]) == (0, 3 * 2 + 3 * 5)


def test_a_threshold_makes_the_best_grouping_leave_one_out() -> None:
    """Two of four may hold a value under 1/2, so one of three holders has to go."""
    people = records([[10], [20], [30], [40], [90]], [{0}, {0}, set(), set(), {0}])
    assert optima.best(optima.losses(people, 2, Fraction(1, 2)), NOBODY[:5]) == (1, 2 * 20 + 2 * 20)


def test_the_best_grouping_may_have_to_keep_who_has_a_group() -> None:
    people = records([[10], [20], [30], [40], [90]], [{0}, {0}, set(), set(), {0}])
    lost = optima.losses(people, 2, Fraction(1, 2))
    assert optima.best(lost, np.array([-1, -1, -1, 0, 0])) == (1, 2 * 10 + 2 * 50)


def test_an_unknown_value_is_shown_of_nobody_and_costs_who_knows_it() -> None:
    people = records([[10, 1], [10, 2], [None, 1]], [set()] * 3)
    lost = optima.losses(people, 2, Fraction(1))
    assert lost.tolist() == [-1, -1, -1, 2 * 100, -1, 100, 100 + 2 * 100, 2 * 100 + 3 * 100]


@pytest.mark.parametrize("theta", ["1", "2/3", "2/5"])
def test_the_best_grouping_is_that_of_the_oracle_in_fractions(theta: str) -> None:
    rng = random.Random(7)
    for _ in range(3):
        boxes = [[rng.choice([None, *range(0, 101, 7)]), rng.randrange(1, 3)] for _ in range(7)]
        held = [{rng.randrange(4) for _ in range(rng.randrange(3))} for _ in boxes]
        lost = optima.losses(records(boxes, held), 3, Fraction(theta))
        cases = tuple(
            ppms.Case(
                ms.Record(
                    (None if age is None else (age, age), sex), dict.fromkeys(terms, Fraction(1))
                )
            )
            for (age, sex), terms in zip(boxes, held, strict=True)
        )
        attributes = (ms.Numeric(100), ms.Categorical((None, 0, 0)))
        thetas = dict.fromkeys(range(4), Fraction(theta))
        world = World(ppms.Problem(cases, attributes, 3, thetas, ppms.Model()))
        withheld, least = world.best()
        assert optima.best(lost, NOBODY[:7]) == (withheld, least * 100)


@pytest.mark.thorough
def test_a_tiny_run_prints_each_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write_quarter(tmp_path, "2011Q1", crowd(40)))
    refinement.command(
        ["losses", "--source", file, "--models", "ms,ppms++", "--efforts", "off,fast",
         "--seeds", "1,2"]
    )  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines[2:]]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        (model, seed, effort)
        for model in ("ms", "ppms++")
        for seed in ("1", "2")
        for effort in ("off", "fast")
    ]
    for off, fast in zip(rows[::2], rows[1::2], strict=True):
        assert float(fast[6]) <= float(off[6])
        assert int(fast[8]) <= int(off[8])
    refinement.command(["optima", "--source", file, "--instances", "2", "--records", "7"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        [theta, name] for theta in ("1", "2/3", "2/5") for name in ("greedy", "fast", "full")
    ]
    refinement.command(["times", "--cases", "500,1000", "--full-cases", "300"])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed[1:3]] == [["500", "fast"], ["1,000", "fast"]]
    assert printed[3].startswith("grouping grows as n^")
    assert printed[4].split()[:2] == ["300", "full"]


def test_an_effort_that_there_is_none_of_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        refinement.command(["losses", "--source", "x.zip", "--efforts", "slow"])
    assert ended.value.code == 2
    assert "--efforts" in capsys.readouterr().err
