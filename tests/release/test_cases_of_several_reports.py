"""Cases with several reports and cases with missing values, as a release shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.quarters import Report, crowd, next_version, write_quarter
from support.released import region, regions, rows, terms_of

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError

pytestmark = pytest.mark.thorough


def test_a_case_reported_as_m_and_as_f_is_released_as_any_in_one_region(
    engine: Engine, tmp_path: Path
) -> None:
    base = crowd(30)
    other = replace(next_version(base[4]), sex="M" if base[4].sex == "F" else "F")
    engine.ingest([write_quarter(tmp_path, "2011Q4", [*base, other])], allow_incomplete=True)
    engine.release("2011Q4", k=3, theta="0.5", seed=1, ids="original")
    both = rows(
        engine.con, f"SELECT * FROM release_2011q4.demo WHERE caseid = {other.caseid} ORDER BY 1"
    )
    assert [row["primaryid"] for row in both] == [base[4].primaryid, other.primaryid]
    assert {row["sex"] for row in both} == {"Any"}
    assert region(both[0]) == region(both[1])
    assert len(regions(engine.con, "release_2011q4")[region(both[0])]) >= 3


def test_the_region_of_a_case_covers_the_values_of_all_its_versions(
    engine: Engine, tmp_path: Path
) -> None:
    base = crowd(40)
    later = [
        replace(next_version(report), age=str(int(report.age) + 9), wt=str(int(report.wt) - 7))
        for report in base[:5]
    ]
    engine.ingest([write_quarter(tmp_path, "2011Q4", [*base, *later])], allow_incomplete=True)
    made = engine.release("2011Q4", k=3, theta="0.5", seed=1, ids="original")
    shown = {row["primaryid"]: row for row in rows(engine.con, "SELECT * FROM release_2011q4.demo")}
    assert made.manifest["reports"]["released"] == len(shown) == 45
    for first, second in zip(base, later, strict=False):
        one, two = shown[first.primaryid], shown[second.primaryid]
        assert region(one) == region(two)
        assert one["age_low"] <= int(first.age) < int(second.age) <= one["age_high"]
        assert one["wt_low"] <= int(second.wt) < int(first.wt) <= one["wt_high"]


def test_a_value_that_one_version_does_not_know_is_taken_from_the_other(
    engine: Engine, tmp_path: Path
) -> None:
    base = crowd(30)
    blank = replace(next_version(base[0]), age="", wt="", sex="UNK")
    engine.ingest([write_quarter(tmp_path, "2011Q4", [*base, blank])], allow_incomplete=True)
    engine.release("2011Q4", k=3, theta="0.5", seed=1, ids="original")
    both = rows(engine.con, f"SELECT * FROM release_2011q4.demo WHERE caseid = {blank.caseid}")
    assert len(both) == 2
    assert region(both[0]) == region(both[1])
    assert None not in region(both[0])


def test_ages_and_weights_are_compared_in_one_unit(engine: Engine, tmp_path: Path) -> None:
    units = [("4", "DEC"), ("40", "YR"), ("487", "MON"), ("14976", "DY"), ("2100", "WK")]
    same = [
        Report(n, n, age, "F", wt, (f"T{n}",), age_cod=code, wt_cod=wt_code)
        for n, ((age, code), (wt, wt_code)) in enumerate(
            zip(units, [("154", "LBS"), ("70", "KG"), ("70000", "GMS")] * 2, strict=False), start=1
        )
    ]
    engine.ingest([write_quarter(tmp_path, "2011Q4", same)], allow_incomplete=True)
    engine.release("2011Q4", k=5, theta="0.5", seed=1, ids="original")
    assert set(regions(engine.con, "release_2011q4")) == {(40, 41, 70, 70, "F")}


def mixed() -> list[Report]:
    """30 cases know all, 12 no weight, 2 the sex only, 6 nothing."""
    return [
        *crowd(30),
        *[replace(r, wt="", pt=(f"W{r.caseid}",), indi=()) for r in crowd(12, first=101)],
        *[Report(10 * n + 1, n, sex="F", pt=(f"S{n}",)) for n in (201, 202)],
        *[Report(10 * n + 1, n, pt=(f"N{n}",)) for n in range(301, 307)],
    ]


def test_keep_groups_within_patterns_and_gives_up_values_of_too_small_patterns_only(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q4", mixed())], allow_incomplete=True)
    made = engine.release("2011Q4", k=3, theta="0.5", seed=1, ids="original")
    assert made.manifest["withheld"] == {}
    assert made.manifest["values_given_up"] == {"sex": 2}
    known = {
        row["caseid"]: (row["age_low"] is not None, row["wt_low"] is not None)
        for row in rows(engine.con, "SELECT * FROM release_2011q4.demo")
    }
    assert all(known[case] == (True, True) for case in range(1, 31))
    assert all(known[case] == (True, False) for case in range(101, 113))
    for found, cases in regions(engine.con, "release_2011q4").items():
        assert len(cases) >= 3
        assert found[4] in ({"Any"} if cases & {201, 202} else {"Any", "M", "F"})
    assert regions(engine.con, "release_2011q4")[None, None, None, None, "Any"] == {
        201,
        202,
        *range(301, 307),
    }


def test_a_pattern_too_small_even_without_values_is_withheld_and_says_so(
    engine: Engine, tmp_path: Path
) -> None:
    small = [Report(10 * n + 1, n, sex="F", pt=(f"S{n}",)) for n in (201, 202)]
    engine.ingest([write_quarter(tmp_path, "2011Q4", [*crowd(30), *small])], allow_incomplete=True)
    made = engine.release("2011Q4", k=3, theta="0.5", seed=1, refine="off", ids="original")
    assert made.manifest["withheld"] == {"pattern_too_small": {"cases": 2, "reports": 2}}
    assert {201, 202}.isdisjoint(terms_of(engine.con, "release_2011q4"))


def test_refined_one_group_takes_them_and_shows_no_more_than_they_know(
    engine: Engine, tmp_path: Path
) -> None:
    small = [Report(10 * n + 1, n, sex="F", pt=(f"S{n}",)) for n in (201, 202)]
    engine.ingest([write_quarter(tmp_path, "2011Q4", [*crowd(30), *small])], allow_incomplete=True)
    made = engine.release("2011Q4", k=3, theta="0.5", seed=1, ids="original")
    assert made.manifest["withheld"] == {}
    shared = [c for c in regions(engine.con, "release_2011q4").items() if c[1] & {201, 202}]
    assert all(region[:4] == (None,) * 4 and len(cases) >= 3 for region, cases in shared)
    assert sum(len(cases) for _, cases in shared) <= 6


def test_drop_withholds_cases_with_a_missing_value_and_says_why(
    engine: Engine, tmp_path: Path
) -> None:
    twice = [*mixed(), Report(3019, 301, pt=("N301",))]
    engine.ingest([write_quarter(tmp_path, "2011Q4", twice)], allow_incomplete=True)
    made = engine.release("2011Q4", k=3, theta="0.5", seed=1, missing="drop", ids="original")
    assert made.manifest["withheld"] == {"missing_qid": {"cases": 20, "reports": 21}}
    assert {c for cases in regions(engine.con, "release_2011q4").values() for c in cases} == set(
        range(1, 31)
    )
    assert all(None not in found for found in regions(engine.con, "release_2011q4"))


def test_a_quarter_in_which_nothing_can_be_released_is_refused_in_one_line(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(4))], allow_incomplete=True)
    with pytest.raises(ReleaseError, match="nothing of 2011Q4 can be released with groups of 5"):
        engine.release("2011Q4", k=5, theta="0.5", seed=1, ids="original")
    assert engine.sql("SELECT count(*) FROM srsql.release") == [(0,)]
