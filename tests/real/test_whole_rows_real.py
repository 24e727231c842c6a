"""Whole rows of real quarters and years that are taken apart: brute force finds nobody below k."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from oracles.whole_rows import Clusters, Known, Row, fewest_candidates
from support.real_data import CHECKOUT, needs
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify.verify import verify
from srsql.engine.warehouse.layout import COLUMNS

Real = Callable[[str, Path], Path]
Targets = Mapping[Hashable, tuple[tuple[Known, ...], frozenset[str]]]
SAMPLE = 500
"""Targets of which every set of three items is looked at."""


@dataclass(frozen=True)
class Source:
    """One dataset, as its raw tables have it."""

    name: str
    report: str
    case: str
    numbers: tuple[str, ...]
    nodes: Mapping[str, str]
    """Categorical quasi-identifier -> file of its hierarchy."""
    terms: Mapping[str, tuple[str, str]]
    """Attribute -> its table, and its normal form there."""

    @property
    def qids(self) -> tuple[str, ...]:
        return (*self.numbers, *self.nodes)


FAERS = Source(
    "faers", "primaryid", "caseid", ("age", "wt"), {"sex": "sex.csv"},
    {"drugname": ("drug", "srsql_drugname"), "pt": ("reac", "srsql_pt"),
     "indi_pt": ("indi", "srsql_indi_pt"), "outc_cod": ("outc", "upper(trim(outc_cod))")},
)  # fmt: skip
VAERS = Source(
    "vaers", "vaers_id", "vaers_id", ("age",), {"sex": "sex.csv", "state": "us_states.csv"},
    {"vax_name": ("vax", "srsql_vax_name"), "symptom": ("symptoms", "srsql_symptom")},
)  # fmt: skip
QUARTER = needs("faers/faers_ascii_2022Q4.zip")
YEARS = needs("vaers")
ALL = [
    *(pytest.param(FAERS, "2022Q4", k, marks=QUARTER, id=f"2022Q4-{k}") for k in (3, 5, 10)),
    *(
        pytest.param(VAERS, year, k, marks=YEARS, id=f"vaers{year}-{k}")
        for year in ("2004", "2005", "2006")
        for k in (3, 5, 10)
    ),
]


@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_brute_force_over_every_target_and_two_of_its_items_leaves_k_candidates(
    source: Source, period: str, k: int, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, targets = released(engine, source, period, k, 2)
        assert len(targets) > 1000
        fewest, lost = fewest_candidates(shown, clusters, targets, 2)
        assert fewest >= k
        assert lost == []
        engine.publish(period, to=tmp_path / "out")
    assert verify(tmp_path / "out").passed


@pytest.mark.parametrize(("source", "period", "k"), ALL)
def test_every_set_of_three_items_of_a_sample_of_targets_leaves_k_candidates(
    source: Source, period: str, k: int, tmp_path: Path, real: Real
) -> None:
    with Engine(opened(source, tmp_path, real), dataset=source.name) as engine:
        shown, clusters, targets = released(engine, source, period, k, 3)
    drawn = random.Random(k).sample(sorted(targets, key=str), SAMPLE)
    fewest, lost = fewest_candidates(shown, clusters, {each: targets[each] for each in drawn}, 3)
    assert fewest >= k
    assert lost == []


def opened(source: Source, folder: Path, real: Real) -> Path:
    return real("vaers" if source is VAERS else "2022Q4", folder / "w.duckdb")


def released(
    engine: Engine, source: Source, period: str, k: int, m: int
) -> tuple[list[Row], Clusters, Targets]:
    """The released rows and clusters of a period, and what is true of everybody in it."""
    made = engine.release(
        period, model="ms", k=k, m=m, terms="disassociate", term_attributes="all", seed=1,
        on_infeasible="withhold",
    )  # fmt: skip
    raw = f"raw_{source.name}"
    case_of = dict(
        engine.con.execute(
            "SELECT p.pseudonym, p.case_id FROM srsql.id_pseudonym AS p WHERE p.kind = 'case'"
        ).fetchall()
    )
    held: dict[str, set[str]] = defaultdict(set)
    for attribute, (table, term) in source.terms.items():
        for case, value in engine.con.execute(
            f"SELECT DISTINCT d.{source.case}::VARCHAR, {term} FROM {raw}.{table} AS t "
            f"JOIN {raw}.demo AS d USING ({source.report}) "
            f"WHERE {term} <> '' AND d.quarter = ? AND t.quarter = ?",
            [period, period],
        ).fetchall():
            held[case].add(f"{attribute}:{value}")
    values = ", ".join(f"max(d.srsql_{name}) AS {name}" for name in source.qids)
    known = {
        row["case_id"]: tuple(row[name] for name in source.qids)
        for row in rows(
            engine.con,
            f"SELECT d.{source.case}::VARCHAR AS case_id, {values} FROM {raw}.demo AS d "
            f"WHERE d.quarter = '{period}' GROUP BY d.{source.case}",
        )
    }
    leaves = {name: leaves_of(file) for name, file in source.nodes.items()}

    def region(row: Mapping[str, Any]) -> tuple[Any, ...]:
        numbers = ((row[f"{name}_low"], row[f"{name}_high"]) for name in source.numbers)
        return (*numbers, *(leaves[name][row[name]] for name in source.nodes))

    shown = [
        Row(row[source.case], row["cluster"], region(row))
        for row in rows(engine.con, f"FROM {made.schema}.demo")
    ]
    clusters = Clusters.read(
        {name: rows(engine.con, f"FROM {made.schema}.{name}") for name in COLUMNS}
    )
    items = [*(t for own in clusters.chunks.values() for s in own for r in s for t in r),
             *(t for alone in clusters.items.values() for t in alone)]  # fmt: skip
    assert {item.partition(":")[0] for item in items} == source.terms.keys()
    targets = {
        row.case: (known[case_of[row.case]], frozenset(held[case_of[row.case]])) for row in shown
    }
    return shown, clusters, targets


def leaves_of(file: str) -> dict[str, frozenset[str | None]]:
    """Node -> the leaves below it; the root covers what is missing as well."""
    with (CHECKOUT / "schemas" / "hierarchies" / file).open(encoding="utf-8") as text:
        parents = {row["node"]: row["parent"] for row in csv.DictReader(text)}
    found: dict[str, set[str | None]] = defaultdict(set)
    for leaf in parents.keys() - set(parents.values()):
        node = leaf
        while node:
            found[node].add(leaf)
            node = parents[node]
    roots = [node for node, parent in parents.items() if not parent]
    return {node: frozenset({None} if node in roots else below) for node, below in found.items()}
