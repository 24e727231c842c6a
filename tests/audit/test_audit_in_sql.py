"""``srsql.audit`` gives the figures of the audit, which the definitions hold by brute force."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audit import Case, Group, Release
from oracles.examples import REPEATABLE
from sqlglot import exp
from support.audited_series import DATASET, Catalog, series

from srsql.engine.audit.audit import Audit, audit
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.grouping.thresholds import parse_theta

pytestmark = pytest.mark.slow

ATTACKS = ("b", "f", "l", "md", "ss", "p")
EXAMPLES = int(os.environ.get("AUDIT_EXAMPLES", "8"))


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    made = Catalog()
    made.con.execute("INSERT INTO srsql.series VALUES ('d', 'main', 'f', 'released', NULL, 'x')")
    yield made
    made.con.close()


def records(con: duckdb.DuckDBPyConnection, call: str) -> list[dict[str, Any]]:
    found = con.execute(f"FROM {call}")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def same(found: Audit, rows: list[dict[str, Any]]) -> None:
    """Every figure of every row."""
    assert [(r["release_id"], r["scope"]) for r in rows] == [
        (r.release_id, r.scope) for r in found.releases
    ]
    for row, due in zip(rows, found.releases, strict=True):
        assert row == {
            **row,
            "period": due.quarter, "model": due.model, "status": due.status, "safe": due.safe,
            "attacks": list(due.attacks), "not_evaluated": list(due.not_evaluated),
            "undefended": list(due.undefended), "k": due.k, "groups": due.groups,
            "dig": due.dig, "dsg": due.dsg, "ssg": due.ssg,
            "dir": due.dir, "dsr": due.dsr, "ssgr": due.ssgr,
            "persistence": due.persistence, "erasure": due.erasure,
            "erasure_claimed": due.erasure_claimed, "erasure_series": due.erasure_series,
            "leaving": due.leaving.groups if due.leaving else None,
            "outside": due.outside, "internal": due.internal,
            "bounds_broken": due.qid_bounding,
        }  # fmt: skip


def options(attacks: list[str] | None, **others: Any) -> AuditOptions:
    return AuditOptions(
        attacks=tuple(attacks) if attacks else None, evidence=0, leaving=True, **others
    )


@settings(parent=REPEATABLE, max_examples=EXAMPLES)
@given(
    releases=series(),
    attacks=st.one_of(st.none(), st.lists(st.sampled_from(ATTACKS), min_size=1, unique=True)),
    promised=st.lists(st.sampled_from(ATTACKS), unique=True),
    originals=st.booleans(),
    corrected=st.booleans(),
)
def test_every_figure_is_that_of_the_audit(
    catalog: Catalog,
    releases: list[Release],
    attacks: list[str] | None,
    promised: list[str],
    originals: bool,
    corrected: bool,
) -> None:
    catalog.clear()
    for i, release in enumerate(releases):
        catalog.add(i, release, originals=originals, attacks=promised)
        if corrected and i and releases[i - 1].quarter == release.quarter:
            catalog.con.execute("INSERT INTO srsql.correction VALUES (?, ?, false)", [i, i - 1])
    found = audit(catalog.warehouse, DATASET, "main", options(attacks))
    same(found, records(catalog.con, f"srsql.audit(attacks := {attacks or 'NULL'})"))


@settings(parent=REPEATABLE, max_examples=max(2, EXAMPLES // 4))
@given(releases=series(), next_ids=st.sets(st.integers(1, 9).map(str)))
def test_the_next_period_and_other_bounds_count_as_in_the_audit(
    catalog: Catalog, releases: list[Release], next_ids: set[str]
) -> None:
    catalog.store(releases)
    following = {"2011Q1": "2011Q2", "2011Q2": "2011Q3", "2011Q3": "2011Q4", "2012Q1": "2012Q2"}
    newest = max(release.quarter for release in releases)
    catalog.con.execute("DELETE FROM srsql.ingestion")
    catalog.insert("ingestion", [(1, "d", following[newest], "x", "x", "x", False)])
    rows = " UNION ALL ".join(
        f"SELECT '{who}' AS case_id, '{following[newest]}' AS quarter"
        for who in (*next_ids, "nobody")
    )
    catalog.con.execute(f"CREATE OR REPLACE TEMP VIEW coming AS {rows}")
    known = exp.values([(who,) for who in (*next_ids, "nobody")], alias="n", columns=["case_id"])
    asked = options(
        ["b", "f", "md", "ss"], k=2, theta=parse_theta("1/3"), alpha=Fraction(1, 2),
        next_cases=exp.select("case_id").from_(known),
    )  # fmt: skip
    found = audit(catalog.warehouse, DATASET, "main", asked)
    call = "attacks := ['b', 'f', 'md', 'ss'], k := 2, theta := '1/3', alpha := 0.5"
    same(found, records(catalog.con, f"srsql.audit({call}, reports := 'temp.main.coming')"))


def test_an_attack_that_is_not_evaluated_says_why_and_what_to_do(catalog: Catalog) -> None:
    case = Case("1", ((3, 3), None), {}, False)
    catalog.store([Release("2011Q1", (Group(((3, 3), None), (case,)),), 1, {})])
    catalog.con.execute("DELETE FROM srsql.ingestion")
    call = "srsql.audit(attacks := ['b', 'md'])"
    own = [row["why"] for row in records(catalog.con, call) if "md" in row["not_evaluated"]]
    assert own == [["md: the period after 2011Q1 is not here: ingest it, and ask again"]] * len(own)
    assert own
    catalog.insert("ingestion", [(1, "d", "2011Q2", "x", "x", "x", False)])
    own = [row["why"] for row in records(catalog.con, call)]
    assert own == [[
        "md: the reports of 2011Q2 are not told: give reports := 'NAME' of a view with case_id and "
        "quarter"
    ]] * len(own)  # fmt: skip


def test_a_series_or_a_period_that_there_is_not_is_named(catalog: Catalog) -> None:
    for call, words in (
        ("series := 'other'", "no series other: FROM srsql.series"),
        ("'2099Q1'", "no release of 2099Q1: FROM srsql.series"),
        ("theta := NULL, k := 0", "no k is known: give k := 5"),
    ):
        with pytest.raises(duckdb.InvalidInputException, match=words):
            records(catalog.con, f"srsql.audit({call})")
