"""A threshold bounds a term, however its reports spell it: on any mix of spellings."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.spellings import SPELLINGS, regions_above
from support.command import srsql
from support.quarters import Report, crowd, write_quarter
from support.released import region, rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import InfeasibleError

THETA = Fraction(2, 5)
REGIONS = ("age_low", "age_high", "wt_low", "wt_high", "sex")


def mixed(rng: random.Random, count: int, first: int, version: int) -> list[Report]:
    """Cases with random terms in random spellings, of which some have one term in two."""
    terms = list(SPELLINGS)
    found = []
    for report in crowd(count, first=first, version=version):
        held = [term for term in terms if rng.random() < 0.15]
        spelled = [rng.choice(SPELLINGS[term]) for term in held]
        spelled += [rng.choice(SPELLINGS[term]) for term in held if rng.random() < 0.3]
        cut = rng.randint(0, len(spelled))
        own = replace(report, pt=(*spelled[:cut], *report.pt), indi=tuple(spelled[cut:]))
        found.append(own)
    return found


def above(engine: Engine, schema: str) -> tuple[int, int]:
    """Regions with a term above THETA, and all, as plain Python reads the released views."""
    placed = [(region(row), row["caseid"]) for row in rows(engine.con, f"FROM {schema}.demo")]
    held = engine.sql(
        f"SELECT r.caseid, r.pt FROM {schema}.reac AS r WHERE r.pt IS NOT NULL UNION ALL "
        f"SELECT i.caseid, i.indi_pt FROM {schema}.indi AS i WHERE i.indi_pt IS NOT NULL"
    )
    return regions_above(placed, held, THETA)


def asked(**given: Any) -> dict[str, Any]:
    usual = {"k": 3, "theta": "2/5", "seed": 1, "on_infeasible": "withhold", "allow_linkable": True}
    return usual | given


@pytest.mark.thorough
@settings(REPEATABLE, max_examples=4)
@given(seed=st.integers(0, 10**6))
def test_no_region_is_above_a_threshold_by_an_oracle_that_folds_on_its_own(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder, rng = tmp_path_factory.mktemp("mixed"), random.Random(seed)
    quarters = {"2011Q3": mixed(rng, 40, 1, 1), "2011Q4": mixed(rng, 40, 25, 2)}
    with Engine(folder / "w.duckdb") as engine:
        for label, reports in quarters.items():
            engine.ingest([write_quarter(folder, label, reports)])
            engine.release(label, model="ppms++", **asked())
            engine.release(label, model="ms", series="single", **asked())
        for schema in ("release_2011q3", "release_2011q4"):
            for name in (schema, schema.replace("release", "release_single")):
                found, regions = above(engine, name)
                assert regions > 0
                assert found == 0
        assert engine.audit().safe


def crohns(spellings: Sequence[str]) -> list[Report]:
    """Three of five cases have one disease, each in the next of the spellings."""
    return [
        replace(report, indi=(spellings[n % len(spellings)] if n % 5 < 3 else f"Disease {n:03d}",))
        for n, report in enumerate(crowd(60))
    ]


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A quarter as regulators publish them: a disease of most cases, in four spellings."""
    folder = tmp_path_factory.mktemp("field")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2022Q4", crohns(SPELLINGS["crohn"]))])
        yield engine


def test_a_disease_in_several_spellings_is_refused_as_in_one(field: Engine, tmp_path: Path) -> None:
    with Engine(tmp_path / "one.duckdb") as one:
        one.ingest([write_quarter(tmp_path, "2022Q4", crohns(SPELLINGS["crohn"][:1]))])
        with pytest.raises(InfeasibleError) as expected:
            one.release("2022Q4", **asked(on_infeasible="error"))
    with pytest.raises(InfeasibleError) as found:
        field.release("2022Q4", **asked(on_infeasible="error"))
    told, one = (re.sub("'[^']*'|\"[^\"]*\"", "", str(each.value)) for each in (found, expected))
    assert told == one  # but for the spelling that is shown
    assert field.sql("SELECT count(*) FROM srsql.release") == [(0,)]


def test_version_0_lets_it_through_and_the_audit_says_what_folding_would_show(
    field: Engine,
) -> None:
    field.release("2022Q4", series="old", term_key=0, **asked(on_infeasible="error"))
    field.release("2022Q4", **asked())
    assert above(field, "release_2022q4")[0] == 0
    found, regions = above(field, "release_old_2022q4")
    assert found > 0
    audited = field.audit(series="old")
    assert audited.safe
    assert audited.folded is not None
    assert (audited.folded.above, audited.folded.regions) == (found, regions)
    assert (audited.folded.term_key, audited.folded.quarters) == (1, ("2022Q4",))
    assert field.audit().folded is None


def test_the_command_tells_it_in_one_line(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2022Q4", crohns(SPELLINGS["crohn"]))])
        engine.release("2022Q4", term_key=0, **asked(on_infeasible="error"))
        found, regions = above(engine, "release_2022q4")
    answer = srsql("audit", "--db", tmp_path / "w.duckdb")
    (line,) = [line for line in answer.out.splitlines() if line.startswith("by folded terms")]
    assert line == (
        f"by folded terms (term_key 1): {found} of {regions} regions above theta; new releases of "
        "this series can fold from now on: --term-key 1 --change"
    )
    told = srsql("audit", "--db", tmp_path / "w.duckdb", "--json").json
    assert told["folded"] == {
        "term_key": 1, "quarters": ["2022Q4"], "regions": regions, "above": found
    }  # fmt: skip
