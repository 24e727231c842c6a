"""Without the packages of the extras the core works, and says in one line what would bring them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import FrameError
from srsql.engine.store import doors as extras


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    for package in ("scipy", "srsql.udfs.shrinkage"):  # whoever loads it all the same has an error
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(60, terms=3))])
        engine.release("2011Q4", k=3, theta="1", seed=1)
    return tmp_path / "w.duckdb"


@pytest.mark.thorough
def test_what_needs_an_extra_names_it_and_the_rest_works(db: Path) -> None:
    noisy = srsql("release", "--db", db, "--quarter", "2011Q4", "--series", "n", "--model",
                  "msdp-num", "--k", 3, "--theta", 1)  # fmt: skip
    assert (noisy.code, noisy.out) == (2, "")
    assert noisy.err.splitlines()[-1].endswith(
        "--noise secure needs the package opendp, which is not installed: "
        "pip install 'srsql[noise]'"
    )
    pair = ("--drug", "drug 1", "--reaction", "REACTION 01", "--db", db)
    told = srsql("signals", *pair)
    assert (told.code, told.err) == (0, "")
    text = " ".join(told.out.split())
    assert (
        "EBGM needs the package scipy, which is not installed: pip install 'srsql[signals]'" in text
    )
    found = srsql("signals", *pair, "--json").json
    assert found["priors"] == []
    (signal,) = found["signals"]
    assert signal["released"]["ebgm"] is None
    assert signal["released"]["signal_eb05"] is None
    assert signal["released"]["prr"] is not None
    assert "EB05:" not in srsql("signals", "--all", "--db", db).out
    report = srsql("report", "--quarter", "2011Q4", "--db", db, "--out", db.with_name("page.html"))
    assert (report.code, report.err) == (0, "")


@pytest.mark.thorough
def test_frames_of_pandas_are_refused_and_arrow_is_there(db: Path) -> None:
    with Engine(db) as engine:
        measured = engine.metrics("2011Q4")
        with pytest.raises(FrameError, match=r"pip install 'srsql\[pandas\]'"):
            measured.df()
        assert measured.arrow().num_rows > 10
