"""The benchmark of told counts: bounds by parts and wholes, and a small quarter as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from support.benchmark import load

attacker = load("told_counts.attacker")
tables = load("told_counts.tables")
told_counts = load("told_counts")


def test_a_part_is_the_whole_less_the_most_of_the_others() -> None:
    strata = attacker.Strata({"all": ("F", "not F"), "not F": ("M", "U")})
    low, high = np.zeros((1, 5), dtype=np.int64), np.full((1, 5), 12, dtype=np.int64)
    low[0, strata.number["all"]] = 12
    for stratum, most in (("F", 5), ("U", 1)):
        high[0, strata.number[stratum]] = most
    strata.shuttle(low, high)
    ends = {node: (low[0, place], high[0, place]) for node, place in strata.number.items()}
    assert ends == {"all": (12, 12), "F": (0, 5), "not F": (7, 12), "M": (6, 12), "U": (0, 1)}


def test_what_is_told_is_known_above_it_and_not_below() -> None:
    strata = attacker.Strata({"all": ("F", "not F"), "not F": ("M", "U")})
    counts, sure = strata.known({"F": 4, "not F": 9})
    where = {node: (counts[p], sure[p]) for node, p in strata.number.items() if sure[p]}
    assert where == {"all": (13, True), "F": (4, True), "not F": (9, True)}


@pytest.mark.slow
def test_a_small_quarter_is_measured_and_every_bound_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The attacker asserts that no bound leaves the true count out."""
    told_counts.command(["--scale", "0.01", "--table-k", "3", "--tree", "sex first"])
    said = capsys.readouterr().out
    assert "faers 2011Q4" in said
    assert said.count("attacker") == 3
    assert "'wrong': 0" in said


@pytest.mark.slow
def test_women_of_two_releases_are_asked_for_by_the_same_pairs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told_counts.command(["--released", "--scale", "0.01", "--table-k", "3"])
    counts, rows = capsys.readouterr().out.splitlines()
    assert counts.startswith("k = 3, counts")
    assert rows.startswith("k = 3, whole rows")
    for line in (counts, rows):
        assert "'wrong': 0" in line
    assert counts.split("'pairs': ")[1].split(",")[0] == rows.split("'pairs': ")[1].split(",")[0]
