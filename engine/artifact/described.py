"""What the files of an artifact say of their tables and columns: comments, metadata, union views.

``publish`` writes it; ``verify`` composes it again and compares, so that no file says anything else
than the manifest. Nothing of it calls a function or a macro of the reader.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

import pyarrow as pa
from sqlglot import exp

from srsql.engine.artifact.documents import meaning
from srsql.engine.artifact.explained import codes_of
from srsql.engine.artifact.format import (
    DICTIONARY,
    HIERARCHIES,
    ITEM_CELLS,
    NOISE,
    NOISY_ITEMS,
    NOISY_PAIRS,
    NOISY_UNITS,
    PAIR_CELLS,
    QUARTER,
    REGION_CELLS,
    TERM_TABLES,
    THRESHOLDS,
    TREE,
    UNIT_CELLS,
    AnyManifest,
    Column,
    Manifest,
    QuarterManifest,
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
OF_COUNTS = {
    REGION_CELLS: "cases that no earlier release has, by region",
    TREE: "strata of cases by what their rows show, each with what parts it from its sibling",
    UNIT_CELLS: "cases that no earlier release has, by stratum",
    ITEM_CELLS: "cases of them that hold a value, by stratum; of a wider one the sum",
    PAIR_CELLS: "cases of them that hold two values, by stratum; of a wider one the sum",
}
OF_NOISE = {
    NOISE: "the noise of each table of counts: epsilon, delta, counts that a case adds 1 to at "
    "most, scale, threshold, expected error, and margin at 95 %",
    NOISY_UNITS: "cases that no earlier release counts, by stratum, with noise",
    NOISY_ITEMS: "cases of them that hold a value, by stratum, with noise",
    NOISY_PAIRS: "cases of them that hold two values, by stratum, with noise",
}
OF_LATEST = "each case and the latest quarter that has it, to count a case once"


def table_meaning(manifest: Manifest, name: str) -> str:
    """A table in words."""
    when = f"{manifest.dataset}, {manifest.quarter}"
    if manifest.terms is not None and name in TERM_TABLES:
        return f"{OF_TERMS[name]} ({when})"
    if manifest.counted is not None and name in OF_COUNTS:
        return f"{OF_COUNTS[name]} ({when})"
    if manifest.noisy is not None and name in OF_NOISE:
        return f"{OF_NOISE[name]} ({when})"
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


def described_files(manifest: AnyManifest) -> tuple[str, ...]:
    """The files that the documents describe: those of rows, and the small ones beside them."""
    tables = dict.fromkeys(item.file for item in quarters_of(manifest)[0].tables)
    return (*tables, DICTIONARY, THRESHOLDS, HIERARCHIES)
