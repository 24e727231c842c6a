"""Releases of ipa, full-domain and dp-histogram, end to end on a small synthetic quarter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles.lattice import expected

from srsql.engine.api.engine import Engine
from srsql.engine.catalog.releases import Release
from srsql.engine.checks import Evidence
from srsql.engine.checks.registry import prove
from srsql.engine.errors import CheckFailedError, PublishError, ReleaseError, SrsqlError
from srsql.engine.lattice import cube, ipa
from srsql.engine.risk.group_queries import GroupQuestion, by_age_group

pytestmark = pytest.mark.slow

MODELS: list[tuple[str, dict[str, Any]]] = [
    pytest.param("ipa", {}, marks=pytest.mark.thorough),
    pytest.param("ipa", {"calibration": "paper"}, marks=pytest.mark.thorough),
    ("full-domain", {}),
    ("dp-histogram", {}),
]
COMMON: dict[str, Any] = {"informative": "pt", "dimensions": "age,sex"}


def rows_of(engine: Engine, schema: str = "release_2011q1") -> list[tuple[Any, ...]]:
    return engine.con.execute(f"SELECT * FROM {schema}.released_rows").fetchall()


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_rows_have_no_id_new_numbers_and_nothing_tells_which_are_made_up(
    engine: Engine, model: str, options: dict[str, Any]
) -> None:
    made = engine.release("2011Q1", model=model, **COMMON, **options)
    described = engine.con.execute("DESCRIBE release_2011q1.released_rows").fetchall()
    assert [row[0] for row in described] == ["row", "age_low", "age_high", "sex", "pt"]
    assert {row[0] for row in engine.con.execute(
        "SELECT view_name FROM duckdb_views() WHERE schema_name = 'release_2011q1'"
    ).fetchall()} == {"released_rows", "manifest"}  # fmt: skip
    rows = rows_of(engine)
    assert engine.con.execute("SELECT count(*) FROM srsql.id_pseudonym").fetchall() == [(0,)]
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert made.rows == {"released_rows": len(rows)}
    order = [row[1:] for row in rows]
    assert order != sorted(order, key=str)
    widths = {(row[1], row[2]) for row in rows if row[1] is not None}
    assert all(a[1] < b[0] for a, b in zip(sorted(widths), sorted(widths)[1:], strict=False))
    cursor = engine.con.execute("SELECT * FROM release_2011q1.manifest")
    told = {entry[0] for entry in cursor.description} & {"released_cases", "released_reports"}
    assert bool(told) == (model == "full-domain")  # else they would tell how many are made up


def test_full_domain_keeps_every_record_in_classes_of_k(engine: Engine) -> None:
    made = engine.release("2011Q1", model="full-domain", k=10, **COMMON)
    rows = rows_of(engine)
    assert len(rows) == 160  # the case without a term is withheld, second reports are no records
    assert min(Counter(row[1:4] for row in rows).values()) >= 10
    assert made.manifest["withheld"] == {"no_informative_value": {"cases": 1, "reports": 1}}
    terms = Counter(row[4] for row in rows)
    assert terms["only one has it"] == 1


@pytest.mark.thorough
def test_the_losses_of_the_lattice_are_measured(engine: Engine) -> None:
    engine.release("2011Q1", model="ipa", calibration="paper", **COMMON)
    rows = {(row.measure, row.scope): row for row in engine.metrics("2011Q1")}
    parts = [rows[name, "chosen"].ratio or 0 for name in ("ncp", "emd", "rate")]
    assert rows["il", "chosen"].ratio == pytest.approx(sum(parts))
    heights = [row for (name, _), row in rows.items() if name == "il" and "height" in row.scope]
    assert sum(row.total or 0 for row in heights) == 8  # four levels of age, two of sex
    assert {name for name, _ in rows} == {
        "il", "ncp", "emd", "rate", "il (all records)", "emd (all records)", "ncp (eq. 6)",
        "counterfeits", "suppressed", "withheld", "group_count_error",
    }  # fmt: skip
    assert rows["ncp (eq. 6)", "chosen"].ratio == pytest.approx(2 * parts[0])


def test_what_is_expected_of_the_draw_is_the_mean_by_equation_12(engine: Engine) -> None:
    engine.release(
        "2011Q1", model="ipa", calibration="paper", epsilon="2", share_suppression="0.1",
        share_insertion="0.2", share_value="0.1", share_candidates="3/5", **COMMON,
    )  # fmt: skip
    nodes = engine.sql("SELECT n.ncp + n.emd_classes + n.rate, n.probability"
                       " FROM srsql.lattice_node AS n")  # fmt: skip
    assert len(nodes) == 8
    assert sum(chance for _, chance in nodes) == pytest.approx(1)
    rows = {(row.measure, row.scope): row for row in engine.metrics("2011Q1")}
    due = expected([il for il, _ in nodes], 2 * 3 / 5)
    assert rows["il", "expected"].ratio == pytest.approx(due)
    assert rows["il", "expected"].total == 8


@pytest.mark.thorough
def test_nothing_is_expected_of_a_choice_whose_chances_nobody_can_tell(engine: Engine) -> None:
    """The sound choice is made by noise; the others make none, so that one node is all there is."""
    for model, told in (("ipa", False), ("full-domain", True), ("dp-histogram", True)):
        engine.release("2011Q1", model=model, series=model.replace("-", "_"), **COMMON)
        rows = {(row.measure, row.scope): row.ratio
                for row in engine.metrics("2011Q1", series=model.replace("-", "_"))}  # fmt: skip
        assert (("il", "expected") in rows) == told
        if told:
            assert rows["il", "expected"] == pytest.approx(rows["il", "chosen"])


def test_the_shares_of_epsilon_are_told_and_add_up_to_one(engine: Engine) -> None:
    usual = engine.release("2011Q1", model="ipa", noise="seeded", seed=3, series="a", **COMMON)
    shares = {name: text for name, text in usual.manifest.items() if name.startswith("share_")}
    assert shares == {
        "share_suppression": "1/10", "share_insertion": "3/10", "share_value": "3/10",
        "share_candidates": "3/10",
    }  # fmt: skip
    assert "with 3/10 of it" in usual.manifest["guarantee"]
    other = engine.release(
        "2011Q1", model="ipa", noise="seeded", seed=3, series="b", share_suppression="0.1",
        share_insertion="0.1", share_value="0.3", share_candidates="0.5", **COMMON,
    )  # fmt: skip
    assert "with 1/2 of it" in other.manifest["guarantee"]
    assert rows_of(engine, "release_a_2011q1") != rows_of(engine, "release_b_2011q1")


def test_a_seeded_release_repeats_and_cannot_be_published(engine: Engine, tmp_path: Path) -> None:
    for series in ("a", "b"):
        engine.release("2011Q1", model="ipa", noise="seeded", seed=5, series=series, **COMMON)
    assert rows_of(engine, "release_a_2011q1") == rows_of(engine, "release_b_2011q1")
    with pytest.raises(PublishError, match="2011Q1"):
        engine.publish("2011Q1", tmp_path / "out", series="a")


@pytest.mark.parametrize("model", ["ipa", "full-domain", "dp-histogram"])
def test_publish_refuses_what_nobody_could_verify(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    engine.release("2011Q1", model=model, **COMMON)
    with pytest.raises(PublishError, match="nobody who gets an artifact could verify it"):
        engine.publish("2011Q1", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_a_draft_is_checked_again_and_confirmed_and_a_series_goes_on(engine: Engine) -> None:
    engine.release("2011Q1", model="full-domain", draft=True, **COMMON)
    engine.release("2011Q1", model="full-domain", draft=True, **COMMON)  # replaces the first
    assert engine.con.execute("SELECT count(*) FROM srsql.lattice").fetchall() == [(1,)]
    assert engine.confirm("2011Q1").status == "released"
    engine.release("2011Q2", model="full-domain", **COMMON)
    found = engine.con.execute(
        "SELECT quarter, count(*) FROM released.released_rows GROUP BY quarter ORDER BY quarter"
    ).fetchall()
    assert found == [("2011Q1", 160), ("2011Q2", 160)]


@pytest.mark.thorough
def test_a_quarter_of_a_range_with_too_few_cases_becomes_an_empty_release(engine: Engine) -> None:
    made = engine.release_range("2011Q1:2011Q2", model="full-domain", k=1000, **COMMON)
    assert [one.rows for one in made.released] == [{"released_rows": 0}] * 2
    engine.release("2011Q1", model="ipa", series="b", **COMMON)  # nothing is left behind


def test_a_series_keeps_its_columns(engine: Engine) -> None:
    engine.release("2011Q1", model="ipa", **COMMON)
    with pytest.raises(ReleaseError, match="ipa"):
        engine.release("2011Q2", model="ipa", informative="pt", dimensions="age")


def test_rows_that_were_tampered_with_fail_their_check(engine: Engine) -> None:
    made = engine.release("2011Q1", model="full-domain", k=10, **COMMON)
    dataset = engine.dataset().with_categories()
    made_release = Release(
        engine.warehouse, dataset, dataset, made.release_id, made.series, made.quarter,
        made.schema, 10,
    )  # fmt: skip
    name = f"srsql_data.release_{made.release_id}_released_rows"
    for change, measure in (
        (f"UPDATE {name} SET age_high = age_high - 1 WHERE row = "
         f"(SELECT min(row) FROM {name} WHERE age_high IS NOT NULL)", "check_row_levels"),
        (f"UPDATE {name} SET row = 2 WHERE row = 1", "check_row_numbers"),
        (f"UPDATE {name} SET age_low = NULL, age_high = NULL, sex = 'M' WHERE row <= 2",
         "check_row"),
        (f"UPDATE {name} SET pt = NULL WHERE row = 3", "check_row_numbers"),
    ):  # fmt: skip
        engine.con.execute("BEGIN")
        engine.con.execute(change)
        with pytest.raises(CheckFailedError, match=measure):
            prove(Evidence(made_release), "checks", again=True)
        engine.con.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"informative": "age"}, "no published sensitive column"),
        ({"dimensions": "height"}, "has the quasi-identifiers"),
        ({"suppress_below": 1}, "threshold would have no noise"),
        ({"epsilon": "0"}, "--epsilon 0"),
        ({"share_value": "1/2"}, "the shares of epsilon add up to 6/5: give four that add up to 1"),
        ({"share_value": "0"}, "--share-value 0: give a number above 0, at most 1"),
        ({"terms": "disassociate"}, "--terms does not go with the model ipa"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    engine: Engine, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(ReleaseError, match=text):
        engine.release("2011Q1", model="ipa", **{**COMMON, **options})
    assert engine.con.execute("SELECT count(*) FROM srsql.release").fetchall() == [(0,)]


@pytest.mark.parametrize("model", ["ipa", "dp-histogram"])
def test_a_domain_of_too_many_cells_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setattr(ipa, "MOST_CELLS", 20)
    with pytest.raises(ReleaseError, match=r"has \d+ cells, at most 20 get noise: leave some out"):
        engine.release("2011Q1", model=model, **COMMON)


NAMED_LIKE_A_CLASS = """
name = "visits"
report_table = "visit"
report_id = "visit_id"
case_id = "visit_id"
source.reader = "csv"
sensitive = [{table = "visit", column = "term"}]

[tables.visit]
files = ["visit*.csv"]
publish = ["term"]
columns = ["visit_id", "class_no", "term"]

[[qid]]
name = "class_no"
kind = "categorical"
column = "class_no"
hierarchy = "class.csv"
"""


def test_a_quasi_identifier_may_have_the_name_of_a_column_of_ours(tmp_path: Path) -> None:
    schema = tmp_path / "visits.toml"
    schema.write_text(NAMED_LIKE_A_CLASS)
    (tmp_path / "class.csv").write_text("node,parent\nany,\none,any\ntwo,any\n")
    held = [("one" if n % 3 else "two", f"term {n % 4}") for n in range(24)]
    lines = [f"{n},{shown},{term}" for n, (shown, term) in enumerate(held)]
    (tmp_path / "visits.csv").write_text("\n".join(["visit_id,class_no,term", *lines, ""]))
    with Engine(tmp_path / "visits.duckdb", dataset=schema) as engine:
        engine.ingest([tmp_path / "visits.csv"], period="2011Q1")
        engine.release("2011Q1", model="full-domain", k=4)
        assert Counter(row[1:] for row in rows_of(engine)) == Counter(held)


def test_more_combinations_than_can_be_numbered_are_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cube, "MOST_COMBINATIONS", 1_000)
    with pytest.raises(ReleaseError, match=r"wt, sex have more combinations of values than"):
        engine.release("2011Q1", model="full-domain", k=5)
    assert engine.con.execute("SELECT count(*) FROM srsql.release").fetchall() == [(0,)]


def test_q1_and_q3_are_answered_from_the_rows_alone(engine: Engine) -> None:
    made = engine.release("2011Q1", model="full-domain", k=5, informative="pt")
    dataset = engine.dataset()
    question = GroupQuestion(("pt", "rash"), {"sex": "M"}, amount="wt")
    answer = by_age_group(engine.warehouse, dataset, made.schema, question).groups
    rows = engine.con.execute(
        f"SELECT age_low, age_high, sex, pt, wt_low, wt_high FROM {made.schema}.released_rows"
    ).fetchall()
    share = {"M": 1.0, "Any": 0.5, "F": 0.0}
    fits = [(row, share[row[2]]) for row in rows if row[3].lower() == "rash" and share[row[2]]]
    known = [((0, 120) if row[0] is None else row, part) for row, part in fits]
    assert sum(group.expected for group in answer) == pytest.approx(sum(p for _, p in known))
    for group in answer:
        years = range(group.age_group, group.age_group + 5)
        expected = sum(
            part * len([y for y in range(row[0], row[1] + 1) if y in years])
            / (row[1] - row[0] + 1)
            for row, part in known
        )  # fmt: skip
        assert group.expected == pytest.approx(expected)
        assert group.lower <= group.expected + 1e-9
        assert group.upper <= len(fits)


def test_commands_about_cases_refuse_such_a_series_in_one_line(engine: Engine) -> None:
    engine.release("2011Q1", model="full-domain", **COMMON)
    calls: list[Callable[[], object]] = [
        engine.audit,
        engine.report,
        lambda: engine.report("2011Q1", public=True),
        lambda: engine.attack("2011Q1", {"age": "50"}),
        lambda: engine.signals(drug="A", reaction="Rash"),
    ]
    for call in calls:
        with pytest.raises(SrsqlError, match="releases rows that are no case's"):
            call()


@pytest.mark.parametrize(
    ("model", "calibration", "meaning"),
    [
        ("ipa", "nominal", "nominal: ipa is not differential privacy, no epsilon holds"),
        ("dp-histogram", "sound", "epsilon-differential privacy for adding or removing a case"),
    ],
)
def test_every_case_of_the_quarter_is_charged_the_whole_of_epsilon(
    engine: Engine, model: str, calibration: str, meaning: str
) -> None:
    """The one without a term is withheld, and was computed with all the same."""
    made = engine.release("2011Q1", model=model, epsilon="1/2", **COMMON)
    charged = engine.sql(
        "SELECT l.attribute, l.calibration, l.epsilon_num, l.epsilon_den, count(*),"
        " count(DISTINCT l.case_id) FROM srsql.ledger('faers', 'main') AS l GROUP BY ALL"
    )
    assert charged == [(None, calibration, 1, 2, 161, 161)]
    whole, _ = engine.status().budget
    assert (whole["worst_epsilon"], whole["cases"]) == ("1/2", 161)
    assert whole["meaning"].startswith(meaning)
    assert "Every case of the quarter is charged the whole of it" in made.manifest["guarantee"]
    with pytest.raises(ReleaseError, match=r"161 case\(s\) would have spent an epsilon of 1 "):
        engine.release(
            "2011Q1", model=model, epsilon="1/2", epsilon_limit="0.9", series="b", **COMMON
        )


def test_a_model_without_epsilon_charges_nothing(engine: Engine) -> None:
    engine.release("2011Q1", model="full-domain", **COMMON)
    assert engine.sql("SELECT count(*) FROM srsql.budget_ledger") == [(0,)]
    assert engine.status().budget == []


@pytest.mark.parametrize(
    ("fault", "violating"),
    [
        ("SELECT 1", 0),
        ("DELETE FROM srsql.budget_ledger WHERE case_id IN "
         "(SELECT m.case_id FROM srsql.member AS m WHERE m.case_no < 3)", 3),
        ("INSERT INTO srsql.budget_ledger SELECT * REPLACE ('nobody' AS case_id) "
         "FROM srsql.budget_ledger LIMIT 1", 1),
        ("INSERT INTO srsql.budget_ledger SELECT * FROM srsql.budget_ledger LIMIT 1", 1),
        ("UPDATE srsql.budget_ledger SET epsilon_den = 3", 161),
        ("UPDATE srsql.budget_ledger SET series = 'x'", 161),
        ("UPDATE srsql.budget_ledger SET attribute = 'age'", 161),
    ],
)  # fmt: skip
def test_a_ledger_that_does_not_charge_every_case_once_is_found(
    engine: Engine, fault: str, violating: int
) -> None:
    engine.release("2011Q1", model="ipa", epsilon="1/2", **COMMON)
    engine.con.execute(fault)
    ((found, passed),) = engine.sql("SELECT c.violating, c.passed FROM srsql.check_charges(1) AS c")
    assert (found, passed) == (violating, violating == 0)
