"""The tables of an artifact: a SELECT per released view, proof of its origins, fresh files.

A DuckDB file keeps what was deleted from it, and an ENUM or a view's text shows more than its rows
(remanence). So rows leave the warehouse as Arrow batches of plain text, numbers and decimals, and
everything in the files comes from these, written by a connection of its own that never saw a
warehouse. One thread writes them: the same rows make the same bytes (but for the random identifier
in the header of a DuckDB file).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from sqlglot import exp

from srsql.engine.artifact.described import (
    LATEST,
    comment_statement,
    comments,
    copy_statement,
    ids_follow,
    latest_query,
    parquet_metadata,
    schema_name,
    union_view,
)
from srsql.engine.artifact.format import (
    COUNT_TABLES,
    DUCKDB_FILE,
    LONGEST,
    LONGEST_TERM,
    NOISY_TABLES,
    OF_REGION,
    QUARTER,
    REGION_CELLS,
    TREE,
    Column,
    Manifest,
    ShownCases,
    Table,
    Unprotected,
    content_digest,
    schema_of,
    stored_columns,
)
from srsql.engine.artifact.publish.manifest import PublishableRelease, release_facts
from srsql.engine.catalog.datasets import normalized
from srsql.engine.catalog.layout import Built, key_column, key_columns
from srsql.engine.catalog.releases import NOT_IDS
from srsql.engine.checks import Evidence
from srsql.engine.checks.lineage import Source, check_lineage, origins_of
from srsql.engine.checks.published_text import accepted_ids, text_fault
from srsql.engine.errors import CheckFailedError, PublishError, UnsafeArtifactError
from srsql.engine.parameters import Format
from srsql.engine.release.ids import pseudonym
from srsql.engine.release.views import serials, table_queries
from srsql.engine.shapes import shape_of
from srsql.engine.store.database_file import connection
from srsql.engine.store.frames import FORMULA, NUMBER
from srsql.engine.store.statements import (
    column,
    create,
    dotted,
    table,
    temporary,
    union_all,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.baskets import term_queries
from srsql.engine.terms.count_tables import count_queries
from srsql.engine.terms.noisy_tables import noisy_queries
from srsql.schemas import Dataset, Qid
from srsql.schemas.roles import Table as DatasetTable

BATCH = 100_000
"""Rows that are in memory at a time."""
ROLES = {"joint": "joint cluster"}
"""Role of a column of the terms' tables that is not called as it."""


@dataclass(frozen=True)
class Plan:
    """One table of the artifact: its columns and the query that reads them off the view."""

    name: str
    columns: tuple[Column, ...]
    query: exp.Query


def plan_tables(dataset: Dataset, schema: str, key: bytes | None, *, keyed: bool) -> list[Plan]:
    """What to read off the views of ``schema``, in the order of the ids it is published under.

    Args:
        dataset: for the published columns.
        schema: of the release's views.
        key: ids become pseudonyms under it; None: they are published as released.
        keyed: the series releases pseudonyms already.
    """
    plans = []
    for source in dataset.row_tables:
        columns = _columns(dataset, source, numbers=keyed or key is not None)
        plans.append(Plan(source.name, columns, _query(dataset, source, schema, columns, key)))
    return plans


def plan_terms(dataset: Dataset, schema: str, *, grouped: bool) -> list[Plan]:
    """The tables of disassociated terms, which have no ids.

    Args:
        dataset: for the columns of regions.
        schema: of the release's views.
        grouped: clusters show the region of their group.
    """
    plans = []
    most = dataset.longest_term
    longer = {"max_length": most} if most != LONGEST_TERM else {}
    for name, query in term_queries(dataset, grouped=grouped).items():
        known = {shown.name: shown for qid in dataset.qid for shown in _region(qid)}
        columns = tuple(
            known[shown]
            if shown in known
            else Column.model_validate(
                {
                    "name": shown,
                    "type": "VARCHAR" if shown == "term" else "BIGINT",
                    "role": ROLES.get(shown, shown),
                    **(longer if shown == "term" else {}),
                }
            )
            for shown in query.named_selects
        )
        read = exp.select(
            *[
                exp.cast(column(c.name, "t"), c.type, dialect="duckdb").as_(c.name, quoted=True)
                for c in columns
            ]
        ).from_(table(schema, name, alias="t"))
        ordered = (
            exp.select(*[column(c.name, "q") for c in columns])
            .from_(read.subquery("q"))
            .order_by(*[column(c.name, "q") for c in columns])
        )
        plans.append(Plan(name, columns, ordered))
    return plans


def plan_counts(dataset: Dataset, schema: str) -> list[Plan]:
    """The counts that tell items in the place of rows, which have no ids.

    Args:
        dataset: for the length of terms, and the columns of regions where it has no rows.
        schema: of the release's views.
    """
    most = dataset.longest_term
    longer = {"max_length": most} if most != LONGEST_TERM else {}
    tables = {
        name: tuple(
            Column.model_validate(
                {"name": of, "type": kind, "role": role, **(longer if role == "term" else {})}
            )
            for of, (kind, role) in shown.items()
        )
        for name, shown in (NOISY_TABLES if dataset.noisy else COUNT_TABLES).items()
    }
    if not dataset.rows:
        cases = Column.model_validate(dict(zip(("name", "type", "role"), OF_REGION, strict=True)))
        regions = (shown for qid in dataset.qid for shown in _region(qid))
        tables = {REGION_CELLS: (*regions, cases)} | tables
    plans = []
    for name, columns in tables.items():
        read = exp.select(
            *[
                exp.cast(column(c.name, "t"), c.type, dialect="duckdb").as_(c.name, quoted=True)
                for c in columns
            ]
        ).from_(table(schema, name, alias="t"))
        ordered = exp.select(*[column(c.name, "q") for c in columns]).from_(read.subquery("q"))
        if name != TREE:  # a scan keeps the order of the tree
            ordered = ordered.order_by(*[column(c.name, "q") for c in columns])
        plans.append(Plan(name, columns, ordered))
    return plans


def prove(
    warehouse: Warehouse, dataset: Dataset, release: PublishableRelease, plans: list[Plan]
) -> None:
    """Trace every column of the artifact to what the dataset schema lets out (SPEC section 16).

    First the views: each reads its own table of released rows alone, and the query which fills
    that table derives every column from published ones. Then the artifact: each of its columns
    derives from the view's column of that name, a pseudonym from the id, a serial number from the
    numbers of its numbering.

    Args:
        warehouse: where the views are.
        dataset: that says what may be published.
        release: whose views are read.
        plans: of the artifact.

    Raises:
        CheckFailedError: a column that is not let out, or whose origin cannot be traced.
    """
    built = [
        Built(name, f"release_{release.release_id}_{name}", query)
        for name, query in table_queries(dataset, release.quarter, keyed=release.keyed).items()
    ]
    names = {item.name for item in built}
    built += [
        Built(name, f"release_{release.release_id}_{name}", query)
        for name, query in term_queries(
            dataset, grouped=dataset.rows and not dataset.cluster_columns
        ).items()
        if any(plan.name == name for plan in plans) and name not in names
    ]
    built += [
        Built(name, f"release_{release.release_id}_{name}", query)
        for name, query in (noisy_queries() if dataset.noisy else count_queries(dataset)).items()
        if dataset.counted
    ]
    check_lineage(warehouse, dataset, release.schema, built)
    for plan in plans:
        origins = origins_of(plan.query)
        for shown in plan.columns:
            for source in origins[shown.name]:
                if source not in _allowed(dataset, plan.name, shown):
                    raise CheckFailedError(
                        f"{plan.name}.{shown.name} of the artifact would show {source[1]!r} of "
                        f"{source[0]!r}: refused"
                    )


def prove_texts(
    warehouse: Warehouse, dataset: Dataset, release: PublishableRelease, not_ids: Sequence[str]
) -> list[str]:
    """Look at the texts of a release once more: an earlier version may have made it.

    Args:
        warehouse: where the views are.
        dataset: that was released.
        release: whose views are read.
        not_ids: words of texts that are ids as well, and are none there, beside those that were
            accepted when it was made.

    Returns:
        Those of the accepted words that its texts hold.

    Raises:
        UnsafeArtifactError: a text holds what one value of one record would not.
    """
    shown, told = release_facts(warehouse, dataset, release)
    evidence = Evidence(shown, not_ids=[*told.get(NOT_IDS, ()), *not_ids])
    if fault := text_fault(evidence):
        raise UnsafeArtifactError(f"{release.quarter} was not published: {fault}")
    return accepted_ids(evidence)


def _allowed(dataset: Dataset, name: str, shown: Column) -> set[Source]:
    own: set[Source] = {(name, shown.name)}
    if shown.role != "serial number":
        return own
    numbering = dataset.table(name).serial[shown.name]
    return own | {
        (child.name, read)
        for child in dataset.child_tables
        for read in (dataset.report_id, *(n for n, of in child.serial.items() if of == numbering))
    }


def _columns(dataset: Dataset, source: DatasetTable, *, numbers: bool) -> tuple[Column, ...]:
    of_id = "BIGINT" if numbers or dataset.id_type == "integer" else "VARCHAR"
    columns = [
        Column(name=name, type=of_id, role="report id" if name == dataset.report_id else "case id")
        for name in dataset.id_columns
    ]
    if source.name == dataset.report_table:
        columns.append(Column(name="quarter", type="VARCHAR", role="period"))
        for qid in dataset.qid:
            columns += _region(qid)
        columns += [
            Column(name=name, type="BIGINT", role="cluster")
            for name in shape_of(dataset).beside_region
        ]
    roles = {(a.table, a.column): "quasi-sensitive" for a in dataset.quasi_sensitive}
    roles |= {(a.table, a.column): "sensitive" for a in dataset.sensitive}
    for name in source.publish:
        plain = "serial number" if name in source.serial else "published as it is"
        if dataset.makes(source.name, name):
            plain = "derived"
        role = roles.get((source.name, name), plain)
        columns.append(_text_column(name, role, source.longest(name)))
    keys = key_columns(dataset, source.name)
    return (
        *columns,
        *(_text_column(key, "term key", source.longest(name)) for name, key in keys.items()),
    )


def _text_column(name: str, role: str, most: int) -> Column:
    """A column of texts; how long one may be is told where it is not the usual."""
    told = {"max_length": most} if most != LONGEST else {}
    return Column.model_validate({"name": name, "type": "VARCHAR", "role": role, **told})


def _region(qid: Qid) -> list[Column]:
    if qid.kind == "categorical":
        return [Column(name=qid.name, type="VARCHAR", role="node", attribute=qid.name)]
    exponent = qid.granularity.normalize().as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    kind = f"DECIMAL(18, {digits})" if digits else "BIGINT"
    return [
        Column(name=f"{qid.name}_low", type=kind, role="lower bound", attribute=qid.name),
        Column(name=f"{qid.name}_high", type=kind, role="upper bound", attribute=qid.name),
    ]


def _query(
    dataset: Dataset,
    source: DatasetTable,
    schema: str,
    columns: tuple[Column, ...],
    key: bytes | None,
) -> exp.Query:
    inner = exp.select().from_(table(schema, source.name, alias="t"))
    for shown in columns:
        value: exp.Expr = column(shown.name, "t")
        if key is not None and shown.role in ("report id", "case id"):
            value = pseudonym(dataset, key, shown.name, value)
        elif key is not None and shown.role == "serial number":
            inner = _numbered(inner, dataset, source, schema, shown.name)
            value = column("ordinal", f"s_{shown.name}")
        value = exp.cast(value, shown.type, dialect="duckdb")
        inner = inner.select(value.as_(shown.name, quoted=True))
    order: list[exp.Expr] = [column(name, "q") for name in dataset.id_columns]
    for shown in columns:
        if shown.role == "serial number":
            number = exp.TryCast(
                this=column(shown.name, "q"), to=exp.DataType.build("HUGEINT", dialect="duckdb")
            )
            order.append(exp.Ordered(this=number, nulls_first=False))
    order += [column(shown.name, "q") for shown in columns if shown.name not in dataset.id_columns]
    return (
        exp.select(*[column(shown.name, "q") for shown in columns])
        .from_(inner.subquery("q"))
        .order_by(*order)
    )


def _numbered(
    query: exp.Select, dataset: Dataset, source: DatasetTable, schema: str, name: str
) -> exp.Select:
    """Join the serial numbers within each report, counted over the released rows."""
    numbers = serials(dataset, lambda child: exp.select().from_(table(schema, child, alias="t")))
    alias = f"s_{name}"
    return query.join(
        numbers.subquery(exp.to_identifier(alias, quoted=True)),
        on=exp.and_(
            column("numbering", alias).eq(exp.Literal.string(source.serial[name])),
            column("report_id", alias).eq(column(dataset.report_id, "t")),
            column("value", alias).eq(column(name, "t")),
        ),
        join_type="left",
    )


class Staging:
    """The rows of one artifact on their way from the warehouse into its files.

    First they are staged, which tells how many there are and their digests; then, since files
    describe their columns, they are written as the manifests say.
    """

    def __init__(
        self, warehouse: Warehouse, con: duckdb.DuckDBPyConnection, folder: Path, form: Format
    ) -> None:
        self.warehouse, self.con, self.folder, self.form = warehouse, con, folder, form

    def stage(self, plans: Sequence[Plan], number: int, quarter: str | None) -> list[Table]:
        """Take the rows of one quarter out of the warehouse.

        Args:
            plans: what to read.
            number: of the quarter among those of the artifact.
            quarter: its label; None: the artifact has no other.
        """
        return [self._stage(plan, number, quarter) for plan in plans]

    def _stage(self, plan: Plan, number: int, quarter: str | None) -> Table:
        reader = self.warehouse.con.sql(plan.query.sql("duckdb")).to_arrow_reader(BATCH)
        self.con.register("srsql_incoming", reader)
        rows = exp.select("i.*").from_("srsql_incoming AS i")
        place = _staged(number, plan.name)
        self.con.execute(create(exp.to_table(place), rows, temp=True))
        self.con.unregister("srsql_incoming")
        counting = exp.select(exp.Count(this=exp.Star())).from_(temporary(place))
        ((count,),) = self.con.execute(counting.sql("duckdb")).fetchall()
        digest = content_digest(self.con, place, plan.columns)
        name = f"{plan.name}.{self.form}"
        if self.form == "duckdb":
            name, schema = DUCKDB_FILE, "main" if quarter is None else schema_of(quarter)
            self.con.execute(f"CREATE SCHEMA IF NOT EXISTS {dotted('artifact', schema)}")
            copied = exp.select("*").from_(temporary(place))
            self.con.execute(create(table("artifact", schema, plan.name), copied))
            self.con.execute(f"DROP TABLE {dotted('temp', 'main', place)}")
        return Table(
            name=plan.name, file=name, rows=count, content_sha256=digest, columns=plan.columns
        )

    def shown(self, dataset: Dataset, number: int, quarter: str | None) -> tuple[ShownCases, ...]:
        """How exactly the staged rows of a quarter show each quasi-identifier; none without rows.

        Args:
            dataset: that was released.
            number: of the quarter among those of the artifact.
            quarter: its label; None: the artifact has no other.
        """
        if not dataset.rows:
            return ()
        place = self._place(number, dataset.report_table, quarter)
        found = []
        for qid in dataset.qid:
            kinds = exp.select(_how_shown(dataset, qid).as_("kind"), column(dataset.case_id, "t"))
            counting = (
                exp.select(exp.column("kind"), exp.Count(this=exp.Star()))
                .from_(kinds.from_(place.copy()).distinct().subquery("k"))
                .group_by(exp.column("kind"))
            )
            counts = dict(self.con.execute(counting.sql("duckdb")).fetchall())
            found.append(
                ShownCases(
                    attribute=qid.name,
                    **{kind: counts.get(kind, 0) for kind in ("single", "several", "any")},
                )
            )
        return tuple(found)

    def _place(self, number: int, name: str, quarter: str | None) -> exp.Expr:
        """The staged rows of a table of a quarter, as ``t``."""
        if self.form != "duckdb":
            return temporary(_staged(number, name), alias="t")
        schema = "main" if quarter is None else schema_of(quarter)
        return table("artifact", schema, name, alias="t")

    def unprotected(
        self,
        dataset: Dataset,
        tables: Sequence[Table],
        thresholds: Sequence[tuple[str, int, int]],
        number: int,
        quarter: str | None,
    ) -> Unprotected | None:
        """How much of the staged rows of a quarter a threshold of 1 leaves unbounded.

        Args:
            dataset: that was released.
            tables: as they were staged.
            thresholds: every released value, numerator and denominator of its threshold.
            number: of the quarter among those of the artifact.
            quarter: its label; None: the artifact has no other.

        Returns:
            None: no row shows a sensitive value, or no value has a threshold.
        """
        cells: list[exp.Query] = [
            exp.select(
                column(dataset.case_id, "t").as_("holder"),
                _value(dataset, column(each.name, "t")).as_("value"),
            ).from_(self._place(number, item.name, quarter))
            for item in tables
            for each in item.columns
            if each.role == "sensitive"
        ]
        if not (cells and thresholds and dataset.rows):
            return None
        pairs = exp.select("h.holder", "h.value").distinct().from_(union_all(cells).subquery("h"))
        bounded = "SELECT unnest($1::VARCHAR[]) AS value, unnest($2::BOOLEAN[]) AS free"
        counting = (
            exp.select("count(*)", "count(*) FILTER (WHERE v.free)", dialect="duckdb")
            .from_(pairs.subquery("p"))
            .join(
                exp.maybe_parse(bounded, dialect="duckdb").subquery("v"),
                on=column("value", "v").eq(column("value", "p")),
            )
        )
        values, free = [each[0] for each in thresholds], [each[1] == each[2] for each in thresholds]
        found = self.con.execute(counting.sql("duckdb"), [values, free])
        ((held, held_unprotected),) = found.fetchall()
        return Unprotected(
            values=sum(free), all_values=len(values), held_unprotected=held_unprotected, held=held
        )

    def released_cases(self, dataset: Dataset, parts: Sequence[Manifest]) -> int | None:
        """Distinct cases of all staged quarters; None: of one, or ids do not follow them."""
        if len(parts) < 2 or not ids_follow(parts[0]):
            return None
        cases: list[exp.Query] = [
            exp.select(column(dataset.case_id, "t").as_("holder")).from_(
                self._place(number, dataset.report_table, part.quarter)
            )
            for number, part in enumerate(parts)
        ]
        counted = exp.Count(this=exp.Distinct(expressions=[exp.column("holder", "c")]))
        query = exp.select(counted).from_(union_all(cases).subquery("c"))
        ((number_of_cases,),) = self.con.execute(query.sql("duckdb")).fetchall()
        return int(number_of_cases)

    def write(self, parts: Sequence[Manifest]) -> None:
        """Write what was staged of each quarter, with what the manifests say of it."""
        if self.form == "duckdb":
            self._write_objects(parts)
            return
        for item in parts[0].tables:
            metadata = parquet_metadata(parts[0], item)
            rows = stored_rows(parts, item.name)
            if self.form == "csv" and parts[0].csv_safe:
                rows = safe_rows(rows, stored_columns(parts[0], item))
            statement = copy_statement(rows, self.form, metadata)
            self.con.execute(statement, [str(self.folder / item.file)])

    def _write_objects(self, parts: Sequence[Manifest]) -> None:
        """Views, latest quarters and comments of a DuckDB file; and leave it."""
        if len(parts) > 1:
            self.con.execute("USE artifact")  # the views name no database
            for item in parts[0].tables:
                target = table("artifact", "main", item.name)
                self.con.execute(create(target, union_view(parts, item.name), "VIEW"))
            if ids_follow(parts[0]):
                sources = [table("artifact", schema_name(p), str(p.report_table)) for p in parts]
                target = table("artifact", "main", LATEST)
                self.con.execute(create(target, latest_query(parts, sources)))
            self.con.execute("USE memory")
        for comment in comments(parts):
            self.con.execute(comment_statement("artifact", comment))
        self.con.execute("CHECKPOINT artifact")
        self.con.execute("DETACH artifact")


def _value(dataset: Dataset, term: exp.Column) -> exp.Expr:
    """By what a staged term is counted: the key that was released beside it."""
    return column(key_column(term.name), "t") if dataset.term_key else normalized(term)


def _how_shown(dataset: Dataset, qid: Qid) -> exp.Case:
    """``single``, ``several`` or ``any``: how exactly a row shows a quasi-identifier."""
    single, whole = exp.Literal.string("single"), exp.Literal.string("any")
    is_single: exp.Expr
    is_any: exp.Expr
    if qid.kind == "categorical":
        tree, node = dataset.hierarchies[qid.name], column(qid.name, "t")
        inner = set(tree.parent)
        leaves = [label for at, label in enumerate(tree.labels) if at not in inner]
        is_single, is_any = node.isin(*leaves), node.copy().eq(tree.labels[0])
    else:
        low, high = column(f"{qid.name}_low", "t"), column(f"{qid.name}_high", "t")
        is_single, is_any = low.eq(high), low.copy().is_(exp.null())
    kinds = exp.Case().when(is_any, whole).when(is_single, single)
    return kinds.else_(exp.Literal.string("several"))


def _staged(number: int, name: str) -> str:
    return f"srsql_staged_{number}_{name}"


def stored_rows(parts: Sequence[Manifest], name: str) -> exp.Query:
    """The staged rows of a table as its file has them: of several quarters, each row tells its."""
    rows: list[exp.Query] = []
    for number, part in enumerate(parts):
        shown: list[exp.Expr] = [column(c.name, "t") for c in part.table(name).columns]
        if len(stored_columns(part, part.table(name))) > len(shown):
            shown.insert(0, exp.Literal.string(part.quarter).as_(QUARTER, quoted=True))
        rows.append(exp.select(*shown).from_(temporary(_staged(number, name), alias="t")))
    return union_all(rows)


def safe_rows(rows: exp.Query, columns: Sequence[Column]) -> exp.Query:
    """Rows whose texts no spreadsheet runs as a formula (see ``csv_safe``)."""
    shown: list[exp.Expr] = []
    for each in columns:
        value = column(each.name, "s")
        if each.type == "VARCHAR":
            starts = exp.Literal.string(f"^(?:{FORMULA})")
            formula = exp.Anonymous(this="regexp_matches", expressions=[value, starts])
            number = exp.Anonymous(
                this="regexp_full_match", expressions=[value.copy(), exp.Literal.string(NUMBER)]
            )
            marked = exp.DPipe(this=exp.Literal.string("'"), expression=value.copy())
            safe = exp.Case().when(exp.and_(formula, exp.Not(this=number)), marked)
            shown.append(safe.else_(value.copy()).as_(each.name, quoted=True))
        else:
            shown.append(value)
    return exp.select(*shown).from_(rows.subquery("s"))


def memory_limit(warehouse: Warehouse) -> str:
    """Of a database beside the warehouse: as much as that has."""
    return str(warehouse.value("SELECT current_setting('memory_limit')"))


@contextmanager
def staging(
    warehouse: Warehouse, folder: Path, form: Format, storage_version: str, spill: Path
) -> Iterator[Staging]:
    """A connection that never saw a warehouse, and writes into ``folder``.

    Args:
        warehouse: where the views are.
        folder: empty, on the disk where the artifact will be.
        form: Parquet or CSV, one file a table, or one DuckDB file.
        storage_version: the oldest DuckDB that can read the DuckDB file.
        spill: folder for what does not fit into memory.
    """
    with _fresh(spill, memory_limit(warehouse)) as con:
        if form == "duckdb":
            _attach(con, folder / DUCKDB_FILE, storage_version)
        yield Staging(warehouse, con, folder, form)


@contextmanager
def _fresh(spill: Path, limit: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with connection(threads=1, memory_limit=limit, temp_directory=str(spill)) as con:
        yield con


def _attach(con: duckdb.DuckDBPyConnection, path: Path, storage_version: str) -> None:
    try:
        con.execute(attachment(storage_version), [str(path)])
    except duckdb.InvalidInputException as error:
        if "not a known DuckDB version" not in str(error):
            raise
        raise PublishError(
            f"--storage-version {storage_version}: DuckDB {duckdb.__version__} cannot write it; "
            "give a version of DuckDB such as v1.4.0, or latest"
        ) from None


def attachment(storage_version: str) -> str:
    """``ATTACH ? AS artifact (STORAGE_VERSION '...')``: an option takes no parameter."""
    version = exp.AttachOption(
        this=exp.var("STORAGE_VERSION"), expression=exp.Literal.string(storage_version)
    )
    file = exp.alias_(exp.Placeholder(), "artifact")
    return exp.Attach(this=file, exists=False, expressions=[version]).sql("duckdb")
