"""Why a release shows a case as it does, or not at all: for the steward alone (SPEC section 6).

All of it is read from the catalog, which keeps what decided a release: groups, the values of their
members, thresholds, reasons. Of other members it names ids, and of their values no more than that
they are an end of the region.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from srsql.engine.audit.attack import shown_interval
from srsql.engine.catalog.datasets import forgotten_pads, term_keys
from srsql.engine.catalog.releases import as_released, claims_of, released_id
from srsql.engine.catalog.series import IMPORTED, ORIGINAL, find_series
from srsql.engine.errors import LookUpError
from srsql.engine.models import MODELS
from srsql.engine.release.ids import look_up
from srsql.engine.shapes import need_cases
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import SPACES, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset
from srsql.schemas.glossary import terms
from srsql.schemas.outside import json_of

TOPIC = "release/explain"
Outcome = Literal["released", "withheld", "not in the release"]


@dataclass(frozen=True)
class RegionPart:
    """What a region shows of one quasi-identifier, and whose values make it so."""

    group: int
    attribute: str
    region: Any
    """As it is published: a node, ``{"low": ..., "high": ...}``, or None where it is missing."""
    why: str
    low_by: tuple[str, ...]
    """The members who set the lower end, of a category its first node: case ids, with the quarter
    of an earlier release where its region does."""
    high_by: tuple[str, ...]


@dataclass(frozen=True)
class GroupSize:
    """How large the group of a case is, and what it needs at least."""

    group: int
    cases: int
    new_cases: int
    carriers: int
    """Cases that count towards k and theta: of periodical models the new ones."""
    needs: int
    """Carriers that k or the thresholds of the quarter ask of every group."""
    value: str | None
    """The value that leaves this group the least room; None: no threshold below 1 is in it."""
    held: float | None
    """Its holders; what external knowledge makes likely counts in part."""
    theta: str | None
    value_needs: int | None
    """Carriers without which the value would exceed its threshold."""


@dataclass(frozen=True)
class Explained(Framed):
    """What ``srsql explain`` found."""

    _tables: ClassVar[tuple[str, ...]] = ("parts", "groups")

    dataset: str
    series: str
    quarter: str
    release_id: int
    model: str
    status: str
    asked: str
    case_id: str
    """Of the source; of a forgotten case its token."""
    outcome: Outcome
    reason: str | None
    """As the catalog has it; None: the case is released."""
    is_new: bool | None
    """The case is in no earlier quarter of the series; None: it is not released."""
    k: int
    k_effective: int
    """Least number of cases in a group: k, or what the smallest threshold asks."""
    raised_by: tuple[str, ...]
    """The values whose thresholds ask for more than k."""
    parts: tuple[RegionPart, ...]
    groups: tuple[GroupSize, ...]
    why: tuple[str, ...]
    """The reasons in sentences."""
    cannot_tell: tuple[str, ...]
    """What the catalog does not keep."""


def explain(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str, asked: str
) -> Explained:
    """Why a case has its region and its group, or why it is withheld; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: whose case.
        series: of the release.
        quarter: whose release, or draft.
        asked: the id of the case in the source, or a pseudonym of it or of one of its reports in
            the series.

    Raises:
        LookUpError: nobody knows the case in that quarter, or the series shows no rows of cases;
            see ``Dataset.need_one_set``.
        ReleaseError: the quarter is not released.
    """
    dataset.need_one_set(
        LookUpError,
        "and a region is made of groups of each, which the catalog does not keep: 'srsql attack "
        f"--quarter {quarter}' shows who is left to somebody who knows a set",
    )
    release_id = released_id(warehouse, dataset, quarter, series)
    need_cases(warehouse, dataset, series, LookUpError)
    row = warehouse.rows(query(TOPIC, "release"), {"release_id": release_id})[0]
    told = _Told(warehouse, as_released(warehouse, dataset, release_id), release_id, row)
    if told.model == IMPORTED:
        raise LookUpError(
            f"{quarter} of series {series!r} is somebody else's release: only they know why"
        )
    MODELS[told.model].shape.need_region(told.model, LookUpError)
    case_id, notes = told.find(dataset, series, quarter, asked)
    places = told.rows("places", case_id=case_id)
    why = list(notes)
    outcome: Outcome = "released"
    reason: str | None = None
    parts, groups = [], []
    for case_no, group, _ in places:
        groups.append(told.size(group))
        parts += told.region(group, case_no, case_id, why)
    why += [
        f"it waited since {since}: a report of that period is among those released here"
        for (since,) in (told.rows("taken_in", case_id=case_id) if places else ())
    ]
    if not places:
        outcome, reason, reasons = told.withheld(case_id)
        why += reasons
    elif left := told.rows("left_since", case_id=case_id):
        why.append(
            f"the case has left since the release was made ({left[0][0]}): 'srsql correct "
            f"--quarter {quarter}' takes its group out"
        )
    return Explained(
        dataset.name, series, quarter, release_id, told.model, told.status, asked.strip(), case_id,
        outcome, reason, places[0][2] if places else None, told.k, told.least, told.raised(),
        tuple(parts), tuple(groups), tuple(dict.fromkeys(why)), tuple(told.unknown(bool(places))),
    )  # fmt: skip


class _Told:
    """What the catalog tells of one release."""

    def __init__(
        self, warehouse: Warehouse, dataset: Dataset, release_id: int, row: Sequence[Any]
    ) -> None:
        self.warehouse, self.dataset, self.release_id = warehouse, dataset, release_id
        self.model, self.status, self.k, self.least, self.weight_scale = row[:5]
        self.manifest: dict[str, Any] = json_of(row[5])
        self._unknown: list[str] = []

    def rows(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a query of this topic."""
        return self.warehouse.rows(
            query(TOPIC, name), {"release_id": self.release_id, **parameters}
        )

    def find(
        self, dataset: Dataset, series: str, quarter: str, asked: str
    ) -> tuple[str, list[str]]:
        """The case id of the source, or its token, that an id stands for; and what to say of it.

        Raises:
            LookUpError: it stands for nothing, or for a case that the release has nothing of.
        """
        read = self.warehouse.rows(
            query("release/forget", "read_ids"),
            {"written": [asked], "ends": SPACES, "integer": dataset.id_type == "integer"},
        )
        own = next((case for _, case in read if case is not None), None)
        behind = _behind_pseudonym(self.warehouse, dataset, series, asked)
        found = [case for case in dict.fromkeys((own, behind)) if case and self._is_known(case)]
        if found:
            beside = [
                f"{asked.strip()} is a pseudonym of another case, too: 'srsql lookup' tells whose"
            ]
            return found[0], beside if len(found) > 1 else []
        pads = forgotten_pads(self.warehouse, dataset.name)
        for case in (own, behind) if pads else ():
            gone = self.warehouse.rows(
                query(TOPIC, "token"), {**(pads or {}), "dataset": dataset.name, "case_id": case}
            )
            if gone:
                token, day, reason = gone[0]
                return token, [f"the case was forgotten on {day} ({reason})"]
        for case in (own, behind):
            of_case = {"dataset": dataset.name, "case_id": case}
            if case and self.warehouse.value(query(TOPIC, "deleted"), of_case):
                return case, ["the regulator withdrew the case; no report of it was released"]
            if case and (waited := self.rows("taken_in", case_id=case)):
                lacking = [each for (each,) in self.rows("left_while_waiting", case_id=case)]
                what = (
                    f"what replaced the data of {', '.join(lacking)} has no report of it"
                    if lacking
                    else "all of its reports came again under other case ids, where they are told"
                )
                return case, [f"it waited since {waited[0][0]}, and {what}"]
        of_series = {"dataset": dataset.name, "series": series, "case_id": behind or own}
        out = [each for (each,) in self.warehouse.rows(query(TOPIC, "quarters"), of_series)]
        where = f"it is out in {', '.join(out)}" if out else "see 'srsql lookup' and --series"
        raise LookUpError(
            f"{asked.strip()} is neither released nor withheld in {quarter} of series "
            f"{series!r}, whose data have no such case: {where}"
        )

    def _is_known(self, case_id: str) -> bool:
        return bool(self.rows("places", case_id=case_id) or self.rows("withheld", case_id=case_id))

    def size(self, group: int) -> GroupSize:
        """How large a group is, and which value leaves it the least room."""
        cases, new_cases, carriers = self.rows("sizes", group_id=group)[0]
        of_group = {"group_id": group, "weight_scale": self.weight_scale}
        found = self.rows("least_room", **of_group) if self._bounds_theta else []
        term, held, _, num, den, needs = found[0] if found else (None,) * 6
        theta = str(Fraction(num, den)) if den else None
        return GroupSize(
            group, cases, new_cases, carriers, self.least, term, held, theta, needs
        )  # fmt: skip

    @property
    def _bounds_theta(self) -> bool:
        return "theta" in MODELS[self.model].claimed_bounds.guaranteed

    def raised(self) -> tuple[str, ...]:
        """The values for whose thresholds groups hold more than k cases."""
        if self.least <= self.k or not self._bounds_theta:
            return ()
        return tuple(
            f"{term} (threshold {Fraction(num, den)})"
            for term, num, den in self.rows("raised", least=self.least)
        )

    def region(self, group: int, case_no: int, case_id: str, why: list[str]) -> list[RegionPart]:
        """Each part of a region; what was given up, and why, is added to ``why``."""
        cover = MODELS[self.model].history.covers
        after = self.manifest.get("made_after", [])
        ends = self.rows("ends", group_id=group, cover=cover, made_after=after)
        parts = []
        for row in self.rows("region", group_id=group, case_no=case_no):
            position, low, high, is_known, given_up, is_drawn, drawn_low, drawn_high = row
            name = self.dataset.qid[position].name
            own = [end for end in ends if end[0] == position]
            text, by = "the smallest that holds what its members have", own
            if is_drawn:
                low, high, by = drawn_low, drawn_high, []
                text = "drawn at random: nobody's value sets it"
            elif low is None:
                by = []
                text = "no report of the case tells it"
            if given_up or (is_drawn and low is None and is_known):
                text = "given up"
                why.append(self._given_up(name, case_no, case_id, own))
            low_by, high_by = (_setters(by, case_id, place) for place in (3, 4))
            parts.append(
                RegionPart(
                    group,
                    name,
                    shown_interval(self.dataset, position, low, high),
                    text,
                    low_by,
                    high_by,
                )
            )
        return parts

    def _given_up(
        self, name: str, case_no: int, case_id: str, ends: Sequence[tuple[Any, ...]]
    ) -> str:
        """Why a value that is known is released as missing."""
        before = [end[2] for end in ends if end[1] == case_id and end[5]]
        if before:
            return (
                f"{name} is given up: the region of the case in {before[0]} shows none, and only a "
                "missing value covers a missing one"
            )
        cases, _ = self.rows("pattern", case_no=case_no)[0]
        if cases < self.least:
            return (
                f"{name} is given up: those of the quarter with values in just the "
                f"quasi-identifiers that the case has number {cases:,}, a group needs "
                f"{self.least:,}"
            )
        self._unknown.append(
            f"whether {name} was given up because too few of these {cases:,} cases count towards "
            "k, or because they could not keep a threshold among them"
        )
        return (
            f"{name} is given up: the {cases:,} cases with values in just the quasi-identifiers "
            "that the case has could not be grouped, or not with this case"
        )

    def withheld(self, case_id: str) -> tuple[Outcome, str | None, list[str]]:
        """That a case is not released, the reason as stored, and what it comes from."""
        rows = self.rows("withheld", case_id=case_id)
        if not rows:
            return "not in the release", None, ["the release has nothing of the case"]
        case_no, reason = rows[0]
        entry = terms().get(f"withheld_{reason}")
        why = [" ".join(entry.text.split())] if entry else []
        why += [
            f"it waits since {since}: its reports are among those of the next period that the "
            "series releases"
            for (since,) in self.rows("waits", case_id=case_id)
        ]
        return "withheld", reason, [*why, *self._behind(reason, case_no, case_id)]

    def _behind(self, reason: str, case_no: int | None, case_id: str) -> Iterator[str]:
        """The figures and the releases behind a reason."""
        if reason in ("released_later", "promised_absent"):
            name = "later" if reason == "released_later" else "promised"
            out = ", ".join(quarter for (quarter,) in self.rows(name, case_id=case_id))
            if out:
                yield f"{'out in' if name == 'later' else 'counted as absent by'}: {out}"
        if case_no is None:
            return
        if reason in ("infeasible", "pattern_infeasible", "no_group_fits"):
            yield from self._too_frequent(reason, case_no)
        if reason in ("pattern_too_small", "pattern_infeasible", "missing_qid"):
            cases, missing = self.rows("pattern", case_no=case_no)[0]
            lacks = ", ".join(self.dataset.qid[position].name for position in missing)
            yield (
                f"missing: {lacks or 'nothing'}; those of the quarter with values in just the "
                f"same quasi-identifiers number {cases:,}, a group needs {self.least:,}"
            )

    def _too_frequent(self, reason: str, case_no: int) -> Iterator[str]:
        """The values of a case that are more frequent than their thresholds, or may be too much."""
        own = self.rows("own_values", case_no=case_no)
        listed = self.manifest.get("infeasible", [])
        values = [str(each["value"]) for each in listed]
        keys = term_keys(self.warehouse, values, self.dataset.term_key)
        told = dict(zip(keys, listed, strict=True))
        named = [told[term] for term, *_ in own if term in told]
        if reason == "infeasible" and named:
            for each in named:
                yield (
                    f"{each['value']}: {each['cases']:,} of {each['total']:,} cases "
                    f"({each['frequency']:.1%}), threshold {each['theta']:g}"
                )
            return
        if own:
            term, cases, num, den = own[0]
            yield (
                f"its value with the smallest threshold: {term}, {Fraction(num, den)}, held by "
                f"{cases:,} cases of the quarter"
            )

    def unknown(self, is_released: bool) -> Iterator[str]:
        """What cannot be told."""
        yield from dict.fromkeys(self._unknown)
        if is_released:
            yield (
                "why the group has these members and not others: grouping took what cost the least "
                "at each step, and keeps no trace of it"
            )
        if MODELS[self.model].history.carriers == "new" and "ss" in self.manifest.get(
            "attacks", ""
        ):
            yield "how far the bound on substantially many symptoms (alpha) decided the group"
        if claims := claims_of(self.warehouse, self.release_id):
            kept = ", ".join(f"{name} {bound}" for name, bound in claims.items())
            yield f"thresholds: {self.model} keeps {kept} in their place"


def _setters(ends: Sequence[tuple[Any, ...]], case_id: str, place: int) -> tuple[str, ...]:
    """Who sets an end: each member once, by its own value where that suffices."""
    found: dict[str, str] = {}
    for end in ends:
        if end[place] and end[1] not in found:
            who = "this case" if end[1] == case_id else f"case {end[1]}"
            found[end[1]] = who if end[2] is None else f"{who} (its region in {end[2]})"
    return tuple(found.values())


def _behind_pseudonym(
    warehouse: Warehouse, dataset: Dataset, series: str, asked: str
) -> str | None:
    """The case that a pseudonym of the series stands for; None: it is none."""
    own = find_series(warehouse, dataset, series)
    if own is None or own.key is None or own.ids == ORIGINAL:
        return None
    try:
        return look_up(warehouse, dataset, series, [asked]).found[0].case_id
    except LookUpError:
        return None
