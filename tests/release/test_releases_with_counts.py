"""Counts tell the items of cases, by strata of published regions, and no row does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.released import content, rows

from srsql.engine.api.engine import Engine
from srsql.engine.console.upkeep import receipt_parts
from srsql.engine.errors import CheckFailedError, PublishError, SrsqlError, WarehouseError
from srsql.engine.extras.synth import quarter_range, synthesize
from srsql.engine.models.base import COUNTS_CLAIM
from srsql.engine.shapes.strata import Cut, parse_cuts, strata
from srsql.engine.store.warehouse import Warehouse

pytestmark = pytest.mark.slow

Q1, Q2 = "2011Q1", "2011Q2"
OPTIONS: dict[str, Any] = {"model": "ppms++", "k": 3, "theta": "0.4", "terms": "tables", "seed": 1}
K = 3


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quarters of which many cases are in both."""
    folder = tmp_path_factory.mktemp("counts")
    synthesize(folder / "raw", quarter_range(Q1, Q2), cases=700, seed=5)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
    return folder / "w.duckdb"


@pytest.fixture
def engine(loaded: Path, tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "w.duckdb").write_bytes(loaded.read_bytes())
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


@pytest.fixture
def released(engine: Engine) -> Engine:
    engine.release.make(Q1, **OPTIONS)
    engine.release.make(Q2, **OPTIONS)
    return engine


def told(engine: Engine, quarter: str) -> dict[frozenset[Any], dict[str, int]]:
    """Key -> stratum -> cases."""
    found: dict[frozenset[Any], dict[str, int]] = {}
    schema = f"release_{quarter.lower()}"
    for stratum, cases in engine.sql(f"SELECT * FROM {schema}.case_count"):
        found.setdefault(frozenset(), {})[stratum] = cases
    for stratum, a, t, cases in engine.sql(f"SELECT * FROM {schema}.item_count"):
        found.setdefault(frozenset({(a, t)}), {})[stratum] = cases
    for stratum, a, t, o, u, cases in engine.sql(f"SELECT * FROM {schema}.pair_count"):
        found.setdefault(frozenset({(a, t), (o, u)}), {})[stratum] = cases
    return found


def test_rows_show_a_region_and_no_item_and_nothing_else_has_an_id(released: Engine) -> None:
    for quarter in (Q1, Q2):
        schema = f"release_{quarter.lower()}"
        views = {name for (name,) in released.sql(
            f"SELECT view_name FROM duckdb_views() WHERE schema_name = '{schema}'"
        )}  # fmt: skip
        assert views == {"demo", "stratum", "case_count", "item_count", "pair_count", "manifest"}
        shown = rows(released.con, f"SELECT * FROM {schema}.demo LIMIT 1")[0]
        assert set(shown) == {
            "primaryid", "caseid", "quarter", "age_low", "age_high", "wt_low", "wt_high", "sex",
        }  # fmt: skip
        cases, ids = released.sql(f"SELECT count(*), count(DISTINCT caseid) FROM {schema}.demo")[0]
        assert cases == ids


def test_a_case_is_counted_in_its_first_release_alone(released: Engine) -> None:
    def counted(quarter: str) -> int:
        return sum(told(released, quarter)[frozenset()].values())

    first, second = (
        {case for (case,) in released.sql(f"SELECT caseid FROM release_{q.lower()}.demo")}
        for q in (Q1, Q2)
    )
    assert first & second, "some case is in both"
    assert counted(Q1) == len(first)
    assert counted(Q2) == len(second - first)
    assert released.sql("SELECT sum(cases) FROM released.case_count") == [(len(first | second),)]


def test_told_counts_are_those_of_cases_by_their_published_regions(released: Engine) -> None:
    """Strata, units and items are worked out from published rows and raw rows alone."""
    cut = {
        "sex F": lambda r: r["sex"] == "F",
        "sex M": lambda r: r["sex"] == "M",
    }
    ages = {
        "age 65+": lambda r: r["age_low"] is not None and r["age_low"] >= 65,
        "age under 18": lambda r: r["age_high"] is not None and r["age_high"] < 18,
        "age 18 to under 65": lambda r: (
            r["age_low"] is not None and r["age_low"] >= 18 and r["age_high"] < 65
        ),
    }
    shown = rows(released.con, f"SELECT * FROM release_{Q1.lower()}.demo")
    original = {
        pseudonym: case
        for case, pseudonym in released.sql(
            "SELECT case_id, pseudonym::VARCHAR FROM srsql.id_pseudonym"
        )
    }
    held: dict[str, set[tuple[str, str]]] = {}
    for source, attribute, more in (
        ("drug", "drugname", "AND upper(trim(role_cod)) IN ('PS', 'SS')"),
        ("reac", "pt", ""),
        ("indi", "indi_pt", ""),
    ):
        for case, term in released.sql(
            f"SELECT DISTINCT d.caseid::VARCHAR, t.srsql_{attribute} FROM raw_faers.{source} AS t "
            "INNER JOIN raw_faers.demo AS d USING (primaryid, quarter) "
            f"WHERE quarter = '{Q1}' AND t.srsql_{attribute} IS NOT NULL {more}"
        ):
            held.setdefault(case, set()).add((attribute, term))
    units = []
    for row in shown:
        sex = next((name for name, holds in cut.items() if holds(row)), "sex other")
        age = next((name for name, holds in ages.items() if holds(row)), "age other")
        case = str(original[str(row["caseid"])])
        units.append((f"{sex}, {age}", frozenset(held.get(case, ()))))
    tree = dict(released.sql(f"SELECT stratum, parent FROM release_{Q1.lower()}.stratum"))

    def within(stratum: str | None) -> set[str]:
        return set() if stratum is None else {stratum} | within(tree[stratum])

    placed = [(within(leaf), items) for leaf, items in units]
    cells = told(released, Q1)
    assert {len(key) for key in cells} == {0, 1, 2}
    for key, found in cells.items():
        holders = [strata for strata, items in placed if key <= items]
        assert sum(found.values()) == len(holders), key
        for stratum, cases in found.items():
            assert cases == sum(stratum in strata for strata in holders) >= K, (key, stratum)


def test_the_manifest_says_the_claim_word_for_word_and_lists_told_thresholds_alone(
    released: Engine,
) -> None:
    (manifest,) = rows(released.con, f"SELECT * FROM release_{Q1.lower()}.manifest")
    assert COUNTS_CLAIM in manifest["guarantee"]
    assert (manifest["table_k"], manifest["table_items"]) == (3, "drugname, indi_pt, pt")
    assert manifest["table_pairs"] == "drugname x indi_pt, drugname x pt"
    terms = {term for key in told(released, Q1) for _, term in key}
    assert {entry["value"] for entry in manifest["thresholds"]} <= terms


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        (
            "UPDATE temp.main.srsql_pub_pair_count SET cases = 2 "
            "WHERE rowid = (SELECT min(rowid) FROM temp.main.srsql_pub_pair_count)",
            "cells",
        ),
        (
            "UPDATE temp.main.srsql_pub_item_count SET cases = cases + 1 "
            "WHERE rowid = (SELECT min(rowid) FROM temp.main.srsql_pub_item_count)",
            "truth",
        ),
        (
            "DELETE FROM temp.main.srsql_pub_case_count "
            "WHERE rowid = (SELECT min(rowid) FROM temp.main.srsql_pub_case_count)",
            "theta",
        ),
        ("INSERT INTO temp.main.srsql_pub_case_count SELECT 'all', 900", "cells"),
        ("UPDATE temp.main.srsql_pub_case_count SET cases = 999999", "truth"),
    ],
)
def test_tables_that_break_a_rule_roll_the_release_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, statement: str, check: str
) -> None:
    before = content(engine.con)
    run_step = Warehouse.run_step

    def spoiled(self: Warehouse, step: str, *more: Any, **tables: str) -> dict[str, str]:
        written = run_step(self, step, *more, **tables)
        if step == "terms/count_tables":
            self.run(statement)
        return written

    monkeypatch.setattr(Warehouse, "run_step", spoiled)
    with pytest.raises(CheckFailedError, match=f"check_count_{check}"):
        engine.release.make(Q1, **OPTIONS)
    assert content(engine.con) == before


def test_a_maker_that_counts_old_cases_again_is_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.release.make(Q1, **OPTIONS)
    run_step = Warehouse.run_step

    def all_new(self: Warehouse, step: str, *more: Any, **tables: str) -> dict[str, str]:
        written = run_step(self, step, *more, **tables)
        if step == "release/catalog":
            self.run("UPDATE temp.main.srsql_role SET is_new = true")
        return written

    monkeypatch.setattr(Warehouse, "run_step", all_new)
    with pytest.raises(CheckFailedError, match="check_count"):
        engine.release.make(Q2, **OPTIONS)


def test_told_tables_are_not_made_twice_nor_revised(released: Engine) -> None:
    again = OPTIONS | {"series": "again"}
    with pytest.raises(SrsqlError, match="are counted in the tables of 2011Q1 in series 'main'"):
        released.release.make(Q1, **again)
    made = released.release.make(Q1, **again, allow_linkable=True)
    assert made.rows["case_count"]
    with pytest.raises(SrsqlError, match="counts that are out are never revised"):
        released.release.make(Q2, **OPTIONS | {"model": "ms", "series": "m"}, supersede=True)


def test_a_release_of_a_forgotten_case_keeps_its_counts_and_is_published_no_more(
    released: Engine, tmp_path: Path
) -> None:
    """No command takes the row out, and the answer says so before anything else that is to do."""
    (case,) = released.sql("SELECT case_id FROM srsql.member LIMIT 1")[0]
    before = told(released, Q1)
    receipt = released.steward.forget([case], reason="asked for")
    assert told(released, Q1) == before
    assert receipt.commands == []
    (first, *_) = (each for each in receipt.stale if each.quarter == Q1)
    assert "cannot be published any more" in first.line
    shown = [str(part) for part in receipt_parts(receipt)]
    assert "to do, in this order:" in shown
    assert f"  {first.line}" in shown[shown.index("to do, in this order:") :][:4]
    for stale in (False, True):
        with pytest.raises(PublishError, match="withdraw what was published of it"):
            released.artifact.publish(Q1, tmp_path / "out", stale=stale)
    with pytest.raises(SrsqlError, match="its counts are never revised"):
        released.release.correct(Q1)


def test_counts_stand_in_no_public_file(engine: Engine, tmp_path: Path) -> None:
    """Its catalog has no place for them; artifacts have."""
    engine.release.make(Q1, **OPTIONS)
    with pytest.raises(WarehouseError, match="2011Q1 has counts, which neither a public file"):
        engine.steward.split(tmp_path / "public.duckdb")
    assert not (tmp_path / "public.duckdb").exists()
    assert engine.steward.split() == []


def test_signals_read_told_counts_and_are_those_of_the_originals(released: Engine) -> None:
    found = released.signals.find(every_pair=True, quarter=Q1)
    assert len(found.signals) > 20
    for signal in found.signals:
        ours, theirs = signal.released, signal.original
        if ours.a_lower != ours.a_upper:
            assert ours.prr is None
            assert ours.a_lower <= theirs.a <= ours.a_upper
        else:
            assert (ours.a, ours.b, ours.c, ours.d) == (theirs.a, theirs.b, theirs.c, theirs.d)
            assert (ours.prr, ours.ror, ours.ic) == (theirs.prr, theirs.ror, theirs.ic)


def test_strata_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "strata.toml"
    file.write_text(
        '[[cut]]\nqid = "sex"\nvalue = "F"\n[[cut]]\nqid = "age"\nbelow = 2.5\n', encoding="utf-8"
    )
    assert [each.name for each in strata(parse_cuts(str(file)))] == [
        "all", "sex F", "sex F, age under 2.5", "sex F, age not under 2.5", "sex not F",
        "sex not F, age under 2.5", "sex not F, age not under 2.5",
    ]  # fmt: skip
    assert parse_cuts("none") == ()
    assert [each.name for each in strata(())] == ["all"]
    assert Cut("sex", "F").words == "F"
