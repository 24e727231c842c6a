"""What becomes of perturbed releases: drafts, repeats, the ledger and its limit, publication."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.people import people
from support.quarters import write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, ReleaseError
from srsql.schemas import load_dataset

pytestmark = pytest.mark.thorough

CASES = range(1, 61)
OPTIONS: dict[str, Any] = {
    "k": 3,
    "theta": "0.5",
    "seed": 1,
    "allow_linkable": True,
    "ids": "original",
    "model": "ppms-dp-all",
}
RETURNING = range(1, 21)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty cases; twenty of them return unchanged beside thirty new ones."""
    folder = tmp_path_factory.mktemp("life")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(
            [
                write_quarter(folder, "2011Q1", people(CASES)),
                write_quarter(folder, "2011Q2", people(RETURNING, 2) + people(range(101, 131), 2)),
            ],
            allow_incomplete=True,
        )
    return folder / "w.duckdb"


@pytest.fixture
def engine(ingested: Path, tmp_path: Path) -> Iterator[Engine]:
    with Engine(shutil.copy(ingested, tmp_path / "w.duckdb")) as opened:
        yield opened


def weights(engine: Engine, schema: str = "release_2011q1") -> dict[int, int]:
    return dict(engine.sql(f"SELECT d.caseid, d.wt_low FROM {schema}.demo AS d"))


def test_a_returning_case_gets_independent_noise_and_is_charged_twice(engine: Engine) -> None:
    engine.release("2011Q1", **OPTIONS)
    engine.release("2011Q2", **OPTIONS)
    first, second = weights(engine), weights(engine, "release_2011q2")
    both = [case for case in RETURNING if case in first and case in second]
    assert len(both) > 15
    unclamped = [c for c in both if 0 < first[c] < 400 and 0 < second[c] < 400]
    assert sum(first[c] == second[c] for c in unclamped) <= 3
    charged = dict(
        engine.sql(
            "SELECT l.case_id::INTEGER, fsum(l.epsilon_num / l.epsilon_den) "
            "FROM srsql.ledger('faers', 'main') AS l GROUP BY 1"
        )
    )
    assert all(charged[case] == pytest.approx(2) for case in both)
    assert all(charged[case] == pytest.approx(1) for case in first if case not in second)
    for budget in engine.status().budget:
        assert (budget["worst_epsilon"], budget["cases"]) == ("2", len(both))
        assert budget["calibration"] == "sound"
    assert [b["scope"] for b in engine.status().budget] == ["warehouse", "series"]


def test_all_models_need_no_covering(engine: Engine) -> None:
    """What was drawn for a case before does not decide the nodes it can get now."""
    engine.release("2011Q1", **OPTIONS)
    engine.release("2011Q2", **OPTIONS)
    assert engine.sql("SELECT count(*) FROM srsql.region AS r WHERE r.low IS NOT NULL") == [(0,)]
    narrower = engine.sql(
        "SELECT count(*) FROM srsql.perturbed AS v INNER JOIN srsql.member AS m"
        " ON v.release_id = m.release_id AND v.case_no = m.case_no"
        " INNER JOIN srsql.member AS n ON m.case_id = n.case_id AND n.release_id > m.release_id"
        " INNER JOIN srsql.perturbed AS w ON n.release_id = w.release_id"
        "  AND n.case_no = w.case_no AND v.position = w.position AND v.position <> 1 "
        "WHERE NOT (w.low <= v.low AND v.high <= w.high)"
    )[0][0]
    assert narrower > 0


def test_a_confirmed_draft_shows_the_draw_that_was_looked_at(engine: Engine) -> None:
    engine.release("2011Q1", **OPTIONS, draft=True)
    looked_at = weights(engine, "draft_2011q1")
    assert engine.status().budget[0]["worst_epsilon"] == "1"  # the steward saw it
    engine.confirm("2011Q1")
    assert weights(engine) == looked_at
    assert engine.status().budget[0]["worst_epsilon"] == "1"  # and it is the same draw


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("UPDATE srsql_data.release_1_demo SET wt_low = 401, wt_high = 401", "check_values"),
        ("UPDATE srsql_data.release_1_demo SET age_low = 1", "check_values"),
        ("UPDATE srsql_data.release_1_reac SET pt = 'Of case 1'", "check_theta"),
    ],
)
def test_a_changed_draft_is_not_confirmed(engine: Engine, change: str, check: str) -> None:
    engine.release("2011Q1", **OPTIONS, series="other", draft=True)
    engine.con.execute(change)
    with pytest.raises(CheckFailedError, match=check):
        engine.confirm("2011Q1", series="other")


def test_a_draft_made_again_is_drawn_anew_and_forgets_all_but_what_it_cost(engine: Engine) -> None:
    drawn = []
    for _ in range(2):
        engine.release("2011Q1", **OPTIONS, draft=True)
        drawn.append(weights(engine, "draft_2011q1"))
    assert drawn[0] != drawn[1]
    for name in ("perturbation", "perturbed"):
        assert engine.sql(f"SELECT count(DISTINCT t.release_id) FROM srsql.{name} AS t") == [(1,)]
    assert engine.status().budget[0]["worst_epsilon"] == "2"
    statuses = "SELECT DISTINCT l.status FROM srsql.ledger('faers', 'main') AS l ORDER BY 1"
    assert engine.sql(statuses) == [("draft",), ("removed",)]


def test_drafts_use_the_limit_up(engine: Engine) -> None:
    """Whoever draws until a draft pleases has seen every draw."""
    for _ in range(2):
        engine.release("2011Q1", **OPTIONS, draft=True, epsilon_limit="2")
    with pytest.raises(ReleaseError, match=r"epsilon of 3 over all series .* drafts included"):
        engine.release("2011Q1", **OPTIONS, epsilon_limit="2")
    engine.confirm("2011Q1")  # the draw that is charged already
    assert engine.status().budget[0]["worst_epsilon"] == "2"


def test_a_superseding_release_is_a_second_draw_and_charges_again(engine: Engine) -> None:
    single = OPTIONS | {"model": "msdp-num"}
    engine.release("2011Q1", **single)
    first = weights(engine)
    with pytest.raises(ReleaseError, match=r"60 case\(s\) would have spent an epsilon of 2"):
        engine.release("2011Q1", **single, supersede=True, change=True, epsilon_limit="1.5")
    assert weights(engine) == first
    engine.release("2011Q1", **single, supersede=True, change=True, epsilon_limit="2")
    assert weights(engine) != first
    assert engine.status().budget[0]["worst_epsilon"] == "2"


def test_a_limit_counts_all_series_of_the_warehouse_unless_it_is_for_one(engine: Engine) -> None:
    engine.release("2011Q1", **OPTIONS, epsilon="3/2", epsilon_limit="3/2")
    asked: dict[str, Any] = OPTIONS | {"change": True, "weaker": True}
    for series in ("main", "other"):
        with pytest.raises(ReleaseError, match="--epsilon-limit 2"):
            engine.release("2011Q2", **asked, epsilon="1", epsilon_limit="2", series=series)
    assert engine.sql("SELECT count(*) FROM srsql.release") == [(1,)]
    alone = {"series": "other", "epsilon_scope": "series", "epsilon_limit": "2"}
    made = engine.release("2011Q2", **OPTIONS, epsilon="1", **alone)
    assert made.manifest["epsilon_scope"] == "series"
    worst = {b["series"]: b["worst_epsilon"] for b in engine.status().budget}
    assert worst == {None: "5/2", "main": "3/2", "other": "1"}


@pytest.mark.parametrize("models", [("msdp-num",) * 3, ("msdp-all", "dp-histogram", "ipa")])
def test_of_three_series_of_one_quarter_the_second_is_over_the_limit(
    engine: Engine, models: tuple[str, ...]
) -> None:
    limited: dict[str, Any] = {"k": 3, "theta": "0.5", "epsilon": "1", "epsilon_limit": "1"}
    lattice = {"informative": "pt", "dimensions": "sex"}
    made = []
    for number, model in enumerate(models):
        options = limited | (lattice if model in ("ipa", "dp-histogram") else {})
        request = options | {"model": model, "series": f"s{number}"}
        if number == 0:
            made.append(engine.release("2011Q1", **request))
            continue
        with pytest.raises(ReleaseError, match=r"60 case\(s\) .* epsilon of 2 over all series"):
            engine.release("2011Q1", **request)
    assert len(made) == 1
    assert engine.sql("SELECT r.series FROM srsql.release AS r") == [("s0",)]


def test_a_limit_is_not_used_up_by_cases_that_the_release_does_not_have(engine: Engine) -> None:
    """Whatever others have spent, refusing a release would not take it back."""
    engine.release("2011Q1", **OPTIONS, epsilon="9")
    engine.con.execute("DELETE FROM srsql.budget_ledger WHERE case_id::INTEGER <= 20")
    engine.release("2011Q2", **OPTIONS, epsilon="1", epsilon_limit="1", series="other")
    assert engine.status().budget[0]["worst_epsilon"] == "9"


def test_seeded_noise_repeats_and_marks_the_release(engine: Engine) -> None:
    made = [
        engine.release("2011Q1", **OPTIONS, noise="seeded", draft=True).manifest,
    ]
    first = weights(engine, "draft_2011q1")
    engine.con.execute("SET threads = 1")
    made.append(engine.release("2011Q1", **OPTIONS, noise="seeded").manifest)
    assert weights(engine) == first
    for manifest in made:
        assert (manifest["noise"], manifest["publishable"]) == ("seeded", False)
        assert manifest["guarantee"].startswith("NOT FOR PUBLICATION")
    (public,) = engine.frame("SELECT * FROM release_2011q1.manifest").to_dict("records")
    assert public["publication"] == "not for publication"
    assert "withheld_cases" not in public
    assert "seed" not in public
    stored = json.loads(engine.sql("SELECT r.private_manifest FROM srsql.release AS r")[0][0])
    assert stored["publishable"] is False
    assert engine.sql("SELECT DISTINCT p.noise FROM srsql.perturbation AS p") == [("seeded",)]


def test_secure_noise_ignores_the_seed_and_the_manifest_says_so(engine: Engine) -> None:
    drawn = []
    for _ in range(2):
        manifest = engine.release("2011Q1", **OPTIONS, draft=True).manifest
        drawn.append(weights(engine, "draft_2011q1"))
    assert drawn[0] != drawn[1]
    assert (manifest["noise"], manifest["publishable"]) == ("secure", True)
    assert manifest["publication"] == "allowed"


@pytest.mark.parametrize(
    ("calibration", "words"),
    [
        ("sound", ["epsilon-local differential privacy", "given the grouping", "not covered"]),
        ("paper", ["not differential privacy", "no epsilon holds"]),
    ],
)
def test_the_manifest_and_status_tell_what_holds(
    engine: Engine, calibration: str, words: list[str]
) -> None:
    made = engine.release("2011Q1", **OPTIONS, calibration=calibration)
    for word in words:
        assert word in made.manifest["guarantee"]
    meaning = engine.status().budget[0]["meaning"]
    assert ("no epsilon holds" in meaning) == (calibration == "paper")


def test_only_one_kind_of_noise_per_series(engine: Engine) -> None:
    engine.release("2011Q1", **OPTIONS)
    for model in ("ppms-dp-num", "msdp-all", "ppms++"):
        with pytest.raises(ReleaseError, match="give another --series"):
            engine.release("2011Q2", **(OPTIONS | {"model": model}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": "0"}, "above 0"),
        ({"epsilon": "51"}, "at most 50"),
        ({"epsilon": "1/10001"}, "denominator"),
        ({"epsilon": "much"}, "--epsilon 'much'"),
        ({"epsilon_limit": "-1"}, "--epsilon-limit -1"),
        ({"epsilon": "1", "model": "ppms++"}, "--epsilon does not apply"),
        ({"noise": "seeded", "model": "ms"}, "--noise does not apply"),
    ],
)
def test_budgets_that_mean_nothing_are_refused(
    engine: Engine, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ReleaseError, match=message):
        engine.release("2011Q1", **(OPTIONS | options))


def _nowhere(which: Any, *_: Any) -> Any:
    return which * 0 + 99


def test_a_kernel_that_loses_draws_is_caught_before_anything_is_released(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srsql.udfs.mechanisms.exponential_choice", _nowhere)
    with pytest.raises(CheckFailedError, match="check_draws"):
        engine.release("2011Q1", **OPTIONS)
    assert engine.sql("SELECT count(*) FROM srsql.release") == [(0,)]


def test_groups_that_are_merged_wrongly_are_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group that keeps one case: k does not hold, whatever is published."""
    from srsql.engine.store.warehouse import Warehouse

    run_step = Warehouse.run_step

    def torn(warehouse: Warehouse, file: str, *more: Any) -> None:
        run_step(warehouse, file, *more)
        if file == "grouping/merge":
            warehouse.run(
                "UPDATE temp.main.srsql_grouped SET group_no = 1 WHERE group_no = 0 AND case_no"
                " > (SELECT min(g.case_no) FROM temp.main.srsql_grouped AS g"
                " WHERE g.group_no = 0)"
            )

    monkeypatch.setattr(Warehouse, "run_step", torn)
    with pytest.raises(CheckFailedError, match="check_k"):
        engine.release("2011Q1", **OPTIONS)


def test_released_values_off_the_domain_or_the_tree_are_caught(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from srsql.engine.store.warehouse import Warehouse

    run_step = Warehouse.run_step

    def out_of_range(warehouse: Warehouse, file: str, *more: Any) -> None:
        if file == "grouping/perturbed":
            warehouse.run(
                "UPDATE temp.main.srsql_drawn SET low = low + 401, high = high + 401 "
                "WHERE position = 1"
            )
        run_step(warehouse, file, *more)

    monkeypatch.setattr(Warehouse, "run_step", out_of_range)
    with pytest.raises(CheckFailedError, match="check_values"):
        engine.release("2011Q1", **OPTIONS)


def test_where_noise_leaves_nothing_metrics_and_both_reports_say_so(engine: Engine) -> None:
    sentence = re.compile(r"(\d+)\s?% of the released values of wt lie at an end")
    for epsilon, worthless in (("1", True), ("50", False)):
        made = {"epsilon": epsilon, "series": f"e{epsilon}"}
        engine.release("2011Q1", **(OPTIONS | {"model": "msdp-num"}), **made)
        drawn = weights(engine, f"release_e{epsilon}_2011q1").values()
        share = sum(value in (0, 400) for value in drawn) / len(drawn)
        (row,) = [
            row
            for row in engine.metrics("2011Q1", series=made["series"])
            if row.measure == "at_domain_ends"
        ]
        assert (row.scope, row.ratio, row.passed) == ("wt", pytest.approx(share), None)
        assert (share > 0.1) == worthless
        for public in (False, True):
            html = engine.report("2011Q1", series=made["series"], public=public).html
            found = sentence.search(html)
            assert (found is not None) == worthless
            assert found is None or int(found[1]) == int(f"{100 * share:.0f}")


def test_the_command_line_tells_guarantee_budget_and_audit(engine: Engine) -> None:
    db = engine.warehouse.path
    engine.close()
    made = srsql(
        "release", "--quarter", "2011Q1", "--model", "ppms-dp-num", "--k", 3, "--theta", "0.5",
        "--epsilon", "1/2", "--calibration", "sound", "--epsilon-limit", "1", "--db", db,
    )  # fmt: skip
    assert made.code == 0, made.err
    assert "epsilon-local differential privacy" in made.out
    status = srsql("status", "--db", db, "--json")
    whole, series = status.json["budget"]
    assert (whole["scope"], series["scope"]) == ("warehouse", "series")
    assert {Fraction(b["worst_epsilon"]) for b in (whole, series)} == {Fraction(1, 2)}
    audit = srsql("audit", "--db", db)
    assert audit.code == 0
    assert "gates nothing" in audit.out


def test_without_groups_age_is_a_number_like_any_other(tmp_path: Path) -> None:
    text = load_dataset("faers").text
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("groups"))
    file = tmp_path / "plain.toml"
    file.write_text(plain.replace('name = "faers"', 'name = "plain"', 1))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q1", people(CASES))], dataset=file)
        engine.release("2011Q1", **OPTIONS)
        rows = engine.sql("SELECT d.age_low, d.age_high FROM release_2011q1.demo AS d")
        assert all(low == high for low, high in rows)
        mechanisms = engine.sql(
            "SELECT p.mechanism, p.epsilon_den FROM srsql.perturbation AS p ORDER BY p.position"
        )
    assert mechanisms == [("discrete laplace", 3), ("discrete laplace", 3), ("exponential", 3)]


def test_numbers_without_declared_bounds_or_no_numbers_at_all_are_refused(tmp_path: Path) -> None:
    text = load_dataset("faers").text
    observed = text.replace("domain = [0, 400]", 'domain = "observed"')
    start, end = text.index('[[qid]]\nname = "wt"'), text.index('[[qid]]\nname = "sex"')
    for name, schema, message in (
        ("watched", observed, "needs declared bounds"),
        ("bare", text[:start] + text[end:], "no numeric quasi-identifier"),
    ):
        file = tmp_path / f"{name}.toml"
        file.write_text(schema.replace('name = "faers"', f'name = "{name}"', 1))
        with Engine(tmp_path / f"{name}.duckdb") as engine:
            engine.ingest([write_quarter(tmp_path, "2011Q1", people(CASES))], dataset=file)
            with pytest.raises(ReleaseError, match=message):
                engine.release("2011Q1", **(OPTIONS | {"model": "msdp-num"}))
