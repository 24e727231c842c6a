"""What the steward alone asks and does: single cases, persons, copies of the warehouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import Calls
from srsql.engine.api.options import Name, Word
from srsql.engine.parameters import MAIN

if TYPE_CHECKING:
    from srsql.engine.grouping.persons import Duplicates
    from srsql.engine.release.ids import LookedUp
    from srsql.engine.steward.backup import Backup
    from srsql.engine.steward.explain import Explained
    from srsql.engine.steward.forget import Receipt
    from srsql.engine.steward.public_file import PublicFile
    from srsql.engine.store.frames import Rows


class StewardCalls(Calls):
    """``engine.steward``: single cases, suspected duplicates, copies of the warehouse.

    >>> engine.steward.explain("2011Q4", "7").case_id
    '7'
    """

    @reads(errors.DuplicatesError)
    def duplicates(
        self,
        *,
        event_date: Word = None,
        country: Word = None,
        seed: int = 1,
        dataset: Name = None,
        progress: Callable[[str], None] | None = None,
    ) -> Duplicates:
        """Suspected duplicates among all cases, by record linkage; see ``srsql duplicates``."""
        from srsql.engine.store import doors

        columns = {"event_date": event_date, "country": country}
        given = {role: name for role, name in columns.items() if name is not None}
        with self.warehouse.guarded():
            schema, find = self._context.dataset_of(None, dataset), doors.opened("persons")
            found: Duplicates = find(self.warehouse, schema, given, seed, progress)
            return found

    @reads(errors.LookUpError)
    def lookup(
        self,
        ids: Sequence[str],
        *,
        case: bool = False,
        quarter: Word = None,
        series: str = MAIN,
        dataset: Name = None,
    ) -> LookedUp:
        """The cases behind the pseudonyms of a series, or back."""
        from srsql.engine.release.ids import look_up

        with self.warehouse.guarded():
            schema = self._context.dataset_of(quarter, dataset)
            return look_up(self.warehouse, schema, series, ids, by_case=case, quarter=quarter)

    @reads(errors.LookUpError)
    def explain(
        self, quarter: str, case: str, *, series: str = MAIN, dataset: Name = None
    ) -> Explained:
        """Why a case has its region and group, or why it is withheld."""
        from srsql.engine.steward.explain import explain

        with self.warehouse.guarded():
            schema = self._context.dataset_of(quarter, dataset)
            return explain(self.warehouse, schema, series, quarter, case)

    @reads(errors.ForgetError)
    def forget(
        self,
        cases: Sequence[str],
        *,
        reason: Word = None,
        dry_run: bool = False,
        dataset: Name = None,
    ) -> Receipt:
        """Erase what the warehouse has of cases; see ``srsql forget``.

        The file is rebuilt, so that nothing is left in it; one of a connection that is not ours
        cannot be, which the receipt says.
        """
        from srsql.engine.steward.forget import complete, forget

        with self.warehouse.guarded():
            schema = self._context.dataset(dataset)
            receipt = forget(self.warehouse, schema, cases, reason or "", dry_run=dry_run)
        return complete(self.warehouse, schema, cases, receipt)

    @reads(errors.WarehouseError)
    def rebuild(self) -> None:
        """Erase what corrections left of forgotten cases, then write the file anew without what
        was deleted; see ``srsql forget --rebuild``."""
        from srsql.engine.catalog.datasets import dataset_names
        from srsql.engine.steward.backup import rebuild
        from srsql.engine.steward.forget import sweep

        with self.warehouse.guarded():
            for name in dataset_names(self.warehouse):
                sweep(self.warehouse, self._context.dataset(name))
        rebuild(self.warehouse)

    @reads(errors.WarehouseError)
    def split(
        self,
        to: str | Path | None = None,
        *,
        stop: bool = False,
        series: str = MAIN,
        dataset: Name = None,
    ) -> Rows[PublicFile]:
        """Keep what is out of a series in a file of its own; see ``srsql split``.

        Without ``to``: the public files that there are, each made anew unless it is up to date. The
        rows are the public files of the warehouse after the call.
        """
        from srsql.engine.errors import WarehouseError
        from srsql.engine.steward import public_file
        from srsql.engine.store.frames import Rows

        if to is not None and stop:
            raise WarehouseError("--stop keeps no public file any more: leave --to out")
        stopped, made = [], None
        with self.warehouse.guarded():
            if to is not None:
                schema = self._context.dataset_of(None, dataset)
                made = public_file.split(self.warehouse, schema, series, Path(to))
                public_file.follow(self.warehouse)
            elif stop:
                schema = self._context.dataset_of(None, dataset)
                stopped.append(public_file.stop(self.warehouse, schema, series))
            found = public_file.public_files(self.warehouse, made)
        return Rows([*stopped, *found], public_file.PublicFile)

    @reads(errors.WarehouseError)
    def backup(self, to: str | Path, *, if_needed: bool = False) -> Backup:
        """A copy of the warehouse in a new file; see ``srsql backup``."""
        from srsql.engine.steward.backup import backup

        with self.warehouse.guarded():
            return backup(self.warehouse, Path(to), if_needed=if_needed)
