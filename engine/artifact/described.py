"""What the files of an artifact say of their tables and columns: comments, metadata, union views;
and what its documents for catalogues are made of.

``publish`` writes it; ``verify`` composes it again and compares, so that no file says anything else
than the manifest. Nothing of it calls a function or a macro of whoever opens the file.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from sqlglot import exp

from srsql.engine.artifact.documents import meaning
from srsql.engine.artifact.explained import codes_of, key_sentences
from srsql.engine.artifact.format import (
    DICTIONARY,
    HIERARCHIES,
    QUARTER,
    TERM_TABLES,
    THRESHOLDS,
    AnyManifest,
    Column,
    Manifest,
    QuarterManifest,
    RangeManifest,
    Stated,
    Table,
    quarters_of,
    stored_columns,
)
from srsql.engine.catalog.series import PER_QUARTER
from srsql.engine.store.statements import column, dotted, literal, table, union_all

LATEST = "case_latest"
"""Table of a DuckDB file of several quarters: each case and its latest quarter."""
ARROW_SCHEMA = "ARROW:schema"
"""Where Parquet keeps the Arrow schema, with the metadata of its fields (Arrow's own key)."""
Comment = tuple[str, tuple[str, ...], str]
"""``comment on table``, ``view`` or ``column``; what it is called; the text."""
OF_TERMS = {
    "clusters": "clusters of records whose terms are told apart from them",
    "joint_clusters": "clusters that share chunks",
    "record_chunk": "what the records of a cluster hold of some terms, apart from all others",
    "shared_chunk": "the same of several clusters together",
    "item_chunk": "terms that one record of a cluster holds, or any number up to all, or up to "
    "item_cases where the manifest has it",
    "reconstructed": "one dataset that fits the chunks, as good as any other; no patients",
}
SPDX = "https://spdx.org/licenses/"
NAMESPACE = uuid.UUID("6f0d2c1e-6d0b-5a44-9a55-0c2d7f7f6b11")
"""Of the names of artifacts that have no page; drawn once."""
KEYWORDS = ("pharmacovigilance", "adverse drug reactions", "spontaneous reports", "anonymized")
Json = dict[str, Any]
OF_LATEST = "each case and the latest quarter that has it, to count a case once"


def table_meaning(manifest: Manifest, name: str) -> str:
    """A table in words."""
    when = f"{manifest.dataset}, {manifest.quarter}"
    if manifest.terms is not None and name in TERM_TABLES:
        return f"{OF_TERMS[name]} ({when})"
    if name == manifest.report_table:
        return f"one row per released report, with the region of its case ({when})"
    return f"released rows of {name}, by report ({when})"


def column_meaning(manifest: Manifest, shown: Column) -> str:
    """A column in words, with its domain and granularity."""
    known = {attribute.name: attribute for attribute in manifest.attributes}
    about = known.get(shown.attribute or "")
    followed = manifest.parameters.get("ids") != PER_QUARTER
    keyed = manifest.term_key > 0
    text = meaning(shown, about, followed=followed, known=codes_of(manifest), keyed=keyed)
    if about is not None and about.low is not None:
        text += f"; domain {about.low} to {about.high}, granularity {about.granularity}"
    return text


def ids_follow(manifest: Manifest) -> bool:
    """Whether a case has the same id in every quarter, so that one can be its latest."""
    return manifest.report_table is not None and manifest.parameters.get("ids") != PER_QUARTER


def schema_name(manifest: Manifest) -> str:
    """Schema of a DuckDB file with the tables of a quarter."""
    return manifest.schema_name if isinstance(manifest, QuarterManifest) else "main"


def comments(parts: Sequence[Manifest]) -> Iterator[Comment]:
    """Every comment of a DuckDB file."""
    for part in parts:
        for item in part.tables:
            name = (schema_name(part), item.name)
            yield "comment on table", name, table_meaning(part, item.name)
            for shown in item.columns:
                yield "comment on column", (*name, shown.name), column_meaning(part, shown)
    if not isinstance(parts[0], QuarterManifest):
        return
    for item in parts[0].tables:
        text = table_meaning(parts[0], item.name).rpartition(" (")[0]
        yield "comment on view", ("main", item.name), f"{text}; all quarters together"
    if ids_follow(parts[0]):
        yield "comment on table", ("main", LATEST), OF_LATEST


def comment_statement(database: str, comment: Comment) -> str:
    """``COMMENT ON`` of an attached file, which takes no parameter."""
    kind, name, text = comment
    return f"{kind} {dotted(database, *name)} is {literal(text)}"


def union_view(parts: Sequence[Manifest], name: str) -> exp.Query:
    """All quarters of a table, by names that hold whatever the file is attached as."""
    rows: list[exp.Query] = []
    for part in parts:
        item = part.table(name)
        shown: list[exp.Expr] = [column(c.name, "t") for c in item.columns]
        if all(c.role != "period" for c in item.columns):
            shown.insert(0, exp.Literal.string(part.quarter).as_(QUARTER, quoted=True))
        rows.append(exp.select(*shown).from_(table(schema_name(part), name, alias="t")))
    return union_all(rows)


def latest_query(parts: Sequence[Manifest], sources: Sequence[exp.Expr]) -> exp.Select:
    """Each case and its latest quarter, in the order of the cases.

    Args:
        parts: the quarters.
        sources: where the report table of each is.
    """
    rows: list[exp.Query] = []
    name = _case_id(parts[0])
    for part, source in zip(parts, sources, strict=True):
        quarter = exp.Literal.string(part.quarter).as_(QUARTER, quoted=True)
        shown = column(_case_id(part), "t").as_(name, quoted=True)
        rows.append(exp.select(shown, quarter).from_(exp.alias_(source, "t", table=True)))
    latest = exp.func("max", column(QUARTER, "u")).as_(QUARTER, quoted=True)
    return (
        exp.select(column(name, "u"), latest)
        .from_(union_all(rows).subquery("u"))
        .group_by(column(name, "u"))
        .order_by(column(name, "u"))
    )


def _case_id(manifest: Manifest) -> str:
    named = {shown.role: shown.name for shown in manifest.reports.columns}
    return named.get("case id", named["report id"])


def parquet_metadata(manifest: Manifest, item: Table) -> dict[str, str]:
    """Key-value metadata of the file of a table.

    The description of every column, by its name behind ``column:``, and the Arrow schema whose
    fields have the same as their metadata (``description``), which pyarrow and R's arrow show.
    """
    columns = stored_columns(manifest, item)
    told = {shown.name: column_meaning(manifest, shown) for shown in columns}
    text = table_meaning(manifest, item.name)
    if isinstance(manifest, QuarterManifest):
        text = text.rpartition(" (")[0]
    fields = [
        pa.field(shown.name, _arrow_type(shown), metadata={"description": told[shown.name]})
        for shown in columns
    ]
    schema = pa.schema(fields, metadata={"description": text})
    return {
        "description": text,
        **{f"column:{name}": words for name, words in told.items()},
        ARROW_SCHEMA: base64.b64encode(schema.serialize().to_pybytes()).decode(),
    }


def same_metadata(found: dict[bytes, bytes], due: dict[str, str]) -> bool:
    """Whether a file has this metadata; Arrow may write the same schema in other bytes."""
    told = {name.decode(errors="replace"): text for name, text in found.items()}
    schema, wanted = told.pop(ARROW_SCHEMA, b""), base64.b64decode(due[ARROW_SCHEMA])
    if told != {n: t.encode() for n, t in due.items() if n != ARROW_SCHEMA}:
        return False
    try:
        given = base64.b64decode(schema, validate=True)
        read = [pa.ipc.read_schema(pa.py_buffer(each)) for each in (given, wanted)]
    except (ValueError, OSError, pa.ArrowException):
        return False
    return bool(read[0].equals(read[1], check_metadata=True))


def _arrow_type(shown: Column) -> pa.DataType:
    if shown.type == "BIGINT":
        return pa.int64()
    if shown.type == "VARCHAR":
        return pa.string()
    return pa.decimal128(18, int(shown.type.removeprefix("DECIMAL(18, ").removesuffix(")")))


def copy_statement(rows: exp.Query, form: str, metadata: dict[str, str]) -> str:
    """``COPY (rows) TO ?``, whose options take no parameter; CSV stays plain."""
    options = "FORMAT csv, HEADER"
    if form == "parquet":
        entries = ", ".join(f"{literal(name)}: {literal(told)}" for name, told in metadata.items())
        options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{entries}}}"
    return f"COPY ({rows.sql('duckdb')}) TO ? ({options})"


def period_of(parts: Sequence[Manifest]) -> str:
    """The quarters of an artifact in words."""
    first, last = parts[0].quarter, parts[-1].quarter
    return first if first == last else f"{first} to {last}"


def withheld_of(parts: Sequence[Manifest]) -> str:
    """How much is withheld, in words."""
    counts = [part.counts for part in parts]
    if any(each.withheld_cases is None or each.withheld_reports is None for each in counts):
        return "how many were withheld is not told, as with every model with noise"
    cases = sum(each.withheld_cases or 0 for each in counts)
    reports = sum(each.withheld_reports or 0 for each in counts)
    if not reports:
        return "no case was withheld"
    return f"{cases:,} cases in {reports:,} reports were withheld, since the bounds need that"


def asked_columns(manifest: Manifest, item: Table) -> tuple[Column, ...]:
    """The columns of a table as it is read: of several quarters of a DuckDB file, its view."""
    if manifest.format != "duckdb":
        return stored_columns(manifest, item)
    return stored_columns(manifest.model_copy(update={"format": "parquet"}), item)


def described_files(manifest: AnyManifest) -> tuple[str, ...]:
    """The files that the documents describe: those of rows, and the small ones beside them."""
    tables = dict.fromkeys(item.file for item in quarters_of(manifest)[0].tables)
    return (*tables, DICTIONARY, THRESHOLDS, HIERARCHIES)


class About:
    """What the documents for catalogues are made of."""

    def __init__(self, manifest: AnyManifest, sizes: Mapping[str, int]) -> None:
        self.manifest, self.sizes = manifest, sizes
        self.parts = quarters_of(manifest)
        self.first, self.last = self.parts[0], self.parts[-1]
        self.stated = self.last.stated or Stated()
        self.several = len(self.parts) > 1
        self.form = self.first.format

    @property
    def base(self) -> str:
        """What names in the documents begin with: the page of the artifact, or its contents."""
        if self.stated.landing_page:
            return self.stated.landing_page
        told = [item.content_sha256 for part in self.parts for item in part.tables]
        return f"urn:uuid:{uuid.uuid5(NAMESPACE, ' '.join(told))}"

    def named(self, *words: str) -> str:
        """The name of a thing that the documents tell of: several series can have one page."""
        of = (self.manifest.dataset, self.manifest.series, *words)
        return f"{self.base}#{'-'.join(quote(word, safe='') for word in of)}"

    @property
    def ends(self) -> tuple[str, ...]:
        """The first and the last quarter, or the one."""
        return tuple(dict.fromkeys((self.first.quarter, self.last.quarter)))

    @property
    def iri(self) -> str:
        """The name of the artifact."""
        return self.named("artifact", *self.ends)

    @property
    def title(self) -> str:
        """The artifact in a few words."""
        return (
            f"{self.stated.source or self.manifest.dataset}, {period_of(self.parts)}: anonymized "
            "adverse-event reports"
        )

    @property
    def text(self) -> str:
        """The artifact in some sentences."""
        told = "; ".join(
            f"{part.quarter}: {part.counts.released_cases:,} cases in "
            f"{part.counts.released_reports:,} reports, model {part.model} with k = {part.k}"
            for part in self.parts
        )
        promised = " ".join(dict.fromkeys(part.guarantee for part in self.parts))
        return (
            f"Anonymized adverse-event reports of series {self.manifest.series}, made by srsql "
            f"{self.manifest.software_version}. {told}; {withheld_of(self.parts)}. {promised}"
            f"{key_sentences(self.first)}"
        )

    @property
    def distinct_cases(self) -> int | None:
        """Cases, each once whatever the number of its quarters; None: ids do not follow them."""
        if isinstance(self.manifest, RangeManifest):
            return self.manifest.released_cases
        return self.first.counts.released_cases

    @property
    def issued(self) -> str | None:
        """The day of the last release."""
        days = [part.parameters.get("release_date") for part in self.parts]
        return max((str(day) for day in days if day), default=None)

    @property
    def version(self) -> str:
        """As Croissant counts versions: rows that changed since make another major one."""
        earlier = sum(part.earlier_releases.count(part.quarter) for part in self.parts)
        return f"{1 + earlier}.0.0"

    @property
    def license(self) -> str | None:
        """The licence as a page."""
        told = self.stated.license
        return f"{SPDX}{told}" if told and "://" not in told else told


def present(document: Json) -> Json:
    """What is not known is not named."""
    return {name: value for name, value in document.items() if value not in (None, [], {})}
