"""The methods page of an artifact: what a paper has to tell of the data it was made of.

READUS-PV is Fusaroli et al. 2024, doi:10.1007/s40264-024-01421-9 (Table 1). Its items are called by
their numbers and told in our words. The page follows from the manifest alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from string import Template

from srsql.engine.artifact.documents import NO_DAY
from srsql.engine.artifact.explained import distinct_cases, emptiness, filled, ratios
from srsql.engine.artifact.format import AnyManifest, Manifest, ShownCases, quarters_of
from srsql.engine.catalog.series import PER_QUARTER
from srsql.engine.extras.catalogues.about import period_of, withheld_of

NOT_TOLD = "not told by whoever publishes"
PARAGRAPH = (
    "We used individual case safety reports from {source}, {period}, in the anonymized release of "
    "series {series} by {publisher}, made by srsql {software} with the model {models}. {guarantee} "
    "The release has {cases} cases in {reports} reports; {withheld}. {distinct}Numbers "
    "and categories that "
    "could identify a patient ({attributes}) are given as regions, intervals or nodes of a "
    "hierarchy that hold the true values{drawn}. {terms} {counted}"
)
COUNTED = (
    "A case was counted once, whatever its reports. Conditions on regions were counted as lower "
    "(regions inside), expected (by the share of the region inside) and upper (regions that touch)."
)
SHARES = (
    "Expected counts add up shares: of an interval, the number of its values that meet the "
    "condition divided by the number of its values; of an empty value, the same of the whole "
    "domain; of a node, the share of its leaves; of several conditions, the product. `README.md` "
    "has it in SQL."
)
NOT_FOLLOWED = (
    "A case was counted once in a quarter; ids are new in every quarter, so that a case of several "
    "quarters is counted in each."
)
NO_ROWS = (
    "Terms are released apart from cases, so that counts of term sets are known within bounds."
)
COUNTS_ALONE = (
    "Counts are released, and no rows of cases: each case is counted in one quarter, so that "
    "counts of quarters add up."
)
SPELLING = (
    "Terms have the spelling of the reports and were compared trimmed, in upper case and composed "
    "by Unicode NFC."
)


BY_KEY = (
    "Terms have the spelling of the reports, and were counted and compared by their key (version "
    "{version} of the rule), which is the same for all spellings of a term."
)


def methods(manifest: AnyManifest) -> bytes:
    """The page; its frame is ``schemas/artifact_methods.md``."""
    parts = quarters_of(manifest)
    frame = resources.files("srsql.schemas") / "artifact_methods.md"
    text = Template(frame.read_text(encoding="utf-8")).substitute(
        title=f"{manifest.dataset}, {period_of(parts)}",
        paragraph=_paragraph(manifest),
        quarters="\n".join(map(_quarter, parts)),
        shown="\n".join(_shown(parts)),
        empty=emptiness(parts) and emptiness(parts) + "\n",
        computed=_computed(manifest),
        checklist="\n".join(
            f"| {item} | {asked} | {_cell(told)} |" for item, asked, told in _items(parts)
        ),
    )
    return text.encode()


def _computed(manifest: AnyManifest) -> str:
    """How bounds and ratios are computed, as a chapter; nothing where no row is released."""
    text = ratios(manifest)
    shares = filled(SHARES) + "\n\n" if _counted(quarters_of(manifest)[-1]) == COUNTED else ""
    return f"## How counts and ratios are computed\n\n{shares}{text}\n" if text else ""


def _paragraph(manifest: AnyManifest) -> str:
    parts = quarters_of(manifest)
    last, stated = parts[-1], parts[-1].stated
    cases = sum(part.counts.released_cases for part in parts)
    several = " (counted in each quarter)" if len(parts) > 1 else ""
    distinct = distinct_cases(manifest)
    return PARAGRAPH.format(
        source=_source(last),
        period=period_of(parts),
        series=last.series,
        publisher=(stated.publisher if stated else None) or "its publisher",
        software=last.software_version,
        models=" and ".join(dict.fromkeys(f"{p.model} (k = {p.k})" for p in parts)),
        guarantee=" ".join(dict.fromkeys(p.guarantee for p in parts)),
        cases=f"{cases:,}{several}",
        reports=f"{sum(part.counts.released_reports for part in parts):,}",
        withheld=withheld_of(parts),
        distinct=distinct and f"{distinct} ",
        attributes=", ".join(each.name for each in last.attributes) or "none in this release",
        drawn=", or are drawn at random" if any(p.perturbed for p in parts) else "",
        terms=f"{_coded(last)} {_spelling(last)}",
        counted=_counted(last),
    )


def _source(part: Manifest) -> str:
    return (part.stated.source if part.stated else None) or f"the dataset {part.dataset}"


def _coded(part: Manifest) -> str:
    """What terms are coded with."""
    thesauri = part.stated.thesauri if part.stated else ()
    if not thesauri:
        return f"With which thesaurus and version terms are coded is {NOT_TOLD}."
    return " ".join(f"{', '.join(each.columns)}: {each.name}." for each in thesauri)


def _spelling(part: Manifest) -> str:
    """By what terms are one, whatever their spelling."""
    return BY_KEY.format(version=part.term_key) if part.term_key else SPELLING


def _counted(part: Manifest) -> str:
    if part.counts_alone:
        return COUNTS_ALONE
    if part.report_table is None:
        return NO_ROWS
    return NOT_FOLLOWED if part.parameters.get("ids") == PER_QUARTER else COUNTED


def _quarter(part: Manifest) -> str:
    counts, facts = part.counts, part.parameters
    withheld = [counts.withheld_cases, counts.withheld_reports]
    told = ["not told" if each is None else f"{each:,}" for each in withheld]
    return (
        f"| {_cell(part.quarter)} | {facts.get('release_date', NO_DAY)} | {part.model} | "
        f"{part.k} | {facts.get('theta', '')} | {counts.released_cases:,} | "
        f"{counts.released_reports:,} | {told[0]} | {told[1]} |"
    )


def _shown(parts: Sequence[Manifest]) -> Iterator[str]:
    if not any(part.shown for part in parts):
        yield "No row of a case is released."
        return
    yield "| quarter | of | one value | an interval or inner node | not known or given up |"
    yield "| --- | --- | --- | --- | --- |"
    for part in parts:
        for each in part.shown or ():
            yield _shown_row(part, each)


def _shown_row(part: Manifest, each: ShownCases) -> str:
    total = max(1, each.single + each.several + each.any)
    cells = (
        f"{count:,} ({(1000 * count + total // 2) // total / 10} %)"
        for count in (each.single, each.several, each.any)
    )
    return f"| {_cell(part.quarter)} | {each.attribute} | {' | '.join(cells)} |"


def _items(parts: Sequence[Manifest]) -> Iterator[tuple[str, str, str]]:
    """Item, what it asks for, and what is to be told of the release."""
    last, facts = parts[-1], parts[-1].parameters
    stated = last.stated
    days = dict.fromkeys(str(part.parameters.get("release_date", NO_DAY)) for part in parts)
    yield "4a", "type of data", "individual case safety reports, anonymized before they were used"
    yield (
        "5a",
        "database and custodian",
        (
            f"{_source(last)}; published by {(stated.publisher if stated else None) or NOT_TOLD}; "
            f"{period_of(parts)}"
        ),
    )
    yield "5a", "thesauri of drugs and events", _coded(last)
    yield "5b", "date of extraction", f"released on {', '.join(days)}"
    yield (
        "5b",
        "pre-processing: cases and follow-ups",
        ("a case's reports in a quarter are one case; its region holds what any of them knows"),
    )
    yield (
        "5b",
        "pre-processing: generalization",
        (f"model {', '.join(dict.fromkeys(p.model for p in parts))}, {_facts(last)}"),
    )
    yield "5b", "exclusions", withheld_of(parts)
    yield "5b", "suppressed values", _suppressed(parts)
    yield (
        "6a",
        "population",
        (
            "all cases of the source in the period but those withheld; "
            f"missing quasi-identifiers: {facts.get('missing', 'not told')}"
        ),
    )
    yield (
        "6b",
        "variables",
        (
            f"generalized: {facts.get('protected', 'not told')}; as reported: "
            f"{facts.get('published_verbatim', 'not told')}"
        ),
    )
    yield "methods, statistics", "what is counted, and how", _counted(last)
    yield "discussion, limitations", "what anonymization does to counts", _limits(last)
    yield (
        "other information",
        "how the data can be had",
        (
            f"{(stated.landing_page if stated else None) or 'where: ' + NOT_TOLD}; licence: "
            f"{(stated.license if stated else None) or NOT_TOLD}; cite as: "
            f"{(stated.cite_as if stated else None) or NOT_TOLD}"
        ),
    )


def _facts(part: Manifest) -> str:
    """k, theta and whatever else decides how much is generalized."""
    names = ("k_effective", "theta", "alpha", "epsilon", "leftovers", "refine", "term_k", "m")
    told = {"k": part.k, **{n: part.parameters[n] for n in names if n in part.parameters}}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in told.items())


def _suppressed(parts: Sequence[Manifest]) -> str:
    name = "suppressed_values_per_10000"
    shares = [part.parameters[name] for part in parts if name in part.parameters]
    if not shares:
        return "none"
    return f"up to {', '.join(map(str, shares))} in 10,000 of the values of released cases"


def _limits(part: Manifest) -> str:
    if part.counts_alone:
        return "counts below k, and those that would break a threshold, are not told"
    if part.report_table is None:
        return "counts of term sets have a lower and an upper bound (term-counts.sql)"
    if part.perturbed:
        return "regions are drawn at random: counts by them are biased towards rare values"
    return (
        "counts by regions are known within bounds, which belong beside every figure; withheld "
        "cases are in no count"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
