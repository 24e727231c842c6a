"""The raw rows of a series that holds cases back, as its releases take them.

A case that waits is withheld in its period, and its reports are among those of the next period that
the series releases, and of that alone: another series of the same data may not hold it back. So the
raw rows of such a series are views of its own, in which these reports stand with the label of the
next period once more. Whatever asks for the rows of a period finds them there. What came in a
period that the series skipped is in no release of it, whether its case waited or not.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from srsql.engine.catalog.late import with_late
from srsql.engine.catalog.layout import raw_table
from srsql.engine.catalog.releases import Release
from srsql.engine.store.statements import column, create, query, temporary, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

TOPIC = "warehouse/waiting"


def has_waited(warehouse: Warehouse, dataset: str, series: str) -> bool:
    """Whether a case waits, or waited, in a series."""
    return bool(warehouse.value(query(TOPIC, "any_waits"), {"dataset": dataset, "series": series}))


def taking_in(release: Release) -> Release:
    """A release with the raw rows that it takes: of its period, of waiting cases, and late ones."""
    own = (release.series, release.release_id)
    dataset = with_waiting(release.warehouse, release.dataset, *own)
    visible = release.visible_dataset.taken_from(dataset.intake)
    return replace(release, dataset=dataset, visible_dataset=visible)


def with_waiting(
    warehouse: Warehouse, dataset: Dataset, series: str, own: int | None = None
) -> Dataset:
    """The dataset with the raw rows as the series takes them; itself where no case ever waited, and
    no report came late.

    Args:
        warehouse: may be read-only; the views are temporary.
        dataset: whose raw rows.
        series: that may hold cases back.
        own: a draft, or the release that is being made; it counts as if it were out.
    """
    plain = with_late(warehouse, dataset, series, own)
    if not has_waited(warehouse, dataset.name, series):
        return plain
    views = dataset.taken_from(f"srsql_intake_{series}_{own or 0}")
    reports = f"{views.intake} reports"
    warehouse.run(create(_new(reports), _reports(plain, series, own), "VIEW", temp=True))
    for declared in dataset.tables:
        columns = warehouse.columns(f"raw_{dataset.name}", declared.name)
        rows = _rows(plain, declared.name, columns, reports)
        target = _new(raw_table(views, declared.name).name)
        warehouse.run(create(target, rows, "VIEW", temp=True))
    return views


def carried_from(warehouse: Warehouse, dataset: Dataset, series: str, quarter: str) -> list[str]:
    """The periods whose reports a release of a quarter takes in."""
    asked = {"dataset": dataset.name, "series": series, "quarter": quarter}
    return [label for (label,) in warehouse.rows(query(TOPIC, "carried_from"), asked)]


def _new(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _reports(dataset: Dataset, series: str, own: int | None) -> exp.Query:
    """(report_id, quarter, batch): the reports of waiting cases, and the periods they go into.

    Of a report that came again in a later period of the series, the text of the later one is taken.
    """
    of_series = exp.func("list_contains", column("periods", "c"), column("quarter", "t"))
    later = exp.or_(
        exp.func("list_contains", column("periods", "c"), column("quarter", "l")),
        column("quarter", "l").eq(column("batch", "c")),
    )
    cases = exp.Anonymous(
        this="carried_cases",
        expressions=[exp.convert(dataset.name), exp.convert(series), exp.convert(own)],
    )
    again = (
        exp.select("1")
        .from_(raw_table(dataset, dataset.report_table, alias="l"))
        .where(column(dataset.report_id, "l").eq(column(dataset.report_id, "t")))
        .where(exp.GT(this=column("quarter", "l"), expression=column("quarter", "t")))
        .where(later)
    )
    return (
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            column("quarter", "t"),
            column("batch", "c"),
        )
        .from_(raw_table(dataset, dataset.report_table, alias="t"))
        .join(
            exp.alias_(exp.Table(this=cases, db=exp.to_identifier("srsql")), "c", table=True),
            on=exp.and_(
                exp.cast(column(dataset.case_id, "t"), "VARCHAR").eq(column("case_id", "c")),
                of_series,
            ),
        )
        .where(column("batch", "c").is_(exp.null()).not_())
        .where(exp.not_(exp.Exists(this=again)))
    )


def _rows(dataset: Dataset, name: str, columns: list[str], reports: str) -> exp.Query:
    """The rows of a raw table, and once more those of reports that go into another period."""
    own = exp.select(*[column(each, "t") for each in columns]).from_(raw_table(dataset, name, "t"))
    carried = (
        exp.select(
            *[
                column("batch", "c").as_("quarter") if each == "quarter" else column(each, "t")
                for each in columns
            ]
        )
        .from_(raw_table(dataset, name, "t"))
        .join(
            temporary(reports, alias="c"),
            on=exp.and_(
                column(dataset.report_id, "t").eq(column("report_id", "c")),
                column("quarter", "t").eq(column("quarter", "c")),
            ),
        )
    )
    return union_all([own, carried])
