"""Foreign tables of counts in a series: judged by the rules, and beside every other table."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from oracles.count_differences import AGES, SEXES, Place, atoms, small_differences
from support.amount import IN_FULL

from srsql.cli import cli
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.foreign_counts import verify_foreign_counts
from srsql.engine.audit.imports.count_file import read_counts
from srsql.engine.errors import ImportReleaseError, SrsqlError
from srsql.engine.extras.synth import quarter_range, synthesize

pytestmark = pytest.mark.slow

Q1 = "2011Q1"
OPTIONS: dict[str, Any] = {"model": "tables", "k": 3, "theta": "0.4", "seed": 1}
COUNTS = {"counts": ["drug", "reaction"], "sensitive": ["reaction"]}
Row = Mapping[str, Any]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quarter, of which tables are out in the series main."""
    folder = tmp_path_factory.mktemp("told")
    synthesize(folder / "raw", quarter_range(Q1, Q1), cases=500, seed=5)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
        engine.release.make(Q1, **OPTIONS)
    return folder / "w.duckdb"


@pytest.fixture
def engine(base: Path, tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "w.duckdb").write_bytes(base.read_bytes())
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def row(cases: int, drug: str = "", reaction: str = "", **strata: str) -> Row:
    return {"drug": drug, "reaction": reaction, **strata, "cases": cases}


def write(path: Path, rows: Sequence[Row]) -> Path:
    names = list(dict.fromkeys(name for each in rows for name in each))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def imported(engine: Engine, tmp_path: Path, rows: Sequence[Row], series: str = "theirs") -> Any:
    path = write(tmp_path / f"{series}.csv", rows)
    return engine.audit.import_release(path, Q1, series=series, **COUNTS)


def item_of(engine: Engine, attribute: str) -> tuple[str, int]:
    """The most frequent told item, and how many cases have it."""
    found = engine.sql(
        "SELECT term, sum(cases) AS n FROM release_2011q1.item_count WHERE term IS NOT NULL "
        f"AND attribute = '{attribute}' GROUP BY term ORDER BY n DESC, term LIMIT 1"
    )
    return found[0][0], int(found[0][1])


def all_cases(engine: Engine) -> int:
    return int(engine.sql("SELECT sum(cases) FROM release_2011q1.case_count")[0][0])


def test_a_sound_table_is_kept_as_it_was_told_and_passes(engine: Engine, tmp_path: Path) -> None:
    n = all_cases(engine)
    rows = [row(n + 100), row(n, sex="F"), row(100, sex="M")]
    found = imported(engine, tmp_path, rows)
    assert (found.cells, found.items, found.strata) == (3, ("drug", "reaction"), ("sex",))
    assert sorted(engine.sql("SELECT cases FROM srsql.foreign_count")) == [(100,), (n,), (n + 100,)]
    audit = engine.audit.run(series="theirs", theta="0.4")
    assert audit.safe
    assert {check.check for check in audit.checks} == {
        "told counts", "told shares", "ways out", "bridges",
    }  # fmt: skip
    assert any("of which cases they are" in text for text in audit.cannot_show)
    assert any("tables of other periods" in text for text in audit.cannot_show)
    assert engine.audit.run(series="main").safe


@pytest.mark.parametrize(
    ("rows", "check"),
    [
        ([row(200), row(4, "x")], "told counts"),
        ([row(200), row(40, "x"), row(38, "x", sex="F")], "told counts"),
        ([row(200), row(20, "x"), row(30, reaction="s"), row(9, "x", "s")], "told shares"),
        ([row(200), row(198, "x")], "told shares"),
        ([row(100), row(90, "x"), row(40, reaction="s")], "ways out"),
    ],
)  # fmt: skip
def test_a_forged_table_is_refuted_by_the_rule_that_it_breaks(
    engine: Engine, tmp_path: Path, rows: list[Row], check: str
) -> None:
    imported(engine, tmp_path, [{**row(0, sex=""), **each} for each in rows])
    audit = engine.audit.run(series="theirs", theta="0.4")
    assert not audit.safe
    broken = {each.check for each in audit.checks if not each.passed}
    assert check in broken
    assert "break a rule" in audit.verdict


def test_a_table_that_differs_by_two_cases_from_ours_is_told_by_both_audits(
    engine: Engine, tmp_path: Path
) -> None:
    drug, cases = item_of(engine, "drugname")
    imported(engine, tmp_path, [row(all_cases(engine) + 50), row(cases + 2, drug.lower())])
    for series in ("theirs", "main"):
        audit = engine.audit.run(series=series)
        assert not audit.safe
        (found,) = audit.differences if series == "theirs" else audit.counts
        assert found.quarter == Q1
        assert f"drugname {drug}" in found.example
        assert str(cases) in found.example
        assert str(cases + 2) in found.example
    assert "Unsafe: 1 difference of" in engine.audit.run(series="main").verdict


def test_what_ours_has_within_a_foreign_count_is_subtracted_from_it(
    engine: Engine, tmp_path: Path
) -> None:
    """All women, told by our strata, and all women and two others, told by theirs."""
    women = engine.sql(
        "SELECT sum(cases) FROM release_2011q1.case_count WHERE stratum LIKE 'sex F%'"
    )
    imported(engine, tmp_path, [row(int(women[0][0]) + 2)])
    audit = engine.audit.run(series="theirs", k=3)
    assert not audit.safe
    assert "sex f" in audit.differences[0].example


def test_a_release_of_counts_is_refused_beside_a_foreign_table_that_gives_cases_away(
    base: Path, tmp_path: Path
) -> None:
    """Before anything is out; a yes lets both be."""
    synthesize(tmp_path / "raw", quarter_range(Q1, Q1), cases=500, seed=5)
    with Engine(base, read_only=True) as known:
        n = all_cases(known)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(sorted((tmp_path / "raw").iterdir()))
        imported(engine, tmp_path, [row(n + 1)])
        with pytest.raises(SrsqlError, match="differ from those of series theirs") as refused:
            engine.release.make(Q1, **OPTIONS)
        assert "\n" not in str(refused.value)
        assert engine.sql("SELECT count(*) FROM srsql.release WHERE series = 'main'") == [(0,)]
        engine.release.make(Q1, **OPTIONS, allow_linkable=True)
        assert not engine.audit.run().safe


def test_two_tables_of_ours_of_the_same_cases_are_subtracted_from_each_other(
    engine: Engine,
) -> None:
    """Other cuts tell who lies between."""
    engine.release.make(Q1, **OPTIONS, series="again", strata="none", allow_linkable=True)
    other = engine.release.make(
        Q1, **OPTIONS | {"k": 4, "theta": "0.5"}, series="other", allow_linkable=True
    )
    assert other.rows["case_count"]
    same = engine.audit.run(series="again")
    assert all("series main" in each.one + each.other for each in same.counts) or same.counts
    assert isinstance(engine.audit.run(series="other").counts, tuple)


def test_a_release_asks_for_a_yes_where_the_audit_will_find_fault(
    base: Path, tmp_path: Path
) -> None:
    """By the greater k of both tables: that of a foreign one, which tells none, is 5."""
    synthesize(tmp_path / "raw", quarter_range(Q1, Q1), cases=500, seed=5)
    with Engine(base, read_only=True) as known:
        n = all_cases(known)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest(sorted((tmp_path / "raw").iterdir()))
        imported(engine, tmp_path, [row(n + 4)])
        with pytest.raises(SrsqlError, match=r"^1 counts of 2011Q1 differ"):
            engine.release.make(Q1, **OPTIONS)
        engine.release.make(Q1, **OPTIONS, allow_linkable=True)
        assert [each.found for each in engine.audit.run().counts] == [1]
        assert not engine.audit.run(k=3).counts
        assert engine.audit.run(k=7).counts


def test_regions_are_subtracted_from_a_band_that_no_stratum_is(
    engine: Engine, tmp_path: Path
) -> None:
    """Whoever lies in the band and in none of the regions within it lies in one that straddles."""
    within = engine.sql(
        "SELECT sum(cases) FROM release_2011q1.region_count "
        "WHERE sex = 'F' AND age_low >= 30 AND age_high <= 39"
    )
    cases = int(within[0][0])
    many = all_cases(engine) + 200
    imported(engine, tmp_path, [row(many), row(cases + 2, sex="F", age="30-39")])
    audit = engine.audit.run(series="theirs", k=3)
    assert [each.found for each in audit.differences] == [1]
    assert f"{cases + 2}, and {cases} of its parts" in audit.differences[0].example
    imported(engine, tmp_path, [row(many), row(cases + 9, sex="F", age="30-39")], "far")
    assert engine.audit.run(series="far", k=3).safe


def test_all_series_together_are_unsafe_where_their_counts_differ(
    engine: Engine, tmp_path: Path
) -> None:
    imported(engine, tmp_path, [row(all_cases(engine) + 2)])
    audit = engine.audit.run(all_series=True)
    assert not audit.safe
    assert audit.verdict.startswith("Unsafe: 1 differences of tables of counts")
    assert [each.found for each in audit.counts] == [1]
    assert engine.audit.run(all_series=True, k=2).safe
    engine.close()
    told = CliRunner().invoke(cli, ["audit", "--all-series", "--db", str(tmp_path / "w.duckdb")])
    assert told.exit_code == 1, told.output
    assert "tables of counts that differ by fewer than k" in told.output


def test_a_threshold_of_no_column_is_said_to_be_judged_of_none(
    engine: Engine, tmp_path: Path
) -> None:
    path = write(tmp_path / "t.csv", [row(all_cases(engine) + 90)])
    engine.audit.import_release(path, Q1, series="theirs", counts=["drug", "reaction"])
    found = engine.audit.run(series="theirs", theta="0.4").cannot_show
    assert any("no column was imported as sensitive" in text for text in found)
    assert not any("give --theta" in text for text in found)


@pytest.mark.parametrize("items", [("drug", "drug"), ("cases",), ()])
def test_columns_of_items_are_some_each_once(tmp_path: Path, items: tuple[str, ...]) -> None:
    path = write(tmp_path / "t.csv", [row(90)])
    with pytest.raises(ImportReleaseError, match="name some, each once"):
        read_counts(path, items, ImportReleaseError)


def test_three_strata_of_another_table_are_added_up(engine: Engine, tmp_path: Path) -> None:
    """By sex, and of one sex by age."""
    n = all_cases(engine) + 200
    parts = [row(n - 300, sex="F"), row(200, sex="M", age="0-17"), row(98, sex="M", age="18+")]
    imported(engine, tmp_path, [row(n)])
    imported(engine, tmp_path, parts, "parts")
    audit = engine.audit.run(series="theirs")
    assert [each.found for each in audit.differences] == [1]
    assert f"{n}, and {n - 2} of its parts by sex" in audit.differences[0].example


@pytest.mark.parametrize("name", ["PT", "pt", " Reaction"])
def test_a_column_of_items_is_known_in_any_case(engine: Engine, tmp_path: Path, name: str) -> None:
    term, cases = item_of(engine, "pt")
    text = f"{name},cases\n,{all_cases(engine) + 90}\n{term},{cases + 2}\n"
    (tmp_path / "t.csv").write_text(text)
    engine.audit.import_release(
        tmp_path / "t.csv", Q1, series="theirs", counts=[name.strip()], sensitive=[name.strip()]
    )
    assert f"pt {term}" in engine.audit.run(series="theirs", k=3).differences[0].example


def test_a_term_that_is_told_by_two_spellings_is_compared_by_both(
    engine: Engine, tmp_path: Path
) -> None:
    """The one told last is far from ours, the other one is not."""
    term, cases = item_of(engine, "pt")
    many = row(all_cases(engine) + 90)
    for number, (one, other) in enumerate([(cases + 2, 8 * cases), (8 * cases, cases + 2)]):
        rows = [many, row(one, reaction=term), row(other, reaction=f"{term}.")]
        imported(engine, tmp_path, rows, f"s{number}")
        audit = engine.audit.run(series=f"s{number}", k=3)
        assert f"{cases} and {cases + 2}" in audit.differences[0].example


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drug,cases\n,99999999999999999999\n", "is no number of cases"),
        (f"drug,cases\n,{'9' * 5000}\n", "is no number of cases"),
        ("drug,cases\n,5.0\n", "is no number of cases"),
        ("drug,cases\n,²\n", "is no number of cases"),
        ("drug,sex,sex,cases\n,F,,50\n", "two columns are 'sex'"),
        ("drug,sex,Sex ,cases\n,F,,50\n", "two columns are 'sex'"),
        (",drug,cases\n0,,50\n1,x,3\n", "or one has no name"),
        ("drug,sex,cases\n,F,50\n,f,48\n", "this count is there twice"),
    ],
)
def test_a_file_that_says_a_thing_in_two_ways_is_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "t.csv").write_text(text)
    for call in (
        lambda: read_counts(tmp_path / "t.csv", ("drug",), ImportReleaseError),
        lambda: verify_foreign_counts(tmp_path / "t.csv", 5, {}, ["drug"]),
    ):
        with pytest.raises(SrsqlError, match=words) as refused:
            call()
        assert "\n" not in str(refused.value)


def told(population: Mapping[Any, int], places: Sequence[Place]) -> dict[Place, int]:
    return {p: sum(population.get(atom, 0) for atom in atoms(p)) for p in places}


def places_of(luck: random.Random) -> list[Place]:
    """Some of the cells of a table by sex and by bands of age."""
    ends = sorted(luck.sample(range(1, len(AGES)), luck.randint(1, 3)))
    bands = list(zip([0, *ends], [e - 1 for e in (*ends, len(AGES))], strict=True))
    every: list[Place] = [(None, None), *(((s,), None) for s in SEXES)]
    every += [(None, band) for band in bands]
    every += [((s,), band) for s in SEXES for band in bands]
    return luck.sample(every, luck.randint(1, len(every)))


def as_rows(cells: Mapping[Place, int]) -> list[Row]:
    return [
        row(n, sex="" if sexes is None else sexes[0],
            age="" if ages is None else f"{ages[0]}-{ages[1]}")
        for (sexes, ages), n in cells.items()
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(400 if IN_FULL else 25))
def test_differences_of_two_random_tables_are_those_of_sets_of_cases(
    base: Path, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    luck = random.Random(seed)
    population = {
        (s, a): luck.choice((0, 1, 2, 5, 9)) for s in SEXES for a in AGES
    }  # fmt: skip
    tables = [told(population, places_of(luck)) for _ in range(2)]
    due = list(small_differences(*tables, k=5))
    any_at_all = due or any(small_differences(*tables, k=5, alike=False))
    engine = _shared(base, tmp_path_factory)
    names = [f"one{seed}", f"two{seed}"]
    label = f"{2100 + seed}Q1"
    folder = tmp_path_factory.mktemp("tables")
    for name, cells in zip(names, tables, strict=True):
        path = write(folder / f"{name}.csv", as_rows(cells))
        engine.audit.import_release(path, label, series=name, **COUNTS)
    found = engine.audit.run(series=names[0]).differences
    assert bool(due) <= bool(found) <= bool(any_at_all), (tables, due)
    if found:
        assert found[0].quarter == label


_ENGINES: dict[Path, Engine] = {}


def _shared(base: Path, factory: pytest.TempPathFactory) -> Engine:
    """One warehouse for all seeds, each of which has a period of its own."""
    if base not in _ENGINES:
        copy = factory.mktemp("shared") / "w.duckdb"
        copy.write_bytes(base.read_bytes())
        _ENGINES[base] = Engine(copy)
    return _ENGINES[base]


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    yield
    while _ENGINES:
        _ENGINES.popitem()[1].close()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"counts": ["drug", "pt"]}, "it needs one column 'pt'"),
        ({"counts": ["drug"], "sensitive": ["pt"]}, "none of --counts drug"),
        ({"sensitive": ["reaction"]}, "goes with --counts"),
        ({"counts": ["drug"], "originals": "x.csv"}, "leave one of them out"),
        ({"counts": ["drug"], "series": "main"}, "holds tables releases"),
    ],
)
def test_what_is_no_table_of_counts_is_refused_in_one_line(
    engine: Engine, tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    path = write(tmp_path / "t.csv", [row(20, "x")])
    with pytest.raises(SrsqlError, match=words) as refused:
        engine.audit.import_release(path, Q1, **{"series": "theirs"} | given)
    assert "\n" not in str(refused.value)


def test_a_period_is_imported_once_or_superseded_and_stays_known(
    engine: Engine, tmp_path: Path
) -> None:
    imported(engine, tmp_path, [row(300)])
    with pytest.raises(SrsqlError, match="already imported into series 'theirs'"):
        imported(engine, tmp_path, [row(302)])
    path = write(tmp_path / "t.csv", [row(302)])
    engine.audit.import_release(path, Q1, series="theirs", supersede=True, **COUNTS)
    again = engine.audit.import_release(path, Q1, series="theirs", if_needed=True, **COUNTS)
    assert again.was_there
    audit = engine.audit.run(series="theirs")
    assert {check.quarter for check in audit.checks} == {Q1, f"{Q1} (superseded)"}
    assert not audit.safe
    assert "300 and 302" in audit.differences[0].example


def test_other_commands_refuse_imported_counts_by_name(engine: Engine, tmp_path: Path) -> None:
    imported(engine, tmp_path, [row(all_cases(engine) + 50)])
    calls = {
        "attack": lambda: engine.audit.attack(Q1, {"age": 44}, series="theirs"),
        "metrics": lambda: engine.audit.metrics(Q1, series="theirs"),
        "signals": lambda: engine.signals.find(every_pair=True, series="theirs"),
        "query": lambda: engine.query.ask("SELECT count(*) FROM demo", series="theirs"),
        "publish": lambda: engine.artifact.publish(Q1, tmp_path / "a", series="theirs"),
        "audit": lambda: engine.audit.run(series="theirs", attacks=["b"]),
    }
    for call in calls.values():
        with pytest.raises(SrsqlError, match=r"imported|somebody else's"):
            call()


def test_the_command_tells_the_verdict_and_exits_by_it(base: Path, tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    db.write_bytes(base.read_bytes())
    path = write(tmp_path / "t.csv", [row(400), row(3, "x")])
    told = CliRunner().invoke(
        cli,
        ["import-release", str(path), "--quarter", Q1, "--series", "theirs", "--counts",
         "drug,reaction", "--db", str(db)],
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "2 counts of drug, reaction by no strata" in told.output
    judged = CliRunner().invoke(cli, ["audit", "--series", "theirs", "--db", str(db)])
    assert judged.exit_code == 1
    assert "Unsafe: 1 counts break a rule" in judged.output
    assert "not judged: " in judged.output
