"""What all releases of a quarter tell together, macro by macro, against plain Python."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.linkability import Ends, common, covers

UNBOUNDED = 2**62
ENDS: st.SearchStrategy[Ends] = st.one_of(
    st.none(), st.tuples(st.integers(0, 9), st.integers(0, 4)).map(lambda e: (e[0], e[0] + e[1]))
)
REGIONS = st.tuples(ENDS, ENDS)


def box(region: tuple[Ends, ...]) -> list[int]:
    return [
        int(n)
        for ends in region
        for n in ((UNBOUNDED, UNBOUNDED) if ends is None else (-ends[0], ends[1]))
    ]


@REPEATABLE
@given(
    cases=st.dictionaries(st.tuples(st.integers(1, 3), st.integers(1, 4)), REGIONS, max_size=9),
    chosen=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=6),
)
def test_the_joined_box_covers_what_all_regions_of_a_row_and_its_links_cover(
    sql: Any, cases: dict[tuple[int, int], Any], chosen: set[tuple[int, int]]
) -> None:
    known = list(cases)
    linked: dict[tuple[int, int], dict[int, tuple[int, int]]] = {case: {} for case in cases}
    for a, b in chosen:
        if max(a, b) < len(known) and known[a][0] != known[b][0]:
            linked[known[a]].setdefault(known[b][0], known[b])
    shown = sql.table(
        "shown", "release_id INTEGER, case_no BIGINT, box BIGINT[]",
        [(*case, box(region)) for case, region in cases.items()],
    )  # fmt: skip
    links = sql.table(
        "links", "release_id INTEGER, case_no BIGINT, other_id INTEGER, counterpart BIGINT",
        [(*case, *other) for case, others in linked.items() for other in others.values()],
    )  # fmt: skip
    found = {
        (release, case): (joined, count)
        for release, case, joined, count in sql.rows(f"FROM srsql.joined_boxes({shown}, {links})")
    }
    assert found.keys() == cases.keys()
    for case, region in cases.items():
        joined, count = found[case]
        assert count == len(linked[case])
        together = common([region, *(cases[other] for other in linked[case].values())])
        if together is None:
            assert any(-low > high for low, high in zip(joined[::2], joined[1::2], strict=True))
        else:
            assert joined == box(together)


@REPEATABLE
@given(
    targets=st.lists(REGIONS, max_size=6),
    regions=st.lists(REGIONS, max_size=12),
    k=st.integers(1, 4),
)
def test_candidates_are_the_cases_whose_region_covers_the_target(
    sql: Any, targets: list[Any], regions: list[Any], k: int
) -> None:
    asks = sql.table(
        "asks", "ask_no BIGINT, box BIGINT[], cases BIGINT",
        [(n, box(target), n + 1) for n, target in enumerate(targets)],
    )  # fmt: skip
    empty = [-7, 3, -1, 2]  # what two regions have in common that do not overlap
    places = sql.table("places", "box BIGINT[]", [*((box(r),) for r in regions), (empty,)])
    counts = dict(sql.rows(f"FROM srsql.candidate_counts({asks}, {places})"))
    expected = [sum(covers(r, target) for r in regions) for target in targets]
    assert counts == {n: count for n, count in enumerate(expected) if count}
    found = sql.table("found", "ask_no BIGINT, candidates BIGINT", counts.items())
    few = sum(n + 1 for n, count in enumerate(expected) if count < k)
    total = sum(n + 1 for n in range(len(targets)))
    assert sql.rows(f"FROM srsql.too_few_candidates(3, 'joined', {asks}, {found}, {k})") == [
        (3, "few_candidates", "joined", few, total, few / total if total else None, k, few == 0)
    ]


@REPEATABLE
@given(
    targets=st.lists(st.tuples(st.integers(0, 1), REGIONS), max_size=6),
    regions=st.lists(st.tuples(st.integers(0, 1), REGIONS), max_size=12),
    last=ENDS,
)
def test_candidates_within_a_group_show_the_same_region_as_the_target(
    sql: Any, targets: list[Any], regions: list[Any], last: Ends
) -> None:
    more = (last, last)  # four positions: more than are written out
    asks = sql.table(
        "asks", "ask_no BIGINT, own_box BIGINT[], box BIGINT[]",
        [(n, [own], box((*target, *more))) for n, (own, target) in enumerate(targets)],
    )  # fmt: skip
    places = sql.table(
        "places", "own_box BIGINT[], box BIGINT[]",
        [([own], box((*region, (2, 9), None))) for own, region in regions],
    )  # fmt: skip
    expected = [
        sum(
            own == group and covers((*region, (2.0, 9.0), None), (*target, *more))
            for group, region in regions
        )
        for own, target in targets
    ]
    found = dict(sql.rows(f"FROM srsql.group_candidate_counts({asks}, {places})"))
    assert found == {n: count for n, count in enumerate(expected) if count}
