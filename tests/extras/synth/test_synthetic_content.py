"""What synthetic quarters tell has the shape of the real samples."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from srsql.engine.extras.synth import synthesize

from .conftest import Tables, read

pytestmark = pytest.mark.thorough

RULES = [
    ("AVANDIA", "Myocardial infarction"),
    ("AVANDIA", "Death"),
    ("AVANDIA", "Cerebrovascular accident"),
    ("TYSABRI", "Progressive multifocal leukoencephalopathy"),
    ("ZELNORM", "Cerebrovascular accident"),
    ("WARFARIN", "Myocardial infarction"),
    ("REVATIO", "Death"),
]


def together(quarters: list[Tables], table: str) -> pd.DataFrame:
    return pd.concat([quarter[table] for quarter in quarters], ignore_index=True)


def known(demo: pd.DataFrame) -> pd.Series:
    return (demo.age != "") & (demo.wt != "") & demo.sex.isin(["F", "M"])


def prr(demo: pd.DataFrame, drug: pd.DataFrame, reac: pd.DataFrame, rule: tuple[str, str]) -> float:
    case = demo.set_index("primaryid").caseid
    suspect = drug[(drug.drugname.str.upper() == rule[0]) & drug.role_cod.isin(["PS", "SS"])]
    told = reac[reac.pt.str.upper() == rule[1].upper()]
    exposed = set(case.reindex(suspect.primaryid).dropna())
    event = set(case.reindex(told.primaryid).dropna())
    both, everyone = len(exposed & event), demo.caseid.nunique()
    return (both / len(exposed)) / ((len(event) - both) / (everyone - len(exposed)))


def test_children_belong_to_reports(legacy: list[Tables], current: Tables) -> None:
    for quarter in [*legacy, current]:
        assert quarter["DEMO"].primaryid.is_unique
        for table in ("DRUG", "REAC", "OUTC", "RPSR", "THER", "INDI"):
            assert quarter[table].primaryid.isin(quarter["DEMO"].primaryid).all()
        assert set(quarter["DEMO"].primaryid) == set(quarter["DRUG"].primaryid)
        assert set(quarter["DEMO"].primaryid) == set(quarter["REAC"].primaryid)


def test_reports_are_never_numbered_twice(legacy: list[Tables]) -> None:
    assert together(legacy, "DEMO").primaryid.is_unique
    assert together(legacy, "DRUG").drug_seq.is_unique


def test_primaryid_is_caseid_then_version(current: Tables) -> None:
    demo = current["DEMO"]
    assert (demo.primaryid == demo.caseid + demo.caseversion).all()
    assert ((demo.caseversion == "1") == (demo.i_f_code == "I")).all()


def test_cases_return_in_later_quarters(legacy: list[Tables]) -> None:
    demo = together(legacy, "DEMO")
    superseded = 1 - demo.caseid.nunique() / len(demo)
    assert 0.21 < superseded < 0.29
    seen = [set(quarter["DEMO"].caseid) for quarter in legacy]
    assert all(first & second for first, second in pairwise(seen))
    within = 1 - legacy[-1]["DEMO"].caseid.nunique() / len(legacy[-1]["DEMO"])
    assert 0.05 < within < 0.15


def test_a_case_spans_both_layouts_and_its_versions_increase(tmp_path: Path) -> None:
    quarters = [
        read(path) for path in synthesize(tmp_path, ["2012Q3", "2012Q4", "2013Q1"], cases=3000)
    ]
    old, new, newer = (quarter["DEMO"] for quarter in quarters)
    assert len(set(old.caseid) & set(new.caseid)) > 30
    both = new.merge(newer, on="caseid")
    assert len(both) > 30
    assert (both.caseversion_x.astype(int) < both.caseversion_y.astype(int)).all()
    assert (both.fda_dt_x < both.fda_dt_y).all()


def test_followups_fill_in_and_rarely_contradict(legacy: list[Tables]) -> None:
    demo = together(legacy, "DEMO")
    first = demo[demo.i_f_code == "I"].drop_duplicates("caseid", keep="first")
    last = demo[demo.i_f_code == "F"].drop_duplicates("caseid", keep="last")
    pairs = first.merge(last, on="caseid")
    aged = pairs[(pairs.age_x != "") & (pairs.age_y != "")]
    assert 0.005 < (aged.age_x != aged.age_y).mean() < 0.10
    sexed = pairs[pairs.sex_x.isin(["F", "M"]) & pairs.sex_y.isin(["F", "M"])]
    assert 0 < (sexed.sex_x != sexed.sex_y).mean() < 0.02
    assert (pairs.wt_y[pairs.wt_x == ""] != "").mean() > 0.1
    assert (pairs.wt_y[pairs.wt_x != ""] != "").all()


def test_followups_keep_terms_and_add_some(legacy: list[Tables]) -> None:
    demo = together(legacy, "DEMO")
    versions = demo.groupby("caseid").primaryid.agg(["first", "last"])
    versions = versions[versions["first"] != versions["last"]]
    terms: dict[str, set[str]] = defaultdict(set)
    reac = together(legacy, "REAC")
    for primaryid, term in zip(reac.primaryid, reac.pt.str.upper(), strict=True):
        terms[primaryid].add(term)
    pairs = [(terms[a], terms[b]) for a, b in versions.itertuples(index=False)]
    assert sum(a <= b for a, b in pairs) / len(pairs) > 0.85
    assert 0.1 < sum(a < b for a, b in pairs) / len(pairs) < 0.7


def test_as_many_reports_are_complete_as_in_the_samples(
    legacy: list[Tables], current: Tables
) -> None:
    assert known(current["DEMO"]).mean() == pytest.approx(0.277, abs=0.015)
    assert known(together(legacy, "DEMO")).mean() == pytest.approx(0.306, abs=0.015)


def test_missing_values_come_together(current: Tables) -> None:
    demo = current["DEMO"]
    assert ((demo.age == "") == (demo.age_cod == ""))[demo.age == ""].all()
    assert ((demo.wt == "") == (demo.wt_cod == "")).all()
    untold = (demo.sex == "").mean() * (demo.age == "").mean()
    assert ((demo.sex == "") & (demo.age == "")).mean() > 2 * untold
    assert ((demo.age == "") & (demo.age_grp != "")).any()


def test_units_and_sexes_are_mixed(legacy: list[Tables]) -> None:
    demo = together(legacy, "DEMO")
    assert {"YR", "MON", "WK", "DY", "DEC"} <= set(demo.age_cod)
    assert {"KG", "LBS", "GMS"} <= set(demo.wt_cod)
    assert {"F", "M", "UNK", "NS"} <= set(demo.sex)
    assert (demo.age_cod == "YR").sum() / (demo.age_cod != "").sum() > 0.95


def test_blemishes_are_fewer_than_one_in_a_thousand(legacy: list[Tables]) -> None:
    demo = together(legacy, "DEMO")
    years = pd.to_numeric(demo.age[demo.age_cod == "YR"])
    odd = (years > 120).sum() + (
        ~demo.age_cod.isin(["", "YR", "MON", "WK", "DY", "HR", "DEC"])
    ).sum()
    assert 0 < odd / len(demo) < 0.001


def test_children_and_adults_weigh_what_they_should(current: Tables) -> None:
    demo = current["DEMO"]
    told = demo[(demo.age_cod == "YR") & (demo.wt_cod == "KG")]
    age, weight = pd.to_numeric(told.age), pd.to_numeric(told.wt)
    assert weight[age.between(2, 6)].median() < 30
    men, women = (weight[(age.between(30, 60)) & (told.sex == sex)].median() for sex in "MF")
    assert 60 < women < 75 < men < 95
    assert age.median() == pytest.approx(59, abs=2)
    assert 0.2 < told.wt.str.contains(".", regex=False).mean() < 0.5


def test_terms_have_a_steep_head_and_a_long_tail(current: Tables) -> None:
    rows = current["REAC"].pt.iloc[:94_620].value_counts()
    assert 0.018 < rows.iloc[0] / rows.sum() < 0.045
    assert 4000 < len(rows) < 7000
    assert 0.25 < (rows == 1).mean() < 0.5
    assert rows.iloc[99] / rows.sum() == pytest.approx(0.0020, rel=0.35)


def test_two_in_five_indications_are_unknown(current: Tables) -> None:
    terms = current["INDI"].indi_pt
    unknown = terms == "Product used for unknown indication"
    assert unknown.mean() == pytest.approx(0.412, abs=0.02)
    rest = terms[~unknown].value_counts(normalize=True)
    assert rest.iloc[0] == pytest.approx(0.14, abs=0.03)
    assert (rest.index.isin(current["REAC"].pt)).mean() > 0.2


def test_sets_are_small_with_a_few_very_large(current: Tables) -> None:
    drugs = current["DRUG"].primaryid.value_counts()
    reactions = current["REAC"].primaryid.value_counts()
    assert drugs.median() <= 3
    assert drugs.max() > 100
    assert drugs.max() <= 422
    assert reactions.median() <= 3
    assert reactions.max() > 60
    assert drugs.corr(reactions) > 0.2


def test_a_few_reports_tell_a_term_twice(current: Tables) -> None:
    repeated = current["REAC"].duplicated(["primaryid", "pt"]).mean()
    assert 0.0005 < repeated < 0.03


def test_legacy_reactions_are_upper_case_and_current_ones_are_not(
    legacy: list[Tables], current: Tables
) -> None:
    assert (legacy[-1]["REAC"].pt == legacy[-1]["REAC"].pt.str.upper()).mean() > 0.998
    assert (current["REAC"].pt == current["REAC"].pt.str.upper()).mean() < 0.002
    assert current["REAC"].pt.str.upper().nunique() < current["REAC"].pt.nunique()


def test_outcome_codes_have_the_shares_of_the_sample(current: Tables) -> None:
    codes = current["OUTC"].outc_cod.value_counts(normalize=True)
    assert codes["OT"] == pytest.approx(0.591, abs=0.05)
    assert codes["HO"] == pytest.approx(0.286, abs=0.05)
    assert {"DE", "LT", "DS", "CA"} <= set(codes.index)
    assert not current["OUTC"].duplicated(["primaryid", "outc_cod"]).any()


def test_deleted_cases_began_earlier_and_never_return(tmp_path: Path) -> None:
    quarters = [
        read(path)
        for path in synthesize(tmp_path, ["2018Q4", "2019Q1", "2019Q2", "2019Q3"], cases=4000)
    ]
    assert "DELETE" not in quarters[0]
    gone: set[str] = set()
    earlier = set(quarters[0]["DEMO"].caseid)
    for quarter in quarters[1:]:
        listed = set(quarter["DELETE"].caseid)
        assert listed & earlier
        gone |= listed
        assert not gone & set(quarter["DEMO"].caseid)
        earlier |= set(quarter["DEMO"].caseid)


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_the_rules_are_signals(
    legacy: list[Tables], current: Tables, rule: tuple[str, str]
) -> None:
    for quarters in (legacy, [current]):
        tables = [together(quarters, name) for name in ("DEMO", "DRUG", "REAC")]
        assert prr(*tables, rule) > 2.5


@pytest.mark.parametrize(
    ("rule", "within"),
    [
        (RULES[4], lambda demo: demo.sex == "F"),
        (RULES[5], lambda demo: pd.to_numeric(demo.age).where(demo.age_cod == "YR") >= 60),
        (RULES[6], lambda demo: pd.to_numeric(demo.age).where(demo.age_cod == "YR") < 18),
    ],
    ids=["women", "over 60", "under 18"],
)
def test_the_rules_are_stronger_in_their_stratum(legacy, current, rule, within) -> None:
    quarters = [*legacy, current]
    demo, drug, reac = (together(quarters, name) for name in ("DEMO", "DRUG", "REAC"))
    inside = within(demo)
    rates = []
    for part in (demo[inside], demo[~inside & (demo.age_cod == "YR") & demo.sex.isin(["F", "M"])]):
        exposed = drug[drug.primaryid.isin(part.primaryid) & (drug.drugname.str.upper() == rule[0])]
        told = reac[reac.pt.str.upper() == rule[1].upper()].primaryid
        rates.append(exposed.drop_duplicates("primaryid").primaryid.isin(told).mean())
    assert rates[0] > 1.3 * rates[1]
