"""`srsql advise` from end to end: what it recommends, refuses, writes and leaves alone."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.command import Answer, srsql

from srsql.engine.api.engine import Engine
from srsql.engine.errors import AdviseError

pytestmark = pytest.mark.thorough


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def advise(db: Path, out: Path, *more: object, k: str = "3,5") -> Answer:
    grid = ("--models", "ppms++", "--k", k, "--theta", "0.4", "--jobs", 1)
    grid += ("--leftovers", "withhold")
    return srsql("advise", "--quarter", "2011Q4", "--db", db, "--out", out, *grid, *more)


def release(db: Path, quarter: str, **options: Any) -> None:
    with Engine(db) as engine:
        engine.release(quarter, seed=1, on_infeasible="withhold", **options)


def test_settings_are_measured_by_processes_of_their_own_and_the_warehouse_is_only_read(
    db: Path, tmp_path: Path
) -> None:
    before, out = digest(db), tmp_path / "out"
    first = advise(db, out, "--json", k="5").json
    assert (first["measured"], first["sample"], first["sampled"]) == (1, None, [])
    assert first["recommended"]["label"] == "ppms++ k=5 theta=0.4 refine=fast"
    assert advise(db, out, "--json", k="5").json == first | {"measured": 0}
    assert digest(db) == before
    assert sorted(os.listdir(out)) == ["advise.csv", "advise.html", "advise.parquet", "cells"]


def test_a_second_run_measures_what_is_missing_and_an_earlier_release_makes_all_missing(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    out = tmp_path / "out"
    advise(db, out)
    assert len(pretended) == 2
    sorted((out / "cells").iterdir())[0].write_text('{"rows"')  # damaged, as if never finished
    assert advise(db, out, "--json").json["measured"] == 1
    release(db, "2011Q3")
    assert advise(db, out, "--json", k="5").json["measured"] == 1


def test_the_command_it_ends_with_makes_the_release_that_was_measured(
    followed: Path, tmp_path: Path, inside: list[str]
) -> None:
    db = followed
    answer = advise(db, tmp_path / "out", "--max-risk", "1/3", "--seed", 7, k="4")
    assert answer.code == 0, answer.err
    assert "the attacker has the earlier release of the series as well (2011Q3)" in answer.out
    (line,) = [line for line in answer.out.splitlines() if line.startswith("run: srsql ")]
    assert srsql(*shlex.split(line.removeprefix("run: srsql "))).code == 0
    table = pd.read_parquet(tmp_path / "out" / "advise.parquet")
    (best,) = table[table["recommended"]].to_dict("records")
    with Engine(db) as engine:
        rows = {(r.measure, r.scope): r for r in engine.metrics("2011Q4")}
    assert rows["nil_star", "release"].ratio == pytest.approx(best["nil_star"])
    assert rows["withheld", "cases"].violating == best["withheld"]
    assert rows["group_size", "min"].ratio == best["smallest"]
    text = pd.read_csv(tmp_path / "out" / "advise.csv")
    assert text["label"].tolist() == table["label"].tolist()


def test_the_document_holds_the_command_as_it_is_printed(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    (line,) = [x for x in advise(db, tmp_path / "out").out.splitlines() if x.startswith("run: ")]
    found = advise(db, tmp_path / "out", "--json").json
    assert f"run: {shlex.join(found['command'])}" == line
    assert found["command"][-2:] == ["--db", str(db)]


def test_bounds_that_no_setting_keeps_end_with_the_nearest_and_exit_1(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    answer = advise(db, tmp_path / "out", "--max-risk", "0.01", "--max-loss", "1")
    assert answer.code == 3
    assert answer.err.startswith("settings to try: 2 on all 60 cases (about 10 seconds); 1 at a")
    assert "No setting keeps risk <= 0.01 and loss <= 1. Nearest: ppms++ k=5 theta" in answer.out
    assert "is 0.1900 above 0.0100" in answer.out
    assert "withholds 6 of 60 cases (10.00%): no_group_fits 6" in answer.out
    assert "run: " not in answer.out
    page = (tmp_path / "out" / "advise.html").read_text()
    assert "No setting keeps the bounds" in page


def test_what_is_recommended_was_measured_on_the_whole_quarter(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    asked = ("--sample", 30, "--max-risk", "1/5", "--json")
    found = advise(db, tmp_path / "out", *asked, k="3,5").json
    assert {s["measured_on"] for s in found["settings"]} == {"quarter"}
    assert {s["cases"] for s in found["settings"]} == {found["cases"]} == {60}
    assert {s["cases"] for s in found["sampled"]} == {found["sample"]} == {30}
    assert found["recommended"]["measured_on"] == "quarter"
    assert len(found["sampled"]) == 2 >= len(found["settings"])
    assert found["measured"] == len(pretended) == 2 + len(found["settings"])
    page = (tmp_path / "out" / "advise.html").read_text()
    assert 'id="sampled"' in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page


def test_a_draft_is_what_the_release_would_replace_and_does_not_count(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    advise(db, tmp_path / "out", k="5")
    release(db, "2011Q4", draft=True)
    found = advise(db, tmp_path / "out", "--json", k="5").json
    assert (found["after"], found["measured"]) == ([], 0)


def test_whole_rows_are_taken_apart_with_the_recommended_k_in_a_series_that_can_have_them(
    followed: Path, tmp_path: Path, pretended: list[str]
) -> None:
    asked = ("--terms", "--max-risk", "1/3")
    found = advise(followed, tmp_path / "out", *asked, "--json", k="4").json
    assert len(found["row_settings"]) == 7
    best = found["rows"]["recommended"]
    assert (best["term_cases"], best["m"], best["keeps"]) == (8, 1, True)
    words = found["rows"]["command"]
    for name, value in (("series", "rows"), ("model", "ms"), ("term-cases", "8"), ("m", "1")):
        assert words[words.index(f"--{name}") + 1] == value
    assert found["measured"] == 8
    told = advise(followed, tmp_path / "out", *asked, k="4")
    assert told.code == 0
    assert "keeps most signals of the 6 settings" in told.out
    assert "Rows left whole: 100.0% of those by MHRA, and 95.0% of the cases" in told.out
    assert (tmp_path / "out" / "advise-rows.csv").read_text().count("\n") == 8
    open_to_all = advise(followed, tmp_path / "out", *asked, "--max-singled-out", "1", "--json",
                         k="4").json  # fmt: skip
    assert open_to_all["rows"]["recommended"]["term_cases"] is None
    assert open_to_all["measured"] == 0


def test_no_rows_are_taken_apart_without_a_k_that_is_recommended(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    answer = advise(db, tmp_path / "out", "--terms", "--max-risk", "0.01")
    assert answer.code == 3
    assert "Rows are taken apart with the k that is recommended, and none is." in answer.out
    assert len(pretended) == 2


def test_the_command_of_whole_rows_makes_the_release_that_is_recommended(
    db: Path, tmp_path: Path, pretended: list[str]
) -> None:
    asked = ("--terms", "--max-risk", "1/3", "--seed", 7)
    found = advise(db, tmp_path / "out", *asked, "--json", k="4").json
    assert srsql(*found["rows"]["command"][1:]).code == 0
    with Engine(db) as engine:
        (least,) = engine.sql("SELECT min(c.records) FROM release_2011q4.clusters AS c")[0]
    assert least >= found["rows"]["recommended"]["term_cases"]


def test_a_quarter_whose_turn_is_over_is_refused(db: Path, tmp_path: Path) -> None:
    release(db, "2011Q4")
    answer = advise(db, tmp_path / "out")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "2011Q4 is already released in series 'main'" in answer.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--models", "mss"), "no model 'mss'"),
        (("--models", "disassociation"), "release each case under a region"),
        (("--models", "k-anonymity"), "may not be published"),
        (("--models", "ppms-dp-num"), "series 'main' holds periodical releases"),
        (("--theta", "2"), "--theta"),
        (("--series", "new", "--epsilon", "0", "--models", "ppms-dp-num"), "--epsilon"),
        (("--max-loss", "0"), "--max-loss 0"),
        (("--max-confidence", "x"), "--max-confidence 'x'"),
        (("--quarter", "2012Q1"), "2012Q1 of dataset faers is not in the warehouse"),
        (("--quarter", "'; DROP TABLE x; --\x1b[31m"), "is not in the warehouse"),
        (("--sample", "-1"), "--sample"),
        (("--k", "1"), "k is 1"),
        (("--terms", "--max-singled-out", "2"), "--max-singled-out"),
        (("--series", "a'; --"), "letters, digits"),
    ],
)
def test_what_cannot_be_asked_is_one_line_and_exit_2(
    followed: Path, tmp_path: Path, pretended: list[str], arguments: tuple[str, ...], words: str
) -> None:
    answer = advise(
        followed, tmp_path / "out", *arguments, k="5" if "--k" not in arguments else "1"
    )
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""


def test_a_connection_has_no_file_to_copy(db: Path, tmp_path: Path) -> None:
    import duckdb

    from srsql.engine.errors import SrsqlError

    with duckdb.connect(db) as con, Engine(con) as engine:
        with pytest.raises(SrsqlError, match="copies of a warehouse file"):
            engine.advise("2011Q4", tmp_path / "out")
        with pytest.raises(AdviseError, match="--jobs 0"):
            engine.advise("2011Q4", tmp_path / "out", jobs=0)
