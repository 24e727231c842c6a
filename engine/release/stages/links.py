"""The release is held against the other ones of its quarter."""

from __future__ import annotations

from dataclasses import replace

from srsql.engine.release.exposure import Consent, look_at, need_consent
from srsql.engine.release.request import Request
from srsql.engine.release.stages.stage import Made, Stage, Tables


def link(request: Request, made: Made) -> Tables:
    """Look at other series and versions; a draft is told of them and refused nothing."""
    current = made.current
    found = look_at(current.warehouse, current.dataset, current.release_id)
    if not request.draft:
        consent = Consent(request.max_linkable, request.allow_linkable, request.weaker)
        need_consent(f"{current.quarter} in series {current.series!r}", found, consent)
    changes = list(request.remembered.changes) if request.remembered else []
    made.released = replace(made.released, links=found.links, weaker=found.weaker, changes=changes)
    return {}


LINKS = Stage(
    "links",
    "Rows that link to other releases of the quarter are counted, and what is promised less than "
    "before is told; too much of either needs a yes.",
    link,
)
