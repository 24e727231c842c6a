"""Dumps of cumulative sources, which publish everything anew each time (``ingest --cumulative``).

A dump is read like any source, in one transaction, and compared report by report with what the
warehouse has of its periods. Its new periods are loaded. Of a period that is loaded already,
reports that are new or have other values stand beside its rows under a label of their own
(``srsql.dump_period``). Nothing of the period itself changes, and the releases decide what becomes
of these reports (``catalog.late``). Cases that are gone are withdrawn as by a list of withdrawn
cases, and stay withdrawn where they reappear. Of a case that keeps other reports only the rows of
those that are gone are deleted, and the case counts as changed. Forgotten cases are rejected, as in
every file. A report whose record cannot be loaded is not gone.

Source: SPEC section 22 (cumulative sources).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from sqlglot import exp

from srsql.engine.catalog.datasets import register_dataset, with_raw_key
from srsql.engine.catalog.layout import raw_columns, raw_table
from srsql.engine.catalog.readers import show_reports
from srsql.engine.catalog.series import misplaced
from srsql.engine.errors import IngestError
from srsql.engine.ingest import account, known_cases
from srsql.engine.ingest.account import Compared, IngestedFile, IngestedPeriod
from srsql.engine.ingest.cells import id_value
from srsql.engine.ingest.completeness import count_required, need_complete
from srsql.engine.ingest.period import PeriodIngestion, in_file_order
from srsql.engine.ingest.raw_tables import (
    CODE,
    REJECTED,
    Place,
    create_raw_tables,
    fill_codes,
)
from srsql.engine.ingest.records import call, drop_temporary, text_of, workspace
from srsql.engine.ingest.row_periods import REPORT_LABEL
from srsql.engine.lake.lake import lies_in_lake
from srsql.engine.lake.lake_rows import incoming_table
from srsql.engine.store.statements import column, create, query, temporary, union_all
from srsql.schemas import Dataset, Table

TOPIC = "ingest/cumulative"
REPORT, KNOWN, UNREADABLE = "srsql_dump_report", "srsql_known_report", "srsql_dump_rejected"
CHANGE, NEWEST, ELSEWHERE = "srsql_dump_change", "srsql_dump_known", "srsql_elsewhere"


class DumpIngestion(PeriodIngestion):
    """The ingestion of one dump of a cumulative source."""

    def ingest(self, origin: str) -> IngestedPeriod:
        """Take in what the dump changes, in one transaction, or change nothing.

        Raises:
            IngestError: it cannot be read, or lacks more of what is known than ``max_vanished``.
        """
        self._need_apart()
        last = self.warehouse.rows(query(TOPIC, "last_dump"), self._names())
        if last and last[0][1] == self.source.sha256:
            self.ingestion = last[0][0]
            return self._result("unchanged")
        with (
            workspace(self.warehouse) as folder,
            closing(self._files(folder)) as files_in_turn,
            in_file_order(self.warehouse),
            self.warehouse.transaction(),
        ):
            register_dataset(self.warehouse, self.dataset, origin)
            self.dataset = with_raw_key(self.warehouse, self.dataset)
            create_raw_tables(self.warehouse, self.dataset)
            self._open_ingestion()
            show_reports(self.warehouse)
            self.place = incoming_table
            create_raw_tables(self.warehouse, self.dataset, self.place)
            self.warehouse.run(query("ingest/ingestion", "replace"), {"ingestion": self.ingestion})
            self.warehouse.run(query("ingest/known_cases", "compared"), self._own())
            self.forgotten = known_cases.open_forgotten(self.warehouse, self.dataset)
            fill_codes(self.warehouse, self.dataset)
            self.warehouse.run(create(temporary(UNREADABLE), self._no_ids(), temp=True))
            files = [self._file(n, next(files_in_turn)) for n in range(len(self.source.members))]
            account.check_rates(self.warehouse, self.ingestion, files, self.options.max_reject_rate)
            files = [self._with_orphans(file) for file in self._with_derived(files)]
            account.record(self.warehouse, self.ingestion, files)
            self._need_whole()
            drop_temporary(self.warehouse, CODE)
            known_cases.close_forgotten(self.warehouse)
            compared = self._compare()
            self._keep(compared)
            drop_temporary(
                self.warehouse, REPORT, KNOWN, UNREADABLE, CHANGE, NEWEST, ELSEWHERE, REPORT_LABEL,
                *(incoming_table(self.dataset, each.name).name for each in self.dataset.tables),
            )  # fmt: skip
        told = self._result("loaded" if compared.periods else "compared")
        return replace(told, compared=compared)

    def _names(self) -> dict[str, object]:
        return {"dataset": self.dataset.name, "quarter": self.source.quarter}

    def _own(self) -> dict[str, object]:
        return {"ingestion": self.ingestion}

    def _need_apart(self) -> None:
        """Refuse what does not go with a dump."""
        if self.options.replace:
            raise IngestError(
                "--cumulative compares a dump with what is loaded, and --replace puts it in its "
                "place: leave one of them out"
            )
        if self.options.lake is not None or lies_in_lake(self.warehouse, self.dataset):
            raise IngestError(
                f"--cumulative does not go with a lake, in which the rows of {self.dataset.name} "
                "lie: use a warehouse of its own (--db) that keeps them in its file"
            )
        if not 0 <= self.options.max_vanished <= 1:
            raise IngestError(f"--max-vanished {self.options.max_vanished} is not between 0 and 1")

    def _kept_period(self) -> str | None:
        return self.options.period

    def _judged(self, declared: Table, places: Mapping[str, int]) -> None:
        """Note which reports the dump has in records that cannot be loaded: these are not gone."""
        if declared.name != self.dataset.report_table:
            return
        report_id = id_value(self.dataset, declared, places, self.dataset.report_id, "j")
        ids = exp.select(report_id.as_("report_id")).from_(temporary(REJECTED, alias="j"))
        rows = exp.Insert(this=temporary(UNREADABLE), expression=ids)
        self.warehouse.run(rows.sql(dialect="duckdb"))
        blank = exp.delete(temporary(UNREADABLE), dialect="duckdb").where("report_id IS NULL")
        self.warehouse.run(blank.sql(dialect="duckdb"))

    def _no_ids(self) -> exp.Select:
        kind = raw_columns(self.dataset, self.dataset.table(self.dataset.report_table))
        ids = exp.cast(exp.null(), kind[self.dataset.report_id], dialect="duckdb")
        return exp.select(ids.as_("report_id")).where(exp.false())

    def _with_orphans(self, file: IngestedFile) -> IngestedFile:
        if file.table in (account.WITHDRAWN, self.dataset.report_table):
            return file
        declared, quarter = self.dataset.table(file.table), self.source.quarter
        count = account.count_orphans(self.warehouse, self.dataset, declared, quarter, self.place)
        return replace(file, orphans=count)

    def _need_whole(self) -> None:
        """Refuse a dump whose reports lack rows that they must have."""
        required = need_complete(
            self.source.name,
            count_required(self.warehouse, self.dataset, self.source.quarter, self.place),
            allowed=self.options.allow_incomplete,
        )
        account.record_required(self.warehouse, self.ingestion, required)

    def _compare(self) -> Compared:
        """Fill ``CHANGE``, and say what became of the reports of the dump.

        Raises:
            IngestError: it lacks too many.
        """
        warehouse, dataset = self.warehouse, self.dataset
        warehouse.run(create(temporary(REPORT), self._reports(), temp=True))
        first, last, _ = warehouse.rows(query(TOPIC, "ends"))[0]
        asked = {"dataset": dataset.name, "first": first, "last": last}
        labels = [label for (label,) in warehouse.rows(query(TOPIC, "labels"), asked)]
        known = report_digests(dataset, raw_table, labels)
        warehouse.run(create(temporary(KNOWN), known, temp=True))
        warehouse.run(create(temporary(ELSEWHERE), self._elsewhere(labels), temp=True))
        step = {"dataset": dataset.name, "ingestion_id": self.ingestion}
        warehouse.run_step("ingest/dump_changes", step)
        counts = warehouse.rows(query(TOPIC, "counts"), {"dataset": dataset.name})[0]
        new, late, changed, unchanged, vanished, known_reports, withdrawn = map(int, counts)
        if vanished > self.options.max_vanished * known_reports:
            raise IngestError(
                f"{self.source.name} lacks {vanished:,} of the {known_reports:,} reports that are "
                f"known of its periods ({vanished / known_reports:.1%}), which would withdraw "
                "them; nothing was changed: give the whole file, or raise --max-vanished (now "
                f"{self.options.max_vanished:g})"
            )
        own = {"dataset": dataset.name, "ingestion": self.ingestion}
        warehouse.run(query(TOPIC, "note_periods"), own)
        periods = [label for (label,) in warehouse.rows(query(TOPIC, "new_periods"))]
        for each in periods:
            if wrong := misplaced(warehouse, dataset.name, each):
                raise IngestError(wrong)
        return Compared(tuple(periods), new, late, changed, unchanged, vanished, withdrawn)

    def _reports(self) -> exp.Query:
        """(report_id, case_id, quarter, digest) of the dump; each has one period."""
        digests = report_digests(self.dataset, self.place)
        if self.dataset.source.row_period is None:
            return digests
        return (
            exp.select(
                column("report_id", "d"),
                exp.func("any_value", column("case_id", "d")).as_("case_id"),
                exp.func("min", column("label", "l")).as_("quarter"),
                exp.func("any_value", column("digest", "d")).as_("digest"),
            )
            .from_(digests.subquery("d"))
            .join(
                temporary(REPORT_LABEL, alias="l"),
                on=column("report", "l").eq(column("report_id", "d")),
            )
            .group_by(column("report_id", "d"))
        )

    def _elsewhere(self, labels: list[str]) -> exp.Select:
        """(case_id) of the cases that other periods than those compared have."""
        return (
            exp.select(exp.cast(column(self.dataset.case_id, "t"), "VARCHAR").as_("case_id"))
            .distinct()
            .from_(raw_table(self.dataset, self.dataset.report_table, alias="t"))
            .where(_in_labels(labels).not_())
        )

    def _keep(self, compared: Compared) -> None:
        """Write what is new, late or changed to the raw tables, and what is gone to the catalog."""
        warehouse, dataset = self.warehouse, self.dataset
        own = {"dataset": dataset.name, "ingestion": self.ingestion}
        warehouse.run(query(TOPIC, "withdraw"), own)
        warehouse.run(query(TOPIC, "note_lacking"), own)
        for declared in dataset.tables:
            warehouse.run(_delete_lacking(dataset, declared))
            warehouse.run(_insert(dataset, declared))
        for period in compared.periods:
            opened = int(warehouse.value("SELECT nextval('srsql.ingestion_ids')"))
            of = {"ingestion": opened, "dump": self.ingestion}
            warehouse.run(query(TOPIC, "open_period"), of | {"quarter": period})
            warehouse.run(query(TOPIC, "open_required"), of)
            for declared in dataset.tables:
                rows = exp.select(exp.Count(this=exp.Star())).from_(
                    raw_table(dataset, declared.name, alias="t")
                )
                rows = rows.where(_in_labels([period]))
                loaded = int(warehouse.value(rows.sql(dialect="duckdb")))
                warehouse.run(
                    query(TOPIC, "open_file"), of | {"table": declared.name, "loaded": loaded}
                )


def report_digests(dataset: Dataset, place: Place, labels: list[str] | None = None) -> exp.Select:
    """What the rows of each report have: (report_id, case_id, quarter or label, digest).

    A digest is a sum over the rows of all tables, in whatever order. It takes all that is kept of
    them but their lines.

    Args:
        dataset: declares the tables.
        place: where their rows are.
        labels: in the place of their period, of the rows that count; None: all, and the column is
            called ``quarter``.
    """
    parts: list[exp.Query] = []
    for declared in dataset.tables:
        names = list(raw_columns(dataset, declared))[2:]
        cells = [column(each, "t") for each in names]
        digest = call("hash", text_of(declared.name), *cells)
        rows = exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            column("quarter", "t"),
            exp.cast(digest, "HUGEINT").as_("digest"),
        ).from_(place(dataset, declared.name, "t"))
        parts.append(rows if labels is None else rows.where(_in_labels(labels)))
    total = exp.select(
        column("report_id", "d"),
        column("quarter", "d"),
        exp.Sum(this=column("digest", "d")).as_("digest"),
    ).from_(union_all(parts).subquery("d"))
    total = total.group_by(column("report_id", "d"), column("quarter", "d"))
    return (
        exp.select(
            column("report_id", "s"),
            exp.cast(column(dataset.case_id, "t"), "VARCHAR").as_("case_id"),
            column("quarter", "t").as_("quarter" if labels is None else "label"),
            column("digest", "s"),
        )
        .from_(place(dataset, dataset.report_table, "t"))
        .join(
            total.subquery("s"),
            on=exp.and_(
                column("report_id", "s").eq(column(dataset.report_id, "t")),
                column("quarter", "s").eq(column("quarter", "t")),
            ),
        )
    )


def _in_labels(labels: list[str]) -> exp.Expr:
    """Whether a row ``t`` of a raw table is of one of them."""
    if not labels:
        return exp.false()
    return column("quarter", "t").isin(*(exp.Literal.string(label) for label in labels))


def _insert(dataset: Dataset, declared: Table) -> str:
    """The rows of a table that are new, late or changed, in the order of the dump."""
    names = list(raw_columns(dataset, declared))
    rows = (
        exp.select(column("label", "c"), *(column(name, "t") for name in names[1:]))
        .from_(incoming_table(dataset, declared.name, "t"))
        .join(
            temporary(CHANGE, alias="c"),
            on=exp.and_(
                column("report_id", "c").eq(column(dataset.report_id, "t")),
                column("label", "c").is_(exp.null()).not_(),
            ),
        )
        .order_by(column(names[1], "t"))
    )
    listed = [exp.to_identifier(name, quoted=True) for name in names]
    target = exp.Schema(this=raw_table(dataset, declared.name), expressions=listed)
    return exp.Insert(this=target, expression=rows).sql(dialect="duckdb")


def _delete_lacking(dataset: Dataset, declared: Table) -> str:
    """The rows of reports that the dump lacks, of cases that keep others, are deleted."""
    gone = (
        exp.select(column("report_id", "c"))
        .from_(temporary(CHANGE, alias="c"))
        .where(column("change", "c").eq(exp.Literal.string("lacking")))
    )
    labels = exp.select(column("label", "k")).from_(temporary(KNOWN, alias="k"))
    rows = exp.delete(raw_table(dataset, declared.name, alias="t"), dialect="duckdb")
    rows = rows.where(column(dataset.report_id, "t").isin(query=gone))
    return rows.where(column("quarter", "t").isin(query=labels)).sql(dialect="duckdb")
