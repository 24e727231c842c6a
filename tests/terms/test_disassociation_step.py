"""The step of disassociation in SQL: what it refuses, and what it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pytest
from support.baskets import Desk

from srsql.engine.errors import ReleaseError
from srsql.engine.terms import disassociate as made_by
from srsql.engine.terms.disassociate import parts_too_small
from srsql.engine.workers.carriers import InProcess, Work

pytestmark = pytest.mark.slow

PUBLISHED = (
    "clusters", "joint_clusters", "record_chunk", "shared_chunk", "item_chunk", "reconstructed",
)  # fmt: skip
COLUMNS = {
    "clusters": ["cluster", "records"],
    "joint_clusters": ["joint", "cluster"],
    "record_chunk": ["cluster", "chunk", "subrecord", "term"],
    "shared_chunk": ["joint", "chunk", "subrecord", "term"],
    "item_chunk": ["cluster", "term"],
    "reconstructed": ["record", "cluster", "term"],
}


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.close()


def some_baskets(n: int = 300, terms: int = 40) -> list[frozenset[int]]:
    rng = np.random.default_rng(11)
    return [
        frozenset((rng.random(1 + rng.poisson(3)) ** 2 * terms).astype(int).tolist())
        for _ in range(n)
    ]


def published(desk: Desk) -> list[list[tuple[object, ...]]]:
    return [desk.rows(f"srsql_pub_{table}") for table in PUBLISHED]


def test_a_part_with_too_few_records_is_counted_and_refused(desk: Desk) -> None:
    desk.put([{1}, {2}, {1}, {2}, {1, 2}], parts=[0, 0, 0, 1, 1])
    assert parts_too_small(desk.warehouse, 3) == [(1, 2)]
    with pytest.raises(ReleaseError, match="1 parts of the data, 2 records in all"):
        desk.run(3, 2)


@pytest.mark.parametrize(
    ("k", "m", "options"), [(1, 2, {}), (3, 0, {}), (3, 2, {"max_size": 2}), (3, 2, {"least": 2})]
)
def test_parameters_that_guarantee_nothing_are_refused(
    desk: Desk, k: int, m: int, options: dict[str, int]
) -> None:
    desk.put([{1}] * 4)
    with pytest.raises(ReleaseError, match="needs k >= 2"):
        desk.run(k, m, **options)


def test_nothing_is_made_of_nothing(desk: Desk) -> None:
    desk.put([])
    desk.run(3, 2)
    assert published(desk) == [[]] * len(PUBLISHED)


def test_the_published_tables_have_these_columns_alone(desk: Desk) -> None:
    desk.put(some_baskets())
    desk.run(3, 2)
    for table, columns in COLUMNS.items():
        found = desk.con.execute(f"DESCRIBE temp.main.srsql_pub_{table}").fetchall()
        assert [(row[0], row[1]) for row in found] == [
            (c, "VARCHAR" if c == "term" else "INTEGER") for c in columns
        ]
        rows = desk.rows(f"srsql_pub_{table}")
        assert rows == sorted(rows)  # the order of the rows tells nothing


def test_threads_and_the_order_of_rows_change_nothing() -> None:
    baskets = some_baskets()
    found = []
    for threads in (1, 4):
        desk = Desk(threads)
        desk.put(baskets, constraints=[{0, 1, 2}, {10, 11}], kept_apart={5})
        if threads == 4:
            for table in ("srsql_basket", "srsql_part", "srsql_constraint"):
                desk.con.execute(
                    f"CREATE OR REPLACE TEMP TABLE {table} AS "
                    f"SELECT t.* FROM {table} AS t ORDER BY hash(t)"
                )
        desk.run(4, 2, max_size=40, seed=3, order_seed=4)
        found.append(published(desk))
        assert all(found[0])
        desk.close()
    assert found[0] == found[1]


class Backwards(InProcess):
    """A carrier that brings the last part first."""

    parts = 0

    def carry(self, work: Work, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
        waiting = list(parts)[::-1]
        self.parts += len(waiting)
        yield from super().carry(work, waiting)


@pytest.mark.thorough
@pytest.mark.parametrize("records", [30, 10_000])
def test_who_carries_clusters_changes_nothing_of_their_chunks(
    desk: Desk, records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_by, "CARRIED_RECORDS", records)
    rng = np.random.default_rng(records)
    with Backwards() as carrier:
        for _ in range(5):
            parts = rng.integers(0, 3, 300).tolist()
            desk.put(some_baskets(), parts=parts, constraints=[{0, 1, 2}], kept_apart={5})
            found = []
            for who in (None, carrier):
                desk.run(4, 2, max_size=40, seed=3, order_seed=4, carrier=who)
                found.append([desk.rows("srsql_chunk_term"), *published(desk)])
            assert found[0] == found[1]
        assert carrier.parts == 5 if records > 300 else carrier.parts > 25
        desk.put([])
        desk.run(3, 2, carrier=carrier)
        assert published(desk) == [[]] * len(PUBLISHED)


def test_seeds_decide_the_sample_and_the_order_and_nothing_else(desk: Desk) -> None:
    desk.put(some_baskets())
    runs = []
    for options in ({"seed": 1}, {"seed": 1, "order_seed": 2}, {"seed": 3, "order_seed": 2}):
        desk.run(4, 2, max_size=40, **options)
        runs.append(published(desk))
    plain = {PUBLISHED.index(t) for t in ("clusters", "joint_clusters", "item_chunk")}
    for i in plain:
        assert runs[0][i] == runs[1][i] == runs[2][i]
    chunk, sample = PUBLISHED.index("record_chunk"), PUBLISHED.index("reconstructed")
    assert runs[0][chunk] != runs[1][chunk]
    assert runs[1][chunk] == runs[2][chunk]
    assert runs[1][sample] != runs[2][sample]


def test_roles_rank_terms_by_support(desk: Desk) -> None:
    desk.put([{7}, {7, 3}, {3}, {5}], constraints=[{3, 9}], kept_apart={5})
    roles = desk.con.execute(
        "SELECT r.* FROM srsql.term_roles('temp.main.srsql_basket', "
        "'temp.main.srsql_constraint', 'temp.main.srsql_sensitive_number') AS r ORDER BY r.term_no"
    ).fetchall()
    assert roles == [(3, 0, False, 2, 0), (5, -1, True, 1, 2), (7, -1, False, 2, 1)]
