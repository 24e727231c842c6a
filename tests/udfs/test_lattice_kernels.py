"""The kernels of IPA against record-by-record Python, and the distributions of their draws."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import lattice as oracle
from scipy import stats

from srsql.engine.lattice.cube import least_nodes
from srsql.udfs.lattice_node import (
    SUPPRESSED,
    Budget,
    Counts,
    ValueChoice,
    assemble,
    key_count,
    loss_of,
    node_weight,
    perturb,
    recreate,
    remaining_counts,
    roll_up,
    size_changes,
    suppressed_classes,
)
from srsql.udfs.mechanisms import Source, first_above

DOMAIN = 6
TINY = 1e-6
"""A chance below which a fit is taken for a fault."""
few = settings(max_examples=40)
classes = st.lists(
    st.lists(st.integers(0, DOMAIN - 1), min_size=1, max_size=8), min_size=1, max_size=5
)


def counts_of(members: list[list[int]]) -> Counts:
    entries = [
        (o, v, n) for o, held in enumerate(members) for v, n in sorted(Counter(held).items())
    ]
    owner, value, count = (np.array(part, dtype=np.int64) for part in zip(*entries, strict=True))
    return Counts(owner, value, count, len(members), DOMAIN)


@few
@given(st.lists(st.lists(st.integers(0, 20), max_size=6), min_size=1, max_size=5), st.data())
def test_a_search_in_many_lists_is_a_search_in_each(
    lists: list[list[int]], data: st.DataObject
) -> None:
    lists = [sorted(part) for part in lists]
    keys = np.array([key for part in lists for key in part], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
    which = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8))
    points = [data.draw(st.integers(-1, 21)) for _ in which]
    found = first_above(keys, starts, np.array(which, dtype=np.int64), np.array(points, np.int64))
    due = [
        starts[w] + sum(key <= p for key in lists[w]) for w, p in zip(which, points, strict=True)
    ]
    assert found.tolist() == due


@few
@given(classes, st.fractions(Fraction(1, 20), 5, max_denominator=20))
def test_the_weights_of_values_are_those_of_equations_3_and_4(
    members: list[list[int]], epsilon: Fraction
) -> None:
    choice = ValueChoice(counts_of(members), epsilon)
    starts = counts_of(members).starts
    for owner, held in enumerate(members):
        known = sorted(set(held))
        weights = dict.fromkeys(range(DOMAIN), int(choice.absent_weight[owner]))
        weights |= dict(
            zip(known, choice.held_weight[starts[owner] : starts[owner + 1]], strict=True)
        )
        assert sum(map(int, weights.values())) == choice.totals[owner]
        due = oracle.chances(held, DOMAIN, float(epsilon))
        assert [int(weights[v]) / int(choice.totals[owner]) for v in range(DOMAIN)] == (
            pytest.approx(due, rel=1e-9)
        )


@few
@given(classes)
def test_every_point_of_a_class_draws_the_value_whose_weight_it_lies_in(
    members: list[list[int]],
) -> None:
    choice = ValueChoice(counts_of(members), Fraction(1))
    for owner, held in enumerate(members):
        known = sorted(set(held))
        order = known + [v for v in range(DOMAIN) if v not in known]
        starts = counts_of(members).starts[owner]
        weights = [int(w) for w in choice.held_weight[starts : starts + len(known)]]
        weights += [int(choice.absent_weight[owner])] * (DOMAIN - len(known))
        ends = np.cumsum(weights)
        which = np.full(DOMAIN, owner)
        assert choice.values(which, ends - 1).tolist() == order  # the last point of each
        assert choice.values(which, ends - np.array(weights)).tolist() == order  # the first


@few
@given(classes, st.data())
def test_a_class_loses_as_many_records_as_its_noise_says_and_no_other_does(
    members: list[list[int]], data: st.DataObject
) -> None:
    counts = counts_of(members)
    noise = np.array([data.draw(st.integers(-10, 4)) for _ in members])
    hidden = np.array([data.draw(st.booleans()) for _ in members])
    changes = size_changes(counts.sizes, hidden, noise)
    needed = key_count(counts, changes)
    keys = np.array(data.draw(st.permutations(range(needed))), dtype=np.uint64)
    left = remaining_counts(counts, changes, keys)
    assert bool((left >= 0).all())
    sizes = np.bincount(counts.owner, left, minlength=len(members))
    for owner, held in enumerate(members):
        due = len(held) if hidden[owner] else len(held) + max(-len(held), min(0, noise[owner]))
        assert sizes[owner] == due


@few
@given(classes, st.data())
def test_losses_are_those_of_the_records_one_by_one(
    members: list[list[int]], data: st.DataObject
) -> None:
    counts = counts_of(members)
    hidden = np.array([data.draw(st.booleans()) for _ in members])
    extra = [[] if h else data.draw(st.lists(st.integers(0, 5), max_size=3)) for h in hidden]
    which = np.array([o for o, added in enumerate(extra) for _ in added], dtype=np.int64)
    values = np.array([v for added in extra for v in added], dtype=np.int64)
    made = assemble(counts, counts.count, hidden, which, values)
    before = [(o, v) for o, held in enumerate(members) for v in held]
    after: list[oracle.Record] = [(None if hidden[o] else o, v) for o, v in before]
    after += zip(which.tolist(), values.tolist(), strict=True)
    shown = {(None if o == SUPPRESSED else o, v): n
             for o, v, n in zip(made.owner.tolist(), made.value.tolist(), made.count.tolist(),
                                strict=True)}  # fmt: skip
    assert shown == Counter(after)
    penalties = [o / 4 for o in range(len(members))]
    loss = loss_of(counts, made, np.array(penalties), 2)
    assert loss.ncp == pytest.approx(oracle.ncp(after, dict(enumerate(penalties)), 2))
    assert loss.emd_records == pytest.approx(oracle.emd(before, after))
    assert loss.emd == pytest.approx(
        oracle.emd_of_classes(before, after, set(np.flatnonzero(hidden).tolist()))
    )
    assert loss.il == pytest.approx(loss.ncp + loss.emd + loss.rate)
    assert loss.rate == pytest.approx(oracle.rate(after, {o: len(x) for o, x in enumerate(extra)}))


@few
@given(classes, st.data())
def test_distances_of_classes_are_those_of_what_is_left_and_what_was(
    members: list[list[int]], data: st.DataObject
) -> None:
    """Classes shrink, vanish, or come anew, and there may be none at all."""
    counts = counts_of(members)
    left = np.array([data.draw(st.integers(0, int(n))) for n in counts.count], dtype=np.int64)
    none = np.zeros(len(members), dtype=np.bool_)
    nobody = np.zeros(0, dtype=np.int64)
    made = assemble(counts, left, none, nobody, nobody)
    before = [(o, v) for o, held in enumerate(members) for v in held]
    after = [(int(o), int(v)) for o, v, n in zip(made.owner, made.value, made.count, strict=True)
             for _ in range(n)]  # fmt: skip
    loss = loss_of(counts, made, np.zeros(len(members)), 1)
    if not after:
        assert (loss.emd, loss.emd_records) == (1.0, 1.0)
    else:
        assert loss.emd == pytest.approx(oracle.emd_of_classes(before, after))
    cells = np.arange(0, 2 * len(members), 2)
    noise = np.zeros((2 * len(members)) * DOMAIN, dtype=np.int64)
    noise[DOMAIN] = 3  # a cell without a record gets some
    original, anew, shown = recreate(counts, cells, noise)
    of_cell = [(int(cells[o]), v) for o, v in before]
    made_up = [(int(shown[o]), int(v)) for o, v, n in
               zip(anew.owner, anew.value, anew.count, strict=True) for _ in range(n)]  # fmt: skip
    found = loss_of(original, anew, np.zeros(len(shown)), 1)
    assert found.emd == pytest.approx(oracle.emd_of_classes(of_cell, made_up))
    assert found.emd == pytest.approx(1 / (len(members) + 1))  # the new class alone differs


def test_what_classes_trade_with_each_other_is_a_distance_of_classes_alone() -> None:
    """One class gains what the other loses: all records at once are as they were."""
    counts = counts_of([[0, 0, 1, 1], [0, 0, 1, 1]])
    none = np.zeros(2, dtype=np.bool_)
    made = assemble(counts, np.array([2, 1, 1, 2]), none, np.array([0, 1]), np.array([0, 1]))
    loss = loss_of(counts, made, np.zeros(2), 1)
    assert loss.emd_records == 0
    assert loss.emd == pytest.approx(1 / 4)


@few
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=12),
    st.integers(1, 5),
)
def test_the_search_of_the_lattice_finds_every_minimal_node(
    rows: list[tuple[int, int]], k: int
) -> None:
    maps = ([[0, 1, 2, 3], [4, 4, 5, 5], [6] * 4], [[0, 1], [2, 2]])
    asked: list[tuple[int, ...]] = []

    def keeps(levels: tuple[int, ...]) -> bool:
        asked.append(levels)
        return oracle.smallest(rows, maps, levels) >= k

    found = least_nodes((2, 1), keeps)
    assert len(asked) == len(set(asked))
    assert set(found) == oracle.minimal(
        (2, 1), lambda levels: oracle.smallest(rows, maps, levels) >= k
    )


def test_what_a_node_shows_is_not_asked_of_those_above_and_below() -> None:
    asked: list[tuple[int, ...]] = []
    found = least_nodes((5, 5), lambda levels: bool(asked.append(levels)) or min(levels) >= 0)
    assert (found, len(asked)) == ([(0, 0)], 4)  # the top, each attribute alone, both


@few
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_leaves_are_rolled_up_as_their_map_says(amounts: list[int]) -> None:
    cells = np.array(amounts).reshape(3, 2)
    up = roll_up(cells, [np.array([0, 1, 0]), np.array([0, 0])])
    assert up.tolist() == [[cells[0].sum() + cells[2].sum()], [cells[1].sum()]]


@few
@given(classes, st.data())
def test_records_made_anew_are_the_noisy_counts_of_all_cells(
    members: list[list[int]], data: st.DataObject
) -> None:
    counts = counts_of(members)
    cells = np.arange(0, 2 * len(members), 2)  # every other cell of the domain is empty
    size = (2 * len(members) + 1) * DOMAIN
    noise = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)))
    original, made, shown = recreate(counts, cells, noise)
    truth = Counter((int(cells[o]), v) for o, held in enumerate(members) for v in held)
    due = {(at // DOMAIN, at % DOMAIN): max(0, truth[at // DOMAIN, at % DOMAIN] + int(noise[at]))
           for at in range(size)}  # fmt: skip
    found = {(int(shown[o]), int(v)): int(n)
             for o, v, n in zip(made.owner, made.value, made.count, strict=True)}  # fmt: skip
    assert found == {key: n for key, n in due.items() if n}
    assert {(int(shown[o]), int(v)): int(n) for o, v, n in
            zip(original.owner, original.value, original.count, strict=True)} == truth  # fmt: skip
    added: Counter[int] = Counter()
    for (cell, value), n in due.items():
        added[cell] += max(0, n - truth[cell, value])
    assert made.counterfeits.tolist() == [added[int(cell)] for cell in shown]


@pytest.mark.parametrize("seed", [7, None])
def test_values_of_counterfeits_have_the_chances_of_equation_4(seed: int | None) -> None:
    members = [[0, 0, 0, 1], [2]]
    choice = ValueChoice(counts_of(members), Fraction(6))
    source = Source(seed)
    for owner, held in enumerate(members):
        which = np.full(20_000, owner)
        drawn = choice.values(which, source.uniform.below(choice.totals[which]))
        expected = np.array(oracle.chances(held, DOMAIN, 6.0)) * 20_000
        assert stats.chisquare(np.bincount(drawn, minlength=DOMAIN), expected).pvalue > TINY


@pytest.mark.parametrize("seed", [3, None])
def test_sizes_and_thresholds_have_laplace_noise_of_their_scales(seed: int | None) -> None:
    source = Source(seed)
    for scale in (Fraction(10), Fraction(10, 3)):
        drawn = source.laplace(scale, 20_000)
        spread = drawn + np.random.default_rng(1).uniform(-0.5, 0.5, len(drawn))
        fit = stats.kstest(spread, stats.laplace(scale=float(scale)).cdf)
        assert fit.statistic < 0.02 + 1 / (8 * float(scale))  # a step within each integer
    assert not source.laplace(Fraction(0), 3).any()


def test_records_are_removed_without_regard_to_their_value() -> None:
    counts = counts_of([[0] * 6 + [1] * 2])
    source = Source(5)
    gone = Counter(
        int(2 - remaining_counts(counts, np.array([-3]), source.uniform.words(8))[1])
        for _ in range(4000)
    )
    law = stats.hypergeom(8, 2, 3)
    observed = [gone[n] for n in range(3)]
    assert stats.chisquare(observed, [4000 * law.pmf(n) for n in range(3)]).pvalue > TINY


def test_a_node_has_the_weight_of_equation_12() -> None:
    epsilon, losses = Fraction(3, 10), [0.2, 1.0, 2.7]
    weights = [node_weight(il, epsilon, 3) for il in losses]
    due = [np.exp(0.3 * (3 - il) / 6) for il in losses]
    assert np.array(weights) / sum(weights) == pytest.approx(np.array(due) / sum(due))


@few
@given(classes, st.integers(0, 2**32))
def test_a_perturbed_node_is_its_classes_with_nothing_below_zero(
    members: list[list[int]], seed: int
) -> None:
    counts = counts_of(members)
    budget = Budget(2, Fraction(1, 10), Fraction(3, 10), Fraction(3, 10))
    made = perturb(counts, budget, Source(seed))
    assert bool((made.count > 0).all())
    hidden = sum(len(held) for held, h in zip(members, made.suppressed, strict=True) if h)
    assert made.count[made.owner == SUPPRESSED].sum() == hidden
    assert bool((made.counterfeits[made.suppressed] == 0).all())
    again = perturb(counts, budget, Source(seed))
    assert again.count.tolist() == made.count.tolist()


def test_a_class_of_exactly_t_is_suppressed_and_one_more_is_not() -> None:
    none = np.zeros(3, np.int64)
    assert suppressed_classes(np.array([1, 2, 3]), 2, none).tolist() == [True, True, False]
