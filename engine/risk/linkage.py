"""How well one who knows a case's QID can link it to its published record: RR and AR_rev."""

from __future__ import annotations

from srsql.engine.measures import MeasureRow
from srsql.engine.risk.medical import Medical, load_medical
from srsql.engine.warehouse.statements import dotted
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

_PLAIN = ("rr", "ar_rev")
_INFORMED = ("rr_medical", "rr_bias", "ar_medical", "ar_bias")


def measure_linkage(
    warehouse: Warehouse, dataset: Dataset, release_id: int, medical: Medical | None
) -> list[MeasureRow]:
    """RR and AR_rev of a release, without and with medical knowledge (Wu 2022, section V).

    Nothing but temporary tables is written; the warehouse may be read-only.

    Args:
        warehouse: where the release is.
        dataset: of the release.
        release_id: of the release.
        medical: what the attacker knows about diseases; None leaves those rows out.

    Returns:
        No rows where the originals are not known (an imported release).

    Raises:
        DatasetError: the medical knowledge names no node of a hierarchy.
    """
    load_medical(warehouse, dataset, release_id, medical)
    warehouse.run_step("risk/linkage", {"release_id": release_id})
    found = {
        row[1]: MeasureRow(*row)
        for row in warehouse.rows("SELECT r.* FROM temp.main.srsql_link_risk AS r")
    }
    for (name,) in warehouse.rows(
        "SELECT t.table_name FROM duckdb_tables() AS t "
        "WHERE t.temporary AND starts_with(t.table_name, 'srsql_link_')"
    ):
        warehouse.run(f"DROP TABLE {dotted('temp', 'main', name)}")
    rows = [found[name] for name in (*_PLAIN, *(_INFORMED if medical else ()))]
    return [row for row in rows if row.total]
