"""Several sets of quasi-identifiers over several quarters: whoever knows one set of anybody and has
all releases of the series is left with k cases and every threshold (B, F, L), by an oracle that
reads the published rows and nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import read_csv, rehash, write_csv
from support.sets import NAMES, SETS, Values, write_series, write_sets

from srsql import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.console.audit import audit_lines
from srsql.engine.errors import SrsqlError
from srsql.engine.models.base import History
from srsql.engine.models.bounding import Ppms

pytestmark = pytest.mark.thorough

K, PERIODS = 3, ("2020", "2021", "2022")
OPTIONS: dict[str, Any] = {"k": K, "theta": "1/2", "on_infeasible": "withhold", "seed": 1,
                           "ids": "original", "allow_linkable": True}  # fmt: skip
Sets = dict[str, tuple[str, ...]]
WIDER = {"DE": "Europe", "FR": "Europe", "JP": "Asia", "CN": "Asia", "MD": "health", "PH": "health"}


@dataclass
class Shown:
    """What one release shows of its cases."""

    rows: dict[str, dict[str, Any]]
    held: dict[str, set[str]]


def shown(engine: Engine, period: str) -> Shown:
    rows, held = {}, defaultdict(set)
    name = f"release_{period}"
    columns = [row[0] for row in engine.sql(f"DESCRIBE {name}.visit")]
    for row in engine.sql(f"SELECT * FROM {name}.visit"):
        told = dict(zip(columns, row, strict=True))
        rows[str(told["patient_id"])] = told
    for case, finding in engine.sql(f"SELECT patient_id, finding FROM {name}.finding"):
        held[str(case)].add(finding)
    return Shown(rows, held)


def covers(row: dict[str, Any], name: str, value: str) -> bool:
    """Only what is missing covers a missing value."""
    if name in ("age", "wt"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return low is None or (value != "" and low <= int(value) <= high)
    if value == "":
        return bool(row[name] == "Any")
    wider = None if (name, value) == ("job", "CN") else WIDER.get(value)
    return row[name] in (value, wider, "Any")


def matches(row: dict[str, Any], names: tuple[str, ...], values: Values) -> bool:
    return all(covers(row, name, values[NAMES.index(name)]) for name in names)


def left(
    releases: list[Shown], number: int, names: tuple[str, ...], values: Values
) -> tuple[set[str], set[str]]:
    """Who remains of those whose region covers the values, after B and F, and after L as well for
    a target that is new."""
    match = [
        {case for case, row in one.rows.items() if matches(row, names, values)} for one in releases
    ]
    others = [(n, one) for n, one in enumerate(releases) if n != number]
    remaining = {
        case for case in match[number]
        if all(case in match[n] or case not in one.rows for n, one in others)
    }  # fmt: skip
    new = {case for case in remaining if all(case not in one.rows for one in releases[:number])}
    return remaining, new


def in_danger(one: Shown, cases: set[str]) -> bool:
    holders = Counter(value for case in cases for value in one.held[case])
    return len(cases) < K or any(2 * n > len(cases) for n in holders.values())


def released(
    folder: Path, seed: int, cases: int, sets: Sets = SETS, **options: Any
) -> dict[str, dict[int, Values]]:
    """A warehouse with a release of each period."""
    dataset = write_sets(folder, sets=sets)
    drawn = write_series(folder / "rows", seed, cases, PERIODS)
    with Engine(folder / "w.duckdb") as engine:
        for period in PERIODS:
            engine.ingest([folder / "rows" / period], dataset=str(dataset), period=period)
            engine.release(period, **OPTIONS | options)
    return drawn


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[int, Values]]]:
    folder = tmp_path_factory.mktemp("series")
    return folder, released(folder, 1, 90, model="ppms++")


def assert_withstood(
    engine: Engine, drawn: dict[str, dict[int, Values]], sets: Sets = SETS
) -> None:
    releases = [shown(engine, period) for period in PERIODS]
    assert any(set(one.rows) & set(other.rows) for one, other in pairwise(releases))
    for number, period in enumerate(PERIODS):
        for names in sets.values():
            places = [NAMES.index(name) for name in names]
            known = {tuple(values[p] if p in places else "" for p in range(len(NAMES)))
                     for values in drawn[period].values()}  # fmt: skip
            for values in known:
                if not any(matches(row, names, values) for row in releases[number].rows.values()):
                    continue  # whoever has these values is withheld
                for remaining in left(releases, number, names, values):
                    assert not in_danger(releases[number], remaining), (period, names, values)


def test_whoever_knows_one_set_and_joins_all_releases_is_left_with_k_and_theta(
    series: tuple[Path, dict[str, dict[int, Values]]],
) -> None:
    folder, drawn = series
    with Engine(folder / "w.duckdb", read_only=True) as engine:
        assert_withstood(engine, drawn)
        audited = engine.audit()
        page = engine.report().html
    assert "candidates by the worst set of quasi-identifiers: groups in danger" in page
    assert audited.safe
    assert {row.scope for row in audited.releases} == {"match, clinic", "match, work"}
    assert all(row.attacks == ("b", "f", "l") for row in audited.releases)


APART: Sets = {"clinic": ("age", "sex", "wt"), "work": ("country", "job")}
RING: Sets = {"clinic": ("age", "sex"), "home": ("sex", "wt", "country"),
              "work": ("country", "job", "age")}  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "cases", "sets", "options"),
    [
        (2, 60, SETS, {"model": "ppms"}),
        (3, 150, RING, {"model": "ppms-ear", "refine": "off"}),
        (4, 250, SETS, {"model": "ppms++"}),
        (5, 40, APART, {"model": "ppms++", "leftovers": "merge"}),
        (6, 120, RING, {"model": "ppms", "missing": "drop"}),
        (7, 90, APART, {"model": "ppms-ear"}),
        (8, 130, RING, {"model": "ppms++"}),
    ],
)
def test_so_it_is_of_other_series_and_sets(
    tmp_path: Path, seed: int, cases: int, sets: Sets, options: dict[str, Any]
) -> None:
    drawn = released(tmp_path, seed, cases, sets, **options)
    with Engine(tmp_path / "w.duckdb", read_only=True) as engine:
        assert_withstood(engine, drawn, sets)
        assert engine.audit().safe


def test_deleted_and_forgotten_cases_take_nobody_below_the_bounds(tmp_path: Path) -> None:
    dataset = write_sets(tmp_path)
    drawn = write_series(tmp_path / "rows", 7, 90, PERIODS)
    with Engine(tmp_path / "w.duckdb") as engine:
        for period in PERIODS:
            engine.ingest([tmp_path / "rows" / period], dataset=str(dataset), period=period)
        for period in PERIODS[:2]:
            engine.release(period, **OPTIONS, model="ppms++")
        gone = [str(case) for case in drawn[PERIODS[2]] if case in drawn[PERIODS[1]]][:5]
        engine.forget(gone, reason="asked for it")
        engine.release(PERIODS[2], **OPTIONS, model="ppms++")
        assert not set(gone) & set(shown(engine, PERIODS[2]).rows)
        assert_withstood(engine, drawn)
        assert engine.audit().safe


@pytest.mark.parametrize("seed", [1, 8, 9])
def test_an_audit_finds_what_the_oracle_finds_where_nothing_is_withstood(
    tmp_path: Path, seed: int
) -> None:
    drawn = released(tmp_path, seed, 60, model="ms")
    with Engine(tmp_path / "w.duckdb", read_only=True) as engine:
        releases = [shown(engine, period) for period in PERIODS]
        audited = {(row.quarter, row.scope): row for row in engine.audit(evidence=0).releases}
        groups = dict(engine.sql(
            "SELECT (r.quarter, m.case_id), m.group_id FROM srsql.member AS m "
            "INNER JOIN srsql.release AS r USING (release_id)"
        ))  # fmt: skip
        told = {(row.measure, row.scope) for row in engine.metrics(PERIODS[1])}
    assert {("dir", f"match, {name}: b,f,l,ss") for name in SETS} <= told
    found = 0
    for number, period in enumerate(PERIODS):
        for name, names in SETS.items():
            dangerous = set()
            for case in releases[number].rows:
                new = all(case not in one.rows for one in releases[:number])
                remaining = left(releases, number, names, drawn[period][int(case)])[new]
                if len(remaining) < K:
                    dangerous.add(groups[period, case])
            assert audited[period, f"match, {name}"].dig == len(dangerous)
            found += len(dangerous)
    assert found


def test_a_maker_that_covers_no_earlier_region_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit of the release sees what the maker does not."""
    monkeypatch.setattr(Ppms, "history", History(carriers="new"))
    with pytest.raises(SrsqlError, match=r"failed its own audit: .* at scope=match, (clinic|work)"):
        released(tmp_path, 1, 60, model="ppms")


def test_artifacts_of_several_quarters_are_verified_by_set(
    series: tuple[Path, dict[str, dict[int, Values]]], tmp_path: Path
) -> None:
    folder, _ = series
    folders = [tmp_path / period for period in PERIODS]
    with Engine(folder / "w.duckdb") as engine:
        for period, to in zip(PERIODS, folders, strict=True):
            engine.publish(period, to, format="csv")
    found = verify(folders)
    assert found.passed, [check.faults for check in found.checks if check.faults]
    totals = {check.name: check.total for check in found.checks}
    assert all(totals[name] for name in ("new k", "new theta", "cover"))
    # a forger has an earlier release show who is new in a region of one set
    earlier, later = read_csv(folders[1], "visit"), read_csv(folders[2], "visit")
    old = {row["patient_id"] for one in folders[:2] for row in read_csv(one, "visit")}
    region = ("country", "job", "age_low", "age_high")
    fresh = [row for row in later if row["patient_id"] not in old]
    added = [
        earlier[0] | {"visit_id": str(10**9 + n), "patient_id": row["patient_id"]}
        for n, row in enumerate(fresh)
        if [row[name] for name in region] == [fresh[0][name] for name in region]
    ]
    write_csv(folders[1], "visit", [*earlier, *added])
    rehash(folders[1], counts=True)
    faults = {check.name: check.faults for check in verify(folders).checks}
    assert any(text.startswith("set work: 2022 region") for text in faults["new k"])


def test_a_range_and_a_draft_are_audited_by_set(tmp_path: Path) -> None:
    dataset = write_sets(tmp_path)
    drawn = write_series(tmp_path / "rows", 11, 70, PERIODS)
    with Engine(tmp_path / "w.duckdb") as engine:
        for period in PERIODS:
            engine.ingest([tmp_path / "rows" / period], dataset=str(dataset), period=period)
        made = engine.release_range(f"{PERIODS[0]}:{PERIODS[1]}", **OPTIONS, model="ppms++")
        assert made.audit is not None
        assert made.audit.safe
        engine.release(PERIODS[2], **OPTIONS, model="ppms++", draft=True)
        engine.confirm(PERIODS[2])
        assert_withstood(engine, drawn)
        found = engine.audit()
        assert found.safe
        assert {row.scope.partition(",")[0] for row in found.releases} == {"match"}
        assert "scope=group is not judged" in str(found.left_out)
        assert any("scope=group is not judged" in line for line in audit_lines(found, "in full"))
        assert engine.audit(scopes=["match"]).left_out is None
