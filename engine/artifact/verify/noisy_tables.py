"""Counts with noise: what an artifact shows of the noise that its budget needs.

Scales, thresholds, errors and strata are derived from the claims of the manifest (SPEC section 19,
R8; decision 53), in plain Python; neither what makes counts nor what checks a release takes part.
That noise was drawn so, no table shows: it is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import duckdb

from srsql.engine.artifact.format import (
    MANIFEST,
    NOISE,
    NOISY_ITEMS,
    NOISY_PAIRS,
    NOISY_TABLES,
    NOISY_UNITS,
    Manifest,
    NoisyClaim,
)
from srsql.engine.artifact.verify.contradictions import Trees
from srsql.engine.artifact.verify.count_strata import cut_faults, cuts_text, due_strata, rows_of
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.term_keys import key_of_term
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER
from srsql.schemas import builtin_names, load_dataset

NOISY_CHECK = "noise"
UNDRAWN = (
    "{quarter}: that counts have the noise that is stated (epsilon = {epsilon}, delta = {delta}), "
    "are of every case of the period that no earlier one counts, and of at most so many values of "
    "each: what cases hold is not published"
)
_DIGITS = 80
_FRACTION = re.compile(r"[0-9]{1,25}(/0*[1-9][0-9]{0,24})?")
"""As it is published: no exponent, which could take for ever to be read."""
_ROUNDING = Decimal("1e-12")
"""Share by which a scale may be rounded where noise is drawn."""


def check_noise(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, trees: Trees
) -> tuple[list[Check], list[str]]:
    """The check on the loaded tables of counts with noise, and what is not shown.

    Args:
        con: into which the tables were loaded.
        manifest: that declares them.
        trees: its hierarchies.
    """
    claim = manifest.noisy
    if claim is None:
        return [], []
    faults = list(cut_faults(claim.cuts, manifest, trees, "noisy_strata"))
    plan = rows_of(con, NOISE)
    faults += noise_faults(plan, claim)
    thresholds = {str(name): threshold for name, *_, threshold, _, _ in plan}
    tree = due_strata(claim.cuts)
    parents = {node[0] for node in tree.values()}
    leaves = {name for name in tree if name not in parents}
    total, keyed = len(plan), _keyed(manifest)
    for name in (NOISY_UNITS, NOISY_ITEMS, NOISY_PAIRS):
        rows = rows_of(con, name)
        total += len(rows)
        faults += [f"{name}: {text}" for text in _cell_faults(name, rows, claim, leaves, keyed)]
        least = thresholds.get(name)
        faults += [
            f"{name}: {row[-1]} is told of {row[:-1]}, below the threshold {least}"
            for row in rows
            if least is not None and row[-1] < least
        ]
    if {row[0] for row in rows_of(con, NOISY_UNITS)} != leaves:
        faults.append(f"{NOISY_UNITS} does not have every stratum of the cuts, once")
    told = {"epsilon": claim.epsilon, "delta": claim.delta}
    return [Check(NOISY_CHECK, faults, total)], [UNDRAWN.format(quarter=manifest.quarter, **told)]


def noise_faults(plan: Sequence[tuple[Any, ...]], claim: NoisyClaim) -> Iterator[str]:
    """What of the stated noise does not keep the budget that is claimed.

    Args:
        plan: rows of the table of the noise.
        claim: of the manifest.
    """
    due = {
        NOISY_UNITS: 1,
        NOISY_ITEMS: claim.case_items * len(claim.attributes),
        NOISY_PAIRS: claim.case_pairs,
    }
    if [row[0] for row in plan] != sorted(due):
        yield f"{NOISE} does not have each table of counts, once"
        return
    texts = [tuple(str(row[at]) for at in (1, 2, 4)) for row in plan]
    if not all(_FRACTION.fullmatch(text) for each in texts for text in each):
        yield f"{NOISE} has no fractions as epsilon, delta and scale"
        return
    numbers = [tuple(map(Fraction, each)) for each in texts]
    for at, (what, whole) in enumerate((("epsilon", claim.epsilon), ("delta", claim.delta))):
        if sum(each[at] for each in numbers) != Fraction(whole):
            yield f"the shares of {what} do not add up to {whole}"
    for row, (epsilon, delta, scale) in zip(plan, numbers, strict=True):
        name, counts, threshold, error, margin = row[0], row[3], row[5], row[6], row[7]
        if counts != due[name]:
            yield f"{name}: a case adds to {counts} counts, by the claim to {due[name]}"
        if epsilon <= 0 or scale <= 0 or scale * epsilon < due[name]:
            yield f"{name}: noise of scale {scale} is too small for epsilon = {epsilon}"
            continue
        with localcontext() as exact:
            exact.prec = _DIGITS
            step = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
            yield from (f"{name}: {text}" for text in _threshold_faults(
                threshold, due[name], delta, step, closed=name == NOISY_UNITS))  # fmt: skip
            mean = 2 * step / (1 - step**2)
            if error is None or abs(Decimal(error) - mean) > Decimal("0.0002") + mean / 10**6:
                yield f"{name}: the expected error is {error}, by the scale {mean:.4f}"
            if margin != _margin(step):
                yield f"{name}: the margin is {margin}, by the scale {_margin(step)}"


def _threshold_faults(
    threshold: int | None, counts: int, delta: Fraction, step: Decimal, *, closed: bool
) -> Iterator[str]:
    if closed:
        if threshold is not None or delta:
            yield "strata are a closed list, which has no threshold and no delta"
        return
    if threshold is None or threshold < 2:
        yield f"the threshold is {threshold}: a count of one case would be told"
        return
    alone = step ** (threshold - 1) / (1 + step)
    if alone > 1 - step:
        yield f"the threshold {threshold} is too low for the scale"
    if counts * alone > Decimal(delta.numerator) / Decimal(delta.denominator) * (1 + _ROUNDING):
        yield f"the threshold {threshold} is too low for delta = {delta}"


def _margin(step: Decimal) -> int:
    """The least m for which noise exceeds it, to either side, with a chance of 5 % at most."""

    def is_rare(margin: int) -> bool:
        return 2 * step ** (margin + 1) / (1 + step) <= Decimal("0.05")

    low, high = -1, 1
    while not is_rare(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_rare(middle) else (middle, high)
    return high


def _keyed(manifest: Manifest) -> frozenset[str]:
    """The columns whose terms are told by their key, as far as that is known here: values that no
    dataset declares as sensitive, such as outcomes, have no key."""
    if not manifest.term_key or manifest.dataset not in builtin_names():
        return frozenset()
    dataset = load_dataset(manifest.dataset)
    return frozenset(a.column for a in (*dataset.sensitive, *dataset.quasi_sensitive))


def _cell_faults(
    name: str,
    rows: Sequence[tuple[Any, ...]],
    claim: NoisyClaim,
    leaves: set[str],
    keyed: frozenset[str],
) -> Iterator[str]:
    columns = [role for _, role in NOISY_TABLES[name].values()]
    keys = [tuple(map(str, row[:-1])) for row in rows]
    if any(one >= other for one, other in pairwise(keys)):
        yield "keys are not in order, each once"
    for row in rows:
        if row[0] not in leaves:
            yield f"{row[0]!r} is no stratum of the cuts"
        if any(value is None for value in row):
            yield f"a value of {row[:-1]} is missing"
            continue
        of = tuple(v for v, role in zip(row, columns, strict=True) if role == "counted column")
        if (len(of) == 1 and of[0] not in claim.attributes) or (
            len(of) == 2 and of not in claim.pairs
        ):
            yield f"{' x '.join(of)} is not counted"
        terms = (v for v, role in zip(row, columns, strict=True) if role == "term")
        for attribute, term in zip(of, terms, strict=True):
            if (key_of_term(term) if attribute in keyed else term.strip() or None) != term:
                yield f"{term!r} is no key of a term"


def noisy_faults(manifest: Manifest) -> list[str]:
    """What the manifest says of counts with noise and cannot be true at once."""
    claim, told = manifest.noisy, manifest.parameters
    names = ("epsilon", "delta", "case_items", "case_pairs", "items", "pairs", "strata", "source")
    if claim is None:
        return [
            f"{MANIFEST}: parameter noisy_{name} is there, and counts with noise are not"
            for name in names
            if f"noisy_{name}" in told
        ]
    return [f"{MANIFEST}: {text}" for text in _claim_faults(claim, manifest)]


def _claim_faults(claim: NoisyClaim, manifest: Manifest) -> Iterator[str]:
    told = manifest.parameters
    due: dict[str, int | str] = {
        "noisy_epsilon": claim.epsilon,
        "noisy_delta": claim.delta,
        "noisy_case_items": claim.case_items,
        "noisy_case_pairs": claim.case_pairs,
        "noisy_items": ", ".join(claim.attributes),
        "noisy_pairs": ", ".join(f"{one} x {other}" for one, other in claim.pairs),
        "noisy_strata": cuts_text(claim.cuts),
        "noisy_source": "secure",
    }
    for name, value in due.items():
        if told.get(name) != value:
            yield f"parameter {name} is {told.get(name)!r}, not {value!r}"
    if not 0 < Fraction(claim.delta) <= Fraction(1, 1000) or Fraction(claim.epsilon) <= 0:
        yield f"epsilon = {claim.epsilon} and delta = {claim.delta} are no budget"
    if manifest.counted is not None:
        yield "cases stand in exact tables and in tables with noise (R8)"
    if len(set(claim.attributes)) < len(claim.attributes):
        yield "a column is counted twice"
    if len({frozenset(pair) for pair in claim.pairs}) < len(claim.pairs):
        yield "two columns are counted together twice"
    for one, other in claim.pairs:
        if one == other or not {one, other} <= set(claim.attributes):
            yield f"{one} and {other} are counted together, and are no two counted columns"
    if (
        told.get("version", 1) != 1
        or "correction" in told
        or manifest.quarter in manifest.earlier_releases
    ):
        yield "counts that were told are told anew, which spends their budget again (R7)"
    if told.get("ids") in (PER_QUARTER, ORIGINAL):
        yield f"counts go with ids of the series, not with {told.get('ids')!r}"
    if published_rows(manifest).by_set((NOISY_CHECK,)) or manifest.perturbed or manifest.terms:
        yield "counts do not go with sets, drawn values or clusters"
    if manifest.dataset in builtin_names():
        dataset = load_dataset(manifest.dataset)
        known = {name for table in dataset.child_tables for name in table.publish}
        for name in sorted(set(claim.attributes) - known):
            yield f"{name} is counted, and dataset {dataset.name} publishes no such column"
