"""What signals are asked for: pairs of drug and reaction, each under conditions on age and sex."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal

from sqlglot import exp

from srsql.engine.catalog.levels import Level
from srsql.engine.errors import SignalError
from srsql.engine.store.statements import column
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Hierarchy, Qid
from srsql.schemas.outside import open_text

AGE, SEX = "age", "sex"
"""Names of the quasi-identifiers that conditions speak of."""
_ALIKE = 0.85
"""Similarity (Jaro-Winkler) from which a name may be meant."""
COLUMNS = ("drug", "reaction", "min_age", "max_age", "sex")


@dataclass(frozen=True)
class Condition:
    """Who counts; None does not restrict."""

    min_age: Decimal | None = None
    """Inclusive, in the unit of the quasi-identifier."""
    max_age: Decimal | None = None
    """Inclusive."""
    sex: str | None = None
    """Label of a node of its hierarchy."""


Form = Literal["pvda", "openebgm", "treescan"]
"""Of files for other tools."""
Missing = Literal["spread", "exclude"]
Preset = Literal["suspects", "primary", "usual"]
"""What the field counts: every suspect drug; the first suspect role alone; every suspect drug,
without reactions that are indications of the case and without who lacks a value that is asked for.
"""


@dataclass(frozen=True)
class Counting:
    """How cases are counted."""

    roles: Sequence[str] | None = None
    """Roles of the drug; None: the dataset's suspect roles; empty: every role."""
    missing: Missing = "spread"
    """What becomes of a case without a value that a condition asks for: it counts by the
    condition's share of the domain (``spread``; rules then come with the measures of the other
    way, too), or it is left out as the usual tools do (``exclude``)."""
    allow_unknown: bool = False
    """Names that no case has count as none, instead of being refused."""
    levels: Sequence[Level] = ()
    """On which levels drugs and reactions are counted; otherwise as they are reported."""
    strata: tuple[str, ...] = ()
    """What measures are combined over: some of sex, age and period."""
    bands: tuple[Decimal, ...] = ()
    """Lower ends of the bands of age but the first; empty: the groups that the dataset declares."""
    without_drug: str | None = None
    """A dominant drug: cases that have it, in a role that counts, are left out."""
    without_reaction: str | None = None
    """A dominant reaction: cases that have it are left out."""
    without_indications: bool = False
    """A reaction that the case has as an indication, too, is none."""


USUAL = Counting()


@dataclass(frozen=True)
class Rule:
    """drug, condition ⇒ reaction."""

    drug: str
    reaction: str
    condition: Condition


@dataclass(frozen=True)
class Interval:
    """A condition on one quasi-identifier, in granules or numbers of leaves, inclusive."""

    position: int
    low: int
    high: int
    domain: tuple[int, int] | None
    """None: what the released regions span."""


def make_condition(
    dataset: Dataset, min_age: str | None, max_age: str | None, sex: str | None, where: str = ""
) -> Condition:
    """The condition that texts ask for.

    Args:
        dataset: has the quasi-identifiers of the condition.
        min_age: a number, inclusive; None or blank does not restrict.
        max_age: a number, inclusive; None or blank does not restrict.
        sex: label or source code of a node of its hierarchy; None or blank does not restrict.
        where: precedes what is wrong in messages.

    Raises:
        SignalError: no number, no such sex, or the dataset has no such quasi-identifier.
    """
    low, high = (
        _number(text, f"{where}{name}")
        for text, name in ((min_age, "min-age"), (max_age, "max-age"))
    )
    if low is not None and high is not None and low > high:
        raise SignalError(f"{where}min-age {low} is above max-age {high}")
    if low is not None or high is not None:
        _qid(dataset, AGE, "numeric")
    return Condition(low, high, _node(dataset, sex, where) if sex and sex.strip() else None)


def read_rules(dataset: Dataset, file: Path) -> list[Rule]:
    """The rules of a CSV with the columns ``COLUMNS``, of which drug and reaction are needed.

    Raises:
        SignalError: it cannot be read, or a line of it makes no sense.
    """
    try:
        with open_text(file) as stream:
            reader = csv.DictReader(stream, restkey="", strict=True)
            header = [(name or "").strip().lower() for name in reader.fieldnames or ()]
            if missing := [name for name in COLUMNS[:2] if name not in header]:
                raise SignalError(f"{file.name}: no column {missing[0]!r} in its header")
            if unknown := [name for name in header if name not in COLUMNS]:
                raise SignalError(
                    f"{file.name}: column {unknown[0]!r} is none of {', '.join(COLUMNS)}"
                )
            if twice := [name for name in header if header.count(name) > 1]:
                raise SignalError(f"{file.name}: column {twice[0]!r} is in its header twice")
            reader.fieldnames = header
            rules = [
                _rule(dataset, row, f"{file.name}, line {reader.line_num}: ") for row in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SignalError(f"{file}: cannot be read ({error})") from None
    if not rules:
        raise SignalError(f"{file.name}: has no rules")
    return rules


def intervals(dataset: Dataset, condition: Condition) -> list[Interval]:
    """The condition per quasi-identifier, coded as the boxes are."""
    found = []
    if condition.min_age is not None or condition.max_age is not None:
        position, qid = _qid(dataset, AGE, "numeric")
        far = 2**40
        low, high = -far, far
        if condition.min_age is not None:
            low = max(low, math.ceil(condition.min_age / qid.granularity))
        if condition.max_age is not None:
            high = min(high, math.floor(condition.max_age / qid.granularity))
        domain = None
        if isinstance(qid.domain, tuple):
            domain = (
                math.floor(qid.domain[0] / qid.granularity),
                math.floor(qid.domain[1] / qid.granularity),
            )
        found.append(Interval(position, low, high, domain))
    if condition.sex is not None:
        position, qid = _qid(dataset, SEX, "categorical")
        tree = dataset.hierarchies[qid.name]
        ends = leaves(tree)
        found.append(Interval(position, *ends[tree.number[condition.sex]], ends[0]))
    return found


def did_you_mean(warehouse: Warehouse, names: exp.Query, wanted: str) -> str:
    """What a message adds for a name that is not there: those that are spelled most like it.

    Args:
        warehouse: where the names are.
        names: rows of one column, ``name``.
        wanted: what was asked for.
    """
    like = exp.func(
        "jaro_winkler_similarity",
        exp.func("upper", column("name", "n")),
        exp.func("upper", exp.Literal.string(wanted)),
    )
    nearest = (
        exp.select(column("name", "n"))
        .distinct()
        .from_(names.subquery("n"))
        .where(exp.GTE(this=like, expression=exp.Literal.number(_ALIKE)))
        .order_by(exp.Ordered(this=like.copy(), desc=True), column("name", "n"))
        .limit(3)
    )
    found = [repr(name) for (name,) in warehouse.rows(nearest.sql(dialect="duckdb"))]
    return f": did you mean {' or '.join(found)}?" if found else ", and none like it"


def leaves(tree: Hierarchy) -> list[tuple[int, int]]:
    """Of each node, the numbers of its first and last leaf, counted in preorder."""
    first, number = [], 0
    for height in tree.height:
        first.append(number)
        number += height == 0
    return [(low, low + count - 1) for low, count in zip(first, tree.leaf_count, strict=True)]


def granules(qid: Qid, bound: exp.Expr) -> exp.Expr:
    """A published bound of a number in granules, which it is a multiple of; a node as it is."""
    if qid.kind == "categorical" or qid.granularity == 1:
        return bound
    granularity = exp.Literal.number(format(qid.granularity.normalize(), "f"))
    return exp.cast(exp.func("round", exp.Div(this=bound, expression=granularity)), "BIGINT")


def _rule(dataset: Dataset, row: dict[str, str | None], where: str) -> Rule:
    if "" in row:
        raise SignalError(f"{where}more fields than the header has names")
    drug, reaction = ((row[name] or "").strip() for name in COLUMNS[:2])
    if not drug or not reaction:
        raise SignalError(f"{where}drug and reaction must be given")
    if "\0" in drug + reaction:
        raise SignalError(f"{where}a name has a NUL character in it")
    low, high, sex = (row.get(name) for name in COLUMNS[2:])
    return Rule(drug, reaction, make_condition(dataset, low, high, sex, where))


def _number(text: str | None, name: str) -> Decimal | None:
    if text is None or not text.strip():
        return None
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or abs(value) > 10**9:
        raise SignalError(f"{name} {text!r} is not a number that an age could have")
    return value


def _node(dataset: Dataset, text: str, where: str) -> str | None:
    """The node's label; None for the root, which says nothing."""
    _, qid = _qid(dataset, SEX, "categorical")
    tree = dataset.hierarchies[qid.name]
    wanted = text.strip().upper()
    aliases = {code.strip().upper(): label for code, label in qid.aliases.items()}
    labels = {label.strip().upper(): label for label in tree.labels}
    label = labels.get(wanted) or aliases.get(wanted)
    if label is None or label not in tree.number:
        shown = ", ".join(tree.labels[:12])
        raise SignalError(f"{where}sex {text!r} is not a node of its hierarchy, which has {shown}")
    return label if tree.number[label] else None


def _qid(dataset: Dataset, name: str, kind: str) -> tuple[int, Qid]:
    for position, qid in enumerate(dataset.qid):
        if qid.name == name and qid.kind == kind:
            return position, qid
    raise SignalError(f"{dataset.name} has no {kind} quasi-identifier {name!r} for this condition")
