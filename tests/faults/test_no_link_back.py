"""What is published cannot be linked back, and tells nothing of what was withheld."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from support.quarters import Report, crowd, write_quarter

from srsql import Engine, install
from srsql.engine.errors import IngestError, ReleaseError, WarehouseError
from srsql.schemas import SchemaError, load_dataset, parse_dataset
from srsql.udfs.grouping.feasibility import withhold_infeasible

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"k": 3, "theta": "0.5", "seed": 1, "allow_linkable": True}
LEGACY = "\n".join(
    ["ISR$CASE$AGE$AGE_COD$GNDR_COD$WT$WT_COD", *(f"{n}${n}${20 + n}$YR$M$70$KG" for n in range(9))]
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def unique(reports: list[Report]) -> list[Report]:
    return [replace(r, pt=(f"Of case {r.caseid}",), indi=()) for r in reports]


def legacy_quarter(folder: Path) -> Path:
    """Nine reports whose drugs are numbered across all reports, as AERS did."""
    folder.mkdir()
    files = {
        "DEMO": LEGACY,
        "DRUG": "ISR$DRUG_SEQ$ROLE_COD$DRUGNAME\n"
        + "\n".join(f"{n}${1000 + 2 * n + i}$PS$SAME" for n in range(9) for i in (0, 1)),
        "REAC": "ISR$PT\n" + "\n".join(f"{n}$R{n}" for n in range(9)),
        "INDI": "ISR$DRUG_SEQ$INDI_PT\n" + "\n".join(f"{n}${1001 + 2 * n}$I{n}" for n in range(9)),
        "OUTC": "ISR$OUTC_COD\n" + "\n".join(f"{n}$HO" for n in range(9)),
    }
    for name, text in files.items():
        (folder / f"{name}04Q1.TXT").write_text(text + "\n")
    return folder


def test_no_column_of_a_series_with_pseudonyms_names_a_report_of_another(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([legacy_quarter(tmp_path / "aers")], allow_incomplete=True)
    engine.release("2004Q1", **OPTIONS)
    engine.release("2004Q1", **OPTIONS, series="partners")
    drugs = engine.sql("SELECT drug_seq, primaryid FROM release_partners_2004q1.drug")
    assert {number for number, _ in drugs} == {"1", "2"}
    assert len({report for _, report in drugs}) == 9
    linked = engine.sql(
        "SELECT count(*) FROM release_partners_2004q1.drug AS d "
        "JOIN release_partners_2004q1.indi AS i "
        "ON d.primaryid = i.primaryid AND d.drug_seq = i.indi_drug_seq AND d.drug_seq = '2'"
    )
    assert linked == [(9,)]
    assert engine.sql("SELECT min(drug_seq) FROM release_2004q1.drug") == [("1000",)]


def test_the_public_manifest_names_no_value_of_a_column_that_is_not_published(
    engine: Engine, tmp_path: Path
) -> None:
    text = load_dataset("faers").text.partition("[signals]")[0]  # which need it published
    text = text.replace('publish = ["pt"]', "publish = []")
    text = text.replace('name = "faers"', 'name = "mine"', 1)
    (tmp_path / "mine.toml").write_text(text)
    source = write_quarter(tmp_path, "2011Q4", crowd(30))
    engine.ingest([source], dataset=tmp_path / "mine.toml", allow_incomplete=True)
    engine.release("2011Q4", **OPTIONS)
    ((told,),) = engine.sql("SELECT thresholds FROM release_2011q4.manifest")
    assert {entry["value"][:7] for entry in told} == {"disease"}


def test_the_public_manifest_does_not_tell_that_a_withheld_case_needed_larger_groups(
    engine: Engine, tmp_path: Path
) -> None:
    reports = unique(crowd(30))
    alone = Report(primaryid=9990, caseid=999, sex="M", pt=("Rare",))
    engine.ingest([write_quarter(tmp_path, "2011Q4", [*reports, alone])], allow_incomplete=True)
    (tmp_path / "levels.csv").write_text("value,theta\nRare,0.1\n*,0.5\n")
    theta = f"levels:{tmp_path / 'levels.csv'}"
    done = engine.release("2011Q4", k=3, theta=theta, seed=1, refine="off")
    assert done.manifest["withheld"]["pattern_too_small"]["cases"] == 1
    assert done.manifest["k_effective"] == 10
    assert engine.sql("SELECT k, k_effective FROM release_2011q4.manifest") == [(3, 3)]


def test_series_never_share_a_cumulative_schema(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30))], allow_incomplete=True)
    for name in ("partners_faers", "Partners"):
        engine.release("2011Q4", **OPTIONS, series=name)
    before = engine.sql("FROM released_partners_faers.demo")
    with pytest.raises(ReleaseError, match="give another --series"):
        engine.release("2011Q4", **OPTIONS, series="partners")
    assert engine.sql("FROM released_partners_faers.demo") == before
    assert engine.sql("SELECT series, cumulative_schema FROM srsql.series ORDER BY ALL") == [
        ("Partners", "released_partners"),
        ("partners_faers", "released_partners_faers"),
    ]


def test_a_withdrawal_outlives_the_file_that_told_of_it(engine: Engine, tmp_path: Path) -> None:
    engine.ingest(
        [write_quarter(tmp_path / "a", "2011Q4", crowd(30), deleted=[7])], allow_incomplete=True
    )
    engine.ingest(
        [write_quarter(tmp_path / "b", "2011Q4", crowd(30))], replace=True, allow_incomplete=True
    )
    engine.release("2011Q4", **OPTIONS, ids="original")
    assert engine.sql("SELECT count(*) FROM release_2011q4.demo WHERE caseid = 7") == [(0,)]


def test_a_list_of_withdrawn_cases_that_cannot_be_read_stops_the_ingestion(
    engine: Engine, tmp_path: Path
) -> None:
    source = write_quarter(tmp_path, "2011Q4", crowd(30), deleted=["7,2011-01-01"])  # type: ignore[list-item]
    with pytest.raises(IngestError, match=r"DELETE11Q4\.txt are rejected"):
        engine.ingest([source], allow_incomplete=True)


def test_a_published_column_cannot_be_a_protected_one_under_another_name(tmp_path: Path) -> None:
    text = load_dataset("faers").text.replace("age_grp = []", 'age_grp = ["age"]')
    text = text.replace("publish = []\n[tables.demo", 'publish = ["age_grp"]\n[tables.demo', 1)
    with pytest.raises(SchemaError, match=r"age_grp.* same place in the file as 'age'"):
        parse_dataset(text, tmp_path)


def test_feasibility_holds_for_fine_thresholds_and_fine_weights() -> None:
    one = 232792560 * 27720
    offsets = np.arange(81)
    terms = np.zeros(80, np.int32)
    num, den = np.array([12345679]), np.array([10**9])
    everyone = np.ones(80, np.bool_)
    out = withhold_infeasible(offsets, terms, np.full(80, one // 3), num, den, one, everyone)
    kept = int((~out).sum())
    assert kept * (one // 3) * 10**9 <= 12345679 * kept * one
    assert out.all()


def test_what_a_caller_has_on_the_connection_stays(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA released")
        con.execute("CREATE VIEW released.demo AS SELECT 42 AS mine")
        con.execute("CREATE TEMP TABLE srsql_mine AS SELECT 7 AS mine")
        engine = Engine(con)
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30))], allow_incomplete=True)
        engine.release("2011Q4", **OPTIONS)
        assert con.execute("FROM released.demo").fetchall() == [(42,)]
        assert con.execute("FROM srsql_mine").fetchall() == [(7,)]
        assert con.execute("SELECT count(*) FROM released_faers.demo").fetchall() == [(30,)]


def test_an_open_transaction_of_the_caller_is_refused_and_survives(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        install(con)
        con.execute("BEGIN")
        con.execute("CREATE TABLE mine AS SELECT 1 AS x")
        with pytest.raises(WarehouseError, match="open transaction"):
            Engine(con).ingest([write_quarter(tmp_path, "2011Q4", crowd(5))], allow_incomplete=True)
        con.execute("COMMIT")
        assert con.execute("FROM mine").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("terms", "theta"), [("(0, 5, 1)", "(0, 1, 1)"), ("(0, -1, 1)", "(0, 1, 1)")]
)
def test_a_term_without_a_threshold_is_refused_by_the_macro(terms: str, theta: str) -> None:
    with duckdb.connect() as con:
        install(con)
        con.execute("CREATE TABLE p AS SELECT 0 AS case_no, true AS carrier")
        con.execute(f"CREATE TABLE t AS FROM (VALUES {terms}) AS v(case_no, term_no, weight)")
        con.execute(f"CREATE TABLE q AS FROM (VALUES {theta}) AS v(term_no, theta_num, theta_den)")
        with pytest.raises(duckdb.Error, match="term_no must run from 0"):
            con.execute("FROM srsql.withhold_infeasible('p', 't', 'q', 1)").fetchall()


def test_markup_in_a_label_is_data(engine: Engine, tmp_path: Path, capsys: Any) -> None:
    from support.printed import print_table

    from srsql.engine.console import out

    print_table(out, "[/Q] quarter", ["[bold]name"], [["[/red]x"]])
    assert "[/red]x" in capsys.readouterr().out
    assert json.dumps(engine.status().releases) == "[]"
