"""Artifacts of a series that withstands persistence: what presence in two quarters would tell."""

from __future__ import annotations

import csv
import random
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import duckdb
import pytest
from oracles.stay import Group, Quarter, covers, too_little_is_left
from oracles.term_key import term_key
from properties.test_stay_rules import THETAS, made, nothing, series_of
from support.artifacts import Rows, make, read_csv, rehash, thresholds_of, write_csv
from support.quarters import crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.format import Attribute, Column, Counts, Manifest, Table
from srsql.engine.artifact.verify import windows_left
from srsql.engine.artifact.verify.reading import run_step
from srsql.engine.artifact.verify.rows import run_check
from srsql.engine.artifact.verify.verify import check_series

QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2011Q4", "2012Q1")
NO_DIGEST = "0" * 64
REPORTS = ("reportid", "caseid", "quarter", "x_low", "x_high", "y_low", "y_high")
ROLES = ("report id", "case id", "period", *["lower bound", "upper bound"] * 2)
BOUNDS = {name: name[0] for name in REPORTS[3:]}


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def artifact(folder: Path, at: int, shown: Quarter, k: int, **changes: object) -> Manifest:
    """The tables of a quarter, as files; nothing but what a series is checked by."""
    folder.mkdir()
    label = QUARTERS[at]
    homes = [(case, group.region) for group in shown.groups for case in group.cases]
    write(folder / "demo.csv", REPORTS,
          [(case, case, label, *(end for ends in box for end in ends))
           for case, box in sorted(homes)])  # fmt: skip
    terms = [(case, case, t) for case, _ in sorted(homes) for t in sorted(shown.terms[case])]
    write(folder / "reac.csv", ("reportid", "caseid", "pt"), terms)
    shares = [(term.upper(), theta.numerator, theta.denominator) for term, theta in THETAS.items()]
    write(folder / "value-thresholds.csv", ("value", "theta_num", "theta_den"), shares)
    write(folder / "value-hierarchies.csv", ("attribute", "node", "parent"), [])

    def table(name: str, names: Sequence[str], roles: Sequence[str], rows: int) -> Table:
        columns = tuple(
            Column(name=n, type="VARCHAR" if r in ("period", "sensitive") else "BIGINT", role=r,
                   attribute=BOUNDS.get(n))  # type: ignore[arg-type]
            for n, r in zip(names, roles, strict=True)
        )  # fmt: skip
        return Table(
            name=name, file=f"{name}.csv", rows=rows, content_sha256=NO_DIGEST, columns=columns
        )

    told = Manifest(
        artifact_version=3, software_version="0", dataset="made", dataset_version=1,
        dataset_fingerprint=NO_DIGEST, series="main", quarter=label,
        earlier_releases=QUARTERS[:at], format="csv", case_ids="as released", key_id=None,
        model="ppms-stay", guarantee="", perturbed=False, k=k, attacks=("b", "f", "l", "md", "p"),
        parameters={}, counts=Counts(released_cases=len(homes), released_reports=len(homes)),
        report_table="demo",
        attributes=tuple(Attribute(name=name, kind="numeric") for name in "xy"),
        tables=(
            table("demo", REPORTS, ROLES, len(homes)),
            table("reac", ("reportid", "caseid", "pt"), ("report id", "case id", "sensitive"),
                  len(terms)),
        ),
        files={"value-hierarchies.csv": NO_DIGEST},
    )  # fmt: skip
    return told.model_copy(update=changes)


def faults(folder: Path, series: Sequence[Quarter], k: int) -> dict[str, list[str]]:
    """What the checks across artifacts find in a series."""
    folder.mkdir()
    given = [(folder / str(n), artifact(folder / str(n), n, q, k)) for n, q in enumerate(series)]
    checks, unknown, _ = check_series(given)
    assert not unknown
    assert {check.name for check in checks} > {"stay k", "stay theta"}
    return {check.name: list(check.faults) for check in checks if check.faults}


def rules_broken(con: duckdb.DuckDBPyConnection, series: Sequence[Quarter], k: int) -> set[str]:
    """The checks that find something, asked with tables filled here."""
    ends = [number for number, _ in enumerate(series)]
    quarters = {"every_quarter": list(QUARTERS[: len(series)])}
    found = set()
    with con.cursor() as own:
        run_step(own, "artifact/artifact_tables")
        fill(own, "case_region", [
            (n, str(group.region), case)
            for n, quarter in enumerate(series) for group in quarter.groups for case in group.cases
        ])  # fmt: skip
        fill(own, "case_value", [
            (n, case, term.upper())
            for n, quarter in enumerate(series)
            for case in quarter.released for term in quarter.terms[case]
        ])  # fmt: skip
        fill(own, "value_threshold", [
            (n, term.upper(), theta.numerator, theta.denominator)
            for n in ends for term, theta in THETAS.items()
        ])  # fmt: skip
        fill(own, "series_region", [
            (n, str(group.region), name, low, high, None)
            for n, quarter in enumerate(series) for group in quarter.groups
            for name, (low, high) in zip("xy", group.region, strict=True)
        ])  # fmt: skip
        run_step(own, "artifact/new_cases", quarters | {
            "artifacts": ends, "quarters": quarters["every_quarter"], "ks": [k] * len(ends)
        })  # fmt: skip
        run_step(own, "artifact/stay_classes", quarters | {
            "class_artifacts": ends[:-1], "class_ks": [k] * len(ends[1:]),
            "next_quarters": quarters["every_quarter"][1:],
            "cohort_artifacts": ends[1:], "cohort_ks": [k] * len(ends[1:]),
            "before_artifacts": ends[:-1],
        })  # fmt: skip
        none: dict[str, list[str]] = {"attributes": [], "nodes": [], "ancestors": []}
        for name in ("new k", "new theta", "cover", "stay k", "stay theta"):
            if run_check(own, "artifact/series_checks", name, none).faults:
                found.add(name)
    return found


def fill(con: duckdb.DuckDBPyConnection, table: str, rows: list[tuple[object, ...]]) -> None:
    if rows:
        marks = ", ".join("unnest(?)" for _ in rows[0])
        columns = [list(column) for column in zip(*rows, strict=True)]
        con.execute(f"INSERT INTO temp.main.srsql_{table} SELECT {marks}", columns)


def as_published(series: Sequence[Quarter]) -> list[Quarter]:
    """Groups with one region are one, to whoever sees regions alone."""
    found = []
    for quarter in series:
        crowds: dict[tuple[tuple[int, int], ...], set[int]] = defaultdict(set)
        for group in quarter.groups:
            crowds[group.region] |= group.cases
        groups = [Group(region, frozenset(cases)) for region, cases in crowds.items() if cases]
        found.append(Quarter(quarter.values, quarter.terms, quarter.goes_on, groups))
    return found


def changed(luck: random.Random, series: Sequence[Quarter]) -> list[Quarter]:
    """One case left out of a quarter, put into another region that fits it, brought back into the
    quarter after, or given a term."""
    at = luck.randrange(len(series) - 1)
    homes = [
        {case: number for number, group in enumerate(quarter.groups) for case in group.cases}
        for quarter in series
    ]
    values = [dict(quarter.values) for quarter in series]
    terms = [dict(quarter.terms) for quarter in series]
    case = luck.choice(sorted(homes[at]))
    what = luck.choice(["leave", "move", "return", "tell"])
    after = at + 1 if case in homes[at + 1] else at
    if what == "leave":
        del homes[after][case]
    elif what == "tell":
        terms[after][case] |= {luck.choice("ab")}
    else:
        here = at + 1 if what == "return" else after
        value = values[here].setdefault(case, values[at][case])
        terms[here].setdefault(case, frozenset())
        first = series[at].groups[homes[at][case]].region
        fit = [
            number for number, group in enumerate(series[here].groups)
            if covers(group.region, value)
            and all(a <= c and d <= b for (a, b), (c, d) in zip(group.region, first, strict=True))
        ]  # fmt: skip
        if fit:
            homes[here][case] = luck.choice(fit)
    return [
        Quarter(
            values[n], terms[n], quarter.goes_on,
            [Group(group.region, frozenset(c for c, number in homes[n].items() if number == place))
             for place, group in enumerate(quarter.groups)],
        )
        for n, quarter in enumerate(series)
    ]  # fmt: skip


@pytest.mark.slow
def test_a_series_that_an_attack_breaks_is_refused_and_one_by_the_rules_is_not() -> None:
    """Random series by the rules, whole and with one change, against the oracle of attacks."""
    met: Counter[str] = Counter()
    with duckdb.connect() as con:
        for seed in range(3):
            k, luck = 2 + seed % 2, random.Random(seed)
            series = as_published(made(seed, k)[:3])
            assert rules_broken(con, series, k) == set()
            for number in range(6):
                forged = as_published(changed(luck, series))
                found = rules_broken(con, forged, k)
                broken = too_little_is_left(forged, k, THETAS)
                assert found or not broken, (seed, number, broken)
                met["broken"] += bool(broken)
                met["refused by stay"] += bool(found) and found <= {"stay k", "stay theta"}
                met["passed"] += not found
    assert min(met[name] for name in ("broken", "refused by stay", "passed")) >= 3


@pytest.mark.parametrize(
    ("series", "says"),
    [
        ([(nothing(1, 2, 3, 9, 10, 11), {1, 2, 3}, [{1, 2, 3, 9, 10, 11}]),
          (nothing(1, 2, 4, 5, 6), set(), [{1, 2, 4, 5, 6}])],
         "2011Q1 region {}: of those in 2011Q2 2 case(s) were new, k is 3"),
        ([(nothing(1, 2, 3), set(), [{1, 2, 3}]), (nothing(1, 4, 5, 6), set(), [{1, 4, 5, 6}])],
         "2011Q1 region {}: of those not in 2011Q2 2 case(s) were new, k is 3"),
        ([(nothing(*range(1, 4)), {1, 2, 3}, [{1, 2, 3}]),
          (nothing(1, 2, 4, 5, 6), set(), [{1, 2, 4, 5, 6}])],
         "2011Q2 region {}: of those from 2011Q1 region {} 2 case(s) were new, k is 3"),
        ([(nothing(1, 2, 3), {1, 2, 3}, [{1, 2, 3}]),
          (nothing(4, 5, 6, 7) | dict.fromkeys((1, 2), frozenset("a")) | nothing(3), set(),
           [{1, 2, 3, 4, 5, 6, 7}])],
         "2011Q2 region {}: of those from 2011Q1 region {} 2 cases hold A, 3 were new, its "
         "threshold is 1/2"),
        ([(nothing(4, 5, 6) | dict.fromkeys((1, 2), frozenset("a")) | nothing(3), {1, 2, 3},
           [{1, 2, 3, 4, 5, 6}]),
          (nothing(1, 2, 3, 7, 8, 9), set(), [{1, 2, 3, 7, 8, 9}])],
         "2011Q1 region {}: of those in 2011Q2 2 cases hold A, 3 were new, its threshold is 1/2"),
    ],
    ids=["one of a cohort is missing", "one who had stopped is there", "a cohort of two",
         "a value of two of a cohort", "a value of two who go on"],
)  # fmt: skip
def test_the_class_or_cohort_that_tells_too_much_is_named(
    tmp_path: Path,
    series: Sequence[tuple[Mapping[int, frozenset[str]], set[int], list[set[int]]]],
    says: str,
) -> None:
    found = faults(tmp_path / "series", series_of(*series), 3)
    assert found.keys() <= {"stay k", "stay theta"}
    told = [text for texts in found.values() for text in texts]
    region = '{"x_low":0,"x_high":0,"y_low":0,"y_high":0}'
    assert says.replace("{}", region) in told


def test_quarters_that_do_not_follow_each_other_are_no_window(tmp_path: Path) -> None:
    """2011Q2 was never released: nobody knows of presence in it."""
    series = series_of(
        (nothing(1, 2, 3), set(), [{1, 2, 3}]), (nothing(1, 4, 5, 6), set(), [{1, 4, 5, 6}])
    )
    given = []
    for at, label in ((0, "2011Q1"), (1, "2011Q3")):
        folder = tmp_path / label
        told = artifact(folder, at, series[at], 3, quarter=label)
        given.append((folder, told))
    checks, _, _ = check_series(given)
    totals = {check.name: check.total for check in checks}
    assert not [check for check in checks if check.faults]
    assert (totals["new k"], totals["stay k"], totals["stay theta"]) == (2, 0, 0)


def test_a_later_version_alone_does_not_tell_who_went_on(tmp_path: Path) -> None:
    """Its cases are those of the first one, less a group; who was in that one is not known."""
    series = series_of(
        (nothing(1, 2, 3), {1, 2, 3}, [{1, 2, 3}]), (nothing(4, 5, 6), set(), [{4, 5, 6}])
    )
    first = artifact(tmp_path / "0", 0, series[0], 3)
    later = artifact(tmp_path / "1", 1, series[1], 3,
                     parameters={"version": 2}, earlier_releases=QUARTERS[:2])  # fmt: skip
    checks, unknown, _ = check_series([(tmp_path / "0", first), (tmp_path / "1", later)])
    assert {check.name: check.total for check in checks}["stay k"] == 0
    assert not unknown
    texts = windows_left([first, later], [first, later])
    assert [text.partition(":")[0] for text in texts[:2]] == ["2011Q1", "2011Q2"]
    assert "the quarter after it" in texts[0]


def test_of_whom_nobody_knows_who_is_new_nothing_is_said_of_presence(tmp_path: Path) -> None:
    quarter = series_of((nothing(1, 2, 3), set(), [{1, 2, 3}]))[0]
    told = artifact(tmp_path / "0", 1, quarter, 3)
    first, last = windows_left([told], [])
    assert first.startswith("2011Q2: what presence in two quarters tells (md, p)")
    assert "whom ppms-stay counts apart" in last
    other = told.model_copy(update={"attacks": ("b", "f", "l")})
    assert windows_left([other], [other]) == []


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory, plain_pages: None) -> list[Path]:
    """Three artifacts by the program: 30 cases go on into the second quarter, 20 into the third."""
    folder = tmp_path_factory.mktemp("stay")
    cases = {"2011Q1": (60, 1), "2011Q2": (70, 31), "2011Q3": (60, 81), "2011Q4": (40, 121)}
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([
            write_quarter(folder, quarter, crowd(count, first, version=number))
            for number, (quarter, (count, first)) in enumerate(cases.items(), 1)
        ])  # fmt: skip
        engine.release_range("2011Q1:2011Q3", model="ppms-stay", k=3, theta="0.5", seed=1)
    return [
        make(folder / "w.duckdb", folder / quarter, quarter, format="csv")
        for quarter in list(cases)[:3]
    ]


@pytest.fixture
def three(released: list[Path], tmp_path: Path) -> list[Path]:
    return [shutil.copytree(folder, tmp_path / folder.name) for folder in released]


def put(folder: Path, **tables: Rows) -> None:
    for name, rows in tables.items():
        write_csv(folder, name, rows)
    rehash(folder, counts=True, report=True)


@pytest.mark.thorough
def test_a_series_that_stays_passes_and_says_what_is_left(released: list[Path]) -> None:
    found = verify(released)
    assert found.passed, found.failures
    totals = {c.name: c.total for c in found.checks if c.artifact == "series"}
    assert totals["cover"] == 50
    assert min(totals["stay k"], totals["stay theta"]) > 20
    about = [text for text in found.cannot_show if "presence" in text]
    assert [text.split(":")[0] for text in about[:1]] == ["2011Q3"]
    assert len(about) == 2
    alone = verify(released[0])
    assert [text for text in alone.cannot_show if "(b, f, l, md, p)" in text]


def without_one_who_stayed(folders: list[Path]) -> None:
    """Of the smallest cohort in 2011Q2 all but two are withheld after all."""
    lost = min(cohorts_of(folders).values(), key=len)[2:]
    tables = ("demo", "drug", "reac", "indi", "outc")
    kept = {t: [r for r in read_csv(folders[1], t) if r["caseid"] not in lost] for t in tables}
    left = {row["pt"] for row in kept["reac"]} | {row["indi_pt"] for row in kept["indi"]}
    known = {term_key(str(value)) for value in left}
    thresholds = {v: t for v, t in thresholds_of(folders[1]).items() if v in known}
    write(folders[1] / "value-thresholds.csv", ("value", "theta_num", "theta_den"),
          [(value, *theta) for value, theta in sorted(thresholds.items())])  # fmt: skip
    put(folders[1], **kept)


def with_a_value_of_most_who_stayed(folders: list[Path]) -> None:
    """More than half of a cohort are told the same reaction, in a region that is large enough."""
    demo, reac = read_csv(folders[1], "demo"), read_csv(folders[1], "reac")
    old = {row["caseid"] for row in read_csv(folders[0], "demo")}
    regions: dict[object, list[str | None]] = defaultdict(list)
    for row in demo:
        regions[region(row)].append(row["caseid"])
    cohort, here = next(
        (cases[: len(cases) // 2 + 1], here)
        for (_, here), cases in cohorts_of(folders).items()
        if len(set(regions[here]) - old) >= 2 * (len(cases) // 2 + 1)
    )
    held = {row["pt"] for row in reac if row["caseid"] in regions[here]}
    term = next(row["pt"] for row in reac if row["pt"] not in held)
    added = [
        row | {"pt": term, "pt_key": term_key(str(term))} for row in reac if row["caseid"] in cohort
    ]
    put(folders[1], reac=sorted([*reac, *added], key=lambda row: int(row["primaryid"] or 0)))


def region(row: Mapping[str, str | None]) -> tuple[str | None, ...]:
    return tuple(row[n] for n in ("age_low", "age_high", "wt_low", "wt_high", "sex"))


def cohorts_of(folders: list[Path]) -> dict[tuple[object, object], list[str | None]]:
    """(region in 2011Q1, region in 2011Q2) -> the cases of both."""
    before = {row["caseid"]: region(row) for row in read_csv(folders[0], "demo")}
    found: dict[tuple[object, object], list[str | None]] = defaultdict(list)
    for row in read_csv(folders[1], "demo"):
        if row["caseid"] in before:
            found[before[row["caseid"]], region(row)].append(row["caseid"])
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("forge", "check"),
    [(without_one_who_stayed, "stay k"), (with_a_value_of_most_who_stayed, "stay theta")],
)
def test_a_forged_series_is_refused_where_each_artifact_passes(
    three: list[Path], forge: Callable[[list[Path]], None], check: str
) -> None:
    forge(three)
    assert verify(three[1]).passed
    found = verify(three)
    failed = [c for c in found.checks if c.faults]
    assert {c.name for c in failed} == {check}
    assert "2011Q1 region" in " ".join(failed[0].faults)


@pytest.mark.thorough
def test_a_series_of_which_one_artifact_fails_says_that_presence_was_not_looked_at(
    three: list[Path],
) -> None:
    (three[1] / "demo.csv").write_text("")
    found = verify(three)
    assert not found.passed
    assert {"series: stay k", "series: stay theta"} <= set(found.not_run)
