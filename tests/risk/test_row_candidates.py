"""Who could be the target where whole rows are taken apart, against the definitions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from oracles.exposure import Ends, Patient, may_be
from oracles.published_terms import possible_records
from oracles.whole_rows import Clusters, Row
from support.catalog import publish
from support.files import copied
from support.published_terms import fill, load, project, warehouse
from support.quarters import Report, crowd
from support.released import rows

from srsql.engine.api.engine import Engine
from srsql.engine.catalog.layout import COLUMNS
from srsql.engine.risk.singling_out import measure_singling_out
from srsql.engine.shapes import series_dataset

pytestmark = pytest.mark.slow

QUARTER, K, M = "2011Q4", 3, 2
DRUGS = [f"DRUG {n}" for n in range(6)]
DISEASES = [f"DISEASE {n}" for n in range(7)]
REACTIONS = [f"REACTION {n}" for n in range(6)]
REGION, WORST, RANDOM = "region alone", ", worst", ", random"


def patients() -> list[Report]:
    """Cases with few items, so that what follows from some of them is worth a look."""
    luck = random.Random(11)
    return [
        replace(
            report,
            indi=tuple(luck.sample(DISEASES, luck.randint(0, 2))),
            pt=tuple(luck.sample(REACTIONS, luck.randint(1, 2))),
            drugs=tuple(luck.sample(DRUGS, luck.randint(1, 2))),
            roles=("PS", "C"),
        )
        for report in crowd(60)
    ]


REPORTS = patients()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("candidates")
    with Engine(copied(folder / "kept", folder / "w.duckdb", {QUARTER: REPORTS})) as opened:
        opened.release(
            QUARTER, model="ms", k=K, m=M, theta="1", seed=1, terms="disassociate",
            term_attributes="all",
        )  # fmt: skip
        yield opened


def figures(engine: Engine) -> dict[tuple[str, str], Any]:
    visible = series_dataset(engine.warehouse, engine.dataset("faers"), "main")
    found = measure_singling_out(engine.warehouse, visible, 1)
    return {(m.measure, m.scope): m for m in found}


class Known:
    """What is released, and what is true of the patient behind each row."""

    def __init__(self, engine: Engine) -> None:
        schema = f"release_{QUARTER.lower()}"
        self.rows = [
            Row(
                r["caseid"],
                r["cluster"],
                (
                    (r["age_low"], r["age_high"]),
                    (r["wt_low"], r["wt_high"]),
                    frozenset({None} if r["sex"] == "Any" else {r["sex"]}),
                ),
            )
            for r in rows(engine.con, f"FROM {schema}.demo")
        ]
        tables = {name: rows(engine.con, f"FROM {schema}.{name}") for name in COLUMNS}
        self.clusters = Clusters.read(tables)
        own = {
            r.caseid: (
                (int(r.age), int(r.wt), r.sex),
                sorted(
                    [f"indi_pt:{t}" for t in r.indi]
                    + [f"pt:{t}" for t in r.pt]
                    + [f"drugname:{t}" for t in r.drugs]
                    + ["outc_cod:HO"]
                ),
            )
            for r in REPORTS
        }
        found = engine.con.execute(
            "SELECT p.pseudonym, p.case_id FROM srsql.id_pseudonym AS p WHERE p.kind = 'case'"
        ).fetchall()
        shown = {row.case for row in self.rows}
        self.targets = {p: own[int(case)] for p, case in found if p in shown}
        self._follow: dict[tuple[int, frozenset[str]], frozenset[str]] = {}

    def sets(self, case: Any, size: int | None) -> list[frozenset[str]]:
        items = self.targets[case][1]
        count = len(items) if size is None else min(size, len(items))
        return [frozenset(s) for s in combinations(items, count)]

    def candidates(self, case: Any, known: frozenset[str]) -> list[Row]:
        values = self.targets[case][0]
        return [
            row
            for row in self.rows
            if row.covers(values) and self.clusters.admits(row.cluster, known)
        ]

    def follows(self, case: Any, known: frozenset[str]) -> bool:
        """Whether a further value is one of all candidates, by all subrecords they may have."""
        own = {value_of(item) for item in known}
        clusters = {row.cluster for row in self.candidates(case, known)}
        told = [self._certain(cluster, known) for cluster in sorted(clusters)]
        return bool(frozenset.intersection(*told) - own)

    def _certain(self, cluster: int, known: frozenset[str]) -> frozenset[str]:
        """The values of every record of the cluster that holds the items, in every dataset."""
        if (cluster, known) not in self._follow:
            found: set[str] = set()
            for subrecords in self.clusters.chunks[cluster]:
                here = known & frozenset().union(*subrecords)
                left = self.clusters.records[cluster] - len(subrecords)
                every = [*subrecords, *[frozenset()] * left]
                holding = [frozenset(map(value_of, s)) for s in every if here <= s]
                found |= frozenset.intersection(*holding)
            self._follow[cluster, known] = frozenset(found) - {None}
        return self._follow[cluster, known]


def value_of(item: str) -> str | None:
    attribute, _, term = item.partition(":")
    return term if attribute in ("pt", "indi_pt") else None


SCOPES = {0: REGION, 1: "1 of the drugs or terms", 2: "2 of the drugs or terms"}


def check_figures(engine: Engine) -> dict[tuple[str, str], Any]:
    """The figures are those of the definitions, counted over every set of every case."""
    found, known = figures(engine), Known(engine)
    holders = [case for case, (_, items) in known.targets.items() if items]
    for size, scope in [*SCOPES.items(), (None, "all drugs and terms")]:
        cases = list(known.targets) if size == 0 else holders
        left = {
            case: [len(known.candidates(case, s)) for s in known.sets(case, size)] for case in cases
        }
        for measure, is_bad in (
            ("candidates_below_k", lambda n: n < K), ("one_candidate", lambda n: n == 1),
        ):  # fmt: skip
            shares = [Fraction(sum(map(is_bad, n)), len(n)) for n in left.values()]
            worst = found[measure, scope + (WORST if size in (1, 2) else "")]
            assert (worst.violating, worst.total) == (sum(map(bool, shares)), len(cases))
            if size in (1, 2):
                assert found[measure, scope + RANDOM].violating == pytest.approx(float(sum(shares)))
        if size in (1, 2):
            told = [[known.follows(c, s) for s in known.sets(c, size)] for c in cases]
            shares = [Fraction(sum(flags), len(flags)) for flags in told]
            worst = found["certain_term", scope + WORST]
            assert (worst.violating, worst.total) == (sum(map(bool, shares)), len(cases))
            random_one = found["certain_term", scope + RANDOM]
            assert random_one.violating == pytest.approx(float(sum(shares)))
    assert len(found) == 2 * 6 + 4
    return found


@pytest.mark.thorough
def test_nobody_is_left_below_k_by_any_one_or_two_items(engine: Engine) -> None:
    found = check_figures(engine)
    shown = {(m.measure, m.scope): m for m in engine.metrics(QUARTER)}
    assert found.items() <= shown.items()
    assert all(
        row.violating == 0 for (measure, _), row in found.items() if measure != "certain_term"
    )


def test_the_public_manifest_tells_the_figures(engine: Engine) -> None:
    (told,) = rows(engine.con, f"FROM release_{QUARTER.lower()}.manifest")
    found = figures(engine)
    for name, scope in (("1_item", SCOPES[1]), ("2_items", SCOPES[2])):
        assert told[f"below_k_percent_{name}"] == told[f"one_candidate_percent_{name}"] == 0
        certain = found["certain_term", scope + WORST]
        assert told[f"certain_term_percent_{name}"] == round(100 * certain.ratio)
    assert told["measured_cases"] == len(REPORTS)
    assert told["published_verbatim"] == "none"


@pytest.mark.thorough
def test_cases_that_are_left_alone_are_counted_where_a_release_is_broken(engine: Engine) -> None:
    """Rows of most groups are taken out of a copy, as no release has them."""
    engine.con.execute("BEGIN")
    engine.con.execute(
        "DELETE FROM srsql.member WHERE case_no % 3 <> 0 OR (case_no % 4 = 0 AND group_id % 2 = 0)"
    )
    store = engine.con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'release_%_demo'"
    ).fetchall()[0][0]
    engine.con.execute(
        f"DELETE FROM srsql_data.{store} WHERE caseid NOT IN (SELECT p.pseudonym "
        "FROM srsql.id_pseudonym AS p JOIN srsql.member AS m ON p.id = m.case_id "
        "WHERE p.kind = 'case')"
    )
    try:
        found = check_figures(engine)
        assert found["candidates_below_k", SCOPES[2] + WORST].violating > 0
        assert found["one_candidate", SCOPES[2] + WORST].violating > 0
    finally:
        engine.con.execute("ROLLBACK")


@pytest.mark.parametrize("seed", range(8))
def test_a_set_is_admitted_where_a_record_holds_it_in_some_dataset(seed: int, sql: Any) -> None:
    luck = random.Random(seed)
    terms = list("abcdef")
    held = [frozenset(t for t in terms if luck.random() < 0.4) for _ in range(3)]
    places = {(1, t): luck.choice([("own", 1, 1), ("own", 1, 2), ("item", 1, 0)]) for t in terms}
    made = project(held, [1] * 3, {}, places)
    load(sql, made.rows())
    sets = [frozenset(s) for n in (1, 2, 3) for s in combinations([*terms, "z"], n)]
    listed = [(number, 1, t) for number, s in enumerate(sets) for t in s]
    fill(sql, "sets", ("set_no INTEGER", "cluster INTEGER", "term VARCHAR"), listed)
    found = warehouse(sql).rows(
        "SELECT a.set_no, a.admitted FROM srsql.admitted_sets("
        "'temp.main.record_chunk', 'temp.main.item_chunk', 'temp.main.sets') AS a"
    )
    records = {record for world in possible_records(made, 1) for record in world}
    assert dict(found) == {
        number: any(s <= record for record in records) for number, s in enumerate(sets)
    }


@pytest.mark.parametrize("seed", range(6))
def test_covering_cases_are_those_of_groups_whose_region_covers_a_case(seed: int, sql: Any) -> None:
    luck = random.Random(seed)
    for name in ("release", "member", "region", "case_qid"):
        sql.con.execute(f"DELETE FROM srsql.{name}")

    def ends(width: int) -> Ends:
        low = luck.randrange(6)
        return (None, None) if luck.random() < 0.2 else (low, low + luck.randrange(width))

    regions = [(ends(5), ends(5)) for _ in range(6)]
    cases = {n: [f"{n}.{i}" for i in range(luck.randint(1, 3))] for n in range(6)}
    publish(sql, 1, "q", {n: (region, cases[n]) for n, region in enumerate(regions)})
    group = [n for n in cases for _ in cases[n]]
    own = [(ends(1), ends(1)) for _ in group]
    rows_of_own = [
        (1, case, position, *part, False)
        for case, parts in enumerate(own)
        for position, part in enumerate(parts)
    ]
    sql.insert("srsql.case_qid", rows_of_own)
    placed = [(case, n % 3) for case, n in enumerate(group)]
    columns = ("case_no INTEGER", "cluster INTEGER")
    fill(sql, "placed", columns, placed)
    fill(sql, "asked", columns, [(case, c) for case in range(len(group)) for c in range(3)])
    people = [
        Patient(q, regions[n], frozenset(), frozenset()) for q, n in zip(own, group, strict=True)
    ]
    found = warehouse(sql).rows(
        "SELECT c.* FROM srsql.covering_cases(1, 'temp.main.placed', 'temp.main.asked') AS c"
    )
    assert {(case, cluster): tuple(counts) for case, cluster, *counts in found} == {
        (case, cluster): tuple(
            sum(
                may_be(target, other, empty) and cluster == at
                for other, (_, at) in zip(people, placed, strict=True)
            )
            for empty in ("anything", "not known")
        )
        for case, target in enumerate(people)
        for cluster in range(3)
    }
