"""The frontier, the shortlist and the recommendation, against their definitions by brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsql.engine.errors import SrsqlError
from srsql.engine.extras.study.choice import (
    USUAL_RISK,
    Bounds,
    frontier,
    judge,
    make_bounds,
    missed,
    nearest,
    reason_for,
    reason_none,
    recommend,
    shortlist,
)
from srsql.engine.extras.study.settings import Setting, Sweep, setting
from srsql.engine.extras.study.settings import settings as cells_of

shares = st.integers(0, 8).map(lambda n: n / 8)
bound = st.one_of(st.none(), st.integers(1, 8).map(lambda n: Fraction(n, 8)))
bounds = st.builds(Bounds, bound, bound, bound)


def measured_rows(*, fewest: int, k_effective: int) -> list[dict[str, Any]]:
    """What a worker tells of a setting, as little as there must be."""
    names: dict[tuple[str, str | None], dict[str, Any]] = {
        ("release", None): {"seconds": 1.0},
        ("k_effective", None): {"ratio": k_effective},
        ("groups", None): {"ratio": 3},
        ("withheld", "cases"): {"violating": 0, "total": 300, "ratio": 0.0},
        ("nil_star", "release"): {"ratio": 0.1},
        ("rr", "release"): {"ratio": 0.01},
        ("group_size", "min"): {"ratio": 100},
        ("fewest", "b,f,l"): {"ratio": fewest},
        ("confidence", None): {"violating": None, "total": None, "threshold": None},
    }
    return [{"measure": name, "scope": scope, **row} for (name, scope), row in names.items()]


def make(n: int, fewest: int, loss: float, noisy: bool, confidence: float, k: int) -> Setting:
    return Setting(
        f"s{n}",
        "m",
        k,
        "frequency",
        None,
        "quarter",
        risk=loss / 9 if noisy else 1 / max(fewest, 1),
        risk_is="mean" if noisy else "worst",
        fewest=None if noisy else fewest,
        counted=None if noisy else fewest,
        loss=loss,
        confidence=confidence,
        confidence_held=int(8 * confidence),
        confidence_of=8,
    )


@st.composite
def settings(draw: st.DrawFn) -> list[Setting]:
    many = draw(st.integers(1, 9))
    return [
        make(n, draw(st.integers(0, 6)), draw(shares), draw(st.booleans()), draw(shares),
             draw(st.integers(2, 4)))
        for n in range(many)
    ]  # fmt: skip


def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] <= other[1] and one != other


@given(points=st.lists(st.tuples(shares, shares), max_size=9))
def test_the_frontier_is_what_no_other_point_beats(points: list[tuple[float, float]]) -> None:
    expected = {n for n, p in enumerate(points) if not any(beats(q, p) for q in points)}
    assert frontier(points) == expected


def keeps(one: Setting, asked: Bounds) -> bool:
    """Exactly: 1/3 keeps 1/3, whatever floats make of it."""
    risk = Fraction(1, max(one.counted or 1, 1)) if one.risk_is == "worst" else one.risk
    pairs = ((risk, asked.risk), (one.loss, asked.loss), (one.confidence, asked.confidence))
    return all(limit is None or (value or 0) <= limit for value, limit in pairs)


@given(made=settings(), asked=bounds)
def test_the_recommended_setting_keeps_the_bounds_and_no_other_is_preferred(
    made: list[Setting], asked: Bounds
) -> None:
    judged = judge(made, asked)
    assert [s.keeps for s in judged] == [keeps(s, asked) for s in made]
    kept = recommend(judged, asked)
    assert {s.label for s in kept} == {s.label for s in made if keeps(s, asked)}
    if kept:
        best, *others = kept
        for other in others:
            if best.risk_is == "mean":
                assert other.risk_is == "mean"
            if best.risk_is == other.risk_is:
                assert not beats(other.point, best.point)
                aim = 0 if asked.risk is None and asked.loss is not None else 1
                assert best.point[aim] <= other.point[aim]
                if best.point == other.point:
                    assert best.k >= other.k
        assert best.label in reason_for(kept, judged, asked)
    else:
        near = nearest(judged, asked)
        assert missed(near, asked)
        assert near.label in reason_none(near, asked, joined=False)


@given(made=settings(), asked=bounds)
def test_a_worst_case_and_a_mean_are_on_frontiers_of_their_own(
    made: list[Setting], asked: Bounds
) -> None:
    for one in judge(made, asked):
        rivals = [
            s for s in made
            if s.risk_is == one.risk_is
            and (asked.confidence is None or (s.confidence or 0) <= asked.confidence)
        ]  # fmt: skip
        mine = [s for s in rivals if s.label == one.label]
        assert one.frontier == (bool(mine) and not any(beats(s.point, one.point) for s in rivals))


@pytest.mark.slow
@given(made=settings(), asked=bounds)
def test_a_sample_that_is_like_the_quarter_leaves_out_no_setting_that_would_be_recommended(
    made: list[Setting], asked: Bounds
) -> None:
    judged = judge(made, asked)
    chosen = [judged[n] for n in shortlist(judged, asked)]
    assert {s.label for s in judged if s.frontier} <= {s.label for s in chosen}
    assert recommend(chosen, asked)[:1] == recommend(judged, asked)[:1]


def test_a_setting_that_the_sample_refuses_is_tried_on_the_quarter() -> None:
    refused = Setting("s9", "m", 3, None, None, "sample", error="nothing can be released")
    judged = judge(
        [make(1, 5, 0.1, False, 0, 5), make(2, 5, 0.9, False, 0, 5), refused], Bounds(None, None)
    )
    assert shortlist(judged, Bounds(None, None)) == [0, 2]
    assert not judged[2].keeps


def test_losses_that_look_equal_are_equal_and_the_less_risky_setting_is_taken() -> None:
    asked = Bounds(Fraction(1, 2), None)
    made = judge([make(1, 5, 0.12341, False, 0, 5), make(2, 6, 0.12342, False, 0, 6)], asked)
    assert recommend(made, asked)[0].label == "s2"


def test_a_bound_that_is_met_exactly_is_kept_whatever_floats_make_of_it() -> None:
    one = replace(make(1, 3, 0.05, False, 0, 5), confidence=2 / 3, confidence_held=2,
                  confidence_of=3)  # fmt: skip
    exact = Bounds(Fraction(1, 3), Fraction(1, 20), Fraction(2, 3))
    assert judge([one], exact)[0].keeps
    fifth = replace(one, confidence=0.2, confidence_held=1, confidence_of=5)
    assert judge([fifth], replace(exact, confidence=Fraction(1, 5)))[0].keeps
    less = Fraction(1, 10**9)
    for closer in (
        replace(exact, risk=Fraction(1, 3) - less),
        replace(exact, loss=Fraction(1, 20) - less),
        replace(exact, confidence=Fraction(2, 3) - less),
    ):
        assert not judge([one], closer)[0].keeps


def test_thresholds_that_bound_no_value_keep_no_bound_on_the_confidence() -> None:
    unbounded = replace(
        make(1, 5, 0.1, False, 0, 5), confidence=None, confidence_held=None, confidence_of=None
    )
    asked = Bounds(Fraction(1, 5), None, Fraction(3, 10))
    made = judge([unbounded, make(2, 5, 0.3, False, 0.25, 5)], asked)
    assert [(s.keeps, s.frontier) for s in made] == [(False, False), (True, True)]
    assert missed(made[0], asked) == {"confidence": (1.0, 0.3)}
    assert recommend(made, asked) == [made[1]]
    assert judge([unbounded], replace(asked, confidence=Fraction(1)))[0].keeps
    assert judge([unbounded], replace(asked, confidence=None))[0].keeps


def test_a_model_that_does_not_withstand_joins_is_told_to_start_another_series() -> None:
    asked = Bounds(Fraction(1, 9), None)
    for model, joined, told in (("ms", True, True), ("ms", False, False), ("ppms++", True, False)):
        near = replace(make(1, 5, 0.1, False, 0, 5), model=model)
        assert ("another --series" in reason_none(near, asked, joined=joined)) == told


def test_without_a_seed_of_its_own_a_release_is_trusted_with_what_is_promised_alone() -> None:
    (cell,) = cells_of(Sweep(k=(5,), theta=("0.4",), leftovers=("withhold",)), ("ppms++",))
    for fewest, promised in ((63, 60), (60, 60), (4, 5), (0, 5)):
        rows = measured_rows(fewest=fewest, k_effective=promised)
        repeated, drawn = (
            setting(cell, "quarter", rows, None, seeded=seeded) for seeded in (True, False)
        )
        assert (repeated.fewest, drawn.fewest) == (fewest, fewest)
        assert repeated.risk == 1 / max(fewest, 1)
        assert drawn.risk == 1 / max(min(fewest, promised), 1)
        asked = Bounds(Fraction(1, 61), None)
        assert judge([repeated], asked)[0].keeps == (fewest >= 61)
        assert not judge([drawn], asked)[0].keeps


def test_by_default_nobody_may_be_picked_with_a_chance_above_a_fifth() -> None:
    assert make_bounds(None, None) == Bounds(USUAL_RISK, None)
    assert make_bounds(None, None, "0.5") == Bounds(USUAL_RISK, None, Fraction(1, 2))
    assert make_bounds(None, "0.05") == Bounds(None, Fraction(1, 20))
    assert make_bounds("1/11", "1") == Bounds(Fraction(1, 11), Fraction(1))


@pytest.mark.parametrize("text", ["0", "-1", "1.01", "nan", "1/0", "'; DROP TABLE x", ""])
def test_a_bound_is_a_share_above_0_and_at_most_1(text: str) -> None:
    with pytest.raises(SrsqlError, match="--max-risk"):
        make_bounds(text, None)
