"""The groups of a question with the bounds of each of its aggregates, from one statement or more.

One count is one statement, whose rows are the answer. Shares, means and quantiles have statements
that tell what the units of a group may be (``unit_states``), from which their ends follow
(``extremes``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.aggregates import Counted, Measure
from srsql.engine.query.chosen_groups import Bounds, Group, chosen
from srsql.engine.query.count_bounds import compose_count_bounds
from srsql.engine.query.extremes import Alike, Hits, share_ends, value_ends
from srsql.engine.query.question import Question
from srsql.engine.query.suppression import Hidden
from srsql.engine.query.unit_states import HitCounts, Uncertain, ValueEnds
from srsql.engine.query.vocabulary import Views
from srsql.engine.query.worlds import FARTHEST_VALUE, Span, possible_span
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

Key = tuple[Any, ...]
_NOBODY: Bounds = (0, 0.0, 0, 0)


@dataclass(frozen=True)
class Found:
    """What a question comes to."""

    groups: list[Group]
    """Those that are shown, in their order."""
    texts: tuple[str, ...]
    """The statements that were asked."""
    notes: tuple[str, ...] = ()


@dataclass
class Finder:
    """Answers the aggregates of one question."""

    warehouse: Warehouse
    dataset: Dataset
    views: Views
    question: Question
    composed: Callable[[Question], str]
    """The statement of one count."""
    hidden: Callable[[Question], Hidden | None]
    """What suppressed values hide from a question that counts so."""
    tells_why: bool = True
    """Why bounds are wide is told."""
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def find(self) -> Found:
        """The groups of the question."""
        question = self.question
        if question.is_count:
            return self._of_count()
        base = self._counts(_plain(question.measures[0]))
        columns = [self._bounds(measure, base) for measure in question.measures]
        null = tuple(measure.kind == "value" for measure in question.measures)
        groups = []
        for key, bounds in base.items():
            found = tuple(each.get(key, _NOBODY) for each in columns)
            is_null = tuple(n and not each[3] for n, each in zip(null, found, strict=True))
            is_sure = bounds[0] > 0 or not question.groups
            groups.append(Group(key, found, is_sure, is_null))
        shown = chosen(question, groups, self._most(question))
        return Found(shown, tuple(self.texts), tuple(dict.fromkeys(self.notes)))

    def _of_count(self) -> Found:
        """One count: the rows of its statement."""
        question = self.question
        every = replace(question, limit=None, offset=0)
        text = self.composed(every)
        size = len(question.groups)
        groups = [
            Group(row[:size], (row[size:],), row[size] > 0 or not size, (False,))
            for row in self.warehouse.rows(text)
        ]
        notes = tuple(self._why(groups)) if self.tells_why else ()
        if question.limit is None and not question.offset and question.having is None:
            return Found(groups, (text,), notes)
        shown = chosen(question, groups, self._most(question))
        if question.having is None and all(group.is_certain for group in shown):
            text = self.composed(question)
        return Found(shown, (text,), notes)

    def _most(self, question: Question) -> int:
        """How many units may be otherwise than rows show."""
        hidden = self.hidden(question)
        if hidden is None:
            return 0
        return int(self.warehouse.value(exp.select(hidden.most()).sql("duckdb")))

    def _counting(self, measure: Measure) -> Question:
        """The question, counting as an aggregate does."""
        return replace(
            self.question,
            counted=measure.counted,
            unit=measure.unit,
            order=(),
            limit=None,
            offset=0,
            having=None,
            measures=(measure,),
        )

    def _rows(self, text: str) -> list[tuple[Any, ...]]:
        self.texts.append(text)
        return self.warehouse.rows(text)

    def _counts(self, measure: Measure) -> dict[Key, Bounds]:
        """The count of all that meet the conditions."""
        asked, size = self._counting(measure), len(self.question.groups)
        hidden = self.hidden(asked)
        text = compose_count_bounds(self.dataset, self.views, asked, None, hidden)
        if text in self.texts:
            return {row[:size]: row[size:] for row in self.warehouse.rows(text)}
        return {row[:size]: row[size:] for row in self._rows(text)}

    def _bounds(self, measure: Measure, base: Mapping[Key, Bounds]) -> dict[Key, Bounds]:
        """The bounds of an aggregate in each group."""
        if measure.is_plain:
            return self._counts(measure)
        if measure.kind == "value":
            return dict(self._values(measure, base))
        if measure.of_groups:
            return dict(self._shares_of_all(measure))
        return dict(self._hits(measure))

    def _hits(self, measure: Measure) -> Iterator[tuple[Key, Bounds]]:
        """Of counts with a filter, and of their share."""
        asked, size = self._counting(measure), len(self.question.groups)
        most = self._most(asked)
        for row in self._rows(HitCounts(self.dataset, self.views, asked, measure).text()):
            counts = row[size:]
            found = Hits(counts[:4], counts[4:8], counts[8:10]).without(most)
            if measure.kind == "count":
                yield row[:size], found.hits
            else:
                yield row[:size], _shown(share_ends(found), measure, found.total[3])

    def _shares_of_all(self, measure: Measure) -> Iterator[tuple[Key, Bounds]]:
        """Of the sum over all groups: the rest are the other groups."""
        if self.question.having is not None:
            raise QueryError(
                "SUM(COUNT(...)) OVER () sums the groups that HAVING leaves, which are undecided: "
                "leave HAVING out"
            )
        counts = self._counts(_plain(measure))
        sums = [sum(bounds[n] for bounds in counts.values()) for n in range(4)]
        for key, bounds in counts.items():
            rest = sums[0] - bounds[0], sums[2] - bounds[2]
            found = Hits((sums[0], sums[1], sums[2], sums[3]), bounds, rest)
            yield key, _shown(share_ends(found), measure, sums[3])

    def _values(self, measure: Measure, base: Mapping[Key, Bounds]) -> Iterator[tuple[Key, Bounds]]:
        """Of means and quantiles."""
        assert measure.position is not None
        asked, size = self._counting(measure), len(self.question.groups)
        if measure.hit is not None:
            asked = replace(asked, conditions=(*asked.conditions, measure.hit))
        hidden, most = self.hidden(asked), self._most(asked)
        if hidden is not None and hidden.absence_counts:
            raise QueryError(
                "values of some cases are suppressed, so who meets NOT, IS NULL or CASE is "
                "undecided: leave these out, or ask for counts"
            )
        units: dict[Key, list[Alike]] = {key: [] for key in base}
        for row in self._rows(ValueEnds(self.dataset, self.views, asked, measure).text()):
            units.setdefault(row[:size], []).append(Alike(*row[size:]))
        qid = self.dataset.qid[measure.position]
        first, last = possible_span(self.dataset, qid)
        if most:
            for listed in units.values():
                listed.append(Alike(first, last, False, True, False, most, 0.0))
        self.notes += _of_values(measure, units.values(), qid, (first, last))
        step = Fraction(qid.granularity)
        for key, listed in units.items():
            ends = value_ends(listed, measure.quantile, interpolated=measure.interpolated)
            lower, expected, upper = (None if end is None else end * step for end in ends)
            known = sum(unit.members for unit in listed if unit.certain and unit.known)
            yield key, _shown((lower, expected, upper), measure, known)

    def _why(self, groups: Iterable[Group]) -> Iterator[str]:
        """Why the bounds of a count are wide."""
        question = self.question
        if all(group.bounds[0][0] == group.bounds[0][2] for group in groups):
            return
        asked = replace(question, order=(), limit=None, offset=0, having=None)
        composer = Uncertain(self.dataset, self.views, asked)
        if not composer.used:
            return
        ((total, *lacking, straddling),) = self.warehouse.rows(composer.text())
        if not total:
            return
        names = [qid.name for qid in composer.used.values()]
        parts = [f"{n:,} have no {name}" for n, name in zip(lacking, names, strict=True) if n]
        parts += [f"the regions of {straddling:,} straddle a limit"] * bool(straddling)
        yield f"of {total:,} uncertain {question.counted} {', '.join(parts)}"


def _plain(measure: Measure) -> Measure:
    """The count of all that meet the conditions, of what an aggregate counts."""
    return Measure(measure.label, measure.counted, measure.unit)


def _of_values(
    measure: Measure, groups: Iterable[list[Alike]], qid: Qid, span: Span
) -> Iterator[str]:
    """How a mean or quantile is to be read.

    Args:
        measure: the mean or quantile.
        groups: the units of each.
        qid: the number.
        span: its possible values, in granules.
    """
    once: dict[Counted, str] = {
        "cases": "each case once, by its newest quarter that meets the conditions and has a value",
        "reports": "each report once",
        "rows": "each row, as in SQL; COUNT(DISTINCT ...) beside it takes each case or report once",
    }
    unit = f" in {qid.unit}" if qid.unit else ""
    yield f"means and quantiles of {qid.name}{unit} are of {once[measure.counted]}"
    yield (
        "lower and upper of a mean or quantile hold whatever values of the regions are true, and "
        "whoever else may have a value; expected takes the middle of each region, of those that "
        "have one; known: so many surely have a value in a region that decides every comparison"
    )
    units = [unit for listed in groups for unit in listed]
    lacking = sum(unit.members for unit in units if unit.missing)
    if not lacking:
        return
    low, high = (qid.granularity * end for end in span)
    has_ends = FARTHEST_VALUE not in (-span[0], span[1])
    which = f"any from {low:f} to {high:f}" if has_ends else "any at all"
    yield (
        f"of {sum(unit.members for unit in units):,} {measure.counted} {lacking:,} have no "
        f"{qid.name} in the release and may have {which}, or none: {qid.name} IS NOT NULL leaves "
        "them out"
    )
    if not has_ends:
        yield (
            f"{qid.name} has no declared limits: there is no bound where a value that is missing "
            "in the release may move it"
        )


def _shown(
    ends: tuple[Fraction | None, Fraction | None, Fraction | None], measure: Measure, known: int
) -> Bounds:
    """Ends as the answer has them."""
    lower, expected, upper = (
        None if end is None else _rounded(end * measure.factor, measure.digits) for end in ends
    )
    return lower, expected, upper, known


def _rounded(value: Fraction, digits: int | None) -> float:
    if digits is None:
        return float(value)
    step = Fraction(10) ** -digits
    whole = (Decimal((value / step).numerator) / Decimal((value / step).denominator)).quantize(
        Decimal(1), ROUND_HALF_UP
    )
    return float(Fraction(int(whole)) * step)
