"""What a terminal shows of the making of releases: `ingest`, `release`, `publish`, `verify`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from srsql.engine.console import Command, Parts, Table, gap_lines, result_table
from srsql.engine.console.session import current_session
from srsql.engine.errors import printable

if TYPE_CHECKING:  # it brings matplotlib
    from srsql.engine.artifact.publish import Published
    from srsql.engine.artifact.verify import Verified
    from srsql.engine.grouping.persons import Duplicates
    from srsql.engine.ingest import IngestedFile, IngestedPeriod
    from srsql.engine.ingest.account import Compared
    from srsql.engine.measures import MeasureRow
    from srsql.engine.release.ids import LookedUp
    from srsql.engine.release.request import Range, Released
    from srsql.engine.release.series_commands import SeriesInfo
    from srsql.engine.report.report import Report
    from srsql.engine.steward.correct import Correction

CONFIRMED = ("series", "date", "max_linkable", "allow_linkable", "change", "weaker", "if_needed")
"""Options of a release that count when its draft is exposed."""
TOKEN = (
    "--spark: what stands on a command line others can see, and the run table keeps it: give the "
    "token as SPARK_CONNECT_AUTHENTICATE_TOKEN in the environment"
)
RANGE_COLUMNS = ["quarter", "cases", "new", "groups", "withheld", "why", "NIL", "seconds"]
LOOKUP_COLUMNS = ["asked", "kind", "pseudonym", "case", "report", "released in"]
FILE_COLUMNS = ["file", "rows", "bytes", "sha256"]
UNKNOWN_IDS_SHOWN = 10
"""Unknown ids that are named."""
CHECK_COLUMNS = ["artifact", "check", "passed", "faults", "of", "proves"]


def ingested_parts(loaded: list[IngestedPeriod]) -> Parts:
    """What became of each quarter."""
    for item in loaded:
        if item.files and item.status != "unchanged":
            yield result_table(f"{item.quarter} {item.status}", type(item.files[0]), item.files)
        yield from ingested_lines(item)


def ingested_lines(item: IngestedPeriod) -> Iterator[str]:
    """What else there is to say of one quarter."""
    if item.status == "unchanged":
        yield f"{item.quarter}: the same files are loaded already, nothing to do"
        return
    for file in item.files:
        for reason, count in file.reasons.items():
            yield f"  {file.file}: {count:,} x {reason}"
        yield from text_lines(file)
        for column in file.columns:
            if column.unread:
                yield (
                    f"  {file.file}: {column.unread:,} of {column.filled:,} values of "
                    f"{column.column} not understood ({column.share:.1%})"
                )
        for name, count in file.cleaned.items():
            yield f"  {file.file}: {count:,} x {name}: line ends or control characters made blanks"
        for name, count in file.fallbacks.items():
            yield f"  {file.file}: {count:,} x {name}: blank, taken from its fallback"
        if file.other_periods:
            yield f"  {file.file}: {file.other_periods:,} records of other periods left out"
    for each in item.required:
        yield f"  {each.text}{' (--allow-incomplete)' if each.allowed else ''}"
    yield from (f"  warning: {text}" for text in item.warnings)
    if item.compared is not None:
        yield from _compared_lines(item.compared, item.deleted_cases)
    elif item.deleted_cases:
        yield f"  {item.deleted_cases:,} cases on the DELETED list"


def _compared_lines(compared: Compared, withdrawn: int) -> Iterator[str]:
    """What a dump changed."""
    if compared.periods:
        yield f"  {compared.new:,} reports of new periods: {', '.join(compared.periods)}"
    yield (
        f"  of periods that were loaded: {compared.late:,} new reports, {compared.changed:,} "
        f"changed, {compared.unchanged:,} as they were"
    )
    if compared.vanished:
        yield f"  {compared.vanished:,} known reports are gone: {withdrawn:,} cases are withdrawn"
    if compared.withdrawn:
        yield f"  {compared.withdrawn:,} cases that are withdrawn are in it, and stay withdrawn"


def text_lines(file: IngestedFile) -> Iterator[str]:
    """How a text file was read, where that is not as UTF-8 without a fault."""
    from srsql.engine.ingest.encodings import UTF_8

    if file.encoding not in ("", UTF_8):
        yield f"  {file.file}: read as {file.encoding}"
    if file.odd_lines:
        bytes_read = ", their stray bytes read as cp1252" if file.encoding == UTF_8 else ""
        many = "1 line is" if file.odd_lines == 1 else f"{file.odd_lines:,} lines are"
        yield f"  {file.file}: {many} not {file.encoding}{bytes_read}"


def duplicates_parts(found: Duplicates) -> Parts:
    """How many cases may be one person, at each threshold."""
    from srsql.engine.grouping.persons import ClustersAt

    yield (
        f"{found.cases:,} cases searched by {found.library} (seed {found.seed}); {found.pairs:,} "
        f"pairs of at least {found.least:g} are kept. Compared: "
        f"{', '.join(found.compared.values())}, drugs, reactions"
    )
    yield (
        "suspected, not proved: releases from now on tell their k by persons, and "
        "'srsql release --count persons' keeps it"
    )
    yield result_table(f"suspected duplicates of {found.dataset}", ClustersAt, found.at)


def release_parts(released: Released) -> Parts:
    """What became of one quarter, how many rows its views have, and what was checked."""
    if released.status == "unchanged":
        yield (
            f"{released.quarter} is {'made' if released.schema.startswith('draft') else 'out'} "
            f"already as {released.schema}, with the same parameters from the same data: nothing "
            "to do"
        )
        return
    told = release_lines(released)
    yield next(told)
    yield from closing_lines(released)
    yield from told
    rows = [[f"{released.schema}.{name}", f"{n:,}"] for name, n in released.rows.items()]
    yield Table("rows", ["view", "rows"], rows)
    if released.seconds:
        yield "  seconds: " + ", ".join(f"{k} {v:.2f}" for k, v in released.seconds.items())


def release_lines(released: Released) -> Iterator[str]:
    """What became of one quarter; the rows of its views follow as a table."""
    facts = released.manifest
    groups = "" if _without_cases(released) else f" in {facts['groups']:,} groups"
    yield (
        f"{released.quarter} {released.status} as {released.schema}: "
        f"{facts['cases']['released']:,} cases{groups}, "
        f"{facts['cases']['withheld']:,} withheld"
    )
    if facts["cases"]["old"]:
        yield f"  {facts['cases']['new']:,} new cases, {facts['cases']['old']:,} seen before"
    for reason, counts in facts["withheld"].items():
        yield f"  withheld, {reason}: {counts['cases']:,} cases, {counts['reports']:,} reports"
    if waiting := sum(counts["cases"] for counts in facts.get("waiting", {}).values()):
        yield f"  {waiting:,} of those withheld wait for the next period (--max-delay)"
    if facts.get("taken_in"):
        yield f"  {facts['taken_in']:,} cases of earlier periods waited for this one"
    if facts.get("reported_otherwise"):
        yield (
            f"  {facts['reported_otherwise']:,} cases waited whose reports all came again under "
            "other case ids, and are told there"
        )
    for name, count in facts["values_given_up"].items():
        yield f"  {name} released as missing although known for {count:,} cases"
    if gone := facts.get("suppressed"):
        yield (
            f"  {sum(v['cases'] for v in gone):,} sensitive values of cases suppressed, of "
            f"{len(gone):,} kinds, most often {printable(gone[0]['value'])} "
            f"({gone[0]['cases']:,}): theta bounds published values"
        )
    unknown = facts.get("sensitive_terms_not_held", [])
    if unknown:
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        yield (
            f"  no released case holds the sensitive term {unknown[0]!r}{more}: check the "
            "spelling, since a term that is not named is told as any other"
        )
    if facts["k_effective"] != facts["k"]:
        yield f"  groups hold {facts['k_effective']} cases, since a smaller theta needs them"
    yield from person_lines(facts.get("persons", {}), facts.get("persons_not_searched", []))
    yield from linked_lines(released.links)
    if "gap" in facts:
        yield f"  gap in the series: {facts['gap']}"
    if "chunk_terms" in facts:
        yield f"  chunks of terms: {facts['chunk_terms']:,} terms at most, so that they are proved"
    for change in released.changes:
        until = "once it is exposed" if released.status == "draft" else "from now on"
        yield f"  {printable(change)}: the series has it {until}"
    if released.weaker:
        yield f"  promises less than the version before: {'; '.join(released.weaker)}"


def person_lines(persons: dict[str, dict[str, Any]], unsearched: Sequence[str]) -> Iterator[str]:
    """What is left of k if suspected duplicates are one person, or that it is unknown."""
    from srsql.engine.risk.units import AT, at_match

    if unsearched:
        more = f" and {len(unsearched) - 1:,} more" if len(unsearched) > 1 else ""
        yield (
            f"  suspected duplicates: not searched for in {unsearched[-1]}{more}, so that k is of "
            "case ids, and nobody knows of how many people: 'srsql duplicates'"
        )
    for at in AT:
        facts = at_match(persons, at)
        if facts and facts["groups"]:
            share = facts["reach_k_by_duplicates"] / facts["groups"]
            yield (
                f"  suspected duplicates (match {at}): {facts['reach_k_by_duplicates']:,} of "
                f"{facts['groups']:,} groups ({share:.1%}) reach k through them alone; "
                f"fewest persons of a group: {facts['least_persons']}, fewest cases: "
                f"{facts['least_cases']}"
            )


def linked_lines(links: list[MeasureRow]) -> Iterator[str]:
    """How many rows link to each other release of the quarter."""
    for row in links:
        share = f" ({row.ratio:.1%})" if row.ratio is not None else ""
        yield (
            f"  {int(row.violating or 0):,} of {int(row.total or 0):,} rows{share} link one to one "
            f"to {row.scope}, whoever has both"
        )


def closing_lines(released: Released) -> Iterator[str]:
    """What the release does not protect, and what was checked."""
    from srsql.engine.catalog.releases import QID_SETS
    from srsql.engine.risk.singling_out import DRUGS_OR_TERMS, ITEMS, SMALL_SETS, share_text

    if QID_SETS in released.manifest:
        yield (
            "  protected each by itself: {qid_sets}; whoever knows all of them is left with fewer "
            "than k candidates for {union_below_k_percent} % of the cases, with one for "
            "{union_one_candidate_percent} %".format(**released.manifest)
        )
    if "below_k_percent_2_items" in released.manifest and "term_cases" in released.manifest:
        yield (
            "  drugs and terms are told of clusters; with the region, one of them leaves fewer "
            "than k candidates for {} of the cases, two for {}".format(
                *(share_text(released.manifest, f"below_k_percent_{n}") for n in SMALL_SETS)
            )
        )
    elif released.manifest.get("one_candidate_percent_2_items") is not None:
        yield (
            "  not protected: {items} are published as they are; with the region, one of "
            "them singles out {} of the cases, two {}".format(
                *(share_text(released.manifest, f"one_candidate_percent_{n}") for n in SMALL_SETS),
                items=released.manifest.get(ITEMS, DRUGS_OR_TERMS).replace(" or ", " and "),
            )
        )
    attacks = released.manifest.get("attacks", "none")
    if released.manifest.get("noise", "none") != "none":
        yield f"  {released.manifest['guarantee']}"
    kept = released.manifest.get("keeps", "k, theta")
    if "terms" in released.manifest:
        kept += ", k^m-anonymity of the terms"
    what = "row numbers" if _without_cases(released) else "completeness, regions"
    yield f"  checked on the released rows: {kept}, {what}, lineage" + (
        "" if attacks == "none" else f"; audited with the whole series: {attacks}"
    )


def corrected_lines(made: Correction) -> Iterator[str]:
    """Who left a released quarter, and what went with them."""
    if not made.withdrawn:
        yield (
            f"{made.quarter} of series {made.series}: no case has left it, compared with the "
            f"newest data; version {made.version} stays"
        )
        return
    would = "would be" if made.dry_run else "were"
    yield (
        f"{made.quarter} of series {made.series}: {made.cases:,} cases {would} taken out (whole "
        f"groups: {made.groups:,})"
        + (f", what is left of {made.remainders:,} groups kept" if made.remainders else "")
        + f"; {made.kept_cases:,} cases in {made.kept_groups:,} groups stay"
    )
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in made.withdrawn.items())
    yield f"  have left: {reasons}"
    if made.remainders:
        yield "  the difference between the versions tells who left: E is not defended"
    if made.release_id is not None:
        yield (
            f"  version {made.version} is out as {made.schema} (release {made.release_id}); "
            f"release {made.corrects}, which it replaces, stays known to whoever has it"
        )
        yield "  checked like any release, and audited with the whole series"
    yield (
        "  not undone: anyone who has the old version keeps it, groups that were too small "
        "included; other quarters that are out may show who is still there"
    )


def _without_cases(released: Released) -> bool:
    """Whether the rows are no case's."""
    return "informative" in released.manifest


def made_parts(made: Released | Range, audience: str | None = None) -> Parts:
    """What became of a quarter, or of a range of quarters, and for whom."""
    from srsql.engine.release.audiences import audience_sentences
    from srsql.engine.release.request import Range

    parts = range_parts(made) if isinstance(made, Range) else release_parts(made)
    newest = made.released[-1:] if isinstance(made, Range) else [made]
    yield next(parts)
    for one in newest if audience else ():
        yield from audience_sentences(str(audience), one.manifest)
    yield from parts


def series_parts(found: Iterable[SeriesInfo]) -> Parts:
    """What each series was made with, which quarters are out, and what is missing between them."""
    none = True
    for one in found:
        none = False
        out = f"{one.quarters[0]} to {one.quarters[-1]}" if one.quarters else "nothing is out"
        rows = [[name, printable(value or "(not kept)")] for name, value in one.parameters.items()]
        title = f"{one.dataset}, series {one.series}: {out}; {one.family}, {one.ids} ids"
        if rows:
            yield Table(title, ["parameter", "value"], rows)
        else:
            yield f"{title}; it has no parameters until a release is out"
        yield from gap_lines(one.gaps, one.without_calendar)
    if none:
        yield "no series yet"


def warn_of_ids(made: Released | Range) -> None:
    """Say in one line on stderr what original ids tell, where a release shows them."""
    from srsql.engine.catalog.series import IDS, ORIGINAL
    from srsql.engine.release.request import Range

    releases = made.released if isinstance(made, Range) else [made]
    if any(one.manifest.get("ids") == ORIGINAL for one in releases):
        current_session().note(
            f"warning: series {printable(releases[0].series)} shows original ids. {IDS[ORIGINAL]}"
        )


def warn_of_columns(made: Released | Range) -> None:
    """Say in one line on stderr that no bound holds for the optional columns of a release."""
    from srsql.engine.catalog.releases import OPTIONAL_COLUMNS
    from srsql.engine.release.request import Range

    releases = made.released if isinstance(made, Range) else [made]
    for columns in sorted({one.manifest.get(OPTIONAL_COLUMNS, "") for one in releases} - {""}):
        current_session().note(
            f"warning: series {printable(releases[0].series)} publishes {columns} as the reports "
            "have them: no k and no threshold bounds what they tell, 'srsql metrics' measures whom "
            "they single out (one_candidate_by_column)"
        )


def looked_up_parts(found: LookedUp) -> Parts:
    """What stands behind the ids that were asked for."""
    if found.found:
        yield Table(
            f"series {found.series}: for the steward, not for publication",
            LOOKUP_COLUMNS,
            [
                [
                    printable(one.asked),
                    one.kind,
                    str(one.pseudonym),
                    printable(one.case_id),
                    printable(one.report_id or ""),
                    ", ".join(one.quarters),
                ]
                for one in found.found
            ],
        )
    if found.unknown:
        listed = ", ".join(map(printable, found.unknown[:UNKNOWN_IDS_SHOWN]))
        more = ", ..." if len(found.unknown) > UNKNOWN_IDS_SHOWN else ""
        yield f"  {len(found.unknown):,} unknown in this series: {listed}{more}"


def range_parts(made: Range) -> Parts:
    """What became of a range of quarters."""
    cases = sum(one.manifest["cases"]["released"] for one in made.released)
    yield (
        f"{made.first} to {made.last}: {len(made.released):,} quarters released, {cases:,} cases"
        if made.released
        else f"nothing to do between {made.first} and {made.last}"
    )
    yield from range_lines(made)
    if made.released:
        yield from _unprotected(made)
        yield Table("released", RANGE_COLUMNS, range_rows(made))
    yield from ingested_parts([one for one in made.ingested if one.status != "unchanged"])


def _unprotected(made: Range) -> Iterator[str]:
    """What the newest release of a range does not protect."""
    yield from (line for line in closing_lines(made.released[-1]) if "not protected" in line)


def range_rows(made: Range) -> Iterator[list[str]]:
    """The cells of ``RANGE_COLUMNS`` for each released quarter."""
    for one in made.released:
        facts = one.manifest
        nil = facts["metrics"].get("nil (release)")
        yield [
            one.quarter,
            f"{facts['cases']['released']:,}" if facts["groups"] else "none (empty release)",
            f"{facts['cases']['new']:,}",
            f"{facts['groups']:,}",
            f"{facts['cases']['withheld']:,}",
            ", ".join(f"{why} {n['cases']:,}" for why, n in facts["withheld"].items()),
            "" if nil is None else f"{nil:.4f}",
            f"{sum(one.seconds.values()):.1f}",
        ]


def range_lines(made: Range) -> Iterator[str]:
    """What else there is to say of a range."""
    if made.already:
        yield f"  already released, left as they are: {', '.join(made.already)}"
    for gap in made.missing:
        yield f"  not in the warehouse: {gap}"
    if made.audit is not None:
        verdict = "safe" if made.audit.safe else f"NOT safe, {made.audit.in_danger:,} groups"
        yield (
            f"  each audited by what it changes, then the whole series in full "
            f"({made.audit.releases:,} releases, {made.audit.seconds:.1f} s): {verdict}"
        )


def published_parts(published: Published) -> Parts:
    """The files of an artifact, and what else there is to know."""
    if published.unchanged:
        yield f"{published.path} is the same artifact already, file by file: nothing to do"
        return
    yield from published_lines(published)
    yield Table(published.path, FILE_COLUMNS, published_rows(published))


def published_rows(published: Published) -> Iterator[list[str]]:
    """The cells of ``FILE_COLUMNS``."""
    for file in published.files:
        rows = "" if file["rows"] is None else f"{file['rows']:,}"
        yield [file["name"], rows, f"{file['bytes']:,}", file["sha256"]]


def published_lines(published: Published) -> Iterator[str]:
    """What else there is to know, and what to do next."""
    from srsql.engine.release.request import is_range

    counts = published.counts
    gone = counts["withheld_cases"]
    withheld = (
        "nothing is told of what was withheld" if gone is None else f"{gone:,} cases withheld"
    )
    added = ", each quarter's added up" if is_range(published.quarter) else ""
    yield (
        f"{published.quarter} of series {published.series}: {counts['released_cases']:,} cases, "
        f"{counts['released_reports']:,} reports; {withheld}{added}"
    )
    yield f"  verified before it was put in place: {', '.join(published.checks)}"
    yield from linked_lines(published.links)
    if published.new_key:
        yield (
            f"  a new key is in {published.new_key}: keep it secret, and give it again for every "
            "later quarter"
        )
    if published.stale:
        yield f"  {published.stale}"
    for folder in published.unfinished:
        yield f"  {folder} is left from a publication that was cut off: remove it"
    yield f"  anybody can check it: srsql verify {published.path}"


def verified_parts(verified: Verified) -> Parts:
    """The verdict, where checks fail, what an artifact cannot show, and every check."""
    yield from verified_lines(verified)
    yield Table("verification", CHECK_COLUMNS, check_rows(verified))


def check_rows(verified: Verified) -> Iterator[list[str]]:
    """The cells of ``CHECK_COLUMNS``."""
    from srsql.engine.artifact.verify import CHECKS

    for check in verified.checks:
        yield [
            check.artifact,
            check.name,
            "yes" if check.passed else "NO",
            f"{len(check.faults):,}",
            f"{check.total:,}",
            CHECKS[check.name],
        ]


def verified_lines(verified: Verified) -> Iterator[str]:
    """The verdict, where checks fail, what was not run, what cannot be shown."""
    failed = sum(not check.passed for check in verified.checks)
    folders = len(verified.artifacts)
    many = f"{len(verified.checks):,} checks of {folders:,} artifact{'' if folders == 1 else 's'}"
    yield f"passed: {many}" if verified.passed else f"FAILED: {failed:,} of {many}"
    for check in verified.checks:
        for place in check.where:
            yield f"  {check.artifact}, {check.name}: {place}"
        if len(check.faults) > len(check.where):
            yield f"  ... and {len(check.faults) - len(check.where):,} more"
    for name in verified.not_run:
        yield f"  not run, because of the above: {name}"
    yield "not shown by an artifact alone:"
    for text in verified.cannot_show:
        yield f"  - {text}"


def verified_document(verified: Verified) -> dict[str, Any]:
    """The JSON document."""
    return {
        "artifacts": list(verified.artifacts),
        "passed": verified.passed,
        "checks": [
            {
                "artifact": check.artifact,
                "name": check.name,
                "passed": check.passed,
                "faults": len(check.faults),
                "total": check.total,
                "where": check.where,
            }
            for check in verified.checks
        ],
        "not_run": list(verified.not_run),
        "cannot_show": list(verified.cannot_show),
    }


def page_options(command: Command) -> Command:
    """Where the verifier of a browser goes, and what it reads Parquet with."""
    page = click.option(
        "--page",
        type=click.Path(path_type=Path),
        help="Write the page that checks an artifact in a browser to this new file; check nothing.",
    )
    reader = click.option(
        "--parquet-reader",
        type=click.Path(path_type=Path),
        help="Script with which the page reads Parquet as well (integrations/parquet-reader).",
    )
    return page(reader(command))


def page_line(file: Path) -> str:
    """What to do with the page."""
    return f"{file}: open it in a browser and drop the folder of an artifact on it, or several"


report_option = click.option(
    "--out",
    "file",
    type=click.Path(path_type=Path),
    help="HTML file to write; of --form also .md.  [default: srsql-report-....html here]",
)
"""Where a report goes."""


def report_document(made: Report, file: Path, written: int) -> dict[str, Any]:
    """What became of a report.

    Args:
        made: the page.
        file: where it is.
        written: its bytes.
    """
    document = {"file": str(file), "bytes": written, "edition": made.edition}
    document |= {"dataset": made.dataset, "series": made.series, "quarter": made.quarter}
    return document | {"figures": list(made.files)}


def report_line(made: Report, file: Path, written: int) -> str:
    """The same in a line; see ``report_document``."""
    notes = {
        "internal": "; made with the originals, not for publication (--public is)",
        "imported": "; it names cases, not for publication",
        "form": "; made with the originals, for the reviewer",
    }
    note = notes.get(made.edition, "")
    figures = f"; {len(made.files)} files of figures" if made.files else ""
    return f"{file}: {made.edition} edition, {written:,} bytes{figures}{note}"
