"""The comparators of Lin 2016, released: what they keep, and what breaks them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles import comparators, ms
from support.command import srsql
from support.files import copied
from support.quarters import Report, crowd, next_version
from support.released import content, region, regions, rows, terms_of

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.errors import (
    AttackError,
    AuditError,
    CheckFailedError,
    InfeasibleError,
    NothingToReleaseError,
    PublishError,
    ReleaseError,
)
from srsql.engine.grouping.patterns import Grouping
from srsql.engine.models.comparators import AlphaK, Comparator, LDiversity

pytestmark = pytest.mark.thorough

QUARTER, VIEWS = "2011Q4", "release_2011q4"
OF_REPORTS = ("k-anonymity", "alpha-k", "l-diversity")
SEX = ms.Categorical((None, 0, 0))


def patients() -> list[Report]:
    """60 cases; every third has a follow-up that knows better."""
    first = crowd(60)
    later = [replace(next_version(r), age=str(int(r.age) + 2), pt=("Other",)) for r in first[::3]]
    return [*first, *later]


def trios() -> list[Report]:
    """12 sets of 5 reports that agree in every QID: one case has three of them, and the other two
    cases share a disease."""
    made = []
    for n in range(12):
        same = {"age": str(20 + 5 * n), "sex": "MF"[n % 2], "wt": str(50 + 4 * n)}
        ids = iter(range(100 * n + 1, 100 * n + 9))
        case = 10 * n + 1
        made += [Report(next(ids), case, pt=(f"P{n}{i}",), **same) for i in range(3)]
        made += [
            Report(next(ids), case + i, pt=(f"P{n}{i}",), indi=(f"Disease {n}",), **same)
            for i in (5, 6)
        ]
    return made


@pytest.fixture
def mixed(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    with Engine(copied(kept / "mixed", tmp_path / "w.duckdb", {QUARTER: patients()})) as opened:
        yield opened


@pytest.fixture
def doubled(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    with Engine(copied(kept / "doubled", tmp_path / "w.duckdb", {QUARTER: trios()})) as opened:
        yield opened


def by_region(engine: Engine, schema: str = VIEWS) -> dict[Any, set[int]]:
    """Published region -> its reports."""
    found = defaultdict(set)
    for row in rows(engine.con, f'SELECT * FROM "{schema}".demo'):
        found[region(row)].add(row["primaryid"])
    return found


def seen_terms(engine: Engine, table: str, name: str, schema: str = VIEWS) -> dict[int, set[str]]:
    """Report -> its released terms of one attribute."""
    found: dict[int, set[str]] = defaultdict(set)
    for row in rows(engine.con, f'SELECT primaryid, {name} AS term FROM "{schema}".{table}'):
        found[row["primaryid"]].add(row["term"].lower())
    return found


def oracle_regions(
    reports: list[Report], numbers: list[int], key: str = "primaryid"
) -> dict[Any, set[int]]:
    """The region of each group and its reports, from the group of each record."""
    of_record = dict(zip(sorted({getattr(r, key) for r in reports}), numbers, strict=True))
    found: dict[Any, set[int]] = defaultdict(set)
    for number in set(numbers) - {-1}:
        inside = [r for r in reports if of_record[getattr(r, key)] == number]
        ages, weights = ([int(getattr(r, n)) for r in inside] for n in ("age", "wt"))
        sexes = {r.sex for r in inside}
        hull = (min(ages), max(ages), min(weights), max(weights))
        found[*hull, sexes.pop() if len(sexes) == 1 else "Any"] |= {r.primaryid for r in inside}
    return found


def records(reports: list[Report]) -> list[ms.Record]:
    """Each report as a record, in the order of case, then report."""
    ordered = sorted(reports, key=lambda r: (r.caseid, r.primaryid))
    return [
        ms.Record(
            (*((int(v), int(v)) for v in (r.age, r.wt)), " MF".index(r.sex)),
            {t.lower(): Fraction(1) for t in (*r.pt, *r.indi)},
        )
        for r in ordered
    ]


def super_records(reports: list[Report]) -> list[ms.Record]:
    made = []
    for case in sorted({r.caseid for r in reports}):
        own = [r for r in reports if r.caseid == case]
        ends = [[int(getattr(r, n)) for r in own] for n in ("age", "wt")]
        made.append(ms.Record((*((min(e), max(e)) for e in ends), " MF".index(own[0].sex)), {}))
    return made


def first_of(n: int, seed: int = 1) -> int:
    """The first record, as the seed draws it among n."""
    digest = hashlib.sha256(f"{seed}/faers/{QUARTER}/7".encode()).digest()
    return int.from_bytes(digest[:7]) % n


ATTRIBUTES = [ms.Numeric(120), ms.Numeric(400), SEX]


def test_k_anonymity_publishes_the_groups_of_the_oracle_over_reports(mixed: Engine) -> None:
    mixed.release(
        QUARTER, model="k-anonymity", k=4, theta="0.4", seed=1, refine="off", ids="original"
    )
    found = comparators.by_loss(records(patients()), ATTRIBUTES, 4, first_of(80))
    assert by_region(mixed) == oracle_regions(patients(), found)


def test_xy_anonymity_publishes_the_groups_of_the_oracle_over_cases(mixed: Engine) -> None:
    mixed.release(
        QUARTER, model="xy-anonymity", k=4, theta="0.4", seed=1, refine="off", ids="original"
    )
    found = comparators.by_loss(super_records(patients()), ATTRIBUTES, 4, first_of(60))
    assert by_region(mixed) == oracle_regions(patients(), found, "caseid")


def test_alpha_k_publishes_the_groups_of_the_oracle_over_reports(mixed: Engine) -> None:
    mixed.release(
        QUARTER,
        model="alpha-k",
        k=4,
        alpha="1/3",
        theta="0.4",
        seed=1,
        refine="off",
        ids="original",
    )
    alpha = Fraction(1, 3)
    found = comparators.by_alpha(records(patients()), ATTRIBUTES, 4, alpha, first_of(80))
    assert by_region(mixed) == oracle_regions(patients(), found)


def test_l_diversity_publishes_the_partition_of_the_oracle(mixed: Engine) -> None:
    mixed.release(QUARTER, model="l-diversity", l=3, theta="0.4", refine="off", ids="original")
    ordered = sorted(patients(), key=lambda r: (r.caseid, r.primaryid))
    numbers = {t: n for n, t in enumerate(sorted({t for r in ordered for t in (*r.pt, *r.indi)}))}
    held = [({numbers[t] for t in r.indi}, {numbers[t] for t in r.pt}) for r in ordered]
    found = comparators.from_top_down(records(ordered), held, ATTRIBUTES, 2, 3)
    assert by_region(mixed) == oracle_regions(patients(), found)


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_every_region_keeps_what_its_model_promises(
    kept: Path, tmp_path: Path, missing: str
) -> None:
    known = patients()
    blank = [replace(r, wt="") for r in crowd(20, first=101)] + [
        Report(10 * n, n, sex="F", pt=(f"T{n}",)) for n in range(201, 208)
    ]
    made = copied(kept / "blank", tmp_path / "w.duckdb", {QUARTER: [*known, *blank]})
    with Engine(made) as engine:
        for model, options in (
            ("k-anonymity", {}),
            ("xy-anonymity", {}),
            ("alpha-k", {"alpha": "0.4"}),
            ("l-diversity", {"l": 3}),
        ):
            asked: dict[str, Any] = {"model": model, "series": model, **options}
            asked["allow_linkable"] = True
            schema = engine.release(
                QUARTER, k=5, theta="0.4", seed=3, missing=missing, **asked
            ).schema
            pt, indi = (
                seen_terms(engine, *names, schema)
                for names in (("reac", "pt"), ("indi", "indi_pt"))
            )
            for reports in by_region(engine, schema).values():
                held = [(indi.get(r, set()), pt.get(r, set())) for r in reports]
                if model == "l-diversity":
                    assert comparators.keeps_values(held, 2, 3)
                else:
                    assert len(reports) >= 5
                if model == "alpha-k":
                    both = [one | other for one, other in held]
                    assert comparators.keeps_alpha(both, Fraction(2, 5))
            if model == "xy-anonymity":
                assert min(map(len, regions(engine.con, schema).values())) >= 5


def danger(engine: Engine, series: str) -> tuple[float, float, float]:
    """DR, DIR and DSR of the release of a series, as ``metrics`` tells them."""
    told = {(m.measure, m.scope): m.ratio for m in engine.metrics(QUARTER, series=series)}
    return (
        told["dr", "without E"],
        told["dir", "group: b,f,l,ss"],
        told["dsr", "group: b,f,l,ss"],
    )


def test_duplicates_break_k_anonymity_and_alpha_k_but_not_xy_anonymity_and_ms(
    doubled: Engine,
) -> None:
    found = {}
    for model, options in (
        ("k-anonymity", {}), ("alpha-k", {"alpha": "0.4"}), ("xy-anonymity", {}), ("ms", {}),
    ):  # fmt: skip
        asked: dict[str, Any] = {"model": model, "series": model, "allow_linkable": True, **options}
        doubled.release(QUARTER, k=5, theta="0.4", seed=1, **asked)
        found[model] = danger(doubled, model)
    assert found["k-anonymity"] == (1, 1, 1)
    assert found["alpha-k"] == (1, 1, 1)
    assert found["xy-anonymity"][1] == 0
    assert found["ms"] == (0, 0, 0)


@pytest.mark.parametrize("model", OF_REPORTS)
def test_dr_counts_the_distinct_cases_of_each_region(doubled: Engine, model: str) -> None:
    doubled.release(QUARTER, model=model, k=5, theta="0.4", seed=1)
    groups: dict[Any, list[tuple[int, set[str]]]] = defaultdict(list)
    pt, indi = (seen_terms(doubled, *t) for t in (("reac", "pt"), ("indi", "indi_pt")))
    for row in rows(doubled.con, f"SELECT * FROM {VIEWS}.demo"):
        report = row["primaryid"]
        values = pt.get(report, set()) | indi.get(report, set())
        groups[region(row)].append((row["caseid"], values))
    thetas = defaultdict(lambda: Fraction(2, 5))
    (told,) = [m for m in doubled.metrics(QUARTER) if (m.measure, m.scope) == ("dr", "with E")]
    assert told.violating == len(comparators.dangerous(groups, thetas))
    assert told.total == len(groups)
    assert told.passed is None


def test_a_case_with_reports_in_two_regions_is_one_case_to_every_count(mixed: Engine) -> None:
    made = mixed.release(QUARTER, model="k-anonymity", k=4, theta="0.4", seed=1)
    places = [(row["caseid"], region(row)) for row in rows(mixed.con, f"FROM {VIEWS}.demo")]
    assert len(set(places)) > len({case for case, _ in places}) == 60
    assert made.manifest["cases"] == {"released": 60, "new": 60, "old": 0, "withheld": 0}
    assert made.manifest["reports"]["released"] == len(places) == 80
    ((cases, theta, told),) = mixed.con.execute(
        f"SELECT released_cases, theta, len(thresholds) FROM {VIEWS}.manifest"
    ).fetchall()
    assert (cases, theta, told) == (60, "not kept", 0)


def test_what_would_count_a_case_in_each_of_its_regions_is_refused(mixed: Engine) -> None:
    mixed.release(QUARTER, model="k-anonymity", k=4, theta="0.4", seed=1)
    assert {row.scope for row in mixed.audit().releases} == {"group"}
    with pytest.raises(AuditError, match="give --scope group"):
        mixed.audit(scopes=("match",))
    with pytest.raises(AttackError, match="in several regions"):
        mixed.attack(QUARTER, {"age": "40"})
    assert "<html" in mixed.report(QUARTER).html  # whose page plays no attacker


def test_a_report_can_be_withheld_beside_a_released_one_of_its_case(
    kept: Path, tmp_path: Path
) -> None:
    lone = replace(next_version(crowd(1)[0]), wt="", age="", sex="")
    made = copied(kept / "lone", tmp_path / "w.duckdb", {QUARTER: [*crowd(40), lone]})
    with Engine(made) as engine:
        found = engine.release(
            QUARTER, model="k-anonymity", k=4, theta="0.4", seed=1, refine="off", ids="original"
        )
        assert found.manifest["withheld"] == {"pattern_too_small": {"cases": 1, "reports": 1}}
        assert found.manifest["reports"] == {"released": 40, "withheld": 1}
        assert lone.primaryid not in {r for group in by_region(engine).values() for r in group}


@pytest.mark.parametrize(
    ("model", "options", "check"),
    [
        ("k-anonymity", {}, "check_reports"),
        ("xy-anonymity", {}, "check_k"),
        ("alpha-k", {"alpha": "0.4"}, "check_reports"),
        ("l-diversity", {"l": 4}, "check_values"),
    ],
)
def test_a_release_that_breaks_its_promise_changes_nothing(
    mixed: Engine,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    options: dict[str, Any],
    check: str,
) -> None:
    before = content(mixed.con)
    asked = {"model": model, "k": 4, "theta": "0.4", "seed": 1, **options}
    with monkeypatch.context() as spoiled:
        for kind in (Comparator, LDiversity):
            spoiled.setattr(kind, "cluster", a_group_of_one(kind))
        with pytest.raises(CheckFailedError, match=check):
            mixed.release(QUARTER, **asked)
    assert content(mixed.con) == before
    assert mixed.release(QUARTER, **asked).status == "released"


def a_group_of_one(kind: type[Comparator]) -> Any:
    cluster = kind.cluster

    def spoiled(self: Any, grouping: Grouping) -> None:
        cluster(self, grouping)
        grouping.warehouse.run(
            "UPDATE temp.main.srsql_grouped SET group_no = 1000 "
            "WHERE case_no = (SELECT min(g.case_no) FROM temp.main.srsql_grouped AS g)"
        )

    return spoiled


def test_a_region_in_which_a_value_is_too_frequent_is_found(
    mixed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AlphaK, "largest_share", None)
    with pytest.raises(CheckFailedError, match="check_alpha"):
        mixed.release(QUARTER, model="alpha-k", k=4, alpha="1/4", theta="0.4", seed=1)


def test_a_draft_is_judged_again_by_what_it_keeps(doubled: Engine) -> None:
    doubled.release(QUARTER, model="k-anonymity", k=5, theta="0.4", seed=1, draft=True)
    assert doubled.confirm(QUARTER).status == "released"
    assert len(by_region(doubled)) == 12


def test_a_series_of_a_comparator_takes_no_other_model(mixed: Engine) -> None:
    mixed.release(QUARTER, model="k-anonymity", k=4, theta="0.4", seed=1)
    for model in ("ms", "xy-anonymity", "ppms++"):
        with pytest.raises(ReleaseError, match="holds k-anonymity releases"):
            mixed.release(QUARTER, model=model, k=4, theta="0.4", supersede=True)


@pytest.mark.parametrize("model", OF_REPORTS)
def test_a_release_that_counts_reports_is_not_published(
    mixed: Engine, tmp_path: Path, model: str
) -> None:
    mixed.release(QUARTER, model=model, k=4, theta="0.4", seed=1)
    with pytest.raises(PublishError, match=f"by {model}, which counts reports"):
        mixed.publish(QUARTER, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_artifact_of_xy_anonymity_is_verified_for_k_and_not_for_theta(
    mixed: Engine, tmp_path: Path
) -> None:
    mixed.release(QUARTER, model="xy-anonymity", k=4, theta="0.2", seed=1)
    made = mixed.publish(QUARTER, tmp_path / "out")
    assert "k" in made.checks
    assert "theta" not in made.checks
    assert (tmp_path / "out" / "value-thresholds.csv").read_text().count("\n") == 1
    found = verify(tmp_path / "out")
    assert found.passed
    (told,) = [text for text in found.cannot_show if "xy-anonymity" in text]
    assert (
        told
        == f"{QUARTER}: thresholds of values, since its model, xy-anonymity, does not keep them"
    )


def test_a_value_more_frequent_than_alpha_is_told_or_withheld(kept: Path, tmp_path: Path) -> None:
    common = [replace(r, indi=("Common",)) if r.caseid % 2 else r for r in crowd(40)]
    made = copied(kept / "common", tmp_path / "w.duckdb", {QUARTER: common})
    asked: dict[str, Any] = {"model": "alpha-k", "k": 5, "alpha": "0.4", "seed": 1}
    with Engine(made) as engine:
        with pytest.raises(InfeasibleError, match=r"20 of 40 reports \(50.0%\) > alpha 0.4"):
            engine.release(QUARTER, **asked)
        found = engine.release(QUARTER, **asked, on_infeasible="withhold")
        assert sum(each["cases"] for each in found.manifest["withheld"].values()) >= 7
        held = terms_of(engine.con, VIEWS)
        for cases in regions(engine.con, VIEWS).values():
            assert sum("common" in held[c] for c in cases) <= Fraction(2, 5) * len(cases)


def test_a_quarter_without_l_values_has_nothing_to_release(mixed: Engine) -> None:
    with pytest.raises(NothingToReleaseError):
        mixed.release(QUARTER, model="l-diversity", l=41, theta="0.4")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--model", "ms", "--l", "3"], "--l does not apply to the model ms"),
        (["--model", "k-anonymity", "--alpha", "0.4"], "--alpha does not apply"),
        (["--model", "l-diversity", "--l", "1"], "l is 1: a region needs at least 2 values"),
        (["--model", "alpha-k", "--alpha", "0"], "--alpha 0: give a share above 0"),
        (["--model", "alpha-k", "--alpha", "1/3000000000"], "with a denominator up to"),
        (["--model", "alpha-k", "--alpha", "x"], "give a share such as 0.5 or 1/3"),
        (["--model", "k-anonymity", "--k", "1"], "k is 1"),
    ],
)
def test_a_wrong_option_is_one_line(mixed: Engine, options: list[str], text: str) -> None:
    path = mixed.warehouse.path
    mixed.close()
    told = srsql("release", "--quarter", QUARTER, "--db", path, *options)
    assert told.code == 2
    assert text in told.err
    assert told.err.count("\n") == 1


def test_the_command_says_what_was_checked(mixed: Engine) -> None:
    path = mixed.warehouse.path
    mixed.close()
    options = ["--model", "l-diversity", "--l", "3", "--theta", "0.4", "--db", path]
    told = srsql("release", "--quarter", QUARTER, *options)
    assert told.code == 0
    assert "checked on the released rows: 3 values, completeness" in told.out
