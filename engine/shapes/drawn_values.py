"""Values drawn at random in the place of regions: they cover nothing and prove no bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from srsql.engine.catalog.datasets import registered_dataset
from srsql.engine.errors import QueryError
from srsql.engine.measures import MeasureRow
from srsql.engine.shapes.regions import NO_COVER, Regions, Rows
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse

TOPIC = "risk/metrics"
MANY_AT_ENDS = 0.1
"""Share of drawn numbers at an end of the domain above which metrics and reports say so."""


class DrawnValues(Regions):
    """Rows of cases with values that were drawn."""

    unjudged: ClassVar[str] = (
        "its values are drawn at random, and the groups that keep k and theta are not published"
    )

    def drawn_in(self, quarter: str) -> tuple[str, ...]:
        """They were."""
        return (quarter,)

    def need_cover(self, quarter: str, model: str) -> None:
        """A drawn value need not be the original one."""
        raise QueryError(NO_COVER.format(quarter=quarter, model=model))

    def kept(self, bounds: frozenset[str]) -> frozenset[str]:
        """A drawn value proves none."""
        return frozenset()

    def measured(self, warehouse: Warehouse, release_id: int, rows: Rows) -> Rows:
        """A draw has no width, so that the loss of regions says nothing."""
        others = [row for row in rows if row.measure not in ("nil", "il_per_group")]
        return others + _at_domain_ends(warehouse, release_id)


def _at_domain_ends(warehouse: Warehouse, release_id: int) -> list[MeasureRow]:
    """How many of the numbers that were drawn lie at an end of the declared domain."""
    ((name,),) = warehouse.rows(query(TOPIC, "dataset"), {"release_id": release_id})
    ends = {qid.name: qid.ends for qid in registered_dataset(warehouse, name).qid}
    known = [(qid, *pair) for qid, pair in ends.items() if pair is not None]
    names, lows, highs = zip(*known, strict=True) if known else ((), (), ())
    parameters = {"release_id": release_id, "names": names, "lows": lows, "highs": highs}
    listed = {key: list(v) if isinstance(v, tuple) else v for key, v in parameters.items()}
    return [MeasureRow(*row) for row in warehouse.rows(query(TOPIC, "at_domain_ends"), listed)]


def worthless_values(shares: Iterable[tuple[str, float | None]]) -> list[str]:
    """What to say of drawn numbers of which too many lie at an end of the declared domain.

    Args:
        shares: name of the number, share of its values at an end (None: it has none).

    Returns:
        One sentence each for those above ``MANY_AT_ENDS``.
    """
    return [
        f"{share:.0%} of the released values of {name} lie at an end of its declared domain: the "
        "noise is about as wide as the domain, so these values say next to nothing about the "
        "cases, and a mean of them is wrong."
        for name, share in shares
        if share is not None and share > MANY_AT_ENDS
    ]


def shares_at_ends(rows: Iterable[MeasureRow]) -> list[tuple[str, float | None]]:
    """Those that are among ``rows``, as ``worthless_values`` takes them."""
    return [(row.scope, row.ratio) for row in rows if row.measure == "at_domain_ends"]
