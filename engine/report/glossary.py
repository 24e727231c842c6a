"""What a report says in words: measures, reasons, attacks, what no model defends."""

from __future__ import annotations

REASONS = {
    "infeasible": "a value is more frequent in the quarter than its threshold",
    "pattern_infeasible": "the same, among cases that miss all quasi-identifiers",
    "pattern_too_small": "too few cases miss these quasi-identifiers, and no larger set takes them",
    "no_group_fits": "every group would break a threshold",
    "too_few_new_cases": "fewer than k cases of the quarter could carry the bounds",
    "promised_absent": "an earlier release counted the case as absent from this quarter",
    "released_later": "the case is first published in a later quarter",
    "missing_qid": "incomplete, and incomplete cases are left out",
    "deleted": "the regulator withdrew the case",
}
"""Why a case is withheld (docs/models.md)."""

MEASURES = {
    "nil": "NIL: detail of the quasi-identifiers that was lost (0 none, 1 all)",
    "il_per_group": "information loss per group and quasi-identifier, as Lin 2016 prints it",
    "dr": "DR: groups in which a value is inferred beyond its threshold",
    "dir": "DIR: groups in which fewer than k candidates remain",
    "dsr": "DSR: groups in which a value exceeds its threshold among those who remain",
    "ssgr": "SSGR: groups in which too many who remain have substantially many symptoms",
    "withheld": "withheld: of the quarter, not released",
    "suppressed": "suppressed: values known, but released as missing",
    "group_size": "cases per group",
    "check_k": "check of the released rows: cases per region",
    "check_theta": "check of the released rows: thresholds",
    "check_theta_knowledge": "check of the released rows: thresholds with external knowledge",
    "check_reports": "check of the released rows: reports per region",
    "check_alpha": "check of the released rows: share of reports that hold a value",
    "check_values": "check of the released rows: distinct values per region",
    "check_manifest": "check of the public manifest: it names released values only",
    "check_complete": "check: every report is released or withheld",
    "check_inside": "check: every original value lies in its region",
    "check_catalog": "check: the catalog has what the views show",
}

ATTACKS = {
    "b": "B, backward: exclude candidates that an earlier release shows elsewhere",
    "f": "F, forward: exclude candidates that a later release shows elsewhere",
    "l": "L, latest: the target is new, so exclude cases of earlier releases",
    "md": "MD, discontinuation: the target stops, so exclude cases of the next quarter",
    "ss": "SS, substantial symptoms: infer that the target has many symptoms",
}

NEVER_DEFENDED = (
    "P, persistence: an attacker who knows that a patient is in two consecutive quarters",
    "an attacker who knows some of a patient's terms already, or a case or report number",
    "two audiences who put their series together",
    "values with a threshold of 1, which bounds nothing",
)
"""By no grouping model (docs/models.md)."""

SETS = {
    "B": "an earlier region does not cover what is known",
    "F": "a later region does not cover what is known",
    "L": "in an earlier release, but the target is new",
    "MD": "in the next quarter, but the target is not",
}

CRITERIA = {
    "signal_prr": "PRR: lower bound > 1",
    "signal_mhra": "MHRA: PRR ≥ 2, a ≥ 3, χ² ≥ 4",
    "signal_ror": "ROR: lower bound > 1",
    "signal_ic": "IC: lower bound > 0",
}
"""The criteria of Lin 2016, Table 2."""


def undefended(attacks: list[str]) -> list[str]:
    """What a release that withstands ``attacks`` does not withstand."""
    return [text for name, text in ATTACKS.items() if name not in attacks] + list(NEVER_DEFENDED)
