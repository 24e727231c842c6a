"""Derived columns: does what is claimed of each follow from its rule, and do rows show no more?

Written without the code that validates a dataset and makes the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import duckdb
from pydantic import TypeAdapter, ValidationError
from sqlglot import exp

from srsql.engine.artifact.format import MANIFEST, DerivedClaim, Manifest
from srsql.engine.artifact.verify.contradictions import Trees
from srsql.engine.artifact.verify.reading import loaded
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.store.statements import column, temporary
from srsql.schemas import Dataset
from srsql.schemas.derived import Derived, claim_text, rule_text

WIDTHS = {"elapsed": (7, "days"), "number": (2, "numbers")}
"""Rule -> how many numbers a class of it holds at least."""
PERIODS = {
    "year": r"[0-9]{4}",
    "quarter": r"[0-9]{4}Q[1-4]",
    "month": r"[0-9]{4}-(0[1-9]|1[0-2])",
}
"""Step -> how its periods are written, from coarse to fine."""
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{8}.*"
KEYS = {
    "period": {"step"},
    "elapsed": {"classes", "labels"},
    "occurs": {"labels", "values"},
    "number": {"classes", "labels"},
}
"""Rule -> what it is told by, beside its sources."""
PARAMETER = "derived"
"""The parameter of the manifest that has rules and claims in words."""
_DERIVED: TypeAdapter[Derived] = TypeAdapter(Derived)


def derived_check(con: duckdb.DuckDBPyConnection, manifest: Manifest, trees: Trees) -> Check | None:
    """Rules and claims of derived columns against tables, hierarchies and rows; None: no such.

    Args:
        con: into which the tables were loaded.
        manifest: of the quarter.
        trees: hierarchies of the artifact.
    """
    claims = manifest.derived or ()
    shown = {c.name for t in manifest.tables for c in t.columns if c.role == "derived"}
    if not claims and not shown and PARAMETER not in manifest.parameters:
        return None
    names = [claim.name for claim in claims]
    faults = [f"{MANIFEST}: derived column {n} is told twice" for n in names if names.count(n) > 1]
    faults += [f"derived column {n}: no rule is told" for n in sorted(shown - set(names))]
    for claim in claims:
        told = [*_claim_faults(manifest, claim), *_shape_faults(claim)]
        if not told:
            told = [*_region_faults(manifest, claim, trees), *_row_faults(con, manifest, claim)]
        faults += [f"derived column {claim.name}: {text}" for text in told]
    faults += [] if faults else _word_faults(manifest)
    return Check("derived", faults, len(claims))


def _published(manifest: Manifest) -> set[tuple[str, str]]:
    """Table and column of what stands beside the region as it is."""
    roles = {"sensitive", "quasi-sensitive", "serial number", "published as it is", "derived"}
    return {(t.name, c.name) for t in manifest.tables for c in t.columns if c.role in roles}


def _claim_faults(manifest: Manifest, claim: DerivedClaim) -> Iterator[str]:
    """What is claimed of sources, against the columns that are there."""
    shown = [name for name in claim.sources if tuple(name.split(".")) in _published(manifest)]
    dates = claim.rule in ("period", "elapsed")
    if dates and claim.claim != "sources withheld":
        yield "its sources are dates, which are never published, and it claims otherwise"
    if claim.claim == "sources withheld" and shown:
        yield f"it claims that its sources are withheld, and {shown[0]} is published"
    if claim.claim == "sources published" and not shown and not manifest.terms:
        yield "it claims that its sources are published, and none is"
    ids = {c.name for t in manifest.tables for c in t.columns if c.role in ("report id", "case id")}
    for name in claim.sources:
        if name.split(".")[1] in ids:
            yield f"its source {name} is an id"
    known = {attribute.name for attribute in manifest.attributes}
    for name in claim.attributes:
        if name not in known:
            yield f"{name} is no quasi-identifier"
    roles = {c.role for t in manifest.tables for c in t.columns if c.name == claim.name}
    if not claim.attributes and "derived" not in roles:
        yield "it is no quasi-identifier, nor published"


def _shape_faults(claim: DerivedClaim) -> Iterator[str]:
    """Classes that are too narrow, or are not called what they hold."""
    told = {name for name in ("step", "classes", "values", "labels") if getattr(claim, name)}
    if told - {"values"} != KEYS[claim.rule] - {"values"} or not told <= KEYS[claim.rule]:
        yield f"its rule, {claim.rule}, is told by {', '.join(sorted(told)) or 'nothing'}"
        return
    if len(claim.sources) != (2 if claim.rule == "elapsed" else 1):
        yield f"its rule, {claim.rule}, is not of {len(claim.sources)} columns"
    if claim.rule == "occurs" and len(set(claim.labels)) != 2:
        yield "it has not two answers"
    if claim.rule in WIDTHS:
        least, what = WIDTHS[claim.rule]
        for low, high in pairwise((0, *claim.classes)):
            if high - low < least:
                yield f"its class from {low} to below {high} holds fewer than {least} {what}"
        if claim.labels != _labels(claim):
            yield f"its classes are called {', '.join(claim.labels)}"


def _labels(claim: DerivedClaim) -> tuple[str, ...]:
    unit, first = (" days", ["before the start"]) if claim.rule == "elapsed" else ("", [])
    ends = [0, *claim.classes]
    closed = [f"{low}-{above - 1}{unit}" for low, above in pairwise(ends)]
    return (*first, *closed, f"{ends[-1]}{unit} or more")


def _finer(step: str) -> str:
    """What is finer than a step, as a regular expression."""
    order = list(PERIODS)
    finer = [PERIODS[name] for name in order[order.index(step) + 1 :]]
    return "|".join(f"(?:{each})" for each in (*finer, DAY))


def _region_faults(manifest: Manifest, claim: DerivedClaim, trees: Trees) -> Iterator[str]:
    """A quasi-identifier whose values are finer than the rule makes them."""
    for attribute in manifest.attributes:
        if attribute.name not in claim.attributes:
            continue
        if attribute.kind == "numeric":
            if claim.step != "year" or attribute.granularity is None or attribute.granularity < 1:
                yield f"{attribute.name} is a number finer than its values"
        elif claim.step:
            for node, _ in trees.get(attribute.name, []):
                if re.fullmatch(_finer(claim.step), node):
                    yield f"{attribute.name} has the node {node}, finer than a {claim.step}"


def _row_faults(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, claim: DerivedClaim
) -> Iterator[str]:
    """Published values that the rule does not make."""
    if claim.name not in {c.name for c in manifest.regions.columns}:
        return
    value = column(claim.name, "t")
    rows = exp.select(value).distinct().from_(temporary(loaded(manifest.regions.name), alias="t"))
    found = [row[0] for row in con.execute(rows.sql("duckdb")).fetchall()]
    for text in sorted(str(each) for each in found if not _made(claim, each)):
        yield f"rows show {text!r}, which its rule does not make"


def _made(claim: DerivedClaim, value: str | None) -> bool:
    if value is None:
        return claim.rule in ("period", "elapsed")
    if claim.step:
        return re.fullmatch(PERIODS[claim.step], value) is not None
    return value in claim.labels


def _word_faults(manifest: Manifest) -> Iterator[str]:
    """The rules in words, as the README has them, say something else."""
    try:
        texts = [_in_words(claim, _published(manifest)) for claim in manifest.derived or ()]
    except ValidationError as error:
        yield f"{MANIFEST}: a derived column has a rule that is none: {error.errors()[0]['msg']}"
        return
    if manifest.parameters.get(PARAMETER) != "; ".join(texts):
        yield f"{MANIFEST}: the parameter {PARAMETER} does not say what the rules say"


def _in_words(claim: DerivedClaim, shown: set[tuple[str, str]]) -> str:
    told: dict[str, object] = {"name": claim.name, "rule": claim.rule, "claim": claim.claim}
    if claim.rule == "elapsed":
        told |= {"start": claim.sources[0], "end": claim.sources[1], "classes": claim.classes}
    else:
        told["source"] = claim.sources[0]
    told |= {"step": claim.step} if claim.rule == "period" else {}
    told |= {"classes": claim.classes} if claim.rule == "number" else {}
    if claim.rule == "occurs":
        told |= {"values": claim.values, "yes": claim.labels[0], "no": claim.labels[1]}
    made = _DERIVED.validate_python(told)
    return f"{made.name}: {rule_text(made)} ({claim_text(made, shown)})"


def derived_differences(
    manifest: Manifest, dataset: Dataset, due: Sequence[DerivedClaim]
) -> list[str]:
    """Where derived columns are told otherwise than a dataset declares them.

    Args:
        manifest: of the artifact.
        dataset: that declares them.
        due: what would be told of them.
    """
    ours, theirs = ({c.name: c for c in each} for each in (due, manifest.derived or ()))
    return [
        f"derived column {name} has another rule or claim than {dataset.name} declares"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]
