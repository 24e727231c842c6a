"""What a release of terms loses (Loukides 2014, section 6): ARE, MRE, and what was at risk.

The steward's: everything here reads the originals, a table ``(record, term)``, distinct.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from srsql.engine.catalog.released_terms import put_sets
from srsql.engine.risk.term_counts import Answering, count_terms
from srsql.engine.store.statements import literal, query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.policies import UtilityPolicy, put_policy

ESTIMATES = ("expected", "reconstructed")
"""What C_A and M_A can be: the mean over reconstructed datasets, or one of them (the paper's)."""
NEAR = 5.0
"""A constraint is well kept when its error is within so many percent of 0, the ends included."""


@dataclass(frozen=True)
class Answer:
    """One COUNT query: records of the originals, and what the release answers."""

    terms: tuple[str, ...]
    truth: int
    lower: int
    expected: float
    upper: int
    reconstructed: int | None


@dataclass(frozen=True)
class RelativeError:
    """ARE of the queries of so many terms (None: of all)."""

    terms: int | None
    queries: int
    untold: int
    """Queries with a truth of 0, for which the error is undefined; they are left out."""
    are: float | None
    deviation: float | None
    """Standard deviation of the relative errors of the queries, as of a sample; None: fewer than
    2."""


@dataclass(frozen=True)
class ConstraintError:
    """MRE of one utility constraint, in percent; None where no record matches it."""

    constraint: str
    truth: int
    answer: float
    mre: float | None


@dataclass(frozen=True)
class ErrorInterval:
    """So many constraints have an MRE in an interval (percent; None: open end)."""

    interval: str
    low: float | None
    high: float | None
    constraints: int
    share: float | None


@dataclass(frozen=True)
class MatchingErrors:
    """MRE of all constraints of a policy, by one of the estimates."""

    policy: str
    estimate: str
    constraints: tuple[ConstraintError, ...]
    intervals: tuple[ErrorInterval, ...]
    untold: int
    """Constraints that no original record matches; they are left out of intervals and share."""
    near: float | None
    """Share of the constraints within +-5 %."""


def random_sets(
    warehouse: Warehouse, originals: str, seed: int, *, count: int = 1000, longest: int = 4
) -> list[tuple[str, ...]]:
    """Workload W2: sets of 1 to ``longest`` terms, as many of each length.

    Each set is one term, drawn uniformly, more than the set before it, until it has ``longest``.

    Args:
        warehouse: in which the originals are.
        originals: name of a table ``(record, term)``.
        seed: of the draws; the order of the records does not matter.
        count: sets in all.
        longest: terms of the longest ones, or all terms where there are fewer.
    """
    terms = [
        term
        for (term,) in warehouse.rows(
            f"SELECT DISTINCT o.term FROM {originals} AS o ORDER BY o.term"
        )
    ]
    luck = random.Random(seed)
    drawn: list[tuple[str, ...]] = []
    while terms and len(drawn) < count:
        grown = luck.sample(terms, min(longest, len(terms)))
        drawn.extend(tuple(sorted(grown[:size])) for size in range(1, len(grown) + 1))
    return drawn[:count]


def held_sets(
    warehouse: Warehouse, originals: str, seed: int, *, count: int = 1000, longest: int = 4
) -> list[tuple[str, ...]]:
    """The workload W2 of sets that some record holds: 1 to ``longest`` terms.

    Terms are drawn uniformly like those of W2, but each further one among those that some record
    holds together with the whole set before it. So every set has a truth above 0, where nearly all
    longer sets of W2 have none and tell no error. A set that no further term is held with is the
    last of its row, so there may be fewer of the longer ones.

    Args:
        warehouse: in which the originals are.
        originals: name of a table ``(record, term)``.
        seed: of the draws; the order of the records does not matter.
        count: sets in all, at most.
        longest: terms of the longest ones.
    """
    terms = [
        term
        for (term,) in warehouse.rows(
            f"SELECT DISTINCT o.term FROM {originals} AS o ORDER BY o.term"
        )
    ]
    luck = random.Random(f"{seed} held")
    grown = [[luck.choice(terms)] for _ in range(-(-count // longest))] if terms else []
    growing = list(range(len(grown)))
    for _ in range(longest - 1):
        if not growing:
            break
        sets = put_sets(warehouse, [grown[number] for number in growing])
        found = warehouse.rows(
            "SELECT c.set_no, c.terms FROM "
            f"srsql.companion_terms({literal(originals)}, {sets}) AS c ORDER BY c.set_no"
        )
        for number, companions in found:
            grown[growing[number]].append(luck.choice(companions))
        growing = [growing[number] for number, _ in found]
    prefixes = [tuple(sorted(row[:size])) for row in grown for size in range(1, len(row) + 1)]
    return prefixes[:count]


def answer_workload(
    warehouse: Warehouse,
    tables: Answering,
    originals: str,
    sets: Iterable[Collection[str]],
) -> list[Answer]:
    """The truth and the answers of the release for each set, in the order of the sets."""
    counts = count_terms(warehouse, tables, sets)
    if not counts:
        return []
    truth = _counts(warehouse, "basket_counts", originals)
    sampled = (
        _counts(warehouse, "basket_counts", tables.reconstructed) if tables.reconstructed else {}
    )
    return [
        Answer(c.terms, truth[i], c.lower, c.expected, c.upper, sampled.get(i))
        for i, c in enumerate(counts)
    ]


def average_relative_error(
    warehouse: Warehouse, answers: Collection[Answer], estimate: str = "expected"
) -> list[RelativeError]:
    """ARE (Definition 2) by the number of terms, then over all queries.

    Args:
        warehouse: any.
        answers: of ``answer_workload``.
        estimate: one of ``ESTIMATES``.
    """
    parameters = {
        "numbers": list(range(len(answers))),
        "terms": [len(answer.terms) for answer in answers],
        "truths": [answer.truth for answer in answers],
        "answers": [float(getattr(answer, estimate)) for answer in answers],
    }
    warehouse.run(query("risk/term_loss", "answered_queries"), parameters)
    return [
        RelativeError(*row)
        for row in warehouse.rows(query("risk/term_loss", "average_relative_error"))
    ]


def matching_errors(
    warehouse: Warehouse,
    tables: Answering,
    originals: str,
    policy: UtilityPolicy,
    estimate: str = "expected",
) -> MatchingErrors:
    """MRE (Definition 3) of every constraint that has a term in the data.

    A record matches a constraint when it holds one of its terms or more: "a combination of the
    codes in" it (section 1.1, where four records of Fig. 1 match u3 and none holds both codes).
    """
    labels = put_policy(warehouse, policy, originals)
    sets = literal("temp.main.srsql_policy_term")
    truth = _counts(warehouse, "basket_matches", originals, sets)
    answer: dict[int, float]
    if estimate == "expected":
        answer = dict(
            warehouse.rows("SELECT m.set_no, m.expected FROM " + tables.matches(sets) + " AS m")
        )
    else:
        assert tables.reconstructed is not None
        answer = {**_counts(warehouse, "basket_matches", tables.reconstructed, sets)}
    found = tuple(
        ConstraintError(
            label,
            truth[n],
            answer[n],
            100 * (truth[n] - answer[n]) / truth[n] if truth[n] else None,
        )
        for n, label in labels.items()
    )
    told = [abs(c.mre) for c in found if c.mre is not None]
    return MatchingErrors(
        policy=policy.name,
        estimate=estimate,
        constraints=found,
        intervals=_intervals(warehouse, found),
        untold=len(found) - len(told),
        near=sum(error <= NEAR for error in told) / len(told) if told else None,
    )


def _intervals(
    warehouse: Warehouse, found: tuple[ConstraintError, ...]
) -> tuple[ErrorInterval, ...]:
    parameters = {"truths": [c.truth for c in found], "answers": [c.answer for c in found]}
    return tuple(
        ErrorInterval(*row)
        for row in warehouse.rows(query("risk/term_loss", "matching_error_intervals"), parameters)
    )


def _counts(
    warehouse: Warehouse,
    macro: str,
    baskets: str,
    sets: str = literal("temp.main.srsql_term_set"),
) -> dict[int, int]:
    return dict(
        warehouse.rows(
            f"SELECT c.set_no, c.records FROM srsql.{macro}({literal(baskets)}, {sets}) AS c"
        )
    )
