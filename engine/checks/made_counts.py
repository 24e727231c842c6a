"""The law of the counts that ``ipa`` and ``dp-histogram`` publish as rows (Lee 2020).

The classes of the node that was taken are counted again, from the values of the cases. What is
published of each is then compared with what the noise that is charged would make of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log
from typing import Any

import numpy as np
from sqlglot import exp

from srsql.engine.catalog.datasets import raw_term
from srsql.engine.catalog.dimensions import Dimension, dimensions_of, informative_attribute
from srsql.engine.catalog.layout import raw_table, same_id
from srsql.engine.checks import Evidence, as_measures
from srsql.engine.checks.lattice import node_texts, row_classes, taken
from srsql.engine.checks.noise import (
    FALSE_ALARM,
    Margin,
    laplace_below,
    manifest_of,
    row,
    seeded_laplace,
    seeds_of,
    told,
)
from srsql.engine.checks.noise import TOPIC as NOISE
from srsql.engine.measures import Measure, MeasureRow
from srsql.engine.store.statements import column, query, table

PARTS = (0.0, 0.5, 1.0, 2.0)
"""Within how many scales a count is looked for."""
MOST_SEEDED = 200_000
"""Cells of which seeds are tried: more take longer than all other checks."""
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Counts:
    """The cases of a release over its node, and what is published of them."""

    evidence: Evidence

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Of the release."""
        return dimensions_of(self.evidence.release.dataset, taken(self.evidence.release)[0])

    @cached_property
    def texts(self) -> list[dict[int, str]]:
        """The published text of every node of the level that was taken, by dimension."""
        release = self.evidence.release
        names, levels, _, _ = taken(release)
        found: list[dict[int, str]] = [{} for _ in self.dimensions]
        rows = node_texts(release, names, levels)
        for place, node, shown in rows:
            found[place][node] = shown
        return found

    @cached_property
    def nothing(self) -> Texts:
        """What a class that tells nothing shows: a suppressed one, and one of unknown values."""
        return tuple(
            texts[dimension.maps[level][-1]]
            for texts, dimension, level in zip(
                self.texts, self.dimensions, taken(self.evidence.release)[1], strict=True
            )
        )

    def nodes_of(self, ends: Sequence[Any]) -> tuple[int, ...]:
        """The nodes of a case, by the low and high ends of its values."""
        levels = taken(self.evidence.release)[1]
        found = []
        for own, dimension, level in zip(ends, self.dimensions, levels, strict=True):
            leaf = self._leaves[dimension.name].get(tuple(own), dimension.unknown)
            found.append(dimension.maps[level][leaf])
        return tuple(found)

    @cached_property
    def _leaves(self) -> dict[str, dict[tuple[int, int], int]]:
        return {d.name: {ends: leaf for leaf, ends in enumerate(d.ends)} for d in self.dimensions}

    def shown_as(self, nodes: Sequence[int]) -> Texts:
        """The published texts of nodes."""
        return tuple(texts[node] for texts, node in zip(self.texts, nodes, strict=True))

    @cached_property
    def cases(self) -> Counter[tuple[int, ...]]:
        """Cases by the nodes of their class."""
        release = self.evidence.release
        asked = {"release": release.release_id,
                 "positions": [d.position for d in self.dimensions]}  # fmt: skip
        found: Counter[tuple[int, ...]] = Counter()
        for ends, cases in release.warehouse.rows(query(NOISE, "cases"), asked):
            found[self.nodes_of([_pair(end) for end in ends])] += cases
        return found

    @cached_property
    def published(self) -> dict[Texts, int]:
        """Rows by the texts of their class."""
        release = self.evidence.release
        names = taken(release)[0]
        rows = row_classes(release.dataset, release.schema, names).sql("duckdb")
        found: Counter[Texts] = Counter()
        for shown, count in release.warehouse.rows(rows):
            found[tuple(shown)] += count
        return dict(found)


def _pair(end: Any) -> tuple[Any, ...]:
    return tuple(end.values()) if isinstance(end, dict) else tuple(end)


def check_made_counts(evidence: Evidence) -> list[Measure]:
    """The law of the model that made the counts, and seeds."""
    counts, given = Counts(evidence), manifest_of(evidence)
    classes = _of_classes if given.get("model") == "ipa" else _of_cells
    return as_measures(classes(counts, given))


def _of_classes(counts: Counts, given: dict[str, Any]) -> list[MeasureRow]:
    """IPA: a class is suppressed by one draw, and grows or shrinks by another."""
    evidence = counts.evidence
    epsilon = Fraction(str(given["epsilon"]))
    least = int(given["suppress_below"])
    hiding = float((least - 1) / (epsilon * Fraction(str(given["share_suppression"]))))
    growing = float(1 / (epsilon * Fraction(str(given["share_insertion"]))))
    known = [
        (nodes, size)
        for nodes, size in sorted(counts.cases.items())
        if counts.shown_as(nodes) != counts.nothing
    ]
    sizes = np.array([size for _, size in known], dtype=np.int64)
    made = np.array([counts.published.get(counts.shown_as(n), 0) for n, _ in known], np.int64)
    if given.get("calibration") == "printed":  # a class that shows keeps its records, and grows
        made = np.where(made > 0, made - sizes, 0)
    kept = laplace_below(sizes - least - 1, np.full(len(sizes), hiding))
    scales = np.full(len(sizes), growing)
    margins = [
        Margin(len(sizes), int((made > 0).sum()),
               float((kept * (1 - laplace_below(-sizes, scales))).sum()))
    ]  # fmt: skip
    for part in PARTS:
        margin = np.full(len(sizes), int(growing * part))
        near = (made > 0) & (np.abs(made - sizes) <= margin)
        floor = laplace_below(np.maximum(-margin - 1, -sizes), scales)
        chances = kept * (laplace_below(margin, scales) - floor)
        margins.append(Margin(len(sizes), int(near.sum()), float(chances.sum())))
    among = 1
    if given.get("calibration") != "sound":  # every node is perturbed before one is taken
        for dimension in counts.dimensions:
            among *= dimension.top + 1
    found = [told(evidence, "check_made_counts", "law of classes", margins, among)]
    if given.get("noise") == "secure" and given.get("calibration") == "sound":
        again = (
            _grown(seed, sizes, least, (hiding, growing)) for seed in seeds_of(evidence, "lattice")
        )
        unlikely = int((made > 0).sum()) * log(max(growing, 1.5)) > log(1 / FALSE_ALARM)
        seeded = unlikely and any(bool((each == made).all()) for each in again)
        found.append(row(evidence, "check_made_counts", "seed of classes", int(seeded), 1))
    return found


def _grown(seed: int, sizes: Any, least: int, scales: tuple[float, float]) -> Any:
    """What an experiment with this seed makes of the classes."""
    hiding, growing = _chain(seed, 5)[3:5]
    hidden = sizes <= least + seeded_laplace(hiding, np.full(len(sizes), scales[0]))
    noise = seeded_laplace(growing, np.full(len(sizes), scales[1]))
    return np.where(hidden, 0, sizes + np.maximum(noise, -sizes))


def _chain(seed: int, count: int) -> list[int]:
    """The first seeds that a source of an experiment hands on."""
    generator = np.random.default_rng(seed)
    return [int(generator.integers(2**63)) for _ in range(count)]


def _of_cells(counts: Counts, given: dict[str, Any]) -> list[MeasureRow]:
    """A histogram: every pair of a cell and an informative value has a draw of its own.

    A case of several values shows one, which nobody keeps: only cells count of whose cases each
    has one value, and those without a case.
    """
    evidence = counts.evidence
    scale = float(1 / Fraction(str(given["epsilon"])))
    held, values = _held(counts)
    shown = dict(_shown_values(counts))
    cells = 1
    for dimension in counts.dimensions:
        cells *= len(dimension.on_level(0))
    exact = {counts.shown_as(nodes): own for nodes, own in held.items() if own is not None}
    occupied = {counts.shown_as(nodes) for nodes in held}
    full, empty = list[tuple[int, int]](), list[int]()
    for cell, own in exact.items():
        for value in values:
            pair = own.get(value, 0), shown.get((cell, value), 0)
            if pair[0]:
                full.append(pair)
            else:
                empty.append(pair[1])
    empty += [n for (cell, _), n in shown.items() if cell not in occupied]
    nobody = (cells - len(occupied)) * len(values) + sum(
        len(values) - len(own) for own in exact.values()
    )
    margins = [*_near(full, scale), *_noise_alone(empty, nobody, scale)]
    found = [told(evidence, "check_made_counts", "law of cells", margins)]
    if given.get("noise") == "secure" and cells * len(values) <= MOST_SEEDED:
        seeded = any(
            _same_cells(counts, seed, scale, len(values), occupied)
            for seed in seeds_of(evidence, "lattice")
        )
        found.append(row(evidence, "check_made_counts", "seed of cells", int(seeded), 1))
    return found


def _near(full: Sequence[tuple[int, int]], scale: float) -> Iterator[Margin]:
    """Counts of cells that have cases."""
    sizes = np.array([size for size, _ in full], dtype=np.int64)
    made = np.array([count for _, count in full], dtype=np.int64)
    scales = np.full(len(full), scale)
    for part in PARTS:
        margin = np.full(len(full), int(scale * part))
        floor = np.where(sizes > margin, laplace_below(-margin - 1, scales), 0.0)
        chances = laplace_below(margin, scales) - floor
        hits = int((np.abs(made - sizes) <= margin).sum())
        yield Margin(len(full), hits, float(chances.sum()))


def _noise_alone(empty: Sequence[int], nobody: int, scale: float) -> Iterator[Margin]:
    """Counts of pairs that no case has: how many are at least so high."""
    made = np.array(empty, dtype=np.int64)
    for part in PARTS:
        at_least = int(scale * part) + 1
        chance = 1 - float(laplace_below(np.array([at_least - 1]), np.array([scale]))[0])
        yield Margin(nobody, int((made >= at_least).sum()), chance * nobody)


def _same_cells(counts: Counts, seed: int, scale: float, values: int, occupied: set[Texts]) -> bool:
    """Whether an experiment with this seed gives the rows of the cells that no case has."""
    widths = [len(dimension.on_level(0)) for dimension in counts.dimensions]
    cells = int(np.prod(widths))
    noise = seeded_laplace(_chain(seed, 3)[2], np.full(cells * values, scale))
    made = np.maximum(noise, 0).reshape(cells, values).sum(axis=1)
    nodes = [dimension.on_level(0).tolist() for dimension in counts.dimensions]
    looked_at = 0
    for number, due in enumerate(made.tolist()):
        place = np.unravel_index(number, widths)
        cell = counts.shown_as([nodes[at][int(each)] for at, each in enumerate(place)])
        if cell in occupied or cell == counts.nothing:
            continue
        if counts.published.get(cell, 0) != due:
            return False
        looked_at += values
    return looked_at * -log(float(np.tanh(1 / (2 * scale)))) > log(1 / FALSE_ALARM)


def _held(counts: Counts) -> tuple[dict[tuple[int, ...], Counter[str] | None], list[str]]:
    """Of each cell that has cases how many hold which value, None where one holds several; and all
    values of the period."""
    release = counts.evidence.release
    dataset, informative = release.dataset, taken(release)[2]
    attribute = informative_attribute(dataset, informative)
    term = raw_term(dataset, attribute.table, attribute.column, "t")
    report = {name: column(name, "r") for name in (dataset.report_id, dataset.case_id, "quarter")}
    rows = (
        exp.select(column("case_no", "m"), term.as_("term"))
        .distinct()
        .from_(raw_table(dataset, attribute.table, alias="t"))
        .join(
            raw_table(dataset, dataset.report_table, alias="r"),
            on=exp.and_(
                column(dataset.report_id, "t").eq(report[dataset.report_id]),
                column("quarter", "t").eq(report["quarter"]),
            ),
        )
        .join(
            table("srsql", "member", alias="m"),
            on=same_id(dataset, report[dataset.case_id], column("case_id", "m")),
        )
        .where(column("release_id", "m").eq(release.release_id))
        .where(column("quarter", "t").eq(exp.Literal.string(release.quarter)))
        .where(term.copy().is_(exp.null()).not_())
    )
    asked = {"release": release.release_id,
             "positions": [d.position for d in counts.dimensions]}  # fmt: skip
    listed = release.warehouse.rows(
        f"WITH held AS ({rows.sql('duckdb')}), "
        "own AS (SELECT h.case_no, min(h.term) AS term, count(*) AS several FROM held AS h "
        f"GROUP BY h.case_no), ends AS ({query(NOISE, 'ends')}) "
        "SELECT e.ends, CASE WHEN o.several = 1 THEN o.term END, count(*) FROM own AS o "
        "INNER JOIN ends AS e ON o.case_no = e.case_no GROUP BY ALL",
        asked,
    )
    found: dict[tuple[int, ...], Counter[str] | None] = {}
    for ends, value, cases in listed:
        nodes = counts.nodes_of([_pair(end) for end in ends])
        own = found.setdefault(nodes, Counter())
        if value is None:
            found[nodes] = None
        elif own is not None:
            own[value] += cases
    values = release.warehouse.rows(
        f"SELECT DISTINCT h.term FROM ({rows.sql('duckdb')}) AS h ORDER BY ALL"
    )
    return found, [value for (value,) in values]


def _shown_values(counts: Counts) -> Iterator[tuple[tuple[Texts, str], int]]:
    """Rows by the texts of their class and the key of their informative value."""
    release = counts.evidence.release
    names, _, informative, _ = taken(release)
    rows = row_classes(release.dataset, release.schema, names, informative).sql("duckdb")
    found: Counter[tuple[Texts, str]] = Counter()
    for shown, value, count in release.warehouse.rows(rows):
        found[tuple(shown), value] += count
    yield from found.items()
