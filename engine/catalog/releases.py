"""What the catalog says of releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import MAIN
from srsql.engine.store.statements import column, query, table
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "warehouse/releases"


@dataclass(frozen=True)
class Release:
    """One release of a warehouse, as whatever checks, measures or shows it takes it."""

    warehouse: Warehouse
    dataset: Dataset
    """As its model took it: numbers with declared groups are categories, or not."""
    visible_dataset: Dataset
    """With the tables of which the release has rows."""
    release_id: int
    series: str
    quarter: str
    schema: str
    """Of its views."""
    k: int
    """Least number of cases behind every published region."""


def over_lattice(warehouse: Warehouse, release_id: int) -> bool:
    """Whether a release has rows of its own making instead of those of its cases."""
    return bool(
        warehouse.value(
            "SELECT count(*) FROM srsql.lattice AS l WHERE l.release_id = ?", [release_id]
        )
    )


def series_over_lattice(warehouse: Warehouse, dataset: str, series: str) -> bool:
    """Whether the releases of a series have such rows."""
    return bool(
        warehouse.value(query(TOPIC, "series_over_lattice"), {"dataset": dataset, "series": series})
    )


def claims_of(warehouse: Warehouse, release_id: int) -> dict[str, Fraction]:
    """What a comparator's release keeps; empty for one that keeps k and theta."""
    return {
        claim: Fraction(num, den)
        for claim, num, den in warehouse.rows(
            "SELECT c.claim, c.num, c.den FROM srsql.claim AS c WHERE c.release_id = ?",
            [release_id],
        )
    }


def countable_scopes(warehouse: Warehouse, release_id: int) -> frozenset[str]:
    """The scopes at which candidates of a release can be counted: ``group`` and ``match``.

    Regions cannot be counted together (``match``) where some case has reports in several groups,
    as in a release that took every report for a case of its own.
    """
    found = warehouse.rows(query(TOPIC, "countable_scopes"), {"release_id": release_id})
    return frozenset(scope for (scope,) in found)


def perturbed_positions(warehouse: Warehouse, release_id: int) -> set[int]:
    """The quasi-identifiers that a release perturbed; empty if its values are regions."""
    return {
        row[0]
        for row in warehouse.rows(
            "SELECT p.position FROM srsql.perturbation AS p WHERE p.release_id = ?", [release_id]
        )
    }


TERM_KEY_FACT = "term_key"
"""What the manifests call the version of the key by which terms are compared; none: 0."""


def keep_key(warehouse: Warehouse, release_id: int, term_key: int) -> None:
    """Keep the version of the key by which a release compares terms."""
    warehouse.run("INSERT INTO srsql.release_key VALUES (?, ?)", [release_id, term_key])


def key_of(warehouse: Warehouse, release_id: int) -> int:
    """The version of the key by which a release compares terms."""
    asked = "SELECT k.version FROM srsql.release_key AS k WHERE k.release_id = ?"
    return int(warehouse.value(asked, [release_id]) or 0)


def published_key(warehouse: Warehouse, schema: str) -> int:
    """The version of the key of terms that a public manifest tells; where it tells none 0.

    Args:
        warehouse: where the views are; nothing else is read.
        schema: of the release.
    """
    if TERM_KEY_FACT not in warehouse.columns(schema, "manifest"):
        return 0
    told = exp.select(exp.func("max", column(TERM_KEY_FACT, "m")))
    return int(warehouse.value(told.from_(table(schema, "manifest", alias="m")).sql("duckdb")))


def shows_keys(warehouse: Warehouse, releases: Iterable[int]) -> bool:
    """Whether the rows of all these releases have the keys of terms beside their spellings."""
    asked = {"releases": list(releases)}
    return all(warehouse.rows(query(TOPIC, "shows_keys"), asked)[0])


def as_newest(warehouse: Warehouse, dataset: Dataset, series: str) -> Dataset:
    """The dataset with the key by which the newest release of a series compares terms; as it is
    where the series has none."""
    newest = warehouse.rows(query(TOPIC, "newest_key"), {"dataset": dataset.name, "series": series})
    return dataset.keyed(newest[0][0]) if newest else dataset


def as_released(warehouse: Warehouse, dataset: Dataset, release_id: int) -> Dataset:
    """The dataset as the model of a release took it: numbers with groups are categories or not, and
    terms are compared by its version of their key.

    A release with noise may be older than the groups of its dataset.
    """
    dataset = dataset.keyed(key_of(warehouse, release_id))
    if not perturbed_positions(warehouse, release_id):
        return dataset
    kinds = dict(
        warehouse.rows(
            "SELECT a.attribute, a.kind FROM srsql.attribute AS a WHERE a.release_id = ?",
            [release_id],
        )
    )
    taken = any(qid.groups and kinds.get(qid.name) == "categorical" for qid in dataset.qid)
    return dataset.with_categories() if taken else dataset


NOT_IDS = "not_ids"
"""Key of the private manifest: words of published texts that are ids as well, and are none there.
"""
PER = 10_000
ONE_VALUE = f"suppressed_one_value_per_{PER}"
"""Column of the public manifest: the largest share of cases of which one value is suppressed."""
ANY_VALUE = f"suppressed_cases_per_{PER}"
"""Column of the public manifest: the share of cases of which some value is suppressed."""


def suppressing(warehouse: Warehouse, schemas: Iterable[str]) -> tuple[str, ...]:
    """Those of the schemas of releases whose public manifests say that values are suppressed."""
    return tuple(s for s in schemas if ONE_VALUE in warehouse.columns(s, "manifest"))


def most_suppressed(schema: str, share: str, released: str) -> exp.Subquery:
    """How many cases or reports lost a value at most, as the public manifest of a release tells it.

    Args:
        schema: of its views.
        share: column with the share, in parts of 1 / ``PER``, rounded up.
        released: column with the number that it is a share of.
    """
    parts = column(share, "m") * column(released, "m") + (PER - 1)
    most = exp.IntDiv(this=exp.paren(parts), expression=exp.Literal.number(PER))
    rows = exp.select(exp.func("coalesce", exp.func("max", most), 0))
    return rows.from_(table(schema, "manifest", alias="m")).subquery()


def perturbed(warehouse: Warehouse, release_id: int) -> bool:
    """Whether the release publishes noise instead of regions."""
    return bool(
        warehouse.value(
            "SELECT count(*) > 0 FROM srsql.perturbed AS p WHERE p.release_id = ?", [release_id]
        )
    )


def released_id(warehouse: Warehouse, dataset: Dataset, quarter: str, series: str) -> int:
    """The release that is out for the quarter, or its draft.

    Raises:
        ReleaseError: the quarter is not released in the series.
    """
    found = warehouse.value(
        query(TOPIC, "released_id"),
        {"dataset": dataset.name, "quarter": quarter, "series": series},
    )
    if found is None:
        raise ReleaseError(not_released(warehouse, dataset.name, series, quarter))
    return int(found)


def not_released(warehouse: Warehouse, dataset: str, series: str, quarter: str) -> str:
    """One line on a quarter that is not out: what is, and what to do."""
    out = _names(warehouse, "quarters_out", dataset=dataset, series=series)
    known = _names(warehouse, "series_names", dataset=dataset)
    if known and series not in known:
        return without_releases(warehouse, dataset, series)
    loaded = warehouse.rows(query(TOPIC, "periods_loaded"))
    named = f" --series {series}" if series != MAIN else ""
    named += f" --dataset {dataset}" if len({name for name, _ in loaded}) > 1 else ""
    if (dataset, quarter) not in loaded:
        way = "ingest and release it first"
    elif out and quarter < out[-1]:
        way = f"it comes before {out[-1]}, so that it can come out in another series alone"
    else:
        way = f"run 'srsql release --quarter {quarter}{named}' first"
    return (
        f"{quarter} is not released in series {series!r} of {dataset} (it has: {_span(out)}): "
        f"give another --quarter, --series or --dataset; {way}"
    )


def without_releases(warehouse: Warehouse, dataset: str, series: str) -> str:
    """One line on a series of which nothing is out: which series there are, and what to do."""
    known = _names(warehouse, "series_names", dataset=dataset)
    others = [name for name in known if name != series]
    if not others:
        return f"series {series!r} of {dataset} has no releases: run 'srsql release' first"
    return (
        f"series {series!r} of {dataset} has no releases (series there are: {', '.join(others)}): "
        "give another --series or --dataset, or release a quarter to it first"
    )


def not_ingested(warehouse: Warehouse, dataset: str, quarter: str) -> str:
    """One line on a quarter that is not loaded: what is."""
    known = _names(warehouse, "ingested_quarters", dataset=dataset)
    return (
        f"{quarter} of dataset {dataset} is not in the warehouse (it has: {_span(known)}): "
        "ingest it first"
    )


def _names(warehouse: Warehouse, statement: str, **asked: str) -> list[str]:
    return [name for (name,) in warehouse.rows(query(TOPIC, statement), asked)]


def _span(known: list[str]) -> str:
    return f"{known[0]} to {known[-1]} ({len(known)})" if known else "none"


def terms_without_rows(warehouse: Warehouse, release_id: int) -> dict[str, str]:
    """Attributes of which the release shows the terms, but not of which case; and its quarter."""
    return dict(warehouse.rows(query(TOPIC, "terms_without_rows"), {"release_id": release_id}))


def find_ingestion(warehouse: Warehouse, dataset: Dataset, quarter: str) -> int:
    """The ingestion of a quarter that is not replaced.

    Raises:
        ReleaseError: there is none.
    """
    found = warehouse.value(
        query(TOPIC, "ingestion"), {"dataset": dataset.name, "quarter": quarter}
    )
    if found is None:
        raise ReleaseError(not_ingested(warehouse, dataset.name, quarter))
    return int(found)


@dataclass(frozen=True)
class Stale:
    """A release that is out, or a draft, of which cases have left since."""

    release_id: int
    dataset: str
    series: str
    quarter: str
    status: str
    cases: dict[str, int | None]
    """How many have left by reason: forgotten, deleted, absent or changed (see the view
    ``srsql.withdrawn_member``); ``replaced``, None: its data were replaced and not compared."""
    counted: bool = False
    """Counts tell its items, which are never revised: it is not corrected, and is published no
    more."""

    @property
    def text(self) -> str:
        """How many have left, and why."""
        told = [f"{n:,} {reason}" for reason, n in self.cases.items() if n is not None]
        return ", ".join([*told, *(["data replaced"] if None in self.cases.values() else [])])

    @property
    def command(self) -> str:
        """What takes them out of the release, after a comparison with the newest data; empty:
        nothing does."""
        if self.counted:
            return ""
        series = "" if self.series == MAIN else f" --series {self.series}"
        return f"srsql correct --quarter {self.quarter}{series}"

    @property
    def line(self) -> str:
        """One line: what is stale, why, and what to do."""
        what = f"{self.quarter} in series {self.series} is stale ({self.text})"
        if self.counted:
            return (
                f"{what}: it tells items as counts, which are never revised, so that it cannot be "
                "published any more: withdraw what was published of it"
            )
        return f"{what}: run '{self.command}'"


def staleness(
    warehouse: Warehouse,
    dataset: str | None = None,
    series: str | None = None,
    quarter: str | None = None,
    release_id: int | None = None,
) -> list[Stale]:
    """The releases that are out, and drafts, with cases that have left since they were made.

    Somebody else's are not among them.

    Args:
        warehouse: may be read-only.
        dataset: of the releases; None: all, as for those that follow.
        series: of the releases.
        quarter: of the releases.
        release_id: the only one.
    """
    asked = {"dataset": dataset, "series": series, "quarter": quarter, "release_id": release_id}
    found: dict[int, Stale] = {}
    for row in warehouse.rows(query(TOPIC, "staleness"), asked):
        number, of, name, period, status, counted, reason, cases = row
        stale = found.setdefault(number, Stale(number, of, name, period, status, {}, counted))
        stale.cases[reason] = cases
    return list(found.values())


TermFormat = Literal["chunks", "nodes"]
"""How terms that are released apart from records are published: disassociated, or generalized."""


@dataclass(frozen=True)
class ReleasedTerms:
    """Which terms a release publishes apart from records, and against whom."""

    attributes: tuple[str, ...]
    """Columns of the dataset schema."""
    m: int
    """Terms of a record that an attacker may know."""
    diversity: int
    """Least number of records in a cluster for the sensitive terms."""
    repeated: bool
    """A term that a case has n times is n terms."""
    term_format: TermFormat
    sensitive: frozenset[str] = frozenset()
    """Terms that are published of a cluster only; no release keeps them in the catalog."""
    term_k: int | None = None
    """k of the terms; None: that of the release."""
    term_cases: int | None = None
    """Least number of cases in a cluster of whole groups; None: no whole rows are taken apart."""
    item_cases: int | None = None
    """Cases of its cluster that hold an item without a count, at most; None: that, and what each
    region of a cluster keeps, is not promised."""

    @property
    def whole_rows(self) -> bool:
        """Rows of cases show their region and cluster alone, and clusters are unions of groups."""
        return self.term_cases is not None

    @property
    def weighed_attributes(self) -> tuple[str, ...]:
        """Those of which an item without a count stands for a number of records: all of them where
        whole rows are taken apart, else none, since there an item stands for one record."""
        return () if self.term_cases is None else self.attributes

    def sensitive_attributes(self, dataset: Dataset) -> tuple[str, ...]:
        """Those of the attributes of which the terms have thresholds."""
        columns = {a.column for a in dataset.sensitive}
        return tuple(a for a in self.attributes if a.partition("/")[0] in columns)


def released_terms(warehouse: Warehouse, release_id: int) -> ReleasedTerms | None:
    """What a release publishes apart from records; None: nothing."""
    rows = warehouse.rows(query(TOPIC, "disassociated"), {"release_id": release_id})
    if not rows:
        return None
    _, m, diversity, repeated, term_format, term_k, term_cases, item_cases = rows[0]
    return ReleasedTerms(
        tuple(row[0] for row in rows), m, diversity, repeated, term_format,
        term_k=term_k, term_cases=term_cases, item_cases=item_cases,
    )  # fmt: skip


OPTIONAL_COLUMNS = "optional_columns"
"""What the manifests call the optional columns that a release shows."""


QID_SETS = "qid_sets"
"""What the manifests call the sets of quasi-identifiers that a release protects each by itself."""


def qid_sets(warehouse: Warehouse, release_id: int) -> dict[str, tuple[int, ...]]:
    """Name of each set of quasi-identifiers that a release protects by itself -> its positions.

    Empty: all of its quasi-identifiers are protected together.
    """
    rows = warehouse.rows(query(TOPIC, "qid_sets"), {"release_id": release_id})
    if not rows:
        return {}
    places = dict(
        warehouse.rows(
            "SELECT a.attribute, a.position FROM srsql.attribute AS a WHERE a.release_id = ?",
            [release_id],
        )
    )
    sets = (each.split(": ") for each in rows[0][0].split("; "))
    return {name: tuple(sorted(places[n] for n in text.split(", "))) for name, text in sets}


def optional_columns(
    warehouse: Warehouse, dataset: str, series: str | None, but: str | None = None
) -> list[list[str]]:
    """The optional columns that releases of a series show: each list of them once.

    Args:
        warehouse: where the releases are.
        dataset: of the series.
        series: its name; None: every series.
        but: the quarter whose drafts do not count, since they can be made anew; None: none.
    """
    asked = {"dataset": dataset, "series": series, "but": but}
    rows = warehouse.rows(query(TOPIC, "optional_columns"), asked)
    return [[name for name in text.split(", ") if name] for (text,) in rows]


def with_shown_columns(warehouse: Warehouse, dataset: Dataset, series: str | None) -> Dataset:
    """The dataset with the optional columns that releases of a series show; None: of any series."""
    shown = {n for names in optional_columns(warehouse, dataset.name, series) for n in names}
    return dataset.with_columns(sorted(shown))


def counting_together(warehouse: Warehouse, schemas: Mapping[str, str]) -> tuple[str, ...]:
    """The quarters whose releases count suspected duplicates as one person.

    Args:
        warehouse: where the views of the releases are; nothing else is read.
        schemas: quarter -> the schema of its release.
    """
    asked = {"schemas": list(schemas.values())}
    found = {schema for (schema,) in warehouse.rows(query(TOPIC, "counting_together"), asked)}
    return tuple(quarter for quarter, schema in schemas.items() if schema in found)


def told_of_units(quarters: Iterable[str]) -> Iterator[str]:
    """What answers about quasi-identifiers say of such releases; nothing, where there are none."""
    if found := ", ".join(quarters):
        yield (
            f"suspected duplicates count as one person in {found}: a case that lacks a value which "
            "a duplicate of it has is counted as one that has it, by lower, known and upper, too"
        )
