"""What any algorithm would have to withhold, against all releases that there could be."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
from support.benchmark import load

stay = load("stay")


def subsets(cases: set[int]) -> list[frozenset[int]]:
    sizes = range(len(cases) + 1)
    return [
        frozenset(c) for c in chain.from_iterable(combinations(sorted(cases), n) for n in sizes)
    ]


def may_stand(classes: list[frozenset[int]], new: frozenset[int], k: int) -> bool:
    """Whether groups can give each class none or k cases that are new."""
    return all(not cases or len(cases & new) >= k for cases in classes)


def fewest(quarters: list[set[int]], k: int, staying: bool) -> int:
    """The fewest cases that are withheld of all releases with none or k new cases in a class."""
    best = sum(map(len, quarters))
    for releases in product(*map(subsets, quarters)):
        seen: frozenset[int] = frozenset()
        for cases, after in zip(releases, [*releases[1:], None], strict=True):
            classes = [cases]
            if staying and after is not None:
                classes = [cases & after, cases - after]
            if not may_stand(classes, cases - seen, k):
                break
            seen |= cases
        else:
            best = min(best, sum(map(len, quarters)) - sum(map(len, releases)))
    return best


def test_no_release_withholds_less() -> None:
    rng, met, tight = np.random.default_rng(6), 0, 0
    for _ in range(60):
        quarters = [set(np.flatnonzero(rng.random(5) < 0.6).tolist()) for _ in range(3)]
        for staying in (False, True):
            least = stay.least_withheld(quarters, 2, staying)
            true = fewest(quarters, 2, staying)
            assert least <= true
            met += least > 0
            tight += 0 < least == true
    assert met >= 20
    assert tight >= 5


def test_those_who_go_on_alone_are_withheld_in_one_of_two_quarters() -> None:
    first, second, third = {1, 2, 3, 4}, {1, 5, 6, 7}, {1, 8, 9, 10}
    assert stay.least_withheld([first, second, third], 3, staying=True) == 1  # 1, in the second
    assert stay.least_withheld([first, second, third, {1, 11, 12}], 3, staying=True) == 2
    assert stay.least_withheld([first, second, third], 3, staying=False) == 0
    assert stay.least_withheld([{1, 2}, first], 3, staying=True) == 2  # and nobody of the first


def keeps(quarters: list[dict[int, int]], k: int, window: int) -> bool:
    """Whether all new cases of a group that share their presence with somebody are k."""
    for first, groups in enumerate(quarters):
        before = set().union(*quarters[:first])
        for case, group in groups.items():
            alike = [
                other
                for other in groups
                if groups[other] == group
                and all((other in q) == (case in q) for q in quarters[first + 1 : first + window])
            ]
            if len(set(alike) - before) < k:
                return False
    return True


def test_withholding_repairs_windows_and_nothing_else() -> None:
    first = dict.fromkeys((1, 2, 3, 4), 0) | dict.fromkeys((5, 6, 7, 8), 1)
    second = dict.fromkeys((1, 2, 3, 4, 9, 10, 11), 2)
    third = dict.fromkeys((1, 2, 12, 13, 14), 3)
    assert stay.repaired([first, second, third], 2, 2) == 2  # 1 and 2 are old where they go on
    assert stay.repaired([first, second], 4, 2) == 7  # 9, 10 and 11 are new, and three
    assert stay.repaired([first], 4, 3) == 0
    assert stay.repaired([first], 5, 3) == 8


def test_nothing_is_repaired_where_every_window_keeps_k() -> None:
    rng, kept = np.random.default_rng(2), 0
    for _ in range(50):
        quarters = [
            {case: int(rng.integers(2)) for case in range(10 * quarter, 10 * quarter + 14)}
            for quarter in range(3)
        ]
        for k, window in ((1, 2), (1, 3), (2, 2), (2, 3)):
            holds = keeps(quarters, k, window)
            assert (stay.repaired(quarters, k, window) == 0) == holds
            kept += holds
    assert 20 < kept < 180
