"""A warehouse of an earlier layout becomes one of today's: on a copy, checked, then swapped."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

from srsql.engine.errors import DONE, WarehouseError
from srsql.engine.steward.backup import Counts, need_all, need_free, row_counts
from srsql.engine.store.database_file import NO_LIMITS, NOW, Limits, Wait, attached, told
from srsql.engine.store.definitions import LAYOUT
from srsql.engine.store.runs import complete_run, start_run
from srsql.engine.store.scratch import private_folder, remove_leftovers, renames, sync
from srsql.engine.store.statements import query, step_file
from srsql.engine.store.warehouse import Warehouse

STEPS: dict[int, tuple[str, ...]] = {
    1: ("warehouse/layout_1_to_2",),
    2: ("warehouse/layout_2_to_3_ids", "warehouse/layout_2_to_3_ledger"),
    3: ("warehouse/layout_3_to_4_series",),
    4: ("warehouse/layout_4_to_5_runs",),
    5: ("warehouse/layout_5_to_6_suppressed", "warehouse/layout_5_to_6_refined"),
    6: (),
    7: (),
    8: ("warehouse/layout_8_to_9_lattice",),
    9: (),
    10: (),
    11: ("warehouse/layout_11_to_12_keys",),
    12: (),
}
"""From a layout to the next one, in their order; tables that it adds empty are made when the
warehouse is opened (layout 7: ``srsql.verdict`` and ``srsql.verdict_group``; layout 8: the tables
 of a lake; layout 10: those of suspected duplicates; layout 11: ``srsql.waiting``
and ``srsql.taken_case``; layout 12: ``srsql.ingested_column``, ``srsql.ingested_text``,
``srsql.required_table``, ``srsql.dataset_key`` and ``srsql.release_key``; layout 13:
``srsql.ingested_count`` and ``srsql.dump_period``)."""
RENAMED = {
    ("srsql", "trait"): ("srsql", "case_flag"),
    ("srsql", "promise"): ("srsql", "defended_attack"),
    ("srsql", "spent"): ("srsql", "budget_ledger"),
}
"""Catalog tables of earlier layouts, and what they are called now."""
UNCHANGED = "the warehouse was not migrated and is as it was"
GROWN = frozenset({("srsql", "budget_ledger"), ("srsql", "series_parameter")})
"""Tables to which a step adds rows: charges that earlier versions did not make, and that a series
goes on without refinement, or with version 0 of the key of terms."""


@dataclass(frozen=True)
class Migration:
    """What became of a warehouse."""

    path: str
    from_layout: int
    to_layout: int
    tables: int
    """Stored tables and released views whose rows were counted before and after."""
    rows: int
    kept: str | None
    """The file as it was; None where nothing had to be done."""


def migrate(path: Path, limits: Limits = NO_LIMITS, *, wait: Wait = NOW) -> Migration:
    """Bring a warehouse file to the layout of this version; the old file stays beside it.

    The steps run on a copy. The copy takes the file's place only after it was
    opened by this version and every stored table and released view had as many rows as before.
    Until then the file is not touched: whatever ends the migration early leaves it as it was.

    Args:
        path: of the warehouse.
        limits: what the process may take.
        wait: how long for another process to let it go.

    Raises:
        WarehouseError: there is no such file, another process has it open, it is no warehouse, its
            layout is unknown, the file of an earlier migration stands in the way, or the copy has
            other rows than the original.
    """
    remove_leftovers(path)  # and what a migration that was killed did not finish
    if not path.is_file():
        raise WarehouseError(f"no warehouse at {path}: give --db the file to migrate")
    found, before = _inspect(path, limits, wait)
    if found == LAYOUT:
        return Migration(str(path), found, LAYOUT, len(before), sum(before.values()), None)
    if found > LAYOUT or any(layout not in STEPS for layout in range(found, LAYOUT)):
        raise WarehouseError(
            f"the warehouse has layout {found}, this srsql knows 1 to {LAYOUT}: use the srsql "
            "version that made it"
        )
    kept = path.with_name(f"{path.name}.layout-{found}")
    need_free(kept, path)
    try:
        with private_folder(path, "copying") as folder:
            copy = folder / path.name
            shutil.copyfile(path, copy)
            for layout in range(found, LAYOUT):
                _take(copy, layout, limits)
            with Warehouse(copy, **asdict(limits)) as opened:
                after = row_counts(opened.con)
                steps = {"from_layout": found, "to_layout": LAYOUT}
                complete_run(opened, start_run(opened, "migrate", steps), DONE)
            need_all(before, after, UNCHANGED, RENAMED, GROWN)
            sync(copy)
            copy.chmod(path.stat().st_mode & 0o777)
            with renames(copy, path) as names:
                names.keep(path, kept)
                names.finish()
    except OSError as error:
        raise told(path, error) from None
    return Migration(str(path), found, LAYOUT, len(after), sum(after.values()), str(kept))


def _inspect(path: Path, limits: Limits, wait: Wait) -> tuple[int, Counts]:
    """Layout and rows; what a write-ahead log still holds is in the file afterwards."""
    con = attached(path, limits=limits, wait=wait)
    try:
        try:
            ((layout,),) = con.execute(query("warehouse/migrate", "layout")).fetchall()
        except (duckdb.CatalogException, duckdb.BinderException, ValueError):
            raise WarehouseError(f"{path} is no warehouse of srsql") from None
        counts = row_counts(con)
        con.execute("CHECKPOINT")
    finally:
        con.close()
    return int(layout), counts


def _take(copy: Path, layout: int, limits: Limits) -> None:
    """One step, from ``layout`` to the next; it needs no transaction, since a copy is discarded."""
    con = attached(copy, limits=limits)
    try:
        for step in STEPS[layout]:
            for statement in step_file(step).statements():
                con.execute(statement)
        ((following,),) = con.execute(query("warehouse/migrate", "next_release_id")).fetchall()
        con.execute(f"CREATE OR REPLACE SEQUENCE srsql.release_ids START WITH {int(following)}")
        con.execute(query("warehouse/migrate", "set_layout"), {"layout": layout + 1})
        con.execute("CHECKPOINT")
    finally:
        con.close()
