"""That a release is the one that was asked for: its thresholds, its k, its epsilon, its manifest.

What was asked is taken from the request, where there is one, and from the private manifest where a
draft is confirmed or a version corrected; what was done, from the catalog and the public manifest.
Of a correction the private manifest is written by whoever corrects, so that the catalog of the
version before is asked as well.
The rules by which the one follows from the other are written here once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from srsql.engine.catalog.datasets import of_texts
from srsql.engine.catalog.releases import PER
from srsql.engine.checks import Asked, Evidence, as_measures, checked_key
from srsql.engine.checks.noise import row
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import column, query, table
from srsql.schemas.outside import json_of

TOPIC = "checks/asked"
NOT_TOLD = frozenset({"not kept"})
NOMINAL = frozenset({"ipa"})
"""Models whose budget bounds no privacy loss."""


def asked_of(evidence: Evidence) -> Asked:
    """What was asked: of the request, or as the private manifest tells it.

    Raises:
        CheckFailedError: the manifest tells no k.
    """
    if evidence.asked is not None:
        return evidence.asked
    k, _, told, _ = _kept(evidence)
    theta = str(told.get("theta", ""))
    levels = theta.startswith("levels:") or theta == ""
    listed = theta not in ("", "frequency") and not levels
    alpha, epsilon = told.get("alpha"), told.get("epsilon")
    return Asked(
        k=int(told.get("k", k)),
        kind="frequency" if theta == "frequency" else "unknown" if levels else "uniform",
        theta=Fraction(theta) if listed else None,
        alpha=None if alpha is None else Fraction(str(alpha)),
        epsilon=None if epsilon is None else Fraction(str(epsilon)),
        calibration=told.get("calibration"),
        noise=told.get("noise"),
    )


def check_asked(evidence: Evidence) -> list[Measure]:
    """Every figure that was asked for, and what follows from it."""
    asked = asked_of(evidence)
    found = [*_thresholds(evidence, asked), *_least(evidence, asked), *_told(evidence, asked)]
    if _kept(evidence)[3]:
        of = {"release": evidence.release.release_id}
        ((wrong, total),) = evidence.release.warehouse.rows(query(TOPIC, "before"), of)
        found.append(row(evidence, "check_asked", "the version before", wrong, total))
    if asked.knowledge is not None:
        of = {"release": evidence.release.release_id}
        kept = set(evidence.release.warehouse.rows(query(TOPIC, "knowledge"), of))
        wrong = len(kept.symmetric_difference(asked.knowledge))
        found.append(row(evidence, "check_asked", "external knowledge", wrong, len(kept)))
    return as_measures(found)


def _kept(evidence: Evidence) -> tuple[int, int, dict[str, Any], bool]:
    of = {"release": evidence.release.release_id}
    ((k, grown, text, corrects),) = evidence.release.warehouse.rows(query(TOPIC, "kept"), of)
    told = json_of(text)
    if not isinstance(told, dict):
        raise CheckFailedError("the release has no private manifest; nothing was released")
    return k, grown, told, corrects


def _thresholds(evidence: Evidence, asked: Asked) -> list[MeasureRow]:
    """The threshold of every value, by the policy that was asked for."""
    if asked.kind == "unknown":
        return []
    release = evidence.release
    default = asked.theta or Fraction(1)
    parameters = {
        "release": release.release_id,
        "kind": asked.kind,
        "spelled": asked.spelled,
        "terms": _keys(evidence, [term for term, _ in asked.listed]),
        "nums": [theta.numerator for _, theta in asked.listed],
        "dens": [theta.denominator for _, theta in asked.listed],
        "num": default.numerator,
        "den": default.denominator,
    }
    ((wrong, total),) = release.warehouse.rows(query(TOPIC, "thresholds"), parameters)
    return [row(evidence, "check_asked", "threshold of a value", wrong, total)]


def _keys(evidence: Evidence, texts: Sequence[str]) -> list[str | None]:
    """The keys of texts by the version that the release has, in their order."""
    release = evidence.release
    key = checked_key(column("text", "u"), release.dataset.term_key)
    return of_texts(release.warehouse, texts, key)


def _least(evidence: Evidence, asked: Asked) -> list[MeasureRow]:
    """k and alpha as asked, and groups large enough that each released value can be in one at
    all."""
    k, grown, _, _ = _kept(evidence)
    need = _need(evidence) if "theta" in evidence.facts.bounds else 0
    wrong = [k != asked.k, grown < max(k, need)]
    if "ss" in evidence.facts.attacks and asked.alpha is not None:
        of = {"release": evidence.release.release_id}
        ((num, den),) = evidence.release.warehouse.rows(query(TOPIC, "alpha"), of)
        wrong.append(num is None or Fraction(num, den) != asked.alpha)
    return [row(evidence, "check_asked", "k, and k of groups", sum(wrong), len(wrong))]


def _need(evidence: Evidence, by: str = "least_group") -> int:
    of = {"release": evidence.release.release_id}
    return int(evidence.release.warehouse.value(query(TOPIC, by), of) or 0)


def _told(evidence: Evidence, asked: Asked) -> list[MeasureRow]:
    """What the public manifest tells of it."""
    release = evidence.release
    names = release.warehouse.columns(release.schema, "manifest")
    rows = release.warehouse.con.execute(
        f"SELECT m.* FROM {table(release.schema, 'manifest', alias='m').sql('duckdb')}"
    )
    told = dict(zip(names, rows.fetchall()[0], strict=True))
    due = _due(evidence, asked, told)
    wrong = sum(str(told[name]) != str(value) for name, value in due.items())
    return [row(evidence, "check_asked", "figure of the manifest", wrong, len(due))]


def _due(evidence: Evidence, asked: Asked, told: Mapping[str, Any]) -> dict[str, Any]:
    """What the public manifest has to tell, of what it tells at all."""
    release, of = evidence.release, {"release": evidence.release.release_id}
    k, grown, _, corrects = _kept(evidence)
    ((released, withheld, waiting, late, attacks),) = release.warehouse.rows(
        query(TOPIC, "counts"), of
    )
    due: dict[str, Any] = {"k": k, "attacks": attacks, "released_cases": released}
    if not corrects:
        claims = bool(evidence.claims)
        due |= {
            "withheld_cases": withheld,
            "waiting_cases": waiting,
            "late_cases": late if late >= k else f"fewer than {k}",
            "k_effective": grown if claims else max(k, _need(evidence, "least_told")),
        }
    if asked.kind != "unknown" and told.get("theta") not in NOT_TOLD:
        due["theta"] = asked.theta if asked.kind == "uniform" else asked.kind
    if asked.epsilon is not None:
        due |= {"epsilon": asked.epsilon, "calibration": asked.calibration}
    ((cases, losers, most),) = release.warehouse.rows(query(TOPIC, "suppressed"), of)
    if cases:
        due[f"suppressed_cases_per_{PER}"] = -(-losers * PER // cases)
        due[f"suppressed_one_value_per_{PER}"] = -(-most * PER // cases)
    return {name: value for name, value in due.items() if name in told and value is not None}


def check_charged(evidence: Evidence) -> list[Measure]:
    """The amount of the ledger, by the parameters: a share of epsilon for each attribute that is
    drawn where the mechanism is sound, the whole of it elsewhere."""
    asked, release = asked_of(evidence), evidence.release
    rows = release.warehouse.rows(query(TOPIC, "charged"), {"release": release.release_id})
    if asked.epsilon is None:
        return as_measures([row(evidence, "check_charged", "charge", len(rows), len(rows))])
    model = str(_kept(evidence)[2].get("model", ""))
    made_up = evidence.facts.synthetic_rows
    calibration = ("nominal" if model in NOMINAL else "sound") if made_up else asked.calibration
    drawn = len(evidence.perturbed)
    split = drawn if calibration == "sound" and not made_up else 1
    due = asked.epsilon / max(split, 1)
    wrong = sum(
        Fraction(num, den) != due or kind != calibration or noise not in (None, asked.noise)
        for _, kind, num, den, noise in rows
    )
    missing = int(not rows)
    return as_measures(
        [row(evidence, "check_charged", "charge", wrong + missing, len(rows) + missing)]
    )
