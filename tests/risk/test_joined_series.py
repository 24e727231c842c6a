"""All series as one attacker has them, against every case of small series in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from oracles.linkability import Ends, Row, common, covers, links
from support.quarters import Report, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.catalog.releases import as_released, perturbed_positions
from srsql.engine.errors import AuditError
from srsql.engine.risk.joined_series import target_boxes
from srsql.engine.risk.linkability import case_rows

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {
    "model": "ms",
    "k": 3,
    "theta": "1",
    "allow_linkable": True,
    "refine": "off",
}
"""Refined releases of the same cases often have the same groups, so that joining tells nothing."""
SEX = {"M": (1, 1), "F": (2, 2)}


def reports(seed: int, count: int) -> list[Report]:
    """One report a case, some QIDs missing, terms that some cases share."""
    draw = random.Random(seed)
    return [
        Report(
            primaryid=10 * case,
            caseid=case,
            age=str(draw.randint(20, 60)) if draw.random() < 0.9 else "",
            sex=draw.choice(["M", "F"]),
            wt=str(draw.randint(50, 90)) if draw.random() < 0.9 else "",
            pt=(f"Reaction {draw.randint(1, 25)}",),
            drugs=(f"Drug {draw.randint(1, 3)}",),
        )
        for case in range(1, count + 1)
    ]


def target(report: Report) -> tuple[Ends, ...]:
    numbers = [(float(text), float(text)) if text else None for text in (report.age, report.wt)]
    return (*numbers, SEX.get(report.sex))


def shown(engine: Engine, schema: str) -> dict[int, Row]:
    """Case -> its row, from the views alone."""
    items: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for table, name in (("drug", "drugname"), ("reac", "pt")):
        for row in rows(engine.con, f'FROM "{schema}"."{table}"'):
            items[row["caseid"]].add((name, row[name]))
    return {
        row["caseid"]: Row(
            frozenset(items[row["caseid"]]),
            (
                None if row["age_low"] is None else (row["age_low"], row["age_high"]),
                None if row["wt_low"] is None else (row["wt_low"], row["wt_high"]),
                SEX.get(row["sex"]),
            ),
        )
        for row in rows(engine.con, f'FROM "{schema}".demo')
    }


def few(base: dict[int, Row], joined: list[dict[int, tuple[Ends, ...]]],
        who: list[tuple[Report, tuple[Ends, ...]]], k: int) -> dict[str, int]:  # fmt: skip
    """By scope, the cases with fewer than k candidates.

    ``joined``: regions that rows of the base link to; ``who``: cases and the regions they show.
    """
    regions = [
        (row.region, common([row.region, *(found[case] for found in joined if case in found)]))
        for case, row in base.items()
    ]
    found = {"group": 0, "match": 0}
    for report, own in who:
        covering = [shows for shows, region in regions if covers(region, target(report))]
        found["match"] += len(covering) < k
        found["group"] += covering.count(own) < k
    return found


def regions_of(
    engine: Engine, release_id: int, who: list[Report]
) -> list[tuple[Report, tuple[Ends, ...]]]:
    """The released cases with the region of their group, by the catalog."""
    found: dict[int, dict[int, Ends]] = defaultdict(dict)
    for case, position, low, high in engine.sql(
        "SELECT m.case_id::BIGINT, g.position, g.low, g.high FROM srsql.member AS m "
        "JOIN srsql.region AS g ON m.release_id = g.release_id AND m.group_id = g.group_id "
        "WHERE m.release_id = ?",
        [release_id],
    ):
        missing = low is None or (position == 2 and low < high)  # both sexes: the root
        found[case][position] = None if missing else (low, high)
    return [
        (report, tuple(found[report.caseid][position] for position in range(3)))
        for report in who
        if report.caseid in found
    ]


def matched(first: dict[int, Row], second: dict[int, Row]) -> dict[int, tuple[Ends, ...]]:
    return {n: second[other].region for n, other in links(first, second).items()}


@pytest.mark.parametrize("seed", range(3))
def test_cases_left_with_few_candidates_are_those_of_the_definition(
    tmp_path: Path, seed: int
) -> None:
    who = reports(seed, 45)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", who)], allow_incomplete=True)
        own: dict[str, list[tuple[Report, tuple[Ends, ...]]]] = {}
        views = {}
        for n, series in enumerate(("a", "b", "c")):
            engine.release("2011Q3", **OPTIONS, seed=n, series=series)
            views[series] = shown(engine, f"release_{series}_2011q3")
            own[series] = regions_of(engine, n + 1, who)
        found = engine.audit(all_series=True)
        assert engine.audit(all_series=True, quarter="2011Q3", k=1).releases[0].k == 1
    assert [(row.series, row.scope) for row in found.releases] == [
        (series, scope) for series in "abc" for scope in ("group", "match")
    ]
    for row in found.releases:
        base = views[row.series]
        joined = [matched(base, views[other]) for other in views if other != row.series]
        assert row.cases == len(own[row.series]) == len(base)
        assert row.linked == len(set().union(*(each.keys() for each in joined)))
        assert row.few == few(base, joined, own[row.series], 3)[row.scope]
        assert row.few_alone == few(base, [], own[row.series], 3)[row.scope] == 0
        assert row.few or row.scope == "match"
        assert row.joined == tuple(f"series {other}" for other in views if other != row.series)
    assert found.safe == (not any(row.few for row in found.releases))


def test_versions_of_one_series_are_joined_by_their_ids(tmp_path: Path) -> None:
    who = [Report(n, n, age=str(20 + n), sex="M", wt="60", pt=("Rash",)) for n in range(1, 25)]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", who)], allow_incomplete=True)
        engine.release("2011Q3", **OPTIONS, seed=1, ids="original")
        first = shown(engine, "release_2011q3")
        engine.release("2011Q3", **OPTIONS, seed=2, supersede=True)
        second = shown(engine, "release_2011q3")
        found = engine.audit(all_series=True)
    regions = [{n: row.region for n, row in version.items()} for version in (first, second)]
    expected = [
        (status, 24, few(base, [other], [(r, base[r.caseid].region) for r in who], 3)[scope])
        for status, base, other in (
            ("superseded", first, regions[1]),
            ("released", second, regions[0]),
        )
        for scope in ("group", "match")
    ]
    assert [(row.status, row.linked, row.few) for row in found.releases] == expected
    assert found.releases[2].joined == ("series main (release 1, superseded)",)
    assert found.releases[2].few
    assert not found.safe


def test_a_quarter_of_one_release_has_nothing_to_join(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", reports(1, 30))], allow_incomplete=True)
        with pytest.raises(AuditError, match="no release of faers is out"):
            engine.audit(all_series=True)
        engine.release("2011Q3", **OPTIONS, seed=1)
        engine.release(
            "2011Q3", model="disassociation", term_attributes="pt", series="terms", seed=1
        )
        found = engine.audit(all_series=True)
        assert (found.safe, found.releases, found.left_out) == (True, [], ("terms",))
        for wrong in ({"attacks": ["b"]}, {"theta": "0.5"}, {"series": "terms"}):
            with pytest.raises(AuditError, match="--all-series takes"):
                engine.audit(all_series=True, **wrong)


@pytest.mark.parametrize("model", ["ms", "msdp-num", "ppms-dp-all"])
def test_regions_of_the_catalog_are_coded_like_those_that_rows_show(
    tmp_path: Path, model: str
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", reports(5, 60))], allow_incomplete=True)
        engine.release("2011Q3", model=model, k=4, theta="1", seed=1)
        warehouse, dataset = engine.warehouse, engine.dataset()
        drawn = perturbed_positions(warehouse, 1)
        published = case_rows(dataset, 1, "release_1_demo", drawn)
        catalog = target_boxes(as_released(warehouse, dataset, 1), 1)
        shown_boxes = [row[3] for row in engine.sql(published.sql(dialect="duckdb"))]
        own_boxes = [row[0] for row in engine.sql(catalog.sql(dialect="duckdb"))]
    assert sorted(own_boxes) == sorted(shown_boxes)
    assert len({tuple(each) for each in own_boxes}) > (model != "ppms-dp-all")
