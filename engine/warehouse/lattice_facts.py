"""What the catalog keeps of a release over the lattice."""

from __future__ import annotations

from srsql.engine.errors import SrsqlError
from srsql.engine.lattice.dimensions import Dimension
from srsql.engine.lattice.result import Made
from srsql.engine.warehouse.warehouse import Warehouse


def keep_lattice(
    warehouse: Warehouse,
    dimensions: tuple[Dimension, ...],
    informative: str,
    least: int,
    made: Made,
) -> None:
    """Write the node that was taken, and what was seen of the lattice, under ``srsql_run``.

    ``least``: records that every published class claims to have.
    """
    release_id = warehouse.value("SELECT u.release_id FROM temp.main.srsql_run AS u")
    warehouse.run(
        "INSERT INTO srsql.lattice VALUES (?, ?, ?, ?, ?)",
        [release_id, [d.name for d in dimensions], list(made.levels), informative, least],
    )
    for seen in made.looked_at:
        warehouse.run(
            "INSERT INTO srsql.lattice_node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                release_id,
                list(seen.levels),
                seen.levels == made.levels,
                seen.classes,
                seen.records,
                seen.suppressed,
                seen.counterfeits,
                seen.loss.ncp,
                seen.loss.emd,
                seen.loss.rate,
            ],
        )


def over_lattice(warehouse: Warehouse, release_id: int) -> bool:
    """Whether a release has rows of its own making instead of those of its cases."""
    return bool(
        warehouse.value(
            "SELECT count(*) FROM srsql.lattice AS l WHERE l.release_id = ?", [release_id]
        )
    )


def series_over_lattice(warehouse: Warehouse, dataset: str, series: str) -> bool:
    """Whether the releases of a series have such rows."""
    return bool(
        warehouse.value(
            "SELECT count(*) FROM srsql.lattice AS l INNER JOIN srsql.release AS r "
            "ON l.release_id = r.release_id WHERE r.dataset = ? AND r.series = ?",
            [dataset, series],
        )
    )


def need_cases(warehouse: Warehouse, dataset: str, series: str, error: type[SrsqlError]) -> None:
    """Refuse what is about cases, of which such a series shows none.

    Raises:
        SrsqlError: of the kind ``error``.
    """
    if series_over_lattice(warehouse, dataset, series):
        raise error(
            f"series {series!r} releases rows that are no case's (ipa, full-domain, dp-histogram): "
            "they are measured by 'srsql metrics' and read in released_rows"
        )
