"""What a report shows of one quarter, as arrays; the SQL is in ``sql_macros/report.sql``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from srsql.engine.report.released import (
    CONFIDENCE,
    HELD,
    MEMBER,
    REGION,
    THETA,
    Released,
    load_confidences,
    load_regions,
)
from srsql.engine.warehouse.statements import dotted
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_TEMPORARIES = (MEMBER, REGION, HELD, THETA, CONFIDENCE, "srsql_report_row")


@dataclass(frozen=True)
class Widths:
    """How wide the regions are in one quasi-identifier, over the cases."""

    name: str
    kind: str
    unit: str
    cases: dict[float, int]
    """Numeric: width in its unit -> cases. Categorical: height of the node -> cases."""
    missing: int
    """Cases without a region in it; of a category they cannot be told from its root."""
    top: int
    """Categorical: height of the root."""
    root: str
    """Categorical: its label."""


@dataclass(frozen=True)
class Shapes:
    """Groups (or published regions), their widths, and what can be inferred in them."""

    sizes: dict[int, int]
    """Cases -> groups of so many."""
    widths: tuple[Widths, ...]
    exposure: dict[float, int]
    """conf / theta of the most exposed value -> groups."""
    highest: tuple[tuple[float, int, float], ...]
    """theta, its released values, the highest confidence of one of them in any group."""

    @property
    def groups(self) -> int:
        """How many there are."""
        return sum(self.sizes.values())

    @property
    def cases(self) -> int:
        """How many are in them."""
        return sum(size * groups for size, groups in self.sizes.items())


@dataclass(frozen=True)
class Missingness:
    """One quasi-identifier, in cases."""

    name: str
    cases: int
    """Of the quarter, withheld ones too."""
    missing: int
    released: int
    released_missing: int
    given_up: int


def catalog_shapes(warehouse: Warehouse, dataset: Dataset, release_id: int) -> Shapes:
    """Of a release's groups; the steward's."""
    with _workspace(warehouse):
        for name, macro in (
            (MEMBER, "report_members"),
            (REGION, "report_regions"),
            (CONFIDENCE, "report_confidences"),
        ):
            warehouse.run(
                f"CREATE OR REPLACE TEMP TABLE {name} AS "
                f"SELECT t.* FROM srsql.{macro}({release_id:d}) AS t"
            )
        return _shapes(warehouse, dataset)


def released_shapes(released: Released, quarter: str) -> Shapes:
    """Of the published regions of a quarter; anybody's."""
    with _workspace(released.warehouse):
        load_regions(released, quarter)
        load_confidences(released, quarter)
        return _shapes(released.warehouse, released.dataset)


def released_regions(released: Released, quarter: str) -> Shapes:
    """The same without what can be inferred, from the report table alone."""
    with _workspace(released.warehouse):
        load_regions(released, quarter)
        released.warehouse.run(
            f"CREATE OR REPLACE TEMP TABLE {CONFIDENCE} "
            "(group_id BIGINT, term VARCHAR, theta DOUBLE, conf DOUBLE)"
        )
        return _shapes(released.warehouse, released.dataset)


@contextmanager
def _workspace(warehouse: Warehouse) -> Iterator[None]:
    try:
        yield
    finally:
        for name in _TEMPORARIES:
            warehouse.run(f"DROP TABLE IF EXISTS {dotted('temp', 'main', name)}")


def _shapes(warehouse: Warehouse, dataset: Dataset) -> Shapes:
    sizes = warehouse.rows(
        f"SELECT s.size, s.groups FROM srsql.report_sizes('temp.main.{MEMBER}') AS s "
        "ORDER BY s.size"
    )
    widths = warehouse.rows(
        "SELECT w.position, w.width, w.cases FROM srsql.report_widths("
        f"'temp.main.{MEMBER}', 'temp.main.{REGION}') AS w ORDER BY w.position, w.width"
    )
    exposure = warehouse.rows(
        f"SELECT e.exposure, e.groups FROM srsql.report_exposure('temp.main.{CONFIDENCE}') AS e "
        "ORDER BY e.exposure"
    )
    highest = warehouse.rows(
        "SELECT h.theta, h.terms, h.highest FROM "
        f"srsql.report_highest('temp.main.{CONFIDENCE}') AS h ORDER BY h.theta"
    )
    return Shapes(
        sizes=dict(sizes),
        widths=tuple(
            _widths(dataset, position, [row[1:] for row in widths if row[0] == position])
            for position in range(len(dataset.qid))
        ),
        exposure=dict(exposure),
        highest=tuple(highest),
    )


def _widths(dataset: Dataset, position: int, rows: list[tuple[float | None, int]]) -> Widths:
    qid = dataset.qid[position]
    scale = float(qid.granularity) if qid.kind == "numeric" else 1.0
    tree = dataset.hierarchies.get(qid.name)
    return Widths(
        name=qid.name,
        kind=qid.kind,
        unit=qid.unit,
        cases={width * scale: cases for width, cases in rows if width is not None},
        missing=sum(cases for width, cases in rows if width is None),
        top=tree.height[0] if tree else 0,
        root=tree.labels[0] if tree else "",
    )


def missingness(warehouse: Warehouse, dataset: Dataset, release_id: int) -> list[Missingness]:
    """Per quasi-identifier, in the schema's order; the steward's."""
    return [
        Missingness(dataset.qid[position].name, *counts)
        for position, *counts in warehouse.rows(
            "SELECT m.position, m.cases, m.missing, m.released, m.released_missing, m.given_up "
            "FROM srsql.report_missingness(?) AS m ORDER BY m.position",
            [release_id],
        )
    ]


def losses(warehouse: Warehouse, dataset: Dataset, release_id: int) -> list[tuple[str, int, float]]:
    """(quasi-identifier, released cases, loss summed over them); the steward's."""
    return [
        (dataset.qid[position].name, cases, loss)
        for position, cases, loss in warehouse.rows(
            "SELECT l.position, l.cases, l.loss FROM srsql.report_losses(?) AS l "
            "ORDER BY l.position",
            [release_id],
        )
    ]


def withheld(warehouse: Warehouse, release_id: int) -> list[tuple[str, int, int]]:
    """(reason, cases, reports), the most cases first; the steward's."""
    return [
        (reason, cases, reports)
        for reason, cases, reports in warehouse.rows(
            "SELECT w.reason, w.cases, w.reports FROM srsql.report_withheld(?) AS w "
            "ORDER BY w.cases DESC, w.reason",
            [release_id],
        )
    ]


def threshold_classes(warehouse: Warehouse, release_id: int) -> dict[float, tuple[int, int, int]]:
    """theta -> values of the quarter, fewest and most cases of one; the steward's."""
    return {
        theta: (terms, least, most)
        for theta, terms, least, most in warehouse.rows(
            "SELECT t.theta, t.terms, t.least, t.most FROM srsql.report_thresholds(?) AS t "
            "ORDER BY t.theta",
            [release_id],
        )
    }
