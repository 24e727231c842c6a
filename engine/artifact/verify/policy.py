"""Do the released rows contradict the policy that the thresholds are said to follow?

Under ``frequency`` (Lin 2016; SPEC section 6) the values of a quarter are ranked by the number of
cases that hold them, ties by their text; the first tenth (rounded down) gets the threshold 1, the
last tenth (rounded up) 1/5, the rest 2/5. An artifact shows the released cases only. W withheld
cases took part as well, so that a value's number of cases may be up to W higher, and values that
only withheld cases hold, each in at most W of them, stand in the ranking, too: how many, nobody can
see. Thresholds are therefore refuted where no such values could make a ranking that fits; otherwise
the least number of them that could is told, and judged by what W cases can hold. Written without
the code that applies the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import duckdb

from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify.declaration import every_term_published
from srsql.engine.warehouse.statements import query

LEVELS = (Fraction(1), Fraction(2, 5), Fraction(1, 5))
"""Thresholds of the first tenth, of the rest, of the last tenth."""
SPARE = 1_000
"""Values that withheld cases may hold alone, however few they are, ..."""
TIMES = 10
"""... and how many times as many as a released case on average each of them may hold beside."""
NO_FILE = (
    "{quarter}: thresholds against their policy, {theta}: it is in a file that is not published"
)
NOT_DERIVED = "{quarter}: thresholds against their policy, {theta}: {why}"
WITHIN = (
    "{quarter}: thresholds against their policy, {theta}, exactly: {withheld:,} withheld cases "
    "took part in the ranking of values; the thresholds fit if at least {hidden:,} values are held "
    "by them alone, beside {values:,} that are released"
)


@dataclass(frozen=True)
class RankedValue:
    """A released value, its threshold, and how many released cases hold it."""

    value: str
    theta: Fraction
    cases: int

    @property
    def rank(self) -> tuple[int, bytes]:
        """Where it stands among the released values."""
        return (-self.cases, self.value.encode())


def ranked_values(con: duckdb.DuckDBPyConnection) -> list[RankedValue]:
    """The released values of the artifact that was read, with their thresholds."""
    rows = con.execute(query("artifact/row_checks", "value_cases")).fetchall()
    return [RankedValue(value, Fraction(num, den), cases) for value, num, den, cases in rows]


def policy_verdict(
    manifest: Manifest, values: Sequence[RankedValue]
) -> tuple[list[str], list[str]]:
    """The faults of the thresholds under their policy, and what cannot be shown of them.

    Args:
        manifest: of the artifact.
        values: every released value that has a threshold.
    """
    theta, quarter = str(manifest.parameters.get("theta")), manifest.quarter
    if theta == "levels":
        return [], [NO_FILE.format(quarter=quarter, theta=theta)]
    if theta != "frequency" or not values:
        return [], []
    faults = [
        f"{v.value} has the threshold {v.theta}, the policy frequency knows {_words(LEVELS)}"
        for v in values
        if v.theta not in LEVELS
    ]
    why = _why_not(manifest)
    if faults or why:
        return faults, [NOT_DERIVED.format(quarter=quarter, theta=theta, why=why)] if why else []
    withheld = manifest.counts.withheld_cases or 0
    faults = _order_faults(values, withheld)
    hidden = least_hidden(values, withheld)
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
    text = WITHIN.format(
        quarter=quarter, theta=theta, withheld=withheld, hidden=hidden, values=len(values)
    )
    return [], [text]


def _words(levels: Sequence[Fraction]) -> str:
    return ", ".join(map(str, levels))


def _why_not(manifest: Manifest) -> str:
    """Why the number of cases that hold a value cannot be bounded."""
    if manifest.terms is not None or not every_term_published(manifest):
        return "not every sensitive column is in the released rows, or the artifact does not say so"
    if manifest.parameters.get("external_knowledge") == "yes":
        return "external knowledge added values to cases"
    if manifest.counts.withheld_cases is None:
        return "how many cases are withheld is not told of a model with noise"
    return ""


def _order_faults(values: Sequence[RankedValue], withheld: int) -> list[str]:
    """A value with a lower threshold that is certainly held by more cases than one with a higher.

    The number of cases of each can be up to ``withheld`` higher, so that the last of the one kind
    and the first of the other decide.
    """
    faults = []
    for bound in LEVELS[:2]:
        above = [v for v in values if v.theta >= bound]
        below = [v for v in values if v.theta < bound]
        if not above or not below:
            continue
        last, first = max(above, key=lambda v: v.rank), min(below, key=lambda v: v.rank)
        if first.rank < (last.rank[0] - withheld, last.rank[1]):
            faults.append(
                f"{first.value}, which {first.cases:,} cases hold, has the threshold "
                f"{first.theta}, and {last.value}, which {last.cases:,} hold, has {last.theta}: "
                "under the policy frequency the more frequent value has the higher one"
            )
    return faults


def least_hidden(values: Sequence[RankedValue], withheld: int) -> int | None:
    """The least number of values held by withheld cases alone with which the tenths come out.

    Returns:
        None: with no number of them.
    """
    sizes = [sum(v.theta == level for v in values) for level in LEVELS]
    # a value that is held by no released case ranks above one that is only if enough others hold it
    over = [
        withheld >= max((v.cases for v in values if v.theta < level), default=1) for level in LEVELS
    ]
    total, n = len(values), len(values)
    end = max(10 * sizes[0] + 10, 10 * sizes[2] + 10, 2 * sizes[1] + 40, n + 40)
    last = n if withheld == 0 else end
    while total <= last:
        first, bottom = total // 10, -(-total // 10)
        room = (first - sizes[0], total - first - bottom - sizes[1], bottom - sizes[2])
        if all(more >= 0 and (more == 0 or may) for more, may in zip(room, over, strict=True)):
            return total - n
        total += 1
    return None


def _no_ranking(values: Sequence[RankedValue], withheld: int) -> str:
    held = f"values that {withheld:,} withheld cases hold" if withheld else "none is withheld"
    return f"{_shares(values)} are the tenths of no ranking by frequency ({held})"


def _shares(values: Sequence[RankedValue]) -> str:
    listed = (
        f"{sum(v.theta == level for v in values):,} values of threshold {level}" for level in LEVELS
    )
    return ", ".join(listed)
