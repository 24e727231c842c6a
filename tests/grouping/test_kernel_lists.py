"""The lists that kernels of grouping and of disassociation take are those of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from support.sql import Sql

BOXES = [(1, 0, 30, 39), (1, 2, 5, 5), (2, 0, None, None), (2, 1, 7, 8), (3, 0, 1, 2)]
MEMBERS = [(1, 0b001), (2, 0b011)]
TERMS = [(1, 0, 2), (2, 1, 3), (2, 0, 1), (3, 0, 9)]
ATTRIBUTES = [(2, 9, [0], [0], [0]), (0, 100, [], [], []), (1, 3, [1, 1], [1, 1], [1, 0])]
THRESHOLDS = [(1, 2, 5), (0, 1, 3)]
BASKET = [(1, 4), (2, 4), (2, 5), (3, 6)]
CLUSTERS = [(1, 7), (2, 7), (4, 8)]


@pytest.fixture
def tables(sql: Sql) -> Sql:
    """Small tables, with rows of cases and records that are not asked for."""
    for name, columns, rows in (
        ("boxes", "case_no INTEGER, position INTEGER, low BIGINT, high BIGINT", BOXES),
        ("members", "case_no INTEGER, known BIGINT", MEMBERS),
        ("terms", "case_no INTEGER, term_no INTEGER, weight BIGINT", TERMS),
        ("attributes", "position INTEGER, span BIGINT, parent INTEGER[], last INTEGER[], "
         "height INTEGER[]", ATTRIBUTES),
        ("thresholds", "term_no INTEGER, theta_num BIGINT, theta_den BIGINT", THRESHOLDS),
        ("basket", "record_no INTEGER, term_no INTEGER", BASKET),
        ("clusters", "record_no INTEGER, cluster_no INTEGER", CLUSTERS),
        ("nothing", "record_no INTEGER, cluster_no INTEGER", []),
    ):  # fmt: skip
        sql.table(name, columns, rows)
    return sql


def told(tables: Sql, call: str) -> list[tuple[Any, ...]]:
    """The structs of the one list, as tuples."""
    ((found,),) = tables.rows(f"FROM srsql.{call}")
    return [tuple(struct.values()) for struct in found]


def same(found: Iterable[tuple[Any, ...]], wanted: Iterable[tuple[Any, ...]]) -> bool:
    return sorted(found, key=str) == sorted(wanted, key=str)


def test_boxes_are_those_of_the_members_by_what_they_are_grouped_by(tables: Sql) -> None:
    known = dict(MEMBERS)
    wanted = [box for box in BOXES if known.get(box[0], 0) >> box[1] & 1]
    assert same(told(tables, "box_list('boxes', 'members')"), wanted)
    assert len(wanted) == 3


def test_every_box_that_is_known_is_told(tables: Sql) -> None:
    wanted = [box for box in BOXES if box[2] is not None]
    assert same(told(tables, "every_box_list('boxes')"), wanted)
    tables.rows("DELETE FROM boxes")
    assert told(tables, "every_box_list('boxes')") == []


def test_terms_are_those_of_the_members(tables: Sql) -> None:
    wanted = [row for row in TERMS if row[0] in dict(MEMBERS)]
    assert same(told(tables, "term_list('terms', 'members')"), wanted)


@pytest.mark.parametrize(("chosen", "places"), [(-1, [0, 1, 2]), (0b101, [0, 2]), (0, [])])
def test_attributes_are_the_chosen_ones_in_order(
    tables: Sql, chosen: int, places: list[int]
) -> None:
    rows = {row[0]: row for row in ATTRIBUTES}
    found = told(tables, f"attribute_list('attributes', {chosen})")
    assert found == [rows[place] for place in places]


def test_thresholds_are_in_the_order_of_their_terms(tables: Sql) -> None:
    wanted = [row[1:] for row in sorted(THRESHOLDS)]
    assert told(tables, "threshold_list('thresholds')") == wanted


def test_clusters_have_the_number_and_the_terms_of_their_records(tables: Sql) -> None:
    assert same(told(tables, "cluster_list('clusters')"), [(7, 2), (8, 1)])
    assert told(tables, "cluster_list('nothing')") == []
    wanted = [(cluster, record, term) for record, cluster in CLUSTERS
              for other, term in BASKET if other == record]  # fmt: skip
    assert same(told(tables, "cluster_term_list('basket', 'clusters')"), wanted)
    assert told(tables, "cluster_term_list('basket', 'nothing')") == []
