"""Results as pandas, Arrow or Polars tables keep their types."""

from __future__ import annotations

import importlib
import importlib.util
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.quarters import crowd, write_quarter

import srsql
from srsql.engine.audit.evidence import GroupEvidence
from srsql.engine.errors import FrameError
from srsql.engine.extras.study.results import Compared
from srsql.engine.extras.study.settings import Advice, Setting
from srsql.engine.measures import MeasureRow
from srsql.engine.signals.results import Signal
from srsql.engine.store.frames import Lines, Rows

pytestmark = pytest.mark.slow

MIXED = (
    "SELECT i, CASE WHEN i > 1 THEN i::BIGINT END AS gap, NULL::INTEGER AS nothing, "
    "(i / 4)::DECIMAL(9, 2) AS share, 'x' AS text, sum(i) OVER () AS total, ? AS given "
    "FROM range(3) AS t(i) ORDER BY i"
)


@pytest.mark.parametrize("where", ["true", "false"])
def test_the_types_of_a_query_do_not_depend_on_its_rows(where: str) -> None:
    with duckdb.connect() as con:
        engine = srsql.Engine(con)
        query = f"FROM ({MIXED}) AS q WHERE {where}"
        arrow = engine.frame(query, [7], kind="arrow")
        assert [str(t) for t in arrow.schema.types] == [
            "int64", "int64", "int32", "decimal128(9, 2)", "string", "decimal128(38, 0)", "int32",
        ]  # fmt: skip
        frame = engine.frame(query, [7])
        assert [t.pyarrow_dtype for t in frame.dtypes] == arrow.schema.types
        polars = pytest.importorskip("polars")
        told = engine.frame(query, [7], kind="polars")
        assert isinstance(told, polars.DataFrame)
        assert told.schema["gap"] == polars.Int64
        assert told.schema["share"] == polars.Decimal(9, 2)
        assert told.height == len(frame) == arrow.num_rows == (3 if where == "true" else 0)


def test_values_come_out_as_they_are() -> None:
    with duckdb.connect() as con:
        frame = srsql.Engine(con).frame(MIXED, [7])
        assert isinstance(frame, pd.DataFrame)
        assert frame["gap"].isna().tolist() == [True, True, False]
        assert frame["gap"][2] == 2
        assert frame["share"][1] == Decimal("0.25")
        assert frame["given"].tolist() == [7, 7, 7]


def test_an_unknown_kind_is_refused() -> None:
    with duckdb.connect() as con, pytest.raises(FrameError, match="'feather'"):
        srsql.Engine(con).frame("SELECT 1", kind="feather")  # type: ignore[call-overload]


def test_polars_is_asked_for_in_one_line_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(FrameError, match="pip install polars"):
        srsql.as_frame([], kind="polars")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("frames")
    with srsql.Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", crowd(30))])
        engine.release("2011Q4", k=3, theta="0.5", seed=1)
        return {
            "metrics": engine.metrics("2011Q4"),
            "audit": engine.audit(),
            "signals": engine.signals(every_pair=True).signals,
            "one": engine.signals(drug="Drug 1", reaction="nothing", allow_unknown=True).signals,
            "only": engine.signals(
                drug="Drug 1", reaction="Reaction 01", released_only=True, min_age=18
            ).signals,
            "status": engine.status(),
        }


@pytest.mark.thorough
def test_metrics_are_one_row_each_with_the_types_of_their_class(results: dict[str, Any]) -> None:
    rows = results["metrics"]
    table = srsql.as_frame(rows, kind="arrow")
    assert table.num_rows == len(rows) > 3
    assert {f.name: str(f.type) for f in table.schema} == {
        "release": "int64", "measure": "string", "scope": "string", "violating": "double",
        "total": "double", "ratio": "double", "threshold": "double", "passed": "bool",
    }  # fmt: skip
    assert table.column("ratio").to_pylist() == [row.ratio for row in rows]
    assert srsql.as_frame([], kind="arrow", of=MeasureRow).schema == table.schema
    assert srsql.as_frame(rows)["release"].dtype == pd.ArrowDtype(pa.int64())


@pytest.mark.thorough
def test_an_audit_gives_frames_of_its_releases_and_its_evidence(results: dict[str, Any]) -> None:
    audit = results["audit"]
    releases = srsql.as_frame(audit.releases, kind="arrow")
    assert releases.column("attacks").to_pylist() == [list(r.attacks) for r in audit.releases]
    assert str(releases.schema.field("persistence").type) == "int64"
    evidence = srsql.as_frame(audit.evidence, kind="arrow", of=GroupEvidence)
    assert evidence.num_rows == len(audit.evidence)
    assert str(evidence.schema.field("qid").type) == "string"
    assert srsql.as_frame(audit, kind="arrow") == releases


@pytest.mark.thorough
def test_parts_of_a_signal_are_columns_of_their_own_also_where_they_are_missing(
    results: dict[str, Any],
) -> None:
    full = srsql.as_frame(results["signals"] or results["one"], kind="arrow")
    only = srsql.as_frame(results["only"], kind="arrow")
    assert full.schema == only.schema == srsql.as_frame([], kind="arrow", of=Signal).schema
    assert only.column("original_prr").to_pylist() == [None]
    assert only.column("condition_min_age").to_pylist() == [Decimal(18)]
    assert str(only.schema.field("released_a_lower").type) == "int64"
    (signal,) = results["only"]
    assert only.column("released_a").to_pylist() == [signal.released.a]


def test_rows_that_are_dictionaries_give_their_columns(results: dict[str, Any]) -> None:
    table = srsql.as_frame(results["status"].releases, kind="arrow")
    assert table.column("quarter").to_pylist() == ["2011Q4"]
    assert str(table.schema.field("released_cases").type) == "int64"


def test_rows_of_two_classes_are_refused(results: dict[str, Any]) -> None:
    with pytest.raises(FrameError, match="results of one class"):
        srsql.as_frame([results["metrics"][0], results["audit"].releases[0]])
    with pytest.raises(FrameError, match="not rows"):
        srsql.as_frame("metrics")


HOSTILE = '<b onclick="x()">\x1b[31m\u202e'
"""What a data set may hold that neither a page nor a terminal should do."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each call of the engine gives that has rows."""
    folder = tmp_path_factory.mktemp("answers")
    with srsql.Engine(folder / "w.duckdb") as engine:
        loaded = engine.ingest([write_quarter(folder, "2011Q4", crowd(30))])
        engine.release("2011Q4", k=3, theta="0.5", seed=1)
        engine.release("2011Q4", k=3, theta="0.5", seed=1, series="journal", allow_linkable=True)
        released = engine.sql("SELECT caseid FROM release_journal_2011q4.demo LIMIT 1")
        yes: dict[str, Any] = {"series": "terms", "allow_linkable": True, "seed": 1}
        engine.release("2011Q4", model="disassociation", k=3, **yes)
        return {
            "ingest": loaded,
            "metrics": engine.metrics("2011Q4"),
            "audit": engine.audit(),
            "audit all": engine.audit(all_series=True),
            "signals": engine.signals(drug="Drug 1", reaction="nothing", allow_unknown=True),
            "status": engine.status(),
            "series": engine.series(),
            "attack": engine.attack("2011Q4", {"sex": "F"}),
            "query": engine.query("SELECT sex, COUNT(*) FROM demo GROUP BY sex"),
            "no rows": engine.query("SELECT sex, COUNT(*) FROM demo WHERE age > 119 GROUP BY sex"),
            "age groups": engine.age_groups("2011Q4"),
            "combinations": engine.term_combinations("2011Q4", series="terms"),
            "count terms": engine.count_terms("2011Q4", [["Disease 01"]], series="terms"),
            "lookup": engine.lookup([str(released[0][0])], series="journal"),
        }


NAMES = (
    "ingest", "metrics", "audit", "audit all", "signals", "status", "series", "attack", "query",
    "no rows", "age groups", "combinations", "count terms", "lookup",
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_every_result_with_rows_turns_into_frames_and_is_shown(
    answers: dict[str, Any], name: str
) -> None:
    found = answers[name]
    table = found.arrow()
    frame = found.df()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == table.column_names
    assert len(set(table.column_names)) == len(table.column_names) > 0
    assert len(frame) == table.num_rows
    assert srsql.as_frame(found, kind="arrow") == table
    text, page = str(found), found._repr_html_()
    assert table.column_names[0] in text
    assert "<table>" in page
    assert page.count("<table>") == page.count("</table>")
    if importlib.util.find_spec("polars") is None:
        with pytest.raises(FrameError, match="pip install polars"):
            found.pl()
    else:
        assert found.pl().height == table.num_rows


@pytest.mark.thorough
def test_an_answer_and_its_rows_are_the_same_table(answers: dict[str, Any]) -> None:
    answer = answers["query"]
    table = srsql.as_frame(answer.rows, kind="arrow")
    assert table == answer.arrow()
    assert table.column_names == ["sex", "lower", "expected", "upper", "known"]
    assert [tuple(row.values()) for row in table.to_pylist()] == list(answer.rows)
    empty = answers["no rows"].arrow().schema
    assert [str(empty.field(n).type) for n in ("lower", "expected", "upper", "known")] == [
        "int64", "double", "int64", "int64",
    ]  # fmt: skip
    assert str(answer).splitlines()[0].split() == ["sex", "lower", "expected", "upper", "known"]


@pytest.mark.thorough
def test_a_list_of_records_is_a_list_in_every_other_respect(answers: dict[str, Any]) -> None:
    rows = answers["metrics"]
    assert isinstance(rows, list)
    assert rows[1:3] == [rows[1], rows[2]]
    assert sorted(rows, key=lambda row: row.measure)
    assert repr(rows).startswith("[MeasureRow(")
    assert Rows([], MeasureRow).arrow().schema == rows.arrow().schema


def test_what_comes_from_the_data_does_nothing_where_it_is_shown() -> None:
    row = MeasureRow(1, HOSTILE, "a\nb", None, 1.5, None, None, True)
    rows = Rows([row] * 50, MeasureRow)
    page, text = rows._repr_html_(), str(rows)
    assert "<b" not in page
    assert "&lt;b onclick=&quot;x()&quot;&gt;\\x1b[31m\\u202e" in page
    assert "\x1b" not in text + page
    assert "\u202e" not in text + page
    assert "a\\nb" in text
    assert text.splitlines()[-1] == "(10 more rows: .df() has all)"
    assert len(text.splitlines()) == 42
    assert rows.df()["measure"][0] == HOSTILE


def test_columns_that_are_called_alike_are_told_apart() -> None:
    lines = Lines.of([(1, "x", 2)], ["n", "text", "n"])
    assert lines.table().to_pylist() == [{"n": 1, "text": "x", "n_2": 2}]
    assert lines == ((1, "x", 2),)


def test_a_comparison_has_the_frame_of_its_file(tmp_path: Path) -> None:
    table = pa.table({"model": ["ms"], "ratio": [0.5]})
    parquet.write_table(table, tmp_path / "results.parquet")
    files = [str(tmp_path / "results.parquet")]
    made = Compared("faers", ["2011Q4"], 1, 0, 1, [], files)
    assert made.arrow() == table
    assert "0.5" in str(made)


def test_an_advice_has_its_settings() -> None:
    one = Setting("ms k=5", "ms", 5, "0.4", None, "quarter", risk=0.2, loss=0.1)
    made = Advice("faers", "main", "2011Q4", [], 10, None, 0.2, None, None, one, None, {}, "", None,
                  [one], [], 1, [])  # fmt: skip
    assert made.df()["label"].tolist() == ["ms k=5"]
    assert "ms k=5" in str(made)
