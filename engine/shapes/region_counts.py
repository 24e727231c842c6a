"""Counts alone: regions tell how many cases they have, counts what these hold, and no row is a
case's (SPEC section 19)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp

from srsql.engine.catalog.layout import CASES, REGION_COUNT, region_columns
from srsql.engine.errors import SrsqlError
from srsql.engine.shapes.counts import Counts
from srsql.engine.shapes.regions import Rows, Telling
from srsql.engine.store.statements import column, table
from srsql.schemas import Dataset


class RegionCounts(Counts):
    """Counts of cases by region, and of what they hold by strata of these regions."""

    output: ClassVar[str] = "counts, and no rows of cases"
    family: ClassVar[str] = ""
    shows_cases: ClassVar[bool] = False
    clusters_in_groups: ClassVar[bool] = False
    counts_items: ClassVar[bool] = True
    unjudged: ClassVar[str] = "it publishes no row of a case: each is counted in one release"

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """No row of any table."""
        del model
        return dataset.with_counts(rows=False)

    def without_ids(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """The counts, those of regions among them."""
        return (*super().without_ids(told), REGION_COUNT)

    def placed_cases(self, dataset: Dataset, schema: str, quarter: str) -> exp.Table | exp.Subquery:
        """As many rows of a region as it counts, numbered: which case is which, nobody knows."""
        regions = [column(name, "c") for name in region_columns(dataset)]
        number = exp.Window(
            this=exp.Anonymous(this="row_number"),
            order=exp.Order(expressions=[exp.Ordered(this=each.copy()) for each in regions]),
        )
        several = exp.func("unnest", exp.func("range", column(CASES, "c")))
        rows = exp.select(*regions, several.as_("copy"))
        rows = rows.from_(table(schema, REGION_COUNT, alias="c"))
        numbered = exp.select(
            number.as_(dataset.case_id, quoted=True),
            exp.Literal.string(quarter).as_("quarter"),
            "c.*",
        )
        return numbered.from_(rows.subquery("c")).subquery("t")

    def need_region(self, model: str, error: type[SrsqlError]) -> None:
        """No row of a case shows one."""
        raise error(f"{model} releases counts, no rows of cases: there is no region to explain")

    def need_public(self, series: str, error: type[SrsqlError]) -> None:
        """A public edition draws rows."""
        raise error(
            f"series {series!r} releases counts alone, and a public edition tells of rows of "
            "cases: 'srsql publish' says of what is released, the internal edition of the rest"
        )

    def singled_out(self, exact: Callable[[], Rows], telling: Telling[Rows]) -> Rows:
        """Nobody: there is no row that could be one's own."""
        del exact, telling
        return []
