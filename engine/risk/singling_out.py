"""What one who knows a patient's region and some published items can single out and infer.

Items are the published drugs and terms of a case (SPEC section 18). They stand beside the region
that the model protects and are published as they are, so no bound of a model limits these figures.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.measures import MeasureRow
from srsql.engine.risk.term_counts import raw_values
from srsql.engine.warehouse.releases import series_dataset
from srsql.engine.warehouse.statements import column, create, dotted, temporary, union_all
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

SEED = 0
"""Of the sets of three items: whoever measures a release again draws the same."""
_ITEM = "srsql_known_item"
EVERY_CASE = 2**31 - 1
SOME_CASES = 5_000
"""Cases drawn where an estimate will do: the standard error of a share is 0.7 % at most."""
_MACROS = (
    "singling_out({id}, 'temp.main.srsql_known_item', {cases}, {seed})",
    "unbounded_values({id})",
    "unanimous_regions({id})",
)


def measure_singling_out(
    warehouse: Warehouse, dataset: Dataset, series: str, release_id: int, cases: int = EVERY_CASE
) -> list[MeasureRow]:
    """Shares of cases that known items single out, or of which a further term follows from them.

    Nothing but temporary tables is written; the warehouse may be read-only.

    Args:
        warehouse: where the release is.
        dataset: of the release.
        series: of the release.
        release_id: of the release.
        cases: so many are drawn and looked at, if there are more.

    Returns:
        No rows where no rows of cases are published, or somebody else's originals are not known.

    Source: SPEC section 18.
    """
    visible = series_dataset(warehouse, dataset, series)
    items = known_items(visible, release_id)
    if items is None or not warehouse.value(
        "SELECT count(*) FROM srsql.case_qid AS q WHERE q.release_id = ?", [release_id]
    ):
        return []
    quarter = warehouse.value(
        "SELECT r.quarter FROM srsql.release AS r WHERE r.release_id = ?", [release_id]
    )
    warehouse.run(create(temporary(_ITEM), items, temp=True), {"quarter": quarter})
    values = {"id": int(release_id), "cases": cases, "seed": SEED}
    rows = [
        MeasureRow(*row)
        for macro in _MACROS
        for row in warehouse.rows(f"FROM srsql.{macro.format(**values)}")
    ]
    warehouse.run(f"DROP TABLE {dotted('temp', 'main', _ITEM)}")
    return [row for row in rows if row.total]


def known_items(visible_dataset: Dataset, release_id: int) -> exp.Query | None:
    """(case_no, attribute, term, sensitive) of the released cases in $quarter, no row twice.

    None where no attribute is published beside the rows of cases.
    """
    published = {source.name: source.publish for source in visible_dataset.row_tables}
    parts: list[exp.Query] = [
        raw_values(visible_dataset, release_id, attribute.column, attribute.table)
        .select(
            column("case_no", "m"),
            exp.Literal.string(attribute.column).as_("attribute"),
            column(f"srsql_{attribute.column}", "t").as_("term"),
            exp.convert(sensitive).as_("sensitive"),
        )
        .distinct()
        for sensitive, attributes in (
            (True, visible_dataset.sensitive),
            (False, visible_dataset.quasi_sensitive),
        )
        for attribute in attributes
        if attribute.column in published.get(attribute.table, ())
    ]
    return union_all(parts) if parts else None
