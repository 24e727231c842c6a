"""What is measured of whole rows over quarters, and how their cost grows."""

from __future__ import annotations

import pytest
from support.benchmark import load

linked, whole_rows = load("linked"), load("whole_rows")


def test_windows_are_consecutive_quarters_and_all_of_a_case() -> None:
    assert list(linked.windows({2: "a"})) == []
    assert list(linked.windows({0: "a", 2: "b"})) == [("all of them", [(0, 2)])]
    assert dict(linked.windows({0: "a", 1: "b", 3: "c"})) == {
        "two quarters": [(0, 1)], "all of them": [(0, 1, 3)]
    }  # fmt: skip


def test_exponents_are_those_of_a_power_of_the_reports() -> None:
    found = [
        whole_rows.Measured(n, n, 1, 0.5, 3 * n**1.1, 1.0, n, [0.0], 0.0, 1.0)
        for n in (1_000, 5_000, 20_000)
    ]
    between, fitted = whole_rows.exponents(found)
    assert between == pytest.approx([1.1, 1.1])
    assert fitted == pytest.approx(1.1)


@pytest.mark.thorough
def test_pseudonyms_of_a_quarter_leave_k_cases_and_one_for_all_quarters_leaves_fewer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    linked.command(
        ["--cases", "150", "--quarters", "2011Q1:2011Q2", "--after", "2011Q3",
         "--models", "ppms++", "--k", "3"]
    )  # fmt: skip
    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    by = {(cells[1], cells[2], cells[5]): cells for cells in lines}
    for known in "012":
        apart, joined = (by[kind, "two quarters", known] for kind in ("per quarter", "linked"))
        assert int(apart[3]) > 10
        assert apart[8] == "0"
        assert int(joined[8].replace(",", "")) > 0
