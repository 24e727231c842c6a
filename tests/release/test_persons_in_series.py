"""``--count persons`` over a series: attacks, corrections, promises, late links, erasure, lakes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from oracles.persons import clusters, persons
from support.command import srsql
from support.lanes import thorough_but
from support.persons import suspect
from support.quarters import Report, crowd, write_quarter
from support.released import regions, terms_of

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError
from srsql.engine.release.stages import cases as module

K, THETA = 3, Fraction(1, 2)
PERSONS: dict[str, Any] = {
    "k": K, "theta": "1/2", "seed": 1, "on_infeasible": "withhold", "count": "persons",
    "ids": "original",
}  # fmt: skip
QUARTERS = ("2011Q1", "2011Q2", "2011Q3")
Box = tuple[tuple[int, int] | None, tuple[int, int] | None, str | None]
"""Age, weight and sex of a person; None: unknown."""


def reported(luck: random.Random, case: int, version: int, known: tuple[str, ...]) -> Report:
    """A report that lacks some of what is known of its person."""
    age, sex, wt, *terms = known
    return Report(
        primaryid=100 * case + version,
        caseid=case,
        age=age if luck.random() > 0.25 else "",
        sex=sex if luck.random() > 0.1 else "",
        wt=wt if luck.random() > 0.4 else "",
        pt=(luck.choice(terms),),
        indi=(luck.choice(terms),),
        drugs=("A",),
    )


def history(seed: int) -> tuple[dict[str, list[Report]], list[tuple[str, str, float]]]:
    """Three quarters of the same cases, many of which are suspected duplicates; some wrongly."""
    luck = random.Random(seed)
    cases = range(1, 101)
    known = {
        case: (
            str(luck.randrange(20, 40)), luck.choice("MF"), str(luck.randrange(50, 70)),
            *(f"Term {luck.randrange(40)}" for _ in range(3)),
        )
        for case in cases
    }  # fmt: skip
    pairs = []
    for _ in range(26):
        one, other = luck.sample(cases, 2)
        if luck.random() < 0.8:
            known[other] = known[one]
        pairs.append((str(one), str(other), luck.choice([0.6, 0.92, 0.999])))
    quarters = {
        quarter: [
            reported(luck, case, version, known[case]) for case in sorted(luck.sample(cases, 55))
        ]
        for version, quarter in enumerate(QUARTERS)
    }
    return quarters, pairs


def box_of(reports: Sequence[Report]) -> Box:
    """What is known of whoever the reports are of."""
    ages, weights = (sorted(int(v) for v in values if v) for values in (
        [r.age for r in reports], [r.wt for r in reports],
    ))  # fmt: skip
    sexes = {r.sex for r in reports if r.sex}
    return (
        (ages[0], ages[-1]) if ages else None,
        (weights[0], weights[-1]) if weights else None,
        (sexes.pop() if len(sexes) == 1 else "Any") if sexes else None,
    )


def covers(region: tuple[Any, ...], box: Box) -> bool:
    """A missing value covers everything, and only it covers a missing one."""
    for low, high, known in ((*region[:2], box[0]), (*region[2:4], box[1])):
        if low is not None and (known is None or not low <= known[0] <= known[1] <= high):
            return False
    return region[4] in ("Any", None) or region[4] == box[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "model"),
    thorough_but([(2, "ppms-ear")], product([2, 5], ["ppms", "ppms-ear", "ppms++"])),
)
def test_whoever_joins_the_series_is_left_with_k_persons(
    tmp_path: Path, model: str, seed: int
) -> None:
    """B, F and L of Huang's definitions, of persons in the place of cases, for every target."""
    quarters, pairs = history(seed)
    one = clusters(pairs, 0.9)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, name, quarters[name]) for name in QUARTERS])
        suspect(engine, pairs)
        made = [engine.release(name, **PERSONS, model=model) for name in QUARTERS]
        out = [regions(engine.con, each.schema) for each in made]
        terms = [terms_of(engine.con, each.schema) for each in made]
        assert engine.audit().safe
    places = [
        {str(case): region for region, cases in each.items() for case in cases} for each in out
    ]

    def ruled_out(at: Sequence[Mapping[str, tuple[Any, ...]]], box: Box) -> set[str]:
        return {
            one.get(case, case)
            for place in at
            for case, region in place.items()
            if not covers(region, box)
        }

    targets = 0
    for at, name in enumerate(QUARTERS):
        known = {one.get(case, case) for place in places[:at] for case in place}
        for cases in out[at].values():
            here = {str(case) for case in cases}
            for person in persons(here, one):
                of = [r for r in quarters[name] if one.get(str(r.caseid), str(r.caseid)) == person]
                gone = ruled_out(places[:at], box_of(of)) | ruled_out(places[at + 1 :], box_of(of))
                if person not in known:
                    gone |= known
                left = persons(here, one) - gone
                assert len(left) >= K, (name, person)
                held: dict[str, set[str]] = {}
                for case in cases:
                    for term in terms[at][case]:
                        held.setdefault(term, set()).add(one.get(str(case), str(case)))
                assert all(len(who & left) <= THETA * len(left) for who in held.values())
                targets += 1
    assert targets > 100


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    with Engine(tmp_path / "w.duckdb") as opened:
        opened.ingest([write_quarter(tmp_path, "2011Q1", crowd(90, terms=12))])
        yield opened


def duplicates_within(engine: Engine) -> list[tuple[str, str, float]]:
    """Two look-alikes of every group that cases alone would make."""
    plain = PERSONS | {"count": "cases"}
    made = engine.release("2011Q1", **plain, series="look", draft=True)
    return [
        (*sorted(map(str, cases))[:2], 0.95)  # type: ignore[misc]
        for cases in regions(engine.con, made.schema).values()
    ]


def reasons(engine: Engine, release_id: int) -> dict[str, str]:
    rows = engine.sql(
        "SELECT case_id, reason FROM srsql.withheld WHERE release_id = ?", [release_id]
    )
    return dict(rows)


@pytest.mark.thorough
def test_a_correction_still_counts_persons(engine: Engine, tmp_path: Path) -> None:
    pairs = duplicates_within(engine)
    suspect(engine, pairs)
    first = engine.release("2011Q1", **PERSONS)
    gone = next(case for cases in regions(engine.con, first.schema).values() for case in cases)
    engine.forget([str(gone)], reason="asked for it")
    with pytest.raises(ReleaseError, match="2011Q1 counts persons: leave it out"):
        engine.correct("2011Q1", keep_remainder=True)
    suspect(engine, [*pairs, ("80", "81", 0.95)])  # of later, which changes nothing
    made = engine.correct("2011Q1")
    count = "SELECT count(*) FROM srsql.counted_person WHERE release_id = ?"
    assert engine.sql(count, [made.release_id]) == engine.sql(count, [first.release_id])
    checks = {row.measure for row in engine.metrics("2011Q1")}
    assert "least_persons" in checks
    ((counted, least),) = engine.sql(
        f"SELECT counted, k_by_persons_90_percent FROM {made.schema}.manifest"
    )
    assert (counted, least) == ("persons", K)
    other = next(case for cases in regions(engine.con, made.schema).values() for case in cases)
    engine.forget([str(other)], reason="asked for it")
    with pytest.raises(ReleaseError, match="2011Q1 counts persons: leave it out"):
        engine.correct("2011Q1", keep_remainder=True)


@pytest.mark.thorough
def test_a_correction_that_nobody_searched_tells_no_figure_of_before(
    engine: Engine, tmp_path: Path
) -> None:
    suspect(engine, [("1", "2", 0.95)])
    made = engine.release("2011Q1", k=K, theta="1", seed=1, ids="original")
    assert "k_by_persons_90_percent" in made.manifest
    left = write_quarter(tmp_path / "again", "2011Q1", crowd(89, terms=12))
    engine.ingest([left], replace=True)
    corrected = engine.correct("2011Q1")
    names = {
        name
        for (name,) in engine.sql(f"SELECT column_name FROM (DESCRIBE {corrected.schema}.manifest)")
    }
    assert not [name for name in names if "persons" in name]
    ((manifest,),) = engine.sql(
        "SELECT private_manifest FROM srsql.release WHERE release_id = ?", [corrected.release_id]
    )
    assert '"persons_not_searched": ["2011Q1"]' in manifest
    assert '"persons":' not in manifest


@pytest.mark.thorough
def test_a_person_of_whom_a_case_was_promised_absent_stays_out(tmp_path: Path) -> None:
    """The case that stands for the person is another one."""
    with Engine(tmp_path / "w.duckdb") as engine:
        first, second = crowd(40), crowd(40, first=61, version=2)
        engine.ingest([
            write_quarter(tmp_path, "2011Q1", first), write_quarter(tmp_path, "2011Q2", second),
        ])  # fmt: skip
        engine.release("2011Q1", model="ppms-alpha", k=K, theta="1/2", seed=1, ids="original")
        late = [*crowd(1, first=7, version=2), *second, *crowd(1, first=610, version=2)]
        engine.ingest([write_quarter(tmp_path / "late", "2011Q2", late)], replace=True)
        suspect(engine, [("610", "7", 0.95)])
        made = engine.release(
            "2011Q2", **PERSONS, model="ppms++", change=True, weaker=True
        )  # fmt: skip
        assert reasons(engine, made.release_id) == {
            "7": "promised_absent", "610": "promised_absent",
        }  # fmt: skip


@pytest.mark.thorough
def test_a_late_duplicate_is_in_no_quarter_before_the_one_in_which_it_was_new(
    tmp_path: Path,
) -> None:
    """The second quarter is released after the third, in which case 200 counted as new; by then it
    is known to be a duplicate of an old case."""
    quarters = [
        crowd(60), [*crowd(60, first=61), *crowd(1, first=200, version=2)],
        [*crowd(60, first=121), *crowd(1, first=200, version=3)],
    ]  # fmt: skip
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([
            write_quarter(tmp_path, name, reports)
            for name, reports in zip(QUARTERS, quarters, strict=True)
        ])  # fmt: skip
        for name in ("2011Q1", "2011Q3"):
            engine.release(name, **PERSONS | {"count": "cases"})
        suspect(engine, [("10", "200", 0.95)])
        made = engine.release("2011Q2", **PERSONS, supersede=True, change=True)
        assert reasons(engine, made.release_id) == {"200": "released_later"}
        assert engine.audit().safe


@pytest.mark.thorough
def test_a_series_that_suppressed_values_counts_no_persons(tmp_path: Path) -> None:
    cases = crowd(30, terms=12)
    frequent = [
        Report(**{**vars(r), "pt": ("Rash", *r.pt)}) if r.caseid <= 22 else r for r in cases
    ]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([
            write_quarter(tmp_path, "2011Q1", frequent),
            write_quarter(tmp_path, "2011Q2", crowd(30, first=31, terms=12)),
        ])  # fmt: skip
        suppressing = PERSONS | {"on_infeasible": "suppress", "count": "cases"}
        assert engine.release("2011Q1", **suppressing).manifest["suppressed"]
        suspect(engine, [])
        with pytest.raises(ReleaseError, match=r"suppressed some of cases: leave it out, or start"):
            engine.release("2011Q2", **PERSONS, change=True, weaker=True)


@pytest.mark.slow
def test_whoever_tells_suspects_apart_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transitive cluster of which the maker forgets one case."""
    suspect(engine, [("1", "2", 0.95), ("2", "3", 0.95)])
    load = module.load_cases

    def forgetful(release: Any, *arguments: Any) -> int:
        found = load(release, *arguments)
        release.warehouse.run("DELETE FROM srsql.counted_person WHERE case_id = '2'")
        return found

    monkeypatch.setattr(module, "load_cases", forgetful)
    with pytest.raises(CheckFailedError, match="check_persons: 2 of 2"):
        engine.release("2011Q1", **PERSONS)


@pytest.mark.slow
def test_who_may_be_the_same_person_as_a_forgotten_case_is_told(
    engine: Engine, tmp_path: Path
) -> None:
    suspect(engine, [("1", "2", 0.95), ("2", "3", 0.99), ("7", "8", 0.9)])
    made = engine.forget(["2"], reason="asked for it", dry_run=True)
    assert made.duplicates == ["3", "1"]
    assert engine.forget(["1", "2"], reason="asked for it", dry_run=True).duplicates == ["3"]
    engine.close()
    receipt = tmp_path / "receipt.json"
    told = srsql(
        "forget", "--db", tmp_path / "w.duckdb", 2, "--reason", "asked", "--receipt", receipt
    )
    assert "may be the same person, and stay: 3, 1: forget them as well, if they are" in told.out
    assert '"duplicates": 2' in receipt.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_persons_of_a_lake_are_those_of_a_file_and_nobody_carries_them(tmp_path: Path) -> None:
    source = write_quarter(tmp_path, "2011Q1", crowd(60, terms=12))
    shown = []
    for name, asked in (("plain", {}), ("lake", {"lake": tmp_path / "lake"})):
        with Engine(tmp_path / f"{name}.duckdb") as engine:
            engine.ingest([source], **asked)
            suspect(engine, [("1", "31", 0.95), ("31", "2", 0.95)])
            made = engine.release("2011Q1", **PERSONS)
            shown.append(regions(engine.con, made.schema))
            if asked:
                with pytest.raises(ReleaseError, match="nothing would be spread"):
                    engine.release("2011Q1", **PERSONS, series="x", spark="local[1]")
    assert shown[0] == shown[1]
