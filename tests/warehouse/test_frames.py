"""Results as pandas, Arrow or Polars tables keep their types."""

from __future__ import annotations

import importlib
from decimal import Decimal
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from support.quarters import crowd, write_quarter

import srsql
from srsql.engine.audit.evidence import GroupEvidence
from srsql.engine.errors import FrameError
from srsql.engine.measures import MeasureRow
from srsql.engine.signals.results import Signal

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


def test_an_audit_gives_frames_of_its_releases_and_its_evidence(results: dict[str, Any]) -> None:
    audit = results["audit"]
    releases = srsql.as_frame(audit.releases, kind="arrow")
    assert releases.column("attacks").to_pylist() == [list(r.attacks) for r in audit.releases]
    assert str(releases.schema.field("persistence").type) == "int64"
    evidence = srsql.as_frame(audit.evidence, kind="arrow", of=GroupEvidence)
    assert evidence.num_rows == len(audit.evidence)
    assert str(evidence.schema.field("qid").type) == "string"
    with pytest.raises(FrameError, match=r"an? Audit is not rows"):
        srsql.as_frame(audit)


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
