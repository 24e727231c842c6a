"""Ids of a series: pseudonyms by default, of a quarter, or original; and the way back for the
steward."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import clinic
from oracles.examples import REPEATABLE
from support import foreign
from support.command import srsql
from support.files import copied
from support.quarters import Report, crowd, write_quarter
from support.released import content, views

from srsql.engine.api.engine import Engine
from srsql.engine.catalog import series as warehouse_series
from srsql.engine.errors import LookUpError, QueryError, ReleaseError, ReportError, SignalError
from srsql.engine.release import ids
from srsql.engine.store.statements import dotted

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {
    "model": "ms", "k": 3, "theta": "1", "seed": 1, "allow_linkable": True
}  # fmt: skip
QUARTERS = ("2011Q3", "2011Q4")
KEY = hashlib.sha512(b"a key as others are").digest()


def numbered(count: int, first: int, version: int) -> list[Report]:
    """Cases whose only reaction names them, so that their rows are known under any id."""
    reports = crowd(count, first=first, version=version)
    return [replace(r, pt=(f"Of case {r.caseid}",), indi=()) for r in reports]


def quarters() -> dict[str, list[Report]]:
    """Cases 1001-1040, then 1021-1060: twenty come back in a later version."""
    return {"2011Q3": numbered(40, 1001, 1), "2011Q4": numbered(40, 1021, 2)}


@pytest.fixture
def db(kept: Path, tmp_path: Path) -> Path:
    return copied(kept / "ids", tmp_path / "w.duckdb", quarters())


@pytest.fixture
def loaded(db: Path) -> Iterator[Engine]:
    with Engine(db) as opened:
        yield opened


def shown(engine: Engine, schema: str) -> dict[int, tuple[int, int]]:
    """Case of the source -> the case id and report id that its row shows."""
    return {
        int(term.split()[-1]): (case, report)
        for term, case, report in engine.sql(f"SELECT pt, caseid, primaryid FROM {schema}.reac")
    }


def release_both(engine: Engine, **options: Any) -> None:
    for quarter in QUARTERS:
        engine.release(quarter, **OPTIONS, **options)


def set_key(engine: Engine, name: str = "main", key: bytes = KEY) -> None:
    """A key that a test knows, in a series that was just made."""
    engine.sql("UPDATE srsql.series SET pseudonym_key = ? WHERE series = ?", [key, name])


def expected(kind: str, identity: str, quarter: str = "", attempt: int = 0, bits: int = 53) -> int:
    """A pseudonym by its definition."""
    message = f"{kind}:{attempt}:{len(quarter.encode())}:{quarter}:{identity}"
    digest = hmac.new(KEY, message.encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:7], "big") >> (56 - bits)


@REPEATABLE
@given(
    kind=st.sampled_from(["case", "report"]),
    identity=st.one_of(st.integers(0, 10**12).map(str), st.text(max_size=12)),
    quarter=st.sampled_from(["", "2011Q4", "2011:é"]),
    attempt=st.integers(0, 99),
    bits=st.integers(1, 56),
)
def test_an_attempt_at_a_pseudonym_is_so_many_bits_of_hmac_sha_256(
    sql: Any, kind: str, identity: str, quarter: str, attempt: int, bits: int
) -> None:
    pads = [bytes(b ^ pad for b in KEY) for pad in (0x36, 0x5C)]
    ((found,),) = sql.rows(
        "SELECT srsql.pseudonym_attempt(?::BLOB, ?::BLOB, ?::VARCHAR, ?::VARCHAR, ?::VARCHAR,"
        " ?::INTEGER, ?::INTEGER)",
        [*pads, kind, identity, quarter, attempt, bits],
    )
    assert found == expected(kind, identity, quarter, attempt, bits)


def test_hmac_is_that_of_the_standard(sql: Any) -> None:
    pads = [bytes(b ^ pad for b in KEY) for pad in (0x36, 0x5C)]
    ((found,),) = sql.rows("SELECT srsql.hmac_sha256(?::BLOB, ?::BLOB, ?)", [*pads, "case:ü"])
    assert found == hmac.new(KEY, "case:ü".encode(), hashlib.sha256).hexdigest()


def test_no_two_ids_of_two_kinds_or_quarters_are_one_text() -> None:
    texts = {
        (kind, identity, quarter): f"{kind}:0:{len(quarter)}:{quarter}:{identity}"
        for kind in ("case", "report")
        for identity in ("1", "1:1", ":", "")
        for quarter in ("", "1", "1:1", ":1")
    }
    assert len(set(texts.values())) == len(texts)


@pytest.mark.thorough
def test_a_new_series_has_pseudonyms_of_53_bits_the_main_one_too(loaded: Engine) -> None:
    made = loaded.release("2011Q3", **OPTIONS)
    assert made.manifest["ids"] == "pseudonym"
    found = shown(loaded, "release_2011q3")
    published = {number for pair in found.values() for number in pair}
    real = {r.caseid for r in quarters()["2011Q3"]} | {r.primaryid for r in quarters()["2011Q3"]}
    assert len(published) == 80
    assert published.isdisjoint(real)
    assert max(published) < 2**53
    assert all(float(number) == number for number in published)
    order = [n for (n,) in loaded.sql("SELECT primaryid FROM release_2011q3.demo")]
    assert order == sorted(order)


def test_pseudonyms_are_in_no_order_of_the_ids(tmp_path: Path) -> None:
    reports = [Report(10 * n + 1, n, age="30", sex="M", wt="70") for n in range(5001, 7001)]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", reports)], allow_incomplete=True)
        engine.release("2011Q4", **OPTIONS, ids="pseudonym")
        rows = engine.sql("SELECT kind, id::BIGINT, pseudonym FROM srsql.id_pseudonym ORDER BY 2")
    for kind in ("case", "report"):
        order = np.array([number for what, _, number in rows if what == kind])
        ranks = np.argsort(np.argsort(order))
        correlation = np.corrcoef(np.arange(2000), ranks)[0, 1]
        assert abs(correlation) < 5 / np.sqrt(2000)
    of = {(what, identity): number for what, identity, number in rows}
    pairs = np.array([(of["case", n], of["report", 10 * n + 1]) for n in range(5001, 7001)])
    ranks = np.argsort(np.argsort(pairs, axis=0), axis=0)
    assert abs(np.corrcoef(ranks[:, 0], ranks[:, 1])[0, 1]) < 5 / np.sqrt(2000)


def test_a_report_s_pseudonym_does_not_tell_that_of_its_case(loaded: Engine) -> None:
    release_both(loaded, ids="pseudonym")
    third, fourth = shown(loaded, "release_2011q3"), shown(loaded, "release_2011q4")
    both = third.keys() & fourth.keys()
    assert len(both) == 20
    assert all(third[case][0] == fourth[case][0] for case in both)
    assert all(third[case][1] != fourth[case][1] for case in both)
    for pairs in (third, fourth):
        for case, report in pairs.values():
            assert str(case) not in str(report)
            assert str(report) not in str(case)
    differences = {case - report for case, report in third.values()}
    assert len(differences) == len(third)


@pytest.mark.thorough
def test_pseudonyms_depend_on_the_key_and_the_ids_alone(kept: Path, tmp_path: Path) -> None:
    found = []
    for threads in (1, 2):
        path = copied(kept / "ids", tmp_path / f"{threads}.duckdb", quarters())
        with Engine(path, threads=threads) as engine:
            engine.release("2011Q3", **OPTIONS, ids="pseudonym", draft=True)
            set_key(engine)
            engine.sql("DELETE FROM srsql.id_pseudonym")
            release_both(engine)
            found.append((shown(engine, "release_2011q3"), shown(engine, "release_2011q4")))
    assert found[0] == found[1]
    for pairs, version in zip(found[0], (1, 2), strict=True):
        assert pairs == {
            case: (expected("case", str(case)), expected("report", str(10 * case + version)))
            for case in pairs
        }


@pytest.mark.thorough
def test_an_id_keeps_its_pseudonym_when_a_quarter_is_made_again(loaded: Engine) -> None:
    release_both(loaded, ids="pseudonym")
    before = shown(loaded, "release_2011q4")
    loaded.release("2011Q4", **OPTIONS | {"k": 4}, supersede=True, change=True)
    assert shown(loaded, "release_2011q4") == before


@pytest.mark.thorough
@pytest.mark.parametrize("bits", [8, 9])
def test_ids_whose_pseudonym_is_taken_try_the_next_one_in_the_order_of_their_text(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    monkeypatch.setattr(ids, "BITS", bits)
    loaded.release("2011Q3", **OPTIONS, ids="pseudonym", draft=True)
    set_key(loaded)
    loaded.sql("DELETE FROM srsql.id_pseudonym")
    used: set[int] = set()
    assigned: dict[tuple[str, str], int] = {}
    for quarter, version in zip(QUARTERS, (1, 2), strict=True):
        loaded.release(quarter, **OPTIONS)
        new = [("case", str(r.caseid)) for r in quarters()[quarter]]
        new += [("report", str(10 * r.caseid + version)) for r in quarters()[quarter]]
        waiting, attempt = sorted(set(new) - assigned.keys()), 0
        while waiting:  # by the definition: everybody tries, the first in order wins
            before, losers = set(used), []
            for kind, identity in waiting:
                number = expected(kind, identity, attempt=attempt, bits=bits)
                if number in before or number in used:
                    losers.append((kind, identity))
                else:
                    assigned[kind, identity] = number
                    used.add(number)
            waiting, attempt = losers, attempt + 1
        assert attempt > 1  # or the test shows nothing
    rows = loaded.sql("SELECT kind, id, pseudonym FROM srsql.id_pseudonym")
    assert {(kind, identity): number for kind, identity, number in rows} == assigned
    assert len(set(assigned.values())) == len(assigned) == len(rows)


def test_a_series_without_free_pseudonyms_is_refused_and_nothing_is_changed(
    loaded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "BITS", 6)
    with pytest.raises(ReleaseError, match="no pseudonyms left"):
        loaded.release("2011Q3", **OPTIONS, ids="pseudonym")
    assert loaded.sql("FROM srsql.series") == loaded.sql("FROM srsql.id_pseudonym") == []


def test_a_pseudonym_that_stands_for_two_ids_rolls_the_release_back(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS, ids="pseudonym")
    loaded.sql(
        "UPDATE srsql.id_pseudonym SET pseudonym = "
        "(SELECT min(p.pseudonym) FROM srsql.id_pseudonym AS p WHERE p.id LIKE '103%')"
        " WHERE kind = 'case' AND id = '1040'"
    )
    before = content(loaded.con)
    with pytest.raises(ReleaseError, match="two ids share a pseudonym"):
        loaded.release("2011Q4", **OPTIONS)
    assert content(loaded.con) == before


@pytest.mark.thorough
def test_a_report_id_that_is_the_case_id_has_one_pseudonym(tmp_path: Path) -> None:
    text = foreign.TOML.replace("files = []", 'files = ["*.csv"]\npublish = ["adr"]')
    data = foreign.table(
        tmp_path / "all.csv",
        "case_id years gender adr disease",
        [(n, 20 + n % 9, "MF"[n % 2], f"a{n % 5}", f"d{n}") for n in range(1, 41)],
    )
    with Engine(tmp_path / "w.duckdb", dataset=foreign.dataset(tmp_path, text)) as engine:
        engine.ingest([data], period="2020", allow_incomplete=True)
        engine.release("2020", k=3, theta="1", seed=1, ids="pseudonym")
        shown = [n for (n,) in engine.sql("SELECT case_id FROM release_2020.reports")]
        assert sorted(shown) == shown
        found = engine.lookup([str(n) for n in shown]).found
        assert {(one.kind, one.report_id, one.quarters) for one in found} == {
            ("case", None, ("2020",))
        }
        assert sorted(int(one.case_id) for one in found) == list(range(1, 41))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["pseudonym", "per-quarter"])
def test_ids_that_are_text_and_periods_that_are_sql_get_pseudonyms(
    tmp_path: Path, kind: str
) -> None:
    period = "x'; DROP TABLE srsql.id_pseudonym; --"
    data = clinic.write(tmp_path, clinic.visits(), clinic.findings(["ache", "rash", "itch"]))
    with Engine(tmp_path / "w.duckdb", dataset=tmp_path / "clinic.toml") as engine:
        engine.ingest([data], period=period, allow_incomplete=True)
        made = engine.release(period, k=2, theta="1", seed=1, ids=kind)
        rows = engine.sql(f"SELECT visit_id, patient_id FROM {dotted(made.schema, 'visit')}")
        (one,) = engine.lookup([str(rows[0][1])], quarter=period).found
        assert (one.kind, one.case_id[0], one.quarters) == ("case", "P", (period,))
        assert len({number for pair in rows for number in pair}) == 24


def test_ids_of_a_quarter_join_no_case_over_quarters(loaded: Engine) -> None:
    release_both(loaded, ids="per-quarter")
    third, fourth = shown(loaded, "release_2011q3"), shown(loaded, "release_2011q4")
    everything = [n for pairs in (third, fourth) for pair in pairs.values() for n in pair]
    assert len(set(everything)) == len(everything) == 160
    assert "case_latest" not in views(loaded.con, "released")
    made = loaded.sql("SELECT ids FROM release_2011q4.manifest")
    assert made == [("per-quarter",)]


@pytest.mark.thorough
def test_a_periodical_model_follows_the_cases_behind_ids_of_a_quarter(
    loaded: Engine, kept: Path, tmp_path: Path
) -> None:
    options = OPTIONS | {"model": "ppms++"}
    with Engine(copied(kept / "ids", tmp_path / "other.duckdb", {})) as other:
        for quarter in QUARTERS:
            one = loaded.release(quarter, **options, ids="per-quarter")
            two = other.release(quarter, **options, ids="original")
            assert one.manifest["cases"] == two.manifest["cases"]
            assert one.manifest["metrics"] == two.manifest["metrics"]
        assert one.manifest["cases"]["old"] == 20
        region = "SELECT pt, age_low, age_high, wt_low, wt_high, sex FROM release_2011q4.demo"
        join = " JOIN release_2011q4.reac USING (primaryid) ORDER BY pt"
        assert loaded.sql(region + join) == other.sql(region + join)
        assert loaded.audit().safe


@pytest.mark.thorough
def test_what_counts_cases_over_quarters_says_that_ids_of_a_quarter_do_not_tell(
    loaded: Engine,
) -> None:
    release_both(loaded, ids="per-quarter")
    question = "SELECT count(DISTINCT caseid) FROM demo WHERE age > 30"
    with pytest.raises(QueryError, match=r"other ids in every quarter.*--quarter"):
        loaded.query(question)
    assert loaded.query(question, quarter="2011Q4").rows
    with pytest.raises(SignalError, match=r"other ids in every quarter.*--quarter"):
        loaded.signals(every_pair=True)
    assert loaded.signals(every_pair=True, quarter="2011Q4").quarters == ("2011Q4",)
    with pytest.raises(ReportError, match=r"other ids in every quarter.*--quarter"):
        loaded.report(public=True)
    assert "a case has others in every quarter" in loaded.report("2011Q4", public=True).html


@pytest.mark.thorough
@pytest.mark.parametrize("first", ["pseudonym", "per-quarter", "original"])
def test_the_ids_of_a_series_are_fixed_when_it_is_made(loaded: Engine, first: str) -> None:
    loaded.release("2011Q3", **OPTIONS, ids=first)
    for other in {"pseudonym", "per-quarter", "original"} - {first}:
        with pytest.raises(ReleaseError, match=rf"has {first} ids .* --ids {other} would change"):
            loaded.release("2011Q4", **OPTIONS, ids=other)
    assert loaded.release("2011Q4", **OPTIONS).manifest["ids"] == first
    loaded.release("2011Q4", **OPTIONS | {"k": 4, "change": True}, ids=first, supersede=True)
    with pytest.raises(ReleaseError, match="--ids"):
        loaded.release("2011Q4", **OPTIONS, series="x", ids="hashed")


@pytest.mark.thorough
def test_a_series_that_holds_one_draft_alone_may_be_made_again_with_other_ids(
    loaded: Engine,
) -> None:
    loaded.release("2011Q3", **OPTIONS, ids="original", draft=True)
    loaded.release("2011Q3", **OPTIONS, ids="per-quarter", draft=True)
    made = loaded.release("2011Q3", **OPTIONS, ids="pseudonym", draft=True)
    assert made.manifest["ids"] == "pseudonym"
    rows = loaded.sql("SELECT quarter, count(*) FROM srsql.id_pseudonym GROUP BY quarter")
    assert rows == [(None, 80)]
    loaded.release("2011Q4", **OPTIONS, draft=True)
    for quarter in QUARTERS:  # the draft of the other one would have other ids than the series
        with pytest.raises(ReleaseError, match="would change them"):
            loaded.release(quarter, **OPTIONS, ids="original", draft=True)
    loaded.confirm("2011Q3")
    with pytest.raises(ReleaseError, match="would change them"):
        loaded.release("2011Q4", **OPTIONS, ids="original")


@pytest.mark.thorough
def test_a_draft_is_exposed_under_the_ids_that_it_was_made_with(loaded: Engine) -> None:
    dp = {"model": "msdp-num", "k": 3, "epsilon": 1, "noise": "seeded", "seed": 1}
    for series, options in (("main", OPTIONS), ("noise", dp)):
        loaded.release("2011Q3", **options, ids="pseudonym", series=series, draft=True)
        schema = "2011q3" if series == "main" else f"{series}_2011q3"
        before = shown(loaded, f"draft_{schema}")
        loaded.confirm("2011Q3", series=series, allow_linkable=True)
        assert shown(loaded, f"release_{schema}") == before
    left = {name for (name,) in loaded.sql("SELECT table_name FROM duckdb_tables()")}
    assert left.isdisjoint(
        {"srsql_shown_report", "srsql_named_id", "srsql_unnamed_id", "srsql_id_attempt"}
    )


@pytest.mark.thorough
def test_the_steward_finds_the_case_behind_a_pseudonym_and_back(loaded: Engine) -> None:
    release_both(loaded, ids="pseudonym")
    case, report = shown(loaded, "release_2011q4")[1021]
    found = loaded.lookup([str(case), str(report), "12345"])
    assert found.unknown == ("12345",)
    assert found.found == tuple(
        sorted(
            (
                ids.KnownId(str(case), "case", case, "1021", None, QUARTERS),
                ids.KnownId(str(report), "report", report, "1021", "10212", ("2011Q4",)),
            ),
            key=lambda one: one.asked,
        )
    )
    back = loaded.lookup(["1021", "1001", "7"], case=True)
    assert back.unknown == ("7",)
    assert {(one.kind, one.case_id, one.report_id, one.pseudonym) for one in back.found} == {
        ("case", "1021", None, case),
        ("report", "1021", "10212", report),
        ("report", "1021", "10211", shown(loaded, "release_2011q3")[1021][1]),
        ("case", "1001", None, shown(loaded, "release_2011q3")[1001][0]),
        ("report", "1001", "10011", shown(loaded, "release_2011q3")[1001][1]),
    }
    only = loaded.lookup(["1021"], case=True, quarter="2011Q3").found
    assert {one.report_id for one in only} == {None, "10211"}
    with pytest.raises(LookUpError, match=r"of the ids given \(2\) none was shown"):
        loaded.lookup(["1", "2"])
    with pytest.raises(LookUpError, match=r"series 'x' of .* has no releases"):
        loaded.lookup(["1"], series="x")


@pytest.mark.thorough
def test_ids_of_a_quarter_are_looked_up_with_their_quarter(loaded: Engine) -> None:
    release_both(loaded, ids="per-quarter")
    of = {quarter: shown(loaded, f"release_{quarter.lower()}")[1021][0] for quarter in QUARTERS}
    for quarter, number in of.items():
        (one,) = loaded.lookup([str(number)]).found
        assert (one.case_id, one.quarters) == ("1021", (quarter,))
        (one,) = (o for o in loaded.lookup(["1021"], case=True, quarter=quarter).found
                  if o.kind == "case")  # fmt: skip
        assert one.pseudonym == number


@pytest.mark.thorough
def test_pseudonyms_of_an_earlier_version_stay_and_are_looked_up(loaded: Engine) -> None:
    loaded.release("2011Q3", **OPTIONS, ids="pseudonym")
    loaded.sql("UPDATE srsql.series SET ids = 'pseudonym-60'")  # as a migration leaves it
    set_key(loaded)
    loaded.release("2011Q4", **OPTIONS, ids="pseudonym")
    found = shown(loaded, "release_2011q4")
    for case, pair in found.items():
        for number, text in zip(pair, (f"case:{case}", f"report:{10 * case + 2}"), strict=True):
            digest = hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()
            assert number == int(digest[:15], 16)
    case, report = found[1041]
    one, two = sorted(loaded.lookup([str(case), str(report)]).found, key=lambda o: o.kind)
    assert (one.case_id, two.report_id) == ("1041", "10412")
    assert {o.pseudonym for o in loaded.lookup(["1041"], case=True).found} == {case, report}


@pytest.mark.thorough
def test_original_ids_warn_and_need_no_look_up(db: Path) -> None:
    asked = ("--quarter", "2011Q3", "--model", "ms", "--k", "3", "--theta", "1", "--db", db)
    made = srsql("release", *asked, "--ids", "original", "--json")
    assert made.code == 0
    (line,) = made.err.splitlines()
    assert "original ids" in line
    assert "order of receipt" in line
    other = srsql(
        "release", *asked, "--series", "b", "--ids", "pseudonym", "--allow-linkable", "--json"
    )
    assert "original ids" not in other.err
    refused = srsql("lookup", "1001", "--db", db)
    assert (refused.code, refused.out) == (2, "")
    assert "nothing to look up" in refused.err


@pytest.mark.thorough
def test_the_command_looks_up_and_counts_what_is_unknown(db: Path) -> None:
    with Engine(db) as engine:
        release_both(engine, ids="pseudonym")
        case, _ = shown(engine, "release_2011q4")[1060]
    found = srsql("lookup", case, "5", "6", "--db", db)
    assert found.code == 0
    assert "1060" in found.out
    assert "2 unknown in this series: 5, 6" in found.out
    document = srsql("lookup", "1060", "--case", "--quarter", "2011Q4", "--db", db, "--json").json
    assert {one["pseudonym"] for one in document["found"]} >= {case}
    none = srsql("lookup", "5", "6", "--db", db)
    assert (none.code, none.out) == (2, "")
    assert none.err.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["pseudonym", "per-quarter", "original"])
def test_manifest_status_and_reports_say_which_ids_a_series_has(loaded: Engine, kind: str) -> None:
    loaded.release("2011Q3", **OPTIONS, ids=kind)
    assert loaded.sql("SELECT ids FROM release_2011q3.manifest") == [(kind,)]
    assert [one["ids"] for one in loaded.status().releases] == [kind]
    sentence = warehouse_series.IDS[kind].replace("'", "&#39;")
    for public in (False, True):
        html = loaded.report("2011Q3", public=public).html
        assert 0 < html.index(sentence) < html.index('id="s-guarantee"')


@pytest.mark.thorough
def test_only_the_catalog_of_the_steward_tells_what_a_pseudonym_stands_for(loaded: Engine) -> None:
    release_both(loaded, ids="pseudonym")
    for schema in ("release_2011q3", "release_2011q4", "released"):
        for view in views(loaded.con, schema):
            text = loaded.sql(
                "SELECT sql FROM duckdb_views() WHERE schema_name = ? AND view_name = ?",
                [schema, view],
            )
            assert "id_pseudonym" not in text[0][0]
