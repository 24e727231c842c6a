"""A prior is fitted once for a file as it is: answers are the same, and a written file is anew."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.quarters import crowd, write_quarter

from srsql import Engine
from srsql.engine.signals import run
from srsql.engine.store import unchanged
from srsql.udfs import shrinkage
from srsql.udfs.shrinkage import Prior, posterior

PAIRS = [("Drug 1", "Reaction 01"), ("Drug 2", "Reaction 05")]
ASKED: dict[str, dict[str, Any]] = {
    "a pair": {},
    "old": {"min_age": 40},
    "old, known": {"min_age": 40, "missing": "exclude"},
    "women": {"sex": "F"},
    "released": {"released_only": True},
    "every role": {"roles": []},
    "strata": {"strata": ["sex"]},
    "without a drug": {"without_drug": "Drug 3"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("priors")
    luck = random.Random(5)
    drugs = [f"Drug {n}" for n in range(9)]
    cases = [
        replace(
            each,
            drugs=tuple(luck.sample(drugs, luck.randint(1, 3))),
            pt=tuple(f"Reaction {luck.randint(0, 13):02}" for _ in range(luck.randint(1, 4))),
            age="" if luck.random() < 0.1 else str(luck.randint(20, 80)),
        )
        for each in crowd(160)
    ]
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", cases)])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    return folder / "w.duckdb"


@pytest.fixture
def fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of how many points each prior was that was fitted; nothing is kept yet."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(unchanged, "cache_folder", lambda kind: cache)
    later = time.time_ns() + 10**10
    monkeypatch.setattr(unchanged.time, "time_ns", lambda: later)
    fitted: list[int] = []
    own: Callable[..., Any] = shrinkage.fit_prior

    def counted(*points: Any) -> Any:
        fitted.append(len(points[0]))
        return own(*points)

    monkeypatch.setattr(shrinkage, "fit_prior", counted)
    return fitted


def answers(db: Path, **asked: Any) -> str:
    with Engine(db, read_only=True) as engine:
        found = [engine.signals(drug=drug, reaction=reaction, **asked) for drug, reaction in PAIRS]
    assert all(prior.p is not None for each in found for prior in each.priors)
    return "\n".join(map(repr, found))


@pytest.mark.parametrize("asked", ASKED)
def test_answers_by_a_kept_prior_are_those_that_fitted_it(
    made: Path, fits: list[int], asked: str
) -> None:
    def every() -> list[str]:
        return [answers(made, **ASKED[name]) for name in ("a pair", asked)]

    with_fit = every()
    sides = 2 if asked != "released" else 1
    anew = {"a pair": 0, "released": 0, "strata": 2 * sides}.get(asked, sides)
    assert len(fits) == 2 + anew, "each prior once, for two pairs"
    assert every() == with_fit
    assert len(fits) == 2 + anew


def test_all_pairs_and_one_have_the_same_prior(made: Path, fits: list[int]) -> None:
    with Engine(made, read_only=True) as engine:
        all_pairs = engine.signals(every_pair=True)
        (one,) = engine.signals(drug=PAIRS[0][0], reaction=PAIRS[0][1]).signals
    assert len(fits) == 2
    assert one in [
        replace(each, drug=PAIRS[0][0], reaction=PAIRS[0][1])
        for each in all_pairs.signals
        if (each.drug.casefold(), each.reaction.casefold())
        == tuple(name.casefold() for name in PAIRS[0])
    ]


def test_what_was_written_since_or_is_damaged_is_fitted_anew(
    made: Path, fits: list[int], tmp_path: Path
) -> None:
    first = answers(made)
    os.utime(made)
    assert (answers(made), len(fits)) == (first, 4)
    (kept,) = (tmp_path / "cache").rglob("unchanged.json")
    told = json.loads(kept.read_text(encoding="utf-8"))
    ((path, about),) = told.items()
    assert path == str(made.resolve())
    names = [name for name in about["found"] if name.startswith("prior ")]
    assert len(names) == 2
    for wrong in (
        [1, 2],
        [3, "x", 1.0, 1.0, 1.0, 0.5],
        None,
        {"p": 1},
        [3, 1.0, 1.0, None, 1.0, 0.5],
    ):
        about["found"] |= dict.fromkeys(names, wrong)
        kept.write_text(json.dumps(told), encoding="utf-8")
        before = len(fits)
        assert (answers(made), len(fits) - before) == (first, 2)
    for text in ("", "[1]", "{", json.dumps({path: []})):
        kept.write_text(text, encoding="utf-8")
        before = len(fits)
        assert (answers(made), len(fits) - before) == (first, 2)


def test_a_prior_that_another_process_drops_meanwhile_is_not_fitted_to_what_is_left(
    made: Path, fits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answers(made)
    (kept,) = (tmp_path / "cache").rglob("unchanged.json")
    own = run.load_cases

    def dropping(*asked: Any, **how: Any) -> None:
        kept.unlink(missing_ok=True)
        own(*asked, **how)

    monkeypatch.setattr(run, "load_cases", dropping)
    drug, reaction = PAIRS[0]
    with Engine(made, read_only=True) as engine:
        again = repr(engine.signals(drug=drug, reaction=reaction))
    assert (again, len(fits)) == (first.split("\n")[0], 2)


def test_a_file_of_another_file_has_priors_of_its_own(
    made: Path, fits: list[int], tmp_path: Path
) -> None:
    answers(made)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(160, terms=12))])
        engine.release("2011Q4", k=3, theta="1", seed=1)
        engine.signals(every_pair=True)
        written = len(fits)
        engine.signals(every_pair=True)
        assert len(fits) == written + 2, "of a file that is open for writing nothing is kept"
    os.replace(tmp_path / "w.duckdb", made.with_name("other.duckdb"))
    with Engine(made.with_name("other.duckdb"), read_only=True) as engine:
        engine.signals(every_pair=True)
    assert len(fits) == written + 4


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_posterior_does_not_depend_on_what_else_is_asked_with_it(size: int) -> None:
    luck = np.random.default_rng(size)
    n = 1 + luck.geometric(0.15, 700).astype(float)
    e = n / luck.lognormal(0, 2, 700)
    prior = Prior(0.2, 0.1, 2.0, 4.0, 1 / 3)
    whole = np.stack(posterior(n, e, prior))
    parts = [
        np.stack(posterior(n[i : i + size], e[i : i + size], prior)) for i in range(0, 700, size)
    ]
    assert (np.concatenate(parts, axis=1) == whole).all()
