"""The audit of a series: how it grows, and against the definitions as one quadratic SQL query."""

from __future__ import annotations

import resource
from decimal import Decimal
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from srsql.engine.audit.audit import Audit, audit
from srsql.engine.audit.plan import AuditOptions
from srsql.engine.store.warehouse import Warehouse

K, TERMS, PER_CASE, SEED = 5, 15_000, 5, 2021
RELEASES = 8
SIZES = (40_000, 150_000)
SMALL_SIZES = (5_000, 20_000)
COMPARED, SMALL_COMPARED = 6_000, 1_500
ATTACKS = ("b", "f", "l")
DATASET: Any = SimpleNamespace(
    name="bench",
    qid=[
        SimpleNamespace(name=name, kind=kind, granularity=Decimal(1))
        for name, kind in (("age", "numeric"), ("wt", "numeric"), ("sex", "categorical"))
    ],
    qid_set=(),
    sets_text="",
    hierarchies={"sex": SimpleNamespace(labels=["Any", "M", "F"])},
    keyed=lambda version: DATASET,
)
AXES = ("age", "wt", "sex")
MISSING = -1


def people(rng: np.random.Generator, n: int, first: int) -> pd.DataFrame:
    """Cases as adverse-event reports have them: rounded values, a third without a weight."""
    age = np.where(rng.random(n) < 0.06, rng.uniform(0, 18, n), rng.normal(56, 17, n))
    weight = np.where(age < 18, 4 + 3.3 * age + rng.normal(0, 4, n), rng.lognormal(4.3, 0.24, n))
    rounded = np.where(rng.random(n) < 0.3, 5, 1)
    return pd.DataFrame(
        {
            "case_id": np.arange(first, first + n).astype(str),
            "age": np.where(rng.random(n) < 0.1, MISSING, np.clip(age, 0, 120).astype(int)),
            "wt": np.where(
                rng.random(n) < 0.35,
                MISSING,
                np.clip(np.round(weight / rounded) * rounded, 1, 400).astype(int),
            ),
            "sex": np.where(rng.random(n) < 0.05, MISSING, rng.integers(1, 3, n)),
            "is_new": True,
        }
    )


def synthesize(con: duckdb.DuckDBPyConnection, cases: int, *, bounded: bool) -> None:
    """A series in the catalog: 30 % of each quarter are old cases.

    ``bounded``: groups of K new cases, to which old ones are added with all their earlier regions
    covered; else groups of K cases, whatever was released before.
    """
    rng = np.random.default_rng(SEED)
    con.execute(
        "INSERT INTO srsql.node VALUES ('bench', 'sex', 'Any', NULL, 0, 2, 0, 1, 2, NULL, NULL), "
        "('bench', 'sex', 'M', 'Any', 1, 1, 1, 0, 1, NULL, NULL), "
        "('bench', 'sex', 'F', 'Any', 2, 2, 1, 0, 1, NULL, NULL)"
    )
    known = people(rng, 0, 0)
    regions: dict[str, tuple[int, ...]] = {}
    for release in range(RELEASES):
        old = known.sample(min(len(known), int(0.3 * cases)), random_state=release)
        old = old.assign(is_new=False)
        fresh = people(rng, cases - len(old), len(known))
        known = pd.concat([known, fresh])
        quarter = pd.concat([fresh, old], ignore_index=True)
        store(con, release, grouped(quarter, regions, bounded=bounded), rng)


def grouped(
    quarter: pd.DataFrame, regions: dict[str, tuple[int, ...]], *, bounded: bool
) -> pd.DataFrame:
    """The quarter with group_id and the ends of its region; neighbours share a group."""
    pattern = sum((quarter[name] != MISSING).astype(int) * 2**n for n, name in enumerate(AXES))
    if bounded:  # an old case goes where its earlier pattern is
        was = np.array([regions[c][6] if c in regions else 7 for c in quarter["case_id"]])
        pattern = pattern & was.astype(int)
    quarter = quarter.assign(pattern=pattern).sort_values(
        ["pattern", "sex", "age", "wt", "case_id"], key=_coarse, kind="stable"
    )
    carriers = quarter["is_new"] if bounded else pd.Series(True, index=quarter.index)
    place = carriers.groupby(quarter["pattern"]).cumsum() - 1
    most = carriers.groupby(quarter["pattern"]).transform("sum")
    number = np.clip(place, 0, None) // K
    number = np.minimum(number, np.maximum(most // K - 1, 0))
    quarter["group_id"] = quarter["pattern"] * 1_000_000 + number
    for n, name in enumerate(AXES):
        values = quarter[name].where(quarter["pattern"] // 2**n % 2 == 1)
        low, high = values, values
        if bounded:
            before = pd.DataFrame(
                [regions.get(c, (np.nan,) * 7)[2 * n : 2 * n + 2] for c in quarter["case_id"]],
                index=quarter.index,
                columns=["low", "high"],
            )
            low = np.fmin(low, before["low"].where(values.notna()))
            high = np.fmax(high, before["high"].where(values.notna()))
        quarter[name + "_low"] = low.groupby(quarter["group_id"]).transform("min")
        quarter[name + "_high"] = high.groupby(quarter["group_id"]).transform("max")
    columns = [quarter[f"{name}_{end}"] for name in AXES for end in ("low", "high")]
    for row in zip(quarter["case_id"], *columns, quarter["pattern"], strict=True):
        regions[row[0]] = row[1:]
    return quarter.reset_index(drop=True)


def text(file: str) -> str:
    """A `.sql` file of this folder."""
    return Path(__file__).with_name(file).read_text(encoding="utf-8")


def _coarse(values: pd.Series) -> pd.Series:
    return values // 5 if values.name == "age" else values


def store(
    con: duckdb.DuckDBPyConnection, release: int, quarter: pd.DataFrame, rng: np.random.Generator
) -> None:
    """One release in the catalog, its terms thinned out until no group breaks a threshold."""
    con.register("bench_case", quarter.assign(case_no=quarter.index))
    case = np.repeat(quarter.index.to_numpy(), PER_CASE)
    term = np.minimum(rng.zipf(1.3, len(case)) - 1, TERMS - 1)
    con.register("bench_term", pd.DataFrame({"case_no": case, "term_no": term}).drop_duplicates())
    for statement in duckdb.extract_statements(text("audit_series.sql")):
        con.execute(statement, {"id": release})
    con.unregister("bench_case")
    con.unregister("bench_term")


def warehouse(folder: str, cases: int, *, bounded: bool) -> Warehouse:
    opened = Warehouse(Path(folder) / f"{cases}_{bounded}.duckdb")
    synthesize(opened.con, cases, bounded=bounded)
    return opened


def timed(opened: Warehouse, **options: Any) -> tuple[float, Audit]:
    start = perf_counter()
    found = audit(opened, DATASET, "main", AuditOptions(attacks=ATTACKS, evidence=10, **options))
    return perf_counter() - start, found


def by_definition(opened: Warehouse, release: int) -> tuple[float, set[int]]:
    """Groups in danger of one release at scope=match, and the seconds it takes."""
    start = perf_counter()
    groups = {row[0] for row in opened.rows(text("audit_definitions.sql"), {"id": release})}
    return perf_counter() - start, groups


def compare(folder: str, cases: int) -> None:
    """One release of the series by the definitions and by the audit; the groups must agree."""
    release = RELEASES // 2
    with warehouse(folder, cases, bounded=False) as opened:
        slow, groups = by_definition(opened, release)
        start = perf_counter()
        options = AuditOptions(attacks=ATTACKS, quarter=f"{2000 + release}")
        found = audit(opened, DATASET, "main", options)
        fast = perf_counter() - start
    told = {e.group_id for e in found.evidence if e.scope == "match" and e.dig}
    same = "the same groups" if told == groups else "DIFFERENT GROUPS"
    print(
        f"one of {RELEASES} releases of {cases:,} cases: by definition {slow:.1f} s, audit "
        f"{fast:.1f} s, ratio {slow / fast:.1f}; {same} ({len(groups)})"
    )
    if told != groups:
        raise SystemExit(1)


def main(small: bool) -> None:
    with TemporaryDirectory() as folder:
        compare(folder, SMALL_COMPARED if small else COMPARED)
        grow(folder, SMALL_SIZES if small else SIZES)


def grow(folder: str, sizes: tuple[int, ...]) -> None:
    """Seconds and memory of the whole series at several sizes."""
    print(
        "groups    cases/quarter  seconds  group only  dangerous group  match  exponent  peak MiB"
    )
    for bounded in (True, False):
        before = None
        for cases in sizes:
            with warehouse(folder, cases, bounded=bounded) as opened:
                group, _ = timed(opened, scopes=("group",))
                both, found = timed(opened)
            danger = {
                scope: sum(max(r.dig, r.dsg) for r in found.releases if r.scope == scope)
                / sum(r.groups for r in found.releases if r.scope == scope)
                for scope in ("group", "match")
            }
            grown = "" if before is None else f"{log(both / before[1], cases / before[0]):.2f}"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{'bounded' if bounded else 'single':9} {cases:13,}  {both:7.1f}  {group:10.1f}"
                f"  {danger['group']:15.4f}  {danger['match']:.4f}  {grown:>8}  {peak:8.0f}"
            )
            before = cases, both
