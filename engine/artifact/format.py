"""The artifact: the folder that leaves the house, and what its manifest says.

`publish` writes this format and `verify` reads it; what both need of it stands here and in
``documents``, and neither imports the other's means. Files: one per released table (or one DuckDB
file), ``manifest.json``, thresholds, hierarchies, a data dictionary, the public report, a README,
documents for catalogues (``extras/catalogues`` writes them), and ``SHA256SUMS`` over all (as
``sha256sum -c`` reads it). The list is closed: no other file may be there, but for a signature.

The signature is Ed25519 (RFC 8032) over ``SHA256SUMS``, and so over every file. Keys are PEM files
as OpenSSL writes them (``openssl genpkey -algorithm ed25519``, ``openssl pkey -pubout``), and the
signature is as OpenSSL reads it: it can be checked without srsql. The library is an extra
(``srsql[sign]``); nothing else needs it.

An artifact of several quarters (``--quarter A:B``) has the rows of all of them in each table, which
the column ``quarter`` tells apart, a report of each, and a list of manifests, one a quarter, in
``manifest.json``: whatever one quarter claims alone it claims there. In a DuckDB file the rows of
a quarter are tables of its schema, and ``main`` has views over all quarters.

Versions: 1, of srsql 0.2 and before, took terms trimmed and in upper case for one value; 2 takes
their normal form (SPEC section 2), and tells what drew the report and whether every sensitive
column is published; 3 can hold several quarters, and describes tables and columns in the files:
comments in DuckDB, field metadata in Parquet; 4 has the documents for catalogues, with what its
publisher states (licence, contact, citation ...), and counts how many cases show a quasi-identifier
exactly, how much a threshold of 1 leaves unbounded, and the distinct cases of several quarters; 5
has the key of every term in a column beside its spelling (``term_key`` of the parameters), by which
terms are compared. A release that compares terms as before it had keys is still of version 4.
"""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import duckdb
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from sqlglot import exp

from srsql.engine.errors import PublishError, VerifyError, one_line
from srsql.engine.parameters import Access, Format
from srsql.engine.store.doors import need
from srsql.engine.store.statements import column, temporary
from srsql.schemas import Dataset
from srsql.schemas.derived import Elapsed, Number, Occurs, Period
from srsql.schemas.outside import open_plain, read_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"
SIGNATURE_BYTES = 64
MOST_SUMS = MOST_KEY = 1 << 20
"""Bytes of the list of hashes, and of a key."""
MOST_ROWS = 1 << 28
"""Bytes of a small file with rows, such as that of thresholds."""
MOST_FILE = 1 << 36
"""Bytes of any file of an artifact: what is larger is not read at all."""
README = "README.md"
REPORT = "report.html"
COUNTS = "term-counts.sql"
# a hyphen: no table of a dataset can have such a name, nor its CSV file
DICTIONARY = "data-dictionary.csv"
THRESHOLDS = "value-thresholds.csv"
HIERARCHIES = "value-hierarchies.csv"
DUCKDB_FILE = "release.duckdb"
DATA_PACKAGE = "datapackage.json"
CROISSANT = "croissant.json"
DCAT = "dcat.jsonld"
PROV = "prov.jsonld"
METHODS = "methods.md"
CATALOGUES = (DATA_PACKAGE, CROISSANT, DCAT, PROV, METHODS)
"""What catalogues and papers take over, as ``catalogues`` writes it."""
VERSION = 5
DESCRIBED = 3
"""The first version whose files describe their tables and columns."""
CATALOGUED = 4
"""The first version with documents for catalogues."""
LONGEST, LONGEST_TERM = 500, 1000
"""Characters that a text of a column has at most where the manifest tells no other number: a term
that is told apart from its row may be put together from two columns."""
NOT_IDS = "not_ids"
"""Parameter with the words of texts that are published ids as well, and are none there."""
KEYED = 5
"""The version of releases that compare terms by their key (SPEC section 2)."""
KEY_VERSIONS = (0, 1)
"""Versions of the key that are known; 0: there are no key columns."""
OF_KEY = "term key"
"""Role of the column with the keys of a column of terms."""
QUARTER = "quarter"
CLUSTERS = "clusters"
TERM_TABLES = {
    CLUSTERS: ("cluster", "records"),
    "joint_clusters": ("joint", "cluster"),
    "record_chunk": ("cluster", "chunk", "subrecord", "term"),
    "shared_chunk": ("joint", "chunk", "subrecord", "term"),
    "item_chunk": ("cluster", "term"),
    "reconstructed": ("record", "cluster", "term"),
}
"""Table of disassociated terms -> its first columns. Written down a second time, on purpose: what
makes these tables (``terms``) says it, too, and an artifact is not judged by what made it."""
TREE, UNIT_CELLS, ITEM_CELLS, PAIR_CELLS = "stratum", "case_count", "item_count", "pair_count"
REGION_CELLS = "region_count"
"""Table of the cases of each region, in the place of the report table."""
OF_REGION = ("cases", "BIGINT", "cases")
"""Name, type and role of its last column, behind those of the region."""
_TEXT, _DECIMAL = "VARCHAR", "DECIMAL(18, 6)"
COUNT_TABLES: dict[str, dict[str, tuple[str, str]]] = {
    TREE: {
        "stratum": (_TEXT, "stratum"),
        "parent": (_TEXT, "stratum"),
        "column": (_TEXT, "cut"),
        "value": (_TEXT, "cut"),
        "low": (_DECIMAL, "cut"),
        "below": (_DECIMAL, "cut"),
        "inside": ("BIGINT", "cut"),
    },
    UNIT_CELLS: {"stratum": (_TEXT, "stratum"), "cases": ("BIGINT", "cases")},
    ITEM_CELLS: {
        "stratum": (_TEXT, "stratum"),
        "attribute": (_TEXT, "counted column"),
        "term": (_TEXT, "term"),
        "cases": ("BIGINT", "cases"),
    },
    PAIR_CELLS: {
        "stratum": (_TEXT, "stratum"),
        "attribute": (_TEXT, "counted column"),
        "term": (_TEXT, "term"),
        "other_attribute": (_TEXT, "counted column"),
        "other_term": (_TEXT, "term"),
        "cases": ("BIGINT", "cases"),
    },
}
"""Table of counts that stand in the place of items in rows -> its columns, with type and role.
Written down a second time, on purpose, as are those of disassociated terms."""

NOISE = "count_noise"
NOISY_UNITS, NOISY_ITEMS, NOISY_PAIRS = (
    "noisy_case_count", "noisy_item_count", "noisy_pair_count"
)  # fmt: skip
_NOISY = ("BIGINT", "noisy cases")
NOISY_TABLES: dict[str, dict[str, tuple[str, str]]] = {
    NOISE: {
        **dict.fromkeys(("counts", "epsilon", "delta"), (_TEXT, "noise")),
        "counts_of_a_case": ("BIGINT", "noise"),
        "scale": (_TEXT, "noise"),
        "threshold": ("BIGINT", "noise"),
        "mean_error": ("DECIMAL(18, 4)", "noise"),
        "margin_95": ("BIGINT", "noise"),
    },
    NOISY_UNITS: COUNT_TABLES[UNIT_CELLS] | {"cases": _NOISY},
    NOISY_ITEMS: COUNT_TABLES[ITEM_CELLS] | {"cases": _NOISY},
    NOISY_PAIRS: COUNT_TABLES[PAIR_CELLS] | {"cases": _NOISY},
}
"""The same of counts with noise, and of what their noise is."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Attributed = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*)?$")]
"""A column, or a column and another one that is told with each of its terms."""
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Fractional = Annotated[str, Field(pattern=r"^[0-9]{1,18}(/[0-9]{0,17}[1-9][0-9]{0,17})?$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Whole = Annotated[int, Field(ge=-(2**53), lt=2**53)]
Count = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,2000}$")]
"""Text without line ends and other control characters."""
Url = Annotated[str, Field(pattern=r"^https?://[^\s\"<>\\^`{|}#]{1,1000}$")]
Contact = Annotated[
    str,
    Field(pattern=r"^([^\s@:/\"<>]{1,200}@[^\s@:/\"<>]{1,200}|https?://[^\s\"<>\\^`{|}]{1,1000})$"),
]
"""An e-mail address or a page."""
License = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9.+-]{0,99}|https?://[^\s\"<>\\^`{|}]{1,1000})$")
]
"""A short identifier of SPDX, such as CC-BY-4.0, or a page."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Column(_Strict):
    """One column of a released table."""

    name: Name
    type: Annotated[str, Field(pattern=r"^(BIGINT|VARCHAR|DECIMAL\(18, [0-9]{1,2}\))$")]
    """DuckDB's name of it."""
    role: Literal[
        "report id",
        "case id",
        "period",
        "lower bound",
        "upper bound",
        "node",
        "sensitive",
        "quasi-sensitive",
        "term key",
        "serial number",
        "published as it is",
        "derived",
        "cluster",
        "records",
        "joint cluster",
        "chunk",
        "subrecord",
        "record",
        "term",
        "stratum",
        "cut",
        "counted column",
        "cases",
        "noisy cases",
        "noise",
    ]
    attribute: Name | None = None
    """The quasi-identifier of a bound or a node."""
    max_length: Annotated[int, Field(ge=1, le=10**7, strict=True)] | None = None
    """Characters of a text at most; None: see ``longest``."""

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The usual length is not named."""
        values: dict[str, Any] = told(self)
        return {n: v for n, v in values.items() if n != "max_length" or v is not None}


def longest(shown: Column) -> int:
    """Characters that a text of a column may have."""
    return shown.max_length or (LONGEST_TERM if shown.role == "term" else LONGEST)


OF_PERIOD = Column(name=QUARTER, type="VARCHAR", role="period")
"""What tells the quarters of a table apart that has no period of its own."""


class Table(_Strict):
    """One released table."""

    name: Name
    file: FileName
    rows: Count
    content_sha256: Digest
    """Over its rows (see ``content_digest``): the same in every format."""
    columns: tuple[Column, ...]


class Attribute(_Strict):
    """One quasi-identifier: which values its region can have."""

    name: Name
    kind: Literal["numeric", "categorical"]
    unit: str = ""
    granularity: Decimal | None = Field(default=None, gt=0)
    low: Decimal | None = None
    """The declared domain; None: it was taken from the quarter."""
    high: Decimal | None = None


class TermsClaim(_Strict):
    """What is claimed of disassociated terms, which are released without their records."""

    attributes: tuple[Attributed, ...]
    m: Annotated[int, Field(ge=1, strict=True)]
    diversity: Annotated[int, Field(ge=1, strict=True)]
    """Least number of records in a cluster, where above k."""
    k: Annotated[int, Field(ge=2, lt=2**31, strict=True)] | None = None
    """k of the terms; this and what follows: where whole rows are taken apart."""
    cases: Annotated[int, Field(ge=2, lt=2**31, strict=True)] | None = None
    """Least number of cases of a cluster, which is a union of whole groups."""
    sensitive: tuple[Attributed, ...] | None = None
    """The attributes of which the terms have thresholds."""

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is not claimed is not named."""
        return {name: value for name, value in told(self).items() if value is not None}


class Counts(_Strict):
    """Cases and reports; never which ones are withheld."""

    released_cases: Count
    released_reports: Count
    withheld_cases: Count | None = None
    """None: a model with noise does not tell."""
    withheld_reports: Count | None = None


class Thesaurus(_Strict):
    """What the terms of some columns are coded with."""

    columns: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*[.][a-z][a-z0-9_]*$")], ...]
    """Published columns, as ``table.column``."""
    name: Line
    """With its version, such as MedDRA 25.1."""


class Stated(_Strict):
    """What whoever publishes says of the artifact; no row shows it."""

    source: Line | None = None
    """What the reports are of, as the dataset calls it."""
    publisher: Line | None = None
    contact: Contact | None = None
    license: License | None = None
    cite_as: Line | None = None
    landing_page: Url | None = None
    """Where the artifact is told of."""
    access: Access | None = None
    """Who gets it."""
    access_body: Line | None = None
    """Who decides on that: the health data access body of HealthDCAT-AP."""
    legislation: tuple[Url, ...] = ()
    """What mandates the publication, by its identifiers on the web (ELI)."""
    thesauri: tuple[Thesaurus, ...] = ()

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is not stated is not named."""
        return {name: value for name, value in told(self).items() if value not in (None, (), [])}


class ShownCases(_Strict):
    """How many released cases show a quasi-identifier how exactly."""

    attribute: Name
    single: Count
    """With one value."""
    several: Count
    """With an interval, or an inner node of the hierarchy."""
    any: Count
    """With nothing or the root: not known, or given up."""


class Unprotected(_Strict):
    """How much a threshold of 1 leaves unbounded: values, and what cases hold of them."""

    values: Count
    """Released values with a threshold of 1."""
    all_values: Count
    """Released values with a threshold."""
    held_unprotected: Count
    """Pairs of a case and such a value, each once whatever the number of reports."""
    held: Count
    """Pairs of a case and any sensitive value in the rows."""


class DerivedClaim(_Strict):
    """What is claimed of a column that was made from others, and the rule that made it."""

    name: Name
    attributes: tuple[Name, ...] = ()
    """The quasi-identifiers that are read from it; none: it is published as it is."""
    rule: Literal["period", "elapsed", "occurs", "number"]
    sources: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*[.][a-z][a-z0-9_]*$")], ...]
    """As ``table.column``; of ``elapsed`` the start comes first."""
    step: Literal["year", "quarter", "month"] | None = None
    classes: tuple[Count, ...] = ()
    """Numbers with which a class begins, after the one that begins with 0."""
    values: tuple[Line, ...] = ()
    """Of which one has to occur; none: any does."""
    labels: tuple[Line, ...] = ()
    """Every value that it can have."""
    claim: Literal["sources withheld", "sources published"]

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What the rule does not have is not named."""
        return {name: value for name, value in told(self).items() if value not in (None, (), [])}


class QidSetClaim(_Strict):
    """Quasi-identifiers that are protected by themselves: k and theta hold for them alone."""

    name: Name
    attributes: tuple[Name, ...] = Field(min_length=1)


class CutClaim(_Strict):
    """What a stratum asks of the region of a case, and its sibling denies."""

    attribute: Name
    """A quasi-identifier."""
    value: Line | None = None
    """Of a category: a node of its hierarchy."""
    low: Decimal | None = None
    """Of a number: the least value within; None: there is none."""
    below: Decimal | None = None
    """The least value above; None: there is none."""


class CountsClaim(_Strict):
    """What is claimed of counts that tell items by strata, in the place of rows."""

    k: Annotated[int, Field(ge=2, lt=2**31, strict=True)]
    """Cases of a count, at least."""
    attributes: tuple[Name, ...] = Field(min_length=1)
    """The columns of which values are counted."""
    sensitive: tuple[Name, ...]
    """Those of them whose values have thresholds."""
    pairs: tuple[tuple[Name, Name], ...]
    """The columns of which values are counted together."""
    cuts: tuple[CutClaim, ...]
    """From them follows the tree of strata (table ``stratum``)."""


class NoisyClaim(_Strict):
    """What is claimed of counts with noise that tell items, in the place of rows."""

    epsilon: Fractional
    """Of a case for all counts of its period."""
    delta: Fractional
    case_items: Annotated[int, Field(ge=1, le=1000, strict=True)]
    """Values of a column that a case adds at most."""
    case_pairs: Annotated[int, Field(ge=1, le=1000, strict=True)]
    """Pairs of values that a case adds at most."""
    attributes: tuple[Name, ...] = Field(min_length=1)
    """The columns of which values are counted."""
    pairs: tuple[tuple[Name, Name], ...]
    """The columns of which values are counted together."""
    cuts: tuple[CutClaim, ...]
    """From them follow the strata, of values as reported."""


class Manifest(_Strict):
    """``manifest.json``: everything that is claimed of the artifact."""

    artifact_version: Literal[1, 2, 3, 4, 5]
    software_version: str
    dataset: Name
    dataset_version: Whole
    dataset_fingerprint: Digest
    series: str
    quarter: str
    earlier_releases: tuple[str, ...]
    """Periods of the releases that came before in the series, superseded ones included."""
    format: Format
    case_ids: Literal["as released", "pseudonym"]
    key_id: Digest | None
    """Tells whether two artifacts were made under one key; tells nothing of the key."""
    model: str
    guarantee: str
    perturbed: bool
    """Quasi-identifiers are drawn at random: k and thresholds hold for unpublished groups."""
    k: Annotated[int, Field(ge=2, lt=2**31, strict=True)]
    attacks: tuple[str, ...]
    """The attacks by joining releases that the model withstands."""
    parameters: dict[str, Whole | str]
    counts: Counts
    report_table: Name | None
    """None: no row of a report is released."""
    terms: TermsClaim | None = None
    every_term_published: bool | None = None
    """Every sensitive column is in a released table; None: of version 1, which does not tell."""
    report_written_by: str | None = None
    """What drew ``report.html``, with the versions that decide its bytes; None: there is none, or
    version 1."""
    attributes: tuple[Attribute, ...]
    tables: tuple[Table, ...]
    csv_safe: bool = False
    """In CSV files, cells that a spreadsheet would run as formulas have an apostrophe in front
    (see ``csv_safe`` of ``warehouse/frames.py``); told where it is so."""
    stated: Stated | None = None
    """None: of a version before 4."""
    shown: tuple[ShownCases, ...] | None = None
    """One of each quasi-identifier; None: of a version before 4."""
    unprotected: Unprotected | None = None
    """None: not told, as where no row shows a sensitive value."""
    derived: tuple[DerivedClaim, ...] | None = None
    """Columns that were made from others; None: there are none."""
    qid_sets: tuple[QidSetClaim, ...] | None = None
    """Sets of quasi-identifiers that are protected each by itself; None: all are together."""
    counted: CountsClaim | None = None
    """Counts tell the items of cases, and no row shows any; None: rows show them, or clusters."""
    noisy: NoisyClaim | None = None
    """Counts with noise tell the items of cases, and no row shows any."""
    files: dict[FileName, Digest]
    """SHA-256 of every file but this one and ``SHA256SUMS``."""

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What an artifact does not make use of, its manifest does not name."""
        values: dict[str, Any] = told(self)
        unused = {
            name
            for name in (
                "stated",
                "shown",
                "unprotected",
                "derived",
                "qid_sets",
                "counted",
                "noisy",
            )
            if values[name] is None
        }
        unused |= set() if self.csv_safe else {"csv_safe"}
        return {name: value for name, value in values.items() if name not in unused}

    @property
    def cells(self) -> dict[str, dict[str, tuple[str, str]]]:
        """The tables of counts in the place of items, with their columns; empty: there are none."""
        if self.noisy is not None:
            return NOISY_TABLES
        return COUNT_TABLES if self.counted is not None else {}

    @property
    def reports(self) -> Table:
        """The report table.

        Raises:
            ValueError: no row of a report is released.
        """
        if self.report_table is None:
            raise ValueError("the artifact has no report table")
        return self.table(self.report_table)

    @property
    def regions(self) -> Table:
        """The table that shows regions: the report table, or the counts of regions.

        Raises:
            ValueError: no region is published.
        """
        if self.counts_alone:
            return self.table(REGION_CELLS)
        return self.reports

    @property
    def counts_alone(self) -> bool:
        """Whether counts of regions stand in the place of rows of cases."""
        return self.counted is not None and self.report_table is None

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)

    @property
    def term_key(self) -> int:
        """The version of the key by which terms are compared; a version that is not known counts as
        the newest."""
        told = self.parameters.get("term_key", 0)
        return KEY_VERSIONS.index(told) if told in KEY_VERSIONS else KEY_VERSIONS[-1]

    @property
    def report_file(self) -> str:
        """The public report of the quarter."""
        return REPORT


class QuarterManifest(Manifest):
    """What is claimed of one quarter of an artifact of several."""

    files: dict[FileName, Digest] = Field(default_factory=dict)
    """Those of the whole artifact; in ``manifest.json`` empty, since they are told there once."""

    @property
    def report_file(self) -> str:
        """The public report of the quarter."""
        return f"report-{re.sub(r'[^a-z0-9._-]', '-', self.quarter.lower())}.html"

    @property
    def schema_name(self) -> str:
        """Schema of a DuckDB file with the tables of the quarter."""
        return schema_of(self.quarter)


class RangeManifest(_Strict):
    """``manifest.json`` of an artifact of several quarters."""

    artifact_version: Literal[3, 4, 5]
    software_version: str
    dataset: Name
    series: str
    format: Format
    quarters: tuple[QuarterManifest, ...] = Field(min_length=2)
    """Oldest first."""
    released_cases: Count | None = None
    """Distinct cases of all quarters together; None: ids do not follow them."""
    files: dict[FileName, Digest]
    """SHA-256 of every file but this one and ``SHA256SUMS``."""

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What cannot be told is not named."""
        values: dict[str, Any] = told(self)
        return {n: v for n, v in values.items() if n != "released_cases" or v is not None}


def schema_of(quarter: str) -> str:
    """Schema of a DuckDB file of several quarters with the tables of one."""
    return f"release_{quarter}".lower()


AnyManifest = Manifest | RangeManifest


def quarters_of(manifest: AnyManifest) -> tuple[Manifest, ...]:
    """What is claimed of each quarter, oldest first."""
    if isinstance(manifest, Manifest):
        return (manifest,)
    return tuple(part.model_copy(update={"files": manifest.files}) for part in manifest.quarters)


def key_pairs(item: Table) -> dict[str, str]:
    """Columns of terms of a table -> the columns beside them that have their keys."""
    known = {shown.name for shown in item.columns if shown.role == OF_KEY}
    terms = [c.name for c in item.columns if c.role in ("sensitive", "quasi-sensitive")]
    return {name: f"{name}_key" for name in terms if f"{name}_key" in known}


def stored_columns(manifest: Manifest, item: Table) -> tuple[Column, ...]:
    """The columns that a table has in its file, which holds several quarters or one."""
    apart = not isinstance(manifest, QuarterManifest) or manifest.format == "duckdb"
    if apart or any(shown.role == "period" for shown in item.columns):
        return item.columns
    return (OF_PERIOD, *item.columns)


def files_of(manifest: AnyManifest) -> set[str]:
    """Every file that an artifact with this manifest has, but for a signature."""
    names = {MANIFEST, SUMS, README, DICTIONARY, THRESHOLDS, HIERARCHIES}
    for part in quarters_of(manifest):
        names |= {table.file for table in part.tables}
        if part.report_table is not None:
            names.add(part.report_file)
        if part.terms is not None:
            names.add(COUNTS)
    return names | set(CATALOGUES if manifest.artifact_version >= CATALOGUED else ())


def sums_text(digests: dict[str, str]) -> str:
    """``SHA256SUMS`` for these files, sorted by name: there is one way to write it."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_digest(con: duckdb.DuckDBPyConnection, name: str, columns: tuple[Column, ...]) -> str:
    """SHA-256 over the rows of a temporary table in their order.

    Each value is a netstring, its length in bytes and its text (``5:fever,``), or ``-,`` where it
    is missing; each row ends in a line feed.

    Args:
        con: where the table is.
        name: of the table.
        columns: those of its values, in their order.
    """
    digest = hashlib.sha256()
    query = content_query(name, columns)
    for batch in con.sql(query.sql("duckdb")).to_arrow_reader(100_000):
        lines = batch.column(0)
        _, ends, texts = lines.buffers()  # texts lie one behind the other, so that none is copied
        if texts is None or not len(lines):
            continue
        wide: Literal["q", "i"] = "q" if str(lines.type).startswith("large") else "i"
        place = memoryview(ends).cast("B").cast(wide)
        first, last = place[lines.offset], place[lines.offset + len(lines)]
        digest.update(memoryview(texts)[first:last])
    return digest.hexdigest()


def content_query(name: str, columns: tuple[Column, ...]) -> exp.Select:
    """The rows of a temporary table as the text that ``content_digest`` is made of."""
    parts = [
        exp.func("coalesce", exp.DPipe(this=length, expression=value), exp.Literal.string("-"))
        for value in (exp.cast(column(c.name, "t"), "VARCHAR", dialect="duckdb") for c in columns)
        for length in [
            exp.DPipe(
                this=exp.cast(exp.Anonymous(this="strlen", expressions=[value.copy()]), "VARCHAR"),
                expression=exp.Literal.string(":"),
            )
        ]
    ]
    ending = exp.Anonymous(this="chr", expressions=[exp.Literal.number(10)])
    line = exp.Anonymous(this="concat_ws", expressions=[exp.Literal.string(","), *parts, ending])
    return exp.select(line).from_(temporary(name, alias="t"))  # a scan keeps the order of insertion


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key that an artifact is signed with.

    Raises:
        PublishError: the library is not there, or the file holds no such key, or a locked one.
    """
    need("cryptography", "--sign", PublishError)
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(read_bytes(path, MOST_KEY), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise PublishError(f"--sign {path}: cannot be read as a key: {one_line(error)}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise PublishError(
            f"--sign {path} is no Ed25519 private key: make one with 'openssl genpkey -algorithm "
            "ed25519 -out KEY.pem'"
        )
    return key


def sign(folder: Path, key: Ed25519PrivateKey) -> None:
    """Write the signature of the folder's hashes beside them."""
    (folder / SIGNATURE).write_bytes(key.sign(read_bytes(folder / SUMS, MOST_SUMS)))


def signature_faults(folder: Path, public_key: Path) -> list[str]:
    """What is wrong with the signature of a folder under a public key.

    Raises:
        VerifyError: the library is not there, or the file holds no such key.
    """
    need("cryptography", "--public-key", VerifyError)
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(read_bytes(public_key, MOST_KEY))
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise VerifyError(
            f"--public-key {public_key}: cannot be read as a key: {one_line(error)}"
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise VerifyError(
            f"--public-key {public_key} is no Ed25519 public key: 'openssl pkey -in KEY.pem "
            "-pubout' prints the one of a private key"
        )
    sums, signature = folder / SUMS, folder / SIGNATURE
    if signature.is_symlink() or not signature.is_file() or not sums.is_file():
        return [f"{SIGNATURE} is missing: nobody signed {SUMS}"]
    try:
        signed = read_bytes(signature, SIGNATURE_BYTES, links=False)
        key.verify(signed, read_bytes(sums, MOST_SUMS, links=False))
    except InvalidSignature:
        return [f"{SIGNATURE} is not a signature of {SUMS} by the key of {public_key}"]
    except OSError as error:
        raise VerifyError(f"{folder} cannot be read: {one_line(error)}") from None
    return []


def derived_claims(dataset: Dataset) -> tuple[DerivedClaim, ...]:
    """The rule and the claim of every derived column that is shown.

    Args:
        dataset: with the tables of which there are rows.
    """
    return tuple(
        DerivedClaim(
            name=each.name,
            attributes=tuple(q.name for q in dataset.qid if q.column == each.name)
            if dataset.regions
            else (),
            rule=each.rule,
            sources=tuple(".".join(place) for place in each.sources),
            step=each.step if isinstance(each, Period) else None,
            classes=each.classes if isinstance(each, (Elapsed, Number)) else (),
            values=each.values if isinstance(each, Occurs) else (),
            labels=each.labels or (),
            claim=each.claim,
        )
        for each in dataset.told_derived
    )
