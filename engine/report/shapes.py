"""Groups, or published regions, of one quarter as arrays: sizes, widths, confidences.

The steward's edition takes them from the catalog, the public edition from the published rows; the
distributions are the same macros in ``sql_macros/report/report.sql``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from srsql.engine.catalog.datasets import term_key
from srsql.engine.catalog.layout import region_columns
from srsql.engine.catalog.releases import Release, published_key
from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.risk.row_candidates import EMPTY_IS_ANYTHING
from srsql.engine.risk.singling_out import AS_ANYTHING, PERCENT
from srsql.engine.shapes.drawn_values import worthless_values
from srsql.engine.store.statements import column, query, table, union_all, with_rows
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid

_RELEASE, _SHAPES = "report/release", "report/shapes"
PLACES = 24
"""Of a number, from its least value to its greatest."""
_ROW = "report_row"
"""The rows with one row per published report and the number of its region."""


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

    @property
    def without_region(self) -> int:
        """Cases that the release tells nothing of in this quasi-identifier."""
        at_root = 0 if self.kind == "numeric" else self.cases.get(float(self.top), 0)
        return self.missing + at_root


@dataclass(frozen=True)
class BeforeAfter:
    """Where the released cases lie in one quasi-identifier, by the originals and as released."""

    name: str
    unit: str
    ends: tuple[float, ...]
    """Of a number: where its places begin, and where the last one ends; else empty."""
    labels: tuple[str, ...]
    """Of a category: its leaves."""
    before: tuple[float, ...]
    """Cases at each place; a region counts in all places that it covers, by its share."""
    after: tuple[float, ...]


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


def catalog_shapes(release: Release) -> Shapes:
    """The distributions of the groups of a release; the steward's."""
    parameters = {"release": release.release_id}
    dataset = release.visible_dataset
    return _shapes(release.warehouse, dataset, catalog_distributions(), parameters)


def before_after(release: Release) -> list[BeforeAfter]:
    """Each quasi-identifier that some released case has, originals beside what is released; the
    steward's."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    asked = {"release": release.release_id, "parts": PLACES}
    for position, *place in release.warehouse.rows(query(_RELEASE, "before_after"), asked):
        found.setdefault(position, []).append(tuple(place))
    return [
        _before_after(release.visible_dataset.qid[position], places)
        for position, places in found.items()
    ]


def _before_after(qid: Qid, places: list[tuple[Any, ...]]) -> BeforeAfter:
    lows, highs, labels, before, after = zip(*places, strict=True)
    scale = float(qid.granularity) if qid.kind == "numeric" else 1.0
    named = tuple(each for each in labels if each is not None)
    ends = () if named else tuple(end * scale for end in (*lows, highs[-1] + 1))
    return BeforeAfter(qid.name, qid.unit, ends, named, before, after)


def catalog_distributions() -> exp.Query:
    """The distributions of the groups of ``$release``, from the catalog."""
    names = {"member": "members", "region": "regions", "confidence": "confidences"}
    return with_rows(
        query(_SHAPES, "distributions"), **{name: _rows(stored) for name, stored in names.items()}
    )


def _rows(name: str) -> exp.Query:
    rows = sqlglot.parse_one(query(_SHAPES, name), read="duckdb")
    assert isinstance(rows, exp.Query)
    rows.pop_comments()
    return rows


def published_shapes(
    warehouse: Warehouse, dataset: Dataset, schema: str, *, confidences: bool = True
) -> Shapes:
    """The published regions of a quarter; our own or a foreign one.

    Args:
        warehouse: has the released views.
        dataset: the dataset of the release.
        schema: schema of its views.
        confidences: also what can be inferred, which takes the views of sensitive attributes.

    Returns:
        The distributions of the regions.
    """
    dataset = dataset.keyed(published_key(warehouse, schema))
    return _shapes(
        warehouse, dataset, published_distributions(dataset, schema, confidences=confidences), {}
    )


def published_distributions(
    dataset: Dataset, schema: str, *, confidences: bool = True
) -> exp.Query:
    """The distributions of the published regions of a quarter; see ``published_shapes``."""
    rows = {
        _ROW: published_rows(dataset, schema),
        "member": _rows("published_members"),
        "region": published_widths(dataset),
    }
    if confidences:
        rows["report_value"] = published_values(dataset, schema)
        rows["report_theta"] = published_thresholds(schema)
    rows["confidence"] = _rows("published_confidences" if confidences else "no_confidences")
    return with_rows(query(_SHAPES, "distributions"), **rows)


def _shapes(
    warehouse: Warehouse, dataset: Dataset, statement: exp.Query, parameters: Mapping[str, Any]
) -> Shapes:
    sizes, widths, exposures, highest = (
        [tuple(entry.values()) for entry in entries or ()]
        for entries in warehouse.rows(statement.sql(dialect="duckdb"), dict(parameters))[0]
    )
    return Shapes(
        sizes=dict(sizes),
        widths=tuple(
            _widths(dataset, position, [row[1:] for row in widths if row[0] == position])
            for position in range(len(dataset.qid))
        ),
        exposure=dict(exposures),
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


def public_measures(
    warehouse: Warehouse, dataset: Dataset, schema: str, release_id: int
) -> list[MeasureRow]:
    """The public measures of a released quarter: from its views and public manifest alone.

    Bounds of regions are judged where the model keeps them; widths are over the cases that have a
    region, as a share of the domain or of the height of the hierarchy.

    Args:
        warehouse: has the released views.
        dataset: with the tables that have rows.
        schema: of the views.
        release_id: what the rows call the release.
    """
    source = table(schema, "manifest", alias="m")
    (told,) = warehouse.records(exp.select("m.*").from_(source).sql(dialect="duckdb"))
    found: list[tuple[str, str, float | None, float | None, float | None, float | None]] = [
        (name, name.rpartition("_")[2][:-1], None, told[name], None, None)
        for name in ("released_cases", "released_reports")
    ]
    for unit in ("cases", "reports"):
        gone = told.get(f"withheld_{unit}")
        if gone is not None:
            total = gone + told[f"released_{unit}"]
            found.append(
                ("withheld", unit[:-1], gone, total, gone / total if total else None, None)
            )
    if dataset.rows:
        found += _region_measures(published_shapes(warehouse, dataset, schema), dataset, told)
    for name, (measure, scope) in PERCENT.items():
        for end, words in (("", ""), (AS_ANYTHING, EMPTY_IS_ANYTHING)):
            if told.get(name + end) is not None:
                total, share = told.get("measured_cases"), float(told[name + end]) / 100
                found.append((measure, scope + words, None, total, share, None))
    return [
        MeasureRow(release_id, *row, None if row[5] is None or row[2] is None else not row[2])
        for row in found
    ]


def _region_measures(
    shapes: Shapes, dataset: Dataset, told: Mapping[str, Any]
) -> Iterator[tuple[str, str, float | None, float | None, float | None, float | None]]:
    """Of regions: sizes, confidences, widths, and cases without one."""
    kept, k = bounds_of_regions(str(told["model"])), int(told["k"])
    if shapes.sizes:
        small = sum(regions for size, regions in shapes.sizes.items() if size < k)
        ends = {"smallest": min(shapes.sizes), "mean": shapes.cases / shapes.groups}
        for scope, size in ends.items():
            bound = k if "k" in kept and scope == "smallest" else None
            yield "region_size", scope, small if bound else None, shapes.groups, size, bound
    if shapes.exposure and "theta" in kept:
        over = sum(regions for share, regions in shapes.exposure.items() if share > 1 + 1e-12)
        total = sum(shapes.exposure.values())
        yield "confidence", "of its threshold", over, total, max(shapes.exposure), 1
    for width, qid in zip(shapes.widths, dataset.qid, strict=True):
        known = sum(width.cases.values())
        low, high = qid.domain if isinstance(qid.domain, tuple) else (None, None)
        extent = float(high - low) if low is not None and high is not None else None
        extent = extent if width.kind == "numeric" else float(width.top)
        wide = sum(size * cases for size, cases in width.cases.items())
        ratio = wide / known / extent if known and extent else None
        yield "region_width", width.name, None, known, ratio, None
        gone, share = width.without_region, None
        if shapes.cases:
            share = gone / shapes.cases
        yield "without_region", width.name, gone, shapes.cases, share, None


def bounds_of_regions(model: str) -> frozenset[str]:
    """Which bounds a model keeps in published regions: of values that it draws, none."""
    claimed = MODELS[model].claimed_bounds if model in MODELS else None
    return frozenset() if claimed is None or claimed.drawn else claimed.guaranteed


def published_rows(dataset: Dataset, schema: str) -> exp.Query:
    """One row per published report: case_id, its region's columns, the region's number."""
    names = region_columns(dataset)
    number = exp.Window(
        this=exp.Anonymous(this="dense_rank"),
        order=exp.Order(expressions=[exp.Ordered(this=column(name, "v")) for name in names]),
    )
    return exp.select(
        column(dataset.case_id, "v").as_("case_id"),
        *[column(name, "v") for name in names],
        number.as_("group_id"),
    ).from_(table(schema, dataset.report_table, alias="v"))


def published_widths(dataset: Dataset) -> exp.Query:
    """(group_id, position, width) as of the catalog: granules, or height of the node."""
    parts: list[exp.Query] = []
    for position, qid in enumerate(dataset.qid):
        rows = exp.select(
            column("group_id", "r"), exp.Literal.number(position).as_("position")
        ).from_(table(_ROW, alias="r"))
        width: exp.Expr
        if qid.kind == "numeric":
            extent = exp.Paren(
                this=exp.Sub(
                    this=column(f"{qid.name}_high", "r"), expression=column(f"{qid.name}_low", "r")
                )
            )
            size = exp.Literal.number(format(qid.granularity.normalize(), "f"))
            width = exp.func("round", exp.Div(this=extent, expression=size))
        else:
            width = column("height", "n")
            rows = rows.join(
                table("srsql", "node", alias="n"),
                on=exp.and_(
                    column("dataset", "n").eq(exp.Literal.string(dataset.name)),
                    column("attribute", "n").eq(exp.Literal.string(qid.name)),
                    column("node", "n").eq(column(qid.name, "r")),
                ),
                join_type="left",
            )
        parts.append(rows.select(exp.cast(width, "DOUBLE").as_("width")).distinct())
    return union_all(parts)


def published_values(dataset: Dataset, schema: str) -> exp.Query:
    """Distinct (case_id, key of a term) of the published sensitive columns."""
    case_id = column(dataset.case_id, "v").as_("case_id")
    parts: list[exp.Query] = []
    for name, value in dict.fromkeys((a.table, a.column) for a in dataset.sensitive):
        if value not in dataset.table(name).publish:
            continue
        term = term_key(column(value, "v"), dataset.term_key)
        parts.append(
            exp.select(case_id.copy(), term.as_("term"))
            .from_(table(schema, name, alias="v"))
            .where(term.copy().is_(exp.null()).not_())
        )
    if not parts:
        nothing = exp.cast(exp.null(), "VARCHAR").as_("term")
        source = table(schema, dataset.report_table, alias="v")
        parts = [exp.select(case_id, nothing).from_(source).where(exp.false())]
    return exp.select("u.case_id", "u.term").distinct().from_(union_all(parts).subquery("u"))


def published_thresholds(schema: str) -> exp.Query:
    """(term, theta) of the public manifest."""
    listed = exp.select("unnest(m.thresholds) AS threshold", dialect="duckdb")
    return exp.select(
        "t.threshold.value AS term", "t.threshold.theta AS theta", dialect="duckdb"
    ).from_(listed.from_(table(schema, "manifest", alias="m")).subquery("t"))


def arrivals(dataset: Dataset, schemas: dict[str, str]) -> exp.Select:
    """Quarter, and the cases whose first quarter it is."""
    case_id = exp.cast(column(dataset.case_id, "v"), "VARCHAR").as_("case_id")
    rows: list[exp.Query] = [
        exp.select(exp.Literal.string(quarter).as_("quarter"), case_id.copy()).from_(
            table(schema, dataset.report_table, alias="v")
        )
        for quarter, schema in schemas.items()
    ]
    first = exp.select("c.case_id", "min(c.quarter) AS quarter").group_by("c.case_id")
    first = first.from_(union_all(rows).subquery("c"))
    counted = exp.select("f.quarter", "count(*) AS cases").from_(first.subquery("f"))
    return counted.group_by("f.quarter")


def missingness(release: Release) -> list[Missingness]:
    """What is missing before and after a release; the steward's.

    Returns:
        One entry per quasi-identifier, in the order of the schema.
    """
    rows = release.warehouse.rows(query(_RELEASE, "missingness"), {"release": release.release_id})
    qids = release.visible_dataset.qid
    return [Missingness(qids[position].name, *counts) for position, *counts in rows]


def published_at_ends(warehouse: Warehouse, dataset: Dataset, schema: str, model: str) -> list[str]:
    """What to say of numbers that the model draws and of which too many are ends of the domain."""
    found: list[tuple[str, float | None]] = []
    if model not in MODELS or not MODELS[model].claimed_bounds.drawn:
        return []
    for qid in dataset.with_categories().qid:
        if qid.kind == "numeric" and qid.ends is not None:
            statement = at_ends(dataset, qid, schema).sql(dialect="duckdb")
            ((at, cases),) = warehouse.rows(statement)
            found.append((qid.name, at / cases if cases else None))
    return worthless_values(found)


def at_ends(dataset: Dataset, qid: Qid, schema: str) -> exp.Select:
    """Cases that show an end of the declared domain of ``qid``, and cases that show a number."""
    assert qid.ends is not None
    low, high = (exp.Literal.number(format(end * qid.granularity, "f")) for end in qid.ends)
    shown = column(f"{qid.name}_low", "v")
    cases = exp.Count(this=exp.Distinct(expressions=[column(dataset.case_id, "v")]))
    conditions = {
        "at": exp.or_(
            exp.LTE(this=shown.copy(), expression=low), exp.GTE(this=shown.copy(), expression=high)
        ),
        "cases": shown.is_(exp.null()).not_(),
    }
    return exp.select(
        *[
            exp.Filter(this=cases.copy(), expression=exp.Where(this=condition)).as_(name)
            for name, condition in conditions.items()
        ]
    ).from_(table(schema, dataset.report_table, alias="v"))
