"""A warehouse that version 0.1 made opens after ``srsql migrate`` and says what it said then."""

from __future__ import annotations

import gzip
import hmac
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter
from support.released import exported

from srsql import Engine
from srsql.engine.errors import ReleaseError, WarehouseError
from srsql.engine.steward import migrate as module
from srsql.engine.steward.migrate import migrate
from srsql.engine.store.database_file import Limits

pytestmark = pytest.mark.slow

OLD = Path(__file__).parents[1] / "fixtures" / "release_0_1"
# "ids", "series", "gaps", "stale", "runs", "lake": version 0.1 did not say which ids and parameters
# a series has, what is missing in it, what has left a release, what wrote the warehouse, nor a lake
VARIES = {
    "bytes_on_disk", "software_version", "path", "ids", "series", "gaps", "without_calendar",
    "stale", "runs", "lake", "incomplete",
}  # fmt: skip

# version 0.1 took whoever was in a version of the same quarter for an old case; one release differs
JUDGED_ANEW = {("dir", "group: b,f,l,ss")}


def left_out(row: dict[str, Any]) -> set[str]:
    """Names of a row of an audit that version 0.1 did not have, or judged otherwise."""
    names = {"union", "erasure", "erasure_claimed", "erasure_series"}
    names |= {"undefended", "self_excluded"}  # of persistence, which a later model defends
    return names | ({"dig", "dir"} if is_judged_anew(row) else set())


def is_judged_anew(row: dict[str, Any]) -> bool:
    """Whether a row or a group is of the release of which a version came before."""
    return (row["release_id"], row["scope"]) == (5, "group")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The warehouse of version 0.1, with what its series refer to."""
    db = tmp_path / "warehouse.duckdb"
    with gzip.open(OLD / "warehouse.duckdb.gz") as packed, db.open("wb") as file:
        shutil.copyfileobj(packed, file)
    shutil.copy(OLD / "theirs.toml", tmp_path)
    return db


def figures(found: Any) -> Any:
    """Numbers, truth values and names of figures of a document, without texts and what may vary."""
    if isinstance(found, dict):
        return {name: figures(value) for name, value in found.items() if name not in VARIES}
    if isinstance(found, list):
        return [figures(value) for value in found]
    return found if isinstance(found, int | float | None) else None


@pytest.mark.thorough
def test_what_version_0_1_said_is_said_after_the_migration(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old.parent)
    made = migrate(old)
    assert (made.from_layout, made.to_layout) == (1, module.LAYOUT)
    assert made.kept is not None
    assert Path(made.kept).is_file()
    expected = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))
    asked = [c for c in expected["commands"] if c["arguments"][0] in ("status", "metrics", "audit")]
    assert len(asked) > 5
    for command in asked:
        run = srsql(*command["arguments"], "--json")
        assert run.code == command["code"], (command["arguments"], run.err)
        document = json.loads(run.out)
        if command["arguments"][0] == "metrics":  # a later version may measure more
            told = {(row["measure"], row["scope"]) for row in command["document"]}
            told -= JUDGED_ANEW
            document, command["document"] = (
                [row for row in rows if (row["measure"], row["scope"]) in told]
                for rows in (document, command["document"])
            )
        elif command["arguments"][0] == "audit":  # nor were U and E asked for
            document.pop("erasure")
            for audited in (document, command["document"]):
                audited["releases"] = [
                    {name: value for name, value in row.items() if name not in left_out(row)}
                    for row in audited["releases"]
                ]
                audited["evidence"] = [
                    {name: value for name, value in group.items() if name != "window"}
                    for group in audited["evidence"]
                    if not is_judged_anew(group)
                ]
        elif "budget" in document:  # what a later layout charges as well has a test of its own
            document["budget"] = [
                {name: value for name, value in row.items() if name != "scope"}
                for row in document["budget"]
                if row["series"] == "noisy"
            ]
        assert figures(document) == figures(command["document"]), command["arguments"]


def test_what_was_drawn_before_is_in_the_one_ledger(old: Path) -> None:
    """Rows over a lattice were not charged by version 0.1; each charge kept its case."""
    with duckdb.connect(str(old), read_only=True) as con:
        before = con.execute(
            "SELECT r.series, m.case_id, a.attribute, s.epsilon_num, s.epsilon_den"
            " FROM srsql.spent AS s"
            " JOIN srsql.release AS r USING (release_id)"
            " JOIN srsql.member AS m USING (release_id, case_no)"
            " JOIN srsql.attribute AS a USING (release_id, position) ORDER BY ALL"
        ).fetchall()
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        charged = engine.sql(
            "SELECT l.series, l.case_id, l.attribute, l.epsilon_num, l.epsilon_den "
            "FROM srsql.ledger('faers', NULL) AS l ORDER BY ALL"
        )
        assert [row for row in charged if row[0] == "noisy"] == before
        assert before
        of_classes = [row for row in charged if row[0] == "classes"]
        (cases,) = engine.sql(
            "SELECT count(*) FROM srsql.release AS r JOIN (SELECT release_id, case_id"
            " FROM srsql.member UNION SELECT release_id, case_id FROM srsql.withheld"
            " WHERE case_no IS NOT NULL) AS c USING (release_id) WHERE r.model = 'ipa'"
        )
        assert len(of_classes) == len({row[1] for row in of_classes}) == cases[0] > 0


def test_released_rows_are_byte_for_byte_those_of_version_0_1(old: Path) -> None:
    migrate(old)
    sys.path.insert(0, str(OLD))
    try:
        from expect import digest
    finally:
        sys.path.remove(str(OLD))
    expected = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))["tables"]
    with duckdb.connect(str(old), read_only=True) as con:
        assert expected
        for view, told in expected.items():
            rows = con.execute(f"SELECT * FROM {view}").fetchall()
            assert (len(rows), digest(rows)) == (told["rows"], told["sha256"]), view


@pytest.mark.thorough
def test_series_of_version_0_1_remember_what_their_manifests_tell(old: Path) -> None:
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        made = {one.series: one.parameters for one in engine.series() if one.family != "imported"}
        latest = engine.sql(
            "SELECT r.series, r.private_manifest FROM srsql.release AS r WHERE r.status <> 'draft'"
            " AND r.model <> 'imported' ORDER BY r.quarter, r.release_id"
        )
        manifests = {series: json.loads(text) for series, text in latest}
        assert made.keys() >= manifests.keys() != set()
        for series, told in manifests.items():
            for keyword in ("model", "k", "theta", "missing", "leftovers", "on_infeasible"):
                assert made[series][keyword] == str(told[keyword]), (series, keyword)
            assert made[series].get("refine", "off") == "off"
        with pytest.raises(ReleaseError, match="promises less"):
            engine.release("2020Q3", k=2)
        first = manifests["main"]
        made_now = engine.release("2020Q3", seed=1, allow_linkable=True).manifest
        for keyword in ("model", "k", "theta", "missing", "leftovers", "on_infeasible", "ss_rule"):
            assert made_now[keyword] == first[keyword]
        assert made_now["refine"] == "off"  # as earlier versions did, who knew nothing of it


@pytest.mark.thorough
def test_series_of_version_0_1_keep_the_ids_that_they_have(old: Path) -> None:
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        kinds = dict(engine.sql("SELECT series, ids FROM srsql.series WHERE dataset = 'faers'"))
        assert kinds.pop("main") == "original"
        assert kinds
        assert set(kinds.values()) == {"pseudonym-60"}
        told = engine.sql("SELECT ids FROM srsql.series WHERE family = 'imported'")
        assert told == [("original",)]
        for series, model in (("main", "ppms++"), ("partners", "ms")):
            engine.release("2020Q3", k=3, theta="1", seed=1, model=model, series=series,
                           allow_linkable=True, change=True, weaker=True)  # fmt: skip
        (key,) = engine.sql("SELECT pseudonym_key FROM srsql.series WHERE series = 'partners'")[0]
        cases = engine.sql(
            "SELECT DISTINCT m.case_id FROM srsql.member AS m JOIN srsql.release AS r"
            " USING (release_id) WHERE r.series = 'partners' AND r.status = 'released'"
        )
        shown = {old_pseudonym(key, case): case for (case,) in cases}
        for quarter in ("2020q1", "2020q3"):
            cases = engine.sql(f"SELECT DISTINCT caseid FROM release_partners_{quarter}.demo")
            assert cases
            assert {case for (case,) in cases} <= shown.keys()
        (number,) = cases[0]
        (found,) = engine.lookup([str(number)], series="partners").found
        assert found.case_id == shown[number]
        assert engine.sql("SELECT ids FROM release_partners_2020q3.manifest") == [("pseudonym-60",)]
        assert engine.sql("FROM srsql.id_pseudonym") == []
        real = "SELECT m.case_id::BIGINT FROM srsql.member AS m JOIN srsql.release AS r"
        assert set(engine.sql("SELECT DISTINCT caseid FROM release_2020q3.demo")) == set(
            engine.sql(f"{real} USING (release_id) WHERE r.schema_name = 'release_2020q3'")
        )


@pytest.mark.thorough
def test_a_case_is_forgotten_where_pseudonyms_are_computed_and_not_stored(old: Path) -> None:
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        ((release_id,),) = engine.sql(
            "SELECT r.release_id FROM srsql.release AS r "
            "WHERE r.series = 'partners' AND r.status = 'superseded'"
        )
        members = engine.sql(
            "SELECT m.case_id FROM srsql.member AS m WHERE m.release_id = ? ORDER BY 1",
            [release_id],
        )
        asked = [case for (case,) in members[:3]]
        demo = f"SELECT count(DISTINCT caseid) FROM srsql_data.release_{release_id}_demo"
        assert engine.sql(demo) == [(len(members),)]
        receipt = engine.forget(asked, reason="asked for")
        assert engine.sql(demo) == [(len(members) - 3,)]
        assert {each.cases.get("forgotten") for each in receipt.stale} <= {1, 2, 3}
        assert engine.audit(series="partners").releases


def old_pseudonym(key: bytes, case: str) -> int:
    """60 bits of HMAC-SHA-256."""
    return int(hmac.new(key, f"case:{case}".encode(), "sha256").hexdigest()[:15], 16)


@pytest.mark.thorough
def test_the_next_release_has_a_number_of_its_own(old: Path) -> None:
    with duckdb.connect(str(old), read_only=True) as con:
        ((last,),) = con.execute("SELECT max(release_id) FROM srsql.release").fetchall()
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        made = engine.release("2020Q1", k=3, theta="1", seed=1, series="after", allow_linkable=True)
    assert made.release_id > last


@pytest.mark.thorough
def test_a_migration_is_the_first_run_that_a_warehouse_tells(old: Path) -> None:
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        (run,) = engine.status(runs=True).runs
    assert (run["command"], run["exit_code"]) == ("migrate", 0)
    assert run["parameters"] == {"from_layout": 1, "to_layout": module.LAYOUT}


def test_an_old_warehouse_is_not_opened_but_the_way_out_is_named(old: Path) -> None:
    with pytest.raises(WarehouseError, match=r"layout 1, .* run 'srsql migrate'"):
        Engine(old)


@pytest.mark.thorough
def test_a_second_migration_has_nothing_to_do(old: Path) -> None:
    migrate(old)
    again = migrate(old)
    assert again.kept is None
    assert again.from_layout == again.to_layout


@pytest.mark.thorough
def test_a_series_of_a_later_layout_goes_on_without_refinement_as_well(old: Path) -> None:
    migrate(old)
    refined = "FROM srsql.series_parameter WHERE keyword = 'refine'"
    with duckdb.connect(str(old)) as con:
        expected = con.execute(f"SELECT * {refined} ORDER BY ALL").fetchall()
        con.execute(f"DELETE {refined}")
        con.execute("UPDATE srsql.warehouse SET layout = 5")
    assert migrate(old).from_layout == 5
    with Engine(old) as engine:
        assert engine.sql(f"SELECT * {refined} ORDER BY ALL") == expected
        assert {row[3] for row in expected} == {"off"}


@pytest.mark.thorough
def test_a_warehouse_of_layout_10_has_a_pool_in_which_nobody_waits(old: Path) -> None:
    """Layout 10 has suspected duplicates, which stay, and says who is stale without a pool."""
    migrate(old)
    stale = "SELECT s.* FROM srsql.stale_release AS s ORDER BY ALL"
    with duckdb.connect(str(old)) as con:
        expected = con.execute(stale).fetchall()
        con.execute("INSERT INTO srsql.suspected_duplicate VALUES ('faers', '1', '2', 0.9)")
        con.execute("DROP VIEW srsql.stale_release")
        con.execute("DROP VIEW srsql.withdrawn_member")
        con.execute("DROP TABLE srsql.waiting")
        con.execute("DROP TABLE srsql.taken_case")
        con.execute("UPDATE srsql.warehouse SET layout = 10")
    made = migrate(old)
    assert (made.from_layout, made.to_layout) == (10, module.LAYOUT)
    with Engine(old, dataset="faers") as engine:
        assert engine.sql("SELECT count(*) FROM srsql.suspected_duplicate") == [(1,)]
        assert engine.sql("SELECT count(*) FROM srsql.waiting") == [(0,)]
        assert engine.sql("SELECT count(*) FROM srsql.taken_case") == [(0,)]
        assert engine.sql(stale) == expected
        assert engine.audit(series="main").safe is not None


def as_layout_11(db: Path) -> None:
    """Take out what layout 12 has of the keys of terms; the terms must be plain ASCII."""
    with duckdb.connect(str(db)) as con:
        for table, name in (("reac", "pt"), ("indi", "indi_pt"), ("drug", "drugname")):
            con.execute(
                f"UPDATE raw_faers.{table} SET srsql_{name} = upper({name}) "
                f"WHERE srsql_{name} IS NOT NULL"
            )
        con.execute("DROP TABLE srsql.dataset_key")
        con.execute("DROP TABLE srsql.release_key")
        con.execute("DELETE FROM srsql.series_parameter WHERE keyword = 'term_key'")
        for table, names in {
            "external_knowledge": ("drug_key", "disease_key"), "ss_rule": ("by_spelling",)
        }.items():  # fmt: skip
            for name in names:
                con.execute(f"ALTER TABLE srsql.{table} DROP COLUMN {name}")
        con.execute("UPDATE srsql.warehouse SET layout = 11")


@pytest.mark.thorough
def test_series_of_layout_11_go_on_by_spellings_until_they_are_told_to_fold(
    tmp_path: Path,
) -> None:
    """What a release of version 0 shows after the migration is what it showed before."""
    quarters = {"2011Q3": crowd(30), "2011Q4": crowd(30, first=20, version=2)}
    db, asked = tmp_path / "w.duckdb", {"k": 3, "theta": "1", "model": "ms", "ids": "original"}
    for label, reports in quarters.items():
        spelled = [
            replace(r, pt=("Crohn^s disease" if r.caseid % 2 else "Crohn's disease",))
            for r in reports
        ]
        write_quarter(tmp_path, label, spelled)
    with Engine(db) as engine:
        engine.ingest([tmp_path])
        engine.release("2011Q3", seed=1, term_key=0, **asked)
        engine.release("2011Q4", seed=2, term_key=0, series="fresh", allow_linkable=True, **asked)
        shown = exported(engine.con, "release_2011q3", tmp_path / "before")
        fresh = exported(engine.con, "release_fresh_2011q4", tmp_path / "fresh")
    as_layout_11(db)
    assert (migrate(db).from_layout, module.LAYOUT) == (11, 12)
    with Engine(db) as engine:
        assert exported(engine.con, "release_2011q3", tmp_path / "after") == shown
        remembered = "SELECT value FROM srsql.series_parameter WHERE keyword = 'term_key'"
        assert engine.sql(remembered) == [("0",), ("0",)]
        with pytest.raises(ReleaseError, match="term_key"):
            engine.release("2011Q4", seed=2, term_key=1, **asked)
        engine.release("2011Q4", seed=2, allow_linkable=True)  # of a series that compares spellings
        same = exported(engine.con, "release_2011q4", tmp_path / "next")
        views = ("demo", "drug", "reac", "indi", "outc")
        assert {name: same[name] for name in views} == {name: fresh[name] for name in views}
        assert "pt_key" not in engine.warehouse.columns("release_2011q4", "reac")


@pytest.mark.thorough
def test_a_series_that_begins_to_fold_has_keys_from_then_on(tmp_path: Path) -> None:
    for label, first in (("2011Q3", 1), ("2011Q4", 20)):
        spelled = [
            replace(r, pt=("Crohn^s disease" if r.caseid % 2 else "Crohn's disease",))
            for r in crowd(30, first=first, version=first)
        ]
        write_quarter(tmp_path, label, spelled)
    db = tmp_path / "w.duckdb"
    with Engine(db) as engine:
        engine.ingest([tmp_path])
        engine.release("2011Q3", k=3, theta="1", model="ms", seed=1, term_key=0)
    as_layout_11(db)
    migrate(db)
    with Engine(db) as engine:
        engine.release("2011Q4", seed=2, term_key=1, change=True)
        keys = "SELECT DISTINCT r.quarter, r.pt_key FROM released.reac AS r ORDER BY ALL"
        assert engine.sql(keys) == [("2011Q3", None), ("2011Q4", "crohn's disease")]
        asked = "SELECT COUNT(DISTINCT caseid) FROM reac WHERE pt = 'CROHN`S DISEASE'"
        ((everybody,),) = engine.sql("SELECT count(*) FROM released.case_latest")
        assert engine.query(asked).rows == ((everybody, float(everybody), everybody, everybody),)
        (signal,) = engine.signals(
            drug="Drug 1", reaction="crohn^s DISEASE", released_only=True
        ).signals
        assert signal.released.a > 0
        assert signal.released.c + signal.released.a == everybody
        assert engine.audit().folded is not None  # of the quarter that is out by spellings


@pytest.mark.thorough
def test_a_warehouse_of_layout_11_has_no_figures_of_columns_and_lacks_nothing(old: Path) -> None:
    migrate(old)
    names = ("ingested_column", "ingested_text", "required_table")
    with duckdb.connect(str(old)) as con:
        for name in names:
            con.execute(f"DROP TABLE srsql.{name}")
        con.execute("DELETE FROM srsql.series_parameter WHERE keyword = 'term_key'")
        con.execute("UPDATE srsql.warehouse SET layout = 11")
    made = migrate(old)
    assert (made.from_layout, made.to_layout) == (11, module.LAYOUT)
    with Engine(old, dataset="faers") as engine:
        assert [engine.sql(f"SELECT count(*) FROM srsql.{name}") for name in names] == [[(0,)]] * 3
        assert engine.status().incomplete == []


@pytest.mark.thorough
def test_nodes_of_a_lattice_of_before_layout_9_have_emd_over_all_records(old: Path) -> None:
    migrate(old)
    with Engine(old, dataset="faers") as engine:
        told = engine.sql("SELECT n.emd, n.emd_classes, n.probability FROM srsql.lattice_node AS n")
        assert told
        assert {row[1:] for row in told} == {(None, None)}
        ((quarter,), *_) = engine.sql(
            "SELECT r.quarter FROM srsql.release AS r WHERE r.model = 'ipa' ORDER BY r.quarter"
        )
        rows = {(r.measure, r.scope): r.ratio for r in engine.metrics(quarter, series="classes")}
        assert rows["emd", "chosen"] == rows["emd (all records)", "chosen"] is not None
        assert rows["il", "chosen"] == rows["il (all records)", "chosen"]
        assert not [scope for _, scope in rows if scope == "expected"]


@pytest.mark.thorough
def test_a_migration_that_loses_a_row_changes_nothing(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = old.read_bytes()
    take = module._take

    def careless(copy: Path, layout: int, limits: Limits) -> None:
        take(copy, layout, limits)
        with duckdb.connect(str(copy)) as con:
            con.execute("DELETE FROM srsql.member WHERE case_no = 0")

    monkeypatch.setattr(module, "_take", careless)
    with pytest.raises(WarehouseError, match="member would have"):
        migrate(old)
    assert old.read_bytes() == before
    assert sorted(file.name for file in old.parent.iterdir()) == ["theirs.toml", old.name]


def test_what_is_no_warehouse_is_told(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no warehouse at"):
        migrate(tmp_path / "absent.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as con:
        con.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(WarehouseError, match="is no warehouse of srsql"):
        migrate(tmp_path / "other.duckdb")
