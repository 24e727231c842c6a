"""An advice comes in time: few settings first, nothing twice, and what is measured is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import srsql

from srsql.engine.api.engine import Engine
from srsql.engine.extras.study import rounds
from srsql.engine.extras.study.rounds import first_cells
from srsql.engine.extras.study.sample import thin
from srsql.engine.extras.study.settings import Advice, Sweep, settings

WARM: dict[str, Any] = {"models": ("ppms++",), "theta": ("0.4", "0.2"), "leftovers": ("withhold",)}


@given(
    ks=st.lists(st.integers(2, 30), min_size=1, max_size=5, unique=True),
    risk=st.none() | st.integers(1, 40).map(lambda n: Fraction(1, n)),
    leftovers=st.sampled_from([("withhold",), ("suppress",), ("withhold", "suppress")]),
)
def test_first_comes_of_each_theta_the_least_k_that_promises_the_risk(
    ks: list[int], risk: Fraction | None, leftovers: tuple[str, ...]
) -> None:
    sweep = Sweep(k=tuple(ks), theta=("0.4", "frequency"), leftovers=leftovers)
    first = first_cells(settings(sweep, ("ppms++",)), risk)
    enough = [k for k in ks if risk is None or Fraction(1, k) <= risk]
    expected = min(enough) if enough else max(ks)
    found = [dict(cell.options) for cell in first]
    assert [(o["k"], o["theta"]) for o in found] == [(expected, "0.4"), (expected, "frequency")]
    assert {o["leftovers"] for o in found} == {leftovers[0]}


@given(risk=st.integers(1, 40).map(lambda n: Fraction(1, n)))
def test_no_k_is_tried_unasked_that_cannot_keep_the_risk_and_no_noise(risk: Fraction) -> None:
    tried = {dict(cell.options)["k"] for cell in settings(Sweep(), ("ppms++",), risk)}
    assert all(k == 3 or Fraction(1, k) <= risk for k in tried)
    assert min(tried) == max(3, risk.denominator)
    assert {k for k in (3, 5, 10, 20) if k > risk.denominator} <= tried
    noisy = {dict(cell.options)["k"] for cell in settings(Sweep(), ("ppms-dp-num",), risk)}
    assert noisy == {3, 5, 10, 20}  # whose risk is a mean
    assert Sweep().models == ()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Quarters of 60 cases are large; what is said before the end."""
    for module in ("rounds", "advice"):
        monkeypatch.setattr(f"srsql.engine.extras.study.{module}.FEW", 20)
    return []


def advise(db: Path, out: Path, told: list[str], **asked: Any) -> Advice:
    with Engine(db) as engine:
        made: Advice = engine.advise(
            "2011Q4", out, sweep=Sweep(**WARM | asked), jobs=1, tell=told.append
        )
    return made


def test_few_settings_come_first_then_the_quarter_and_the_plan_before_either(
    db: Path, tmp_path: Path, pretended: list[str], told: list[str]
) -> None:
    made = advise(db, tmp_path / "out", told, k=(5, 10))
    first = [f"ppms++ k=5 theta={theta} refine=fast" for theta in ("0.4", "0.2")]
    assert pretended[:2] == first
    assert sorted(pretended[2:]) == sorted(
        f"ppms++ k={k} theta={theta} refine=fast" for k in (5, 10) for theta in ("0.4", "0.2")
    )
    assert told[0].startswith(
        "settings to try: 2 on a sample of 20 cases (about 10 seconds), then 4 on all 60 cases "
        "(about 20 seconds); 1 at a time."
    )
    assert told[1].startswith("first advice, from a sample of 20 cases: ppms++ k=5 theta=0.")
    assert "srsql release --quarter 2011Q4 --series main --model ppms++ --k 5" in told[1]
    assert (made.measured, made.sample, made.sampled, made.quick) == (6, None, [], False)
    assert {one.cases for one in made.settings} == {60}


def test_quick_ends_after_the_sample_and_says_so_everywhere(
    db: Path, tmp_path: Path, pretended: list[str], told: list[str]
) -> None:
    out = tmp_path / "out"
    made = advise(db, out, told, k=(5, 10), quick=True)
    assert len(pretended) == 2
    assert made.recommended is not None
    assert made.recommended.measured_on == "sample"
    assert made.reason.startswith("On a sample of 20 of 60 cases: ppms++ k=5")
    assert (made.quick, made.sample, {one.cases for one in made.settings}) == (True, 20, {20})
    assert "These are figures of a sample of 20 cases" in (out / "advise.html").read_text()
    asked = ("--models", "ppms++", "--k", "5", "--theta", "0.4", "--jobs", 1, "--quick")
    answer = srsql("advise", "--quarter", "2011Q4", "--db", db, "--out", out, *asked)
    assert answer.code == 0, answer.err
    assert "2011Q4, series main: measured on a sample of 20 of 60 cases" in answer.out
    assert f"--db {db}" in answer.out
    assert len(pretended) == 2  # kept from the first run


def test_suppressing_is_tried_where_withholding_leaves_cases_out(
    db: Path, tmp_path: Path, pretended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {"leftovers": ("withhold", "suppress"), "k": (5,), "theta": ("0.4",)}
    found = advise(db, tmp_path / "some", [], **both)  # pretended: 6 cases are withheld
    assert [one.leftovers for one in found.settings] == ["withhold", "suppress"]
    with_none(monkeypatch)
    found = advise(db, tmp_path / "none", [], **both)
    assert [one.leftovers for one in found.settings] == ["withhold"]
    alone = both | {"leftovers": ("suppress",)}
    found = advise(db, tmp_path / "alone", [], **alone)
    assert [one.leftovers for one in found.settings] == ["suppress"]


def with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is pretended withholds nothing."""
    real = rounds.read_cell

    def read(file: Path) -> Any:
        found = real(file)
        for row in (found or {"rows": []})["rows"]:
            if row["measure"] == "withheld":
                row["violating"] = 0
        return found

    monkeypatch.setattr("srsql.engine.extras.study.rounds.read_cell", read)


@pytest.mark.slow
def test_where_nothing_is_withheld_suppressing_makes_the_same_release(db: Path) -> None:
    rows = []
    for leftovers, infeasible in (("withhold", "withhold"), ("suppress", "suppress")):
        with Engine(db) as engine:
            made = engine.release.make(
                "2011Q4", series=leftovers, model="ppms++", k=5, theta="0.4", seed=1,
                leftovers=leftovers, on_infeasible=infeasible, allow_linkable=True, ids="original",
            )  # fmt: skip
            assert made.manifest["cases"]["withheld"] == 0
            newest = (
                "SELECT r.schema_name FROM srsql.release AS r ORDER BY r.release_id DESC LIMIT 1"
            )
            ((views,),) = engine.sql(newest)
            rows.append(engine.sql(f'FROM "{views}".demo ORDER BY ALL'))
    assert rows[0] == rows[1]


def test_an_interruption_says_what_is_kept_and_the_same_command_goes_on_from_there(
    db: Path, tmp_path: Path, pretended: list[str], told: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    real: Callable[..., dict[Path, str]] = rounds.run

    def after_one(*given: Any) -> dict[Path, str]:
        warehouse, dataset, todo, *rest = given
        if len(todo) > 2:  # of the quarter
            real(warehouse, dataset, todo[:1], *rest)
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr("srsql.engine.extras.study.rounds.run", after_one)
    with pytest.raises(KeyboardInterrupt):
        advise(db, tmp_path / "out", told, k=(5, 10))
    assert told[2:] == [
        f"1 of 4 settings are measured on the quarter and kept in {tmp_path / 'out'}: the same "
        "command goes on from there",
        "best of them: ppms++ k=5 theta=0.2 refine=fast, loss 0.1450, worst risk 0.2000 (1 of 5): "
        "srsql release --quarter 2011Q4 --series main --model ppms++ --k 5 --theta 0.2 --missing "
        "keep --on-infeasible withhold --refine fast",
    ]
    monkeypatch.setattr("srsql.engine.extras.study.rounds.run", real)
    made = advise(db, tmp_path / "out", [], k=(5, 10))
    assert (made.measured, len(pretended)) == (3, 6)
    assert json.loads(next((tmp_path / "out" / "cells").iterdir()).read_text())["rows"]


def test_a_sample_has_as_few_loaded_reports_as_it_has_cases(db: Path) -> None:
    loaded = (
        "SELECT f.loaded FROM srsql.ingested_file AS f JOIN srsql.ingestion AS i USING "
        "(ingestion_id) WHERE i.quarter = '{}' AND f.table_name = 'demo'"
    )
    with Engine(db) as engine:
        before = engine.sql(loaded.format("2011Q3"))
        thin(engine.warehouse, engine.dataset(), "2011Q4", 20, 1)
        assert engine.sql(loaded.format("2011Q4")) == [(20,)]
        assert engine.sql(loaded.format("2011Q3")) == before
