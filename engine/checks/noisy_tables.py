"""Checks of counts with noise: parameters, budget and law, from released tables and originals.

What noise a promise needs, which cases and values count, and their strata are worked out anew here;
of what made the tables nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sqlglot import exp

from srsql.engine.catalog.layout import NOISY_COUNTS, derived, raw_table, region_columns
from srsql.engine.checks.count_tables import originals
from srsql.engine.checks.evidence import CutAsked, Evidence, NoiseAsked, as_measures
from srsql.engine.checks.noise import Margin, laplace_below, refused, row
from srsql.engine.measures import Measure
from srsql.engine.store.statements import column, dotted, query, with_rows
from srsql.schemas import Dataset, Qid

TOPIC = "checks/noisy_tables"
CREATE = "CREATE OR REPLACE TEMP TABLE"
PLAN, CASES, ITEMS, PAIRS = NOISY_COUNTS
UNITS, HELD, FEW, BOTH = (f"srsql_checked_noisy_{name}" for name in ("unit", "held", "few", "both"))
MARGINS = (0.0, 1 / 4, 1.0, 4.0)
"""Within how many scales of its count a published one is looked for."""
_DIGITS = 50


def check_noisy_rows(evidence: Evidence) -> list[Measure]:
    """Rows show ids and regions alone, and there are the tables of counts and no others."""
    release = evidence.release
    warehouse, dataset, schema = release.warehouse, release.dataset, release.schema
    views = {name for (name,) in warehouse.rows(query(TOPIC, "views"), {"schema": schema})}
    wrong = len(views ^ {dataset.report_table, "manifest", *NOISY_COUNTS})
    shown = set(warehouse.columns(schema, dataset.report_table))
    wrong += len(shown ^ {*dataset.id_columns, "quarter", *region_columns(dataset)})
    for name in views & NOISY_COUNTS.keys():
        wrong += warehouse.columns(schema, name) != list(NOISY_COUNTS[name])
    found = row(evidence, "check_noisy_rows", "tables and columns", wrong, len(views) + len(shown))
    return as_measures([found])


_RARER = 10**5
"""How much rarer a draw has to be than elsewhere to be refused: 1e-12 a table. What is released is
drawn under the condition that it passes, which depends on the true counts; the claim names it."""


def check_noisy_plan(evidence: Evidence) -> list[Measure]:
    """The noise of every table is what was asked for needs, and no count is below its threshold."""
    release, asked = evidence.release, asked_noise(evidence)
    shown = ", ".join(f'p."{name}"' for name in NOISY_COUNTS[PLAN])
    plan = release.warehouse.rows(f"SELECT {shown} FROM {dotted(release.schema, PLAN)} AS p")
    faults = list(plan_faults([tuple(each) for each in plan], asked))
    for name, _, _, _, _, threshold, *_ in plan:
        table = dotted(release.schema, name)
        keys = ", ".join(f'c."{each}"' for each in NOISY_COUNTS[name][:-1])
        ((below, twice),) = release.warehouse.rows(
            f"SELECT count(*) FILTER (WHERE c.cases < $least), count(*) - count(DISTINCT ({keys})) "
            f"FROM {table} AS c",
            {"least": threshold},
        )
        faults += ["below its threshold"] * below + ["twice"] * twice
    found = row(evidence, "check_noisy_plan", "noise and thresholds", len(faults), len(plan))
    return as_measures([found])


def plan_faults(plan: Sequence[tuple[Any, ...]], asked: NoiseAsked) -> Iterator[str]:
    """What of the noise of tables does not keep what was asked for.

    Args:
        plan: the rows of the published table.
        asked: the budget of a case, and how much it adds.
    """
    due = {CASES: 1, ITEMS: asked.case_items * len(asked.attributes), PAIRS: asked.case_pairs}
    if [str(each[0]) for each in plan] != sorted(due):
        yield "other tables than there are"
        return
    if sum(Fraction(each[1]) for each in plan) != asked.epsilon:
        yield "another epsilon than a case has"
    if sum(Fraction(each[2]) for each in plan) != asked.delta:
        yield "another delta than a case has"
    for name, epsilon, delta, counts, scale, threshold, error, margin in plan:
        if counts != due[name]:
            yield f"{name}: a case adds otherwise than is asked"
        if Fraction(scale) <= 0 or Fraction(scale) * Fraction(epsilon) < due[name]:
            yield f"{name}: the noise is too small"
            continue
        with localcontext() as exact:
            exact.prec = _DIGITS
            ratio = (-1 / _decimal(Fraction(scale))).exp()
            if name == CASES:
                if threshold is not None or Fraction(delta):
                    yield f"{name}: strata are all told"
            elif threshold is None or not _kept(threshold, due[name], Fraction(delta), ratio):
                yield f"{name}: the threshold is too low"
            if abs(float(2 * ratio / (1 - ratio**2)) - float(error)) > 1e-3 * max(float(error), 1):
                yield f"{name}: the expected error is another"
            outside = [float(2 * ratio ** (m + 1) / (1 + ratio)) for m in (margin - 1, margin)]
            if margin < 0 or outside[1] > 0.05 or (margin > 0 and outside[0] <= 0.05 * (1 - 1e-9)):
                yield f"{name}: the margin is another"


def _kept(threshold: int, counts: int, delta: Fraction, ratio: Decimal) -> bool:
    """Whether counts of 1 pass so rarely; see the proof in ``terms/noisy_tables.sql``."""
    passes = ratio ** max(threshold - 1, 0) / (1 + ratio)
    # roundings of the scale to a double, and of 50 digits
    return passes <= (1 - ratio) and counts * passes <= _decimal(delta) * (1 + Decimal("1e-9"))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def check_noisy_budget(evidence: Evidence) -> list[Measure]:
    """Every new case of the period is charged its budget once, and no case in two releases."""
    _load(evidence)
    asked = asked_noise(evidence)
    own = {"release_id": evidence.release.release_id}
    found = evidence.release.warehouse.rows(query(TOPIC, "charged"), own)
    wrong = sum(
        cases
        for charged, cases in found
        if charged is None or len(charged) != 3 or sum(map(Fraction, charged)) != asked.epsilon
    )
    total = sum(cases for _, cases in found)
    return as_measures([row(evidence, "check_noisy_budget", "charged cases", wrong, total)])


def check_noisy_law(evidence: Evidence) -> list[Measure]:
    """Counts lie as near to the true ones as the noise that is stated says, and no key is nobody's.

    Thresholds are part of the law: what fraction of the true keys passes is compared, too.
    """
    _load(evidence)
    release, found = evidence.release, []
    plan = {
        str(name): (Fraction(scale), threshold)
        for name, scale, threshold in release.warehouse.rows(
            f"SELECT p.counts, p.scale, p.threshold FROM {dotted(release.schema, PLAN)} AS p"
        )
    }
    for name in (CASES, ITEMS, PAIRS):
        text = query(TOPIC, name)
        published = f"SELECT * FROM {dotted(release.schema, name)}"
        rows = release.warehouse.con.execute(
            f"WITH published AS ({published}), due AS ({text}) " + query(TOPIC, f"beside_{name}")
        ).fetchnumpy()
        true = np.asarray(np.ma.filled(rows["units"], 0), dtype=np.int64)
        shown = np.ma.asarray(rows["cases"])
        scale, threshold = plan[name]
        margins = law(true, shown, float(scale), threshold)
        strange = 0 if name == CASES else int(((true == 0) & ~np.ma.getmaskarray(shown)).sum())
        wrong = refused(margins, _RARER) + strange
        found.append(row(evidence, "check_noisy_law", name, wrong, len(margins) + 1))
    return as_measures(found)


def law(
    true: np.ndarray[Any, Any],
    shown: np.ma.MaskedArray[Any, Any],
    scale: float,
    threshold: int | None,
) -> list[Margin]:
    """How often a published count should lie within margins of the true one, and how often it does.

    Args:
        true: [n] counts.
        shown: [n] published ones; masked: not published.
        scale: of the noise.
        threshold: the least that is published; None: all are.
    """
    told = ~np.ma.getmaskarray(shown)
    away = np.abs(np.ma.filled(shown, 0).astype(np.int64) - true)
    passing = _chance(true, 2**40, scale, threshold)
    found = [Margin(len(true), int(told.sum()), float(passing.sum()))]
    for part in MARGINS:  # of those that passed, by what is left of the law
        most = int(scale * part)
        near = _chance(true[told], most, scale, threshold) / np.maximum(passing[told], 1e-300)
        found.append(Margin(int(told.sum()), int((away[told] <= most).sum()), float(near.sum())))
    return found


def _chance(
    true: np.ndarray[Any, Any], most: int, scale: float, threshold: int | None
) -> np.ndarray[Any, Any]:
    """[n] chances that noise is within ``most`` and the count passes the threshold."""
    scales = np.full(len(true), scale)
    high = np.full(len(true), most, np.int64)
    low = -high if threshold is None else np.maximum(-high, threshold - true)
    chance = laplace_below(high, scales) - laplace_below(low - 1, scales)
    # far above, the difference of two doubles is coarse: the tail itself is not
    tail = np.exp(-np.maximum(low, 1) / scale) / (1 + np.exp(-1 / scale))
    tail -= np.exp(-(high + 1.0) / scale) / (1 + np.exp(-1 / scale))
    return np.where(low <= high, np.where(low > 0, tail, np.maximum(chance, 0.0)), 0.0)


def asked_noise(evidence: Evidence) -> NoiseAsked:
    """What was asked for; where nobody tells it, what the manifest says."""
    if evidence.asked is not None and evidence.asked.noisy is not None:
        return evidence.asked.noisy
    ((epsilon, delta, items, pairs, attributes, kinds),) = evidence.release.warehouse.rows(
        query(TOPIC, "told"), {"release_id": evidence.release.release_id}
    )
    return NoiseAsked(
        Fraction(epsilon), Fraction(delta), int(items), int(pairs),
        tuple(attributes.split(", ")),
        tuple((one, other) for one, _, other in (k.partition(" x ") for k in kinds.split(", "))),
    )  # fmt: skip


def _load(evidence: Evidence) -> None:
    """Whom the tables count and what these hold, in temporary tables."""
    release, asked = evidence.release, asked_noise(evidence)
    dataset = release.dataset
    places, rest = _places(dataset, release.quarter, asked.cuts)
    own = {"release_id": release.release_id}
    held = query(TOPIC, "held")
    composed = originals(dataset, release.quarter, list(asked.attributes))
    few, both = query(TOPIC, "few"), query(TOPIC, "both")
    kinds = [f"{one} x {other}" for one, other in asked.pairs]
    made: dict[str, tuple[str, dict[str, Any]]] = {
        UNITS: (
            with_rows(query(TOPIC, "units"), report_place=places).sql("duckdb"),
            {**own, "rest": rest},
        ),
        HELD: (with_rows(held, **composed, report_place=places).sql("duckdb"), {}),
        FEW: (few, {"most": asked.case_items}),
        BOTH: (both, {"most": asked.case_pairs, "kinds": kinds}),
    }
    for name, (text, given) in made.items():
        evidence.once(name, partial(release.warehouse.run, f"{CREATE} {name} AS {text}", given))


def _places(dataset: Dataset, quarter: str, cuts: Sequence[CutAsked]) -> tuple[exp.Query, str]:
    """(report_id, case_id, stratum) of the raw reports of a quarter, and the stratum of cases whose
    reports disagree: in no cut of any quasi-identifier."""
    chains: dict[str, list[CutAsked]] = {}
    for cut in cuts:
        chains.setdefault(cut.qid, []).append(cut)
    known = {qid.name: qid for qid in dataset.qid}
    parts: list[exp.Expr] = []
    rests = []
    for name, chain in chains.items():
        rests.append(f"{name} other" if len(chain) > 1 else f"{name} not {chain[0].words}")
        label = exp.case()
        for cut in chain:
            inside = exp.Literal.string(f"{name} {cut.words}")
            label = label.when(_within(dataset, known[name], cut), inside)
        parts.append(label.else_(exp.Literal.string(rests[-1])))
    stratum = exp.func("concat_ws", exp.Literal.string(", "), *parts) if parts else None
    rows = exp.select(
        column(dataset.report_id, "t").as_("report_id"),
        exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
        (stratum or exp.Literal.string("all")).as_("stratum"),
    ).from_(raw_table(dataset, dataset.report_table, alias="t"))
    return (
        rows.where(column("quarter", "t").eq(exp.Literal.string(quarter))),
        ", ".join(rests) or "all",
    )


def _within(dataset: Dataset, qid: Qid, cut: CutAsked) -> exp.Expr:
    value = column(derived(qid.name), "t")
    if cut.value is not None:
        tree = dataset.hierarchies[qid.name]
        node = tree.labels.index(cut.value)
        labels = tree.labels[node : tree.last[node] + 1]
        return value.isin(*(exp.Literal.string(each) for each in labels))
    ends: list[exp.Expr] = [value.is_(exp.null()).not_()]
    grain = Fraction(qid.granularity)
    if cut.low is not None:  # value * grain >= low, in whole numbers
        low = Fraction(cut.low) / grain
        ends.append(exp.GTE(this=value.copy(), expression=_number(-(-low // 1))))
    if cut.below is not None:
        below = Fraction(cut.below) / grain
        ends.append(exp.LT(this=value.copy(), expression=_number(-(-below // 1))))
    return exp.and_(*ends)


def _number(whole: int) -> exp.Expr:
    return exp.Literal.number(int(whole))
