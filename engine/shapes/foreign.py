"""Somebody else's release: k, theta and what was withheld are not known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from srsql.engine.errors import QueryError, SrsqlError
from srsql.engine.shapes.regions import NO_COVER, Found, Rows, Shape, Telling
from srsql.engine.store.warehouse import Warehouse


class Foreign(Shape):
    """Rows as they were imported, or of a model that is not known here."""

    uncorrectable: ClassVar[str] = "it is somebody else's release, of which the rows are not here"

    def need_cover(self, quarter: str, model: str) -> None:
        """Nobody knows what its regions hold."""
        raise QueryError(NO_COVER.format(quarter=quarter, model=model))

    def need_public(self, series: str, error: type[SrsqlError]) -> None:
        """There are no views of it."""
        raise error(
            f"series {series!r} is imported and has no released views to make a public edition "
            "of: leave --public out"
        )

    def need_untold(self, series: str, error: type[SrsqlError]) -> None:
        """It tells no bounds."""

    def whose(self, ours: Found, theirs: Found) -> Found:
        """Somebody else's."""
        del ours
        return theirs

    def kept(self, bounds: frozenset[str]) -> frozenset[str]:
        """None that is known."""
        return frozenset()

    def measured(self, warehouse: Warehouse, release_id: int, rows: Rows) -> Rows:
        """Nothing of its bounds, nor of what its cases lost, unless their originals were told."""
        return [
            replace(row, violating=None, threshold=None, passed=None)
            if row.measure == "group_size"
            else row
            for row in rows
            if row.measure not in ("dr", "withheld") and (row.measure != "nil_star" or row.total)
        ]

    def singled_out(self, exact: Callable[[], Rows], telling: Telling[Rows]) -> Rows:
        """Its rows are not here."""
        return []


class ForeignCounts(Foreign):
    """A foreign table of counts: there are no cases, and nothing but an audit asks for it."""

    def need_cases(self, series: str, error: type[SrsqlError]) -> None:
        """No row is a case's."""
        raise error(
            f"series {series!r} has imported tables of counts, and no cases: 'srsql audit --series "
            f"{series}' judges them"
        )
