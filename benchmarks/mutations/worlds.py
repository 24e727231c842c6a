"""Where mutations bite: small datasets, what is released of them, and what leaves the house."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from benchmarks.mutations.data import Report, baskets, crowd, crowded, moved, with_gaps
from srsql.engine.api.engine import Engine
from srsql.engine.grouping.cases import Knowledge
from srsql.engine.grouping.thresholds import ThetaPolicy

ONE, TWO, THREE = "2011Q3", "2011Q4", "2012Q1"
USUAL: dict[str, Any] = {
    "k": 3, "theta": "0.5", "seed": 20111, "allow_linkable": True, "date": "2026-11-28",
    "refine": "off",
}  # fmt: skip
NOISY: dict[str, Any] = {key: value for key, value in USUAL.items() if key != "refine"}
Released = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class World:
    """Quarters, the releases that are made of them in turn, and the artifacts."""

    quarters: Mapping[str, Sequence[Report]]
    releases: Sequence[Released]
    """(quarter, options)."""
    published: Sequence[tuple[str, str]] = ()
    """(quarter, series), oldest first; those of one series are verified together."""
    publish: Mapping[str, Any] = field(default_factory=dict)
    ingests: bool = False
    """Whoever ingests is mutated, too."""
    audits: bool = True
    """Its releases have regions, which are attacked."""
    before: Callable[[Engine], None] | None = None
    """What is done once the quarters are there."""
    left: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Quarter -> cases that are deleted once all is released, after which it is corrected."""

    @property
    def series(self) -> list[str]:
        """Those that have releases."""
        return list(dict.fromkeys(options.get("series", "main") for _, options in self.releases))


def _suspect(engine: Engine) -> None:
    """Have cases be suspected of being one person: of the same age and sex, or of two quarters."""
    pairs = [(100_000 + case, 100_300 + case) for case in range(1, 61, 2)]
    pairs += [(100_000 + case, 100_400 + case) for case in range(2, 61, 2)]
    for one, other in pairs:
        engine.con.execute(
            "INSERT INTO srsql.suspected_duplicate VALUES ('faers', ?, ?, 0.95)",
            [str(one), str(other)],
        )
    engine.con.execute(
        "INSERT INTO srsql.duplicate_search SELECT 'faers', list(i.ingestion_id), 0, 0.5, 1, "
        "'a benchmark', '{}' FROM srsql.ingestion AS i WHERE NOT i.replaced"
    )


def _with(model: str, **options: Any) -> dict[str, Any]:
    return USUAL | {"model": model} | options


def _noisy(model: str, **options: Any) -> dict[str, Any]:
    return NOISY | {"model": model, "on_infeasible": "withhold"} | options


def _alone(reports: Sequence[Report]) -> list[Report]:
    """Every fourth with its first reaction alone."""
    return [
        replace(each, reactions=each.reactions[:1]) if number % 4 == 0 else each
        for number, each in enumerate(reports)
    ]


def _of_all_ages(count: int) -> list[Report]:
    """Baskets of cases from 20 to 79 years."""
    return [replace(each, age=str(20 + each.case * 7 % 60)) for each in baskets(count)]


FIRST = with_gaps(crowd(range(1, 91)))
SECOND = with_gaps(moved(crowd(range(31, 121), version=2)))
THIRD = moved(crowd(range(61, 151), version=3))
MANY = crowd(range(1, 601), terms=60)
WEIGHED = crowd(range(1, 2401), terms=20)
OFTEN = crowded(crowd(range(1, 61)), "Reaction often", 2)
SUSPECTS = crowd([*range(1, 61), *range(301, 361)], terms=11)
KNOWN = Knowledge("a benchmark", (("DRUG 1", "DISEASE 03"), ("DRUG 2", "DISEASE 06")))
LEVELS = ThetaPolicy("levels", Fraction(1, 2), {"Reaction 01": Fraction(1, 4)}, "a benchmark")

TERMS = {"model": "disassociation", "k": 4, "m": 2, "term_attributes": "pt", "max_cluster_size": 24}

WORLDS: dict[str, World] = {
    "one quarter": World(
        {ONE: FIRST},
        [(ONE, _with("ms", on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "some withheld": World(
        {ONE: [replace(FIRST[0], reactions=("Reaction odd",)), *FIRST[1:]]},
        [(ONE, _with("ms", missing="drop", on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "two series": World(
        {ONE: FIRST},
        [
            (ONE, _with("ms", on_infeasible="withhold")),
            (ONE, _with("ms", on_infeasible="withhold", series="other")),
        ],
        [(ONE, "main"), (ONE, "other")],
    ),
    "often": World(
        {ONE: OFTEN},
        [(ONE, _with("ms", on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "by level": World(
        {ONE: FIRST},
        [(ONE, _with("ms", theta=LEVELS, on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "corrected": World(
        {ONE: FIRST},
        [(ONE, _with("ms", theta=LEVELS, on_infeasible="withhold"))],
        [(ONE, "main")],
        left={ONE: [1, 2]},
    ),
    "by frequency": World(
        {ONE: FIRST},
        [(ONE, _with("ms", theta="frequency", on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "by key file": World({ONE: FIRST}, [(ONE, _with("ms", on_infeasible="withhold"))],
                         [(ONE, "main")], {"case_ids": "pseudonym", "key_file": "ids.key"}),
    "spelled": World(
        {ONE: FIRST},
        [(ONE, _with("ms", on_infeasible="withhold"))],
        [(ONE, "main")],
        ingests=True,
    ),
    "series": World(
        {ONE: FIRST, TWO: SECOND, THREE: THIRD},
        [(label, _with("ppms++", on_infeasible="withhold")) for label in (ONE, TWO, THREE)],
        [(ONE, "main"), (TWO, "main"), (THREE, "main")],
    ),
    "series by quarter": World(
        {ONE: FIRST, TWO: SECOND},
        [(label, _with("ppms++", ids="per-quarter", on_infeasible="withhold"))
         for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
    ),
    "all covered": World(
        {ONE: FIRST, TWO: SECOND, THREE: THIRD},
        [(label, _with("ppms", on_infeasible="withhold")) for label in (ONE, TWO, THREE)],
        [(ONE, "main"), (TWO, "main"), (THREE, "main")],
    ),
    "alpha": World(
        {ONE: crowded(FIRST, "Reaction many", 2), TWO: SECOND, THREE: THIRD},
        [(label, _with("ppms-alpha", alpha="3/5", ss_rule="pt>=2", on_infeasible="withhold"))
         for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
    ),
    "stay": World(
        {ONE: FIRST, TWO: SECOND, THREE: THIRD},
        [(label, _with("ppms-stay", on_infeasible="withhold")) for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
    ),
    "suppressed": World(
        {
            ONE: _alone(OFTEN),
            TWO: moved([*_alone(crowded(crowd(range(1, 61), 2), "Reaction often", 2)),
                        *crowd(range(61, 201), 2)]),
        },
        [(label, _with("ppms++", theta="0.4", on_infeasible="suppress", leftovers="suppress"))
         for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
    ),
    "persons": World(
        {ONE: SUSPECTS},
        [(ONE, _with("ms", count="persons", on_infeasible="withhold"))],
        [(ONE, "main")],
        before=_suspect,
    ),
    "persons over quarters": World(
        {ONE: SUSPECTS, TWO: crowd(range(401, 541), version=2, terms=40)},
        [(label, _with("ppms++", count="persons", on_infeasible="withhold"))
         for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
        before=_suspect,
    ),
    "waiting": World(
        {ONE: crowd(range(1, 4)), TWO: crowd(range(21, 22), version=2),
         THREE: crowd(range(41, 58), version=3)},
        [(label, _with("ppms++", k=5, max_delay=1, on_infeasible="withhold"))
         for label in (ONE, TWO, THREE)],
        [(THREE, "main")],
    ),
    "waiting twice": World(
        {ONE: crowd(range(1, 4)), TWO: crowd(range(21, 22), version=2),
         THREE: crowd(range(41, 58), version=3)},
        [(label, _with("ppms++", k=5, max_delay=2, on_infeasible="withhold"))
         for label in (ONE, TWO, THREE)],
        [(THREE, "main")],
    ),
    "knowledge": World(
        {ONE: FIRST},
        [(ONE, _with("ms", theta="0.4", knowledge=KNOWN, on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "l values": World({ONE: FIRST}, [(ONE, _with("l-diversity", l=3))]),
    "alpha share": World(
        {ONE: crowded(FIRST, "Reaction often", 3)},
        [(ONE, _with("alpha-k", alpha="0.4", on_infeasible="withhold"))],
    ),
    "noise on numbers": World(
        {ONE: MANY},
        [(ONE, _noisy("ppms-dp-num")), (ONE, _noisy("msdp-num", series="other", seed=5))],
        [(ONE, "main")],
    ),
    "noise over quarters": World(
        {ONE: MANY[:200], TWO: moved(crowd(range(101, 301), version=2, terms=60))},
        [(label, _noisy("ppms-dp-num")) for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
    ),
    "noise on all": World(
        {ONE: MANY},
        [(ONE, _noisy("ppms-dp-all")), (ONE, _noisy("msdp-all", series="other", seed=5))],
        [(ONE, "main")],
    ),
    "noise as printed": World(
        {ONE: MANY},
        [(ONE, _noisy("ppms-dp-all", calibration="paper"))],
        [(ONE, "main")],
    ),
    "histogram": World(
        {ONE: MANY}, [(ONE, _noisy("dp-histogram", dimensions="age,sex"))], audits=False
    ),
    "made-up records": World(
        {ONE: WEIGHED}, [(ONE, _noisy("ipa", dimensions="wt", epsilon="4"))], audits=False
    ),
    "small classes": World(
        {ONE: WEIGHED},
        [(ONE, _noisy("ipa", dimensions="wt", epsilon="8", suppress_below=10,
                      share_suppression="0.01", share_candidates="0.39"))],
        audits=False,
    ),
    "one level vector": World(
        {ONE: MANY}, [(ONE, NOISY | {"model": "full-domain"})], audits=False
    ),
    "terms": World(
        {ONE: baskets(400)},
        [(ONE, NOISY | TERMS)],
        [(ONE, "main")], audits=False),
    "terms in groups": World(
        {ONE: baskets(360)},
        [(ONE, _with("ms", k=4, theta="1", terms="disassociate", term_attributes="pt", m=2))],
        [(ONE, "main")],
    ),
    "counted": World(
        {ONE: _of_all_ages(160), TWO: [replace(each, report=each.report + 1)
                                       for each in _of_all_ages(280)]},
        [(label, _with("ppms++", theta="0.4", terms="tables")) for label in (ONE, TWO)],
        [(ONE, "main"), (TWO, "main")],
    ),
    "whole rows": World(
        {ONE: baskets(160)},
        [(ONE, _with("ms", k=4, theta="0.9", terms="disassociate", term_attributes="all", m=2,
                     on_infeasible="withhold"))],
        [(ONE, "main")],
    ),
    "nodes": World(
        {ONE: baskets(160)},
        [(ONE, NOISY | {"model": "cba", "k": 4, "m": 2, "term_attributes": "pt"})],
        audits=False,
    ),
}  # fmt: skip
