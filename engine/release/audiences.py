"""For whom a release is made, and what follows from that for k, rows and attackers.

The one place where it is declared. What is given by hand wins; the sentences tell what was made,
not what was wished.

Source:
    EMA, External guidance on the implementation of Policy 0070, and Health Canada, Public Release
    of Clinical Information: a largest risk of 0.09 for what anybody may read. Cells of 11, 5 and 3
    (0.09, 0.2, 0.33), by who gets the data and what they signed, as custodians ask for them: El
    Emam 2013 (CRC Press).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from srsql.engine.catalog.series import PER_QUARTER, find_series, next_quarter, stored_parameters
from srsql.engine.models import DEFAULT_MODEL, MODELS
from srsql.engine.models.bounding import PpmsStay
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.count_tables import TABLES
from srsql.engine.terms.parameters import ALL, DISASSOCIATE
from srsql.schemas import Dataset


@dataclass(frozen=True)
class Audience:
    """Who gets a release, and what that asks for."""

    whom: str
    k: int
    """Cases of a group, at least: nobody is picked with a chance above 1 / k."""
    rounded: str
    """That chance as the field writes it."""
    rows_apart: bool
    """Drugs and terms are told of clusters, since nobody can be kept from knowing some of them."""
    persistence: bool
    """Nobody can be kept from joining periods."""
    otherwise: str
    """What has to protect rows that stay whole."""

    @property
    def risk(self) -> Fraction:
        """The largest chance of picking a patient's record."""
        return Fraction(1, self.k)


AUDIENCES = {
    "public": Audience("anybody", 11, "0.09", True, True, "nothing else does"),
    "contract": Audience(
        "those who signed not to identify anybody",
        5,
        "0.2",
        False,
        False,
        "the contract has to prevent that",
    ),
    "enclave": Audience(
        "those who work in a room that is watched",
        3,
        "0.33",
        False,
        False,
        "the room has to prevent that",
    ),
}


def audience_options(
    warehouse: Warehouse, dataset: Dataset, quarter: str, series: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """What an audience chooses of a release, beside what is given.

    Args:
        warehouse: tells whether the series is there, and the period after the last one.
        dataset: of the series.
        quarter: the period, or a range FIRST:LAST.
        series: its name.
        given: options that somebody gave, ``audience`` among them; a series that is there has its
            model and ids.

    Returns:
        Options by keyword, none of which is given.
    """
    audience = AUDIENCES[given["audience"]]
    there = find_series(warehouse, dataset, series)
    stored = {p.keyword: p.value for p in stored_parameters(warehouse, dataset.name, series)}
    model = given.get("model", stored.get("model")) or model_for(
        warehouse, dataset, quarter, audience
    )
    counted = given.get("terms", stored.get("terms")) == TABLES
    chosen: dict[str, Any] = {"k": audience.k}
    if there is None:
        chosen["model"] = model
    rows = model in MODELS and MODELS[model].shape.of_cases(True, False)
    if audience.rows_apart and rows and not counted:
        chosen |= {"terms": DISASSOCIATE, "term_attributes": ALL}
        chosen |= {"ids": PER_QUARTER} if there is None else {}
    return {keyword: value for keyword, value in chosen.items() if given.get(keyword) is None}


def model_for(warehouse: Warehouse, dataset: Dataset, quarter: str, audience: Audience) -> str:
    """The model for an audience: one that withstands persistence needs to know who goes on, so that
    the period after the last one has to be loaded."""
    last = quarter.rpartition(":")[2].strip()
    if audience.persistence and next_quarter(warehouse, dataset, last) is not None:
        return PpmsStay.name
    return DEFAULT_MODEL


def audience_sentences(name: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What was made for an audience, in three sentences: k, rows, attackers; where k counts no
    cases, what is guaranteed in the place of the first two.

    Args:
        name: of ``AUDIENCES``.
        manifest: of the release.
    """
    audience, k = AUDIENCES[name], int(manifest["k"])
    if not _counts_cases(manifest):
        yield f"for {audience.whom}: {manifest['guarantee']}"
        yield _attackers(manifest)
        return
    less = f", less than the {audience.k} that the field asks for" if k < audience.k else ""
    risk = f"1/{k}" + (f" (the field's {audience.rounded})" if k == audience.k else "")
    yield (
        f"for {audience.whom}: k = {k}{less}, so that by quasi-identifiers nobody is picked with a "
        f"chance above {risk}"
    )
    yield f"rows: {_of_rows(manifest, audience)}"
    yield _attackers(manifest)


def _of_rows(manifest: Mapping[str, Any], audience: Audience) -> str:
    """What rows show of drugs and terms."""
    if "table_k" in manifest:
        return f"no row shows a drug or a term; counts of {manifest['table_k']} cases or more do"
    if "noisy_epsilon" in manifest:
        return "no row shows a drug or a term; counts with noise do"
    if "term_cases" in manifest:
        return "drugs and terms are told of clusters and of no case"
    return (
        "drugs and terms stand beside the region, so that whoever knows some of them may single a "
        f"case out; {audience.otherwise}"
    )


def _counts_cases(manifest: Mapping[str, Any]) -> bool:
    """Whether k cases share what is told of them, as k promises where no value is drawn."""
    model = MODELS[str(manifest["model"])]
    return (
        manifest.get("noise", "none") == "none"
        and model.claimed_bounds.unit == "case"
        and (model.shape.of_cases(True, False) or "table_k" in manifest)
    )


def _attackers(manifest: Mapping[str, Any]) -> str:
    attacks = str(manifest.get("attacks", "none"))
    if "p" in attacks.split(","):
        return (
            "attackers: who joins the periods, and knows in which of two a patient is, is withstood"
        )
    known = (
        "who joins the periods is withstood" if attacks != "none" else "no attacker joins periods"
    )
    return (
        f"attackers: {known}; who knows in which periods a patient goes on is not (--model "
        f"{PpmsStay.name} withstands that, a period later)"
    )
