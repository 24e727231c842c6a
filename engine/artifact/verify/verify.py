"""Verification: what artifacts show of what they promise, from their folders alone.

No warehouse, no dataset file, and no code that makes a release takes part; models are asked for
nothing but what they promise. One artifact is checked by its files, its claims and its rows;
several of one series also together: joining them must exclude no new case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
from sqlglot import exp

from srsql.engine.artifact.format import HIERARCHIES, Manifest
from srsql.engine.artifact.verify import Check, Verified
from srsql.engine.artifact.verify.contradictions import claim_faults, claims_not_shown
from srsql.engine.artifact.verify.reading import (
    check_files,
    connection,
    load,
    loaded,
    read_hierarchies,
    read_tables,
    run_step,
    text,
)
from srsql.engine.artifact.verify.rows import (
    ROW_CHECKS,
    add_artifact,
    check_chunks,
    check_rows,
    region_text,
    run_check,
)
from srsql.engine.errors import VerifyError, one_line
from srsql.engine.warehouse.series import PER_QUARTER
from srsql.engine.warehouse.statements import column, temporary, union_all

SERIES_CHECKS = ("series", "new k", "new theta", "cover")
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
NOT_JOINED = (
    "{quarter}: which cases are new, and what joining quarters tells, since a case has another id "
    "in every quarter: no id joins them, the region and terms may"
)
NO_ROWS = (
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
            cannot_join.append(f"{manifest.quarter}: {NO_ROWS}")
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
            cannot += [
                HISTORY.format(quarter=m.quarter, earlier=_list(m)) if _joined(m)
                else NOT_JOINED.format(quarter=m.quarter)
                for m in unknown
            ]  # fmt: skip
        cannot += [
            SILENT.format(quarter=m.quarter, model=m.model) for _, m in read if "b" not in m.attacks
        ]
    cannot += _attacks_left(read, alone=len(folders) == 1)
    return Verified(tuple(map(str, folders)), tuple(checks), tuple(not_run), tuple(cannot))


def _joined(manifest: Manifest) -> bool:
    """Whether ids join the rows of a case over quarters."""
    return manifest.parameters.get("ids") != PER_QUARTER


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


def check_series(given: list[tuple[Path, Manifest]]) -> tuple[list[Check], list[Manifest]]:
    """The checks across artifacts, and those of which the history is not all given.

    Each artifact passed its own loading; nothing else is taken for granted.
    """
    faults = _incomparable([manifest for _, manifest in given])
    series = Check("series", faults, len(given))
    if faults:
        return [series], []
    joined = [n for n, (_, manifest) in enumerate(given) if "b" in manifest.attacks]
    known = _known_history([manifest for _, manifest in given])
    judged = [n for n in joined if n < known and _joined(given[n][1])]
    unknown = [given[n][1] for n in joined if n not in judged]
    if not judged:
        return [series], unknown
    with connection() as con:
        run_step(con, "artifact/artifact_tables")
        for number, (folder, manifest) in enumerate(given):
            unread = read_tables(con, folder, manifest)
            if unread:
                raise VerifyError(f"{folder} was changed while it was verified: {unread[0]}")
            add_artifact(con, folder, manifest, number)
            regions = exp.insert(region_rows(number, manifest), temporary("srsql_series_region"))
            con.execute(regions.sql("duckdb"))
        claims = [given[number][1] for number in judged]
        run_step(
            con,
            "artifact/new_cases",
            {
                "artifacts": judged,
                "quarters": [manifest.quarter for manifest in claims],
                "ks": [manifest.k for manifest in claims],
            },
        )
        ancestors = _ancestors(given[0][0])
        checks = [
            run_check(con, "artifact/series_checks", name, ancestors) for name in SERIES_CHECKS[1:]
        ]
        return [series, *checks], unknown


def _known_history(manifests: list[Manifest]) -> int:
    """How many artifacts from the first on have exactly those before them as their history.

    After one that has not, such as one that supersedes a release, nobody knows which cases are new.
    """
    quarters = [manifest.quarter for manifest in manifests]
    for number, manifest in enumerate(manifests):
        if manifest.earlier_releases != tuple(quarters[:number]):
            return number
    return len(manifests)


def _incomparable(manifests: list[Manifest]) -> list[str]:
    """What keeps artifacts from being compared."""
    faults = []
    first = manifests[0]
    for before, after in pairwise(manifests):
        if after.quarter <= before.quarter:
            faults.append(f"{after.quarter} is given after {before.quarter}: oldest first")
        lost = {*before.earlier_releases, before.quarter} - set(after.earlier_releases)
        if lost and after.quarter > before.quarter:
            faults.append(
                f"{after.quarter} does not tell of the earlier release(s) of "
                f"{', '.join(sorted(lost))}, which {before.quarter} shows"
            )
    for other in manifests[1:]:
        for what, one, two in (
            ("dataset", first.dataset, other.dataset),
            ("series", first.series, other.series),
            ("kind of case ids", *_kinds_of_ids(first, other)),
            ("key of the pseudonyms", first.key_id, other.key_id),
            ("quasi-identifiers", first.attributes, other.attributes),
            ("hierarchies", first.files[HIERARCHIES], other.files[HIERARCHIES]),
        ):
            if one != two:
                faults.append(f"{other.quarter} has another {what} than {first.quarter}")
    return faults


def _kinds_of_ids(one: Manifest, two: Manifest) -> tuple[object, object]:
    """Of each, as far as both tell: artifacts of earlier versions say less of them."""
    told = [manifest.parameters.get("ids") for manifest in (one, two)]
    if None in told:
        return one.case_ids, two.case_ids
    return (one.case_ids, told[0]), (two.case_ids, told[1])


def region_rows(number: int, manifest: Manifest) -> exp.Query:
    """What fills series_region: a row per region and quasi-identifier of an artifact."""
    parts: list[exp.Query] = []
    reports = manifest.reports
    for attribute in manifest.attributes:
        ends: list[exp.Expr] = [
            column(c.name, "t") for c in reports.columns if c.attribute == attribute.name
        ]
        values = [*ends, exp.null()] if attribute.kind == "numeric" else [exp.null()] * 2 + ends
        parts.append(
            exp.select(
                exp.Literal.number(number),
                region_text(reports),
                text(attribute.name),
                *[value.copy() for value in values],
            )
            .distinct()
            .from_(temporary(loaded(reports.name), alias="t"))
        )
    return union_all(parts)


def _ancestors(folder: Path) -> dict[str, list[str]]:
    """``attributes``, ``nodes`` and ``ancestors`` side by side, each node above itself."""
    found: dict[str, list[str]] = {"attributes": [], "nodes": [], "ancestors": []}
    for attribute, rows in read_hierarchies(folder).items():
        parents = dict(rows)
        for node in parents:
            above, passed = node, set[str]()
            while above and above not in passed:
                passed.add(above)
                found["attributes"].append(attribute)
                found["nodes"].append(node)
                found["ancestors"].append(above)
                above = parents.get(above, "")
    return found
