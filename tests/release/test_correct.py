"""srsql correct: whole groups leave a released quarter, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.people import OPTIONS, ORIGINAL, audited, ingest, people, person, reasons, shown
from support.released import content

from srsql.engine.api.engine import Engine
from srsql.engine.errors import AttackError, ReleaseError

pytestmark = pytest.mark.slow

GOLDEN = [person(case, age=str(age), sex="M", wt="70")
          for case, age in zip(range(1, 7), (20, 21, 22, 40, 41, 42), strict=True)]  # fmt: skip
SERIES = {
    "2011Q1": [person(case, indi=(f"Disease {case}",)) for case in range(1, 21)],
    "2011Q2": people(range(11, 31), 2),
    "2011Q3": people(range(26, 46), 3),
}
Q1 = "2011Q1"


@pytest.fixture
def golden(tmp_path: Path) -> Iterator[Engine]:
    """{1, 2, 3} at 20 to 22 and {4, 5, 6} at 40 to 42."""
    con = duckdb.connect()
    with Engine(con) as engine:
        ingest(engine, tmp_path, {Q1: GOLDEN})
        yield engine
    con.close()


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Engine]:
    con = duckdb.connect()
    with Engine(con) as engine:
        ingest(engine, tmp_path, SERIES)
        yield engine
    con.close()


def delete(engine: Engine, *cases: int) -> None:
    for case in cases:
        engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', ?, 1)", [str(case)])


def groups(engine: Engine, release_id: int | None) -> set[frozenset[int]]:
    rows = engine.sql(
        "SELECT list(m.case_id) FROM srsql.member AS m WHERE m.release_id = ? GROUP BY m.group_id",
        [release_id],
    )
    return {frozenset(map(int, cases)) for (cases,) in rows}


@pytest.mark.thorough
def test_the_group_of_who_left_leaves_whole_so_that_three_remain(golden: Engine) -> None:
    first = golden.release(Q1, **ORIGINAL)
    assert groups(golden, first.release_id) == {frozenset({1, 2, 3}), frozenset({4, 5, 6})}
    delete(golden, 1)
    made = golden.correct(Q1)
    assert (made.withdrawn, made.groups, made.cases, made.version) == ({"deleted": 1}, 1, 3, 2)
    assert groups(golden, made.release_id) == {frozenset({4, 5, 6})}
    assert reasons(golden, made.release_id or 0) == {"deleted": {1}, "group_corrected": {2, 3}}
    row = shown(golden, made.schema)[5]
    assert (row["age_low"], row["age_high"]) == (40, 42)
    rows = {(r.status, r.scope): r for r in audited(golden).releases}
    before, now = rows["superseded", "group"], rows["released", "group"]
    assert (before.erasure, before.erasure_claimed, before.erasure_series) == (0, True, 0)
    assert (now.erasure, now.erasure_claimed) == (None, False)
    played = golden.attack(Q1, {"age": 20}, left=True)
    assert set(played.remaining) == {"1", "2", "3"}
    (left,) = [e for e in played.exclusions if e.name == "E"]
    assert left.cases == 0


@pytest.mark.thorough
def test_merging_what_is_left_would_leave_two_to_whoever_has_both_versions(
    golden: Engine,
) -> None:
    """ms --supersede groups anew, promises nothing across versions, and the audit says so."""
    golden.release(Q1, model="ms", **OPTIONS)
    delete(golden, 1)
    golden.release(Q1, model="ms", **OPTIONS | {"k": 5}, supersede=True, change=True)
    rows = [r for r in golden.audit().releases if r.status == "superseded"]
    assert all(r.erasure and not r.erasure_claimed for r in rows)
    assert set(golden.attack(Q1, {"age": 21}).remaining) == {"2", "3"}
    played = golden.attack(Q1, {"age": 20}, left=True)
    assert set(played.remaining) == {"1"}
    (left,) = [e for e in played.exclusions if e.name == "E"]
    assert {e.case_id for e in left.excluded} == {"2", "3"}


@pytest.mark.thorough
def test_what_is_kept_has_the_same_rows_ids_and_regions(loaded: Engine) -> None:
    for quarter in (Q1, "2011Q2"):
        loaded.release(quarter, **OPTIONS)
    before = {tuple(row) for row in loaded.sql("FROM release_2011q1.demo")}
    delete(loaded, 1)
    made = loaded.correct(Q1)
    after = [tuple(row) for row in loaded.sql("FROM release_2011q1.demo")]
    assert set(after) < before
    assert len(after) == made.kept_cases == len(before) - made.cases
    assert after == sorted(after)
    assert len(loaded.sql("FROM released.demo WHERE quarter = ?", [Q1])) == len(after)
    assert loaded.correct(Q1).release_id is None
    audited(loaded)


@pytest.mark.thorough
def test_the_public_manifest_says_that_it_is_a_correction_and_not_how_many_left(
    loaded: Engine, tmp_path: Path
) -> None:
    loaded.release(Q1, **OPTIONS)
    ((total,),) = loaded.sql("SELECT released_cases + withheld_cases FROM release_2011q1.manifest")
    delete(loaded, 1, 2)
    made = loaded.correct(Q1)
    ((version, what, cases, public),) = loaded.sql(
        "SELECT version, correction, released_cases, released_cases + withheld_cases "
        "FROM release_2011q1.manifest"
    )
    assert (version, cases, public) == (2, made.kept_cases, total)
    assert "whole groups" in what
    ((private,),) = loaded.sql(
        "SELECT r.private_manifest -> '$.corrected.withdrawn' FROM srsql.release AS r "
        "WHERE r.release_id = ?",
        [made.release_id],
    )
    assert private == '{"deleted":2}'
    assert loaded.publish(Q1, tmp_path / "out").stale == ""


@pytest.mark.thorough
def test_a_dry_run_tells_who_would_leave_and_changes_nothing(loaded: Engine) -> None:
    loaded.release(Q1, **OPTIONS)
    delete(loaded, 3)
    before = content(loaded.con)
    dry = loaded.correct(Q1, dry_run=True)
    assert (dry.withdrawn, dry.release_id, dry.groups) == ({"deleted": 1}, None, 1)
    assert content(loaded.con) == before
    made = loaded.correct(Q1)
    assert (made.groups, made.cases) == (dry.groups, dry.cases)


@pytest.mark.thorough
def test_data_that_were_replaced_without_change_are_compared_and_no_version_is_made(
    loaded: Engine, tmp_path: Path
) -> None:
    made = loaded.release(Q1, **OPTIONS)
    ingest(loaded, tmp_path / "again", {Q1: [*SERIES[Q1], person(99)]}, replace=True)
    told = loaded.correct(Q1)
    assert (told.withdrawn, told.release_id, told.version) == ({}, None, 1)
    ((ingestion,),) = loaded.sql(
        "SELECT ingestion_id FROM srsql.release WHERE release_id = ?", [made.release_id]
    )
    assert ingestion == told.ingestion_id > 1


@pytest.mark.thorough
def test_who_is_absent_or_has_another_report_has_left_and_newcomers_stay_out(
    loaded: Engine, tmp_path: Path
) -> None:
    made = loaded.release(Q1, **OPTIONS)
    out = sorted(min(group) for group in groups(loaded, made.release_id))[:2]
    again = [r for r in SERIES[Q1] if r.caseid != out[0]]
    again += [person(99), person(out[1], 5)]
    ingest(loaded, tmp_path / "again", {Q1: again}, replace=True)
    told = loaded.correct(Q1)
    assert told.withdrawn == {"absent": 1, "changed": 1}
    why = reasons(loaded, told.release_id or 0)
    assert why["not_in_first_version"] == {99}
    assert why["withdrawn"] == {out[1]}
    assert out[0] not in set().union(*why.values())
    audited(loaded)


@pytest.mark.thorough
def test_a_remainder_is_kept_only_where_it_keeps_k_and_then_tells_who_left(
    loaded: Engine, tmp_path: Path
) -> None:
    made = loaded.release(Q1, model="ms", **OPTIONS | {"k": 3, "leftovers": "merge"})
    big = max(groups(loaded, made.release_id), key=len)
    small = min(groups(loaded, made.release_id), key=len)
    assert len(big) > 3 == len(small)
    delete(loaded, min(big), min(small))
    told = loaded.correct(Q1, keep_remainder=True)
    assert (told.remainders, told.groups, told.cases) == (1, 1, 4)
    assert big - {min(big)} in groups(loaded, told.release_id)
    row = next(r for r in loaded.audit().releases if r.status == "superseded")
    assert row.erasure
    assert not row.erasure_claimed
    ((what,),) = loaded.sql("SELECT correction FROM release_2011q1.manifest")
    assert "tells who left" in what
    loaded.publish(Q1, tmp_path / "out")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "model", ["ms", "ppms", "ppms-ear", "ppms-alpha", "xy-anonymity", "ppms-dp-num", "msdp-all"]
)
def test_a_release_of_groups_of_cases_can_be_corrected_and_published(
    loaded: Engine, tmp_path: Path, model: str
) -> None:
    options = {n: v for n, v in OPTIONS.items() if model != "xy-anonymity" or n != "theta"}
    made = loaded.release(Q1, model=model, **options)
    charged = loaded.sql("SELECT count(*) FROM srsql.budget_ledger")
    before = {
        row[:3]: row
        for row in loaded.sql("SELECT primaryid, caseid, quarter, * FROM release_2011q1.demo")
    }
    ((case,),) = loaded.sql(
        "SELECT min(case_id) FROM srsql.member WHERE release_id = ?", [made.release_id]
    )
    delete(loaded, int(case))
    told = loaded.correct(Q1)
    assert told.withdrawn == {"deleted": 1}
    after = loaded.sql("SELECT primaryid, caseid, quarter, * FROM release_2011q1.demo")
    assert all(before[row[:3]] == row for row in after)
    assert loaded.sql("SELECT count(*) FROM srsql.budget_ledger") == charged
    loaded.publish(Q1, tmp_path / "out")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"model": "k-anonymity"}, "in several groups"),
        ({"model": "disassociation", "theta": None}, "clusters and chunks"),
        ({"terms": "disassociate"}, "clusters and chunks"),
        ({"model": "full-domain", "theta": None}, "no case's"),
    ],
)
def test_what_has_no_groups_that_could_leave_whole_is_refused_with_the_way_out(
    loaded: Engine, options: dict[str, Any], why: str
) -> None:
    given = {n: v for n, v in (OPTIONS | options).items() if v is not None}
    loaded.release(Q1, **given)
    delete(loaded, 1)
    with pytest.raises(ReleaseError, match=f"cannot be corrected.*{why}.*new --series"):
        loaded.correct(Q1)


@pytest.mark.thorough
def test_nothing_to_correct_and_nobody_who_left_are_said_in_a_line(
    golden: Engine, tmp_path: Path
) -> None:
    with pytest.raises(ReleaseError, match="not released in series 'main'"):
        golden.correct(Q1)
    golden.release(Q1, **OPTIONS)
    with pytest.raises(AttackError, match="nobody has left"):
        golden.attack(Q1, {"age": 20}, left=True)


@pytest.mark.thorough
def test_the_command_says_what_left_and_what_is_not_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Engine(tmp_path / "srsql.duckdb") as engine:
        ingest(engine, tmp_path / "files", {Q1: GOLDEN})
        engine.release(Q1, **OPTIONS)
        delete(engine, 1)
    dry = srsql("correct", "--quarter", Q1, "--dry-run")
    assert "3 cases would be taken out (whole groups: 1)" in dry.out
    done = srsql("correct", "--quarter", Q1)
    assert "have left: deleted 1" in done.out
    assert "not undone" in done.out
    assert "no case has left" in srsql("correct", "--quarter", Q1).out
