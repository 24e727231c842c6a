"""Strata of count tables: a binary tree of published regions, made of cuts one after the other.

A cut asks of one quasi-identifier whether the region of a case lies within a value or a range of
numbers. Of its two children one has the regions within, and the other one all that are not: those
that lie elsewhere, that straddle an end, or that are not known. So every region is in one leaf.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.layout import STRATUM
from srsql.engine.errors import ReleaseError
from srsql.engine.store.statements import column, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.outside import read_text, toml_of

ALL = "all"
"""The stratum of all units."""
NONE = "none"
"""The value of ``--strata`` for that stratum alone."""
NOISY_CUTS = "noisy_cuts"
"""Key of private manifests: the cuts of strata that no table tells."""
MOST_STRATA = 200
SEX, AGE, YEARS = "sex", "age", "years"
USUAL_VALUES = ("F", "M")
USUAL_RANGES = ((65, None), (None, 18), (18, 65))
_KEYS = {"qid", "value", "from", "below"}


@dataclass(frozen=True)
class Cut:
    """What is asked of a region."""

    qid: str
    value: str | None = None
    """Of a category: a node of its hierarchy."""
    low: Decimal | None = None
    """Of a number: the least value within, in its unit; None: no least one."""
    below: Decimal | None = None
    """The least value above; None: there is none."""

    @property
    def told(self) -> list[str | None]:
        """As private manifests keep it."""
        ends = (None if end is None else _plain(end) for end in (self.low, self.below))
        return [self.qid, self.value, *ends]

    @property
    def words(self) -> str:
        """What lies within, in words."""
        if self.value is not None:
            return self.value
        low, below = (None if end is None else _plain(end) for end in (self.low, self.below))
        if below is None:
            return f"{low}+"
        return f"under {below}" if low is None else f"{low} to under {below}"


def _plain(number: Decimal) -> str:
    """A number without zeros at its end."""
    return format(number.normalize(), "f")


@dataclass(frozen=True)
class Stratum:
    """One node of the tree."""

    name: str
    parent: str | None
    cut: Cut | None = None
    """What parts it from the other child of its parent; None: it is the root."""
    inside: bool = True
    """It has the regions within the cut, and not the others."""


def usual_cuts(dataset: Dataset) -> tuple[Cut, ...]:
    """Sex and then age, as far as the dataset has them.

    Source: SPEC section 19, rule R1.
    """
    cuts: list[Cut] = []
    for qid in dataset.qid:
        if qid.name == SEX and not qid.bounded:
            labels = dataset.hierarchies[qid.name].labels
            cuts += [Cut(qid.name, value) for value in USUAL_VALUES if value in labels]
    for qid in dataset.qid:
        if qid.name == AGE and qid.bounded and qid.unit.lower().startswith("year"):
            ends = [[None if end is None else Decimal(end) for end in pair]
                    for pair in USUAL_RANGES]  # fmt: skip
            cuts += [Cut(qid.name, low=low, below=below) for low, below in ends]
    return tuple(cuts)


def parse_cuts(text: str) -> tuple[Cut, ...]:
    """Read ``none``, or the path of a TOML file of ``[[cut]]`` with qid and value, from or below.

    Raises:
        ReleaseError: there is no such file, or it says something else.
    """
    if text.strip() == NONE:
        return ()
    path = Path(text)
    try:
        found = toml_of(read_text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ReleaseError(f"--strata {path}: cannot be read: {error}") from None
    listed = found.get("cut")
    if set(found) != {"cut"} or not isinstance(listed, list) or not listed:
        raise ReleaseError(f"--strata {path}: give [[cut]] tables and nothing else")
    return tuple(_cut(path, each) for each in listed)


def _cut(path: Path, told: Any) -> Cut:
    known = isinstance(told, dict) and set(told) <= _KEYS and isinstance(told.get("qid"), str)
    ranged = known and ("from" in told or "below" in told)
    if not known or ranged == ("value" in told):
        raise ReleaseError(f"--strata {path}: a [[cut]] has qid, and value, from or below")
    if not ranged:
        return Cut(told["qid"], str(told["value"]))
    low, below = (_number(path, told.get(key)) for key in ("from", "below"))
    if low is not None and below is not None and low >= below:
        raise ReleaseError(f"--strata {path}: from {low} is not less than below {below}")
    return Cut(told["qid"], low=low, below=below)


def _number(path: Path, told: object) -> Decimal | None:
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise ReleaseError(f"--strata {path}: {told!r} is no number: give from and below in digits")
    return Decimal(str(told))


def cuts_text(cuts: Sequence[Cut]) -> str:
    """The cuts as manifests tell them."""
    return "; ".join(f"{cut.qid} {cut.words}" for cut in cuts) or NONE


def check_cuts(dataset: Dataset, cuts: Sequence[Cut]) -> None:
    """Refuse cuts that the regions of a dataset cannot tell.

    Raises:
        ReleaseError: the text names the cut.
    """
    known = {qid.name: qid for qid in dataset.qid}
    for cut in cuts:
        qid = known.get(cut.qid)
        if qid is None:
            raise ReleaseError(
                f"--strata: {cut.qid!r} is no quasi-identifier of dataset {dataset.name} "
                f"(it has: {', '.join(known)})"
            )
        if qid.bounded != (cut.value is None):
            way = "from and below" if qid.bounded else "value"
            raise ReleaseError(f"--strata: a cut of {cut.qid} has {way}")
        if cut.value is not None and cut.value not in dataset.hierarchies[cut.qid].labels[1:]:
            shown = ", ".join(dataset.hierarchies[cut.qid].labels[1:9])
            raise ReleaseError(f"--strata: {cut.value!r} is no node of {cut.qid} (it has: {shown})")
    if len(set(cuts)) < len(cuts):
        raise ReleaseError("--strata: a cut is there twice")
    if sum(1 for _ in strata(cuts)) > MOST_STRATA:
        raise ReleaseError(f"--strata: more than {MOST_STRATA} strata: give fewer cuts")


def strata(cuts: Sequence[Cut]) -> Iterator[Stratum]:
    """The tree, the root first: the cuts of one quasi-identifier follow each other, and those of
    the next one cut every leaf of these."""
    yield Stratum(ALL, None)
    chains: dict[str, list[Cut]] = {}
    for cut in cuts:
        chains.setdefault(cut.qid, []).append(cut)
    yield from _below(ALL, "", list(chains.values()))


def _below(parent: str, before: str, chains: list[list[Cut]]) -> Iterator[Stratum]:
    if not chains:
        return
    chain, later = chains[0], chains[1:]
    at = parent
    for number, cut in enumerate(chain):
        gone = " nor ".join(each.words for each in chain[: number + 1])
        last = number == len(chain) - 1 and number > 0
        inside = f"{before}{cut.qid} {cut.words}"
        others = f"{before}{cut.qid} {'other' if last else f'not {gone}'}"
        yield Stratum(inside, at, cut)
        yield from _below(inside, f"{inside}, ", later)
        yield Stratum(others, at, cut, inside=False)
        at = others
    yield from _below(at, f"{at}, ", later)


def leaf_of(dataset: Dataset, cuts: Sequence[Cut], alias: str) -> exp.Expr:
    """The name of the leaf of a region, whose columns a table has under ``alias``."""
    tree = list(strata(cuts))
    children: dict[str, list[Stratum]] = {}
    for each in tree[1:]:
        children.setdefault(str(each.parent), []).append(each)

    def leaf(name: str) -> exp.Expr:
        if name not in children:
            return exp.Literal.string(name)
        within, others = children[name]
        assert within.cut is not None
        return (
            exp.case()
            .when(_lies_within(dataset, within.cut, alias), leaf(within.name))
            .else_(leaf(others.name))
        )

    return leaf(ALL)


def _lies_within(dataset: Dataset, cut: Cut, alias: str) -> exp.Expr:
    if cut.value is not None:
        hierarchy = dataset.hierarchies[cut.qid]
        node = hierarchy.labels.index(cut.value)
        inner = [
            exp.Literal.string(text) for text in hierarchy.labels[node : hierarchy.last[node] + 1]
        ]
        return exp.In(this=column(cut.qid, alias), expressions=inner)
    ends: list[exp.Expr] = []
    if cut.low is not None:
        low = exp.Literal.number(format(cut.low, "f"))
        ends.append(exp.GTE(this=column(f"{cut.qid}_low", alias), expression=low))
    if cut.below is not None:
        below = exp.Literal.number(format(cut.below, "f"))
        ends.append(exp.LT(this=column(f"{cut.qid}_high", alias), expression=below))
    return exp.and_(*ends)


def published_cuts(warehouse: Warehouse, schema: str) -> tuple[Cut, ...]:
    """The cuts of the strata that a release publishes, those of one quasi-identifier together.

    Args:
        warehouse: may be read-only.
        schema: of the release.
    """
    shown = [column(name, "s") for name in ("column", "value", "low", "below")]
    rows = exp.select(*shown).from_(table(schema, STRATUM, alias="s"))
    found = [Cut(*row) for row in warehouse.rows(rows.where("s.inside").sql("duckdb"))]
    places = {qid: place for place, qid in enumerate(dict.fromkeys(cut.qid for cut in found))}
    return tuple(sorted(dict.fromkeys(found), key=lambda cut: places[cut.qid]))
