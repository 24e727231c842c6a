"""Verification: what artifacts show of what they promise, from their folders alone.

No warehouse, no dataset file, and no code that makes a release takes part; models are asked for
nothing but what they promise. One artifact is checked by its files, its claims and its rows;
several of one series also together: joining them must exclude no new case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from srsql.engine.artifact.described import ids_follow
from srsql.engine.artifact.documents import public_manifest
from srsql.engine.artifact.format import (
    HIERARCHIES,
    MANIFEST,
    Manifest,
    RangeManifest,
    quarters_of,
    signature_faults,
)
from srsql.engine.artifact.verify.catalogue_checks import (
    catalogue_check,
    key_check,
    shown_faults,
    unprotected_faults,
)
from srsql.engine.artifact.verify.contradictions import (
    Trees,
    claim_faults,
    claims_not_shown,
    document_faults,
    same_bytes,
)
from srsql.engine.artifact.verify.count_tables import (
    COUNT_CHECKS,
    check_counts,
    counted_faults,
    new_units_check,
)
from srsql.engine.artifact.verify.declarations import (
    declaration_faults,
    declaration_not_shown,
    same_text,
    shipped_dataset,
)
from srsql.engine.artifact.verify.derivations import derived_check
from srsql.engine.artifact.verify.files import check_files, read_hierarchies, read_thresholds
from srsql.engine.artifact.verify.frequency import RankedValue, policy_verdict, ranking
from srsql.engine.artifact.verify.noisy_tables import NOISY_CHECK, check_noise, noisy_faults
from srsql.engine.artifact.verify.published_rows import published_rows
from srsql.engine.artifact.verify.qid_sets import keep_set_regions, new_cases_by_set, sets_check
from srsql.engine.artifact.verify.reading import (
    check_tables,
    connection,
    load,
    loaded,
    read_tables,
    run_step,
    text,
)
from srsql.engine.artifact.verify.region_counts import NAME as REGION_COUNTS
from srsql.engine.artifact.verify.region_counts import SHOWN_FIGURES
from srsql.engine.artifact.verify.rows import (
    ROW_CHECKS,
    add_artifact,
    check_chunks,
    check_rows,
    region_text,
    run_check,
)
from srsql.engine.artifact.verify.term_keys import TERM_KEYS
from srsql.engine.artifact.verify.texts import text_check
from srsql.engine.artifact.verify.told_figures import (
    consistency_faults,
    figures_not_shown,
    row_faults,
)
from srsql.engine.artifact.verify.verdict import (
    AUTHOR,
    HISTORY,
    IDS_PER_QUARTER,
    INVISIBLE_CHARACTERS,
    KNOWLEDGE,
    LIMITS_OF_ARTIFACTS,
    MODEL_WITHOUT_JOINS,
    NEW_IDS,
    NO_RETURNING_CASE,
    NOISE,
    NOISE_CLAIM,
    NUMBERS_IN_TEXTS,
    SUPPRESSED_VALUES,
    TERMS_ALONE,
    UNREBUILT_PAGE,
    Check,
    Verified,
    attacks_left,
    history_of,
    ids_join,
    suppressed_cases,
    version_of,
    windows_left,
)
from srsql.engine.catalog.public_database import BATCH
from srsql.engine.errors import SrsqlError, VerifyError, one_line
from srsql.engine.store.statements import (
    STEPS,
    column,
    parsed,
    query,
    temporary,
    union_all,
)
from srsql.schemas import Dataset

SERIES_CHECKS = ("series", "new k", "new theta", "cover")
OF_NEW_CASES = SERIES_CHECKS[1:3]
"""Of the regions of each set of quasi-identifiers, where several are protected."""
STAY_CHECKS = ("stay k", "stay theta")
CALENDAR = "warehouse/periods.sql"
LOAD_CHECKS, CLAIM_CHECKS = ("columns", "rows", "content"), ("declaration", "policy", "report")


def verify(
    artifacts: str | Path | Sequence[str | Path],
    public_key: str | Path | None = None,
    *,
    memory_limit: str | None = None,
) -> Verified:
    """Check one artifact, or several of one series, oldest first.

    Args:
        artifacts: their folders.
        public_key: a PEM file with the Ed25519 key of their publisher; each must be signed
            with it. None: who published them is not checked.
        memory_limit: of DuckDB; None: what it takes by itself.

    Raises:
        VerifyError: a folder is no artifact, or the key is none.
    """
    given = [artifacts] if isinstance(artifacts, (str, Path)) else artifacts
    folders = [Path(folder) for folder in given]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise VerifyError("the same folder was given twice")
    checks: list[Check] = []
    not_run: list[str] = []
    read: list[tuple[Path, Manifest]] = []
    cannot_join: list[str] = []
    unproved: list[str] = []
    complete, several = True, False
    for folder in folders:
        found, parts = _verify_folder(folder, memory_limit)
        several = several or len(folders) > 1 or len(parts) > 1
        if public_key is not None:
            found.append(Check("signature", signature_faults(folder, Path(public_key)), 1))
        checks += [replace(check, artifact=str(folder)) for check in found]
        for part in parts:
            checks += [replace(check, artifact=part.place) for check in part.checks]
            not_run += [f"{part.place}: {name}" for name in part.not_run]
            unproved += part.unproved
            complete = complete and part.manifest is not None
            if part.manifest and (part.manifest.report_table or part.manifest.counts_alone):
                read.append((folder, part.manifest))
            elif part.manifest:
                cannot_join.append(f"{part.manifest.quarter}: {TERMS_ALONE}")
    cannot = [*([AUTHOR] if public_key is None else []), *LIMITS_OF_ARTIFACTS, *cannot_join]
    if any(m.perturbed for _, m in read):
        cannot.append(NOISE)
    if any(m.parameters.get("external_knowledge") == "yes" for _, m in read):
        cannot.append(KNOWLEDGE)
    cannot += unproved
    for _, manifest in read:
        cannot += claims_not_shown(manifest)
    if several:
        stays = any("p" in manifest.attacks for _, manifest in read)
        of_series = SERIES_CHECKS + (STAY_CHECKS if stays else ())
        if not complete:
            not_run += [f"series: {name}" for name in of_series]
        elif read:
            found, strangers, anew = check_series(read, memory_limit)
            checks += found
            if found[0].faults:
                not_run += [f"series: {name}" for name in of_series[1:]]
            else:
                manifests = [manifest for _, manifest in read]
                cannot += windows_left(manifests, [m for m in manifests if m not in strangers])
            cannot += [
                HISTORY.format(quarter=m.quarter, earlier=history_of(m))
                if ids_join(m)
                else IDS_PER_QUARTER.format(quarter=m.quarter)
                for m in strangers
            ]
            cannot += anew
            of_units, open_units = new_units_check(read, memory_limit)
            checks, cannot = checks + of_units, cannot + open_units
        with_rows = [m for _, m in read if not m.counts_alone]
        cannot += [NEW_IDS.format(quarter=m.quarter) for m in with_rows[1:] if ids_join(m)]
        cannot += [
            MODEL_WITHOUT_JOINS.format(quarter=m.quarter, model=m.model)
            for m in with_rows
            if "b" not in m.attacks
        ]
    cannot += attacks_left(read, alone=not several)
    return Verified(tuple(map(str, folders)), tuple(checks), tuple(not_run), tuple(cannot))


@dataclass(frozen=True)
class _Part:
    """What was found of one quarter of an artifact."""

    place: str
    checks: tuple[Check, ...] = ()
    not_run: tuple[str, ...] = ()
    manifest: Manifest | None = None
    """None: not every row of it could be read and checked."""
    unproved: tuple[str, ...] = ()


_OF_ROWS = (*LOAD_CHECKS, "texts", *ROW_CHECKS, "bounds", "keys", *CLAIM_CHECKS)


def _verify_folder(folder: Path, memory_limit: str | None) -> tuple[list[Check], list[_Part]]:
    """The checks of the whole artifact, and those of each of its quarters."""
    checks, manifest = check_files(folder)
    if manifest is None:
        return checks, [_Part(str(folder), not_run=("catalogues", *_OF_ROWS))]
    unchanged = not any(check.faults for check in checks)
    faults = document_faults(folder, manifest, unchanged=unchanged)
    checks[1] = replace(checks[1], faults=[*checks[1].faults, *faults])
    checks += [c for c in [catalogue_check(folder, manifest)] if c] if unchanged else []
    parts, found = quarters_of(manifest), list[_Part]()
    several = len(parts) > 1
    with connection(folder, memory_limit=memory_limit) as con:
        objects = check_tables(con, folder, manifest)
        con.execute(query("artifact/reading", "create_every_case"))
        for part in parts:
            place = f"{folder}, {part.quarter}" if several else str(folder)
            with con.cursor() as own:
                found.append(_verify_part(own, folder, part, place, [*checks, objects]))
                if several and found[-1].manifest and part.report_table is not None:
                    own.execute(query("artifact/reading", "add_every_case"))
        if isinstance(manifest, RangeManifest) and all(part.manifest for part in found):
            faults = _total_faults(con, manifest)
            checks[1] = replace(checks[1], faults=[*checks[1].faults, *faults])
    if not unchanged:
        found[0] = replace(found[0], not_run=("catalogues", *found[0].not_run))
    if several:
        return [*checks, objects], found
    claims, *others = found[0].checks
    checks[1] = replace(checks[1], faults=[*checks[1].faults, *claims.faults])
    return checks, [replace(found[0], checks=tuple(others))]


def _total_faults(con: duckdb.DuckDBPyConnection, manifest: RangeManifest) -> list[str]:
    """Where distinct cases of all quarters are told and are not those of the rows."""
    if manifest.released_cases is None:
        return []
    ((cases,),) = con.execute(query("artifact/reading", "every_case")).fetchall()
    due = cases if all(map(ids_follow, manifest.quarters)) else None
    told = manifest.released_cases
    if told == due:
        return []
    return [f"{MANIFEST}: released_cases of all quarters is {told}, the rows have {due}"]


def _verify_part(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    manifest: Manifest,
    place: str,
    beside: Sequence[Check],
) -> _Part:
    """What one quarter of an artifact shows, unless its files hold what is not declared.

    ``beside``: the checks of the whole artifact, that of what its files hold last.
    """
    objects, due = beside[-1], _OF_ROWS + ((TERM_KEYS,) if manifest.term_key else ())
    due += COUNT_CHECKS if manifest.counted else ()
    due += (REGION_COUNTS,) if manifest.counts_alone else ()
    due += (NOISY_CHECK,) if manifest.noisy else ()
    told = [
        *claim_faults(manifest),
        *counted_faults(manifest),
        *noisy_faults(manifest),
        *consistency_faults(manifest),
    ]
    claims = Check("manifest", told, 1)
    found, complete = ([objects], False) if objects.faults else load(con, folder, manifest)
    checks = [claims, *found]
    if not complete:
        return _Part(place, tuple(checks), tuple(n for n in due if n != "columns"))
    unproved: list[str] = []
    try:
        texts, accepted = text_check(con, manifest)
        checks.append(texts)
        checks += check_rows(con, folder, manifest)
        checks += check_chunks(con, folder, manifest)
        checks += [check for check in [key_check(con, folder, manifest)] if check]
        trees = read_hierarchies(folder, manifest)
        follow = set[str]()
        if manifest.report_table is not None:
            figures, follow = row_faults(con, manifest, trees)
            shown = [*shown_faults(con, manifest, trees), *unprotected_faults(con, manifest)]
            checks[0] = claims = replace(claims, faults=[*claims.faults, *shown, *figures])
        made = derived_check(con, manifest, trees)
        checks += [each for each in (made, sets_check(con, manifest)) if each]
        follow |= set(SHOWN_FIGURES) if manifest.counts_alone else set()
        unproved = figures_not_shown(manifest, follow)
        of_counts, values, open_counts = check_counts(con, folder, manifest, trees)
        checks += of_counts
        of_noise, open_noise = check_noise(con, manifest, trees)
        checks += of_noise
        unproved += open_noise
        unproved += open_counts + _check_claims(con, manifest, trees, checks, values)
        if accepted:
            unproved.append(NUMBERS_IN_TEXTS.format(quarter=manifest.quarter, ids=accepted))
    except (ValueError, duckdb.Error) as error:
        checks[0] = replace(claims, faults=[*claims.faults, one_line(error)])
        return _Part(place, tuple(checks), due[len(LOAD_CHECKS) :])
    if manifest.report_table is None:
        return _Part(place, tuple(checks), (), manifest, tuple(unproved))
    if any(check.faults for check in (*beside, *checks)):
        return _Part(place, tuple(checks), ("report",), manifest, tuple(unproved))
    faults, unknown = _page(con, folder, manifest)
    checks.append(Check("report", faults, 1))
    return _Part(place, tuple(checks), (), manifest, (*unproved, *unknown))


def _check_claims(
    con: duckdb.DuckDBPyConnection,
    manifest: Manifest,
    trees: Trees,
    checks: list[Check],
    counted: Sequence[RankedValue],
) -> list[str]:
    """Add the checks of what the manifest says was declared; return what is left unproved.

    ``counted``: the values with thresholds that counts tell.
    """
    unproved = (
        [INVISIBLE_CHARACTERS.format(quarter=manifest.quarter)]
        if manifest.artifact_version == 1
        else []
    )
    if manifest.perturbed:
        unproved.append(NOISE_CLAIM.format(quarter=manifest.quarter, model=manifest.model))
    if cases := suppressed_cases(manifest):
        unproved.append(SUPPRESSED_VALUES.format(quarter=manifest.quarter, cases=cases))
    faults = declaration_faults(manifest, trees)
    columns = sum(len(table.columns) for table in manifest.tables)
    checks.append(Check("declaration", faults, columns))
    unproved += declaration_not_shown(manifest)
    if manifest.report_table is not None or manifest.counts_alone:
        rows = manifest.report_table is not None
        values, spellings = ranking(con, keyed=bool(manifest.term_key)) if rows else ([], [])
        values = [*values, *counted]
        faults, unknown = policy_verdict(manifest, values, spellings)
        checks.append(Check("policy", faults, len(values)))
        unproved += unknown
    return unproved


def _page(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest
) -> tuple[list[str], list[str]]:
    """Whether the report is the one that the rows give, and what cannot be shown of that."""
    from srsql.engine.report.page import written_by  # brings matplotlib

    ours, dataset = written_by(), shipped_dataset(manifest)
    why = f"{manifest.report_written_by or 'an earlier version'} drew it, this is {ours}"
    if dataset is None or not same_text(manifest, dataset):
        dataset, why = None, f"nobody else knows what dataset {manifest.dataset!r} declares of it"
    if dataset is None or manifest.report_written_by != ours:
        return [], [
            UNREBUILT_PAGE.format(quarter=manifest.quarter, page=manifest.report_file, why=why)
        ]
    try:
        page = drawn_report(con, folder, manifest, dataset)
    except SrsqlError as error:  # what cannot be drawn is no such report
        return [one_line(error)], []
    if same_bytes(folder / manifest.report_file, page.encode()):
        return [], []
    return [f"{manifest.report_file} is not what the released rows and the manifest give"], []


def drawn_report(
    con: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest, dataset: Dataset
) -> str:
    """The public report of the rows that were loaded.

    Args:
        con: into which the tables were loaded.
        folder: of the artifact.
        manifest: that declares them.
        dataset: that was released, with the tables that have rows here.

    Raises:
        ValueError: the thresholds cannot be read.
    """
    # brings matplotlib, which nothing else needs
    from srsql.engine.report.public_edition import public_database, public_quarter

    sources: dict[str, exp.Query] = {}
    for table in (manifest.table(item.name) for item in dataset.row_tables):
        names = [column(c.name, "t") for c in table.columns]
        sources[table.name] = exp.select(*names).from_(temporary(loaded(table.name), alias="t"))
    facts = public_manifest(zip(*read_thresholds(folder, manifest), strict=True), manifest)

    def rows_of(_: str, view: str) -> pa.RecordBatchReader:
        if view == "manifest":
            return pa.RecordBatchReader.from_batches(facts.schema, facts.to_batches())
        return con.sql(sources[view].sql("duckdb")).to_arrow_reader(BATCH)

    schemas = {manifest.quarter: "release"}
    with public_database(con, rows_of, dataset, manifest.series, schemas, set(sources)) as released:
        return public_quarter(released, manifest.quarter).html


def check_series(
    given: list[tuple[Path, Manifest]], memory_limit: str | None = None
) -> tuple[list[Check], list[Manifest], list[str]]:
    """The checks across artifacts, those of which the history is not all given, and those of which
    no case came before, in words.

    Each artifact passed its own loading; nothing else is taken for granted.
    """
    faults = _incomparable([manifest for _, manifest in given])
    series = Check("series", faults, len(given))
    if faults:
        return [series], [], []
    joined = [n for n, (_, manifest) in enumerate(given) if "b" in manifest.attacks]
    known = _known_history([manifest for _, manifest in given])
    judged = [n for n in joined if n < known and ids_join(given[n][1])]
    unknown = [given[n][1] for n in joined if n not in judged]
    if not judged:
        return [series], unknown, []
    folders = dict.fromkeys(folder for folder, _ in given)
    with connection(*folders, memory_limit=memory_limit) as con:
        run_step(con, "artifact/artifact_tables")
        for number, (folder, manifest) in enumerate(given):
            unread = read_tables(con, folder, manifest)
            if unread:
                raise VerifyError(f"{folder} was changed while it was verified: {unread[0]}")
            add_artifact(con, folder, manifest, number)
            regions = exp.insert(region_rows(number, manifest), temporary("srsql_series_region"))
            con.execute(regions.sql("duckdb"))
            keep_set_regions(con, manifest, number)
        claims = [given[number][1] for number in judged]
        quarters = {"every_quarter": [manifest.quarter for _, manifest in given]}
        judgement = {
            "artifacts": judged,
            "quarters": [manifest.quarter for manifest in claims],
            "ks": [manifest.k for manifest in claims],
            **quarters,
        }
        run_step(con, "artifact/new_cases", judgement)
        names, parameters = list(SERIES_CHECKS[1:]), _ancestors(*given[0])
        if stay := [number for number in judged if "p" in given[number][1].attacks]:
            windows = _windows(con, [manifest for _, manifest in given[:known]], stay)
            run_step(con, "artifact/stay_classes", windows | quarters)
            names += STAY_CHECKS
        shown = published_rows(given[0][1])
        by_set = shown.by_set(OF_NEW_CASES)
        asked = [name for name in names if name not in by_set]
        checks = [run_check(con, "artifact/series_checks", name, parameters) for name in asked]
        checks = new_cases_by_set(con, shown.sets, by_set, judgement) + checks
        strange, anew = _carried(con, [manifest for _, manifest in given])
        return [replace(series, faults=strange), *checks], unknown, anew


def _carried(
    con: duckdb.DuckDBPyConnection, manifests: Sequence[Manifest]
) -> tuple[list[str], list[str]]:
    """Corrections that show other cases than the version before; quarters of which no id is old.

    A correction takes whole groups out of a quarter, and adds no case.
    """
    faults, anew = list[str](), list[str]()
    for number, cases, before, version_before in con.execute(
        query("artifact/series_checks", "carried"),
        {"quarters": [manifest.quarter for manifest in manifests]},
    ).fetchall():
        manifest = manifests[number]
        told = {"quarter": manifest.quarter, "cases": cases}
        if before == 0 and any(m.quarter < manifest.quarter for m in manifests[:number]):
            anew += [NO_RETURNING_CASE.format(**told)] if ids_join(manifest) else []
        if "correction" in manifest.parameters and version_before not in (None, cases):
            faults.append(
                f"{manifest.quarter} is a correction, and {cases - version_before:,} of its "
                f"{cases:,} cases are not in the version before"
            )
    return faults, anew


def _windows(
    con: duckdb.DuckDBPyConnection, known: Sequence[Manifest], claims: Sequence[int]
) -> dict[str, list[Any]]:
    """The windows of two consecutive periods that the checks of those who stay look at.

    Args:
        con: in which macros can be made.
        known: the artifacts of which all earlier ones are given, oldest first.
        claims: the numbers of those of them that claim to withstand that presence is known.
    """
    con.execute("CREATE SCHEMA IF NOT EXISTS srsql")
    for statement in parsed(STEPS, CALENDAR):
        con.execute(statement)
    asked = query("artifact/reading", "follows_on")
    after = {
        one: other
        for one, other in pairwise(dict.fromkeys(manifest.quarter for manifest in known))
        if con.execute(asked, [one, other]).fetchall() == [(True,)]
    }
    # later versions of a quarter lack cases that were in it
    whole = {manifest.quarter for manifest in known if version_of(manifest) == 1}
    classes = [number for number in claims if after.get(known[number].quarter) in whole]
    cohorts = [
        (number, before)
        for number in claims
        for before, manifest in enumerate(known)
        if after.get(manifest.quarter) == known[number].quarter
    ]
    return {
        "class_artifacts": classes,
        "class_ks": [known[number].k for number in classes],
        "next_quarters": [after[known[number].quarter] for number in classes],
        "cohort_artifacts": [number for number, _ in cohorts],
        "cohort_ks": [known[number].k for number, _ in cohorts],
        "before_artifacts": [before for _, before in cohorts],
    }


def _known_history(manifests: list[Manifest]) -> int:
    """How many artifacts from the first on have all earlier quarters before them, as first shown.

    Later versions of a quarter have fewer cases, so only with the first one is it known which cases
    are new. After an artifact of which a quarter is not given so, it is unknown.
    """
    first_versions: list[str] = []
    for number, manifest in enumerate(manifests):
        earlier = set(manifest.earlier_releases) - {manifest.quarter}
        if not earlier <= set(first_versions) or not version_of(manifest):
            return number
        if version_of(manifest) == 1:
            first_versions.append(manifest.quarter)
    return len(manifests)


def _incomparable(manifests: list[Manifest]) -> list[str]:
    """What keeps artifacts from being compared."""
    faults = []
    first = manifests[0]
    for before, after in pairwise(manifests):
        versions = (before.quarter, version_of(before)), (after.quarter, version_of(after))
        if versions[0] >= versions[1]:
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
            ("sets of quasi-identifiers", first.qid_sets, other.qid_sets),
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


def _ancestors(folder: Path, manifest: Manifest) -> dict[str, list[str]]:
    """``attributes``, ``nodes`` and ``ancestors`` side by side, each node above itself."""
    found: dict[str, list[str]] = {"attributes": [], "nodes": [], "ancestors": []}
    for attribute, rows in read_hierarchies(folder, manifest).items():
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
