"""All reports of a case in the quarter, or of a person, become one super-record."""

from __future__ import annotations

from srsql.engine.grouping.cases import load_cases
from srsql.engine.release.request import Request
from srsql.engine.release.stages.carrying import buckets_carrier
from srsql.engine.release.stages.stage import Made, Stage, Tables, handed_on


def merge_cases(request: Request, made: Made) -> Tables:
    """Load them; only the weight scale is known of them elsewhere."""
    model = request.model
    parts = model.symptoms_limit.denominator if model.symptoms_limit else 1
    persons = request.match if request.counts_persons else None
    with buckets_carrier(made.current, request) as carrier:
        made.weight_scale = load_cases(
            made.current, request.knowledge, parts, model.record_unit, carrier, persons
        )
    return handed_on(CASES.writes)


CASES = Stage(
    "cases",
    "All reports of a case in the quarter, or of a person where persons are counted, become one "
    "super-record.",
    merge_cases,
    writes="attribute box case case_report case_term deleted node own_report person "
    "report_box report_value symptoms term word",
)
