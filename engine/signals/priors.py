"""Priors of the gamma-Poisson shrinker, kept of a warehouse for as long as nobody writes it.

Counting all pairs and fitting takes most of the seconds of one pair. A prior is a function of the
rows that count, so that it is the same until the file is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from srsql import udfs
from srsql.engine.parameters import Missing
from srsql.engine.signals.cases import Scope
from srsql.engine.signals.results import Shrinkage
from srsql.engine.signals.rules import Condition, Counting
from srsql.engine.store.definitions import definitions
from srsql.engine.store.statements import source
from srsql.engine.store.warehouse import Warehouse

_STATEMENTS = ("srsql.sql_macros", "signals/queries/tables.sql")
NUMBERS = ("alpha1", "beta1", "alpha2", "beta2", "p")


class Priors:
    """Those of one way to count."""

    def __init__(self, warehouse: Warehouse, scope: Scope, counting: Counting) -> None:
        self._warehouse, self._scope, self._counting = warehouse, scope, counting
        self._found: dict[str, Shrinkage] = {}

    @cached_property
    def _told(self) -> str:
        scope = self._scope
        return repr((
            scope.dataset.fingerprint, scope.schema, scope.releases, scope.roles, scope.shows_keys,
            scope.states, self._counting,
        ))  # fmt: skip

    def kept(
        self, condition: Condition, missing: Missing, side: str, statement: str
    ) -> Shrinkage | None:
        """The prior that was fitted by a statement over a side; None: none is kept.

        What was found once is found again, whatever becomes of the cache meanwhile: rows of other
        pairs may not be at hand any more, of which it would be fitted anew.

        Args:
            condition: of all pairs.
            missing: what becomes of cases without a value that it asks for.
            side: ``ORIGINAL`` or ``RELEASED``.
            statement: of ``signals/tables``, that fits it.
        """
        name = self._name(condition, missing, side, statement)
        if name not in self._found:
            row = self._warehouse.kept(name)
            if not _is_prior(row):
                return None
            self._found[name] = Shrinkage(condition, side, *row)
        return self._found[name]

    def of(
        self,
        condition: Condition,
        missing: Missing,
        side: str,
        statement: str,
        fit: Callable[[], tuple[Any, ...]],
    ) -> Shrinkage:
        """The prior that is ``kept``, or that is fitted now: ``fit`` gives the pairs, and
        ``NUMBERS``."""
        if found := self.kept(condition, missing, side, statement):
            return found
        row = fit()
        self._warehouse.keep(self._name(condition, missing, side, statement), list(row))
        return Shrinkage(condition, side, *row)

    def _name(self, condition: Condition, missing: Missing, side: str, statement: str) -> str:
        """Everything that a prior depends on beside the file."""
        asked = repr((_made_by(), self._told, condition, missing, side, statement))
        return f"prior {hashlib.sha256(asked.encode()).hexdigest()}"


@cache
def _made_by() -> str:
    """What counts and fits."""
    return f"{definitions()} {source(*_STATEMENTS)} {source(udfs.__name__, 'shrinkage.py')}"


def _is_prior(row: Any) -> bool:
    """Whether what was kept is one: a number of pairs, and numbers or none."""
    if not isinstance(row, list) or len(row) != 1 + len(NUMBERS) or type(row[0]) is not int:
        return False
    return all(type(each) is float for each in row[1:]) or row[1:] == [None] * len(NUMBERS)
