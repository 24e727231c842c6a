"""The documents of an artifact that follow from its manifest: dictionary, README, term counts.

`publish` writes them; `verify` writes them again and compares, so that neither can say anything
else than the manifest. The public report follows from the rows as well: `publish` has it from the
warehouse, `verify` has it drawn once more.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from string import Template

import pyarrow as pa

from srsql.engine.artifact.explained import (
    bounds_example,
    codes_of,
    counting,
    counts_told,
    distinct_cases,
    emptiness,
    spelling_rule,
    unprotected,
    words,
)
from srsql.engine.artifact.format import (
    COUNTS,
    DICTIONARY,
    DUCKDB_FILE,
    HIERARCHIES,
    MANIFEST,
    NOT_IDS,
    OF_PERIOD,
    REPORT,
    THRESHOLDS,
    Attribute,
    Column,
    Manifest,
    QuarterManifest,
    RangeManifest,
    Table,
    quarters_of,
)
from srsql.engine.catalog.series import IDS, PER_QUARTER
from srsql.engine.risk.singling_out import (
    DRUGS_OR_TERMS,
    ITEMS,
    MEASURED,
    SMALL_SETS,
    share_text,
)
from srsql.engine.store.frames import csv_safe
from srsql.engine.store.statements import statements

COUNTS_HEAD = """-- How many records hold all terms of a set: lower and upper bound it, expected
-- is the mean over all datasets that fit what is released. Load the tables of this folder under
-- their names, put the sets into a table sets(set_no, term), run this file in DuckDB, then ask:
--     SELECT * FROM term_counts(
--         'clusters', 'joint_clusters', 'record_chunk', 'shared_chunk', 'item_chunk', 'sets',
--         NULL);
-- Where manifest.json has item_cases, an item of an item chunk is in so many records of its cluster
-- at most: that number in the place of NULL says so, and upper is lower.
"""
MEANING = {
    "report id": "the report",
    "case id": "the case: one individual's event, the same in all its reports and in every quarter",
    "period": "the quarter of the release",
    "lower bound": "least possible {attribute}, inclusive{unit}; empty: not known, or given up",
    "upper bound": "greatest possible {attribute}, inclusive{unit}; empty: not known, or given up",
    "node": "node of the hierarchy of {attribute}; its root: anything, not known, or given up",
    "sensitive": "as reported; bounded by its threshold",
    "quasi-sensitive": "as reported",
    "term key": "key of {spelling}: two spellings with the same key are one term; count and "
    "compare by it",
    "serial number": "numbers the rows of a report; not unique over reports",
    "published as it is": "as reported",
    "derived": "a class made from other columns by the rule that the manifest tells (derived)",
    "cluster": "cluster of records",
    "records": "records in the cluster; a chunk has so many subrecords, most may be empty",
    "joint cluster": "clusters that share chunks",
    "chunk": "terms that are told together, apart from all others",
    "subrecord": "what one record of the cluster holds of the chunk; no place is that of a record",
    "record": "a record made up of subrecords at random, not one of a patient",
    "term": "as reported, in upper case",
    "stratum": "name of a stratum of cases (table stratum); the root is all",
    "cut": "what parts the stratum from its sibling: regions within value, or from low to under "
    "below, are inside (1), all others are not (0)",
    "counted column": "the column of which a value is counted",
    "cases": "cases that the region or stratum has and that hold what is named; what is not told "
    "of a stratum is 0, or any number up to the least told count that it is part of",
    "noisy cases": "cases that hold what is named, of each so many values at most, with noise",
    "noise": "what the noise of a table of counts is (see the README)",
}


DUCKDB_NOTE = """
The rows of a quarter are in the schema `release_QUARTER`; the views of `main` have all quarters,
and the table `main.case_latest` each case with its latest quarter. There are no macros: what there
is to compute stands in this page and its files as SQL.
"""
OF_QUARTER = "the case: one individual's event, the same in all its reports of this quarter alone"
NO_DAY = "a day that is not told"
"""Of releases of earlier versions, which kept none."""
AS_RELEASED = "Case and report ids are as they were released."
"""Of artifacts that do not say which ids their series has: older ones, and those without rows."""
NO_IDS = "No row is a case's, and no id is released: quarters count different cases."
IN_ORDER = " Rows stand in the order of their ids."
OF_KEYS = "key of a term, whatever its spelling in the reports"
TERMS_NOTE = """The terms of {attributes} are told apart from records, {form}. A record chunk
lists what the records of a cluster hold of some terms, in an order that means nothing; a shared
chunk does so for several clusters together; an item chunk names terms that one record of the
cluster holds, or any number up to all, or up to item_cases where `{manifest}` has it. `{counts}`
says how many records hold several terms at once; `reconstructed` is one dataset that fits all of
it, as good as any other.
""".replace("{counts}", COUNTS).replace("{manifest}", MANIFEST)


CSV_SAFE_NOTE = """
In the CSV files of this folder, a cell that a spreadsheet would run as a formula has an apostrophe
in front of it: a cell that begins, apostrophes aside, with =, +, -, @, a tab or a carriage return
and is no number. A program that reads them takes one apostrophe off such cells.
"""


def counts_sql() -> bytes:
    """``srsql.term_counts`` of ``risk/term_counts.sql`` under plain names, with its use."""
    macros = [
        text[text.index("CREATE ") :].partition("\n-- What:")[0].rstrip().removesuffix(";")
        for text in statements("srsql.sql_macros", "risk/term_counts.sql")
        if "MACRO srsql.term_counts" in text
    ]
    text = ";\n\n".join([*macros, ""]).rstrip() + "\n"
    return (COUNTS_HEAD + text.replace("srsql.term_counts", "term_counts")).encode()


def dictionary_csv(manifest: Manifest) -> bytes:
    """One row per published column: what it means, its unit and domain."""
    known = {attribute.name: attribute for attribute in manifest.attributes}
    followed = manifest.parameters.get("ids") != PER_QUARTER
    rows = []
    for table in manifest.tables:
        for column in _asked_columns(manifest, table):
            about = known.get(column.attribute or "")
            rows.append(
                [
                    table.name,
                    column.name,
                    column.type,
                    column.role,
                    meaning(
                        column,
                        about,
                        followed=followed,
                        known=codes_of(manifest),
                        keyed=manifest.term_key > 0,
                    ),
                    about.unit if about else "",
                    "" if about is None or about.low is None else f"{about.low} to {about.high}",
                    "" if about is None or about.granularity is None else str(about.granularity),
                ]
            )
    return csv_bytes(
        ["table", "column", "type", "role", "meaning", "unit", "domain", "granularity"],
        rows,
        safe=manifest.csv_safe,
    )


def meaning(
    column: Column,
    attribute: Attribute | None,
    *,
    followed: bool = True,
    known: Mapping[str, str] | None = None,
    keyed: bool = False,
) -> str:
    """A column in words.

    Args:
        column: of a table.
        attribute: the quasi-identifier that it is of, if any.
        followed: a case has the same id in every quarter.
        known: what the values of columns and quasi-identifiers say, by name.
        keyed: terms are compared by their key.
    """
    if column.role == "case id" and not followed:
        return OF_QUARTER
    told = (known or {}).get(attribute.name if attribute else column.name)
    if told and attribute is None:
        return told
    unit = f" (in {told or attribute.unit})" if attribute and attribute.unit else ""
    words = OF_KEYS if keyed and column.role == "term" else MEANING[column.role]
    spelling = column.name.removesuffix("_key")
    return words.format(attribute=column.attribute, unit=unit, spelling=spelling)


def readme(manifest: Manifest) -> bytes:
    """The page a reader opens first; its frame is ``schemas/artifact_readme.md``."""
    counts, tables, terms = manifest.counts, manifest.tables, manifest.terms
    documents = {
        REPORT: "sizes and widths of regions, thresholds and signals of this release, for a "
        "browser.",
        COUNTS: "how many records hold a set of terms: least, mean and most, as SQL to run.",
    }
    with_rows = any(c.role == "report id" for t in tables for c in t.columns)
    there = ([REPORT] if with_rows else []) + ([COUNTS] if terms else [])
    frame = (resources.files("srsql.schemas") / "artifact_readme.md").read_text(encoding="utf-8")
    parameters = sorted({**manifest.parameters, "k": manifest.k}.items())
    text = Template(frame).substitute(
        title=f"{manifest.dataset}, {manifest.quarter}",
        model=manifest.model,
        guarantee=manifest.guarantee,
        parameters="\n".join(f"* {name}: {value}" for name, value in parameters),
        day=manifest.parameters.get("release_date", NO_DAY),
        released=f"{counts.released_cases:,} cases, {counts.released_reports:,} reports",
        withheld=(
            "not told, as with every model with noise"
            if counts.withheld_cases is None
            else f"{counts.withheld_cases:,} cases, {counts.withheld_reports:,} reports"
        ),
        tables="\n".join(
            f"| `{t.name}` | `{t.file}` | {t.rows:,} | {', '.join(c.name for c in t.columns)} |"
            for t in tables
        ),
        stated=_stated(manifest) + _late([manifest]),
        ids=_ids(manifest) + ("" if manifest.counts_alone else IN_ORDER),
        query=_first_query(tables[0]),
        dictionary=DICTIONARY,
        documents="\n".join(f"* `{name}`: {documents[name]}" for name in there),
        beside=_beside(manifest, several=False),
        counting=_then(counting(manifest)),
        empty=emptiness([manifest]),
        spelling=spelling_rule(manifest),
        unprotected=unprotected(manifest, several=False),
        words=words([manifest]),
        terms=(_terms_note(manifest) if terms else "")
        + counts_told(manifest)
        + (CSV_SAFE_NOTE if manifest.csv_safe else ""),
        bounds=bounds_example(manifest),
        thresholds=THRESHOLDS,
        hierarchies=HIERARCHIES,
    )
    return text.encode()


def range_readme(manifest: RangeManifest) -> bytes:
    """The first page of an artifact of several quarters; frame: ``artifact_series_readme.md``."""
    parts = quarters_of(manifest)
    first, last = parts[0], parts[-1]
    frame = resources.files("srsql.schemas") / "artifact_series_readme.md"
    stored = first.tables[0].file
    shown = {item.name: [c.name for c in _asked_columns(first, item)] for item in first.tables}
    rows = {i.name: sum(part.table(i.name).rows for part in parts) for i in first.tables}
    models = {part.model: part.guarantee for part in parts}
    terms = [part.terms for part in parts if part.terms]
    text = Template(frame.read_text(encoding="utf-8")).substitute(
        title=f"{manifest.dataset}, {first.quarter} to {last.quarter}",
        series=manifest.series,
        guarantee="\n\n".join(
            f"`{model}` (k = {', '.join(sorted({str(p.k) for p in parts if p.model == model}))}): "
            f"{told}"
            for model, told in models.items()
        ),
        quarters="\n".join(_quarter_row(part) for part in parts),
        tables="\n".join(
            f"| `{i.name}` | `{i.file}` | {rows[i.name]:,} | {', '.join(shown[i.name])} |"
            for i in first.tables
        ),
        layout=DUCKDB_NOTE if stored == DUCKDB_FILE else "",
        stated=_stated(last) + _late(parts),
        ids=_ids(last),
        total=_then(_total(manifest)),
        counting=_then(counting(manifest)),
        empty=emptiness(parts),
        spelling=spelling_rule(first),
        unprotected=unprotected(last, several=True),
        words=words(parts),
        dictionary=DICTIONARY,
        thresholds=THRESHOLDS,
        hierarchies=HIERARCHIES,
        beside=_beside(last, several=True),
        terms=(_terms_note(next(p for p in parts if p.terms)) if terms else "")
        + counts_told(last)
        + (CSV_SAFE_NOTE if first.csv_safe else ""),
        bounds=bounds_example(manifest),
        query=_first_query(first.tables[0]),
        counts=f"* `{COUNTS}`: how many records hold a set of terms, of one quarter.\n"
        if terms
        else "",
    )
    return text.encode()


def _terms_note(manifest: Manifest) -> str:
    """How terms that are told apart from records are to be read."""
    attributes = manifest.terms.attributes if manifest.terms else ()
    form = "each by its key" if manifest.term_key else "in upper case"
    return "\n" + TERMS_NOTE.format(attributes=", ".join(attributes), form=form)


def _asked_columns(manifest: Manifest, item: Table) -> tuple[Column, ...]:
    """The columns of a table as it is asked for: of several quarters, the view over all."""
    if not isinstance(manifest, QuarterManifest) or any(c.role == "period" for c in item.columns):
        return item.columns
    return (OF_PERIOD, *item.columns)


def _quarter_row(part: Manifest) -> str:
    counts = part.counts
    withheld = "not told" if counts.withheld_cases is None else f"{counts.withheld_cases:,}"
    report = f"`{part.report_file}`" if part.report_table is not None else "none"
    day, theta = (part.parameters.get(name) for name in ("release_date", "theta"))
    return (
        f"| {part.quarter} | {day or NO_DAY} | {part.model} | {part.k} | {theta or ''} | "
        f"{counts.released_cases:,} | {counts.released_reports:,} | {withheld} | {report} |"
    )


def _ids(manifest: Manifest) -> str:
    if manifest.counts_alone:
        return NO_IDS
    told = str(manifest.parameters.get("ids"))
    if manifest.case_ids == "pseudonym" and told != PER_QUARTER:
        return (
            "Case and report ids are pseudonyms under a key that is not part of this folder. The "
            "same case has the same pseudonym in every quarter published under that key."
        )
    return IDS.get(told, AS_RELEASED)


def _late(parts: Sequence[Manifest]) -> str:
    """That periods are those of publication, where reports may come late; else nothing."""
    told = {part.quarter: part.parameters.get("late_cases") for part in parts}
    late = ", ".join(f"{cases} of {quarter}" for quarter, cases in told.items() if cases)
    if not late:
        return ""
    return (
        "A period is that of publication. Reports that came when the period of their receipt was "
        f"out are in the next one; cases that came late: {late}. Counts by period are counts by "
        "publication, not by receipt.\n\n"
    )


def _stated(manifest: Manifest) -> str:
    """Licence, citation and contact; nothing where they are not stated."""
    told = manifest.stated.model_dump() if manifest.stated else {}
    named = [
        f"{words}: {told[name]}."
        for name, words in (
            ("publisher", "Published by"),
            ("license", "Licence"),
            ("cite_as", "Cite as"),
            ("contact", "Questions to"),
            ("landing_page", "Page"),
        )
        if told.get(name)
    ]
    return " ".join(named) + "\n\n" if named else ""


def _total(manifest: RangeManifest) -> str:
    """Distinct cases, beside what the table of quarters adds up to."""
    told = distinct_cases(manifest)
    added = sum(part.counts.released_cases for part in manifest.quarters)
    several = f" Added up over quarters, which counts a case in each, they are {added:,}."
    return told + (several if manifest.released_cases is not None else "")


def _then(text: str) -> str:
    """A paragraph that another one follows; nothing of nothing."""
    return text and text.rstrip("\n") + "\n\n"


def _beside(part: Manifest, *, several: bool) -> str:
    """What the models do not protect; nothing in artifacts that do not tell."""
    parameters = part.parameters
    measured = parameters.get(MEASURED)
    cases = f"{measured:,} cases" if isinstance(measured, int) else "the cases"
    cases += f" of {part.quarter}" if several else ""
    if "published_verbatim" not in parameters:
        return ""
    text = (
        f"Protected: {parameters['protected']}. Published as the reports have them: "
        f"{parameters['published_verbatim']}.\n"
    )
    if parameters["published_verbatim"] == "none" and "below_k_percent_2_items" in parameters:
        text += (
            "Who knows the protected values of a patient and one of the patient's drugs or terms\n"
            "is left with fewer than k candidates in {} of {cases};\n"
            "who knows two of them, in {}.\n".format(
                *(share_text(parameters, f"below_k_percent_{n}") for n in SMALL_SETS), cases=cases
            )
        )
    elif "one_candidate_percent_2_items" in parameters:
        items = parameters.get(ITEMS, DRUGS_OR_TERMS)
        text += (
            f"Who knows the protected values of a patient and one of the patient's {items}\n"
            "can be left with one candidate in {} of {cases};\n"
            "who knows two of them, in {}.\n".format(
                *(share_text(parameters, f"one_candidate_percent_{n}") for n in SMALL_SETS),
                cases=cases,
            )
        )
    if "exact_values_percent_some_row" in parameters:
        text += (
            "The ends of a region are values of rows of it. In {exact_values_percent_every_row} % "
            "of the cases{of} it has one\nvalue in each column that it shows; in "
            "{exact_values_percent_some_row} % at most exact values of some row of it follow.\n"
        ).format(**parameters, of=f" of {part.quarter}" if several else "")
    return text + "\n"


def _first_query(table: Table) -> str:
    """A command that counts the rows of a table, from within the folder."""
    if table.file == DUCKDB_FILE:
        opened, source = f"duckdb {DUCKDB_FILE} -c", table.name
    else:
        reader = "read_csv" if table.file.endswith(".csv") else "read_parquet"
        opened, source = "duckdb -c", f"{reader}('{table.file}')"
    return f'{opened} "SELECT count(*) AS rows FROM {source}"'


def csv_bytes(header: list[str], rows: Iterable[Sequence[object]], *, safe: bool = False) -> bytes:
    """One of the small CSV files: every field quoted; ``safe``: none of them a formula."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(csv_safe, row) if safe else row for row in rows)
    return text.getvalue().encode()


def public_manifest(thresholds: Iterable[tuple[str, int, int]], manifest: Manifest) -> pa.Table:
    """The one row of the release's public manifest, as far as the artifact tells it."""
    counts = {n: v for n, v in manifest.counts.model_dump().items() if v is not None}
    listed = [
        {"value": value, "theta": num / den if den else None} for value, num, den in thresholds
    ]
    row = {
        "quarter": manifest.quarter,
        "dataset": manifest.dataset,
        "dataset_version": manifest.dataset_version,
        "dataset_fingerprint": manifest.dataset_fingerprint,
        "software_version": manifest.software_version,
        "model": manifest.model,
        "guarantee": manifest.guarantee,
        "k": manifest.k,
        "attacks": ",".join(manifest.attacks) or "none",
        **{name: told for name, told in manifest.parameters.items() if name != NOT_IDS},
        **{f"{table.name}_rows": table.rows for table in manifest.tables},
        **counts,
    }
    entry = pa.struct([("value", pa.string()), ("theta", pa.float64())])
    columns = {name: pa.array([value]) for name, value in row.items()}
    return pa.table({**columns, "thresholds": pa.array([listed], pa.list_(entry))})
