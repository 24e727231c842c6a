"""What is measured of a setting is what a release with these options measures."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oracles import clinic
from support.advice import OPTIONS, task_of
from support.files import copied
from support.quarters import crowd

from srsql.engine.api.engine import Engine
from srsql.engine.console.study import advice_lines, advice_title, compared_lines
from srsql.engine.extras.study.results import Compared
from srsql.engine.extras.study.sample import count_cases, thin
from srsql.engine.extras.study.settings import Advice, Setting, Sweep, setting, settings
from srsql.engine.extras.study.worker import run_setting

pytestmark = pytest.mark.thorough

QUARTER = "x'; DROP TABLE t; --"


def measured(db: Path, folder: Path, model: str, theta: str = "0.4", **more: Any) -> Setting:
    (cell,) = settings(
        Sweep(k=(5,), theta=(theta,), epsilon=("1",), leftovers=("withhold",)), (model,)
    )
    folder.mkdir()
    task = task_of(db, folder / "own.duckdb", "2011Q4", dict(cell.options)) | more
    return setting(cell, "quarter", run_setting(task, lambda _: None), None, seeded=True)


def figures(engine: Engine) -> dict[tuple[str, str], Any]:
    return {(row.measure, row.scope): row for row in engine.metrics("2011Q4")}


def fewest_remaining(engine: Engine) -> int:
    """Of a series of two releases, from the catalog, target by target."""
    members = engine.sql(
        "SELECT m.group_id, m.case_id, m.is_new FROM srsql.member AS m "
        "WHERE m.release_id = (SELECT max(release_id) FROM srsql.release)"
    )
    groups = defaultdict(list)
    for group, case, new in members:
        groups[group].append((case, new))
    earlier = {
        case: (low, high)
        for case, low, high in engine.sql(
            "SELECT caseid::VARCHAR, [age_low, wt_low], [age_high, wt_high] "
            "FROM release_2011q3.demo"
        )
    }
    raw = dict(
        engine.sql(
            "SELECT caseid::VARCHAR, [srsql_age, srsql_wt] FROM raw_faers.demo "
            "WHERE quarter = '2011Q4'"
        )
    )

    def out(case: str, target: str, *, target_new: bool) -> bool:
        if case not in earlier:
            return False
        ends = zip(*earlier[case], raw[target], strict=True)
        return target_new or not all(low <= value <= high for low, high, value in ends)

    return min(
        sum(not out(case, target, target_new=new) for case, _ in crowd)
        for crowd in groups.values()
        for target, new in crowd
    )


@pytest.mark.parametrize("joined", [False, True])
def test_risk_and_loss_are_those_of_the_real_release(
    db: Path, tmp_path: Path, joined: bool
) -> None:
    with Engine(db) as engine:
        if joined:  # half the cases are then known from an earlier release
            engine.release("2011Q3", **OPTIONS, ids="original")
    before = hashlib.sha256(db.read_bytes()).hexdigest()
    found = measured(db, tmp_path / "m", "ppms++")
    assert hashlib.sha256(db.read_bytes()).hexdigest() == before
    with Engine(db) as engine:
        asked: dict[str, Any] = {"k": 5, "theta": "0.4", "change": True, "weaker": True}
        engine.release("2011Q4", model="ppms++", **asked, **OPTIONS)
        rows = figures(engine)
        sizes = [n for (n,) in engine.sql(
            "SELECT count(*) FROM srsql.member AS m WHERE m.release_id = "
            "(SELECT max(release_id) FROM srsql.release) GROUP BY m.group_id")]  # fmt: skip
        fewest = fewest_remaining(engine) if joined else min(sizes)
    gone = rows["withheld", "cases"]
    share = gone.violating / gone.total
    nil_star = rows["nil_star", "release"].ratio
    assert (found.cases, found.withheld) == (gone.total, gone.violating)
    assert found.nil_star == pytest.approx(nil_star)
    assert found.loss == pytest.approx(share + (1 - share) * nil_star)
    assert found.rr == pytest.approx(rows["rr", "release"].ratio)
    assert (found.groups, found.smallest) == (len(sizes), min(sizes))
    assert found.fewest == fewest
    assert found.risk == 1 / fewest
    assert (found.dsr, found.attacks) == (0, "b,f,l")
    assert found.confidence <= 0.4
    if joined:
        assert fewest < max(sizes)


def test_of_a_model_with_noise_the_risk_is_a_mean(db: Path, tmp_path: Path) -> None:
    found = measured(db, tmp_path / "m", "ppms-dp-num")
    assert (found.risk_is, found.fewest, found.error) == ("mean", None, None)
    assert found.risk == found.rr
    assert found.label == "ppms-dp-num k=5 epsilon=1 theta=0.4 refine=fast"  # no seed


def test_what_is_withheld_is_told_with_the_values_it_is_withheld_for(
    kept: Path, tmp_path: Path
) -> None:
    half = [replace(r, pt=("Common",)) if r.caseid % 2 else r for r in crowd(41)]
    db = copied(kept / "half", tmp_path / "w.duckdb", {"2011Q4": half})
    with Engine(db) as engine:  # withdrawn by its reporter, which is nobody's loss
        engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '1', 1)")
    found = measured(db, tmp_path / "m", "ppms++", theta="0.2")
    assert found.withheld == sum(found.withheld_why.values()) > 0
    (value,) = [v for v in found.infeasible if v.value == "Common"]
    assert (value.cases, value.total, value.theta) == (20, 40, 0.2)
    assert found.cases == 40
    assert found.loss == pytest.approx(
        found.withheld_share + (1 - found.withheld_share) * found.nil_star
    )


def test_a_sample_has_whole_cases_and_the_rest_of_the_warehouse_is_as_it_was(db: Path) -> None:
    counts = "SELECT quarter, count(*), count(DISTINCT caseid) FROM raw_faers.{} GROUP BY ALL"
    drawn = []
    for seed in (1, 1, 2):
        with Engine(db) as engine:
            before = {t: {q: (n, c) for q, n, c in engine.sql(counts.format(t))}
                      for t in ("demo", "reac")}  # fmt: skip
            engine.con.execute("BEGIN")
            dataset = engine.dataset()
            thin(engine.warehouse, dataset, "2011Q4", 20, seed)
            assert count_cases(engine.warehouse, dataset, "2011Q4") == 20
            assert count_cases(engine.warehouse, dataset, "2011Q3") == 60
            for name in ("demo", "reac"):
                after = {q: (n, c) for q, n, c in engine.sql(counts.format(name))}
                assert after["2011Q4"] == (20, 20)
                assert after["2011Q3"] == before[name]["2011Q3"]
            drawn.append(
                engine.sql("SELECT caseid FROM raw_faers.demo WHERE quarter = '2011Q4' ORDER BY 1")
            )
            engine.con.execute("ROLLBACK")
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_hostile_quarter_is_sampled_and_measured_as_data(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    data = clinic.write(tmp_path, clinic.visits(24), clinic.findings(["a", "b", "c", "d"], 24))
    with Engine(db) as engine:
        engine.con.execute("CREATE TABLE main.t AS SELECT 'keep me' AS x")
        engine.ingest([data], dataset=tmp_path / "clinic.toml", period=QUARTER)
    options = {"model": "ppms++", "k": 3, "theta": "1"}
    task = task_of(db, tmp_path / "own.duckdb", QUARTER, options) | {"sample": [12, 3]}
    rows = {row["measure"]: row for row in run_setting(task, lambda _: None)}
    assert rows["rr"]["total"] == 12
    with Engine(tmp_path / "own.duckdb") as engine:
        assert engine.sql("FROM main.t") == [("keep me",)]


def test_a_quarter_that_steers_a_terminal_is_written_out() -> None:
    text = "2011\x1b[31m"
    refused = Setting("ms\x1b[31m", "ms", 5, None, None, "quarter", error="no\x1b[31m")
    advice = Advice(
        "faers", "main", text, [text], 9, None, 0.2, None, None, None, None, {}, text, None,
        [refused], [], 1, [],
    )  # fmt: skip
    assert "\x1b" not in "".join([advice_title(advice), *advice_lines(advice)])
    made = Compared("faers", [text], 1, 0, 1, [text], [])
    assert "\x1b" not in "".join(compared_lines(made))
