"""Real quarters, released: every bound recomputed from the views and from the raw archives."""

from __future__ import annotations

import csv
import io
import math
import re
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.real_data import DATA, needs
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import InfeasibleError
from srsql.schemas import hierarchies

pytestmark = [pytest.mark.slow, needs("faers/faers_ascii_2022Q4.zip", "faers_als", "vaers")]
ALS = "Amyotrophic lateral sclerosis"
UNKNOWN = {"PRODUCT USED FOR UNKNOWN INDICATION", "DRUG USE FOR UNKNOWN INDICATION"}
PLACEHOLDERS = {"pt": {""}, "indi_pt": {"", *UNKNOWN}}
YEARS = {
    "DEC": Fraction(10),
    "YR": Fraction(1),
    "MON": Fraction(1, 12),
    "WK": Fraction(28, 1461),
    "DY": Fraction(4, 1461),
    "HR": Fraction(1, 8766),
}
KILOGRAMS = {"KG": Fraction(1), "LBS": Fraction("0.45359237"), "GMS": Fraction(1, 1000)}
Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Raw:
    """A quarter as its archive has it: tables of dictionaries, lower-case names."""

    demo: Rows
    children: dict[str, Rows]

    @property
    def case_of(self) -> dict[str, str]:
        return {row["primaryid"]: row["caseid"] for row in self.demo}

    def terms(self) -> dict[str, set[str]]:
        """Case -> its terms."""
        case_of, found = self.case_of, defaultdict(set)
        for table, column in (("reac", "pt"), ("indi", "indi_pt")):
            for row in self.children[table]:
                term = row[column].strip().upper()
                if term not in PLACEHOLDERS[column] and row["primaryid"] in case_of:
                    found[case_of[row["primaryid"]]].add(term)
        return found


def raw_faers(path: Path) -> Raw:
    tables: dict[str, Rows] = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            stem = Path(name).stem.lower()[:4]
            if stem in {"demo", "drug", "reac", "indi", "outc"}:
                header, *lines = archive.read(name).decode("utf-8", "replace").splitlines()
                names = header.lower().split("$")
                tables[stem] = [dict(zip(names, li.split("$"), strict=True)) for li in lines]
    return Raw(tables.pop("demo"), tables)


def years(row: Mapping[str, str]) -> int | None:
    return amount(row["age"], YEARS.get(row["age_cod"].strip().upper()), 120, Fraction(0))


def kilograms(row: Mapping[str, str]) -> int | None:
    factor = KILOGRAMS.get(row["wt_cod"].strip().upper())
    return amount(row["wt"], factor, 400, Fraction(1, 2))


def amount(text: str, factor: Fraction | None, most: int, rounding: Fraction) -> int | None:
    if factor is None or not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text.strip()):
        return None
    value = math.floor(Fraction(text.strip()) * factor + rounding)
    return value if Fraction(text.strip()) >= 0 and value <= most else None


def frequency_theta(terms: Mapping[str, set[str]]) -> dict[str, Fraction]:
    """The most frequent tenth 1, the least frequent tenth 0.2, the rest 0.4 (Lin 2016)."""
    counts = Counter(term for held in terms.values() for term in held)
    ranked = sorted(counts, key=lambda term: (-counts[term], term.encode()))
    top, bottom = len(ranked) // 10, math.ceil(len(ranked) / 10)
    theta = dict.fromkeys(ranked, Fraction(2, 5))
    theta |= dict.fromkeys(ranked[:top], Fraction(1))
    return theta | dict.fromkeys(ranked[len(ranked) - bottom :], Fraction(1, 5))


def regions_of(demo: list[dict[str, Any]], case_id: str, hidden: set[str]) -> dict[Any, set[Any]]:
    found = defaultdict(set)
    for row in demo:
        found[tuple(v for n, v in row.items() if n not in hidden)].add(row[case_id])
    return found


def check_bounds(
    regions: Mapping[Any, set[Any]],
    terms: Mapping[Any, set[str]],
    k: int,
    theta: Mapping[str, Fraction],
) -> None:
    """Every region holds k cases, and no term a larger share of them than its theta."""
    assert min(len(cases) for cases in regions.values()) >= k
    for cases in regions.values():
        for term, holders in Counter(t for case in cases for t in terms.get(case, ())).items():
            assert holders <= theta[term] * len(cases), (term, holders, len(cases))


@pytest.fixture(scope="module")
def raw() -> Raw:
    return raw_faers(DATA / "faers" / "faers_ascii_2022Q4.zip")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Iterator[Engine]:
    with Engine(real("2022Q4", tmp_path_factory.mktemp("real") / "w.duckdb")) as engine:
        yield engine


@pytest.mark.parametrize(
    ("series", "k", "policy", "infeasible"),
    [
        ("main", 5, "frequency", "error"),
        pytest.param("strict", 20, "0.4", "withhold", marks=pytest.mark.thorough),
    ],
)
def test_a_real_quarter_meets_every_bound_when_recomputed_from_its_archive(
    loaded: Engine, raw: Raw, series: str, k: int, policy: str, infeasible: Any
) -> None:
    made = loaded.release(
        "2022Q4",
        model="ms",
        k=k,
        theta=policy,
        on_infeasible=infeasible,
        seed=7,
        series=series,
        allow_linkable=True,
        ids="original" if series == "main" else "pseudonym",
    )
    demo = rows(loaded.con, f"SELECT * FROM {made.schema}.demo")
    ids = dict(
        loaded.sql(
            "SELECT m.case_id, m.group_id FROM srsql.member AS m WHERE m.release_id = ?",
            [made.release_id],
        )
    )
    withheld = {
        case
        for (case,) in loaded.sql(
            "SELECT w.case_id FROM srsql.withheld AS w WHERE w.release_id = ?", [made.release_id]
        )
    }
    case_of = raw.case_of
    everyone = set(case_of.values())
    assert (set(ids) | withheld, set(ids) & withheld) == (everyone, set())
    assert len(demo) == sum(case in ids for case in case_of.values())
    assert (made.manifest["cases"]["withheld"] > 0) == (series == "strict")

    # what is released, judged by the terms the archive has for its cases
    theta = (
        frequency_theta(raw.terms())
        if policy == "frequency"
        else defaultdict(lambda: Fraction(2, 5))
    )
    shown = terms_shown(loaded, made.schema)
    regions = regions_of(demo, "caseid", {"primaryid", "caseid", "quarter"})
    check_bounds(regions, shown, k, theta)
    total = sum(len(held) for held in shown.values())
    assert total == sum(len(held) for case, held in raw.terms().items() if case in ids)
    if series == "main":
        check_truth(demo, raw)
        check_bounds(regions, {int(c): t for c, t in raw.terms().items()}, k, theta)
    else:
        assert {row["caseid"] for row in demo}.isdisjoint({int(case) for case in everyone})
        assert {row["primaryid"] for row in demo}.isdisjoint({int(report) for report in case_of})


def terms_shown(engine: Engine, schema: str) -> dict[int, set[str]]:
    found = defaultdict(set)
    for table, column in (("reac", "pt"), ("indi", "indi_pt")):
        for case, term in engine.sql(f"SELECT caseid, {column} FROM {schema}.{table}"):
            if term is not None:
                found[case].add(term.strip().upper())
                assert term.strip().upper() not in PLACEHOLDERS[column]
    return found


def check_truth(demo: list[dict[str, Any]], raw: Raw) -> None:
    """Every released report is one of the archive, and its own values lie in its region."""
    truth = {row["primaryid"]: row for row in raw.demo}
    known = Counter()
    for row in demo:
        true = truth[str(row["primaryid"])]
        assert true["caseid"] == str(row["caseid"])
        for name, value in (("age", years(true)), ("wt", kilograms(true))):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            assert (low is None) == (high is None)
            assert value is None or low is None or low <= value <= high
            known[name] += value is not None and low is not None
        sex = true["sex"].strip().upper()
        assert row["sex"] in {"Any", sex} or sex in {"", "UNK", "NS"}
    assert known["age"] > 1000
    assert known["wt"] > 1000


@pytest.mark.thorough
def test_the_released_child_rows_of_a_real_quarter_are_the_raw_ones(
    loaded: Engine, raw: Raw
) -> None:
    made = loaded.release(
        "2022Q4", model="ms", seed=7, supersede=True, allow_linkable=True, ids="original"
    )
    released = {str(row[0]) for row in loaded.sql(f"SELECT primaryid FROM {made.schema}.demo")}
    shown = {
        "drug": ["drug_seq", "role_cod", "drugname"],
        "reac": ["pt"],
        "indi": ["indi_drug_seq", "indi_pt"],
        "outc": ["outc_cod"],
    }
    for table, columns in shown.items():
        expected = Counter(
            (row["primaryid"], row["caseid"], *(_shown(c, row[c]) for c in columns))
            for row in raw.children[table]
            if row["primaryid"] in released
        )
        found = Counter(
            (str(report), str(case), *values)
            for report, case, *values in loaded.sql(
                f"SELECT primaryid, caseid, {', '.join(columns)} FROM {made.schema}.{table}"
            )
        )
        assert found == expected
        assert expected


def _shown(column: str, value: str) -> str | None:
    return None if value.strip().upper() in PLACEHOLDERS.get(column, {""}) else value


@pytest.fixture(scope="module")
def als(tmp_path_factory: pytest.TempPathFactory, real: Any) -> Iterator[Engine]:
    with Engine(real("als", tmp_path_factory.mktemp("als") / "w.duckdb")) as engine:
        yield engine


@pytest.mark.thorough
def test_every_quarter_of_a_one_disease_cohort_is_refused_with_the_disease_and_the_ways_out(
    als: Engine,
) -> None:
    archives = sorted((DATA / "faers_als").glob("*.zip"))
    for path in archives:
        terms = raw_faers(path).terms()
        cases = set(raw_faers(path).case_of.values())
        holders = sum(ALS.upper() in terms.get(case, ()) for case in cases)
        with pytest.raises(InfeasibleError) as caught:
            als.release(path.stem.removeprefix("faers_ascii_"), model="ms", theta="0.5")
        text = str(caught.value)
        share = f"'{ALS}' in {holders:,} of {len(cases):,} cases ({holders / len(cases):.1%})"
        assert share in text
        assert all(way in text for way in ("levels:", "frequency", "--on-infeasible withhold"))
        assert "\n" not in text
        assert caught.value.exit_code == 3
    assert len(archives) == 43
    assert als.sql("SELECT count(*) FROM srsql.release") == [(0,)]


@pytest.mark.thorough
def test_a_levels_file_that_sets_the_common_disease_to_one_makes_the_cohort_releasable(
    als: Engine, tmp_path: Path
) -> None:
    quarter = als.sql(
        "SELECT quarter FROM raw_faers.demo GROUP BY quarter ORDER BY count(*) DESC, quarter"
    )[0][0]
    levels = tmp_path / "als.csv"
    levels.write_text(f"value,theta\n{ALS},1\n*,0.5\n")
    made = als.release(quarter, theta=f"levels:{levels}", seed=1, ids="original")
    raw = raw_faers(DATA / "faers_als" / f"faers_ascii_{quarter}.zip")
    theta = defaultdict(lambda: Fraction(1, 2), {ALS.upper(): Fraction(1)})
    demo = rows(als.con, f"SELECT * FROM {made.schema}.demo")
    regions = regions_of(demo, "caseid", {"primaryid", "caseid", "quarter"})
    check_bounds(regions, {int(c): held for c, held in raw.terms().items()}, 5, theta)
    assert len(demo) > 100


@pytest.mark.thorough
def test_the_command_line_refuses_a_one_disease_cohort_in_one_line(als: Engine) -> None:
    # the warehouse of this process is locked: the child reads the archive itself
    db = als.warehouse.path.with_name("other.duckdb")  # type: ignore[union-attr]
    command = [sys.executable, "-m", "srsql.cli"]
    archive = DATA / "faers_als" / "faers_ascii_2014Q3.zip"
    subprocess.run([*command, "ingest", str(archive), "--db", str(db)], check=True, timeout=60)
    done = subprocess.run(
        [*command, "release", "--quarter", "2014Q3", "--model", "ms", "--theta", "0.5", "--db", db],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert ALS in line


def raw_vaers(year: str) -> tuple[list[dict[str, str]], dict[str, set[str]]]:
    csv.field_size_limit(1 << 30)
    with zipfile.ZipFile(DATA / "vaers" / f"{year}VAERSData.zip") as archive:

        def table(name: str) -> list[dict[str, str]]:
            text = archive.read(f"{year}{name}.csv").decode("cp1252", "replace")
            return list(csv.DictReader(io.StringIO(text, newline="")))

        terms = defaultdict(set)
        for row in table("VAERSSYMPTOMS"):
            for number in range(1, 6):
                if term := (row[f"SYMPTOM{number}"] or "").strip().upper():
                    terms[row["VAERS_ID"]].add(term)
        return table("VAERSDATA"), terms


@pytest.mark.thorough
def test_three_years_of_vaers_are_released_and_one_is_recomputed_from_its_archive(
    tmp_path: Path,
) -> None:
    with Engine(tmp_path / "w.duckdb", dataset="vaers") as engine:
        engine.ingest(sorted((DATA / "vaers").glob("*.zip")))
        released = [
            engine.release(year, seed=3, on_infeasible="withhold", ids="original")
            for year in ("2004", "2005", "2006")
        ]
        demo = rows(engine.con, "SELECT * FROM release_2004.demo")
        symptoms = engine.sql("SELECT vaers_id, symptom FROM release_2004.symptoms")
        total = engine.sql("SELECT quarter, count(*) FROM raw_vaers.demo GROUP BY 1 ORDER BY 1")
    for made, (_, ingested) in zip(released, total, strict=True):
        assert made.rows["demo"] + made.manifest["reports"]["withheld"] == ingested
    data, terms = raw_vaers("2004")
    parent = {
        row["node"]: row["parent"]
        for row in csv.DictReader(
            (Path(hierarchies.__path__[0]) / "us_states.csv").read_text().splitlines()
        )
    }
    regions = regions_of(demo, "vaers_id", {"vaers_id", "quarter"})
    theta = frequency_theta(terms)
    check_bounds(regions, {int(c): held for c, held in terms.items()}, 5, theta)
    shown = defaultdict(set)
    for case, term in symptoms:
        shown[case].add(term.strip().upper())
    assert all(shown[row["vaers_id"]] == terms[str(row["vaers_id"])] for row in demo)
    truth = {row["VAERS_ID"]: row for row in data}
    for row in demo:
        true = truth[str(row["vaers_id"])]
        age = amount(true["AGE_YRS"], Fraction(1), 120, Fraction(0))
        assert age is None or row["age_low"] is None or row["age_low"] <= age <= row["age_high"]
        assert row["sex"] in {"Any", true["SEX"]} or true["SEX"] not in {"M", "F"}
        state = {"FR": "Foreign", "XB": "Foreign"}.get(true["STATE"], true["STATE"].strip().upper())
        if true["STATE"].strip() and state in parent:
            line = [state]
            while parent[line[-1]]:
                line.append(parent[line[-1]])
            assert row["state"] in line
