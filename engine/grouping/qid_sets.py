"""Groups for several sets of quasi-identifiers, each of which some attacker knows.

What several sets share is published once. So the cases are cut into *blocks* first, by what is
shared alone, and every case of a block shows the same of it. Within each block, each set groups the
cases once more by what it has for itself. Whoever knows a set sees its shared columns, which tell
the block, and its own ones, which tell the group of that set in it; the columns of other sets say
nothing that they know.

Why k and theta hold for each set: a block and a group of a set in it have k cases at least that
carry the bounds (all, or the new ones of a model that withstands attacks on a series), and theta
among them. Regions over the columns of a set are equal where block and group are, or by chance; the
cases of one region are whole groups of that set, and so are the cases whose regions cover a value.
What holds in each group holds in their union. A later region covers the first one of its case at
every position, and so at those of a set: who joins releases rules out no new case. Somebody who
knows columns of two sets is told the cases that share both groups, which may be one: that figure is
told with every release.

Who fits no block is withheld, or joins the one that gives up least where leftovers are merged: a
block is large, and all its cases would give up what one of them lacks. Who fits no group of a set
within a block joins the one that gives up least, where theta allows it; groups of the block become
one until it does, since the block as a whole keeps both bounds.

Source: ours (docs/models.md, several sets of quasi-identifiers).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from srsql.engine.errors import NoGroupError
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.store.statements import query
from srsql.schemas import Dataset

TOPIC = "grouping/qid_sets"
TIMES_K = 200
"""Cases of a block, at least, as multiples of k, where so many know the same of what is shared."""
MOST_BLOCKS = 100
"""About so many blocks at most."""
Part = Callable[[Grouping, int | None], object]
"""Fills ``srsql_grouped`` and ``srsql_withheld`` of a part; the number: cases of a group, at least,
where a pattern has as many, and groups are not refined."""


def group_by_sets(grouping: Grouping, part: Part, *, merge: bool) -> None:
    """Fill ``srsql_grouped``, ``srsql_region`` and ``srsql_withheld`` for sets of attributes.

    Args:
        grouping: of a dataset that declares sets; all its cases carry the bounds.
        part: groups what is in ``srsql_profile``.
        merge: a case that fits no block joins one that gives up what it shows for it; else only one
            that gives up nothing, or the case is withheld.
    """
    warehouse, dataset = grouping.warehouse, grouping.release.dataset
    owners = owners_of(dataset)
    warehouse.run_step("grouping/set_start")
    _block(grouping, part, _mask(owners, 0), last=not any(owners), merge=merge)
    for set_no in sorted({owner for owner in owners if owner}):
        mask = _mask(owners, set_no)
        for (block,) in warehouse.rows(query(TOPIC, "blocks")):
            warehouse.run_step("grouping/set_part", {"block": block, "mask": mask})
            part(replace(grouping, draw=f"{grouping.draw}/{set_no}/{block}"), None)
            _place(grouping, merging=True, giving_up=True)
            warehouse.run_step("grouping/set_taken", {"set_no": set_no})
    warehouse.run_step("grouping/set_end", {"owners": owners})


def least_of(grouping: Grouping, pattern: int, size: int) -> int:
    """``size``, or fewer where a pattern has not as many cases; never fewer than k."""
    found = int(grouping.warehouse.value(query(TOPIC, "carriers"), {"pattern": pattern}))
    return max(grouping.k, min(size, found))


def owners_of(dataset: Dataset) -> list[int]:
    """By position: the number of the set that alone has it, from 1 on; 0 where several have."""
    sets = list(dataset.set_positions.values())
    holders = [
        [number for number, each in enumerate(sets, 1) if position in each]
        for position in range(len(dataset.qid))
    ]
    return [own[0] if len(own) == 1 else 0 for own in holders]


def _mask(owners: list[int], owner: int) -> int:
    return sum(1 << position for position, each in enumerate(owners) if each == owner)


def _block(grouping: Grouping, part: Part, mask: int, *, last: bool, merge: bool) -> None:
    """The blocks; where no set has anything for itself, they are the groups of all sets."""
    warehouse = grouping.warehouse
    warehouse.run_step("grouping/set_part", {"block": None, "mask": mask})
    cases = int(warehouse.value("SELECT count(*) FROM temp.main.srsql_profile"))
    if mask:
        size = None if last else max(TIMES_K * grouping.k, -(-cases // MOST_BLOCKS))
        part(replace(grouping, draw=f"{grouping.draw}/0"), size)
        _place(grouping, merging=False, giving_up=merge)
        warehouse.run_step("grouping/set_blocks")
    else:
        warehouse.run(query(TOPIC, "one_block"), {"k": grouping.k})
        if not warehouse.rows(query(TOPIC, "groups")):
            warehouse.run(query("grouping/patterns", "withhold"), _too_few())
    warehouse.run_step("grouping/set_taken", {"set_no": 0})


def _too_few() -> dict[str, object]:
    return {"pattern": 0, "reason": "pattern_too_small"}


@dataclass
class _Held:
    """A group, or a case without one."""

    pattern: int
    """Bit mask of what it shows."""
    cases: int
    carriers: int
    """Cases that carry the bounds."""
    weights: dict[int, int] = field(default_factory=dict)
    """Bounded value -> what it weighs."""

    def with_(self, other: _Held) -> _Held:
        weights = dict(self.weights)
        for term, weight in other.weights.items():
            weights[term] = weights.get(term, 0) + weight
        return _Held(
            self.pattern & other.pattern,
            self.cases + other.cases,
            self.carriers + other.carriers,
            weights,
        )

    def given_up(self, other: _Held) -> int:
        """Values that its cases give up where the other one joins."""
        return (self.pattern & ~other.pattern).bit_count() * self.cases


def _place(grouping: Grouping, *, merging: bool, giving_up: bool) -> None:
    """Place who has no group; ``merging``: groups may become one for it; ``giving_up``: a group may
    show less for it."""
    warehouse = grouping.warehouse
    waiting = warehouse.rows(query(TOPIC, "unplaced"))
    if not waiting:
        return
    groups = {no: _Held(*of) for no, *of in warehouse.rows(query(TOPIC, "groups"))}
    cases = {no: _Held(known, 1, int(carrier)) for no, known, carrier in waiting}
    theta: dict[int, tuple[int, int]] = {}
    for place, term, weight, num, den in warehouse.rows(grouping.bounds.query(TOPIC, "held")):
        held = groups[place] if place >= 0 else cases[-1 - place]
        held.weights[term] = weight
        theta[term] = (num, den)
    scale = grouping.bounds.weight_scale

    def keeps(held: _Held) -> bool:
        return held.carriers >= grouping.k and all(
            weight * theta[term][1] <= theta[term][0] * held.carriers * scale
            for term, weight in held.weights.items()
        )

    joins: dict[int, list[int]] = defaultdict(list)
    for case_no, case in cases.items():
        for no in sorted(groups, key=lambda no: (groups[no].given_up(case), no)):
            together = groups[no].with_(case)
            if keeps(together) and (giving_up or not groups[no].given_up(case)):
                groups[no] = together
                joins[no].append(case_no)
                break
    rest = sorted(cases.keys() - {case_no for each in joins.values() for case_no in each})
    merged: list[int] = []
    if merging and rest:
        whole = cases[rest[0]]
        for case_no in rest[1:]:
            whole = whole.with_(cases[case_no])
        for no in sorted(groups, key=lambda no: (groups[no].given_up(whole), no)):
            if keeps(whole):
                break
            whole = whole.with_(groups.pop(no))
            merged.append(no)
        if not keeps(whole):
            raise NoGroupError(
                f"{len(rest):,} case(s) of {grouping.release.quarter} fit no group of a set of "
                "quasi-identifiers, nor their block as a whole: lower --k, or raise --theta"
            )
        first = min(merged, default=max(groups, default=-1) + 1)
        groups[first] = whole
        joins[first] = [each for no in merged for each in joins.pop(no, [])] + rest
        warehouse.run(query(TOPIC, "leave"), {"group_no": first, "group_nos": merged})
    for no, joining in joins.items():
        for case_no in joining:
            placed = {"case_no": case_no, "group_no": no, "pattern": groups[no].pattern}
            warehouse.run(query(TOPIC, "place"), placed)
        warehouse.run(query(TOPIC, "show"), {"group_no": no, "pattern": groups[no].pattern})
    warehouse.run(query(TOPIC, "placed"))
    if not merging:
        warehouse.run(query(TOPIC, "fit_none"))
