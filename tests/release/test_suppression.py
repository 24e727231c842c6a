"""A value is suppressed where its case was withheld: least number, at random, for good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command import srsql
from support.quarters import Report, crowd, write_quarter
from support.released import regions, rows, terms_of

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError

pytestmark = pytest.mark.slow

MS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "0.4", "seed": 1, "ids": "original"}
INFEASIBLE: dict[str, Any] = MS | {"on_infeasible": "suppress"}
Q4, Q1 = "2011Q4", "2012Q1"
SCHEMA = "release_2011q4"


def case(number: int, *pt: str, version: int = 1, indi: tuple[str, ...] = ()) -> Report:
    """A case that has a reaction of its own beside those that are named."""
    return Report(
        primaryid=10 * number + version,
        caseid=number,
        age=str(30 + number),
        sex="M",
        wt="70",
        pt=(*pt, f"Own {number}"),
        indi=indi,
        drugs=("Drug",),
    )


FREQUENT = [case(n, *(["Rash"] if n <= 7 else [])) for n in range(1, 11)]
"""Ten cases, of which seven have a value that 4 of 10 may have."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    con = duckdb.connect()
    with Engine(con) as opened:
        yield opened
    con.close()


def ingest(engine: Engine, folder: Path, reports: list[Report], quarter: str = Q4) -> None:
    engine.ingest([write_quarter(folder, quarter, reports)])


def holders(engine: Engine, value: str, schema: str = SCHEMA) -> set[int]:
    return {c for c, terms in terms_of(engine.con, schema).items() if value.lower() in terms}


def public(engine: Engine, schema: str = SCHEMA) -> dict[str, Any]:
    (row,) = rows(engine.con, f"SELECT * FROM {schema}.manifest")
    return row


def test_as_few_cases_lose_a_value_as_exceed_its_threshold_and_nobody_is_withheld(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    made = engine.release(Q4, **INFEASIBLE, leftovers="suppress")
    shown = terms_of(engine.con, SCHEMA)
    assert made.manifest["withheld"] == {}
    assert len(shown) == 10
    assert all(f"own {n}" in terms for n, terms in shown.items())
    for cases in regions(engine.con, SCHEMA).values():
        assert sum("rash" in shown[c] for c in cases) <= Fraction(2, 5) * len(cases)
    (told,) = made.manifest["suppressed"]
    assert (told["value"], told["cases"]) == ("rash", 7 - len(holders(engine, "Rash")))
    assert len(holders(engine, "Rash")) >= 3  # one in each group of three or four


@pytest.mark.thorough
def test_one_group_of_ten_loses_three_of_seven(engine: Engine, tmp_path: Path) -> None:
    """By hand: theta x 10 = 4."""
    ingest(engine, tmp_path, FREQUENT)
    made = engine.release(Q4, **INFEASIBLE | {"k": 10}, leftovers="suppress")
    assert len(holders(engine, "Rash")) == 4
    (told,) = made.manifest["suppressed"]
    assert told == {
        "value": "RASH", "cases": 3, "theta": 0.4, "groups": 1, "above": 1, "worst": 0.7,
    }  # fmt: skip


@pytest.mark.thorough
def test_the_holders_are_drawn_at_random_and_the_seed_decides(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    found: Counter[int] = Counter()
    again = []
    for seed in [*range(12), 0]:
        options = INFEASIBLE | {"k": 10, "seed": seed}
        engine.release(Q4, **options, series=f"s{len(again)}", allow_linkable=True)
        again.append(holders(engine, "Rash", f"release_s{len(again)}_2011q4"))
        found.update(again[-1])
    assert again[0] == again[-1]
    assert found.keys() == set(range(1, 8))
    assert len({frozenset(one) for one in again}) > 6


@pytest.mark.thorough
def test_no_report_loses_its_last_value_of_an_attribute(engine: Engine, tmp_path: Path) -> None:
    bare = [replace(r, pt=("Rash",)) for r in FREQUENT[:4]]
    ingest(engine, tmp_path, bare + FREQUENT[4:])
    engine.release(Q4, **INFEASIBLE | {"k": 10})
    assert holders(engine, "Rash") == {1, 2, 3, 4}


@pytest.mark.thorough
def test_nor_does_one_of_several_reports_of_a_case(engine: Engine, tmp_path: Path) -> None:
    """Case 1 has another reaction, but not in its second report."""
    second = replace(FREQUENT[0], primaryid=12, pt=("Rash",))
    ingest(engine, tmp_path, [*FREQUENT, second])
    for seed in range(4):
        options = INFEASIBLE | {"k": 10, "seed": seed, "series": f"s{seed}"}
        engine.release(Q4, **options, allow_linkable=True)
        assert 1 in holders(engine, "Rash", f"release_s{seed}_2011q4")


@pytest.mark.thorough
def test_cases_are_withheld_where_too_few_may_lose_a_value(engine: Engine, tmp_path: Path) -> None:
    bare = [replace(r, pt=("Rash",)) for r in FREQUENT[:6]]
    ingest(engine, tmp_path, bare + FREQUENT[6:])
    made = engine.release(Q4, **INFEASIBLE)
    assert made.manifest["withheld"]["infeasible"]["cases"] >= 2
    assert len(terms_of(engine.con, SCHEMA)) >= 3


@pytest.mark.thorough
def test_a_suppressed_value_is_gone_from_every_attribute_and_report_of_its_case(
    engine: Engine, tmp_path: Path
) -> None:
    """The same term as a reaction and as an indication is one value, however it is spelled."""
    reports = [
        replace(r, pt=(" rash", "Own a"), indi=("RASH ", f"Ill {r.caseid}"))
        if r.caseid <= 7
        else replace(r, indi=(f"Ill {r.caseid}",))
        for r in FREQUENT
    ]
    later = [replace(r, primaryid=r.primaryid + 1, pt=("Rash", "Own b")) for r in reports[:7]]
    ingest(engine, tmp_path, reports + later)
    engine.release(Q4, **INFEASIBLE | {"k": 10})
    kept = holders(engine, "Rash")
    assert len(kept) == 4
    shown = [
        (row["caseid"], row["term"].strip().lower())
        for name, term in (("reac", "pt"), ("indi", "indi_pt"))
        for row in rows(engine.con, f"SELECT caseid, {term} AS term FROM {SCHEMA}.{name}")
    ]
    assert {c for c, term in shown if term == "rash"} == kept
    counted = Counter(c for c, term in shown if term == "rash")
    assert set(counted.values()) == {4}  # two reports, a reaction and an indication each
    assert all(n is not None for n in (t for _, t in shown))  # the rows are gone, not blank
    for view in ("case_latest", "reac", "indi"):
        found = rows(engine.con, f"SELECT * FROM released.{view}")
        hits = {
            row["caseid"] for row in found
            if any(str(v).strip().lower() == "rash" for v in row.values())
        }  # fmt: skip
        assert hits <= kept


@pytest.mark.thorough
def test_leftovers_join_groups_for_the_values_of_one_of_their_members(
    engine: Engine, tmp_path: Path
) -> None:
    """Ten cases, four with X; groups of three take one X each, so that one X is left over."""
    cases = [
        replace(r, pt=("X", f"Own {r.caseid}") if r.caseid <= 4 else ("Other",), indi=())
        for r in crowd(10)
    ]
    cases = [replace(r, pt=(f"Own {r.caseid}",)) if r.caseid > 4 else r for r in cases]
    ingest(engine, tmp_path, cases)
    greedy = MS | {"refine": "off"}
    assert engine.release(Q4, **greedy, draft=True).manifest["withheld"] == {
        "no_group_fits": {"cases": 1, "reports": 1}
    }
    made = engine.release(Q4, **greedy, leftovers="suppress")
    assert made.manifest["withheld"] == {}
    shown = terms_of(engine.con, SCHEMA)
    assert len(shown) == 10
    assert len(holders(engine, "X")) == 3
    for cases_of in regions(engine.con, SCHEMA).values():
        assert sum("X" in shown[c] for c in cases_of) <= Fraction(2, 5) * len(cases_of)


@pytest.mark.thorough
def test_what_drugs_suggest_of_a_suppressed_value_counts_on(engine: Engine, tmp_path: Path) -> None:
    """E makes 1/2 of what is suppressed: 7 - n/2 <= 4 for n = 6."""
    knowledge = tmp_path / "knowledge.csv"
    knowledge.write_text("drug,disease\nDrug,Rash\nDrug,Gout\n")
    reports = [replace(r, drugs=("Drug",) if r.caseid <= 7 else ("None",)) for r in FREQUENT]
    ingest(engine, tmp_path, reports)
    made = engine.release(Q4, **INFEASIBLE | {"k": 10}, knowledge=knowledge)
    assert len(holders(engine, "Rash")) == 1
    (told,) = made.manifest["suppressed"]
    assert (told["cases"], told["worst"]) == (6, 0.7)


@pytest.mark.thorough
def test_what_is_suppressed_stays_suppressed_in_later_quarters(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    options = MS | {"model": "ppms++", "k": 10}
    engine.release(Q4, **options, on_infeasible="suppress")
    gone = set(range(1, 8)) - holders(engine, "Rash")
    later = [replace(r, primaryid=r.primaryid + 1) for r in FREQUENT]
    ingest(engine, tmp_path / "next", later + [case(n) for n in range(11, 31)], Q1)
    engine.release(Q1, **options, change=True)  # nothing would have to be suppressed any more
    assert holders(engine, "Rash", "release_2012q1") == set(range(1, 8)) - gone
    assert {c for c in terms_of(engine.con, "released") if c in gone} == gone
    assert "rash" not in set().union(*(terms_of(engine.con, "released")[c] for c in gone))


@pytest.mark.thorough
def test_a_case_that_has_nothing_else_later_is_withheld(engine: Engine, tmp_path: Path) -> None:
    ingest(engine, tmp_path, FREQUENT)
    options = INFEASIBLE | {"model": "ppms++", "k": 10}
    engine.release(Q4, **options)
    gone = set(range(1, 8)) - holders(engine, "Rash")
    later = [replace(r, primaryid=r.primaryid + 1, pt=("Rash",)) for r in FREQUENT]
    ingest(engine, tmp_path / "next", later + [case(n) for n in range(11, 41)], Q1)
    made = engine.release(Q1, **options)
    assert made.manifest["withheld"]["suppressed_before"]["cases"] == len(gone)
    assert gone.isdisjoint(terms_of(engine.con, "release_2012q1"))


@pytest.mark.thorough
def test_what_the_series_told_of_a_case_is_not_suppressed_afterwards(
    engine: Engine, tmp_path: Path
) -> None:
    first = [case(n, *(["Rash"] if n <= 4 else [])) for n in range(1, 11)]
    ingest(engine, tmp_path, first)
    options = INFEASIBLE | {"k": 10}
    engine.release(Q4, **options)
    assert holders(engine, "Rash") == {1, 2, 3, 4}
    later = [case(n, "Rash", version=2) for n in range(1, 8)] + [case(n) for n in range(11, 14)]
    ingest(engine, tmp_path / "next", later, Q1)
    engine.release(Q1, **options)
    assert holders(engine, "Rash", "release_2012q1") == {1, 2, 3, 4}


@pytest.mark.thorough
def test_a_version_that_replaces_a_quarter_suppresses_what_it_did(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    engine.release(Q4, **INFEASIBLE | {"k": 10})
    before = holders(engine, "Rash")
    again = INFEASIBLE | {"k": 5, "seed": 7, "allow_linkable": True}
    engine.release(Q4, **again, supersede=True, change=True, weaker=True)
    assert holders(engine, "Rash") <= before


@pytest.mark.thorough
def test_a_correction_keeps_what_is_suppressed_and_tells_its_own_shares(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    engine.release(Q4, **INFEASIBLE, leftovers="suppress")
    kept, told = holders(engine, "Rash"), public(engine)
    engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '10', 1)")
    engine.correct(Q4)
    shown = terms_of(engine.con, SCHEMA)
    assert 10 not in shown
    assert holders(engine, "Rash") == kept & shown.keys()
    gone = sum(n <= 7 and n not in kept for n in shown)
    corrected = public(engine)
    assert corrected["suppressed_cases_per_10000"] == -(-gone * 10_000 // len(shown))
    assert corrected["guarantee"] == told["guarantee"]
    assert engine.sql("SELECT count(*) FROM srsql.suppressed WHERE release_id = 2") == [(gone,)]


@pytest.mark.thorough
def test_the_public_manifest_tells_shares_and_what_theta_bounds_and_names_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    made = engine.release(Q4, **INFEASIBLE | {"k": 10})
    told = public(engine)
    assert told["theta_bounds"] == "published values"
    assert "some values of cases are suppressed" in told["guarantee"]
    assert {n: v for n, v in told.items() if n.startswith("suppressed")} == {
        "suppressed_values_per_10000": -(-3 * 10_000 // 17),
        "suppressed_cases_per_10000": 3000,
        "suppressed_reports_per_10000": 3000,
        "suppressed_one_value_per_10000": 3000,
    }
    metrics = {(r.measure, r.scope): r for r in engine.metrics(Q4) if "suppressed_" in r.measure}
    assert metrics["suppressed_values", "values of cases"].violating == 3
    assert metrics["suppressed_values", "values of cases"].total == 17
    assert metrics["suppressed_confidence", "worst value"].ratio == 0.7
    assert made.manifest["metrics"]["suppressed_confidence (worst value)"] == 0.7


@pytest.mark.thorough
def test_without_the_option_nothing_is_told_of_suppression(engine: Engine, tmp_path: Path) -> None:
    ingest(engine, tmp_path, FREQUENT)
    made = engine.release(Q4, **MS, on_infeasible="withhold")
    assert not [n for n in public(engine) if "suppressed_" in n or n == "theta_bounds"]
    assert "suppressed" not in made.manifest


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["ppms", "ppms-ear", "ppms++", "ppms-alpha", "msdp-num",
                                   "ppms-dp-all", "ppms-dp-num"])  # fmt: skip
def test_every_model_that_bounds_values_can_suppress_them(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    more = {"assume_md": "all"} if model == "ppms-alpha" else {}
    made = engine.release(
        Q4, model=model, k=3, theta="0.4", seed=1, on_infeasible="suppress", leftovers="suppress",
        **more,
    )  # fmt: skip
    assert made.manifest["withheld"] == {}
    assert 1 <= len(holders(engine, "Rash")) <= 4


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["k-anonymity", "xy-anonymity", "l-diversity", "alpha-k",
                                   "disassociation", "cba", "ipa", "full-domain"])  # fmt: skip
@pytest.mark.parametrize("option", ["on_infeasible", "leftovers"])
def test_a_model_whose_rows_show_no_bounded_values_refuses_in_one_line(
    engine: Engine, tmp_path: Path, model: str, option: str
) -> None:
    ingest(engine, tmp_path, FREQUENT)
    name = f"--{option.replace('_', '-')}"
    with pytest.raises(ReleaseError, match=f"{name} suppress is for .* use {name} withhold"):
        engine.release(Q4, model=model, seed=1, **{option: "suppress"})


def test_terms_apart_from_rows_are_not_suppressed(engine: Engine, tmp_path: Path) -> None:
    ingest(engine, tmp_path, FREQUENT)
    with pytest.raises(ReleaseError, match="terms apart from rows: use --leftovers withhold"):
        engine.release(Q4, k=3, seed=1, terms="disassociate", leftovers="suppress")


@pytest.mark.thorough
def test_a_series_that_begins_to_suppress_promises_less_and_needs_a_yes(
    engine: Engine, tmp_path: Path
) -> None:
    quarter = [case(n) for n in range(1, 11)]
    ingest(engine, tmp_path, quarter)
    engine.release(Q4, **MS)
    ingest(engine, tmp_path / "next", quarter, Q1)
    with pytest.raises(ReleaseError, match="weaker"):
        engine.release(Q1, **MS, leftovers="suppress", change=True)
    engine.release(Q1, **MS, leftovers="suppress", change=True, weaker=True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "scope"),
    [
        ("UPDATE {reac} SET pt = 'Rash' WHERE caseid = {gone} AND pt LIKE 'Own%'", "suppressed"),
        ("DELETE FROM {reac} WHERE caseid = {kept} AND pt = 'Rash'", "value"),
        ("DELETE FROM {reac} WHERE caseid = {gone}", "value|attribute of a report"),
    ],
)
def test_the_check_of_a_release_finds_what_was_not_suppressed_as_it_says(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, scope: str
) -> None:
    from srsql.engine.release.stages import tables as module

    ingest(engine, tmp_path, FREQUENT)
    build = module.build_tables

    def broken(current: Any, **options: Any) -> Any:
        made = build(current, **options)
        con, reac = engine.con, f"srsql_data.release_{current.release_id}_reac"
        shown = {c for (c,) in con.execute(f"SELECT caseid FROM {reac} WHERE pt = 'Rash'")
                 .fetchall()}  # fmt: skip
        gone = min(set(range(1, 8)) - shown)
        con.execute(change.format(reac=reac, gone=gone, kept=min(shown)))
        return made

    monkeypatch.setattr(module, "build_tables", broken)
    with pytest.raises(CheckFailedError, match=r"check_suppressed|check_theta"):
        engine.release(Q4, **INFEASIBLE | {"k": 10})


@pytest.mark.thorough
def test_a_forgotten_case_leaves_no_suppressed_value_behind(engine: Engine, tmp_path: Path) -> None:
    ingest(engine, tmp_path, FREQUENT)
    engine.release(Q4, **INFEASIBLE | {"k": 10})
    gone = min(set(range(1, 8)) - holders(engine, "Rash"))
    engine.forget([str(gone)], reason="asked to")
    assert engine.sql("SELECT count(*) FROM srsql.suppressed") == [(2,)]


@pytest.mark.thorough
def test_a_published_folder_verifies_and_its_readers_get_the_same_bounds(
    tmp_path: Path,
) -> None:
    db, folder = tmp_path / "w.duckdb", tmp_path / "out"
    with Engine(db) as engine:
        ingest(engine, tmp_path, FREQUENT)
        engine.release(Q4, **INFEASIBLE | {"k": 10})
        question = "SELECT count(DISTINCT caseid) FROM reac WHERE pt = 'Rash'"
        answer = engine.query(question)
        assert answer.rows == ((4, 4.0, 7, 4),)
        engine.publish(Q4, to=folder)
    assert srsql("verify", str(folder)).code == 0
    asked = srsql("query", question, "--artifact", str(folder), "--json")
    assert '"upper": 7' in asked.out or "[4, 4.0, 7, 4]" in asked.out.replace("\n", " ")


def test_help_and_errors_name_the_option() -> None:
    text = srsql("release", "--help").out
    assert "suppress" in text
