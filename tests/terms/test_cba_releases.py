"""A release of the model cba: what it shows, what it says of itself, and where it may not go."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.files import copied
from support.quarters import Report, crowd
from support.released import rows, views

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, PublishError, ReleaseError

pytestmark = pytest.mark.slow

QUARTER, VIEWS = "2011Q4", "release_2011q4"
POLICY = "constraint,term\nu1,A0\nu1,A1\nu1,A2\nu2,A3\nu2,A4\nu3,RARE\n"


def patients() -> list[Report]:
    """120 cases of which most have some of twelve indications, and one a rare one."""
    luck, terms = random.Random(1), [f"A{n}" for n in range(12)]
    made = [replace(r, indi=tuple(luck.sample(terms, luck.randint(0, 3)))) for r in crowd(120)]
    return [replace(made[0], indi=("A1", "Rare")), *made[1:]]


@pytest.fixture
def small(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    with Engine(copied(kept / "cba", tmp_path / "w.duckdb", {QUARTER: patients()})) as opened:
        yield opened


@pytest.mark.thorough
def test_a_release_shows_generalized_terms_measures_them_and_stays_in_the_house(
    small: Engine, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.csv"
    policy.write_text(POLICY)
    made = small.release(QUARTER, model="cba", k=5, m=2, policy=policy)
    con = small.con
    assert views(con, VIEWS) == ["generalized_terms", "manifest", "term_nodes"]
    nodes = {row["term"]: row["node"] for row in rows(con, f"FROM {VIEWS}.term_nodes")}
    assert "RARE" not in nodes
    assert len(nodes) == 12
    told = [frozenset(t.lower() for t in r.indi) for r in patients() if r.indi]
    shown: dict[int, set[int]] = {}
    for row in rows(con, f"FROM {VIEWS}.generalized_terms"):
        shown.setdefault(row["record"], set()).update({row["node"]} - {None})
    assert sorted(sorted(s) for s in shown.values()) == sorted(
        sorted({nodes[t] for t in terms if t in nodes}) for terms in told
    )
    facts = made.manifest
    assert facts["publication"] == "refused"
    assert "at least 5 records" in str(facts["terms_guarantee"])

    found = {(row.measure, row.scope): row for row in small.metrics(QUARTER)}
    gone = found["suppressed_terms", "distinct term"]
    assert (gone.violating, gone.total) == (1, 13)
    assert gone.ratio == pytest.approx(1 / 13)
    assert found["are_released", "W2, all"].total < found["are", "W2, all"].total
    assert found["mre_within_5", "constraint"].total == 3
    (pair, rare) = small.count_terms(QUARTER, [("A0", "A1"), ("RARE",)])
    assert pair.lower <= sum({"A0", "A1"} <= terms for terms in told) <= pair.upper
    assert (rare.lower, rare.expected, rare.upper) == (0, 0, len(told))
    assert rows(con, "SELECT count(*) AS n FROM released.term_nodes") == [{"n": 12}]
    with pytest.raises(PublishError, match="released by cba, a comparator"):
        small.publish(QUARTER, to=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_draft_that_was_tampered_with_is_not_confirmed(small: Engine) -> None:
    made = small.release(QUARTER, model="cba", k=5, draft=True)
    small.con.execute(
        f"DELETE FROM srsql_data.release_{made.release_id}_generalized_terms WHERE node = 1 "
        "AND record > 4"
    )
    with pytest.raises(CheckFailedError, match="check_node"):
        small.confirm(QUARTER)


def test_what_goes_with_disassociation_alone_is_refused(small: Engine, tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("A1\n")
    with pytest.raises(ReleaseError, match="--sensitive-terms does not go with the model cba"):
        small.release(QUARTER, model="cba", k=5, sensitive_terms=tmp_path / "terms.txt")
