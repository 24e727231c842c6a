"""Releases whose terms are told apart from records, end to end, judged from their views."""

from __future__ import annotations

import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from oracles.published_terms import is_km_anonymous
from support.artifacts import content_of, edit, manifest_of, rehash, tables_of
from support.command import srsql
from support.files import copied
from support.quarters import Report, crowd, write_quarter
from support.released import region, rows, views

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.catalog.layout import COLUMNS
from srsql.engine.checks import term_chunks
from srsql.engine.console.release import release_lines
from srsql.engine.errors import (
    AttackError,
    AuditError,
    CheckFailedError,
    PolicyError,
    QueryError,
    ReleaseError,
    ReportError,
    UnsafeArtifactError,
)
from srsql.engine.terms import disassociate as made_by

pytestmark = pytest.mark.thorough

QUARTERS = ("2011Q3", "2011Q4")
TERMS, OWN = "release_terms_2011q4", "release_2011q4"
WORDS = [f"Disease {n}" for n in range(14)]
WEIGHTS = [1 / (n + 1) for n in range(14)]


def patients(first: int, count: int, seed: int) -> list[Report]:
    """Cases with some diseases, common ones mostly; every ninth has none."""
    luck = random.Random(seed)
    return [
        replace(
            report,
            indi=tuple(luck.choices(WORDS, WEIGHTS, k=luck.randint(1, 5))) if n % 9 else (),
            pt=tuple(luck.sample(("Rash", "Pain", "Fever", "Cough", "Death"), 2)),
        )
        for n, report in enumerate(crowd(count, first))
    ]


FIRST, SECOND = patients(1, 60, 1), patients(41, 90, 2)


def held(reports: list[Report]) -> dict[int, set[str]]:
    return {r.caseid: {term.lower() for term in r.indi} for r in reports if r.indi}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terms")
    reports = dict(zip(QUARTERS, (FIRST, SECOND), strict=True))
    return copied(folder / "kept", folder / "w.duckdb", reports)


@pytest.fixture(scope="module")
def engine(loaded: Path) -> Iterator[Engine]:
    """Two series, in a warehouse of their own that stays open."""
    with Engine(copied(loaded.parent / "kept", loaded.parent / "open.duckdb", {})) as opened:
        opened.release("2011Q4", model="disassociation", k=4, m=2, series="terms", seed=1)
        opened.release_range(
            "2011Q3:2011Q4",
            model="ppms++", k=8, theta="1", terms="disassociate", m=2, series="main", seed=1,
            ids="original",
        )  # fmt: skip
        yield opened


def subrecords(engine: Engine, schema: str, view: str) -> dict[Any, list[frozenset[str]]]:
    """(cluster or joint cluster, chunk) -> its non-empty subrecords."""
    found: dict[Any, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows(engine.con, f"FROM {schema}.{view}"):
        owner = row.get("cluster", row.get("joint"))
        found[owner, row["chunk"]][row["subrecord"]].add(row["term"])
    return {key: [frozenset(s) for s in chunk.values()] for key, chunk in found.items()}


def every_chunk(engine: Engine, schema: str) -> list[list[frozenset[str]]]:
    return [
        *subrecords(engine, schema, "record_chunk").values(),
        *subrecords(engine, schema, "shared_chunk").values(),
    ]


@pytest.mark.parametrize(("schema", "k"), [(TERMS, 4), (OWN, 8), ("release_2011q3", 8)])
def test_every_chunk_is_km_anonymous_and_every_cluster_has_k_records(
    engine: Engine, schema: str, k: int
) -> None:
    chunks = every_chunk(engine, schema)
    assert chunks if schema == TERMS else True
    assert all(is_km_anonymous(chunk, k, 2) for chunk in chunks)
    assert min(row["records"] for row in rows(engine.con, f"FROM {schema}.clusters")) >= k


def test_the_model_releases_terms_and_nothing_else(engine: Engine) -> None:
    assert set(views(engine.con, TERMS)) == {*COLUMNS, "manifest"}
    assert set(views(engine.con, "released_terms")) == set(COLUMNS)
    shown = {name for view in COLUMNS for name in rows(engine.con, f"FROM {TERMS}.{view}")[0]}
    assert shown == {name for columns in COLUMNS.values() for name in columns}


def test_no_term_is_lost_and_none_is_made_up(engine: Engine) -> None:
    known = Counter(term for terms in held(SECOND).values() for term in terms)
    told = Counter(term for chunk in every_chunk(engine, TERMS) for s in chunk for term in s)
    hidden: Counter[str] = Counter()
    for row in rows(engine.con, f"FROM {TERMS}.item_chunk JOIN {TERMS}.clusters USING (cluster)"):
        told[row["term"]] += 1
        hidden[row["term"]] += row["records"] - 1
    assert known.keys() == told.keys()
    assert all(told[t] <= known[t] <= told[t] + hidden[t] for t in known)
    assert sum(row["records"] for row in rows(engine.con, f"FROM {TERMS}.clusters")) == len(
        held(SECOND)
    )


def test_counts_bound_the_truth_of_every_pair(engine: Engine) -> None:
    pairs = list(combinations(sorted({t for s in held(SECOND).values() for t in s}), 2))
    for found in engine.count_terms("2011Q4", pairs, series="terms"):
        truth = sum(set(found.terms) <= terms for terms in held(SECOND).values())
        assert found.lower <= truth <= found.upper
        assert found.lower <= found.expected <= found.upper
    with pytest.raises(QueryError, match="has no term"):
        engine.count_terms("2011Q4", [[]], series="terms")


def test_within_groups_clusters_show_the_region_of_a_group_with_the_same_terms(
    engine: Engine,
) -> None:
    assert "indi" not in views(engine.con, OWN)
    assert {"demo", "drug", "reac", "outc", *COLUMNS} <= set(views(engine.con, OWN))
    cases = defaultdict(set)
    for row in rows(engine.con, f"FROM {OWN}.demo"):
        cases[region(row)].add(row["caseid"])
    told: dict[Any, set[str]] = defaultdict(set)
    records: Counter[Any] = Counter()
    for row in rows(engine.con, f"FROM {OWN}.clusters"):
        records[region(row)] += row["records"]
        for view in ("record_chunk", "item_chunk"):
            terms = rows(engine.con, f"FROM {OWN}.{view} WHERE cluster = {row['cluster']}")
            told[region(row)] |= {one["term"] for one in terms}
    assert rows(engine.con, f"FROM {OWN}.shared_chunk") == []
    diseases = held(SECOND)
    for where, members in cases.items():
        assert told[where] == {t for case in members for t in diseases.get(case, ())}
        having = sum(case in diseases for case in members)
        assert records[where] in (having, len(members))
        if having:
            assert records[where] >= 8


def test_such_a_series_is_audited_and_measured_as_ever(engine: Engine) -> None:
    assert engine.audit(series="main").safe
    names = {(m.measure, m.scope) for m in engine.metrics("2011Q4", series="main")}
    assert {("are", "W2, all"), ("are", "W1, 5 %"), ("singled_out", "2 terms")} <= names
    assert {"nil", "dr", "dir"} <= {name for name, _ in names}
    with pytest.raises(QueryError, match="indi is not published"):
        engine.query("SELECT count(DISTINCT caseid) FROM indi", series="main")
    assert engine.query("SELECT count(DISTINCT caseid) FROM reac WHERE pt = 'Rash'", series="main")


def test_attacks_on_regions_are_refused_where_terms_alone_are_released(engine: Engine) -> None:
    with pytest.raises(AuditError, match="releases terms alone"):
        engine.audit(series="terms")
    with pytest.raises(AttackError, match="releases terms alone"):
        engine.attack("2011Q4", {"age": 37}, series="terms")
    for quarter in ("2011Q4", None):
        with pytest.raises(ReportError, match="releases terms alone"):
            engine.report(quarter, public=True, series="terms")


@pytest.mark.parametrize("series", ["terms", "main"])
@pytest.mark.parametrize(
    ("claim", "parameters"),
    [
        ({"m": 1}, {}),
        ({"diversity": 2}, {}),
        ({"attributes": ["pt"]}, {}),
        ({}, {"m": 9}),
        ({}, {"terms_guarantee": "nobody learns anything"}),
    ],
)
def test_claims_of_terms_that_contradict_each_other_fail(
    engine: Engine, tmp_path: Path, series: str, claim: dict[str, Any], parameters: dict[str, Any]
) -> None:
    out = tmp_path / "out"
    engine.publish("2011Q4", out, series=series, format="csv")
    told = manifest_of(out)
    rehash(out, terms=told["terms"] | claim, parameters=told["parameters"] | parameters)
    failed = [check for check in verify(out).checks if check.faults]
    assert failed[0].name == "manifest"
    assert {check.name for check in failed[1:]} <= {"declaration"}  # other columns are told apart
    assert any("parameter" in fault for fault in failed[0].faults)


def test_rows_with_nothing_in_them_are_faults_in_words(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    engine.publish("2011Q4", out, series="terms")
    empty = ", ".join("NULL" for _ in range(4))
    edit(out, "joint_clusters", "FROM t UNION ALL SELECT NULL, NULL UNION ALL SELECT 1, NULL")
    edit(out, "item_chunk", "FROM t UNION ALL SELECT NULL, NULL UNION ALL SELECT NULL, 'X'")
    for chunk in ("record_chunk", "shared_chunk"):
        edit(out, chunk, f"FROM t UNION ALL SELECT {empty} UNION ALL SELECT NULL, 1, 1, 'X'")
    rehash(out)
    told = [
        fault for check in verify(out).checks if check.name == "terms" for fault in check.faults
    ]
    assert any("NULL" in fault for fault in told)
    assert all(isinstance(fault, str) for fault in told)


@pytest.mark.parametrize(
    ("series", "text"), [("terms", "cases are released"), ("main", "than it has cases")]
)
def test_clusters_of_more_records_than_cases_fail(
    engine: Engine, tmp_path: Path, series: str, text: str
) -> None:
    """Whoever claims a larger cluster claims that more records share what is known."""
    out = tmp_path / "out"
    engine.publish("2011Q4", out, series=series)
    edit(out, "clusters", "SELECT * REPLACE (records + 20 AS records) FROM t WHERE cluster = 1 "
                          "UNION ALL FROM t WHERE cluster > 1 ORDER BY cluster")  # fmt: skip
    told = manifest_of(out)["tables"]
    shown = tables_of(out)["clusters"]
    for table in told:
        if table["name"] == "clusters":
            table["content_sha256"] = content_of(shown)
    rehash(out, tables=told)
    failed = [check for check in verify(out).checks if check.faults]
    assert [check.name for check in failed] == ["terms"]
    assert any(text in fault for fault in failed[0].faults)


def test_thresholds_of_terms_told_apart_are_checked_on_the_raw_rows(loaded: Path) -> None:
    with Engine(loaded) as opened:
        made = opened.release(
            "2011Q4", model="ms", k=5, theta="0.6", on_infeasible="withhold",
            terms="disassociate", series="bounded", seed=3,
        )  # fmt: skip
        checks = dict(
            opened.sql(
                "SELECT measure, total FROM srsql.measure WHERE release_id = ? "
                "AND measure LIKE 'check%'",
                [made.release_id],
            )
        )
        assert checks["check_theta"] > len({t for s in held(SECOND).values() for t in s})
        assert checks["check_projection"] > 0
        names = opened.sql("SELECT unnest(thresholds).value FROM release_bounded_2011q4.manifest")
        assert {name for (name,) in names} == {"rash", "pain", "fever", "cough", "death"}


def test_several_attributes_are_told_together_under_their_names(loaded: Path) -> None:
    with Engine(loaded) as opened:
        opened.release(
            "2011Q4", model="disassociation", k=4, m=3, term_attributes="indi_pt, pt",
            series="two", seed=1,
        )  # fmt: skip
        terms = {t for chunk in every_chunk(opened, "release_two_2011q4") for s in chunk for t in s}
        assert {"pt:rash", "indi_pt:disease 0"} <= terms
        assert all(is_km_anonymous(c, 4, 3) for c in every_chunk(opened, "release_two_2011q4"))


def test_repeated_terms_are_terms_of_their_own(loaded: Path) -> None:
    with Engine(loaded) as opened:
        opened.release(
            "2011Q4", model="disassociation", k=4, repeated_terms=True, series="again", seed=1
        )
        told = rows(opened.con, "SELECT DISTINCT term FROM release_again_2011q4.reconstructed")
        most = max(Counter(r.indi)["Disease 0"] for r in SECOND)
        assert {f"disease 0 ({n})" for n in range(2, most + 1)} <= {row["term"] for row in told}
        assert f"disease 0 ({most + 1})" not in {row["term"] for row in told}


def test_sensitive_terms_are_told_of_clusters_of_l_only(loaded: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("disease 0\n\n Disease 3\n")
    with Engine(loaded) as opened:
        opened.release(
            "2011Q4", model="disassociation", k=3, l=9, sensitive_terms=tmp_path / "terms.txt",
            series="apart", seed=1,
        )  # fmt: skip
        schema = "release_apart_2011q4"
        told = {t for chunk in every_chunk(opened, schema) for s in chunk for t in s}
        assert told.isdisjoint({"disease 0", "disease 3"})
        items = {row["term"] for row in rows(opened.con, f"FROM {schema}.item_chunk")}
        assert {"disease 0", "disease 3"} <= items
        assert min(row["records"] for row in rows(opened.con, f"FROM {schema}.clusters")) >= 9


def test_sensitive_terms_that_nobody_holds_are_said_so(loaded: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("disease 0\ndisaese 3\nDisaese 4\n")
    with Engine(loaded) as opened:
        made = opened.release(
            "2011Q4", model="disassociation", k=3, sensitive_terms=tmp_path / "terms.txt",
            series="misspelt", seed=1,
        )  # fmt: skip
        told = "\n".join(release_lines(made))
        assert "no released case holds the sensitive term 'disaese 3' and 1 more" in told
        assert made.manifest["sensitive_terms_not_held"] == ["disaese 3", "disaese 4"]
        (public,) = rows(opened.con, "FROM release_misspelt_2011q4.manifest")
        assert "disaese" not in str(public).lower()
        (tmp_path / "terms.txt").write_text("disease 0\n")
        again = opened.release(
            "2011Q4", model="disassociation", k=3, sensitive_terms=tmp_path / "terms.txt",
            series="spelt", seed=1,
        )  # fmt: skip
        assert "sensitive_terms_not_held" not in again.manifest
        assert "sensitive term" not in "\n".join(release_lines(again))


def test_sensitive_terms_are_found_in_any_spelling(tmp_path: Path) -> None:
    odd = ("Stra\u00dfenangst", "\u200bHidden", "a\u0149b", "Plain")
    reports = [replace(report, indi=odd) for report in crowd(12)]
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", {"2011Q4": reports})
    (tmp_path / "terms.txt").write_text("\n".join(odd[:3]), encoding="utf-8")
    with Engine(path) as opened:
        opened.release(
            "2011Q4", model="disassociation", k=4, sensitive_terms=tmp_path / "terms.txt", seed=1
        )
        told = {t for chunk in every_chunk(opened, OWN) for s in chunk for t in s}
        assert told == {"plain"}


def test_the_times_that_a_term_is_told_do_not_link_two_chunks(tmp_path: Path) -> None:
    """Apart, M (2) would have to lie on four subrecords with M, and P with it: one record of all
    that fit could hold N and P, which one original record does."""
    held_by = ["M M P", *["M M P C"] * 3, "M C", "N P", *["N"] * 4]
    reports = [
        replace(report, indi=tuple(told.split()))
        for report, told in zip(crowd(10), held_by, strict=True)
    ]
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", {"2011Q4": reports})
    (tmp_path / "terms.txt").write_text("Q\n")
    with Engine(path) as opened:
        opened.release(
            "2011Q4", model="disassociation", k=4, m=2, l=6, repeated_terms=True, seed=1,
            sensitive_terms=tmp_path / "terms.txt",
        )  # fmt: skip
        chunk_of = dict(opened.sql(f"SELECT DISTINCT term, chunk FROM {OWN}.record_chunk"))
        assert {"N", "P"} <= chunk_of.keys()
        assert chunk_of.get("M") == chunk_of.get("M (2)")


def test_numbers_of_clusters_tell_neither_the_order_of_groups_nor_which_are_small(
    tmp_path: Path,
) -> None:
    luck = random.Random(4)
    reports = [
        replace(r, indi=tuple(luck.choices(WORDS, k=2)) if luck.random() < int(r.age) / 80 else ())
        for r in crowd(150)
    ]
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", {"2011Q4": reports})
    with Engine(path) as opened:
        opened.release(
            "2011Q4", model="ms", k=5, theta="1", terms="disassociate", seed=1, ids="original"
        )
        numbers = opened.sql(
            f"SELECT c.cluster, (SELECT m.group_id FROM {OWN}.demo AS d INNER JOIN srsql.member"
            " AS m ON d.caseid::VARCHAR = m.case_id"
            " WHERE (d.age_low, d.age_high, d.wt_low, d.wt_high, d.sex)"
            " = (c.age_low, c.age_high, c.wt_low, c.wt_high, c.sex) LIMIT 1) "
            f"FROM {OWN}.clusters AS c ORDER BY c.cluster"
        )
        assert [number for number, _ in numbers] == list(range(1, len(numbers) + 1))
        falls = sum(a[1] > b[1] for a, b in pairwise(numbers))
        assert len(numbers) > 15
        assert falls > 2  # one, where small groups come last; of as many at random, one in 10**7


def test_a_quarter_of_a_range_without_terms_enough_becomes_an_empty_release(
    tmp_path: Path,
) -> None:
    quarters = {
        "2011Q3": FIRST,
        "2011Q4": crowd(3, 300),
        "2012Q1": [replace(r, indi=r.indi * (n < 2)) for n, r in enumerate(crowd(12, 400))],
    }
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", quarters)
    with Engine(path) as opened:
        made = opened.release_range("2011Q3:2012Q1", model="disassociation", k=4, seed=1).released
        assert [one.rows["clusters"] > 0 for one in made] == [True, False, False]
        assert [one.manifest["cases"]["withheld"] for one in made] == [0, 3, 12]
        assert not opened.sql("SELECT * FROM released.reconstructed WHERE quarter > '2011Q3'")
        with pytest.raises(ReleaseError, match="2 cases of 2012Q1 have a term"):
            opened.release("2012Q1", model="disassociation", k=4, series="alone")


def test_a_policy_is_followed_kept_and_measured(loaded: Path, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("constraint,term\nu1,disease 0\nu1,Disease 1\nu2,disease 2\n")
    with Engine(loaded) as opened:
        for policy, series in ((tmp_path / "u.csv", "file"), ("sup:20", "sup")):
            made = opened.release(
                "2011Q4", model="disassociation", k=3, policy=policy, series=series, seed=1
            )
            kept = opened.sql(
                "SELECT DISTINCT name FROM srsql.utility_constraint WHERE release_id = ?",
                [made.release_id],
            )
            assert kept
            found = {m.measure for m in opened.metrics("2011Q4", series=series)}
            assert {"mre", "mre_within_5"} <= found
            told = opened.sql(f"FROM {made.schema}.manifest")
            assert str(tmp_path) not in str(told)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("[tables.outc", "[tables.clusters", "has a table clusters"),
        ('name = "sex"', 'name = "cluster"', "has a quasi-identifier cluster"),
    ],
)
def test_a_dataset_with_a_name_of_ours_is_released_with_its_terms_only(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    schemas = Path(str(resources.files("srsql.schemas")))
    shutil.copytree(schemas / "hierarchies", tmp_path / "hierarchies")
    faers = (schemas / "faers.toml").read_text(encoding="utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(faers.replace('name = "faers"', 'name = "mine"').replace(old, new))
    with Engine(tmp_path / "w.duckdb", dataset=mine) as opened:
        opened.ingest([write_quarter(tmp_path, "2011Q4", FIRST)])
        opened.release("2011Q4", model="ms", k=5, theta="1", seed=1)
        opened.publish("2011Q4", tmp_path / "out")
        assert verify(tmp_path / "out").passed
        with pytest.raises(ReleaseError, match=text):
            opened.release("2011Q4", model="ms", k=5, terms="disassociate", series="apart")


def test_a_draft_is_confirmed_with_its_chunks_checked(loaded: Path) -> None:
    with Engine(loaded) as opened:
        opened.release(
            "2011Q4", model="ms", k=5, theta="1", terms="disassociate", series="later", seed=1,
            draft=True,
        )  # fmt: skip
        assert opened.confirm("2011Q4", series="later", allow_linkable=True).status == "released"
        assert rows(opened.con, "FROM released_later.clusters")


@pytest.mark.parametrize("series", ["terms", "main"])
def test_its_artifact_passes_alone_and_a_moved_term_fails(
    engine: Engine, tmp_path: Path, series: str
) -> None:
    out = tmp_path / "out"
    engine.publish("2011Q4", out, series=series, format="csv")
    assert verify(out).passed
    text = (out / "term-counts.sql").read_text()
    alone = duckdb.connect()  # which knows nothing of ours
    for view in COLUMNS:
        alone.execute(f"CREATE TABLE {view} AS FROM read_csv('{out}/{view}.csv')")
    alone.execute("CREATE TABLE sets AS SELECT 0 AS set_no, 'disease 0' AS term")
    alone.execute(text)
    asked = alone.execute(
        "SELECT lower, upper FROM term_counts('clusters', 'joint_clusters', 'record_chunk',"
        " 'shared_chunk', 'item_chunk', 'sets', NULL)"
    ).fetchall()
    truth = sum("disease 0" in terms for terms in held(SECOND).values())
    assert asked[0][0] <= truth <= asked[0][1]
    edit(out, "item_chunk", "SELECT cluster, 'disease 0' AS term FROM t LIMIT 1")
    edit(
        out,
        "record_chunk",
        "SELECT * FROM t UNION ALL SELECT (SELECT min(cluster) FROM t), 1, 99, 'disease 0'",
    )
    rehash(out)
    failed = verify(out)
    assert not failed.passed
    assert any(check.name == "terms" and check.faults for check in failed.checks)


def test_chunks_that_break_the_bound_are_rolled_back(
    loaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = made_by.disassociate

    def careless(warehouse: Any, **options: Any) -> None:
        true(warehouse, **options)
        warehouse.run(  # what an item chunk hides, told of one record
            "INSERT INTO temp.main.srsql_pub_record_chunk "
            "SELECT i.cluster, 77, 1, i.term FROM temp.main.srsql_pub_item_chunk AS i LIMIT 1"
        )

    monkeypatch.setattr(made_by, "disassociate", careless)
    with Engine(loaded) as opened:
        with pytest.raises(CheckFailedError, match=r"check_km|check_one_place"):
            opened.release("2011Q4", model="disassociation", k=4, series="careless", seed=1)
        assert opened.sql("SELECT count(*) FROM srsql.release WHERE series = 'careless'") == [(0,)]


def longest_chunk(opened: Engine, schema: str) -> int:
    chunks = every_chunk(opened, schema)
    return max((len(frozenset().union(*chunk)) for chunk in chunks), default=0)


def test_chunks_that_cannot_be_proved_are_made_again_of_fewer_terms_and_fail_where_published(
    loaded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of steps is so low that only chunks of copies are proved."""
    with Engine(loaded) as opened:
        for which in ("long", "short"):
            made = opened.release(
                "2011Q4", model="disassociation", k=4, m=3, series=which, seed=1,
                allow_linkable=True,
            )  # fmt: skip
            opened.publish("2011Q4", tmp_path / which, series=which, allow_linkable=True)
            monkeypatch.setattr(term_chunks, "STEPS", 1)
        long, short = (f"release_{which}_2011q4" for which in ("long", "short"))
        assert 0 < longest_chunk(opened, short) < longest_chunk(opened, long)
        most = made.manifest["chunk_terms"]
        assert longest_chunk(opened, short) <= most
        assert f"  chunks of terms: {most:,} terms at most, so that they are proved" in list(
            release_lines(made)
        )
        assert all(is_km_anonymous(chunk, 4, 3) for chunk in every_chunk(opened, short))
        with pytest.raises(UnsafeArtifactError, match="not provable within 1 steps"):
            opened.publish("2011Q4", tmp_path / "no", series="long", allow_linkable=True)
    assert verify(tmp_path / "short").passed
    (check,) = [c for c in verify(tmp_path / "long").checks if not c.passed]
    assert check.name == "terms"
    assert all("not provable within 1 steps" in fault for fault in check.faults)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"m": 2}, "--m goes with --terms"),
        ({"terms": "disassociate", "m": 0}, "--m 0"),
        ({"terms": "disassociate", "term_attributes": "age"}, "'age' is no attribute with terms"),
        ({"terms": "disassociate", "term_attributes": "pt,pt"}, "names an attribute twice"),
        ({"terms": "disassociate", "model": "ppms-dp-all"}, "does not go with the model"),
        ({"terms": "disassociate", "model": "k-anonymity"}, "does not go with the model"),
        ({"terms": "disassociate", "l": 3}, "--l needs --sensitive-terms"),
        ({"terms": "disassociate", "sensitive_terms": "/nowhere"}, "cannot be read"),
        ({"model": "disassociation", "k": 500}, "500"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(
    loaded: Path, options: dict[str, Any], text: str
) -> None:
    with Engine(loaded) as opened, pytest.raises(ReleaseError, match=text) as refused:
        opened.release("2011Q4", **({"model": "ms", "k": 5, "series": "never"} | options))
    assert "\n" not in str(refused.value)


def test_a_term_that_may_never_be_released_is_not_released_apart(
    loaded: Path, tmp_path: Path
) -> None:
    (tmp_path / "theta.csv").write_text("value,theta\ndisease 0,0\nRash,0\n*,1\n")
    options: dict[str, Any] = {"theta": f"levels:{tmp_path / 'theta.csv'}", "k": 4}
    with Engine(loaded) as opened:
        with pytest.raises(ReleaseError, match=r"theta of 1 term.*'disease 0'") as refused:
            opened.release("2011Q4", model="disassociation", series="barred", **options)
        assert "\n" not in str(refused.value)


def test_a_policy_that_is_none_is_refused_in_one_line(loaded: Path, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("constraint,term\nu1,a\nu2,A\n")
    with Engine(loaded) as opened:
        for policy in ("level:1:", "level:x:none.csv", str(tmp_path / "u.csv"), "nowhere.csv"):
            with pytest.raises(PolicyError) as refused:
                opened.release("2011Q4", model="disassociation", policy=policy, series="never")
            assert "\n" not in str(refused.value)


def test_a_series_tells_the_same_terms_apart_in_every_quarter(loaded: Path) -> None:
    with Engine(loaded) as opened:
        opened.release("2011Q3", model="ppms++", k=8, theta="1", series="mixed", seed=1)
        with pytest.raises(ReleaseError, match="cannot take"):
            opened.release(
                "2011Q4", model="ppms++", k=8, theta="1", terms="disassociate", series="mixed"
            )


def test_the_command_says_what_was_checked(loaded: Path) -> None:
    made = srsql(
        "release", "--db", loaded, "--quarter", "2011Q4", "--model", "disassociation", "--k", 4,
        "--m", 3, "--series", "said", "--seed", 1,
    )  # fmt: skip
    assert made.code == 0
    assert "k^m-anonymity of the terms" in made.out
    refused = srsql("report", "--db", loaded, "--quarter", "2011Q4", "--series", "said", "--public")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
