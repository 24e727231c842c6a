"""Sets of quasi-identifiers, protected each by itself: is each in one, and what do all tell?

k and theta of each set are among the checks of rows (``verify.rows``).
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from srsql.engine.artifact.format import MANIFEST, Manifest
from srsql.engine.artifact.verify import Check
from srsql.engine.artifact.verify.contradictions import sets_text
from srsql.engine.warehouse.statements import query

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
    if not manifest.qid_sets and not {SETS, *SHARES} & manifest.parameters.keys():
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
    sets = manifest.qid_sets or ()
    known = {attribute.name for attribute in manifest.attributes}
    named = [name for each in sets for name in each.attributes]
    if len(sets) < 2 or len({each.name for each in sets}) < len(sets):
        yield f"{MANIFEST}: qid_sets are not two sets or more, each with a name of its own"
    for name in sorted(set(named) - known):
        yield f"{MANIFEST}: {name} of a set is no quasi-identifier"
    for name in sorted(known - set(named)):
        yield f"{MANIFEST}: the quasi-identifier {name} is in no set, so that nothing protects it"
    if manifest.parameters.get(SETS) != sets_text(manifest):
        yield f"{MANIFEST}: the parameter {SETS} does not say what the sets are"
