"""Histories meant to break a series: what is refused is refused for a reason, in one clear line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.people import OPTIONS, ORIGINAL, audited, ingest, new_cases, people, shown

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ImportReleaseError, InfeasibleError, IngestError, ReleaseError

pytestmark = pytest.mark.thorough

CLINIC = """
name = "clinic"
report_table = "reports"
report_id = "pat"
case_id = "pat"
id_type = "text"

[source]
reader = "csv"

[tables.reports]
files = ["reports*.csv"]
columns = ["pat", "age", "adr"]

[[qid]]
name = "age"
kind = "numeric"
column = "age"
unit = "years"
domain = [0, 120]

[[sensitive]]
table = "reports"
column = "adr"
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "w.duckdb") as opened:
        yield opened


def two_quarters(engine: Engine, folder: Path) -> None:
    quarters = {"2011Q1": people(range(1, 10)), "2011Q2": people(range(5, 20), 2)}
    ingest(engine, folder, quarters)


def test_a_draft_of_an_earlier_quarter_can_be_confirmed(engine: Engine, tmp_path: Path) -> None:
    two_quarters(engine, tmp_path)
    engine.release("2011Q2", **ORIGINAL)
    more = people([*range(1, 10), *range(30, 40)])
    ingest(engine, tmp_path / "again", {"2011Q1": more}, replace=True)
    draft = engine.release("2011Q1", supersede=True, draft=True, **ORIGINAL)
    confirmed = engine.confirm("2011Q1", allow_linkable=True)
    assert new_cases(engine, confirmed.release_id) == {*range(1, 5), *range(30, 40)}
    assert shown(engine, "release_2011q1").keys() >= set(range(30, 40))
    assert draft.manifest["made_after"] == [1]
    audited(engine)


def test_a_draft_is_stale_once_an_older_draft_of_a_later_quarter_is_out(
    engine: Engine, tmp_path: Path
) -> None:
    two_quarters(engine, tmp_path)
    later = engine.release("2011Q2", draft=True, **OPTIONS)
    stale = engine.release("2011Q1", draft=True, **OPTIONS)
    assert later.release_id < stale.release_id
    engine.confirm("2011Q2")
    with pytest.raises(ReleaseError, match="2011Q2 was released after this draft of 2011Q1"):
        engine.confirm("2011Q1")
    audited(engine)


def test_a_draft_is_stale_once_an_earlier_quarter_is_corrected(
    engine: Engine, tmp_path: Path
) -> None:
    two_quarters(engine, tmp_path)
    engine.release("2011Q1", **OPTIONS)
    engine.release("2011Q2", draft=True, **OPTIONS)
    engine.con.execute("INSERT INTO srsql.deleted_case VALUES ('faers', '1', 1)")
    engine.correct("2011Q1")
    with pytest.raises(ReleaseError, match="2011Q1 was released after this draft of 2011Q2"):
        engine.confirm("2011Q2")


def clinic_file(folder: Path, label: str) -> Path:
    path = folder / f"reports_{label}.csv"
    rows = "".join(f"0{case},{20 + case},Of {case}\n" for case in range(12))
    path.write_text(f"pat,age,adr\n{rows}")
    return path


def test_periods_that_text_puts_into_another_order_than_their_numbers_are_refused(
    engine: Engine, tmp_path: Path
) -> None:
    schema = tmp_path / "clinic.toml"
    schema.write_text(CLINIC)
    for label in ("2011-2", "2011-3", "2012-1"):
        engine.ingest([clinic_file(tmp_path, label)], dataset=schema, period=label)
    with pytest.raises(IngestError, match=r"'2011-10' beside '2011-2'.*as many digits"):
        engine.ingest([clinic_file(tmp_path, "x")], dataset=schema, period="2011-10")
    with pytest.raises(IngestError, match="'2011-02' beside '2011-2'"):
        engine.ingest([clinic_file(tmp_path, "x")], dataset=schema, period="2011-02")
    assert [q for (q,) in engine.sql("SELECT quarter FROM srsql.ingestion ORDER BY 1")] == [
        "2011-2", "2011-3", "2012-1",
    ]  # fmt: skip


def test_an_imported_series_goes_by_the_same_order(engine: Engine, tmp_path: Path) -> None:
    schema = tmp_path / "clinic.toml"
    schema.write_text(CLINIC)
    table = tmp_path / "released.csv"
    table.write_text("pat,age_low,age_high,adr\n" + "".join(f"{c},1,9,A{c}\n" for c in range(4)))
    engine.import_release(table, "9", dataset=schema)
    with pytest.raises(ImportReleaseError, match="'10' beside '9'"):
        engine.import_release(table, "10", dataset="clinic")
    engine.import_release(table, "8", dataset="clinic")


def test_too_many_substantial_symptoms_are_mended_by_alpha_not_by_theta(
    engine: Engine, tmp_path: Path
) -> None:
    two_quarters(engine, tmp_path)
    before = engine.sql("SELECT count(*) FROM srsql.release")
    with pytest.raises(InfeasibleError, match="Ways out: raise --alpha, or withhold cases"):
        engine.release("2011Q1", model="ppms-alpha", ss_rule="pt>=1", **OPTIONS)
    with pytest.raises(ReleaseError, match=r"--ss-rule .* or counts"):
        engine.release("2011Q1", model="ppms-alpha", ss_rule="pt>=" + "9" * 30, **OPTIONS)
    assert engine.sql("SELECT count(*) FROM srsql.release") == before
