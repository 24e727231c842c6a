"""What was released is proved, audited and measured."""

from __future__ import annotations

from srsql.engine.checks import Asked, Evidence
from srsql.engine.checks.registry import prove
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables


def check(request: Request, made: Made) -> Tables:
    """Run the checks, from what was released alone; the first that fails ends the release."""
    made.evidence = _evidence(request, made)
    made.checks = prove(made.evidence, "checks")
    return {}


def audit(request: Request, made: Made) -> Tables:
    """Attack what of the series this release can change."""
    made.shares = prove(made.evidence, "audit")
    return {}


def _evidence(request: Request, made: Made) -> Evidence:
    """What the checks of the release are given."""
    terms, model = made.terms, request.model
    return Evidence(
        made.current,
        built=made.built,
        covers=model.history.covers == "later",
        by_report=model.record_unit == "report",
        terms=terms.released(model.term_format) if terms else None,
        exposed=not request.draft,
        not_ids=request.not_ids or (),
        asked=_asked(request),
    )


def _asked(request: Request) -> Asked:
    """What the release was asked to keep, as its checks take it."""
    model, theta, known = request.model, request.theta, request.knowledge
    return Asked(
        k=model.k,
        kind=theta.kind,
        theta=theta.default,
        listed=tuple(theta.values.items()),
        spelled=bool(theta.called),
        alpha=getattr(model, "alpha", None),
        epsilon=getattr(model, "epsilon", None),
        calibration=getattr(model, "calibration", None),
        noise=getattr(model, "noise", None),
        suppresses=request.suppresses,
        knowledge=frozenset(known.pairs if known else ()),
    )


CHECKS = Stage(
    "checks",
    "Every claim is proved of what was released alone; a failure rolls everything back.",
    check,
    reads="basket basket_case basket_term case_report chunk_term cluster deleted "
    "dimension_node generalized_record grouped identity original_term part "
    "pub_record_chunk withheld",
)
AUDIT = Stage(
    "audit", "Whatever of the series the release can change is attacked with it in.", audit
)
