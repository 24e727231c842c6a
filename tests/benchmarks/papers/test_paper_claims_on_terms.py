"""Claims and figures of Loukides 2014 and Lee 2020, judged on tables made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev, variance
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.benchmark import load

from srsql.engine.extras.study.figures import PaperFigure, draw, panels

claims = load("papers.claims")
CLAIMS = claims.CLAIMS
Sample = claims.Sample
welch = claims.welch
FIGURES = claims.FIGURES

Row = dict[str, Any]


def row(model: str, measure: str, scope: str, ratio: float | None, **more: Any) -> Row:
    return {
        "quarter": "2011Q1", "model": model, "k": 5, "m": 2, "policy": "sup:1.25", "seed": 0,
        "measure": measure, "scope": scope, "ratio": ratio,
    } | more  # fmt: skip


def outcome(start: str, rows: list[Row]) -> tuple[str, int, int]:
    found = [claim for claim in CLAIMS if claim.sentence.startswith(start)]
    (claim,) = [claim for claim in found if claim.sentence == start] or found
    told = claim.judge(rows)
    return told.outcome, told.agreeing, told.comparisons


def figure(place: str, paper: str = "Loukides 2014") -> PaperFigure:
    (found,) = [figure for figure in FIGURES if (figure.paper, figure.place) == (paper, place)]
    return found


def test_disassociation_is_compared_with_the_queries_that_cba_can_answer() -> None:
    words = "Dis answers W1 more accurately than CBA, frequency-based"
    rows = [
        row("disassociation", "are", "W1, 5 %", 0.2),
        row("cba", "are", "W1, 5 %", 0.1),  # of all queries: not what the paper asks
        row("cba", "are_released", "W1, 5 %", 0.3),
        row("cba", "are_released", "W1, 2.5 %", 0.1),  # nothing to compare it with
        row("cba", "are_released", "W2, all", 0.1),
        row("cba", "are_released", "W1, 5 %", 0.1, policy="level:1"),
    ]
    assert outcome(words, rows) == ("holds", 1, 1)
    assert outcome(words, [*rows, row("disassociation", "are", "W1, 2.5 %", 0.2)])[1:] == (1, 2)


def test_the_gap_to_cba_grows_with_the_level_of_the_policy() -> None:
    words = "The difference increases"
    rows = [
        row(model, measure, "W1, 5 %", value, policy=f"level:{level}")
        for model, measure, values in (
            ("disassociation", "are", (0.129, 0.05, 0.006)),
            ("cba", "are_released", (0.163, 0.09, 0.1)),
        )
        for level, value in enumerate(values, 1)
    ]
    assert outcome(words, rows) == ("holds", 1, 1)
    assert outcome(words, [r for r in rows if r["policy"] != "level:3"])[0] == "holds"
    assert outcome(words, [r for r in rows if r["policy"] == "level:1"])[0] == "cannot be told"
    flat = [r | {"ratio": 0.129 if r["model"] == "disassociation" else 0.163} for r in rows]
    assert outcome(words, flat) == ("does not hold", 0, 1)


def test_samples_are_compared_by_their_number_of_cases() -> None:
    rows = [row("cba", "suppressed_terms", "distinct term", x, cases=n)
            for n, x in ((2_500, 0.3), (10_000, 0.2), (25_000, 0.1))]  # fmt: skip
    assert outcome("CBA suppresses a smaller share", rows) == ("holds", 1, 1)
    assert outcome("CBA suppresses a smaller share", rows[:1])[0] == "cannot be told"
    times = [row("disassociation", "stage", "terms", None, cases=n, seconds=s)
             for n, s in ((1_000, 1.0), (10_000, 50.0))]  # fmt: skip
    assert outcome("The cost of Dis is sub-quadratic", times) == ("holds", 1, 1)
    slow = [times[0], times[1] | {"seconds": 150.0}]
    assert outcome("The cost of Dis is sub-quadratic", slow) == ("does not hold", 0, 1)


def sampled(
    model: str, measure: str, scope: str, errors: Sequence[float], **more: Any
) -> list[Row]:
    """Mean and deviation of the errors of queries."""
    n = float(len(errors))
    return [
        row(model, measure, scope, fmean(errors), total=n, **more),
        row(model, f"{measure}_deviation", scope, stdev(errors), total=n, **more),
    ]


def p_by_integration(one: Sequence[float], other: Sequence[float]) -> float:
    """Welch's test from the density of t, summed by Simpson's rule."""
    parts = [variance(x) / len(x) for x in (one, other)]
    t = abs(fmean(one) - fmean(other)) / math.sqrt(sum(parts))
    nu = sum(parts) ** 2 / sum(
        v**2 / (len(x) - 1) for v, x in zip(parts, (one, other), strict=True)
    )
    scale = math.exp(math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2)) / math.sqrt(nu * math.pi)
    steps = 4000
    values = [scale * (1 + (t * i / steps) ** 2 / nu) ** (-(nu + 1) / 2) for i in range(steps + 1)]
    inner = values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])
    return 1 - 2 * inner * t / steps / 3


several = st.lists(st.integers(0, 60).map(lambda n: n / 20), min_size=2, max_size=30)


@pytest.mark.slow
@given(several, several)
def test_welch_is_the_integral_of_the_density_of_t(one: list[float], other: list[float]) -> None:
    made = [Sample(fmean(x), stdev(x), len(x)) for x in (one, other)]
    found = welch(*made)
    if variance(one) == variance(other) == 0:
        assert found == float(fmean(one) == fmean(other))
    else:
        assert found == pytest.approx(p_by_integration(one, other), abs=1e-6)
    assert welch(made[0], Sample(1.0, 0.0, 1)) is None


def test_a_difference_is_significant_by_the_queries_of_each_seed() -> None:
    words = "That difference is significant, frequency-based"
    near, far = [0.1, 0.3, 0.2, 0.4], [0.9, 1.1, 1.0, 1.2]
    low = sampled("disassociation", "are", "W1, 5 %", near)
    assert outcome(words, [*low, *sampled("cba", "are_released", "W1, 5 %", far)])[0] == "holds"
    close = sampled("cba", "are_released", "W1, 5 %", [0.2, 0.4, 0.3, 0.5])
    assert outcome(words, [*low, *close]) == ("does not hold", 0, 1)  # less, but perhaps by chance
    worse = sampled("disassociation", "are", "W1, 5 %", [9 * x for x in far])
    assert outcome(words, [*worse, *close]) == ("does not hold", 0, 1)
    other_seed = sampled("cba", "are_released", "W1, 5 %", far, seed=1)
    assert outcome(words, [*low, *other_seed])[0] == "cannot be told"
    one = sampled("cba", "are_released", "W1, 5 %", far)
    assert outcome(words, [*low, *(r | {"total": 1.0} for r in one)])[0] == "cannot be told"


def test_where_cba_keeps_more_constraints_is_told_by_setting() -> None:
    words = "Dis outperforms CBA"
    rows = [row(model, "mre_within_5", "constraint", x, policy=policy)
            for policy, x, y in (("sup:5", 0.9, 0.95), ("sim:5", 0.8, 0.7), ("sup:1.25", 0.5, 0.9))
            for model, x in (("disassociation", x), ("cba", y))]  # fmt: skip
    assert outcome(words, rows) == ("does not hold", 1, 3)
    (claim,) = [claim for claim in CLAIMS if claim.id == "mre-not-below-cba"]
    assert claim.judge(rows).measured == (
        "policy sup:1.25, k 5, m 2: cba 0.9, Dis 0.5; policy sup:5, k 5, m 2: cba 0.95, Dis 0.9"
    )
    assert outcome(words, rows[2:4]) == ("holds", 1, 1)
    drawn = panels(figure("Section 6.3"), rows)
    assert drawn["2011Q1, k = 5, m = 2"]["cba"] == {"sup:5": 0.95, "sim:5": 0.7, "sup:1.25": 0.9}


def test_held_sets_are_a_workload_of_their_own() -> None:
    rows = [row("disassociation", "are", f"W2 held, {n} of them", x)
            for n, x in ((1, 0.1), (2, 0.3), (3, 0.4))]  # fmt: skip
    words = "The error increases with the size of the sets, of those that some record holds"
    assert outcome(words, rows) == ("holds", 1, 1)
    ((_, lines),) = panels(figure("Fig. 16, held"), rows).items()
    assert list(lines.values()) == [{1.0: 0.1, 2.0: 0.3, 3.0: 0.4}]
    assert panels(figure("Fig. 16"), rows) == {}


def test_longer_queries_and_rarer_sets_are_compared_with_the_shortest_and_most_frequent() -> None:
    rows = [row("disassociation", "are", f"W2, {n} of them", x)
            for n, x in ((1, 0.1), (2, 0.3), (3, 0.05), (4, None))]  # fmt: skip
    assert outcome("The error increases with the size of the sets", rows) == (
        "holds",
        1,
        1,
    )  # (0.3 + 0.05) / 2
    assert outcome("The error increases with the size of the sets", [rows[0], rows[2]]) == (
        "does not hold",
        0,
        1,
    )
    rows = [row("disassociation", "are", f"W1, {s} %", x) for s, x in ((5, 0.0), ("0.625", 0.1))]
    assert outcome("More frequent sets", rows) == ("holds", 1, 1)


def test_the_share_of_constraints_is_held_against_the_papers_under_its_own_policy() -> None:
    words = "With m = 5, 93% of the constraints of sim:10"
    rows = [row("disassociation", "mre_within_5", "constraint", 0.94, policy="sim:10", m=5)]
    assert outcome(words, rows) == ("holds", 1, 1)
    assert outcome(words, [rows[0] | {"ratio": 0.92}]) == ("does not hold", 0, 1)
    assert outcome(words, [rows[0] | {"m": 2}])[0] == "cannot be told"


def test_ipa_is_compared_at_epsilon_one_by_the_mean_over_the_seeds() -> None:
    words = "IPA loses less than k-anonymization"
    full = row("full-domain", "il", "expected", 0.4, m=None, policy=None)
    drawn = [
        row("ipa", "il", "expected", x, m=None, policy=None, epsilon=e, seed=s)
        for e, s, x in ((1.0, 1, 0.29), (1.0, 2, 0.35), (1.0, 3, 0.32), (0.1, 1, 0.9))
    ]
    assert outcome(words, [full, *drawn]) == ("holds", 1, 1)  # 0.32, give or take 0.075
    assert outcome(words, [full | {"ratio": 0.2}, *drawn]) == ("does not hold", 0, 1)
    assert outcome(words, [full | {"ratio": 0.34}, *drawn]) == ("cannot be told", 0, 0)
    assert outcome(words, [full | {"ratio": 0.34}, *drawn[:1]]) == ("holds", 1, 1)
    assert outcome(words, [full | {"k": 10}, *drawn])[0] == "cannot be told"


def test_the_parts_of_the_loss_are_those_of_the_lattice() -> None:
    words = "As ε decreases, EMD and Rate"
    rows = [
        row("ipa", part, scope, x, epsilon=e)
        for e, parts in ((0.1, (0.1, 0.2, 0.3)), (2.0, (0.5, 0.1, 0.1)))
        for part, x in zip(("ncp", "emd", "rate"), parts, strict=True)
        for scope in ("height 1", "chosen")
    ]
    assert outcome(words, rows) == ("holds", 1, 1)
    assert outcome(words, [r for r in rows if r["scope"] == "chosen"])[0] == "cannot be told"
    assert outcome(words, [r | {"epsilon": 2.1 - r["epsilon"]} for r in rows])[0] == "does not hold"


def test_answers_by_age_group_are_compared_by_their_error() -> None:
    words = "Counts by age group"
    rows = [row("ipa", "group_count_error", "STROKE, M", 0.2),
            row("full-domain", "group_count_error", "STROKE, M", 0.4),
            row("full-domain", "group_count_error", "STROKE, F", 0.1)]  # fmt: skip
    assert outcome(words, rows) == ("holds", 1, 1)


def test_figure_12_has_a_column_for_each_number_of_cases_in_order() -> None:
    rows = [row("cba", "combinations", f"{t} terms, held by {n}", 0.1)
            for t in (2, 3) for n in ("> 10", "1", "2", "10")]  # fmt: skip
    ((title, lines),) = panels(figure("Fig. 12"), rows).items()
    assert title == "2011Q1"
    assert list(lines) == ["2 terms", "3 terms"]
    drawn = draw(figure("Fig. 12"), rows, "f")
    assert drawn is not None
    at = [drawn[0].svg.index(text) for text in (">1<", ">2<", ">10<", ">&gt; 10<")]
    assert at == sorted(at)


def test_figure_13_has_a_panel_for_each_policy_and_a_line_for_each_model_and_m() -> None:
    rows = [
        row(model, measure, f"W1, {s} %", 0.1, m=m, policy=policy)
        for model, measure in (("disassociation", "are"), ("cba", "are"), ("cba", "are_released"))
        for s in ("5", "0.625") for m in (2, 3) for policy in ("sup:1.25", "sup:5", "level:1")
    ]  # fmt: skip
    found = panels(figure("Fig. 13(c)"), rows)
    assert [title.splitlines()[1] for title in found] == ["policy sup:1.25", "policy sup:5"]
    for lines in found.values():
        assert set(lines) == {"disassociation (m 2)", "disassociation (m 3)", "cba (m 2)",
                              "cba (m 3)"}  # fmt: skip
        assert all(set(line) == {5.0, 0.625} for line in lines.values())


def test_figure_9_shows_the_originals_beside_the_answers() -> None:
    rows = [
        row(model, "group_count", f"M, {age}", x - y, violating=x, total=y, m=None, policy=None)
        for model, x in (("ipa", 3.0), ("full-domain", 9.0))
        for age, y in ((5, 2.0), (10, 4.0))
    ]
    ((title, lines),) = panels(figure("Fig. 9", "Lee 2020"), rows).items()
    assert title == "2011Q1, k = 5\nM"
    assert lines == {
        "ipa": {5.0: 3.0, 10.0: 3.0}, "full-domain": {5.0: 9.0, 10.0: 9.0},
        "original": {5.0: 2.0, 10.0: 4.0},
    }  # fmt: skip


def test_seeds_are_averaged_and_a_parameter_is_named_only_where_it_varies() -> None:
    spec = figure("Fig. 7", "Lee 2020")
    rows = [row("ipa", "il", "expected", x, epsilon=1.0, seed=s, informative="pt", suppress_below=2)
            for s, x in ((1, 0.2), (2, 0.4))]  # fmt: skip
    assert panels(spec, rows) == {"2011Q1, k = 5": {"ipa": {1.0: pytest.approx(0.3)}}}
    other = row("ipa", "il", "expected", 0.5, epsilon=1.0, informative="drugname", suppress_below=2)
    assert set(panels(spec, [*rows, other])["2011Q1, k = 5"]) == {
        "ipa (informative pt)", "ipa (informative drugname)"
    }  # fmt: skip


def test_lines_are_listed_in_the_order_of_their_numbers() -> None:
    rows = [row("disassociation", "mre", i, 0.5, k=k) for k in (25, 5, 2)
            for i in ("0", "[2.5, 5)")]  # fmt: skip
    drawn = draw(figure("Fig. 24"), rows, "f")
    assert drawn is not None
    at = [drawn[0].svg.index(f">k = {k}<") for k in (2, 5, 25)]
    assert at == sorted(at)
