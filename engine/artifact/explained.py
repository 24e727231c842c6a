"""What an artifact's README and methods page explain: how to count, what is empty, terms, codes.

It follows from the manifest alone. Statements are DuckDB's and run as they stand, from within the
folder.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from importlib import resources
from string import Template
from typing import Any, TypeVar, cast

from srsql.engine.artifact.format import (
    DUCKDB_FILE,
    HIERARCHIES,
    ITEM_CELLS,
    PAIR_CELLS,
    REGION_CELLS,
    THRESHOLDS,
    TREE,
    UNIT_CELLS,
    AnyManifest,
    Attribute,
    Manifest,
    RangeManifest,
    Table,
    key_pairs,
    quarters_of,
)
from srsql.engine.catalog.series import PER_QUARTER
from srsql.schemas.glossary import term

Explaining = TypeVar("Explaining", bound=Callable[..., str])
WIDTH = 110
"""Of the lines of a paragraph."""
FAERS = ("faers", "faers_wide")
"""Datasets that ship, of which the codes are known."""
CODES = {
    "role_cod": "as reported: PS primary suspect, SS secondary suspect, C concomitant, "
    "I interacting; srsql signals counts PS and SS where nothing else is asked",
    "outc_cod": "as reported: DE death, LT life-threatening, HO hospitalization (initial "
    "or prolonged), DS disability, CA congenital anomaly, RI required intervention to prevent "
    "permanent impairment or damage, OT other serious (important medical event)",
    "indi_drug_seq": "the drug_seq of the drug that was given for it, in the same report",
}
"""Column of FAERS -> what it says, after the files that FDA publishes with it."""
COMPLETED = {
    "age": "completed years: decades, months, weeks, days and hours are converted (12 months or "
    "365.25 days to the year) and rounded down",
    "wt": "whole kilograms: pounds and grams are converted and rounded",
}
"""Quasi-identifier of FAERS -> how ingestion reads it."""
ATTACKS = dict.fromkeys(("b", "f", "l", "md", "p", "e", "g"), "excludes") | dict.fromkeys(
    ("ss", "u"), "infers from"
)
"""Key of the glossary -> what the attacker does with what it names."""
NOT_DEFENDED = (
    "**not withstood, whatever the model**: an attacker who replays the algorithm on all originals "
    "that fit, and two audiences who pool their series (see `docs/models.md` of srsql)."
)
ROLES = (
    "A drug counts where its `role_cod` is PS or SS, a suspect; `--roles all` counts every role. A "
    "paper has to say which it was.\n"
)
ROWS = "`$reports` has one row per report. All reports of a case$in_quarter have one region$terms. "
OF_ANY_REPORT = "; the drugs and terms of a case are those of any of its reports"
COUNT_ONE = """$rows

    SELECT count(DISTINCT $case_id) AS cases FROM $table
"""
COUNT_LATEST = """$rows

    SELECT count(DISTINCT t.$case_id) AS cases FROM $counted AS t
    WHERE t.quarter = (SELECT max(u.quarter) FROM $table AS u WHERE u.$case_id = t.$case_id)
"""
COUNTED_LATEST = (
    "A case can be in several quarters. To count each case once, as its latest quarter has it:"
)
COUNT_TERMS = """
and by a term of it:

    SELECT upper(trim(t.$term)) AS $term, count(DISTINCT t.$case_id) AS cases FROM $counted AS t
$latest    GROUP BY ALL ORDER BY cases DESC
"""
KEYED_TERMS = """
and by a term of it, whatever its spelling:

    SELECT t.${term}_key AS $term, count(DISTINCT t.$case_id) AS cases FROM $counted AS t
$latest    GROUP BY ALL ORDER BY cases DESC
"""
BY_KEY = (
    "Two spellings with the same key are one term; count and compare by the `_key` columns. The "
    "rule of the key has version {version} (`term_key`)."
)
UPPER_CASE = (
    "Terms keep the spelling of the report; to count a term, trim it and\n"
    "compare it in upper case (and, where somebody may have hidden characters in it, composed by "
    "Unicode NFC\nand without those of the property Default_Ignorable_Code_Point).\n"
)
KEYS_ALONE = "Terms are told by their key, which is the same for all spellings of a term."
NOISE_TOLD = (
    "Items of cases stand in `noisy_case_count`, `noisy_item_count` and `noisy_pair_count`, with "
    "noise: a count is the true one plus or minus `mean_error` of the table `count_noise` on "
    "average, and within `margin_95` of it in 95 of 100 counts. Cases have noise of their own in "
    "each stratum, and margins add up over strata. What is not there had a count below "
    "`threshold` with noise: at most `threshold` - 1 + `margin_95`, with as much confidence. The "
    "true count is of at most so many values and pairs of a case as the manifest says, and a case "
    "with more is missing from the rest: counts of all values may be higher. A count may be "
    "negative. It is of cases of this period that no earlier one counts."
)
COUNTS_TOLD = (
    "No row shows a drug or a term. `{items}` and `{pairs}` tell how many cases of a stratum hold "
    "one or two, and `{units}` how many there are; only cases that no earlier release has. Of one "
    "name, or two names, the strata do not overlap: of a wider stratum the count is the sum of "
    "those within it (`{tree}`). Every count is at least {k}. What is not told is 0, or any number "
    "up to the least told count that it is part of, whatever the reason. An empty term stands for "
    "none of the told terms of a column of which a case has one. PRR of every told pair, over all "
    "cases:"
)
REGIONS_COUNTED = "`{regions}` tells how many cases each region has, at least {k}. "
COUNTS_QUERY = """
    WITH u AS (SELECT sum(cases) AS n FROM $units),
    i AS (SELECT attribute, term, sum(cases) AS n FROM $items GROUP BY ALL),
    p AS (SELECT attribute, term, other_attribute, other_term, sum(cases) AS a
          FROM $pairs GROUP BY ALL)
    SELECT p.*, a / x.n / nullif((y.n - a) / (u.n - x.n), 0) AS prr
    FROM p CROSS JOIN u
    JOIN i AS x ON x.attribute = p.attribute AND x.term IS NOT DISTINCT FROM p.term
    JOIN i AS y ON y.attribute = p.other_attribute AND y.term IS NOT DISTINCT FROM p.other_term
    ORDER BY prr DESC
"""
LATEST_LINE = (
    "    WHERE t.quarter = (SELECT max(u.quarter) FROM $table AS u WHERE u.$case_id = t.$case_id)\n"
)
BOUNDS = (
    "How many cases meet conditions on $names is known within bounds: `lower` has those whose "
    "region lies inside them, `upper` those whose region touches them, and `expected` adds up how "
    "much of each region lies inside. Of an interval that is the number of its values that meet "
    "the condition, divided by the number of its values (steps of $step, both ends included); an "
    "empty value is the whole domain, $low to $high, of which $met values in $all are at least "
    "$value. ${of_nodes}Of several conditions the shares are multiplied. An empty value$or_root "
    "may be one that nobody knew, which meets no condition: `lower` never has it, not even where "
    "the condition takes in the whole domain."
)
OF_NODES = (
    "Of a node it is the share of its leaves, so that the root has all leaves alike: write one of "
    "`{hierarchies}` for VALUE. "
)
ANY_QUARTER = (
    "Without the line on quarters a case counts as it does in the quarter that tells most of it, "
    "which is how `srsql query` counts over several quarters."
)
SUMS = """    ), counted AS (
        SELECT $case_id, max(share) AS share, bool_or(known AND share = 1) AS surely
        FROM region GROUP BY $case_id
    )
    SELECT count(*) FILTER (WHERE surely) AS lower, sum(share) AS expected,
           count(*) FILTER (WHERE share > 0) AS upper
    FROM counted
"""
NODES = """WITH RECURSIVE tree AS (
        SELECT * FROM read_csv('$hierarchies', all_varchar = true)
        WHERE attribute = '$name'
    ), below AS (  -- each node with the leaves below it
        SELECT node, node AS leaf FROM tree
        WHERE node NOT IN (SELECT coalesce(parent, '') FROM tree)
        UNION ALL
        SELECT h.parent, b.leaf FROM below AS b JOIN tree AS h ON h.node = b.node
        WHERE h.parent <> ''
    ), part AS (
        SELECT node, avg(CASE WHEN leaf IN ('VALUE') THEN 1 ELSE 0 END) AS share
        FROM below GROUP BY node
    ), region AS (
        SELECT t.$case_id, p.share * $share AS share,
               t.$low IS NOT NULL AND t.$name IN (SELECT node FROM tree WHERE parent <> '') AS known
        FROM $table AS t JOIN part AS p ON p.node = t.$name
"""
NO_NODES = """WITH region AS (
        SELECT t.$case_id, $share AS share, t.$low IS NOT NULL AS known
        FROM $table AS t
"""
SHARE = "CASE WHEN t.$low IS NULL THEN $met / $all\n            ELSE {met} / {all} END"


def filled(text: str, indent: str = "") -> str:
    """A paragraph in lines of a README; ``indent``: of the lines after the first."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def codes_of(manifest: Manifest) -> dict[str, str]:
    """Columns and quasi-identifiers of which it is known what their values say."""
    return CODES | COMPLETED if manifest.dataset in FAERS else {}


def joining(manifest: Manifest) -> str:
    """Name of the case id where a case can be followed and counted; None tells that it cannot."""
    return "" if manifest.parameters.get("ids") == PER_QUARTER else case_column(manifest)


def case_column(manifest: Manifest) -> str:
    """The column that cases are counted by."""
    columns = manifest.reports.columns[::-1]
    return next(c.name for c in columns if c.role in ("case id", "report id"))


def source(item: Table) -> str:
    """How DuckDB names a table of the folder."""
    return item.name if item.file == DUCKDB_FILE else f"'{item.file}'"


def of_rows(otherwise: str = "") -> Callable[[Explaining], Explaining]:
    """What is explained of rows of reports; ``otherwise``: what is said where none is released."""

    def about(explain: Explaining) -> Explaining:
        @wraps(explain)
        def text(manifest: Any, **how: bool) -> str:
            first = quarters_of(manifest)[0]
            named = {item.name for item in first.tables}
            return explain(manifest, **how) if first.report_table in named else otherwise

        return cast("Explaining", text)

    return about


@of_rows()
def counting(manifest: AnyManifest) -> str:
    """How to count cases, and cases by a term."""
    parts = quarters_of(manifest)
    first, several = parts[0], isinstance(manifest, RangeManifest)
    terms = [
        (item, each.name)
        for item in first.tables
        for each in item.columns
        if each.role == "sensitive" and item.name != first.report_table
    ]
    latest = several and bool(joining(first))
    facts = {
        "reports": first.reports.name,
        "case_id": case_column(first),
        "table": source(first.reports),
        "counted": source(first.reports),
        "in_quarter": " in a quarter" if several else "",
    }
    facts["terms"] = "" if first.cells else OF_ANY_REPORT + facts["in_quarter"]
    if first.perturbed or any(not _one_region(part) for part in parts):
        rows = f"`{first.reports.name}` has one row per report. "
    else:
        rows = Template(ROWS).substitute(facts)
    rows += COUNTED_LATEST if latest else "To count cases, count ids:"
    text = Template(COUNT_LATEST if latest else COUNT_ONE).substitute(facts, rows=filled(rows))
    if terms:
        item, name = terms[0]
        line = Template(LATEST_LINE).substitute(facts) if latest else ""
        by_term = {"counted": source(item), "term": name, "latest": line}
        frame = KEYED_TERMS if first.term_key else COUNT_TERMS
        text += Template(frame).substitute(facts | by_term)
    return text


def counts_told(part: Manifest) -> str:
    """How counts of items are to be read, where no row shows any; else nothing."""
    names = {"units": UNIT_CELLS, "items": ITEM_CELLS, "pairs": PAIR_CELLS}
    if part.noisy is not None:
        return f"\n{filled(NOISE_TOLD)}\n"
    if part.counted is None or not {*names.values()} <= {item.name for item in part.tables}:
        return ""
    text = REGIONS_COUNTED.format(regions=REGION_CELLS, k=part.k) if part.counts_alone else ""
    text += COUNTS_TOLD.format(**names, tree=TREE, k=part.counted.k)
    sources = {of: source(part.table(name)) for of, name in names.items()}
    return f"\n{filled(text)}\n{Template(COUNTS_QUERY).substitute(sources)}"


def _one_region(manifest: Manifest) -> bool:
    from srsql.engine.models import MODELS

    return manifest.model in MODELS and MODELS[manifest.model].claimed_bounds.unit == "case"


def key_sentences(part: Manifest) -> str:
    """By what terms are compared, behind other sentences; nothing where terms have no key."""
    shown = any(key_pairs(item) for item in part.tables)
    return f" {BY_KEY.format(version=part.term_key)}" if part.term_key and shown else ""


def spelling_rule(part: Manifest) -> str:
    """How terms are spelled and compared, as a paragraph of the README."""
    if not part.term_key:
        return UPPER_CASE
    told = key_sentences(part)
    return filled(f"Terms keep the spelling of the report.{told}" if told else KEYS_ALONE) + "\n"


@of_rows()
def bounds_example(manifest: AnyManifest) -> str:
    """How many cases surely, as expected and possibly meet conditions, as the formula and in SQL;
    nothing of drawn values."""
    parts = quarters_of(manifest)
    last = parts[-1]
    known = [a for a in last.attributes if a.kind == "numeric" and a.high is not None]
    if any(part.perturbed for part in parts) or not known:
        return ""
    nodes = [a for a in last.attributes if a.kind == "categorical"][:1]
    latest = isinstance(manifest, RangeManifest) and bool(joining(last))
    facts = _domain(known[0])
    low, high = (c.name for c in last.reports.columns if c.attribute == known[0].name)
    case = {"case_id": case_column(last), "table": source(last.reports)}
    steps = "round(({}) / " + facts["step"] + ")" if facts["step"] != "1" else "{}"
    met = steps.format(f"t.{high} - greatest(t.{low}, {facts['value']})")
    span = steps.format(f"t.{high} - t.{low}")
    share = Template(SHARE.format(met=f"greatest(0, {met} + 1)", all=f"({span} + 1)")).substitute(
        facts, low=low
    )
    about = {"name": nodes[0].name, "hierarchies": HIERARCHIES} if nodes else {}
    prose = Template(BOUNDS).substitute(
        facts,
        names=" and ".join(a.name for a in (*known[:1], *nodes)),
        step=" ".join([facts["step"], known[0].unit]).strip(),
        low=known[0].low,
        high=known[0].high,
        of_nodes=OF_NODES.format(hierarchies=HIERARCHIES) if nodes else "",
        or_root=" or root" if nodes else "",
    )
    regions = NODES if nodes else NO_NODES
    statement = Template(regions).substitute(case, share=share, low=low, **about)
    statement += "    " + Template(LATEST_LINE).substitute(case) if latest else ""
    text = f"\n{filled(prose)}\n\n    {statement}{Template(SUMS).substitute(case)}"
    return text + (f"\n{filled(ANY_QUARTER)}\n" if latest else "")


def _domain(about: Attribute) -> dict[str, str]:
    """Of an example: a value in the middle of the domain, and how many values are at least that."""
    step, low, high = about.granularity or 1, about.low or 0, about.high or 0
    first, last = math.ceil(low / step), math.floor(high / step)
    middle = (first + last) // 2
    return {
        "step": f"{step:f}" if about.granularity else "1",
        "value": f"{middle * step:f}" if about.granularity else str(middle),
        "met": str(last - middle + 1),
        "all": str(last - first + 1),
    }


@of_rows()
def distinct_cases(manifest: AnyManifest) -> str:
    """How many cases an artifact of several quarters has in all; empty for one quarter."""
    if not isinstance(manifest, RangeManifest):
        return ""
    if any(part.parameters.get("ids") == PER_QUARTER for part in manifest.quarters):
        return (
            "How many distinct cases there are over all quarters cannot be told: ids are new in "
            "every quarter."
        )
    if manifest.released_cases is None:
        return ""
    return f"Over all quarters there are {manifest.released_cases:,} distinct cases."


def emptiness(parts: Sequence[Manifest]) -> str:
    """How many values are empty, and what that may mean; nothing without figures."""
    last, told = parts[-1], list[str]()
    for about in last.attributes:
        counted = [s for p in parts for s in p.shown or () if s.attribute == about.name]
        total = sum(s.single + s.several + s.any for s in counted)
        if total:
            told.append(f"{about.name} of {_of(sum(s.any for s in counted), total)}")
    if not told:
        return ""
    each = ", each case counted in every quarter" if len(parts) > 1 else ""
    return filled(f"Empty, or the root, is {', '.join(told)} cases{each}. {_why(last)}") + "\n"


def _why(part: Manifest) -> str:
    if part.perturbed:
        return "Which values are empty is as in the reports."
    if part.parameters.get("missing") == "drop":
        return (
            "Cases of which a value was not known were left out, so these values were known and "
            "generalized away."
        )
    return (
        "No report of the case in the quarter knew the value, or it was given up so that enough "
        "cases share the region; which of the two is told neither of a case nor in numbers."
    )


def _of(number: int, total: int) -> str:
    return f"{number:,} of {total:,} ({(1000 * number + total // 2) // total / 10} %)"


@of_rows("Values with a threshold of 1 are not protected.")
def unprotected(part: Manifest, *, several: bool) -> str:
    """Which values have a threshold of 1, how many, and how to list them."""
    text = "Values with a threshold of 1 are not protected"
    told, when = part.unprotected, f" in {part.quarter}" if several else ""
    if told is not None and not told.values:
        text += f"; none of the {told.all_values:,} released values{when} has one"
        if not several:
            return filled(f"{text}.") + "\n"
    elif told is not None and told.held:
        text += (
            f": {_of(told.values, told.all_values)} of the released values{when}, and "
            f"{_of(told.held_unprotected, told.held)} where every case counts once with each of "
            "its values"
        )
    listed = f"SELECT * FROM '{THRESHOLDS}' WHERE theta_num = theta_den"
    return f"{filled(text + '. To list them:')}\n\n    {listed}\n"


def words(parts: Sequence[Manifest]) -> str:
    """A short glossary of what the README says, as list items."""
    last = parts[-1]
    promised = [key for key in ATTACKS if key in last.attacks]
    others = [key for key in ATTACKS if key not in last.attacks]
    left = (
        "of the candidates at least so many distinct cases remain after the attacks that are "
        "withstood"
        if promised
        else "every region has at least so many distinct cases"
    )
    defined = [
        "**case, report**: a report is one message about a patient; a case is all reports of one "
        "event.",
        "**quasi-identifier**: what somebody may know of a patient ("
        f"{', '.join(a.name for a in last.attributes)}); **region**: what is published of it.",
        "**node, leaf, root**: a place in a hierarchy of categories, one without others below it, "
        "and the one above all.",
        f"**candidates**: the cases that share a region; **k**: {left}.",
        *_of_parameters(last),
    ]
    if last.dataset in FAERS:
        defined += [
            f"**{name}**: in {COMPLETED[name]}."
            + (" Over 65 is `age_low >= 66`, from 65 on `age_low >= 65`." if name == "age" else "")
            for name in (a.name for a in last.attributes)
            if name in COMPLETED
        ]
    if promised:
        defined.append(f"**attacks** that are withstood: {_attacks(promised)}.")
    defined += [f"**attacks** that are not: {_attacks(others)}.", NOT_DEFENDED]
    return "\n".join(filled(f"* {text}", "  ") for text in defined)


def _attacks(keys: Sequence[str]) -> str:
    """What an attacker does who knows the region and joins releases."""
    return "; ".join(f"{term(key).term} ({ATTACKS[key]} {term(key).short})" for key in keys)


def _of_parameters(part: Manifest) -> Iterator[str]:
    theta, leftovers = part.parameters.get("theta"), part.parameters.get("leftovers")
    if theta is not None:
        how = {
            "frequency": "the most frequent tenth of the values has the threshold 1, the least "
            "frequent tenth 1/5, all others 2/5",
            "levels": "it follows from a file that puts values into groups",
        }.get(str(theta), "it is as told for all values")
        yield (
            "**theta**, a value's threshold: the largest share of the candidates who may have it; "
            f"`{theta}`: {how}."
        )
    if leftovers is not None:
        yield f"**leftovers**: cases that fit into no group; `{leftovers}` is what becomes of them."
    if "ids" in part.parameters:
        yield (
            f"**ids** (`{part.parameters['ids']}`): which ids the series has; **case_ids** of "
            f"`manifest.json` (`{part.case_ids}`): whether publication replaced those once more."
        )


@of_rows()
def ratios(manifest: AnyManifest) -> str:
    """Formulas of disproportionality, and which roles count; nothing without drugs."""
    first = quarters_of(manifest)[0]
    roles = {c.role for item in first.tables for c in item.columns}
    if not {"quasi-sensitive", "sensitive"} <= roles:
        return ""
    coded = first.dataset in FAERS and any(
        c.name == "role_cod" for item in first.tables for c in item.columns
    )
    frame = resources.files("srsql.schemas") / "artifact_ratios.md"
    return Template(frame.read_text(encoding="utf-8")).substitute(role=ROLES if coded else "")
