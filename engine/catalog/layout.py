"""Names of what the warehouse stores: raw tables, released tables, and their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from srsql.engine.errors import DatasetError
from srsql.engine.store.statements import table, temporary
from srsql.schemas import Dataset, Qid, Table

NAMES_CASES: dict[str, Literal["release_id", "dataset"]] = {
    "member": "release_id",
    "withheld": "release_id",
    "counted_person": "release_id",
    "waiting": "release_id",
    "taken_case": "release_id",
    "budget_ledger": "dataset",
    "replaced_case": "dataset",
    "deleted_case": "dataset",
}
"""Table of the catalog whose ``case_id`` names a case, or its token once it is forgotten -> the
column that tells of which dataset: by its release, or by itself."""
ERASED_BY_CASE = {
    "id_pseudonym": ("case_id",),
    "suspected_duplicate": ("case_id", "other_case_id"),
}
"""Table of the catalog that has rows of datasets, all of which go that name a forgotten case -> the
columns that name cases."""
OF_RELEASE = (
    "case_qid", "case_term", "suppressed", "member", "region", "threshold", "withheld",
    "asked_threshold", "waiting", "taken_case",
    "attribute", "case_flag", "defended_attack", "claim", "ss_rule", "measure",
    "external_knowledge", "perturbation", "perturbed", "disassociated",
    "utility_constraint", "lattice", "lattice_node", "verdict", "verdict_group",
    "person_count", "counted_person", "foreign_count", "release_key", "release",
)  # fmt: skip
"""Tables of the catalog that have rows of a release, in which order they go with a draft."""
COPIED_WHOLE = (
    "attribute", "defended_attack", "claim", "ss_rule", "external_knowledge", "perturbation",
    "person_count", "counted_person", "asked_threshold",
)  # fmt: skip
"""Tables of the catalog of which a corrected release has all rows of the version before."""
COPIED_BY_CASE = {
    "member": ("kept", "case_no"),
    "case_flag": ("kept", "case_no"),
    "region": ("kept", "group_id", "position"),
    "case_qid": ("known", "case_no", "position"),
    "case_term": ("known", "case_no", "term_no"),
    "suppressed": ("kept", "case_no", "term_no"),
    "perturbed": ("kept", "case_no", "position"),
}
"""Those of which it has the rows of the cases that are kept, or also of those that are withheld now
(known); and what the rows are ordered by, whose first column tells whose a row is."""


def raw_table(dataset: Dataset, name: str, alias: str | None = None) -> exp.Table:
    """The ingested rows of one source table, all periods together.

    Of a series that holds cases back: as its releases take them (see ``waiting``).
    """
    if dataset.intake:
        return temporary(f"{dataset.intake} {name}", alias=alias)
    return table(f"raw_{dataset.name}", name, alias=alias)


def same_id(dataset: Dataset, own: exp.Expr, kept: exp.Expr) -> exp.Expr:
    """Whether an id of a raw table is the one that the catalog keeps as text: numbers are compared
    as numbers, which are joined faster."""
    if dataset.id_type == "integer":
        kept = exp.TryCast(this=kept, to=exp.DataType.build("BIGINT", dialect="duckdb"))
    return exp.EQ(this=own, expression=kept)


def derived(name: str) -> str:
    """Column of a raw table that holds a QID in granules or labels, or a normalized term."""
    return f"srsql_{name}"


def raw_columns(dataset: Dataset, declared: Table) -> dict[str, str]:
    """Name -> type of every column of a raw table, in order.

    Raises:
        DatasetError: two columns would get the same name.
    """
    ids = "BIGINT" if dataset.id_type == "integer" else "VARCHAR"
    pairs = [("quarter", "VARCHAR"), (derived("line"), "BIGINT")]
    pairs += [(n, ids if n in dataset.id_columns else "VARCHAR") for n in source_columns(declared)]
    if declared.name == dataset.report_table:
        pairs += [(made.name, "VARCHAR") for made in dataset.derived]
    pairs += [
        (derived(qid.name), "BIGINT" if qid.kind == "numeric" else "VARCHAR")
        for qid in qids_of(dataset, declared)
    ]
    pairs += [(derived(name), "VARCHAR") for name in term_placeholders(dataset, declared)]
    columns = dict(pairs)
    if len(columns) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DatasetError(
            f"table {declared.name}: column {twice!r} would be there twice in the warehouse: give "
            "the declared column or quasi-identifier another name (with the file's name as its "
            "alias)"
        )
    return columns


def source_columns(declared: Table) -> list[str]:
    """The declared columns, the unpivoted ones last; of composite keys all parts are declared."""
    return [*declared.key, *(c.name for c in declared.columns), *declared.unpivot]


def qids_of(dataset: Dataset, declared: Table) -> tuple[Qid, ...]:
    """The quasi-identifiers of a table."""
    return dataset.qid if declared.name == dataset.report_table else ()


def made_columns(dataset: Dataset, declared: Table) -> list[str]:
    """Columns of a raw table that are made once all files of a period are loaded."""
    if declared.name != dataset.report_table:
        return []
    made = [each.name for each in dataset.derived]
    return [*made, *(derived(qid.name) for qid in dataset.qid if qid.column in made)]


def term_placeholders(dataset: Dataset, declared: Table) -> dict[str, tuple[str, ...]]:
    """Sensitive and quasi-sensitive columns of a table -> their placeholders."""
    found: dict[str, tuple[str, ...]] = {}
    for attribute in (*dataset.sensitive, *dataset.quasi_sensitive):
        if attribute.table == declared.name:
            found[attribute.column] = found.get(attribute.column, ()) + attribute.missing
    return found


def key_column(name: str) -> str:
    """The published column with the key of the terms of a published column."""
    return f"{name}_key"


def key_columns(dataset: Dataset, source: str) -> dict[str, str]:
    """Published columns of a table that hold terms -> the columns with their keys, which stand
    behind all others; none of version 0 of the key."""
    if not dataset.term_key:
        return {}
    terms = term_placeholders(dataset, dataset.table(source))
    return {name: key_column(name) for name in dataset.table(source).publish if name in terms}


REGION = "srsql_public_region"


IDENTITY = "srsql_identity"


SERIAL = "srsql_serial"


@dataclass(frozen=True)
class Built:
    """One released table: where its rows are and the query that made them."""

    name: str
    store: str
    """Table of the schema ``STORE`` that holds the rows."""
    query: exp.Query


def region_columns(dataset: Dataset) -> list[str]:
    """Published columns of the generalized QIDs, in schema order."""
    return [name for qid in dataset.qid for name in qid.published]


def store_of(release_id: int, name: str) -> str:
    """The table of the schema ``STORE`` with the rows of one released table."""
    return f"release_{release_id}_{name}"


def in_units(qid: Qid, granules: exp.Expr) -> exp.Expr:
    """Granules in the QID's unit, with no more digits than the granularity has."""
    if qid.granularity == 1:
        return granules
    exponent = qid.granularity.normalize().as_tuple().exponent
    digits = max(0, -exponent) if isinstance(exponent, int) else 0
    scaled = exp.Mul(
        this=granules, expression=exp.Literal.number(format(qid.granularity.normalize(), "f"))
    )
    return exp.cast(scaled, f"DECIMAL(18, {digits})" if digits else "BIGINT", dialect="duckdb")


CLUSTERS = "clusters"


CLUSTER = "cluster"
"""Column of the clusters, and of the report table where whole rows are taken apart."""


COLUMNS = {
    CLUSTERS: ("cluster", "records"),
    "joint_clusters": ("joint", "cluster"),
    "record_chunk": ("cluster", "chunk", "subrecord", "term"),
    "shared_chunk": ("joint", "chunk", "subrecord", "term"),
    "item_chunk": ("cluster", "term"),
    "reconstructed": ("record", "cluster", "term"),
}
"""Released table of disassociated terms -> its columns, in the order of its rows."""


NODES: dict[str, tuple[str, ...]] = {
    "generalized_terms": ("record", "node"),
    "term_nodes": ("node", "term"),
}
"""The same of generalized terms (CBA)."""


SHAPES: dict[Literal["chunks", "nodes"], dict[str, tuple[str, ...]]] = {
    "chunks": COLUMNS,
    "nodes": NODES,
}
"""By ``GroupingModel.term_format``."""


STRATUM = "stratum"
CASE_COUNT, ITEM_COUNT, PAIR_COUNT = "case_count", "item_count", "pair_count"
REGION_COUNT, CASES = "region_count", "cases"
"""Released table of the cases of each region, where no row of a case is; its last column."""


COUNTS: dict[str, tuple[str, ...]] = {
    STRATUM: (STRATUM, "parent", "column", "value", "low", "below", "inside"),
    CASE_COUNT: (STRATUM, "cases"),
    ITEM_COUNT: (STRATUM, "attribute", "term", "cases"),
    PAIR_COUNT: (STRATUM, "attribute", "term", "other_attribute", "other_term", "cases"),
}
"""Released table of counts -> its columns, in the order of its rows."""


def count_columns(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """The same with the cases of each region, where a release has no rows of cases."""
    regions = {REGION_COUNT: (*region_columns(dataset), CASES)}
    return ({} if dataset.rows else regions) | COUNTS


NOISE = "count_noise"
NOISY_CASES, NOISY_ITEMS, NOISY_PAIRS = "noisy_case_count", "noisy_item_count", "noisy_pair_count"


NOISY_COUNTS: dict[str, tuple[str, ...]] = {
    NOISE: (
        "counts", "epsilon", "delta", "counts_of_a_case", "scale", "threshold", "mean_error",
        "margin_95",
    ),
    NOISY_CASES: COUNTS[CASE_COUNT],
    NOISY_ITEMS: COUNTS[ITEM_COUNT],
    NOISY_PAIRS: COUNTS[PAIR_COUNT],
}  # fmt: skip
"""Released table of counts with noise -> its columns, in the order of its rows; the first has a row
for each of the others: what its noise is."""


def source_of(name: str) -> str:
    """The temporary table of a released one."""
    return f"srsql_pub_{name}"


ROWS = "released_rows"


NUMBER = "row"


SOURCE = "srsql_pub_released_rows"


def row_columns(dataset: Dataset) -> set[str]:
    """Every column that released rows may have."""
    named = (*dataset.sensitive, *dataset.quasi_sensitive)
    return {NUMBER, *region_columns(dataset), *(attribute.column for attribute in named)}
