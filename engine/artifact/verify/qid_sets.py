"""Sets of quasi-identifiers, protected each by itself: is each in one, and what do all tell?

k and theta of each set are among the checks of rows (``verify.rows``). Over several quarters k and
theta of the new cases are counted by set here; that a later region covers the first one of its case
is asked of one quasi-identifier after the other, and so of every set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import MANIFEST, Manifest, QidSetClaim
from srsql.engine.artifact.verify.contradictions import sets_text
from srsql.engine.artifact.verify.reading import run_step
from srsql.engine.artifact.verify.rows import run_check, shown_regions
from srsql.engine.artifact.verify.verdict import Check
from srsql.engine.store.statements import query

SETS = "qid_sets"
"""The parameter of the manifest that has the sets in words."""
SHARES = ("union_below_k_percent", "union_one_candidate_percent")
"""Parameters that tell what all sets together single out."""


def sets_check(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> Check | None:
    """The claims about sets against each other and the rows; None: nothing is claimed of sets.

    Args:
        con: with the regions over all quasi-identifiers (``check_rows``).
        manifest: of the quarter.
    """
    claims = [*(manifest.qid_sets or ()), *({SETS, *SHARES} & manifest.parameters.keys())]
    if not claims:
        return None
    faults = list(_set_faults(manifest))
    ((cases, below, alone),) = con.execute(
        query("artifact/row_checks", "union_candidates"), {"k": manifest.k}
    ).fetchall()
    for name, number in zip(SHARES, (below, alone), strict=True):
        due, told = -(-100 * number // max(cases, 1)), manifest.parameters.get(name)
        if told != due:
            faults.append(f"{MANIFEST}: parameter {name} is {told!r}, the rows give {due}")
    return Check("sets", faults, len(manifest.qid_sets or ()))


def _set_faults(manifest: Manifest) -> Iterator[str]:
    claims = manifest.qid_sets or ()
    known = {attribute.name for attribute in manifest.attributes}
    named = [name for each in claims for name in each.attributes]
    if len(claims) < 2 or len({each.name for each in claims}) < len(claims):
        yield f"{MANIFEST}: qid_sets are not two sets or more, each with a name of its own"
    for one, other in permutations(claims, 2):
        if set(one.attributes) <= set(other.attributes):
            yield f"{MANIFEST}: all of the set {one.name} is in {other.name}, so that it is none"
    for name in sorted(set(named) - known):
        yield f"{MANIFEST}: {name} of a set is no quasi-identifier"
    for name in sorted(known - set(named)):
        yield f"{MANIFEST}: the quasi-identifier {name} is in no set, so that nothing protects it"
    if manifest.parameters.get(SETS) != sets_text(manifest):
        yield f"{MANIFEST}: the parameter {SETS} does not say what the sets are"


def keep_set_regions(con: duckdb.DuckDBPyConnection, manifest: Manifest, number: int) -> None:
    """Keep what the rows of an artifact show of each set, while they are loaded.

    Args:
        con: into which they were loaded.
        manifest: of the artifact; nothing is kept where it protects no sets.
        number: of the artifact among those that are looked at together.
    """
    for each in manifest.qid_sets or ():
        rows = shown_regions(manifest, number, each.attributes)
        rows = rows.select(exp.Literal.string(each.name).as_("set_name"))
        con.execute(query("artifact/row_checks", "create_set_region"))
        con.execute(exp.insert(rows, exp.to_table("temp.main.srsql_set_region")).sql("duckdb"))


def new_cases_by_set(
    con: duckdb.DuckDBPyConnection,
    sets: Sequence[QidSetClaim],
    names: Sequence[str],
    judgement: Mapping[str, Any],
) -> list[Check]:
    """The checks of new cases by what rows show of one set after the other.

    Args:
        con: with the regions that ``keep_set_regions`` kept of every artifact.
        sets: that are claimed.
        names: of the checks, which read nothing but new cases and regions.
        judgement: as the step ``artifact/new_cases`` takes it.

    Returns:
        One check of each name, over all sets; a fault begins with the name of the set.
    """
    found = {name: Check(name, [], 0) for name in names}
    for own in [each.name for each in sets]:
        con.execute(query("artifact/row_checks", "regions_of_set"), {"set_name": own})
        run_step(con, "artifact/new_cases", judgement)
        for name in names:
            one, so_far = run_check(con, "artifact/series_checks", name, {}), found[name]
            faults = [f"set {own}: {fault}" for fault in one.faults]
            found[name] = Check(name, [*so_far.faults, *faults], so_far.total + one.total)
    return list(found.values())
