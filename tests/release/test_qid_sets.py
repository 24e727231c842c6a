"""Several sets of quasi-identifiers: k and theta of each, judged from the released rows alone."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import manifest_of, rehash
from support.command import srsql
from support.lanes import thorough_but
from support.sets import NAMES, SETS, give_one_finding, move_case, write_rows, write_sets

from srsql import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import (
    AuditError,
    CheckFailedError,
    DatasetError,
    LookUpError,
    NoGroupError,
    ReleaseError,
)
from srsql.engine.models import base

K = 4
OPTIONS: dict[str, Any] = {"model": "ms", "k": K, "theta": "0.5", "on_infeasible": "withhold",
                           "seed": 1}  # fmt: skip
COLUMNS = {"age": ("age_low", "age_high"), "wt": ("wt_low", "wt_high")}
COLUMNS_OF = {set_name: tuple(column for name in names for column in COLUMNS.get(name, (name,)))
              for set_name, names in SETS.items()}  # fmt: skip


def regions(rows: list[dict[str, Any]], names: tuple[str, ...]) -> dict[Any, set[Any]]:
    """What rows show of some quasi-identifiers -> the cases that show it."""
    columns = [column for name in names for column in COLUMNS.get(name, (name,))]
    found = defaultdict(set)
    for row in rows:
        found[tuple(row[column] for column in columns)].add(row["patient_id"])
    return found


def table(engine: Engine, name: str) -> list[dict[str, Any]]:
    columns = [row[0] for row in engine.sql(f"DESCRIBE {name}")]
    return [dict(zip(columns, row, strict=True)) for row in engine.sql(f"SELECT * FROM {name}")]


def keeps(rows: list[dict[str, Any]], held: dict[Any, set[str]], theta: Fraction) -> bool:
    """Whether every set keeps k and theta by its regions, and by those that cover a value."""
    for names in SETS.values():
        for cases in regions(rows, names).values():
            holders = Counter(value for case in cases for value in held[case])
            if len(cases) < K or any(n > theta * len(cases) for n in holders.values()):
                return False
    return True


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets")
    dataset = write_sets(folder)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_rows(folder / "rows", 1, 900)], dataset=str(dataset), period="2020")
        engine.release("2020", **OPTIONS)
        engine.publish("2020", folder / "out", format="csv")
    return folder


@pytest.mark.parametrize(
    ("seed", "cases", "refine", "model"),
    thorough_but(
        [(3, 300, "fast", "ms")],
        [
            (2, 60, "off", "ms"),
            (3, 300, "fast", "ms"),
            (4, 3000, "off", "ms"),
            (5, 9, "fast", "ms"),
            (6, 200, "fast", "xy-anonymity"),
        ],
    ),
)
def test_every_set_keeps_k_and_theta_by_itself(
    tmp_path: Path, seed: int, cases: int, refine: str, model: str
) -> None:
    dataset = write_sets(tmp_path)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_rows(tmp_path / "r", seed, cases)], dataset=str(dataset), period="1")
        theta = "0.5" if model == "ms" else "0.25"
        asked = OPTIONS | {"model": model, "theta": theta}
        told = engine.release("1", **asked, refine=refine)
        rows = table(engine, "release_1.visit")
        held = defaultdict(set)
        for row in table(engine, "release_1.finding"):
            held[row["patient_id"]].add(row["finding"])
        measured = {(row.measure, row.scope): row for row in engine.metrics("1")}
    for name, names in SETS.items():
        classes = list(regions(rows, names).values())
        sizes = measured["group_size", name]
        assert (sizes.violating, sizes.total) == (0, len(classes))
        assert sizes.ratio == min(map(len, classes))
        dangerous = [
            cases for cases in classes
            if any(n > Fraction(theta) * len(cases)
                   for n in Counter(value for case in cases for value in held[case]).values())
        ]  # fmt: skip
        danger = measured["dr", name]
        assert (danger.violating, danger.total) == (len(dangerous), len(classes))
        assert model == "ms" or dangerous
    assert keeps(rows, held, Fraction(1, 2) if model == "ms" else Fraction(1))
    union = Counter({region: len(c) for region, c in regions(rows, tuple(
        dict.fromkeys(name for names in SETS.values() for name in names)
    )).items()})  # fmt: skip
    total = union.total()
    below = sum(n for n in union.values() if n < K)
    alone = sum(n for n in union.values() if n == 1)
    assert told.manifest["union_below_k_percent"] == -(-100 * below // total)
    assert told.manifest["union_one_candidate_percent"] == -(-100 * alone // total)
    assert told.manifest["cases"]["withheld"] <= max(2, cases // 10)


def covers(row: dict[str, Any], name: str, value: Any) -> bool:
    if name in COLUMNS:
        low, high = (row[column] for column in COLUMNS[name])
        return low is None or (value is not None and low <= value <= high)
    wider = {"DE": "Europe", "FR": "Europe", "JP": "Asia", "CN": "Asia", "MD": "health",
             "PH": "health"}  # fmt: skip
    above = {value, wider.get(value), "Any"} - ({wider["CN"]} if name == "job" else set())
    return row[name] in ({"Any"} if value is None else above)


def test_whoever_knows_one_set_of_anybody_is_left_with_k_and_theta(made: Path) -> None:
    with Engine(made / "w.duckdb", read_only=True) as engine:
        rows = {row["patient_id"]: row for row in table(engine, "release_2020.visit")}
        held = defaultdict(set)
        for row in table(engine, "release_2020.finding"):
            held[row["patient_id"]].add(row["finding"])
        known = engine.sql(
            "SELECT srsql_age, srsql_sex, srsql_wt, srsql_country, srsql_job FROM raw_two.visit "
            "GROUP BY ALL ORDER BY ALL"
        )
    for values in known[::7]:
        person = dict(zip(("age", "sex", "wt", "country", "job"), values, strict=True))
        for names in SETS.values():
            left = [case for case, row in rows.items()
                    if all(covers(row, name, person[name]) for name in names)]  # fmt: skip
            holders = Counter(value for case in left for value in held[case])
            assert len(left) >= K
            assert max(holders.values()) * 2 <= len(left)


def test_a_report_of_either_edition_tells_what_all_sets_single_out(made: Path) -> None:
    with Engine(made / "w.duckdb", read_only=True) as engine:
        pages = [engine.report("2020", public=public).html for public in (False, True)]
    for page in pages:
        assert "of cases singled out by all sets of quasi-identifiers together" in page
        assert "Sets of quasi-identifiers are protected, each by itself" in page


def test_originals_lie_in_the_regions_and_a_shared_column_is_published_once(made: Path) -> None:
    with Engine(made / "w.duckdb", read_only=True) as engine:
        names = [row[0] for row in engine.sql("DESCRIBE release_2020.visit")]
        assert names.count("age_low") == 1
        engine.con.execute("SELECT 1")
        figures = {row.measure: row for row in engine.metrics("2020") if row.scope in SETS}
        assert all(row.passed for row in figures.values())
        assert {"group_size", "dr"} <= figures.keys()
        union = [r.measure for r in engine.metrics("2020") if r.scope == "region of all sets"]
        assert union == ["union_below_k", "union_one_candidate"]


@pytest.mark.thorough
def test_an_attacker_who_knows_one_set_is_left_with_k_and_who_knows_all_with_fewer(
    made: Path,
) -> None:
    with Engine(made / "w.duckdb", read_only=True) as engine:
        known = engine.sql(
            "SELECT srsql_age, srsql_sex, srsql_wt, srsql_country, srsql_job FROM raw_two.visit "
            "WHERE srsql_age + srsql_wt IS NOT NULL AND srsql_sex || srsql_country || srsql_job "
            "IS NOT NULL GROUP BY ALL ORDER BY ALL LIMIT 12"
        )
        for values in known:
            person = dict(zip(NAMES, map(str, values), strict=True))
            everything = engine.attack("2020", person)
            for names in SETS.values():
                by_set = engine.attack("2020", {name: person[name] for name in names})
                assert len(by_set.remaining) >= K
                assert not any(told.exceeds for told in by_set.inferences)
                assert set(everything.remaining) < set(by_set.remaining)


@pytest.mark.thorough
def test_the_first_screen_tells_who_is_left_to_whoever_knows_all_sets(
    made: Path, tmp_path: Path
) -> None:
    shutil.copy(made / "w.duckdb", tmp_path / "w.duckdb")
    answer = srsql("release", "--quarter", "2020", "--dataset", "two", "--series", "again",
                   "--model", "ms", "--k", K, "--theta", "0.5", "--on-infeasible", "withhold",
                   "--allow-linkable", "--seed", 1, "--db", tmp_path / "w.duckdb")  # fmt: skip
    assert answer.code == 0, answer.err
    told = manifest_of(made / "out")["parameters"]
    assert (
        "protected each by itself: clinic: age, sex, wt; work: country, job, age; whoever knows "
        "all of them is left with fewer than k candidates for "
        f"{told['union_below_k_percent']} % of the cases, with one for "
        f"{told['union_one_candidate_percent']} %"
    ) in answer.out


@pytest.mark.thorough
def test_a_lake_gives_the_rows_of_a_file(made: Path, tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([made / "rows"], dataset=str(made / "two.toml"), period="2020",
                      lake=tmp_path / "lake")  # fmt: skip
        engine.release("2020", **OPTIONS, ids="original")
        found = table(engine, "release_2020.visit")
    with Engine(made / "w.duckdb") as engine:
        engine.release("2020", **OPTIONS, ids="original", series="file", allow_linkable=True)
        assert table(engine, "release_file_2020.visit") == found


def test_an_artifact_passes_and_tells_its_sets(made: Path) -> None:
    told = manifest_of(made / "out")
    assert told["qid_sets"] == [{"name": n, "attributes": list(q)} for n, q in SETS.items()]
    assert told["guarantee"].startswith("Sets of quasi-identifiers are protected, each by itself")
    found = verify(made / "out")
    assert found.passed, [check.faults for check in found.checks if check.faults]
    assert {"k", "theta", "sets"} <= {check.name for check in found.checks}


def forged(made: Path, folder: Path, change: Any) -> dict[str, list[str]]:
    shutil.copytree(made / "out", folder)
    told = manifest_of(folder)
    change(folder, told)
    (folder / "manifest.json").write_text(json.dumps(told))
    rehash(folder, series=told["series"])
    return {check.name: check.faults for check in verify(folder).checks}


def test_a_case_that_stands_alone_in_one_set_is_found(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "out", tmp_path / "f")
    move_case(tmp_path / "f", ("country",))
    faults = {check.name: check.faults for check in verify(tmp_path / "f").checks}
    assert any(text.startswith("set clinic: region") for text in faults["k"])


@pytest.mark.parametrize("name", SETS)
def test_a_finding_that_all_of_a_region_of_one_set_have_is_found(
    made: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(made / "out", tmp_path / "f")
    give_one_finding(tmp_path / "f", COLUMNS_OF[name])
    faults = {check.name: check.faults for check in verify(tmp_path / "f").checks}
    assert any(text.startswith(f"set {name}: region") for text in faults["theta"])
    assert not faults["k"]


def test_a_maker_that_forgets_that_sets_are_seen_by_themselves_is_refused(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every group of the catalog shows its own hull, which tells groups of a set apart."""
    real = base.group_by_sets

    def by_group(grouping: Any, part: Any, **more: Any) -> None:
        real(grouping, part, **more)
        grouping.warehouse.run_step("grouping/regions")

    monkeypatch.setattr(base, "group_by_sets", by_group)
    with Engine(made / "w.duckdb") as engine, pytest.raises(CheckFailedError, match="check_k"):
        engine.release("2020", series="other", **OPTIONS, allow_linkable=True)


@pytest.mark.thorough
def test_a_maker_that_keeps_theta_of_no_set_is_refused(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes every value for harmless while it makes groups."""
    real = base.group_by_sets

    def careless(grouping: Any, part: Any, **more: Any) -> None:
        warehouse = grouping.warehouse
        warehouse.run("CREATE OR REPLACE TEMP TABLE srsql_kept AS FROM temp.main.srsql_theta")
        warehouse.run("UPDATE temp.main.srsql_theta SET theta_num = theta_den")
        real(grouping, part, **more)
        warehouse.run("CREATE OR REPLACE TEMP TABLE srsql_theta AS FROM temp.main.srsql_kept")

    monkeypatch.setattr(base, "group_by_sets", careless)
    with Engine(made / "w.duckdb") as engine, pytest.raises(CheckFailedError, match="check_theta"):
        engine.release("2020", series="other", **OPTIONS | {"theta": "0.26"}, allow_linkable=True)


@pytest.mark.parametrize(
    ("change", "check", "fault"),
    [
        (lambda _, told: told.pop("qid_sets"), "k", "is shared by"),
        (lambda _, told: told["qid_sets"][1]["attributes"].remove("job"), "sets",
         "the quasi-identifier job is in no set"),
        (lambda _, told: told["qid_sets"].pop(), "sets", "are not two sets or more"),
        (lambda _, told: told["qid_sets"].append({"name": "old", "attributes": ["age"]}), "sets",
         "all of the set old is in clinic, so that it is none"),
        (lambda _, told: told["parameters"].update(union_one_candidate_percent=0), "sets",
         "union_one_candidate_percent is 0, the rows give"),
        (lambda _, told: told["qid_sets"][0]["attributes"].append("country"), "sets",
         "the parameter qid_sets does not say what the sets are"),
        (lambda _, told: told.update(model="l-diversity"), "manifest", "keeps none by itself"),
    ],
)  # fmt: skip
def test_a_claim_that_the_rows_or_the_manifest_deny_is_refused(
    made: Path, tmp_path: Path, change: Any, check: str, fault: str
) -> None:
    faults = forged(made, tmp_path / "f", change)
    assert any(fault in text for text in faults[check]), faults


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": "ppms-alpha"}, r"clinic, work\), which ppms-alpha does not keep each by itself"),
        ({"model": "ppms-stay"}, "which ppms-stay does not keep each by itself"),
        ({"model": "msdp-num"}, "which msdp-num does not keep each by itself"),
        ({"model": "ipa"}, "which ipa does not keep each by itself"),
        ({"model": "disassociation"}, "which disassociation does not keep each by itself"),
        ({"model": "k-anonymity"}, r"give --model ms, ppms, ppms-ear, ppms\+\+ or xy-anonymity"),
        ({"count": "persons"}, "with which --count persons does not go: leave it out"),
        ({"max_delay": 1}, "with which --max-delay does not go: leave it out"),
        ({"parts": "4"}, "with which --parts does not go"),
        ({"spark": "local[2]"}, "several sets of quasi-identifiers make none: leave it out"),
        ({"leftovers": "suppress"}, "with which --leftovers suppress does not go"),
        ({"on_infeasible": "suppress"}, "with which --on-infeasible suppress does not go"),
        ({"terms": "disassociate"}, "with which --terms does not go"),
    ],
)
def test_what_cannot_be_kept_by_set_is_refused(
    made: Path, options: dict[str, Any], told: str
) -> None:
    with Engine(made / "w.duckdb") as engine, pytest.raises(ReleaseError, match=told):
        engine.release("2020", series="other", **OPTIONS | options)


@pytest.mark.parametrize("sets", [{}, {name: (name,) for name in NAMES}])
def test_a_series_goes_on_with_the_sets_that_it_was_released_by(
    made: Path, tmp_path: Path, sets: dict[str, tuple[str, ...]]
) -> None:
    """Whoever took away or narrowed what an attacker may know would weaken it without a word."""
    other = str(write_sets(tmp_path, sets=sets))
    told = "declares the dataset 'two' otherwise than its data were ingested by: give --dataset two"
    with Engine(made / "w.duckdb") as engine:
        with pytest.raises(DatasetError, match=told):
            engine.release("2020", dataset=other, supersede=True, **OPTIONS)
        with pytest.raises(DatasetError, match=told):
            engine.audit(dataset=other)


@pytest.mark.thorough
@pytest.mark.parametrize(("leftovers", "shown"), [("withhold", 297), ("merge", 0)])
def test_a_shared_value_is_given_up_for_a_case_that_lacks_it_only_where_that_is_asked_for(
    tmp_path: Path, leftovers: str, shown: int
) -> None:
    dataset = write_sets(tmp_path)
    rows = write_rows(tmp_path / "rows", 3, 300, missing=0)
    head, *visits = (rows / "visit.csv").read_text().splitlines()
    lacks = [re.sub(r"^(\d+,1,)\d+", r"\1", visit) for visit in visits]
    assert lacks != visits
    (rows / "visit.csv").write_text("\n".join([head, *lacks]) + "\n")
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([rows], dataset=str(dataset), period="2020")
        asked = OPTIONS | {"leftovers": leftovers, "theta": "1"}
        found = engine.release("2020", **asked)
        known = engine.sql("SELECT count(DISTINCT patient_id) FROM released.visit "
                           "WHERE age_low IS NOT NULL")[0][0]  # fmt: skip
        assert known >= shown
        assert found.manifest["cases"]["withheld"] == (leftovers == "withhold")
        if leftovers == "withhold":
            with pytest.raises(NoGroupError, match="1 case"):
                engine.release("2020", series="other", **asked | {"leftovers": "error"})


def test_what_looks_at_all_quasi_identifiers_at_once_is_refused(made: Path, tmp_path: Path) -> None:
    for command, *asked in (("compare", "--quarters", "2020", "--models", "ms"),
                            ("advise", "--quarter", "2020")):  # fmt: skip
        answer = srsql(command, *asked, "--dataset", "two", "--out", tmp_path / command,
                       "--db", made / "w.duckdb")  # fmt: skip
        assert answer.code == 2
        assert "by which models are not compared" in answer.err
    with Engine(made / "w.duckdb") as engine:
        with pytest.raises(AuditError, match="give --scope match"):
            engine.audit(scopes=("group",))
        with pytest.raises(AuditError, match="leave --all-series out"):
            engine.audit(all_series=True)
        with pytest.raises(LookUpError, match="declares several sets of quasi-identifiers"):
            engine.explain("2020", "1")
        with pytest.raises(ReleaseError, match="groups of one set of quasi-identifiers cut those"):
            engine.correct("2020")
