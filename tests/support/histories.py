"""Random series of releases, for what an attacker makes of the history of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from oracles.audit import Box
from support.boxes import boxes, coded

CASES = "abcde"


@dataclass(frozen=True)
class Published:
    """One release: the quarter it is of, whether it is reported on, and where each case is."""

    quarter: int
    reported: bool
    regions: tuple[Box, ...]
    group_of: dict[str, int]

    def region(self, case: str) -> Box | None:
        return self.regions[self.group_of[case]] if case in self.group_of else None


Series = list[Published]
"""In the order of the attack: by quarter, then by the number of the release."""


@st.composite
def series(draw: st.DrawFn) -> Series:
    """One to four releases, of which several may be of one quarter; quarters have no gaps."""
    made: Series = []
    quarter = 1
    for _ in range(draw(st.integers(1, 4))):
        regions = tuple(draw(st.lists(boxes, min_size=1, max_size=2)))
        present = draw(st.sets(st.sampled_from(CASES)))
        group_of = {c: draw(st.integers(0, len(regions) - 1)) for c in sorted(present)}
        made.append(Published(quarter, draw(st.sampled_from([True, True, False])), regions,
                              group_of))  # fmt: skip
        quarter += draw(st.integers(0, 1))
    return made


def histories(sql: Any, made: Series) -> dict[tuple[int, str], dict[str, Any]]:
    """(place of the release, case) -> the row of ``srsql.case_history``."""
    releases = sql.table(
        "release_order",
        "release_id INTEGER, seq BIGINT, quarter_no BIGINT, reported BOOLEAN",
        [(10 + n, n + 1, one.quarter, one.reported) for n, one in enumerate(made)],
    )
    regions = sql.table(
        "release_region",
        "release_id INTEGER, group_id INTEGER, box BIGINT[]",
        [
            (10 + n, group, coded(region))
            for n, one in enumerate(made)
            for group, region in enumerate(one.regions)
        ],
    )
    followed = [case for case in CASES if sum(case in one.group_of for one in made) > 1]
    appearances = sql.table(
        "release_appearance",
        "case_key BIGINT, release_id INTEGER, case_no INTEGER, group_id INTEGER",
        [
            (CASES.index(case), 10 + n, number, group)
            for n, one in enumerate(made)
            for number, (case, group) in enumerate(one.group_of.items())
            if case in followed
        ],
    )
    rows = sql.records(f"FROM srsql.case_history({releases}, {appearances}, {regions})")
    names = [list(one.group_of) for one in made]
    return {(row["release_id"] - 10, names[row["release_id"] - 10][row["case_no"]]): row
            for row in rows}  # fmt: skip


def followed(made: Series) -> list[tuple[int, str]]:
    """(place, case) of the reported releases, of cases in two releases or more."""
    appearances = {case: [n for n, one in enumerate(made) if case in one.group_of]
                   for case in CASES}  # fmt: skip
    return [
        (n, case)
        for case, places in appearances.items()
        if len(places) > 1
        for n in places
        if made[n].reported
    ]


def corners(made: Series) -> list[Box]:
    """What a target may know: every combination of the ends of the regions, and nothing."""
    ages = {end for one in made for region in one.regions for end in region[0] or ()}
    places = {part for one in made for region in one.regions if (part := region[1])}
    known = [None, *((age, age) for age in sorted(ages))]
    return [(age, place) for age in known for place in [None, *sorted(places)]]
