"""The released views that a question is answered from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.warehouse.statements import column, table


@dataclass(frozen=True)
class Views:
    """Where the released rows of some quarters are."""

    schemas: Mapping[str, str]
    """Quarter -> schema of its release."""
    cumulative: str | None
    """Schema of all of them together; None: one quarter alone is asked."""
    keyed: str | None
    """The series, if its ids are pseudonyms."""

    def table(self, name: str, alias: str) -> exp.Table:
        """One released table."""
        (schema,) = [self.cumulative] if self.cumulative else self.schemas.values()
        return table(schema, name, alias=alias)

    def quarter(self, alias: str) -> exp.Expr:
        """The quarter of a row."""
        if self.cumulative:
            return column("quarter", alias)
        return exp.Literal.string(*self.schemas)
