"""Tables of a few cases, drawn from a quarter, and what an algorithm publishes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.minimality.near_choice import near_groups
from srsql import Engine
from srsql.engine.extras.synth import synthesize
from srsql.engine.models import MODELS
from srsql.engine.models.base import MORE_SEEDS
from srsql.udfs.grouping.greedy import group_cases
from srsql.udfs.grouping.refine import Standing, refine_groups
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases

Ints = NDArray[np.int64]
Refine = Literal["off", "fast", "full"]
REFINEMENTS: tuple[Refine, ...] = ("off", "fast", "full")
Population = tuple[Ints, list[list[str]]]
"""Age, weight and sex of each case, and its sensitive values."""
QUARTER, REAL_QUARTER = "2011Q1", "2022Q4"
SEED, SYNTHETIC_CASES = 2007, 4_000
YEARS, KILOGRAMS = 10, 20
"""Width of a granule of ages and of weights."""
ATTRIBUTES = Attributes(
    span=np.array([120 // YEARS, 400 // KILOGRAMS, 0]),
    tree_start=np.array([0, 0, 0, 3]),
    parent=np.array([-1, 0, 0]),
    last=np.array([2, 1, 2]),
    height=np.array([1, 0, 0]),
)
"""Age, weight, and sex below a root: M is 1, F is 2, and who is shown as the root is either."""
UNIT = np.array([5, 3, 60])
"""Loss of one granule of age and of weight, and of the root of sex, in 60ths."""
FINE = replace(ATTRIBUTES, span=np.array([120, 400, 0]))
FINE_UNIT = np.array([10, 3, 1_200])
"""The same in years and kilograms, in 1,200ths."""
ALL_KNOWN = 0b111
"""The bit mask of a case that knows all three."""


@dataclass(frozen=True)
class Table:
    """The originals of a few cases, in the order of their ids."""

    values: Ints
    """[n, 3] age, weight, sex."""
    offsets: Ints
    terms: NDArray[np.int32]
    attributes: Attributes = ATTRIBUTES

    @cached_property
    def held(self) -> Ints:
        """Which of its terms each case has, [n, terms], as 0 or 1."""
        found = np.zeros((len(self.values), int(self.terms.max()) + 1), np.int64)
        found[np.repeat(np.arange(len(self.values)), np.diff(self.offsets)), self.terms] = 1
        return found

    def near(
        self, values: Ints, k: int, first: int, slack: float, refine: Refine = "off"
    ) -> Ints | None:
        """The same by ms with a choice among near-equal candidates, drawn anew by each call."""
        groups = near_groups(values, self.held, UNIT, k, 0.5, first, slack)
        return shown(values, self._refined(values, groups.astype(np.int32), k, refine))

    def grouped(
        self, values: Ints, model: str, k: int, first: int, refine: Refine = "off"
    ) -> Ints | None:
        """The published region of each case, [n, 6]; None if a case is withheld."""
        return shown(values, self.partition(values, model, k, first, refine))

    def partition(
        self, values: Ints, model: str, k: int, first: int, refine: Refine
    ) -> NDArray[np.int32]:
        """The group of each case; -1: none."""
        growth = MODELS[model].growth
        ones = np.ones(len(values), np.bool_)
        groups = group_cases(
            self._cases(values),
            self.attributes,
            *self._theta,
            k,
            first,
            Bounding(
                ones,
                ones,
                np.zeros(len(values), np.int8),
                after_join=growth.risk_after_joining,
                from_last=growth.seed_from_last_added,
                more_seeds=0 if refine == "off" else MORE_SEEDS,
            ),
        )
        return self._refined(values, groups, k, refine)

    def terms_of(self, case: int) -> NDArray[np.int32]:
        """What one case has."""
        return self.terms[self.offsets[case] : self.offsets[case + 1]]

    @property
    def _theta(self) -> tuple[Ints, Ints]:
        terms = int(self.terms.max()) + 1
        return np.ones(terms, np.int64), np.full(terms, 2, np.int64)

    def _cases(self, values: Ints) -> Cases:
        return Cases(
            values, values, self.offsets, self.terms, np.ones(len(self.terms), np.int64), 1
        )

    def _refined(
        self, values: Ints, groups: NDArray[np.int32], k: int, refine: Refine
    ) -> NDArray[np.int32]:
        if refine == "off":
            return groups
        n = len(values)
        return refine_groups(
            self._cases(values), self.attributes, *self._theta, k, Bounding.of_all(n),
            Standing(np.full(n, ALL_KNOWN), groups.astype(np.int64), refine),
        )  # fmt: skip


def shown(values: Ints, groups: NDArray[np.int32]) -> Ints | None:
    """The published region of each case; None if a case is withheld."""
    return None if (groups < 0).any() else regions(values, groups)


def regions(values: Ints, groups: NDArray[np.signedinteger[Any]]) -> Ints:
    """Low and high of the group of each case, [n, 6]."""
    same = (groups[:, None] == groups[None, :])[:, :, None]
    low = np.where(same, values[None], np.iinfo(np.int64).max).min(axis=1)
    high = np.where(same, values[None], -1).max(axis=1)
    return np.concatenate([low, high], axis=1)


def draw_table(population: Population, n: int, rng: np.random.Generator) -> Table:
    """A few cases of the quarter, without replacement, in coarse granules."""
    values, names = population
    rows = rng.choice(len(values), n, replace=False)
    coarse = values[rows] // (YEARS, KILOGRAMS, 1)
    return table_of((np.ascontiguousarray(coarse), [names[row] for row in rows]), ATTRIBUTES)


def table_of(population: Population, attributes: Attributes) -> Table:
    """All cases."""
    values, names = population
    number = {name: at for at, name in enumerate(sorted({t for each in names for t in each}))}
    return Table(
        values,
        np.cumsum([0, *map(len, names)]),
        np.array([number[name] for each in names for name in each], np.int32),
        attributes,
    )


def population(real_data: Path | None) -> Population:
    """Years, kilograms and sex, and the sensitive values, of the cases that have all of them."""
    with TemporaryDirectory(prefix="srsql-minimality-") as folder:
        if real_data is None:
            archives = synthesize(folder, [QUARTER], cases=SYNTHETIC_CASES, seed=SEED)
        else:
            archives = sorted(real_data.rglob(f"*{REAL_QUARTER}.zip"))[:1]
        with Engine(Path(folder) / "w.duckdb") as engine:
            engine.ingest(archives, allow_incomplete=True)
            rows = engine.sql(
                "WITH held AS ("
                "SELECT r.primaryid, r.srsql_pt AS term FROM raw_faers.reac AS r UNION "
                "SELECT i.primaryid, i.srsql_indi_pt FROM raw_faers.indi AS i) "
                "SELECT any_value(d.srsql_age), any_value(d.srsql_wt), any_value(d.srsql_sex),"
                " list(DISTINCT h.term ORDER BY h.term) "
                "FROM raw_faers.demo AS d JOIN held AS h USING (primaryid) "
                "WHERE h.term IS NOT NULL AND d.srsql_age IS NOT NULL AND d.srsql_wt IS NOT NULL"
                " AND d.srsql_sex IS NOT NULL "
                "GROUP BY d.caseid HAVING count(DISTINCT d.primaryid) = 1 ORDER BY d.caseid"
            )
    values = [(int(age), int(wt), 1 + (sex == "F")) for age, wt, sex, _ in rows]
    return np.array(values, np.int64), [terms for *_, terms in rows]
