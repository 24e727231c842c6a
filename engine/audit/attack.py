"""One attacker, step by step: candidates, exclusion sets, and what is inferred (SPEC section 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from srsql.engine.audit.plan import known_intervals
from srsql.engine.catalog.releases import as_released, countable_scopes, not_released
from srsql.engine.catalog.series import PER_QUARTER, find_series
from srsql.engine.errors import AttackError
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

Besides = Literal["new", "stopped", "left", "stayed", "gone"]
_SETS: dict[str, Besides] = {
    "L": "new", "MD": "stopped", "E": "left", "P": "stayed", "G": "gone"
}  # fmt: skip
Region = dict[str, Any]
"""QID -> node label, or ``{"low": ..., "high": ...}`` in its unit; None where it is missing."""


@dataclass(frozen=True)
class Candidate:
    """A case whose region covers what the attacker knows."""

    case_id: str
    group: int
    region: Region


@dataclass(frozen=True)
class Excluded:
    """Why one candidate cannot be the target."""

    case_id: str
    quarter: str
    """The other release that tells."""
    region: Region | None
    """The parts of its region there that do not cover what is known; None for L, MD, E, P and G."""


@dataclass(frozen=True)
class ExclusionSet:
    """One exclusion set of Huang 2021, Definitions 1 to 3 and 5, or of an attack of ours."""

    name: str
    """``B``, ``F``, ``L``, ``MD``, ``E``, ``P`` or ``G``."""
    evaluated: bool
    cases: int
    """Distinct candidates in it, whatever the other sets exclude."""
    excluded: tuple[Excluded, ...]
    """A case once for each release that excludes it."""


@dataclass(frozen=True)
class Inference:
    """A sensitive value of those who remain."""

    term: str
    holders: int
    confidence: float
    theta: str | None
    """As an exact fraction; None where the release does not tell."""
    exceeds: bool | None


@dataclass(frozen=True)
class Persistence:
    """Who would remain if the attacker knew that the target is in that quarter as well."""

    quarter: str
    cases: int
    case_ids: tuple[str, ...]


@dataclass(frozen=True)
class Attack(Framed):
    """What one attacker finds out."""

    _tables: ClassVar[tuple[str, ...]] = ("inferences", "candidates")

    release_id: int
    quarter: str
    series: str
    model: str
    known: Region
    new: bool
    stopped: bool
    left: bool
    stayed: bool
    """The attacker knows that the target is in the next quarter as well (P)."""
    gone: bool
    """The attacker knows that the target left for good (G)."""
    candidates: tuple[Candidate, ...]
    exclusions: tuple[ExclusionSet, ...]
    not_evaluated: tuple[str, ...]
    remaining: tuple[str, ...]
    inferences: tuple[Inference, ...]
    """The most confident first."""
    ss_cases: int | None
    """Those who remain with substantially many symptoms; None where the release does not tell."""
    ss_share: float | None
    persistence: tuple[Persistence, ...]
    """What P would leave; no model of the papers defends it, ``ppms-stay`` does."""
    union: tuple[Inference, ...]
    """Values that more of those who remain hold once their values of all releases are united (U);
    informative as well."""


def attack(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    knowledge: Mapping[str, str],
    besides: Collection[Besides] = (),
    *,
    series: str = "main",
) -> Attack:
    """Play the attacker against one release; nothing is changed.

    Args:
        warehouse: may be read-only.
        dataset: whose quasi-identifiers ``knowledge`` names.
        quarter: the release that the target is in.
        knowledge: QID -> its value, in the QID's unit or as a node label; one that is left out is
            not known to the attacker.
        besides: what else the attacker knows of the target: that it is new, in no earlier quarter;
            that it stopped, so that it is not in the next one; that it left, so that it is in the
            version of the quarter before the newest alone, which is attacked; that it stayed, so
            that it is in the next quarter as well; that it is gone: it left for good, so that no
            release that is out now and of a later quarter has it, and none at all where it left.
        series: the releases that the attacker has.

    Raises:
        AttackError: the quarter is not released, ``knowledge`` makes no sense, or the target would
            have stayed and stopped or gone.
    """
    wrong = [name for name in ("stopped", "gone") if name in besides]
    if wrong and "stayed" in besides:
        raise AttackError(
            f"--{wrong[0]} and --stayed contradict each other: the target is in the next quarter "
            "or not"
        )
    release_id, model = _release(warehouse, dataset, quarter, series)
    if "left" in besides:
        release_id, model = _version_before(warehouse, dataset, quarter, series)
    if "match" not in countable_scopes(warehouse, release_id):
        raise AttackError(
            f"the release of {quarter} by {model} shows reports of a case in several regions, so "
            "candidates cannot be counted: attack a release of another model"
        )
    dataset = as_released(warehouse, dataset, release_id)
    known = known_intervals(warehouse, dataset, knowledge)
    played = _Played(warehouse, dataset, release_id, known)
    try:
        names = [name for name, known_as in _SETS.items() if known_as in besides]
        return played.result(quarter, series, model, ["B", "F", *names])
    finally:
        warehouse.run("DROP TABLE IF EXISTS temp.main.srsql_attack_candidate")


def _release(warehouse: Warehouse, dataset: Dataset, quarter: str, series: str) -> tuple[int, str]:
    rows = warehouse.rows(
        query("audit/attack", "releases"), {"dataset": dataset.name, "series": series}
    )
    found = [(release_id, model) for label, release_id, model in rows if label == quarter]
    if not found:
        raise AttackError(not_released(warehouse, dataset.name, series, quarter))
    return found[0]


def _version_before(
    warehouse: Warehouse, dataset: Dataset, quarter: str, series: str
) -> tuple[int, str]:
    rows = warehouse.rows(
        query("audit/attack", "versions"),
        {"dataset": dataset.name, "series": series, "quarter": quarter},
    )
    if len(rows) < 2:
        raise AttackError(
            f"{quarter} has one version in series {series!r}, which nobody has left: leave --left "
            "out, or give another --quarter"
        )
    release_id, model = rows[1]
    return release_id, model


class _Played:
    """The statements of one attack and what they return."""

    def __init__(
        self,
        warehouse: Warehouse,
        dataset: Dataset,
        release_id: int,
        known: dict[str, tuple[int, int]],
    ) -> None:
        self.warehouse, self.dataset, self.release_id = warehouse, dataset, release_id
        self.position = {qid.name: p for p, qid in enumerate(dataset.qid)}
        self.known = known
        self.knowledge = {
            "release_id": release_id,
            "positions": [self.position[name] for name in known],
            "lows": [low for low, _ in known.values()],
            "highs": [high for _, high in known.values()],
        }

    def result(self, quarter: str, series: str, model: str, names: list[str]) -> Attack:
        """Everything in order; ``names``: of the exclusion sets."""
        self.warehouse.run(query("audit/attack", "create_candidates"), self.knowledge)
        listed = self.warehouse.rows(query("audit/attack", "candidates"))
        case_ids = {row[0]: row[1] for row in listed}
        neighbours, tells_who_is_gone = self._neighbours()
        new, stopped = "L" in names, "MD" in names
        unknown = [n for n in names if n in ("MD", "P") and neighbours["next"] is None]
        unknown += [n for n in names if n == "G" and not tells_who_is_gone]
        exclusions, gone = self._exclusions(names, unknown, case_ids)
        left = [row for row in listed if row[0] not in gone]
        told = left and all(row[3] is not None for row in left)
        ss = sum(row[3] for row in left) if told else None
        regions = self._regions()
        stayed, left_it, gone_for_good = ("P" in names, "E" in names, "G" in names)
        told_of = {
            "next": stopped or stayed or gone_for_good,
            "previous": new or stayed or (gone_for_good and left_it),
        }
        return Attack(
            release_id=self.release_id,
            quarter=quarter,
            series=series,
            model=model,
            known={
                name: shown_interval(self.dataset, self.position[name], *ends)
                for name, ends in self.known.items()
            },
            new=new,
            stopped=stopped,
            left=left_it,
            stayed=stayed,
            gone=gone_for_good,
            candidates=tuple(Candidate(row[1], row[2], regions[row[2]]) for row in listed),
            exclusions=exclusions,
            not_evaluated=tuple(unknown),
            remaining=tuple(row[1] for row in left),
            inferences=self._inferences("inferences", [row[0] for row in left]),
            union=self._united(series, [row[0] for row in left]),
            ss_cases=ss,
            ss_share=None if ss is None else ss / len(left),
            persistence=tuple(
                Persistence(where, len(kept), tuple(kept))
                for side, index in (("next", 4), ("previous", 5))
                if (where := neighbours[side]) is not None and not told_of[side]
                for kept in [[row[1] for row in left if row[index]]]
            ),
        )

    def _neighbours(self) -> tuple[dict[str, str | None], bool]:
        """Labels of the next and the previous quarter of the series, and whether some release tells
        who did not leave for good."""
        after, before, tells_who_is_gone = self.warehouse.rows(
            query("audit/attack", "neighbours"), {"release_id": self.release_id}
        )[0]
        return {"next": after, "previous": before}, tells_who_is_gone

    def _exclusions(
        self, names: list[str], unknown: list[str], case_ids: dict[int, str]
    ) -> tuple[tuple[ExclusionSet, ...], set[int]]:
        """The exclusion sets, and the candidates that some of them holds."""
        rows = self.warehouse.rows(
            query("audit/attack", "exclusions"),
            {**self.knowledge, "names": [name for name in names if name not in unknown]},
        )
        sets = []
        for name in names:
            own = [row for row in rows if row[0] == name]
            excluded = tuple(
                Excluded(case_ids[case_no], quarter, self._parts(parts))
                for _, case_no, quarter, parts in own
            )
            sets.append(
                ExclusionSet(name, name not in unknown, len({row[1] for row in own}), excluded)
            )
        return tuple(sets), {row[1] for row in rows}

    def _united(self, series: str, remaining: list[int]) -> tuple[Inference, ...]:
        """What other releases add; nothing where no id joins them."""
        found = find_series(self.warehouse, self.dataset, series)
        if found is not None and found.ids == PER_QUARTER:
            return ()
        return self._inferences("united_inferences", remaining)

    def _inferences(self, name: str, remaining: list[int]) -> tuple[Inference, ...]:
        rows = self.warehouse.rows(
            query("audit/attack", name),
            {"release_id": self.release_id, "remaining": remaining},
        )
        return tuple(
            Inference(term, holders, confidence, f"{num}/{den}" if den else None, exceeds)
            for term, holders, confidence, num, den, exceeds in rows
        )

    def _regions(self) -> dict[int, Region]:
        """Group -> its region, of the groups that have candidates."""
        rows = self.warehouse.rows(
            query("audit/attack", "regions"), {"release_id": self.release_id}
        )
        found: dict[int, Region] = defaultdict(dict)
        for group, position, low, high in rows:
            found[group][self.dataset.qid[position].name] = shown_interval(
                self.dataset, position, low, high
            )
        return found

    def _parts(self, parts: list[dict[str, Any]] | None) -> Region | None:
        if not parts:
            return None
        return {
            self.dataset.qid[p["position"]].name: shown_interval(
                self.dataset, p["position"], p["low"], p["high"]
            )
            for p in parts
        }


def shown_interval(dataset: Dataset, position: int, low: int | None, high: int | None) -> Any:
    """An interval of a quasi-identifier as it is published."""
    qid = dataset.qid[position]
    if low is None or high is None:
        return None
    if qid.kind == "categorical":
        return dataset.hierarchies[qid.name].labels[low]
    ends = {"low": low * qid.granularity, "high": high * qid.granularity}
    return {
        name: int(end) if end == end.to_integral_value() else float(end)
        for name, end in ends.items()
    }
