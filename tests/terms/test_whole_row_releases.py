"""Releases whose rows are taken apart as a whole, end to end, judged from their views."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from oracles.published_terms import is_km_anonymous
from oracles.whole_rows import Candidates, Clusters, Row, fewest_candidates
from support.artifacts import edit, rehash
from support.files import copied
from support.quarters import Report, crowd
from support.released import rows, views

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.catalog.layout import COLUMNS
from srsql.engine.errors import ReleaseError

pytestmark = pytest.mark.slow

QUARTERS = ("2011Q3", "2011Q4")
K, M, L = 4, 2, 4
DISEASES = [f"Disease {n}" for n in range(14)]
DRUGS = [f"Drug {n}" for n in range(10)]
REACTIONS = [f"Reaction {n}" for n in range(12)]
TAKEN_APART = {"terms": "disassociate", "term_attributes": "all", "m": M, "theta": "1/2"}


def patients(first: int, count: int, seed: int) -> list[Report]:
    """Cases, every seventh with a second report, every ninth without an indication."""
    luck = random.Random(seed)
    found: list[Report] = []
    for n, report in enumerate(crowd(count, first)):
        told = replace(
            report,
            indi=tuple(luck.choices(DISEASES, k=luck.randint(1, 3))) if n % 9 else (),
            pt=tuple(luck.sample(REACTIONS, 2)),
            drugs=tuple(luck.sample(DRUGS, 2)),
            roles=("PS", "C"),
        )
        found.append(told)
        if n % 7 == 0:
            found.append(
                replace(told, primaryid=told.primaryid + 7_000_000, pt=(luck.choice(REACTIONS),))
            )
    return found


FIRST, SECOND = patients(1, 80, 1), patients(41, 110, 2)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("rows")
    reports = dict(zip(QUARTERS, (FIRST, SECOND), strict=True))
    with Engine(copied(folder / "kept", folder / "w.duckdb", reports)) as opened:
        opened.release_range("2011Q3:2011Q4", model="ppms++", k=K, seed=1, **TAKEN_APART)
        opened.release(
            "2011Q4", model="ms", k=K, seed=1, series="roles", term_k=6, term_cases=20,
            max_cluster_size=30, **TAKEN_APART | {"term_attributes": "drugname/role_cod,pt"},
        )  # fmt: skip
        opened.release(
            "2011Q3", model="ms", k=K, seed=1, series="diverse", l=L, **TAKEN_APART
        )  # fmt: skip
        yield opened


def items_of(reports: list[Report]) -> dict[int, frozenset[str]]:
    """Case -> its items, over all its reports."""
    found: dict[int, set[str]] = {}
    for r in reports:
        found.setdefault(r.caseid, set()).update(
            [f"indi_pt:{t.lower()}" for t in r.indi]
            + [f"pt:{t.lower()}" for t in r.pt]
            + [f"drugname:{t.lower()}" for t in r.drugs]
            + ["outc_cod:HO"]
        )
    return {case: frozenset(items) for case, items in found.items()}


def released(engine: Engine, schema: str) -> tuple[list[Row], Clusters]:
    found = [
        Row(
            r["caseid"],
            r["cluster"],
            (
                (r["age_low"], r["age_high"]),
                (r["wt_low"], r["wt_high"]),
                frozenset({"Any": {None}}.get(r["sex"], {r["sex"]})),
            ),
        )
        for r in rows(engine.con, f"FROM {schema}.demo")
    ]
    tables = {name: rows(engine.con, f"FROM {schema}.{name}") for name in COLUMNS}
    return found, Clusters.read(tables)


def behind(engine: Engine, quarter: str) -> dict[int, int]:
    """Pseudonym of the quarter -> case id."""
    return {
        pseudonym: int(case)
        for pseudonym, case in engine.con.execute(
            "SELECT p.pseudonym, p.case_id FROM srsql.id_pseudonym AS p "
            "WHERE p.series = 'main' AND p.kind = 'case' AND p.quarter = ?",
            [quarter],
        ).fetchall()
    }


@pytest.mark.parametrize(("quarter", "reports"), list(zip(QUARTERS, (FIRST, SECOND), strict=True)))
def test_quasi_identifiers_and_two_items_of_any_kind_leave_k_cases(
    engine: Engine, quarter: str, reports: list[Report]
) -> None:
    found, clusters = released(engine, f"release_{quarter.lower()}")
    case_of, items = behind(engine, quarter), items_of(reports)
    raw = {r.caseid: (int(r.age), int(r.wt), r.sex) for r in reports}
    targets = {row.case: ([raw[case_of[row.case]]], items[case_of[row.case]]) for row in found}
    assert len(targets) == len(found) > 60
    fewest, lost = fewest_candidates(found, clusters, targets, M)
    assert fewest >= K
    assert lost == []
    left = Candidates(found, clusters).left(targets, M, K)
    assert (left.fewest, left.below, left.lost) == (fewest, 0, set())


def test_a_row_shows_ids_region_and_cluster_and_no_child_table_has_an_id(engine: Engine) -> None:
    assert set(views(engine.con, "release_2011q4")) == {"demo", "manifest", *COLUMNS}
    (shown, *_) = rows(engine.con, "FROM release_2011q4.demo")
    assert list(shown) == [
        "primaryid", "caseid", "quarter", "age_low", "age_high", "wt_low", "wt_high", "sex",
        "cluster",
    ]  # fmt: skip
    for name in COLUMNS:
        for row in rows(engine.con, f"FROM release_2011q4.{name} LIMIT 1"):
            assert not {"primaryid", "caseid"} & set(row)


def test_the_number_of_reports_is_not_told(engine: Engine) -> None:
    found = rows(engine.con, "FROM release_2011q4.demo")
    assert len({r["caseid"] for r in found}) == len(found) == len({r["primaryid"] for r in found})
    (manifest,) = rows(engine.con, "FROM release_2011q4.manifest")
    assert manifest["released_reports"] == manifest["released_cases"] == len(found)
    assert manifest["withheld_reports"] == manifest["withheld_cases"]


def test_clusters_are_unions_of_groups_with_their_own_k_and_size(engine: Engine) -> None:
    schema = "release_roles_2011q4"
    _, clusters = released(engine, schema)
    assert min(clusters.records.values()) >= 20
    assert all(is_km_anonymous(c, 6, M) for own in clusters.chunks.values() for c in own)
    told = engine.con.execute(
        "SELECT m.group_id, count(DISTINCT d.cluster), count(*) FROM srsql.member AS m "
        "JOIN srsql.release AS r USING (release_id) "
        "JOIN srsql.id_pseudonym AS p ON p.series = r.series AND p.case_id = m.case_id "
        f"AND p.kind = 'case' JOIN {schema}.demo AS d ON d.caseid = p.pseudonym "
        "WHERE r.series = 'roles' GROUP BY ALL"
    ).fetchall()
    assert {n for _, n, _ in told} == {1}
    assert min(cases for _, _, cases in told) >= K
    terms = {r["term"] for r in rows(engine.con, f"FROM {schema}.item_chunk")}
    terms |= {r["term"] for r in rows(engine.con, f"FROM {schema}.record_chunk")}
    assert {t.partition(":")[0] for t in terms} == {"drugname/role_cod", "pt"}
    assert any(t.startswith("drugname/role_cod:drug 1/") for t in terms)


def most_probable(clusters: Clusters, item: str, cluster: int) -> Fraction:
    """Of an item that its cluster counts: its largest share, whatever two others are known."""
    (subrecords,) = [
        chunk for chunk in clusters.chunks[cluster] if any(item in held for held in chunk)
    ]
    holders = [held for held in subrecords if item in held]
    shares = [Fraction(len(holders), clusters.records[cluster])]
    for held in holders:
        for size in range(1, M + 1):
            for known in map(frozenset, combinations(held - {item}, size)):
                having = [s for s in subrecords if known <= s]
                shares.append(Fraction(sum(item in s for s in having), len(having)))
    return max(shares)


@pytest.mark.parametrize(
    ("series", "schema"),
    [("main", "release_2011q3"), ("diverse", "release_diverse_2011q3")],
)
def test_no_other_term_follows_above_one_in_l_and_those_that_do_are_counted(
    engine: Engine, series: str, schema: str
) -> None:
    _, clusters = released(engine, schema)
    found = {
        (cluster, item): most_probable(clusters, item, cluster)
        for cluster, chunks in clusters.chunks.items()
        for item in {item for chunk in chunks for held in chunk for item in held}
    }
    assert len(found) > 5
    sensitive = {key for key in found if key[1].partition(":")[0] in ("pt", "indi_pt")}
    assert all(found[key] <= Fraction(1, 2) for key in sensitive)
    others = [share for key, share in found.items() if key not in sensitive]
    if series == "diverse":
        assert max(others) <= Fraction(1, L)
    certain = sum(share == 1 for share in others)
    assert (certain > 0) == (series == "main")
    (manifest,) = rows(engine.con, f"FROM {schema}.manifest")
    assert manifest["terms_inferred"] == (certain if series == "main" else 0)
    told = engine.con.execute(
        "SELECT m.scope, m.violating FROM srsql.measure AS m JOIN srsql.release AS r "
        "USING (release_id) WHERE m.measure = 'terms_inferred' AND r.schema_name = ?",
        [schema],
    ).fetchall()
    assert dict(told) == {
        "value of a cluster": 0, "other term of a cluster": manifest["terms_inferred"]
    }  # fmt: skip


@pytest.mark.thorough
def test_an_artifact_that_claims_a_larger_l_or_fewer_inferred_terms_is_refused(
    engine: Engine, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    engine.publish("2011Q3", to=out)
    assert verify(out).passed
    for key, value, text in (
        ("terms_inferred", 0, "terms of clusters follow from known ones"),
        ("diversity", 2, "check_other_shares"),
    ):
        manifest = json.loads((out / "manifest.json").read_text())
        (manifest["terms"] if key in manifest["terms"] else manifest["parameters"])[key] = value
        (out / "manifest.json").write_text(json.dumps(manifest))
        rehash(out)
        faults = [fault for check in verify(out).checks for fault in check.faults]
        assert any(text in fault for fault in faults), faults


def test_pseudonyms_are_of_a_quarter_unless_quarters_are_linked(engine: Engine) -> None:
    (ids,) = engine.con.execute("SELECT ids FROM srsql.series WHERE series = 'main'").fetchone()
    assert ids == "per-quarter"
    old, new = ({r["caseid"] for r in rows(engine.con, f"FROM release_{q.lower()}.demo")}
                for q in QUARTERS)  # fmt: skip
    assert not old & new
    made = engine.release(
        "2011Q4", model="ms", k=K, series="linked", link_quarters=True, allow_linkable=True,
        **TAKEN_APART,
    )  # fmt: skip
    assert made.manifest["ids"] == "pseudonym"
    assert "claimed of no patient who is in several of them" in made.manifest["terms_guarantee"]


def test_an_artifact_is_verified_alone_and_what_breaks_it_is_named(
    engine: Engine, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    engine.publish("2011Q4", to=out)
    assert verify(out).passed
    edit(
        out,
        "demo",
        "SELECT * REPLACE (CASE cluster WHEN 1 THEN 2 ELSE cluster END AS cluster) FROM t",
    )
    rehash(out)
    faults = [fault for check in verify(out).checks for fault in check.faults]
    assert any("check_row_clusters" in fault for fault in faults)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"model": "disassociation", "term_attributes": "all"}, "releases none"),
        ({"model": "disassociation", "term_cases": 20}, "releases none"),
        ({"model": "disassociation", "term_k": 5}, "--term-k is for whole rows"),
        ({"model": "cba", "max_cluster_size": 50}, "--max-cluster-size does not go with"),
        ({"model": "ms", "term_attributes": "all"}, "--term-attributes goes with --terms"),
        ({"model": "cba", "partners": "neighbours"}, "--partners does not go with"),
        ({"model": "cba", "pooled_by": "splits"}, "--pooled-by does not go with"),
        ({"terms": "disassociate", "term_k": 5}, "--term-k is for whole rows"),
        ({"terms": "disassociate", "link_quarters": True}, "--link-quarters is for whole rows"),
        ({"terms": "disassociate", "max_cluster_size": 50}, "--max-cluster-size is for whole"),
        ({**TAKEN_APART, "repeated_terms": True}, "--repeated-terms does not go with whole rows"),
        ({**TAKEN_APART, "ids": "original"}, "original ids join rows"),
        ({**TAKEN_APART, "ids": "pseudonym"}, "give --ids per-quarter, or --link-quarters"),
        ({**TAKEN_APART, "ids": "per-quarter", "link_quarters": True}, "which link none"),
        ({**TAKEN_APART, "max_cluster_size": 5}, "--max-cluster-size 5 is below the 16 records"),
        ({**TAKEN_APART, "term_attributes": "dose", "term_cases": 9}, "'dose' is no published"),
        ({**TAKEN_APART, "term_attributes": "pt/x", "term_cases": 9}, "'pt/x' names no column"),
        ({**TAKEN_APART, "term_attributes": "pt,pt", "term_cases": 9}, "names an attribute twice"),
        ({**TAKEN_APART, "model": "k-anonymity"}, "--terms does not go with"),
    ],
)
def test_what_does_not_go_with_whole_rows_is_refused_in_one_line(
    engine: Engine, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(ReleaseError) as refused:
        engine.release("2011Q4", series="refused", k=K, **options)
    assert text in str(refused.value)
    assert "\n" not in str(refused.value)
