"""The attack in SQL, on tables imported from CSV, does what the definitions say."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.attack import Interval, Published, Region, play
from support.foreign import dataset

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough

SEX = {"Any": (0, 2), "M": (1, 1), "F": (2, 2)}
SEX_OF = {interval: label for label, interval in SEX.items()}
QUARTERS = ("2011Q1", "2011Q2", "2011Q3")
NUMBER = count()

ages = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: (min(pair), max(pair)))
regions = st.tuples(st.none() | ages, st.none() | st.sampled_from(list(SEX.values())))
cases = st.dictionaries(
    st.integers(1, 9),
    st.tuples(regions, st.frozensets(st.sampled_from(["A", "B", "C"]), max_size=3)),
    min_size=1,
)
histories = st.lists(st.tuples(st.sampled_from(QUARTERS), cases), min_size=1, max_size=4)
knowledge = st.fixed_dictionaries(
    {},
    optional={
        0: st.integers(0, 5).map(lambda age: (age, age)),
        1: st.sampled_from([SEX["M"], SEX["F"]]),
    },
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    con = duckdb.connect()
    with Engine(con) as opened:
        yield opened
    con.close()


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("dataset"))


def write(file: Path, content: dict[int, tuple[Region, frozenset[str]]]) -> None:
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["case_id", "age_low", "age_high", "sex", "adr", "disease"])
        for case, ((age, sex), terms) in content.items():
            ends = age or ("", "")
            rows.writerow([case, *ends, SEX_OF[sex] if sex else "", ";".join(sorted(terms)), ""])


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    history=histories,
    known=knowledge,
    new=st.booleans(),
    after=st.sampled_from(["", "stopped", "stayed", "gone"]),
)
def test_an_attack_is_what_the_definitions_make_of_the_imported_series(
    engine: Engine,
    tmp_path: Path,
    other: Path,
    history: list[tuple[str, dict[int, tuple[Region, frozenset[str]]]]],
    known: dict[int, Interval],
    new: bool,
    after: str,
) -> None:
    stopped, stayed, gone = (after == name for name in ("stopped", "stayed", "gone"))
    series = f"s{next(NUMBER)}"
    for quarter, content in history:
        write(tmp_path / "released.csv", content)
        engine.import_release(
            tmp_path / "released.csv", quarter, dataset=other, series=series, supersede=True
        )
    told = sorted(  # by quarter; within one, in the order of import
        (
            Published(q, {c: r for c, (r, _) in x.items()}, {c: t for c, (_, t) in x.items()})
            for q, x in history
        ),
        key=lambda release: release.quarter,
    )
    qids = {
        name: value
        for position, name in enumerate(["age", "sex"])
        if position in known
        for value in [str(known[0][0]) if position == 0 else SEX_OF[known[1]]]
    }
    for quarter in {quarter for quarter, _ in history}:
        at = max(i for i, release in enumerate(told) if release.quarter == quarter)
        versions = [i for i, release in enumerate(told) if release.quarter == quarter]
        left = len(versions) > 1 and new
        expected = play(told, versions[-2] if left else at, known, new=new, stopped=stopped,
                        left=left, stayed=stayed, gone=gone)  # fmt: skip
        found = engine.attack(quarter, qids, new=new, stopped=stopped, left=left, stayed=stayed,
                              gone=gone, dataset="other", series=series)  # fmt: skip
        assert {int(c.case_id) for c in found.candidates} == expected.candidates
        assert {
            e.name: {int(x.case_id) for x in e.excluded} for e in found.exclusions
        } == expected.excluded
        assert [e.cases for e in found.exclusions] == [
            len(expected.excluded[e.name]) for e in found.exclusions
        ]
        assert found.not_evaluated == expected.not_evaluated
        assert {int(c) for c in found.remaining} == expected.remaining
        assert {i.term: i.confidence for i in found.inferences} == pytest.approx(
            {term.lower(): float(share) for term, share in expected.confidence.items()}  # keys
        )
        assert {p.quarter: {int(c) for c in p.case_ids} for p in found.persistence} == (
            expected.persistence
        )
