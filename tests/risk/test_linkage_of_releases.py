"""How well cases can be linked to their records: ``srsql metrics`` from reports to rows."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles import nearest as oracle
from oracles.trees import Tree
from support.command import srsql
from support.files import copied
from support.quarters import Report, crowd
from support.released import region, rows, terms_of

from srsql.engine.api.engine import Engine
from srsql.engine.errors import DatasetError
from srsql.engine.risk.linkage import read_medical, shipped_medical
from srsql.schemas import load_dataset

pytestmark = pytest.mark.thorough

QIDS = (120, 400, Tree({"Any": "", "M": "Any", "F": "Any"}))
LINKAGE = ("rr", "ar_rev", "rr_medical", "rr_bias", "ar_medical", "ar_bias")
QUARTER = "2011Q4"


def reports() -> list[Report]:
    """Sixty cases; some lack a value, and every ninth has a disease of one sex or of old age."""
    found = []
    for n, report in enumerate(crowd(60)):
        changes: dict[str, Any] = {}
        if n % 7 == 0:
            changes["wt"] = ""
        if n % 9 == 0:
            disease = ("Breast Cancer", "hernia", "Chronic obstructive pulmonary disease")[
                n // 9 % 3
            ]
            changes["indi"] = (*report.indi, disease)
        found.append(Report(**(vars(report) | changes)))
    return found


@pytest.fixture  # refinement would leave no group wide enough for knowledge to matter
def db(kept: Path, tmp_path: Path) -> Path:
    made = copied(kept / "linkage", tmp_path / "w.duckdb", {QUARTER: reports()})
    with Engine(made) as engine:
        engine.release(QUARTER, model="ms", k=4, theta="0.75", seed=3, refine="off", ids="original")
    return made


def measured(db: Path, *arguments: object) -> dict[str, float]:
    """Measure -> its ratio."""
    answer = srsql("metrics", "--db", db, "--quarter", QUARTER, *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    return {row["measure"]: row["ratio"] for row in answer.json}


def shown(db: Path) -> list[oracle.Published]:
    """Every case with what its reports say and what the released views show of it."""
    originals = {
        report.caseid: (
            (int(report.age), int(report.age)),
            (int(report.wt), int(report.wt)) if report.wt else None,
            report.sex,
        )
        for report in reports()
    }
    with Engine(db, read_only=True) as engine:
        terms = terms_of(engine.con, "release_2011q4")
        published = {
            row["caseid"]: region(row)
            for row in rows(engine.con, "SELECT * FROM release_2011q4.demo")
        }
    found = []
    for case, (age_low, age_high, wt_low, wt_high, sex) in published.items():
        weight = None if wt_low is None else (int(wt_low), int(wt_high))
        values = ((int(age_low), int(age_high)), weight, sex)
        found.append(oracle.Published(originals[case], values, frozenset(terms[case])))
    return found


def test_metrics_are_what_the_released_views_and_the_reports_give(db: Path) -> None:
    records = shown(db)
    assert len(records) > 40
    knowledge: oracle.Knowledge = {
        "breast cancer": [{2: "F"}],
        "hernia": [{2: "M"}],
        "chronic obstructive pulmonary disease": [{0: (65, 200)}],
    }
    plain, informed = (oracle.risks(QIDS, records, known) for known in ({}, knowledge))
    lost = sum((oracle.loss(QIDS, r.own, r.shown) for r in records), Fraction(0))
    found = measured(db)
    for name, expected in [
        ("nil_star", lost / 3),
        ("rr", plain[0]),
        ("ar_rev", plain[1]),
        ("rr_medical", informed[0]),
        ("ar_medical", informed[1]),
        ("rr_bias", informed[0] - plain[0]),
        ("ar_bias", informed[1] - plain[1]),
    ]:
        assert found[name] == pytest.approx(float(expected / len(records)), abs=1e-12), name
    assert found["rr_bias"] != 0 != found["ar_bias"]


def test_metrics_do_not_depend_on_threads_and_leave_nothing_behind(db: Path) -> None:
    before = db.read_bytes()
    found = []
    for threads in (1, 2):
        with Engine(db, read_only=True, threads=threads) as engine:
            found.append(engine.metrics(QUARTER))
            left = engine.sql(
                "SELECT t.table_name FROM duckdb_tables() AS t "
                "WHERE t.temporary AND starts_with(t.table_name, 'srsql_link')"
            )
            assert left == []
    assert found[0] == found[1]
    assert db.read_bytes() == before


def test_a_perturbed_value_counts_instead_of_the_region(db: Path) -> None:
    """Everybody's weight published as 400: only who has none is still told by it."""
    before = measured(db)
    with Engine(db) as engine:
        engine.sql(
            "INSERT INTO srsql.perturbed SELECT c.release_id, c.case_no, c.position, 400, 400 "
            "FROM srsql.case_qid AS c WHERE c.position = 1 AND c.low IS NOT NULL"
        )
    after = measured(db)
    records = [
        oracle.Published(r.own, (r.shown[0], r.own[1] and (400, 400), r.shown[2]), r.terms)
        for r in shown(db)
    ]
    assert after["rr"] == pytest.approx(float(oracle.risks(QIDS, records, {})[0] / len(records)))
    assert after["nil_star"] > before["nil_star"]


def test_medical_knowledge_of_ones_own_takes_the_place_of_what_ships(
    db: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known.csv"
    known.write_text("disease,age_high\nnobody has it,10\n")
    found = measured(db, "--medical", known)
    assert found["rr_bias"] == found["ar_bias"] == 0
    # alternatives: with a row that fits everybody a disease excludes nobody
    known.write_text(
        "disease,age_low\nchronic obstructive pulmonary disease,65\n"
        "CHRONIC OBSTRUCTIVE PULMONARY DISEASE,0\n"
    )
    assert measured(db, "--medical", known)["ar_bias"] == 0
    known.write_text("disease,age_low\nchronic obstructive pulmonary disease,65\n")
    assert measured(db, "--medical", known)["ar_bias"] != 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("term,sex\nHernia,M\n", "the header must name disease"),
        ("disease,gender\nHernia,M\n", "column 'gender' is none of disease, age_low, age_high"),
        ("disease,sex\nHernia,\n", "line 2: a row needs a disease and a value"),
        ("disease,sex\n,M\n", "line 2: a row needs a disease and a value"),
        ("disease,age_low\nHernia,old\n", "line 2: 'old' is not a number"),
        ("disease,age_low,age_high\nHernia,9,8\n", "line 2: age_low is above age_high"),
        ("disease,sex\nHernia,M,1\n", "line 2: more fields than the header has columns"),
        ("disease,sex\nHernia,Male\n", "Hernia: 'Male' is no node of the hierarchy of sex"),
        ("disease,sex\nHernia\x00,'; DROP\n", "is no node of the hierarchy of sex"),
    ],
)
def test_what_medical_knowledge_cannot_mean_is_one_line(
    db: Path, tmp_path: Path, text: str, told: str
) -> None:
    known = tmp_path / "known.csv"
    known.write_text(text)
    answer = srsql("metrics", "--db", db, "--quarter", QUARTER, "--medical", known)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_file_that_is_not_there_is_one_line(db: Path) -> None:
    answer = srsql("metrics", "--db", db, "--quarter", QUARTER, "--medical", "no.csv")
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)


@pytest.mark.parametrize("name", ["faers", "vaers"])
def test_what_ships_fits_the_datasets_that_ship(name: str) -> None:
    medical = shipped_medical(load_dataset(name))
    assert medical is not None
    told = {row.disease.upper(): row.values for row in medical.rows}
    assert len(told) == len(medical.rows)
    assert told["BREAST CANCER"] == {"sex": "F"}
    assert told["PROSTATE CANCER"] == told["HERNIA"] == {"sex": "M"}
    assert told["DEMENTIA ALZHEIMER'S TYPE"] == {"age": (65, None)}


def test_a_dataset_without_age_has_no_shipped_knowledge_and_may_bring_its_own(
    tmp_path: Path,
) -> None:
    dataset = load_dataset("faers")
    ageless = dataset.model_copy(update={"qid": dataset.qid[1:]})
    assert shipped_medical(ageless) is None
    known = tmp_path / "known.csv"
    known.write_text("disease,wt_low\nObesity,90.5\n")
    (row,) = read_medical(ageless, known).rows
    assert row.values == {"wt": (Fraction("90.5"), None)}
    known.write_text("disease,age_low\nObesity,9\n")
    with pytest.raises(DatasetError, match="column 'age_low'"):
        read_medical(ageless, known)
