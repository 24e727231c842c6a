"""Whole rows of a source that are taken apart: what is released, and what is true of everybody."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from oracles.whole_rows import Clusters, Known, Row, Target
from support.real_data import CHECKOUT
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.catalog.layout import COLUMNS

Targets = Mapping[Hashable, Target]


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
SOURCES = {source.name: source for source in (FAERS, VAERS)}


def released(
    engine: Engine, source: Source, period: str, k: int, m: int, theta: str | None = None
) -> tuple[list[Row], Clusters, Targets]:
    """Release a period; its rows and clusters, and what is true of everybody in it.

    ``theta``: of all values; None: by their frequency.
    """
    given = {} if theta is None else {"theta": theta}
    made = engine.release(
        period, model="ms", k=k, m=m, terms="disassociate", term_attributes="all", seed=1,
        on_infeasible="withhold", **given,
    )  # fmt: skip
    return read(engine, source, period, made.schema)


def read(
    engine: Engine, source: Source, period: str, schema: str, series: str = "main"
) -> tuple[list[Row], Clusters, Targets]:
    """The rows and clusters of a release, and what is true of everybody in it.

    Of a quasi-identifier that the reports of a case tell in several ways an attacker may know each.
    """
    raw = f"raw_{source.name}"
    case_of = dict(
        engine.con.execute(
            "SELECT p.pseudonym, p.case_id FROM srsql.id_pseudonym AS p WHERE p.kind = 'case' "
            "AND p.series = ? AND coalesce(p.quarter, ?) = ?",
            [series, period, period],
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
    values = ", ".join(f"list(DISTINCT d.srsql_{name}) AS {name}" for name in source.qids)
    known = {
        row["case_id"]: _ways(row[name] for name in source.qids)
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
        for row in rows(engine.con, f"FROM {schema}.demo")
    ]
    clusters = Clusters.read({name: rows(engine.con, f"FROM {schema}.{name}") for name in COLUMNS})
    targets = {
        row.case: (known[case_of[row.case]], frozenset(held[case_of[row.case]])) for row in shown
    }
    return shown, clusters, targets


def _ways(told: Iterable[Iterable[Known]]) -> list[tuple[Known, ...]]:
    """What may be known of a case: one of the values of each quasi-identifier, None if none is."""
    return list(product(*(set(values) - {None} or {None} for values in told)))


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
