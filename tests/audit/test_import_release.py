"""Somebody else's table becomes catalog rows, whole and exactly, or it is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.foreign import TOML, dataset, table

from srsql.engine.api.engine import Engine
from srsql.engine.audit.imports.import_release import ImportedRelease
from srsql.engine.errors import DatasetError, ImportReleaseError, IngestError, ReleaseError

pytestmark = pytest.mark.thorough

HEADER = "case_id age_low age_high sex adr disease"
ROWS = [
    (2, 30, 39, "F", "Rash;Cough", "Flu"),
    (10, 30, 39, "F", "cough ", ""),
    (1, 40, 45, "*", "Itch", "Flu; HIV"),
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    con = duckdb.connect()
    with Engine(con) as opened:
        yield opened
    con.close()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return dataset(tmp_path)


def put(
    engine: Engine,
    other: Path,
    header: str = HEADER,
    rows: Sequence[Sequence[Any]] = ROWS,
    **options: Any,
) -> ImportedRelease:
    file = table(other.parent / "t.csv", header, rows)
    return engine.import_release(file, options.pop("quarter", "2011Q1"), dataset=other, **options)


def members(engine: Engine, release_id: int = 1) -> list[tuple[Any, ...]]:
    return engine.sql(
        "SELECT case_id, group_id, reports, is_new FROM srsql.member WHERE release_id = ? "
        "ORDER BY case_no",
        [release_id],
    )


def regions(engine: Engine) -> dict[str, list[tuple[int | None, int | None]]]:
    """Case -> its region, in the order of the QIDs."""
    found: dict[str, list[tuple[int | None, int | None]]] = {}
    for case, low, high in engine.sql(
        "SELECT m.case_id, r.low, r.high FROM srsql.member AS m "
        "INNER JOIN srsql.region AS r USING (release_id, group_id) "
        "ORDER BY m.case_no, r.position"
    ):
        found.setdefault(case, []).append((low, high))
    return found


def terms(engine: Engine) -> dict[str, set[str]]:
    return {
        case: set(held)
        for case, held in engine.sql(
            "SELECT m.case_id, list(t.term) FROM srsql.member AS m "
            "INNER JOIN srsql.case_term AS c USING (release_id, case_no) "
            "INNER JOIN srsql.threshold AS t USING (release_id, term_no) "
            "WHERE c.weight = 1 AND c.direct GROUP BY m.case_id"
        )
    }


def catalog(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    names = [
        "dataset",
        "series",
        "release",
        "member",
        "region",
        "case_qid",
        "case_term",
        "threshold",
        "attribute",
        "defended_attack",
        "case_flag",
        "ss_rule",
    ]
    return {name: engine.sql(f"SELECT * FROM srsql.{name} ORDER BY ALL") for name in names}


def test_cases_are_numbered_by_id_and_same_regions_make_a_group(
    engine: Engine, other: Path
) -> None:
    done = put(engine, other)
    assert (done.cases, done.new_cases, done.groups, done.rows) == (3, 3, 2, 3)
    assert members(engine) == [("1", 1, 1, True), ("2", 2, 1, True), ("10", 2, 1, True)]
    assert regions(engine) == {
        "1": [(40, 45), (0, 2)],
        "2": [(30, 39), (2, 2)],
        "10": [(30, 39), (2, 2)],
    }
    assert terms(engine) == {"1": {"itch", "flu", "hiv"}, "2": {"rash", "cough", "flu"},
                             "10": {"cough"}}  # fmt: skip


def test_an_import_is_a_release_that_promises_nothing(engine: Engine, other: Path) -> None:
    put(engine, other)
    assert engine.sql(
        "SELECT model, status, k, k_effective, weight_scale, schema_name, ingestion_id "
        "FROM srsql.release"
    ) == [("imported", "released", 0, 0, 1, "", None)]
    assert engine.sql("SELECT family, cumulative_schema FROM srsql.series") == [("imported", "")]
    assert engine.sql("SELECT attacks, alpha_num, alpha_den FROM srsql.defended_attack") == [
        ([], None, None)
    ]
    assert engine.sql("SELECT DISTINCT theta_num, theta_den, released FROM srsql.threshold") == [
        (0, 0, True)
    ]
    assert engine.sql("SELECT attribute, kind, span FROM srsql.attribute ORDER BY position") == [
        ("age", "numeric", 120),
        ("sex", "categorical", 0),
    ]
    assert engine.sql("SELECT count(*) FROM srsql.case_qid") == [(0,)]
    manifest = json.loads(engine.sql("SELECT private_manifest FROM srsql.release")[0][0])
    assert manifest["originals"] is False
    assert manifest["cases"] == {"released": 3, "new": 3, "old": 0}
    assert [(f["kind"], f["file"], f["rows"]) for f in manifest["files"]] == [
        ("released", "t.csv", 3)
    ]
    assert len(manifest["files"][0]["sha256"]) == 64


def test_no_temporary_table_stays(engine: Engine, other: Path) -> None:
    raw = table(
        other.parent / "raw.csv", "case_id age sex", [(1, 44, "M"), (2, 33, "F"), (10, 31, "F")]
    )
    put(engine, other, originals=raw)
    with pytest.raises(ImportReleaseError):
        put(engine, other)
    engine.attack("2011Q1", {"age": 33}, dataset="other")
    assert engine.sql("SELECT table_name FROM duckdb_tables() WHERE temporary") == []


@pytest.mark.parametrize("text", ["30-39", "[30-39]", "[30, 39]", "30 – 39", "30~39"])
def test_one_column_may_hold_the_interval(engine: Engine, other: Path, text: str) -> None:
    put(engine, other, "case_id age sex adr disease", [(1, text, "M", "a", "b")])
    assert regions(engine)["1"] == [(30, 39), (1, 1)]


def test_a_single_number_is_a_point(engine: Engine, other: Path) -> None:
    put(engine, other, "case_id age sex adr disease", [(1, "30", "M", "a", "b")])
    assert regions(engine)["1"] == [(30, 30), (1, 1)]


@pytest.mark.parametrize("age", ["", "*", " any "])
@pytest.mark.parametrize("sex", ["", "unk"])
def test_a_blank_or_a_wildcard_is_a_missing_value(
    engine: Engine, other: Path, age: str, sex: str
) -> None:
    put(engine, other, HEADER, [(1, age, age, sex, "a", "b")])
    assert regions(engine)["1"] == [(None, None), (None, None)]


@pytest.mark.parametrize("sex", ["Any", "*", "ANY", " any"])
def test_the_root_and_its_wildcards_are_the_root_interval(
    engine: Engine, other: Path, sex: str
) -> None:
    put(engine, other, HEADER, [(1, 1, 2, sex, "a", "b")])
    assert regions(engine)["1"][1] == (0, 2)


def test_names_and_aliases_count_in_any_case(engine: Engine, other: Path) -> None:
    put(
        engine,
        other,
        "CASEID Age_Years_Low age_years_high GENDER Reaction DISEASE",
        [(7, 1, 2, "1", "a", "b")],
    )
    assert regions(engine) == {"7": [(1, 2), (1, 1)]}


def test_values_come_to_granules_as_at_ingestion(engine: Engine, other: Path) -> None:
    dataset(other.parent, TOML.replace('unit = "years"', 'unit = "years"\ngranularity = 5'))
    put(engine, other, HEADER, [(1, 31, 38.4, "M", "a", "b")])
    assert regions(engine)["1"][0] == (6, 8)


def test_rows_of_a_case_are_merged(engine: Engine, other: Path) -> None:
    rows = [(1, 30, 39, "F", "Rash", ""), (1, 30, 39, "f", "rash;Cough", "Flu")]
    assert put(engine, other, HEADER, rows).rows == 2
    assert members(engine) == [("1", 1, 2, True)]
    assert terms(engine) == {"1": {"rash", "cough", "flu"}}


def test_another_separator_and_a_placeholder(engine: Engine, other: Path) -> None:
    put(engine, other, HEADER, [(1, 1, 2, "M", "a;b | c | Not Told", "")], separator="|")
    assert terms(engine) == {"1": {"a;b", "c"}}


def test_groups_are_told_by_their_column(engine: Engine, other: Path) -> None:
    rows = [(1, 1, 2, "M", "a", "", 7, "y"), (2, 1, 2, "M", "a", "", 4, "x")]
    put(engine, other, f"{HEADER} group_id cell", rows)
    assert [(case, group) for case, group, *_ in members(engine)] == [("1", 7), ("2", 4)]
    put(engine, other, f"{HEADER} group_id cell", rows, group_column="Cell", series="b")
    assert [(case, group) for case, group, *_ in members(engine, 2)] == [("1", 2), ("2", 1)]


def test_only_the_rows_of_the_period_are_taken(engine: Engine, other: Path) -> None:
    rows = [("2011Q1", *ROWS[0]), ("2011Q2", *ROWS[1])]
    put(engine, other, f"period {HEADER}", rows, quarter="2011Q2")
    assert [case for case, *_ in members(engine)] == ["10"]
    with pytest.raises(ImportReleaseError, match=r"no row of 2011Q3 in it \(it has: 2011Q1, 201"):
        put(engine, other, f"quarter {HEADER}", rows, quarter="2011Q3")


def test_quarters_come_in_any_order(engine: Engine, other: Path) -> None:
    put(engine, other, quarter="2011Q3")
    put(engine, other, rows=ROWS[:1], quarter="2011Q1")
    assert put(engine, other, rows=ROWS[:2], quarter="2011Q2").new_cases == 1
    assert [case for case, *_, new in members(engine, 1) if new] == ["1"]


def test_a_quarter_is_not_imported_twice_unless_superseded(engine: Engine, other: Path) -> None:
    put(engine, other)
    before = catalog(engine)
    with pytest.raises(ImportReleaseError, match=r"already imported .* --supersede"):
        put(engine, other)
    assert catalog(engine) == before
    put(engine, other, rows=ROWS[:1], supersede=True)
    assert engine.sql("SELECT status FROM srsql.release ORDER BY release_id") == [
        ("superseded",),
        ("released",),
    ]


def test_the_same_import_is_enough_where_it_is_there(engine: Engine, other: Path) -> None:
    raw = table(
        other.parent / "raw.csv", "case_id age sex", [(1, 44, "M"), (2, 33, "2"), (10, "", "unk")]
    )
    first = put(engine, other, originals=raw, if_needed=True)
    before = catalog(engine)
    again = put(engine, other, originals=raw, if_needed=True)
    assert again == replace(first, was_there=True)
    assert not first.was_there
    for differs in (
        {},
        {"originals": raw, "separator": "|"},
        {"originals": raw, "rows": ROWS[:1]},
        {
            "originals": table(
                raw.with_name("other.csv"),
                "case_id age sex",
                [(1, 45, "M"), (2, 33, "2"), (10, "", "")],
            )
        },
    ):
        with pytest.raises(ImportReleaseError, match=r"from other files or read otherwise: give"):
            put(engine, other, **differs, if_needed=True)
    assert catalog(engine) == before
    changed = put(engine, other, rows=ROWS[:1], supersede=True, if_needed=True)
    assert (changed.was_there, changed.cases) == (False, 1)


def test_the_originals_are_the_hull_of_their_rows(engine: Engine, other: Path) -> None:
    raw = table(
        other.parent / "raw.csv",
        "case_id age sex quarter",
        [(1, 44, "M", "2011Q1"), (1, 41, "F", "2011Q1"), (1, 99, "F", "2011Q2"),
         (2, 33, "2", "2011Q1"), (10, "", "unk", "2011Q1"), (77, 1, "M", "2011Q1")],
    )  # fmt: skip
    assert put(engine, other, originals=raw).originals
    assert engine.sql(
        "SELECT m.case_id, q.position, q.low, q.high FROM srsql.case_qid AS q "
        "INNER JOIN srsql.member AS m USING (release_id, case_no) ORDER BY ALL"
    ) == [("1", 0, 41, 44), ("1", 1, 0, 2), ("10", 0, None, None), ("10", 1, None, None),
          ("2", 0, 33, 33), ("2", 1, 2, 2)]  # fmt: skip


def test_originals_may_have_units(engine: Engine, other: Path) -> None:
    units = TOML.replace("years = [", "age_cod = []\nyears = [").replace(
        'unit = "years"',
        'unit = "years"\nrounding = "floor"\nunit_column = "age_cod"\n'
        'units = { YR = 1, MON = "1/12" }',
    )
    dataset(other.parent, units)
    raw = table(other.parent / "raw.csv", "case_id age age_cod sex", [(1, 500, "MON", "M")])
    put(engine, other, HEADER, [(1, 40, 45, "M", "a", "b")], originals=raw)
    assert engine.sql("SELECT low, high FROM srsql.case_qid WHERE position = 0") == [(41, 41)]


def test_a_released_case_without_an_original_is_refused(engine: Engine, other: Path) -> None:
    raw = table(other.parent / "raw.csv", "case_id age sex", [(1, 44, "M"), (2, 33, "F")])
    with pytest.raises(ImportReleaseError, match=r"t\.csv line 3: case 10 is not among the orig"):
        put(engine, other, originals=raw)


BAD = {
    ("", 1, 2, "M", "a", "b"): "no case id",
    ("x1", 1, 2, "M", "a", "b"): "the case id is not an integer: x1",
    (5, 2, 1, "M", "a", "b"): r"age: low above high \(2 > 1\)",
    (5, 2, "", "M", "a", "b"): "age: one end of the interval is missing",
    (5, "many", 2, "M", "a", "b"): "age: many is not a number",
    (5, 1, 900, "M", "a", "b"): "age: 900 is outside 0 to 120 years",
    (5, -4, 2, "M", "a", "b"): "age: -4 is negative",
    (5, 1, 2, "X", "a", "b"): "sex: no node of its hierarchy is called X",
    (2, 1, 2, "M", "a", "b"): r"case 2 is in two regions \(the other in line 2\)",
    (5, 1, 2, "M", "a"): "5 fields, but 6 columns in the header",
    (5, 1, 2, "M", "a", "b", "c"): "7 fields, but 6 columns in the header",
}


@pytest.mark.parametrize("row", list(BAD), ids=str)
def test_a_bad_row_refuses_the_table_and_nothing_is_registered(
    engine: Engine, other: Path, row: tuple[Any, ...]
) -> None:
    before = catalog(engine)
    with pytest.raises(ImportReleaseError, match=rf"^t\.csv line 4: {BAD[row]}") as refused:
        put(engine, other, rows=[*ROWS[:2], row, ROWS[2]])
    assert "\n" not in str(refused.value)
    assert catalog(engine) == before
    assert engine.sql("SELECT table_name FROM duckdb_tables() WHERE temporary") == []


def test_a_group_has_one_region_and_a_case_one_group(engine: Engine, other: Path) -> None:
    header = f"{HEADER} group_id"
    with pytest.raises(ImportReleaseError, match="line 3: group 1 has two regions"):
        put(engine, other, header, [(1, 1, 2, "M", "a", "b", 1), (2, 1, 3, "M", "a", "b", 1)])
    with pytest.raises(ImportReleaseError, match="line 3: case 1 is in two groups"):
        put(engine, other, header, [(1, 1, 2, "M", "a", "b", 1), (1, 1, 2, "M", "a", "b", 2)])
    with pytest.raises(ImportReleaseError, match="line 3: no group"):
        put(engine, other, header, [(1, 1, 2, "M", "a", "b", 1), (2, 1, 2, "M", "a", "b", "")])


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("age_low age_high sex adr disease", "no column case_id or caseid for the case id"),
        ("case_id age_low sex adr disease", "age_low and age_high must both be there"),
        ("case_id sex adr disease", "no column age or years or age_years or age_low with age_high"),
        ("case_id age adr disease", "no column sex or gender for the QID sex"),
        ("case_id age sex disease", "no column adr or reaction for the sensitive attribute adr"),
        ("case_id age sex sex adr disease", "column 'sex' is in the header twice"),
    ],
)
def test_a_column_that_is_missing_is_named(
    engine: Engine, other: Path, header: str, said: str
) -> None:
    with pytest.raises(ImportReleaseError, match=said):
        put(engine, other, header, [[1] * len(header.split())])


def test_a_missing_file_series_of_ours_and_a_changed_dataset_are_refused(
    engine: Engine, other: Path
) -> None:
    with pytest.raises(ImportReleaseError, match=r"nowhere\.csv: no such file"):
        engine.import_release("nowhere.csv", "2011Q1", dataset=other)
    with pytest.raises(ImportReleaseError, match="no column 'cell'"):
        put(engine, other, group_column="cell")
    with pytest.raises(ImportReleaseError, match="separator is empty"):
        put(engine, other, separator="")
    with pytest.raises(ImportReleaseError, match="the period is blank"):
        put(engine, other, quarter=" ")
    put(engine, other)
    engine.sql("UPDATE srsql.series SET family = 'ms' WHERE series = 'main'")
    with pytest.raises(ReleaseError, match="holds ms releases and cannot take a imported model"):
        put(engine, other, quarter="2011Q2")
    dataset(other.parent, TOML.replace("120]", "130]"))
    with pytest.raises(DatasetError, match="otherwise than its data were ingested by"):
        put(engine, other, quarter="2011Q2")


def test_an_import_that_breaks_off_leaves_the_warehouse_as_it_was(
    engine: Engine, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, other)
    before = catalog(engine)

    def full(*_: object) -> None:
        raise duckdb.IOException("no space left on device")

    monkeypatch.setattr("srsql.engine.audit.imports.import_release._store_manifest", full)
    with pytest.raises(IngestError, match="no space left on device; nothing was changed"):
        put(engine, other, quarter="2011Q2", supersede=True)
    assert catalog(engine) == before
    assert engine.sql("SELECT table_name FROM duckdb_tables() WHERE temporary") == []


def test_an_empty_file_and_one_without_rows_are_refused(engine: Engine, other: Path) -> None:
    empty = other.parent / "empty.csv"
    empty.write_text("")
    with pytest.raises(IngestError, match=r"empty\.csv is empty"):
        engine.import_release(empty, "2011Q1", dataset=other)
    with pytest.raises(ImportReleaseError, match="no row of 2011Q1"):
        put(engine, other, rows=[])


def test_the_dataset_is_known_by_name_afterwards(engine: Engine, other: Path) -> None:
    put(engine, other)
    engine.import_release(other.parent / "t.csv", "2011Q2", dataset="other")
    assert [q for (q,) in engine.sql("SELECT quarter FROM srsql.release ORDER BY 1")] == [
        "2011Q1",
        "2011Q2",
    ]


def test_a_parquet_column_of_lists_is_refused(engine: Engine, other: Path) -> None:
    file = other.parent / "t.parquet"
    engine.con.execute(
        "COPY (SELECT 1 AS case_id, 1 AS age, 'M' AS sex, ['a', 'b'] AS adr, '' AS disease) "
        f"TO '{file}'"
    )
    with pytest.raises(ImportReleaseError, match=r"t\.parquet: column 'adr' is a list"):
        engine.import_release(file, "2011Q1", dataset=other)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(IngestError, match=r"t\.parquet could not be loaded"):
        engine.import_release(file, "2011Q1", dataset=other)


def test_hostile_values_are_data(engine: Engine, other: Path) -> None:
    nasty = "'; DROP TABLE srsql.member; --"
    rows = [(nasty, *ROWS[0][:-2], nasty.replace(";", ","), "{}")]
    put(engine, other, f"quarter {HEADER}", rows, quarter=nasty)
    assert terms(engine) == {"2": {"', drop table srsql.member,--", "{}"}}
    put(engine, other, f"quarter {HEADER}", rows, quarter=nasty, series="b", separator="'")
    assert engine.sql("SELECT count(*) FROM srsql.member") == [(2,)]


def test_ss_cases_reach_mean_and_standard_deviation(engine: Engine, other: Path) -> None:
    rows = [(case, 1, 2, "M", "a", "") for case in range(1, 4)]
    assert put(engine, other, rows=[*rows, (4, 1, 2, "M", "a;b;c", "")]).ss_cases == 1
    assert engine.sql("SELECT attribute, mean, cutoff FROM srsql.ss_rule ORDER BY 1") == [
        ("adr", 1.5, 3),
        ("disease", 0.0, None),
    ]
    assert engine.sql(
        "SELECT m.case_id FROM srsql.case_flag AS t INNER JOIN srsql.member AS m "
        "USING (release_id, case_no) WHERE t.is_ss AND NOT t.carrier AND t.is_md IS NULL"
    ) == [("4",)]


ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
cells = st.tuples(st.none() | ends, st.sampled_from(["", "M", "F", "Any"]))
released = st.lists(
    st.tuples(st.integers(1, 6), st.lists(st.sampled_from(["A", "B", "C", "D"]), max_size=3)),
    min_size=1,
    max_size=10,
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=released, cell=st.dictionaries(st.integers(1, 6), cells), data=st.data())
def test_csv_and_parquet_in_any_order_of_rows_give_what_python_makes_of_them(
    tmp_path: Path,
    content: list[tuple[int, list[str]]],
    cell: dict[int, tuple[list[int] | None, str]],
    data: st.DataObject,
) -> None:
    other = dataset(tmp_path)
    rows = [
        (case, *(cell.get(case, (None, ""))[0] or ("", "")), cell.get(case, (None, ""))[1],
         ";".join(held), "")
        for case, held in content
    ]  # fmt: skip
    shuffled = data.draw(st.permutations(rows))
    con = duckdb.connect()
    with Engine(con) as engine:
        put(engine, other, rows=rows)
        table(tmp_path / "shuffled.csv", HEADER, shuffled)
        con.execute(
            f"COPY (FROM read_csv('{tmp_path / 'shuffled.csv'}', all_varchar = true)) "
            f"TO '{tmp_path / 'shuffled.parquet'}'"
        )
        engine.import_release(
            tmp_path / "shuffled.parquet", "2011Q1", dataset=other, series="parquet"
        )
        one, two = (
            [
                sorted(
                    engine.sql(
                        f"SELECT COLUMNS(* EXCLUDE (release_id)) FROM srsql.{name} "
                        "WHERE release_id = ?",
                        [release_id],
                    ),
                    key=str,
                )
                for name in ("member", "region", "case_term", "threshold", "case_flag", "ss_rule")
            ]
            for release_id in (1, 2)
        )
        assert one == two
        held = {case: set[str]() for case, _ in content}
        for case, listed in content:
            held[case] |= set(listed)
        counted = {case: len(some) for case, some in held.items()}
        mean = sum(counted.values()) / len(counted)
        variance = sum((n - mean) ** 2 for n in counted.values()) / len(counted)
        sizes = {str(case): {t.lower() for t in some} for case, some in held.items() if some}
        found = {case: set(terms) for case, terms in engine.sql(
            "SELECT m.case_id, list(t.term) FROM srsql.member AS m "
            "INNER JOIN srsql.case_term AS c USING (release_id, case_no) "
            "INNER JOIN srsql.threshold AS t USING (release_id, term_no) "
            "WHERE release_id = 1 GROUP BY ALL"
        )}  # fmt: skip
        assert found == sizes
        groups = {cell.get(case, (None, ""))[1] + str(cell.get(case, (None, ""))[0] or "")
                  for case in held}  # fmt: skip
        assert len({group for _, group, *_ in members(engine)}) == len(groups)
        ss = {int(case) for (case,) in engine.sql(
            "SELECT m.case_id FROM srsql.case_flag AS t INNER JOIN srsql.member AS m "
            "USING (release_id, case_no) WHERE t.is_ss AND release_id = 1"
        )}  # fmt: skip
        if variance == 0:
            assert ss == set()
        else:  # away from the edge, where floats decide as integers do
            for case, n in counted.items():
                if abs(n - mean - variance**0.5) > 1e-9:
                    assert (case in ss) == (n > mean + variance**0.5)
    con.close()
