"""Algorithms as their papers print them: what is chosen, what is refused, what stays at home."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import CompareError, ReleaseError, SrsqlError
from srsql.engine.extras.study.grid import Grid, cells
from srsql.engine.models import MODELS
from srsql.engine.parameters import declared
from srsql.engine.release.features.as_printed import PAPERS, printed_options
from srsql.engine.release.request import make_request

EVERY = [(paper, model) for paper, models in PAPERS.items() for model in models]
EXPERIMENTS = {("wu2022", "ppms-dp-num"), ("wu2022", "ppms-dp-all"), ("lee2020", "ipa")}
"""What their papers print of them is less than is promised here."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("printed")
    with Engine(folder / "w.duckdb") as engine:
        for quarter, first in (("2011Q1", 1), ("2011Q2", 100)):
            engine.ingest([write_quarter(folder, quarter, crowd(120, first))])
    return folder / "w.duckdb"


@pytest.fixture
def engine(warehouse: Path, tmp_path: Path) -> Iterator[Engine]:
    shutil.copyfile(warehouse, tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as engine:
        yield engine


def asked(paper: str, **given: Any) -> dict[str, Any]:
    options = {"as_printed": paper, **given}
    return options | printed_options(options)


def test_every_paper_of_the_five_is_there_with_its_own_model_first() -> None:
    assert {paper: next(iter(models)) for paper, models in PAPERS.items()} == {
        "lin2016": "ms",
        "huang2021": "ppms-alpha",
        "wu2022": "ppms-dp-all",
        "loukides2014": "disassociation",
        "lee2020": "ipa",
    }


@pytest.mark.parametrize(("paper", "model"), EVERY)
def test_a_paper_turns_off_what_it_does_not_have(paper: str, model: str) -> None:
    request = make_request("2011Q1", asked(paper, model=model))
    assert request.missing == ("keep" if paper == "loukides2014" else "drop")
    assert getattr(request.model, "refine", "off") == "off"
    if "calibration" in declared(MODELS[model]):
        assert request.model.public_facts["calibration"] == "printed"
    unfit = request.model.public_facts.get("publication") == "not for publication"
    assert unfit == ((paper, model) in EXPERIMENTS)


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "model"), EVERY)
def test_each_runs_and_its_manifest_says_it_and_what_must_stay_at_home_does(
    engine: Engine, tmp_path: Path, paper: str, model: str
) -> None:
    made = engine.release("2011Q1", as_printed=paper, model=model, k=3, theta="0.5", seed=1)
    shown = engine.sql(f"SELECT m.as_printed FROM {made.schema}.manifest AS m")
    assert (shown, made.manifest["as_printed"]) == ([(paper,)], paper)
    if (paper, model) in EXPERIMENTS:
        assert made.manifest["publication"] == "not for publication"
        assert made.manifest["guarantee"].startswith("NOT FOR PUBLICATION")
        with pytest.raises(SrsqlError, match=r"not for publication|made to be compared"):
            engine.publish("2011Q1", to=tmp_path / "out")
        with pytest.raises(SrsqlError, match=r"not for publication|made to be compared"):
            engine.steward.split(to=tmp_path / "public.duckdb")


def test_the_first_model_of_a_paper_is_taken_and_the_series_keeps_its_parameters(
    engine: Engine,
) -> None:
    made = engine.release("2011Q1", as_printed="lin2016", k=3, theta="0.5", seed=1)
    assert (made.manifest["model"], made.manifest["refine"]) == ("ms", "off")
    plain = engine.release("2011Q2", seed=1)
    assert plain.manifest["refine"] == "off"
    assert "as_printed" not in plain.manifest


def test_what_is_given_beside_a_paper_is_refused_where_it_chooses_otherwise(
    engine: Engine,
) -> None:
    for given, says in (
        ({"as_printed": "wu2022", "model": "ms"}, "--as-printed wu2022 runs ppms-dp-all, "
         "ppms-dp-num, ppms\\+\\+, and not ms: give one of these, or leave it out"),
        ({"as_printed": "wu2022", "calibration": "sound"}, "--as-printed wu2022 takes "
         "--calibration printed: leave one of the two out"),
        ({"as_printed": "lin2016", "missing": "keep"}, "--as-printed lin2016 takes --missing "
         "drop: leave one of the two out"),
        ({"as_printed": "loukides2014", "partners": "shared"}, "--as-printed loukides2014 takes "
         "--partners neighbours: leave one of the two out"),
        ({"as_printed": "lin2017"}, "--as-printed"),
    ):  # fmt: skip
        with pytest.raises(ReleaseError, match=says):
            engine.release("2011Q1", **given)
    assert engine.sql("SELECT count(*) FROM srsql.release") == [(0,)]
    same = engine.release("2011Q1", as_printed="lin2016", missing="drop", k=3, theta="0.5", seed=1)
    assert same.manifest["missing"] == "drop"


def test_a_grid_takes_the_choices_of_a_paper_for_each_of_its_models() -> None:
    grid = Grid(["ppms-dp-num", "ppms++"], as_printed="wu2022", k=[5, 10], epsilon=["1"])
    found = [(cell.model, dict(cell.options)) for cell in cells(grid)]
    assert [model for model, _ in found] == ["ppms-dp-num"] * 2 + ["ppms++"] * 2
    for model, options in found:
        assert options["as_printed"] == "wu2022"
        assert options["missing"] == "drop"
        assert options["refine"] == "off"
        assert options.get("calibration") == ("printed" if model != "ppms++" else None)
    with pytest.raises(CompareError, match="--as-printed wu2022 chooses --calibration: leave one"):
        Grid(["ppms-dp-num"], as_printed="wu2022", calibration=["sound"])
    assert cells(Grid(["ppms++"], as_printed="wu2022", missing="drop", refine=["off"]))
    refused = cells(Grid(["ms"], as_printed="wu2022"))
    assert [str(cell.refused).partition(":")[0] for cell in refused] == [
        "--as-printed wu2022 runs ppms-dp-all, ppms-dp-num, ppms++, and not ms"
    ]


@pytest.mark.slow
def test_noise_as_printed_leaves_the_numbers_of_a_group_that_agrees_as_they_are(
    engine: Engine,
) -> None:
    made = engine.release(
        "2011Q1", as_printed="wu2022", model="ppms-dp-num", k=2, theta="0.5", epsilon="1", seed=1
    )
    rows = engine.sql(
        "SELECT max(q.high) - min(q.low) AS width, count(*), count(*) FILTER (WHERE q.low = v.low) "
        "FROM srsql.member AS m INNER JOIN srsql.case_qid AS q USING (release_id, case_no) "
        "INNER JOIN srsql.perturbed AS v USING (release_id, case_no, position) "
        f"WHERE m.release_id = {made.release_id} GROUP BY m.group_id, position"
    )
    agreed = [(cases, same) for width, cases, same in rows if width == 0]
    assert all(cases == same for cases, same in agreed)
    assert any(cases != same for width, cases, same in rows if width)


@pytest.mark.slow
def test_ipa_as_printed_about_doubles_the_classes_that_it_shows(engine: Engine) -> None:
    options: dict[str, Any] = {"model": "ipa", "informative": "pt", "dimensions": "sex", "seed": 1}
    plain = engine.release(
        "2011Q1", calibration="paper", noise="seeded", missing="drop", epsilon="10",
        series="one", **options,
    )  # fmt: skip
    made = engine.release(
        "2011Q1", as_printed="lee2020", noise="seeded", epsilon="10", series="two",
        allow_linkable=True, **options,
    )  # fmt: skip
    rows, more = (
        engine.sql(f"SELECT count(*) FROM {of.schema}.released_rows")[0][0] for of in (plain, made)
    )
    assert 100 < rows < 140
    assert 1.8 * rows < more < 2.2 * rows
