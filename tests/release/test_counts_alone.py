"""Counts alone (``--model tables``): of regions and of items by strata; no row is a case's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from oracles.count_tables import Item, Rules, Tree, Unit, tell
from support.amount import IN_FULL
from support.count_tables import without_empty
from support.quarters import crowd, next_version, write_quarter
from support.released import content, rows

from srsql import schemas, verify
from srsql.engine.api.engine import Engine
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import CheckFailedError, SrsqlError
from srsql.engine.extras.synth import quarter_range, synthesize
from srsql.engine.models.base import COUNTS_CLAIM
from srsql.engine.release.stages import counts
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.count_tables import TableParameters, make_counts

pytestmark = pytest.mark.slow

Q1, Q2, Q3 = "2011Q1", "2011Q2", "2011Q3"
K = 3
OPTIONS: dict[str, Any] = {"model": "tables", "k": K, "theta": "0.4", "seed": 1}
REGION = ("age_low", "age_high", "wt_low", "wt_high", "sex")
SOURCES = (
    ("drug", "drugname", "AND upper(trim(role_cod)) IN ('PS', 'SS')"),
    ("reac", "pt", ""),
    ("indi", "indi_pt", ""),
)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three quarters of which many cases are in several."""
    folder = tmp_path_factory.mktemp("alone")
    synthesize(folder / "raw", quarter_range(Q1, Q3), cases=700, seed=5)
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
    engine.release.make(Q2)
    return engine


def schema(quarter: str) -> str:
    return f"release_{quarter.lower()}"


def members(engine: Engine, quarter: str) -> dict[str, int]:
    """Case of the source -> its group."""
    return dict(
        engine.sql(
            "SELECT m.case_id, m.group_id FROM srsql.member AS m "
            f"JOIN srsql.release AS r USING (release_id) WHERE r.quarter = '{quarter}'"
        )
    )


def test_nothing_but_counts_is_released_and_nothing_has_an_id(released: Engine) -> None:
    for quarter in (Q1, Q2):
        views = released.sql(
            "SELECT v.view_name, list(c.column_name ORDER BY c.column_index) "
            "FROM duckdb_views() AS v JOIN duckdb_columns() AS c "
            "ON v.schema_name = c.schema_name AND v.view_name = c.table_name "
            f"WHERE v.schema_name = '{schema(quarter)}' GROUP BY ALL"
        )
        found = dict(views)
        assert found.keys() == {
            "region_count", "stratum", "case_count", "item_count", "pair_count", "manifest",
        }  # fmt: skip
        assert found["region_count"] == [*REGION, "cases"]
        (manifest,) = rows(released.con, f"SELECT * FROM {schema(quarter)}.manifest")
        assert manifest["rows_of_cases"] == "none"
        assert "ids" not in manifest
        assert manifest["guarantee"].startswith("No row of a case is released, and no id.")
        assert COUNTS_CLAIM in manifest["guarantee"]
    assert released.sql("SELECT count(*) FROM srsql.id_pseudonym") == [(0,)]


def test_a_later_release_has_the_options_of_its_series_and_counts_none_again(
    engine: Engine,
) -> None:
    engine.release.make(Q1, **OPTIONS, table_k=4)
    later = engine.release.make(Q2)
    assert (later.manifest["model"], later.manifest["table_k"]) == ("tables", 4)
    first, second = members(engine, Q1), members(engine, Q2)
    assert not first.keys() & second.keys()
    reported = {
        case for (case,) in engine.sql(
            f"SELECT DISTINCT caseid::VARCHAR FROM raw_faers.demo WHERE quarter = '{Q2}'"
        )
    }  # fmt: skip
    assert reported & first.keys(), "some case is in both"
    assert second.keys() <= reported - first.keys()
    assert later.manifest["withheld"]["counted_before"]["cases"] == len(reported & first.keys())
    assert engine.sql("SELECT sum(cases) FROM released.region_count") == [
        (len(first) + len(second),)
    ]
    assert engine.sql("SELECT sum(cases) FROM released.case_count") == [(len(first) + len(second),)]


def test_every_region_counts_the_cases_whose_originals_lie_in_it(released: Engine) -> None:
    """The catalog says which cases make a group; all else is of published and raw rows."""
    for quarter in (Q1, Q2):
        shown = rows(released.con, f"SELECT * FROM {schema(quarter)}.region_count")
        assert len({tuple(row[name] for name in REGION) for row in shown}) == len(shown)
        assert all(row["cases"] >= K for row in shown)
        groups = Counter(members(released, quarter).values())
        assert sum(row["cases"] for row in shown) == sum(groups.values())
        left = [row["cases"] for row in shown]
        for size in groups.values():  # a region is that of one group or of several
            assert any(size <= cases for cases in left)
        originals = rows(
            released.con,
            "SELECT caseid::VARCHAR AS id, srsql_age AS age, srsql_wt AS wt, srsql_sex AS sex "
            f"FROM raw_faers.demo WHERE quarter = '{quarter}'",
        )
        counted = members(released, quarter)
        for row in originals:
            assert row["id"] not in counted or any(inside(row, region) for region in shown)


def inside(row: dict[str, Any], region: dict[str, Any]) -> bool:
    ages = [
        row[name] is None
        or region[f"{name}_low"] is None
        or region[f"{name}_low"] <= row[name] <= region[f"{name}_high"]
        for name in ("age", "wt")
    ]
    return all(ages) and (row["sex"] is None or region["sex"] not in ("M", "F", row["sex"]) or
                          region["sex"] == row["sex"])  # fmt: skip


LEAVES = {"sex F": ("sex", "F"), "sex M": ("sex", "M")}


def leaf(region: dict[str, Any]) -> str:
    """The leaf of a published region, by the default cuts."""
    sex = next((n for n, (_, v) in LEAVES.items() if region["sex"] == v), "sex other")
    low, high = region["age_low"], region["age_high"]
    if low is not None and low >= 65:
        return f"{sex}, age 65+"
    if high is not None and high < 18:
        return f"{sex}, age under 18"
    known = low is not None and low >= 18 and high < 65
    return f"{sex}, age 18 to under 65" if known else f"{sex}, age other"


def placed_units(engine: Engine, quarter: str) -> list[Unit]:
    """Each counted case in the leaf of its group's region, as the catalog codes that, with what its
    raw rows say of it."""
    coded = {
        group: {"low": low, "high": high, "sex": sex}
        for group, low, high, sex in engine.sql(
            "SELECT g.group_id, max(g.low) FILTER (a.attribute = 'age'), "
            "max(g.high) FILTER (a.attribute = 'age'), max(n.node) FROM srsql.region AS g "
            "JOIN srsql.release AS r USING (release_id) "
            "JOIN srsql.attribute AS a USING (release_id, position) "
            "LEFT JOIN srsql.node AS n ON n.dataset = r.dataset AND a.attribute = n.attribute "
            "AND n.attribute = 'sex' AND n.pre = g.low AND n.last = g.high "
            f"WHERE r.quarter = '{quarter}' GROUP BY g.group_id"
        )
    }
    held: dict[str, set[Item]] = {}
    for source, attribute, more in SOURCES:
        for case, term in engine.sql(
            f"SELECT DISTINCT d.caseid::VARCHAR, t.srsql_{attribute} FROM raw_faers.{source} AS t "
            "INNER JOIN raw_faers.demo AS d USING (primaryid, quarter) "
            f"WHERE quarter = '{quarter}' AND t.srsql_{attribute} IS NOT NULL {more}"
        ):
            held.setdefault(case, set()).add((attribute, term))
    return [
        (
            leaf({"sex": of["sex"], "age_low": of["low"], "age_high": of["high"]}),
            frozenset(held.get(case, ())),
        )
        for case, group in members(engine, quarter).items()
        for of in [coded[group]]
    ]


@pytest.mark.parametrize("seed", range(6 if IN_FULL else 2))
def test_the_tables_are_those_of_the_oracle(tmp_path: Path, seed: int) -> None:
    """Of the second quarter of random data, cell by cell."""
    synthesize(tmp_path / "raw", quarter_range(Q1, Q2), cases=60, seed=seed)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(sorted((tmp_path / "raw").iterdir()))
        engine.release.make(Q1, **OPTIONS)
        engine.release.make(Q2)
        units = placed_units(engine, Q2)
        children: dict[str, tuple[str, ...]] = {}
        for name, parent in engine.sql(f"SELECT stratum, parent FROM {schema(Q2)}.stratum"):
            if parent is not None:
                children[parent] = (*children.get(parent, ()), name)
        theta = {
            (attribute, term): Fraction(2, 5)
            for _, items in units for attribute, term in items if attribute in ("pt", "indi_pt")
        }  # fmt: skip
        kinds = frozenset({frozenset({"drugname", "pt"}), frozenset({"drugname", "indi_pt"})})
        times = Counter((n, a) for n, (_, items) in enumerate(units) for a, _ in items)
        several = {attribute for (_, attribute), count in times.items() if count > 1}
        single = frozenset({a for _, items in units for a, _ in items} - several)
        due = without_empty(tell(units, Tree(children), Rules(K, theta, kinds, single)))
        found: dict[Any, dict[str, int]] = {}
        for stratum, cases in engine.sql(f"SELECT * FROM {schema(Q2)}.case_count"):
            found.setdefault(frozenset(), {})[stratum] = cases
        for stratum, a, t, cases in engine.sql(f"SELECT * FROM {schema(Q2)}.item_count"):
            found.setdefault(frozenset({(a, t)}), {})[stratum] = cases
        for stratum, a, t, o, u, cases in engine.sql(f"SELECT * FROM {schema(Q2)}.pair_count"):
            found.setdefault(frozenset({(a, t), (o, u)}), {})[stratum] = cases
        assert found == {key: cells for key, cells in due.items() if cells}
        assert {len(key) for key in found} >= {0, 1}


@pytest.mark.parametrize(
    ("statement", "scope"),
    [
        ("UPDATE temp.main.srsql_pub_region_count SET cases = cases + 1", "region"),
        ("UPDATE temp.main.srsql_pub_region_count SET cases = 2 WHERE cases > 3", "region"),
        (
            "DELETE FROM temp.main.srsql_pub_region_count WHERE rowid = "
            "(SELECT min(rowid) FROM temp.main.srsql_pub_region_count)",
            "case",
        ),
        (
            "INSERT INTO temp.main.srsql_pub_region_count "
            "SELECT * FROM temp.main.srsql_pub_region_count LIMIT 1",
            "case",
        ),
        (
            "UPDATE temp.main.srsql_pub_region_count SET age_low = age_low + 1 "
            "WHERE age_low < age_high",
            "region",
        ),
    ],
)
def test_regions_that_are_not_those_of_the_cases_roll_the_release_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, statement: str, scope: str
) -> None:
    before = content(engine.con)

    def spoiled(release: Release, tables: TableParameters) -> None:
        make_counts(release, tables)
        release.warehouse.run(statement)

    monkeypatch.setattr(counts, "make_counts", spoiled)
    with pytest.raises(CheckFailedError, match=rf"check_region_counts.*\({scope}\)"):
        engine.release.make(Q1, **OPTIONS)
    assert content(engine.con) == before


def test_a_maker_that_counts_cases_of_earlier_releases_is_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.release.make(Q1, **OPTIONS)
    run_step = Warehouse.run_step

    def all_new(self: Warehouse, step: str, *more: Any, **tables: str) -> dict[str, str]:
        written = run_step(self, step, *more, **tables)
        if step == "grouping/history":
            self.run("UPDATE temp.main.srsql_role SET is_new = true, carrier = true")
        return written

    monkeypatch.setattr(Warehouse, "run_step", all_new)
    with pytest.raises(CheckFailedError, match="check_region_counts"):
        engine.release.make(Q2, allow_linkable=True)


def test_a_maker_whose_regions_do_not_hold_the_originals_is_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog and what is published agree; the raw rows do not."""
    run_step = Warehouse.run_step

    def moved(self: Warehouse, step: str, *more: Any, **tables: str) -> dict[str, str]:
        written = run_step(self, step, *more, **tables)
        if step == "grouping/regions":
            self.run(
                "UPDATE temp.main.srsql_region SET low = low + 1, high = high + 1 "
                "WHERE position = 0 AND low IS NOT NULL AND high < 50"
            )
        return written

    monkeypatch.setattr(Warehouse, "run_step", moved)
    with pytest.raises(CheckFailedError, match="original of a report"):
        engine.release.make(Q1, **OPTIONS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"terms": "disassociate"}, "releases counts, and no terms of clusters"),
        ({"draft": True}, "does not go with --draft"),
        ({"leftovers": "suppress"}, "does not go with values that are suppressed"),
        ({"max_delay": 1}, "--max-delay"),
        ({"columns": "drug.route"}, "--columns"),
        ({"ids": "original"}, "original ids"),
        ({"count": "persons"}, "persons"),
        ({"table_k": 2}, "1 / theta is more"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused_by_name(
    engine: Engine, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(SrsqlError, match=words) as refused:
        engine.release.make(Q1, **OPTIONS | options)
    assert "\n" not in str(refused.value)


def test_commands_work_or_refuse_by_name(released: Engine, tmp_path: Path) -> None:
    assert released.audit.run().safe
    attack = released.audit.attack(Q1, {"age": 44})
    assert len(attack.remaining) >= K
    names = {row.measure for row in released.audit.metrics(Q1)}
    assert "group_size" in names
    assert not any(name.startswith(("one_candidate", "below_k")) for name in names)
    refused = {
        "read region_count, case_count": lambda: released.query.ask(
            "SELECT count(*) FROM demo WHERE sex = 'F'", quarter=Q1
        ),
        "counts alone, and a public edition": lambda: released.artifact.report(Q1, public=True),
        "its counts are never revised": lambda: released.release.correct(Q1),
        "has counts, which neither": lambda: released.steward.split(tmp_path / "p.duckdb"),
        "no region to explain": lambda: released.steward.explain(
            Q1, next(iter(members(released, Q1)))
        ),
    }
    for words, call in refused.items():
        with pytest.raises(SrsqlError, match=words):
            call()
    assert "check_region_counts" in released.artifact.report(Q1).html


def test_a_second_table_of_counted_cases_needs_a_yes(released: Engine) -> None:
    with pytest.raises(SrsqlError, match="are counted in the tables of 2011Q1 in series 'main'"):
        released.release.make(Q1, **OPTIONS, series="again")
    rows_too = OPTIONS | {"model": "ms", "terms": "tables", "series": "rows"}
    with pytest.raises(SrsqlError, match="are counted in the tables of 2011Q1 in series 'main'"):
        released.release.make(Q1, **rows_too)


def test_a_forgotten_case_leaves_the_counts_as_they_are(released: Engine, tmp_path: Path) -> None:
    case = next(iter(members(released, Q1)))
    before = released.sql(f"SELECT * FROM {schema(Q1)}.region_count ORDER BY ALL")
    receipt = released.steward.forget([case], reason="asked for")
    assert released.sql(f"SELECT * FROM {schema(Q1)}.region_count ORDER BY ALL") == before
    assert any("cannot be published any more" in each.line for each in receipt.stale)
    with pytest.raises(SrsqlError, match="withdraw what was published of it"):
        released.artifact.publish(Q1, tmp_path / "out")


def test_a_quarter_of_counted_cases_alone_is_an_empty_release_of_a_range(tmp_path: Path) -> None:
    """Nobody is counted, so no original is looked for."""
    cases = crowd(40, terms=4)
    again = [next_version(each) for each in cases[:20]]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, Q1, cases), write_quarter(tmp_path, Q2, again)])
        engine.release.make(Q1, **OPTIONS)
        with pytest.raises(SrsqlError, match=r"counted_before 20\); 2011Q2:2011Q2 as --quarter"):
            engine.release.make(Q2)
        engine.release.make_range(f"{Q2}:{Q2}")
        assert engine.sql(f"SELECT count(*) FROM {schema(Q2)}.region_count") == [(0,)]
        engine.artifact.publish(Q2, tmp_path / "out", format="csv")
        assert verify(tmp_path / "out").passed


def test_tables_of_another_dataset_of_the_same_files_need_a_yes(tmp_path: Path) -> None:
    """Whatever it calls itself, its cases are the same."""
    cases = write_quarter(tmp_path, Q1, crowd(40, terms=4))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([cases])
        engine.release.make(Q1, **OPTIONS)
    shipped = Path(schemas.__file__).parent
    copytree(shipped / "hierarchies", tmp_path / "hierarchies")
    other = tmp_path / "other.toml"
    told = (shipped / "faers.toml").read_text(encoding="utf-8")
    other.write_text(told.replace('name = "faers"', 'name = "other"', 1), encoding="utf-8")
    with Engine(tmp_path / "w.duckdb", dataset=str(other)) as engine:
        engine.ingest([cases])
        with pytest.raises(SrsqlError, match="40 cases of 2011Q1 are counted in the tables"):
            engine.release.make(Q1, **OPTIONS)
        noisy = OPTIONS | {"model": "ms", "terms": "noisy-tables"}
        with pytest.raises(SrsqlError, match=r"counted in the tables \(exact\) of 2011Q1"):
            engine.release.make(Q1, **noisy)
        engine.release.make(Q1, **noisy, allow_linkable=True)
    with Engine(tmp_path / "w.duckdb", dataset="faers") as engine:
        tables = OPTIONS | {"series": "again", "model": "ms", "terms": "tables"}
        with pytest.raises(SrsqlError, match=r"are counted in the tables"):
            engine.release.make(Q1, **tables)


def test_signals_are_those_of_the_originals_of_counted_cases(released: Engine) -> None:
    for quarter in (Q1, Q2):
        found = released.signals.find(every_pair=True, quarter=quarter)
        assert len(found.signals) > 5
        for signal in found.signals:
            ours, theirs = signal.released, signal.original
            if ours.a_lower == ours.a_upper:
                assert (ours.a, ours.b, ours.c, ours.d) == (theirs.a, theirs.b, theirs.c, theirs.d)
                assert (ours.prr, ours.ror, ours.ic) == (theirs.prr, theirs.ror, theirs.ic)
            else:
                assert ours.prr is None
                assert ours.a_lower <= theirs.a <= ours.a_upper
