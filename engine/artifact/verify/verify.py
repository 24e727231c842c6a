"""Verification: what an artifact shows of what it promises, from the folder alone.

No warehouse, no dataset file, and no code that makes a release takes part; models are asked for
nothing but what they promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify.contradictions import claim_faults, claims_not_shown
from srsql.engine.artifact.verify.reading import check_files
from srsql.engine.artifact.verify.rows import ROW_CHECKS, check_rows
from srsql.engine.artifact.verify.series import SERIES_CHECKS, check_series
from srsql.engine.artifact.verify.tables import connection, load
from srsql.engine.artifact.verify.terms import check_chunks
from srsql.engine.artifact.verify.verdict import Check, Verified
from srsql.engine.errors import VerifyError, one_line

LOAD_CHECKS = ("columns", "rows", "content")
CANNOT = (
    "who made it: whoever can rewrite every file and every hash can make another artifact; compare "
    "SHA256SUMS with a copy that you got another way",
    "that the true values lie in the regions, and that nothing but what was withheld is missing: "
    "both need the originals",
    "that rows were grouped as the model says: groups are not published, only their regions",
    "thresholds against what is not published: sensitive columns, values of withheld cases",
    "what an attacker knows from elsewhere, such as some of a patient's terms or a case id",
)
NOISE = (
    "k and thresholds: they hold for groups, which are not published; what is published of a case "
    "is drawn at random"
)
KNOWLEDGE = "thresholds with the external knowledge that the release took into account"
ALONE = (
    "what joining the releases of the series tells ({attacks}): give the artifacts of the "
    "other quarters as well"
)
MORE = "the attacks {attacks}: they need the next quarter and what the rule counted"
HISTORY = (
    "{quarter}: which cases are new, since not exactly the releases that came before it in the "
    "series ({earlier}) are given"
)
APART = (
    "regions, thresholds and what joining quarters tells, since no row of a report is released; "
    "nor who holds what is in no chunk but in the item chunk of a cluster"
)
SILENT = (
    "{quarter}: what joining it with the other artifacts tells, since its model, {model}, promises "
    "nothing of that"
)


def verify(artifacts: str | Path | Sequence[str | Path]) -> Verified:
    """Check one artifact, or several of one series, oldest first.

    Raises:
        VerifyError: a folder is no artifact.
    """
    given = [artifacts] if isinstance(artifacts, (str, Path)) else artifacts
    folders = [Path(folder) for folder in given]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise VerifyError("the same folder was given twice")
    checks: list[Check] = []
    not_run: list[str] = []
    read: list[tuple[Path, Manifest]] = []
    cannot_join: list[str] = []
    for folder in folders:
        found, missing, manifest = _verify_one(folder)
        checks += [replace(check, artifact=str(folder)) for check in found]
        not_run += [f"{folder}: {name}" for name in missing]
        if manifest and manifest.report_table is not None:
            read.append((folder, manifest))
        elif manifest:
            cannot_join.append(f"{manifest.quarter}: {APART}")
    cannot = [*CANNOT, *cannot_join]
    if any(m.perturbed for _, m in read):
        cannot.append(NOISE)
    if any(m.parameters.get("external_knowledge") == "yes" for _, m in read):
        cannot.append(KNOWLEDGE)
    for _, manifest in read:
        cannot += claims_not_shown(manifest)
    if len(folders) > 1:
        if len(read) + len(cannot_join) < len(folders):
            not_run += [f"series: {name}" for name in SERIES_CHECKS]
        else:
            found, unknown = check_series(read)
            checks += found
            if found[0].faults:
                not_run += [f"series: {name}" for name in SERIES_CHECKS[1:]]
            cannot += [HISTORY.format(quarter=m.quarter, earlier=_list(m)) for m in unknown]
        cannot += [
            SILENT.format(quarter=m.quarter, model=m.model) for _, m in read if "b" not in m.attacks
        ]
    cannot += _attacks_left(read, alone=len(folders) == 1)
    return Verified(tuple(map(str, folders)), tuple(checks), tuple(not_run), tuple(cannot))


def _list(manifest: Manifest) -> str:
    return ", ".join(manifest.earlier_releases) or "none"


def _attacks_left(read: list[tuple[Path, Manifest]], *, alone: bool) -> list[str]:
    """The attacks that the models withstand and that were not looked at."""
    promised = {attack for _, manifest in read for attack in manifest.attacks}
    if not promised:
        return []
    if alone:
        return [ALONE.format(attacks=", ".join(sorted(promised)))]
    others = sorted(promised - {"b", "f", "l"})
    return [MORE.format(attacks=", ".join(others))] if others else []


def _verify_one(folder: Path) -> tuple[list[Check], list[str], Manifest | None]:
    """The checks, the names of those that could not be run, the manifest if all could."""
    checks, manifest = check_files(folder)
    rows = [*LOAD_CHECKS, *ROW_CHECKS, "bounds"]
    if manifest is None:
        return checks, rows, None
    checks[1] = replace(checks[1], faults=[*checks[1].faults, *claim_faults(folder, manifest)])
    with connection() as con:
        found, complete = load(con, folder, manifest)
        checks += found
        if not complete:
            return checks, [name for name in rows if name != "columns"], None
        try:
            checks += check_rows(con, folder, manifest)
            checks += check_chunks(con, manifest)
        except (ValueError, duckdb.Error) as error:
            checks[1] = replace(checks[1], faults=[*checks[1].faults, one_line(error)])
            return checks, [*ROW_CHECKS, "bounds"], None
    return checks, [], manifest
