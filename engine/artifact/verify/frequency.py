"""Thresholds by frequency, against the released rows: what they say that true ones do not.

Under ``frequency`` (Lin 2016; SPEC section 6) the values of a quarter are ranked by the
number of cases that hold them, ties by their text; the first tenth (rounded down) gets the
threshold 1, the last tenth (rounded up) 1/5, the rest 2/5. An artifact shows the released cases
only. W withheld cases, and those that lost the value, took part as well, so that a value's number
of cases may be up to W higher, and values that only withheld cases hold, each in at most W of them,
stand in the ranking, too: how many is not published. Thresholds are refuted where no such values
could make a ranking that fits; otherwise the least number of them that could is told, and judged by
what W cases can hold. Where terms have keys, a threshold is the stricter of two places: of the term
among terms, and of its commonest spelling among spellings (SPEC section 2). Written without the
code that applies the policy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb

from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify.declarations import every_term_published
from srsql.engine.artifact.verify.verdict import suppressed_cases
from srsql.engine.store.statements import query

Spelled = tuple[str, int]
"""A spelling, and how many released cases have it."""
LEVELS = (Fraction(1), Fraction(2, 5), Fraction(1, 5))
"""Thresholds of the first tenth, of the rest, of the last tenth."""
SPARE = 1_000
"""Values that withheld cases may hold alone, however few they are, ..."""
TIMES = 10
"""... and how many times as many as a released case on average each of them may hold beside."""
BY_FILE = "it is in a file that is not published"
NOT_DERIVED = "{quarter}: thresholds against their policy, {theta}: {why}"
WITHIN = (
    "{quarter}: thresholds against their policy, {theta}, exactly: {withheld:,} {what} "
    "took part in the ranking of values; the thresholds fit if at least {hidden:,} values are held "
    "by them alone, beside {values:,} that are released"
)


@dataclass(frozen=True)
class RankedValue:
    """A released value, its threshold, and how many released cases hold it."""

    value: str
    theta: Fraction
    cases: int
    spelling: str = ""
    """The spelling that most of these cases have, the first of several; empty: terms have no
    keys."""
    spelled: int = 0
    """How many have it."""

    @property
    def rank(self) -> tuple[int, bytes]:
        """Where it stands among the released values."""
        return (-self.cases, self.value.encode())


def ranking(
    con: duckdb.DuckDBPyConnection, *, keyed: bool
) -> tuple[list[RankedValue], list[Spelled]]:
    """The released values of the artifact that was read with their thresholds, and their spellings.

    Args:
        con: into which the artifact was read.
        keyed: terms have keys; else there are no spellings.
    """
    every = con.execute(query("artifact/row_checks", "spelling_cases")).fetchall() if keyed else []
    commonest: dict[str, Spelled] = {}
    for key, spelling, cases in every:
        commonest.setdefault(key, (spelling, cases))
    rows = con.execute(query("artifact/row_checks", "value_cases")).fetchall()
    values = [
        RankedValue(value, Fraction(num, den), cases, *commonest.get(value, ("", 0)))
        for value, num, den, cases in rows
    ]
    return values, [(spelling, cases) for _, spelling, cases in every]


def policy_verdict(
    manifest: Manifest, values: Sequence[RankedValue], spellings: Sequence[Spelled] = ()
) -> tuple[list[str], list[str]]:
    """The faults of the thresholds under their policy, and what cannot be shown of them.

    Args:
        manifest: of the artifact.
        values: every released value that has a threshold.
        spellings: of them, where terms have keys; each has one at least.
    """
    theta, quarter = str(manifest.parameters.get("theta")), manifest.quarter
    if theta == "levels":
        return [], [NOT_DERIVED.format(quarter=quarter, theta=theta, why=BY_FILE)]
    if theta != "frequency" or not values:
        return [], []
    faults = [
        f"{v.value} has the threshold {v.theta}, the policy frequency knows {_listed(LEVELS)}"
        for v in values
        if v.theta not in LEVELS
    ]
    why = _why_not(manifest)
    if faults or why:
        return faults, [NOT_DERIVED.format(quarter=quarter, theta=theta, why=why)] if why else []
    # of a case whose value is suppressed, as of a withheld one, no row shows that it has the value
    withheld = (manifest.counts.withheld_cases or 0) + suppressed_cases(manifest, "one_value")
    if spellings and withheld == 0:
        return _exact_faults(values, spellings), []
    faults = _order_faults(values, withheld, keyed=bool(spellings))
    hidden = least_hidden(values, withheld, keyed=bool(spellings))
    if faults or hidden is None:
        return faults or [_no_ranking(values, withheld)], []
    most = SPARE + TIMES * withheld * sum(v.cases for v in values) // max(
        1, manifest.counts.released_cases
    )
    if hidden > most:
        return [
            f"{_shares(values)} fit the policy frequency only if the {withheld:,} withheld cases "
            f"alone hold {hidden:,} values, and no more than {most:,} are plausible"
        ], []
    if withheld == 0:
        return [], []
    lost = " or such as lost a value" if "theta_bounds" in manifest.parameters else ""
    text = WITHIN.format(
        quarter=quarter,
        theta=theta,
        withheld=withheld,
        what=f"withheld cases{lost}",
        hidden=hidden,
        values=len(values),
    )
    return [], [text]


def _listed(levels: Sequence[Fraction]) -> str:
    return ", ".join(map(str, levels))


def _why_not(manifest: Manifest) -> str:
    """Why the number of cases that hold a value cannot be bounded."""
    if manifest.counted is not None:
        return "counts tell values of k cases and more alone"
    if manifest.noisy is not None:
        return "counts of values have noise"
    if manifest.terms is not None or not every_term_published(manifest):
        return "not every sensitive column is in the released rows, or the artifact does not say so"
    if manifest.parameters.get("external_knowledge") == "yes":
        return "external knowledge added values to cases"
    if manifest.counts.withheld_cases is None:
        return "how many cases are withheld is not told of a model with noise"
    return ""


def _levels(ranked: Sequence[Any]) -> dict[Any, Fraction]:
    """The threshold of each place of a ranking."""
    first, last = len(ranked) // 10, len(ranked) - -(-len(ranked) // 10)
    return {
        each: LEVELS[0] if place < first else LEVELS[2] if place >= last else LEVELS[1]
        for place, each in enumerate(ranked)
    }


def _exact_faults(values: Sequence[RankedValue], spellings: Sequence[Spelled]) -> list[str]:
    """Thresholds that are not the stricter of both places, where all cases are released."""
    of_term = _levels([v.value for v in sorted(values, key=lambda v: v.rank)])
    of_spelling = _levels([s for s, _ in sorted(spellings, key=lambda s: (-s[1], s[0].encode()))])
    return [
        f"{v.value} has the threshold {v.theta}, and {due} under the policy frequency, by its "
        "place and that of its commonest spelling"
        for v in values
        if v.theta != (due := min(of_term[v.value], of_spelling.get(v.spelling, LEVELS[0])))
    ]


def _order_faults(values: Sequence[RankedValue], withheld: int, *, keyed: bool) -> list[str]:
    """A value with a lower threshold that is certainly held by more cases than one with a higher,
    and, where terms have keys, has a spelling that certainly more cases have.

    The number of cases of each can be up to ``withheld`` higher. Of the one with the higher
    threshold any spelling may be the commonest of all cases.
    """
    faults = []
    for bound in LEVELS[:2]:
        above = sorted(
            ((v.rank[0] - withheld, v.rank[1], v) for v in values if v.theta >= bound),
            key=lambda each: each[:2],
        )
        least: list[RankedValue] = []
        for *_, v in reversed(above):
            least.append(least[-1] if least and least[-1].spelled <= v.spelled else v)
        for v in sorted((v for v in values if v.theta < bound), key=lambda v: v.rank):
            behind = len(above) - bisect_right([each[:2] for each in above], v.rank)
            if not behind:
                break
            last = least[behind - 1] if keyed else above[-1][2]
            if not keyed or v.spelled > last.spelled + withheld:
                faults.append(
                    f"{v.value}, which {v.cases:,} cases hold, has the threshold {v.theta}, and "
                    f"{last.value}, which {last.cases:,} hold, has {last.theta}: under the policy "
                    "frequency the more frequent value has the higher one"
                )
                break
    return faults


def least_hidden(
    values: Sequence[RankedValue], withheld: int, *, keyed: bool = False
) -> int | None:
    """The least number of values held by withheld cases alone with which the tenths come out.

    Where terms have keys, any value may have a lower threshold by its spelling.

    Returns:
        None: with no number of them.
    """
    sizes = [sum(v.theta == level for v in values) for level in LEVELS]
    # a value that is held by no released case ranks above one that is only if enough others hold it
    over = [
        withheld >= max((v.cases for v in values if v.theta < level), default=1) for level in LEVELS
    ]
    n = len(values)
    end = 10 * max(sizes[0], sizes[2]) + 2 * sizes[1] + n + 40
    for total in range(n, n + 1 if withheld == 0 else end):
        first, bottom = total // 10, -(-total // 10)
        room = (first - sizes[0], total - first - bottom - sizes[1], bottom - sizes[2])
        if keyed:
            if room[0] >= 0 and room[0] + room[1] >= 0 and (room[2] <= 0 or over[2]):
                return total - n
        elif all(more >= 0 and (more == 0 or may) for more, may in zip(room, over, strict=True)):
            return total - n
    return None


def _no_ranking(values: Sequence[RankedValue], withheld: int) -> str:
    held = f"values that {withheld:,} withheld cases hold" if withheld else "none is withheld"
    return f"{_shares(values)} are the tenths of no ranking by frequency ({held})"


def _shares(values: Sequence[RankedValue]) -> str:
    sizes = [(sum(v.theta == level for v in values), level) for level in LEVELS]
    return ", ".join(f"{size:,} values of threshold {level}" for size, level in sizes)
