"""What a report says in words: terms by ``schemas/glossary.toml``, checks by their registry."""

from __future__ import annotations

from typing import Any

from srsql.engine.checks.registry import CHECKS
from srsql.engine.report.page import Fact
from srsql.engine.risk.singling_out import (
    AS_ANYTHING,
    DRUGS_OR_TERMS,
    ITEMS,
    PUBLIC_SHARES,
    derived_text,
    items_named,
    verbatim_columns,
)
from srsql.schemas import Dataset
from srsql.schemas.glossary import Term, term, terms

ATTACKS = ("b", "f", "l", "md", "ss")
"""Attacks that a model of the papers may withstand, in the order of the papers."""
DANGER = ("dig", "dsg", "ssg")
"""Groups in danger; DIR, DSR and SSGR are their shares."""
CRITERIA = ("signal_prr", "signal_mhra", "signal_ror", "signal_ic")
"""The criteria of Lin 2016, Table 2."""
_KNOWN_ITEMS = (
    "an attacker who knows some of a patient's drugs or terms already: they stand beside the "
    "region as the reports have them (reports of a quarter tell how many cases they single out)"
)
_LIMITS = (
    "an attacker who knows a case or report number",
    "two audiences who put their series together",
    "values with a threshold of 1, which bounds nothing",
    "an attacker who replays the algorithm, which is known, on all originals that fit the release",
)
"""What no grouping model defends against, beside persistence (docs/models.md)."""


def measure_meaning(measure: str) -> str:
    """What a measure of a uniform row says; empty where neither has it."""
    entry = terms().get(measure)
    if entry is not None:
        return f"{entry.term}: {entry.short}"
    return " ".join(check.proves for check in CHECKS if check.name == measure)


def beside_region(visible_dataset: Dataset, manifest: dict[str, Any]) -> dict[str, Any]:
    """What a page says first: which columns are protected, which are not, and what these tell.

    Args:
        visible_dataset: with the tables of which the release has rows.
        manifest: public or private.
    """
    return {
        "protected": [qid.name for qid in visible_dataset.qid] if visible_dataset.rows else [],
        "verbatim": verbatim_columns(visible_dataset),
        "derived": derived_text(visible_dataset),
        "items": items_named(visible_dataset),
        "shares": {name: manifest[name] for name in PUBLIC_SHARES if name in manifest},
    }


def singled_out_facts(manifest: dict[str, Any]) -> list[Fact]:
    """What a manifest tells of cases that all sets together, or two items, single out."""
    facts = []
    union = manifest.get("union_one_candidate_percent")
    if union is not None:
        name = "of cases singled out by all sets of quasi-identifiers together"
        facts.append(Fact("union", name, union, f"{union} %"))
    share = manifest.get("one_candidate_percent_2_items")
    if share is not None:
        name = f"of cases singled out by region and 2 {manifest.get(ITEMS, DRUGS_OR_TERMS)}"
        other = manifest.get("one_candidate_percent_2_items" + AS_ANYTHING)
        if other is not None:
            name += f" ({other} % where an empty value may be anything)"
        facts.append(Fact("singled-out", name, share, f"{share} %"))
    share = manifest.get("exact_values_percent_some_row")
    if share is not None:
        name = "of cases in regions that tell exact values of some row at most"
        facts.append(Fact("exact-values", name, share, f"{share} %"))
    return facts


def suppressed_facts(manifest: dict[str, Any], worst: float | None = None) -> list[Fact]:
    """The share of the sensitive values that are suppressed, where a manifest tells of any.

    Args:
        manifest: public or private.
        worst: the largest share of a group that shows such a value or lost it, for the steward.
    """
    parts = manifest.get("suppressed_values_per_10000")
    if parts is None:
        return []
    facts = [Fact("suppressed", "of the sensitive values suppressed", parts, f"{parts / 100:g} %")]
    if worst is not None:
        what = "of a group show a suppressed value or lost it, at worst"
        facts.append(Fact("suppressed-worst", what, worst, f"{100 * worst:.1f} %"))
    return facts


def reason_meaning(reason: str) -> str:
    """Why a case is withheld; empty where the glossary does not have the reason."""
    entry = terms().get(f"withheld_{reason}")
    return "" if entry is None else entry.short


def exclusion_meaning(name: str) -> str:
    """Whom an exclusion set holds: ``B``, ``F``, ``L`` or ``MD``."""
    return term(name.lower()).short


def danger_terms() -> list[Term]:
    """The terms of groups in danger, for the legend of an audit."""
    return [term(key) for key in DANGER]


def defended_attacks(manifest: dict[str, Any]) -> list[str]:
    """The attacks that a release withstands, by its public or private manifest."""
    listed = str(manifest.get("attacks") or "none")
    return [] if listed == "none" else listed.split(",")


def undefended(manifest: dict[str, Any]) -> list[str]:
    """What a release does not withstand, by its manifest, public or private."""
    attacks = defended_attacks(manifest)
    keys = [key for key in (*ATTACKS, "p", "u", "g") if key not in attacks]
    known = _KNOWN_ITEMS
    if manifest.get("term_cases") is not None:  # no row shows an item
        known = f"an attacker who knows more than {manifest['m']} of a patient's drugs and terms"
    return [*(f"{term(key).term}: {term(key).text}" for key in keys), known, *_LIMITS]
