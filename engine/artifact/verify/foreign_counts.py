"""Count tables of somebody else, held to the rules of SPEC section 19 as far as they show it.

What a table is, and what is read of it: ``audit/imports/count_file.py``.

Nothing of it is believed, and nothing taken for a rule that it does not say: where a count is not
told that a rule asks for, the widest bounds are taken that the told ones leave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from srsql.engine.artifact.verify.verdict import Check, Verified
from srsql.engine.audit.imports.count_file import ForeignCounts, Key, Stratum, read_counts
from srsql.engine.errors import VerifyError

CANNOT = (
    "that the counts are true, and of which cases they are: rows and originals are not given",
    "other tables of the same cases, whose counts can be subtracted from these (rule R6)",
    "why a count is missing: whoever knows the rule by which counts are left out may conclude more",
    "the joint use of counts of more than two items",
)
NO_THETA = "thresholds: give --theta"
NOT_ASKED = "{count:,} counts of items or pairs of which the whole is not told: their shares"
NO_JOINT = (
    "{count:,} of {total:,} pairs of items that share a third, for want of their joint count: the "
    "widest bound does not refute them"
)


def verify_foreign_counts(
    path: Path, k: int, theta: Mapping[str, Fraction], items: Sequence[str]
) -> Verified:
    """Hold a table of counts of somebody else to k, thresholds and the rules G1 to G3.

    Args:
        path: of the CSV file.
        k: cases of a count, at least.
        theta: column of items -> the largest share of the holders of another item, or of all cases,
            that may hold a value of it. Columns that are not named have no threshold.
        items: the columns of items.

    Raises:
        VerifyError: the file is no such table.
    """
    if k < 2:
        raise VerifyError(f"--k {k}: a count of one case hides nobody, give 2 or more")
    if unknown := sorted(set(theta) - set(items)):
        raise VerifyError(f"--theta {unknown[0]}: it is none of --items {','.join(items)}")
    counts = read_counts(path, tuple(items), VerifyError)
    checks, cannot = judged_counts(counts, k, theta)
    named = tuple(Check(c.name, c.faults, c.total, str(path)) for c in checks)
    return Verified((str(path),), named, (), tuple(cannot))


def judged_counts(
    counts: ForeignCounts, k: int, theta: Mapping[str, Fraction]
) -> tuple[list[Check], list[str]]:
    """The checks of counts, and what cannot be judged, in words.

    Args:
        counts: of a table.
        k: cases of a count, at least.
        theta: as ``verify_foreign_counts`` takes it.
    """
    shares, unasked = _shares(counts, k, theta)
    bridges, open_bridges, total = _bridges(counts, theta)
    looked_at = len(counts.told)
    checks = [
        Check("told counts", list(_cells(counts, k)), looked_at),
        Check("told shares", shares, looked_at),
        Check("ways out", list(_ways_out(counts, k, theta)), looked_at),
        Check("bridges", bridges, total),
    ]
    cannot = list(CANNOT)
    if not theta:
        cannot.append(NO_THETA)
    if unasked:
        cannot.append(NOT_ASKED.format(count=unasked))
    if open_bridges:
        cannot.append(NO_JOINT.format(count=open_bridges, total=total))
    return checks, cannot


def _cells(counts: ForeignCounts, k: int) -> Iterator[str]:
    """Counts below k, and differences of counts of one key that are."""
    for (key, stratum), cases in counts.told.items():
        words = counts.words(key, stratum)
        if 0 < cases < k:
            yield f"{words} is {cases}, fewer than {k}"
        for parts in counts.parts(key, stratum):
            rest = cases - sum(parts.values())
            if rest < 0:
                yield f"{words} is {cases:,}, and its parts are {cases - rest:,}"
            elif 0 < rest < k:
                yield f"{words} is {cases:,}: {rest} of it are in no part that is told"


def _shares(counts: ForeignCounts, k: int, theta: Mapping[str, Fraction]) -> tuple[list[str], int]:
    """Counts that are more of what they are part of than a threshold allows, or all but a few."""
    faults, unknown = list[str](), 0
    for (key, stratum), cases in counts.told.items():
        named = [place for place, value in enumerate(key) if value is not None]
        for place in named:
            others = _without(key, place)
            whole = counts.told.get((others, stratum))
            words = f"{counts.words(key, stratum)} is {cases:,}"
            limit = theta.get(counts.items[place], Fraction(1))
            if whole is None:
                unknown += 1
            elif cases > whole:
                faults.append(f"{words}, of {whole:,} {counts.words(others, stratum)}")
            elif cases > limit * whole:
                faults.append(
                    f"{words} of {whole:,} {counts.words(others, stratum)}: theta is {limit}"
                )
            elif len(named) == 1 and 0 < whole - cases < k:
                faults.append(f"{words} of {whole:,}: {whole - cases} do not hold it")
    return faults, unknown


def _without(key: Key, place: int) -> Key:
    return (*key[:place], None, *key[place + 1 :])


def _ways_out(counts: ForeignCounts, k: int, theta: Mapping[str, Fraction]) -> Iterator[str]:
    """Untold pairs that told counts force above a threshold, or pin to fewer than k: by all cases
    of their stratum (G1), or by a wider one and the room that its other parts have (G2)."""
    for one, other in combinations(range(len(counts.items)), 2):
        for known, sensitive in ((one, other), (other, one)):
            limit = theta.get(counts.items[sensitive], Fraction(1))
            if limit < 1:
                yield from _forced(counts, k, known, sensitive, limit)


def _alone(counts: ForeignCounts, place: int) -> dict[str, dict[Stratum, int]]:
    """Value of one column of items, alone -> its cells."""
    return {
        str(key[place]): cells
        for key, cells in counts.by_key.items()
        if key[place] is not None and key == _lone(len(key), place, str(key[place]))
    }


def _lone(size: int, place: int, value: str) -> Key:
    return _pair(size, {place: value})


def _forced(
    counts: ForeignCounts, k: int, known: int, sensitive: int, limit: Fraction
) -> Iterator[str]:
    size = len(counts.items)
    everyone = counts.by_key.get((None,) * size, {})
    holding, bearing = _alone(counts, known), _alone(counts, sensitive)
    for item, term in _candidates(counts, known, sensitive, holding, bearing):
        cells, bearers = holding[item], bearing.get(term, {})
        pair = _pair(size, {known: item, sensitive: term})
        told = counts.by_key.get(pair, {})
        for stratum, holders in cells.items():
            least, most = 0, min(holders, bearers.get(stratum, holders))
            if stratum in everyone and stratum in bearers:
                least = max(0, holders + bearers[stratum] - everyone[stratum])
            if not holders or stratum in told:
                if told.get(stratum, least) < least:
                    yield f"{counts.words(pair, stratum)}: at least {least:,} must hold both"
                continue
            for wide, total in told.items():
                if _inside(stratum, wide):
                    least = max(least, total - _room(cells, bearers, told, wide, stratum))
                    most = min(most, total)
            words = f"{counts.words(pair, stratum)} is not told, and "
            if least > limit * holders:
                yield f"{words}{least:,} of {holders:,} must hold both: theta is {limit}"
            elif 0 < least == most < k:
                yield f"{words}{least:,} hold both, fewer than {k}"
            elif least >= k and not told:
                yield f"{words}{least:,} must hold both, so that its being untold says more"


def _pair(size: int, values: Mapping[int, str]) -> Key:
    return tuple(values.get(at) for at in range(size))


def _candidates(
    counts: ForeignCounts, known: int, sensitive: int,
    holding: Mapping[str, Mapping[Stratum, int]], bearing: Mapping[str, Mapping[Stratum, int]],
) -> list[tuple[str, str]]:  # fmt: skip
    """Pairs of which something is told, and those that are so frequent that somebody holds both."""
    found: dict[tuple[str, str], None] = {}
    for key in counts.by_key:
        named = {at: value for at, value in enumerate(key) if value is not None}
        if named.keys() == {known, sensitive} and named[known] in holding:
            found[named[known], named[sensitive]] = None
    for stratum, cases in counts.by_key.get((None,) * len(counts.items), {}).items():
        bearers = {term: cells[stratum] for term, cells in bearing.items() if stratum in cells}
        greatest = max(bearers.values(), default=0)
        for item, cells in holding.items():
            if cells.get(stratum, 0) + greatest > cases:
                for term, count in bearers.items():
                    if cells[stratum] + count > cases:
                        found[item, term] = None
    return list(found)


def _inside(stratum: Stratum, wide: Stratum) -> bool:
    return stratum != wide and all(w in (None, s) for s, w in zip(stratum, wide, strict=True))


def _room(
    cells: Mapping[Stratum, int], bearers: Mapping[Stratum, int], told: Mapping[Stratum, int],
    wide: Stratum, stratum: Stratum,
) -> int:  # fmt: skip
    """How many of those who hold both in a wider stratum can lie outside one of its parts."""
    differs = [at for at, (s, w) in enumerate(zip(stratum, wide, strict=True)) if s != w]
    if len(differs) > 1 or wide not in cells:
        return told[wide]
    (place,) = differs
    room, left = 0, cells[wide] - cells[stratum]
    for beside, holders in cells.items():
        if (
            beside != stratum
            and beside[place] is not None
            and _inside(beside, wide)
            and beside[:place] + beside[place + 1 :] == stratum[:place] + stratum[place + 1 :]
        ):
            most = min(holders, bearers.get(beside, bearers.get(wide, holders)))
            room += told.get(beside, most)
            left -= holders
    return room + max(0, left)


def _bridges(counts: ForeignCounts, theta: Mapping[str, Fraction]) -> tuple[list[str], int, int]:
    """Two partners of an item that force it on more of those who hold both than its threshold
    allows (G3); how many are not shown, and how many there are."""
    faults, unknown, total = list[str](), 0, 0
    partners: dict[tuple[int, str, Stratum], list[tuple[int, int, str]]] = defaultdict(list)
    for (key, stratum), cases in counts.told.items():
        named = [(at, value) for at, value in enumerate(key) if value is not None]
        if len(named) == 2:
            for (at, term), (place, value) in (named, named[::-1]):
                if theta.get(counts.items[at], Fraction(1)) < 1:
                    partners[at, term, stratum].append((cases, place, value))
    size = len(counts.items)
    for (at, term, stratum), found in partners.items():
        bearers = counts.told.get((_lone(size, at, term), stratum))
        if bearers is None:
            continue
        limit = theta[counts.items[at]]
        found.sort(reverse=True)
        for number, (cases, place, value) in enumerate(found):
            if 2 * cases <= bearers:
                break
            for beside, other_place, other in found[number + 1 :]:
                forced = cases + beside - bearers
                if forced <= 0:
                    break
                total += 1
                most = None
                if place != other_place:
                    joint = _pair(size, {place: value, other_place: other})
                    most = counts.told.get((joint, stratum))
                if most is None:
                    unknown += 1
                    holders = [
                        counts.told.get((_lone(size, n, each), stratum))
                        for n, each in ((place, value), (other_place, other))
                    ]
                    most = min((n for n in holders if n is not None), default=forced)
                    most = max(most, forced)
                if forced > limit * most:
                    faults.append(
                        f"{forced:,} of at most {most:,} of {value!r} and {other!r} must hold "
                        f"{counts.words(_lone(size, at, term), stratum)}: theta is {limit}"
                    )
    return faults, unknown, total
