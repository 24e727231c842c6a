"""The checks of artifacts, what each proves and found, and what no artifact shows of itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from srsql.engine.artifact.format import Manifest
from srsql.engine.catalog.series import PER_QUARTER

FAULTS_SHOWN = 5
"""Places that are named of each check."""
CHECKS = {
    "files": "every file is there, as it was hashed, and no other",
    "manifest": "the manifest can be read and agrees with the files and with itself",
    "columns": "every table can be read and has the declared columns and no other",
    "rows": "every table has as many rows as the manifest says",
    "catalogues": "what catalogues are told of files, counts and earlier releases is so",
    "content": "the rows are those that were published, whatever their encoding",
    "texts": "no text holds a line end or control character, is longer than its column may be, or "
    "holds the id of another report or case",
    "keys": "the keys that the data package declares hold in the rows",
    "ids": "a report has one row and one case; every other row belongs to one",
    "order": "rows stand in the order of their ids",
    "period": "every report is of the quarter of the release",
    "counts": "cases and reports are as many as the manifest says",
    "bounds": "regions lie in the declared domains, on the granularity, at nodes of hierarchies",
    "one region": "all reports of a case have the same region",
    "k": "at least k cases share every region",
    "theta": "no value is held by a larger share of a region's cases than its threshold",
    "thresholds": "thresholds are given of released values only, each once, as the parameters say",
    "term keys": "beside every term stands the key of its spelling, by which terms are compared",
    "terms": "terms that are told apart are k^m-anonymous in every chunk, in clusters of k",
    "regions": "every region counts k cases or more, once, and all of them are the released cases",
    "strata": "the strata of counts follow from the cuts that the manifest tells",
    "told units": "cases by stratum are those of the rows",
    "told counts": "no count is below k, told twice, of other columns, or of strata in one another",
    "told shares": "no count is more of what it is part of than thresholds and k allow (rule R2)",
    "ways out": "told items leave data sets in which thresholds hold (rules G1 and G2)",
    "bridges": "no two known items force a third on more than its threshold allows (rule G3)",
    "sets": "each quasi-identifier is in a protected set, and what all sets single out is as told",
    "derived": "what is claimed of derived columns follows from their rules, and rows show no more",
    "declaration": "roles, domains and hierarchies are the dataset's, where it ships with srsql",
    "policy": "the released rows do not contradict the policy that thresholds follow",
    "report": "the public report is the one that the released rows give",
    "signature": "the hashes were signed with the key of whoever published them",
    "series": "the artifacts follow each other in one series, with ids that can be compared",
    "new k": "at least k cases of every region are in no earlier release",
    "new theta": "thresholds hold among the cases that are in no earlier release",
    "cover": "a later region of a case covers its first one",
    "new units": "counts of a quarter are of the cases that no earlier release has (rule R6)",
    "stay k": "who of a region is in the next quarter, who is not, and who came together from a "
    "region of the quarter before, are none or have k who were new",
    "stay theta": "thresholds hold among each of these, by those who were new",
}
"""Name -> what it proves."""
AUTHOR = (
    "who made it: authenticity was not checked, and whoever can rewrite every file and every hash "
    "can make another artifact; give the publisher's key (--public-key), or compare SHA256SUMS "
    "with a copy that you got another way"
)
LIMITS_OF_ARTIFACTS = (
    "that the true values lie in the regions, and that nothing but what was withheld is missing: "
    "both need the originals",
    "that rows were grouped as the model says: groups are not published, only their regions",
    "thresholds against what is not published: sensitive columns, values of withheld cases",
    "what an attacker knows from elsewhere, such as some of a patient's drugs, terms or a case id",
)
NOISE = (
    "k and thresholds: they hold for groups, which are not published; what is published of a case "
    "is drawn at random"
)
NOISE_CLAIM = (
    "{quarter}: that noise was added, as its model, {model}, says: exact values could be passed "
    "off as drawn ones"
)
INVISIBLE_CHARACTERS = (
    "{quarter}: values that look the same, since version 1 of the format counts terms that differ "
    "in invisible characters as several"
)
KNOWLEDGE = "thresholds with the external knowledge that the release took into account"
JOINED_RELEASES = (
    "what joining the releases of the series tells ({attacks}): give the artifacts of the "
    "other quarters as well"
)
FURTHER_ATTACKS = "the attacks {attacks}: they need the next quarter and what the rule counted"
HISTORY = (
    "{quarter}: which cases are new, since not exactly the releases that came before it in the "
    "series ({earlier}) are given"
)
STAY_NOT_JUDGED = (
    "{quarter}: what presence in two quarters tells ({attacks}), since which of its cases are new "
    "is not known"
)
STAY_NEXT = (
    "{quarter}: what presence in the quarter after it tells ({attacks}): give the artifact of that "
    "quarter as well, if it is out"
)
STAY_VALUES = (
    "how many patients report values outside of an earlier region of theirs, whom {model} counts "
    "apart, and who went on and was withheld: presence is that in a release; more needs the "
    "originals"
)
IDS_PER_QUARTER = (
    "{quarter}: which cases are new, and what joining quarters tells, since a case has another id "
    "in every quarter: no id joins them, the region and terms may"
)
TERMS_ALONE = (
    "regions, thresholds and what joining quarters tells, since no row of a report is released; "
    "nor who holds what is in no chunk but in the item chunk of a cluster"
)
MODEL_WITHOUT_JOINS = (
    "{quarter}: what joining it with the other artifacts tells, since its model, {model}, promises "
    "nothing of that"
)
FOREIGN_DATASET = (
    "{quarter}: which columns are sensitive or identify, and the domains of these: dataset "
    "{dataset!r} does not ship with srsql, and nobody else pins what it declares"
)
UNKNOWN_VERSION = (
    "{quarter}: which columns are sensitive or identify, and the domains of these: srsql {version} "
    "released version {number} of dataset {dataset!r}, which this srsql does not know"
)
DECLARATION_TEXT = (
    "{quarter}: how values were read, such as placeholders and units: srsql {version} released it "
    "with a declaration of dataset {dataset!r} that has another text"
)
SUPPRESSED_VALUES = (
    "{quarter}: which cases have a value that no row of theirs shows: thresholds bound published "
    "values, and values of up to {cases:,} of its cases are suppressed so that they hold"
)
FIGURES = (
    "{quarter}: the figures {names} of the manifest: what they count is not published, so that "
    "they are the word of whoever published it"
)
NEW_IDS = (
    "{quarter}: that the cases whose ids are in no earlier artifact are new: ids that were made "
    "anew look the same"
)
NO_RETURNING_CASE = (
    "{quarter}: whether any of its {cases:,} cases came before: none of their ids is in an "
    "artifact of an earlier quarter, as in a quarter whose ids were made anew, and all count as new"
)
NUMBERS_IN_TEXTS = (
    "{quarter}: that {ids:,} number(s) in texts, which are ids of other reports or cases as well, "
    "stand for something else, as its publisher says"
)
UNREBUILT_PAGE = (
    "{quarter}: that {page} says what the released rows say, since {why}: read it as the word of "
    "whoever published it"
)


SHOWN_FIGURES = frozenset(
    {
        "theta",
        "epsilon",
        "m",
        "l",
        "term_k",
        "term_cases",
        "item_cases",
        "terms_inferred",
        "term_key",
        "released_cases",
        "released_reports",
        "table_k",
        "union_below_k_percent",
        "union_one_candidate_percent",
    }
)
"""Of a manifest's parameters and counts, the numbers that some check compares with the rows, or
with what the artifact says elsewhere and would have to be forged as well. All others are named."""
_NUMBER = re.compile(r"-?[0-9]+([./][0-9]+)?")


def figures(manifest: Manifest) -> dict[str, int | str]:
    """Every number among the parameters and the counts of a manifest, by its name."""
    counts = {n: v for n, v in manifest.counts.model_dump().items() if v is not None}
    told = manifest.parameters | counts
    return {name: value for name, value in told.items() if _NUMBER.fullmatch(str(value))}


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str
    faults: Sequence[str]
    """Where it fails, in words; all of them."""
    total: int
    """How many things were looked at."""
    artifact: str = "series"
    """The folder; ``series`` where several are looked at together."""

    @property
    def passed(self) -> bool:
        """Nothing was found."""
        return not self.faults

    @property
    def where(self) -> list[str]:
        """The first few places."""
        return list(self.faults[:FAULTS_SHOWN])


@dataclass(frozen=True)
class Verified:
    """The checks of one or more artifacts, and what no artifact can show."""

    artifacts: tuple[str, ...]
    checks: tuple[Check, ...]
    not_run: tuple[str, ...]
    """Checks that could not be run because of what others found."""
    cannot_show: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Every check was run and found nothing."""
        return not self.not_run and all(check.passed for check in self.checks)

    @property
    def failures(self) -> list[str]:
        """The first place of every check that failed."""
        return [f"{check.name}: {check.faults[0]}" for check in self.checks if check.faults]


def ids_join(manifest: Manifest) -> bool:
    """Whether ids join the rows of a case over quarters."""
    return manifest.parameters.get("ids") != PER_QUARTER


def suppressed_cases(manifest: Manifest, share: str = "cases") -> int:
    """How many cases lost a value at most, or (``one_value``) the same one, as the manifest says.

    0 where it says nothing of suppressed values.
    """
    parts = manifest.parameters.get(f"suppressed_{share}_per_10000", 0)
    if not isinstance(parts, int):
        return manifest.counts.released_cases
    return -(-parts * manifest.counts.released_cases // 10_000)


def history_of(manifest: Manifest) -> str:
    """The quarters that were released before it, in words."""
    return ", ".join(manifest.earlier_releases) or "none"


def version_of(manifest: Manifest) -> int:
    """Which version of its quarter an artifact has; 0: it does not tell, but is not the first."""
    told = manifest.parameters.get("version")
    if isinstance(told, int):
        return told
    return 0 if manifest.quarter in manifest.earlier_releases else 1


def attacks_left(read: list[tuple[Path, Manifest]], *, alone: bool) -> list[str]:
    """The attacks that the models withstand and that were not looked at."""
    promised = {attack for _, manifest in read for attack in manifest.attacks}
    if not promised:
        return []
    if alone:
        return [JOINED_RELEASES.format(attacks=", ".join(sorted(promised)))]
    others = {a for _, m in read if "p" not in m.attacks for a in m.attacks} - {"b", "f", "l"}
    return [FURTHER_ATTACKS.format(attacks=", ".join(sorted(others)))] if others else []


def windows_left(read: Sequence[Manifest], judged: Sequence[Manifest]) -> list[str]:
    """What stays unproved of the models that withstand that presence in two quarters is known.

    Args:
        read: every artifact, oldest first.
        judged: those of which it is known who is new; the first version of a later quarter shows
            who of an earlier one is in the quarter after that, if there is one.
    """
    claims = [manifest for manifest in read if "p" in manifest.attacks]
    texts = []
    for manifest in claims:
        attacks = ", ".join(a for a in manifest.attacks if a in ("md", "p"))
        if manifest not in judged:
            texts.append(STAY_NOT_JUDGED.format(quarter=manifest.quarter, attacks=attacks))
        elif not any(o.quarter > manifest.quarter and version_of(o) == 1 for o in judged):
            texts.append(STAY_NEXT.format(quarter=manifest.quarter, attacks=attacks))
    return texts + [STAY_VALUES.format(model=m) for m in dict.fromkeys(c.model for c in claims)]
