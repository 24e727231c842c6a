"""Questions: counts from released views, dictionaries, spellings, age groups and terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import CallableCalls
from srsql.engine.api.options import Name, Word
from srsql.engine.parameters import MAIN

if TYPE_CHECKING:
    from srsql.engine.errors import SrsqlError
    from srsql.engine.query.answer import Answer
    from srsql.engine.query.coverage import Coverage, Spellings
    from srsql.engine.risk.group_questions import GroupAnswer
    from srsql.engine.risk.term_counts import TermCount
    from srsql.engine.store.frames import Rows
    from srsql.schemas import Dataset


class QueryCalls(CallableCalls):
    """``engine.query``: what is asked of released views.

    >>> answer = engine.query.ask("SELECT count(DISTINCT caseid) FROM demo")
    >>> answer.columns, answer.rows
    (('lower', 'expected', 'upper', 'known'), ((60, 60.0, 60, 60),))
    """

    NAME, CALL = "query", "ask"

    @reads(errors.QueryError, called="query")
    def ask(
        self,
        sql: str,
        *,
        quarter: Word = None,
        include_withheld: bool = False,
        allow_unknown: bool = False,
        level: Sequence[str] | None = None,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Answer:
        """A question over the original tables, from released views; see ``srsql query``."""
        from srsql.engine.catalog.levels import names_dropped, read_levels
        from srsql.engine.query.answer import Asking, query

        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._context.visible(series, quarter, dataset)
            asking = Asking(include_withheld, allow_unknown, read_levels(schema, level or ()))
            return query(self.warehouse, schema, series, sql, quarter=quarter, asking=asking)

    @reads(errors.LevelError)
    def drugs(
        self,
        level: str,
        *,
        unmatched: bool = False,
        quarter: Word = None,
        released_only: bool = False,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Coverage:
        """What a dictionary calls the values of a column, by cases; see ``srsql drugs``."""
        from srsql.engine.catalog.levels import names_dropped, read_levels
        from srsql.engine.query.coverage import coverage

        shown = series if self._context.released_only(released_only) else None
        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._read(shown, quarter, dataset, errors.LevelError)
            (asked,) = read_levels(schema, [level])
            return coverage(
                self.warehouse, schema, asked, series=shown, quarter=quarter, unmatched=unmatched
            )

    @reads(errors.QueryError)
    def spellings(
        self,
        *,
        column: Word = None,
        quarter: Word = None,
        released_only: bool = False,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Spellings:
        """The terms that reports spell in several ways, by cases; see ``srsql spellings``."""
        from srsql.engine.catalog.levels import names_dropped
        from srsql.engine.query.coverage import spellings

        shown = series if self._context.released_only(released_only) else None
        with self.warehouse.guarded(), names_dropped(self.warehouse):
            schema = self._read(shown, quarter, dataset, errors.QueryError)
            return spellings(self.warehouse, schema, column, quarter=quarter, series=shown)

    @reads(errors.SrsqlError)
    def age_groups(
        self,
        quarter: str,
        value: Word = None,
        *,
        width: int = 5,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Rows[GroupAnswer]:
        """Q1 to Q4 of Lee 2020 of a release of ipa, full-domain or dp-histogram, and the truth.

        Cases of one informative value by age group (None: of the value that most cases hold).
        """
        from srsql.engine.catalog.releases import over_lattice
        from srsql.engine.risk.group_questions import GroupAnswer, group_answers
        from srsql.engine.store.frames import Rows

        self._context.need_originals("errors of answers are")
        with self.warehouse.guarded():
            schema, found = self._context.released(quarter, dataset, series)
            over = over_lattice(self.warehouse, found)
            rows = group_answers(self.warehouse, schema, found, value, width) if over else []
            return Rows(rows, GroupAnswer)

    @reads(errors.QueryError)
    def count_terms(
        self,
        quarter: str,
        sets: Sequence[Sequence[str]],
        *,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Rows[TermCount]:
        """How many records hold all terms of each set, by the released tables of terms alone."""
        from srsql.engine.risk.metrics import count_term_sets
        from srsql.engine.risk.term_counts import TermCount
        from srsql.engine.store.frames import Rows

        with self.warehouse.guarded():
            _, release_id = self._context.released(quarter, dataset, series)
            found = count_term_sets(self.warehouse, release_id, [tuple(s) for s in sets])
            return Rows(found, TermCount)

    def _read(
        self, series: str | None, quarter: Word, dataset: Name, error: type[SrsqlError]
    ) -> Dataset:
        """The dataset as it was loaded, or as a series releases it, which has to have cases."""
        from srsql.engine.shapes import need_cases

        if series is None:
            return self._context.dataset_of(quarter, dataset)
        schema = self._context.visible(series, quarter, dataset)
        need_cases(self.warehouse, schema, series, error)
        return schema
