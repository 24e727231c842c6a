"""What drugs that are published beside ids tell of indications that are not (--terms disassociate).

``python -m benchmarks guessing --source FILE --quarter 2022Q4`` releases one quarter with its
indications in clusters and its drugs beside the rows, and plays an attacker who knows a patient's
row: the indications that it can be are those of the clusters with the row's region. The attacker
names the one that goes best with the drugs of the row (naive Bayes: the logarithm of how common it
is, plus for each drug that of how common the drug is with it), counts by what

* *release*: the clusters and rows of the release alone say (a drug goes with a term as often as
  a region has both), or
* *field*: the field knows, for which all other reports of the quarter stand (the case itself is
  left out of the counts).

*chance* is the share of the region's indications that the case has: of a guess at random.

Source: SPEC section 11; the question is how far taking terms apart hides them from who knows drugs.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

from srsql import Engine
from srsql.engine.catalog.layout import region_columns
from srsql.engine.store.statements import column, normal_form

SMOOTHING = 0.1
TERM = "indi_pt"


@dataclass
class Counts:
    """How often terms and drugs occur, and together."""

    terms: Counter[str] = field(default_factory=Counter)
    both: Counter[tuple[str, str]] = field(default_factory=Counter)
    drugs: set[str] = field(default_factory=set)

    def add(self, terms: set[str], drugs: set[str], times: int = 1) -> None:
        self.drugs |= drugs
        for term in terms:
            self.terms[term] += times
            for drug in drugs:
                self.both[term, drug] += times

    def score(self, term: str, drugs: set[str]) -> float:
        spread = SMOOTHING * len(self.drugs)
        seen = self.terms[term]
        return log(seen + SMOOTHING) + sum(
            log((self.both[term, drug] + SMOOTHING) / (seen + spread)) for drug in drugs
        )


@dataclass(frozen=True)
class Right:
    """Cases whose guess was right, of those that have a drug and an indication."""

    cases: int
    release: int
    field: int
    chance: float


def play(engine: Engine, quarter: str) -> Right:
    """Guess an indication of every released case that has one and a drug."""
    schema = f"release_{quarter.lower()}"
    region = region_columns(engine.dataset())
    listed = ", ".join(f"x.{name}" for name in region)
    drugs: dict[int, set[str]] = defaultdict(set)
    for case, name in engine.sql(
        f"SELECT x.caseid, {normal_form(column('drugname', 'x')).sql('duckdb')} AS drug "
        f"FROM {schema}.drug AS x WHERE x.drugname IS NOT NULL"
    ):
        drugs[case].add(name)
    place = {
        case: where
        for case, *where in engine.sql(f"SELECT x.caseid, {listed} FROM {schema}.demo AS x")
    }
    pool: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for term, *where in engine.sql(
        f"SELECT t.term, {listed} FROM {schema}.clusters AS x INNER JOIN ("
        f"SELECT r.cluster, r.term FROM {schema}.record_chunk AS r "
        f"UNION SELECT i.cluster, i.term FROM {schema}.item_chunk AS i "
        f"UNION SELECT j.cluster, s.term FROM {schema}.shared_chunk AS s "
        f"INNER JOIN {schema}.joint_clusters AS j ON s.joint = j.joint) AS t "
        "ON x.cluster = t.cluster"
    ):
        pool[tuple(where)].add(term)
    truth: dict[int, set[str]] = defaultdict(set)
    for case, term in engine.sql(
        "SELECT DISTINCT d.caseid, i.srsql_indi_pt FROM raw_faers.indi AS i "
        "INNER JOIN raw_faers.demo AS d ON i.primaryid = d.primaryid AND i.quarter = d.quarter "
        "WHERE i.quarter = ? AND i.srsql_indi_pt IS NOT NULL",
        [quarter],
    ):
        truth[case].add(term)
    by_release, by_field = Counts(), Counts()
    for case, where in place.items():
        by_release.add(pool[tuple(where)], drugs[case])
        by_field.add(truth[case], drugs[case])
    cases = release = known = 0
    chance = 0.0
    for case, where in place.items():
        choices = sorted(pool[tuple(where)])
        if not (drugs[case] and truth[case] and choices):
            continue
        cases += 1
        chance += len(truth[case] & set(choices)) / len(choices)
        release += _guess(by_release, choices, drugs[case]) in truth[case]
        by_field.add(truth[case], drugs[case], -1)
        known += _guess(by_field, choices, drugs[case]) in truth[case]
        by_field.add(truth[case], drugs[case])
    return Right(cases, release, known, chance)


def _guess(counts: Counts, choices: list[str], drugs: set[str]) -> str:
    return max(choices, key=lambda term: counts.score(term, drugs))


def command(arguments: list[str]) -> None:
    """Release, play and print; see the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks guessing", description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="FAERS files of the quarter")
    parser.add_argument("--quarter", required=True)
    parser.add_argument("--k", type=int, default=5)
    options = parser.parse_args(arguments)
    with (
        TemporaryDirectory(prefix="srsql-guessing-") as folder,
        Engine(Path(folder) / "warehouse.duckdb") as engine,
    ):
        engine.ingest(options.source, allow_incomplete=True)
        engine.release.make(
            options.quarter, k=options.k, seed=1, terms="disassociate", ids="original",
            on_infeasible="withhold",
        )  # fmt: skip
        found = play(engine, options.quarter)
    print(
        f"{options.quarter}, k = {options.k}: {found.cases:,} cases with a drug and an indication"
    )
    for name, right in (
        ("by chance", found.chance),
        ("from the release alone", found.release),
        ("with what the field knows", found.field),
    ):
        print(f"  right {name:<26} {right / max(found.cases, 1):6.1%}")
