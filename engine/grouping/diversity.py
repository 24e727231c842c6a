"""Multi-sensitive l-diversity: values told apart by attribute, groups made from the top down."""

from __future__ import annotations

from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset


def set_values(warehouse: Warehouse, dataset: Dataset) -> None:
    """Fill ``srsql_value(case_no, value_no)``, ``srsql_value_kind`` and ``srsql_sensitive``.

    A value is a term of one sensitive attribute (``srsql_value_kind``: value_no, attribute_no);
    an attribute that nobody has a value of is in ``srsql_sensitive(attribute_no)`` all the same.
    """
    names = list(dict.fromkeys(a.column for a in dataset.sensitive))
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_sensitive AS "
        "SELECT u.place - 1 AS attribute_no, u.attribute FROM (SELECT unnest(?::VARCHAR[]) AS"
        " attribute, unnest(range(1, len(?::VARCHAR[]) + 1)) AS place) AS u",
        [names, names],
    )
    warehouse.run_step("grouping/values")


def partition_pattern(warehouse: Warehouse, pattern: int, least: int) -> None:
    """Fill ``srsql_placed`` with the groups of one missingness pattern."""
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_placed AS SELECT g.case_no, g.group_no "
        "FROM srsql.partition_cases('temp.main.srsql_profile', 'temp.main.srsql_bounded',"
        " 'temp.main.srsql_value', 'temp.main.srsql_value_kind', 'temp.main.srsql_sensitive',"
        " 'temp.main.srsql_attribute', ?, ?) AS g",
        [pattern, least],
    )
