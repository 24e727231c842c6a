"""A series remembers what it was made with; a release takes that, or says where it differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.files import copied
from support.quarters import crowd
from support.released import content

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError, SrsqlError
from srsql.engine.models import MODELS
from srsql.engine.parameters import declared, protects_less
from srsql.engine.release.memory import series_request
from srsql.engine.release.request import make_request, release_options
from srsql.engine.release.series_commands import series_options

pytestmark = pytest.mark.thorough

QUARTERS = ("2011Q1", "2011Q2", "2011Q3", "2012Q2")
FIRST: dict[str, Any] = {"model": "ms", "k": 4, "theta": "0.5", "seed": 1}
RUN = {
    "seed", "series", "ids", "draft", "supersede", "change", "weaker", "max_linkable",
    "allow_linkable", "if_needed", "date", "workers", "spark",
}  # fmt: skip


@pytest.fixture
def loaded(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    """Four quarters of 40 cases, of which none is out."""
    quarters = {quarter: crowd(40) for quarter in QUARTERS}
    with Engine(copied(kept / "memory", tmp_path / "w.duckdb", quarters)) as engine:
        yield engine


@pytest.fixture
def begun(loaded: Engine) -> Engine:
    """The first of them is out, with k = 4."""
    loaded.release("2011Q1", **FIRST)
    return loaded


def parameters(engine: Engine, series: str = "main") -> dict[str, str | None]:
    return engine.series(series)[0].parameters


def refused(engine: Engine, call: Callable[..., Any], *args: Any, **options: Any) -> str:
    """The one line of a refusal that changes nothing."""
    before = content(engine.con), engine.sql("FROM srsql.series_parameter ORDER BY ALL")
    with pytest.raises(ReleaseError) as caught:
        call(*args, **options)
    assert (content(engine.con), engine.sql("FROM srsql.series_parameter ORDER BY ALL")) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_series_remembers_every_option_that_does_not_concern_one_release() -> None:
    assert {n for n, o in release_options().items() if o.first.of_run} == RUN
    assert set(series_options()) == set(release_options()) - RUN
    for option in release_options().values():
        assert len({each.parameter.of_run for each in option.declarations}) == 1


def test_a_later_release_takes_what_the_series_has(begun: Engine) -> None:
    assert parameters(begun) == {
        "model": "ms", "k": "4", "leftovers": "withhold", "theta": "1/2", "missing": "keep",
        "on_infeasible": "error", "count": "cases", "match": "0.9", "ss_rule": "mean+sd",
        "refine": "fast", "parts": "1", "term_key": "1",
    }  # fmt: skip
    second = begun.release("2011Q2", seed=1)
    told = ("model", "k", "theta", "leftovers", "missing", "on_infeasible", "ss_rule")
    first = begun.release("2011Q2", supersede=True, **FIRST)
    assert [second.manifest[name] for name in told] == [first.manifest[name] for name in told]
    assert second.changes == []
    assert second.manifest["k"] == 4


def test_a_release_with_other_parameters_is_refused_and_told_the_ways_out(begun: Engine) -> None:
    text = refused(begun, begun.release, "2011Q2", k=5)
    assert "series 'main' has other parameters (k 5, was 4)" in text
    for way in ("leave it out", "--change", "srsql series set main", "another --series"):
        assert way in text
    made = begun.release("2011Q2", k=5, seed=1, change=True)
    assert made.changes == made.manifest["changes"] == ["k 5, was 4"]
    assert parameters(begun)["k"] == "5"
    assert begun.release("2011Q3", seed=1).manifest["k"] == 5


def test_less_needs_a_yes_of_its_own(begun: Engine) -> None:
    for options in ({"k": 3}, {"k": 3, "change": True}, {"theta": "0.6"}, {"theta": "frequency"}):
        assert "promises less" in refused(begun, begun.release, "2011Q2", **options)
    assert "--change" in refused(begun, begun.release, "2011Q2", k=3, weaker=True)
    begun.release("2011Q2", seed=1, k=3, theta="0.6", change=True, weaker=True)
    assert (parameters(begun)["k"], parameters(begun)["theta"]) == ("3", "3/5")


def test_what_is_given_again_as_it_is_differs_from_nothing(begun: Engine) -> None:
    for theta in ("0.5", "1/2", 0.5):
        request = begun.release("2011Q2", k=4, theta=theta, seed=1, draft=True)
        assert request.changes == []


def test_a_draft_is_told_what_differs_and_its_exposure_needs_the_yes(begun: Engine) -> None:
    draft = begun.release("2011Q2", seed=1, k=3, draft=True)
    assert draft.changes == ["k 3, was 4"]
    assert parameters(begun)["k"] == "4"
    assert "promises less" in refused(begun, begun.confirm, "2011Q2", change=True)
    assert "--change" in refused(begun, begun.confirm, "2011Q2", weaker=True)
    made = begun.confirm("2011Q2", change=True, weaker=True)
    assert made.changes == ["k 3, was 4"]
    assert parameters(begun)["k"] == "3"


def test_a_draft_of_a_series_that_was_changed_since_has_to_be_made_again(begun: Engine) -> None:
    begun.release("2011Q2", seed=1, draft=True)
    begun.set_series("main", k=6)
    assert "make the draft again" in refused(begun, begun.confirm, "2011Q2")


def test_a_series_of_drafts_alone_has_no_parameters_until_one_is_exposed(loaded: Engine) -> None:
    loaded.release("2011Q1", **FIRST, draft=True)
    loaded.release("2011Q1", **FIRST | {"k": 3}, draft=True)
    assert parameters(loaded) == {}
    loaded.confirm("2011Q1")
    assert parameters(loaded)["k"] == "3"


def test_a_series_is_made_with_parameters_and_ids_before_its_first_release(loaded: Engine) -> None:
    made = loaded.create_series("partners", model="ms", k=6, theta=0.4, ids="per-quarter")
    assert (made.ids, made.family, made.quarters) == ("per-quarter", "single", [])
    assert (made.parameters["k"], made.parameters["theta"]) == ("6", "2/5")
    assert "is there already" in refused(loaded, loaded.create_series, "partners")
    text = refused(loaded, loaded.release, "2011Q1", series="partners", ids="original")
    assert "has per-quarter ids" in text
    assert "cannot take" in refused(
        loaded, loaded.release, "2011Q1", series="partners", model="ppms++"
    )
    assert "promises less" in refused(loaded, loaded.release, "2011Q1", series="partners", k=5)
    released = loaded.release("2011Q1", series="partners", seed=1)
    assert (released.manifest["k"], released.manifest["ids"]) == (6, "per-quarter")


def test_set_changes_what_later_releases_take_and_asks_for_less_as_well(begun: Engine) -> None:
    assert begun.set_series("main", k=8).parameters["k"] == "8"
    assert "promises less" in refused(begun, begun.set_series, "main", k=7)
    assert "promises less" in refused(begun, begun.set_series, "main", unset=["k"])
    assert begun.set_series("main", unset="k", weaker=True).parameters["k"] == "5"
    assert "cannot take" in refused(begun, begun.set_series, "main", model="ppms++")
    assert "nothing to set" in refused(begun, begun.set_series, "main")
    assert "--unset epsilon" in refused(begun, begun.set_series, "main", unset="epsilon")
    assert "no series 'other'" in refused(begun, begun.set_series, "other", k=3)
    for call, name in ((begun.set_series, "main"), (begun.create_series, "new")):
        assert "concerns one release" in refused(begun, call, name, seed=7)
        assert "did you mean theta?" in refused(begun, call, name, thetta="0.2")


def test_a_series_of_original_ids_is_not_made_to_hold_cases_back(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        asked = {"model": "ms", "k": 3, "theta": "0.5"}
        text = refused(engine, engine.create_series, "open", ids="original", max_delay=2, **asked)
        assert "whose order tells which cases waited" in text
        engine.create_series("open", ids="original", **asked)
        assert "whose order" in refused(engine, engine.set_series, "open", max_delay=2)
        assert engine.create_series("held", max_delay=2, **asked).parameters["max_delay"] == "2"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"model": "ppms-alpha", "assume_md": "all"}, {"model": "ppms++"}, "attacks ss are not"),
        ({"model": "ppms-alpha", "alpha": "1/3", "assume_md": "all"}, {"alpha": "1/2"},
         "alpha 0.5, was 1/3"),
        ({"model": "ppms-alpha", "assume_md": "all"}, {"ss_rule": "mean+2sd"}, "ss_rule"),
        ({"model": "msdp-num", "epsilon": 1}, {"epsilon": 2}, "epsilon 2, was 1"),
        ({"model": "msdp-num", "epsilon_limit": 3}, {"epsilon_limit": 4}, "epsilon_limit 4, was 3"),
        ({"model": "msdp-num"}, {"noise": "seeded"}, "noise seeded, was secure"),
        ({"model": "msdp-num"}, {"calibration": "paper"}, "calibration paper, was sound"),
        ({"model": "disassociation", "m": 2}, {"m": 1}, "m 1, was 2"),
        ({"model": "l-diversity", "l": 3}, {"l": 2}, "l 2, was 3"),
    ],
)  # fmt: skip
def test_every_model_has_its_own_less(
    loaded: Engine, first: dict[str, Any], second: dict[str, Any], said: str
) -> None:
    loaded.create_series("main", **first)
    text = refused(loaded, loaded.release, "2011Q1", **second)
    assert "promises less" in text
    assert said in text
    loaded.set_series("main", weaker=True, **second)
    back = {keyword: first[keyword] for keyword in second if keyword in first}
    if back:
        text = refused(loaded, loaded.release, "2011Q1", **back)
        assert "promises less" not in text


@pytest.mark.parametrize("model", MODELS)
def test_what_is_remembered_of_a_model_is_read_as_it_was_given(loaded: Engine, model: str) -> None:
    loaded.create_series("of_model", model=model)
    found = loaded.dataset()
    request = series_request(loaded.warehouse, found, "2011Q1", {"series": "of_model"})
    assert request.model == make_request("", {"model": model}).model
    assert request.remembered is not None
    assert (request.remembered.changes, request.remembered.weaker) == ((), ())
    known = {each.keyword: each.value for each in request.remembered.parameters}
    assert known == parameters(loaded, "of_model")


def test_what_protects_less_is_what_the_declaration_says() -> None:
    options = {k: told for model in MODELS.values() for k, told in declared(model).items()}
    for told in options.values():
        assert told.weaker in ("", "lower", "higher", "different") or (
            told.weaker in getattr(told.takes, "choices", ())
        )
    assert protects_less(options["k"], 4, 5)
    assert not protects_less(options["k"], 5, 4)
    assert protects_less(options["epsilon_limit"], None, 5)
    assert not protects_less(options["epsilon_limit"], 5, None)
    assert protects_less(options["noise"], "seeded", "secure")
    assert not protects_less(options["noise"], "secure", "seeded")


def test_the_content_of_a_file_is_remembered_and_not_its_name(
    loaded: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    levels, known = folder / "levels.csv", folder / "known.csv"
    levels.write_text("value,theta\n*,0.5\nRash,0.4\n", "utf-8")
    known.write_text("drug,disease\nDrug 1,Gout\n", "utf-8")
    monkeypatch.chdir(folder)
    options = FIRST | {"theta": "levels:levels.csv", "knowledge": "known.csv"}
    loaded.release("2011Q1", **options)
    monkeypatch.chdir(tmp_path)
    made = loaded.release("2011Q2", seed=1)  # from another folder
    assert (made.manifest["theta"], made.manifest["external_knowledge"]) == (
        "levels:levels.csv", "known.csv",
    )  # fmt: skip
    copy = tmp_path / "copy.csv"
    copy.write_text(levels.read_text("utf-8") + "\n", "utf-8")
    assert loaded.release("2011Q3", seed=1, theta=f"levels:{copy}", draft=True).changes == []
    levels.write_text("value,theta\n*,0.5\nRash,0.3\n", "utf-8")
    text = refused(loaded, loaded.release, "2011Q3", seed=1)
    assert "whose content has changed" in text
    assert "--change --weaker" in text  # what it was, nobody knows
    loaded.release("2011Q3", seed=1, change=True, weaker=True)
    known.unlink()
    before = content(loaded.con)
    with pytest.raises(SrsqlError, match=r"known\.csv: cannot be read"):
        loaded.release("2012Q2", seed=1)
    assert content(loaded.con) == before
    assert loaded.set_series("main", unset="knowledge", weaker=True).parameters["theta"] == (
        f"levels:{levels}"
    )
    assert loaded.release("2012Q2", seed=1).manifest["external_knowledge"] is None


def test_a_range_is_made_with_what_the_series_has(begun: Engine) -> None:
    assert "k 5, was 4" in refused(begun, begun.release_range, "2011Q1:2012Q2", k=5)
    made = begun.release_range("2011Q1:2012Q2", seed=1)
    assert [one.manifest["k"] for one in made.released] == [4, 4, 4]
    assert made.missing == ["2011Q4 to 2012Q1 (2 periods) are missing between 2011Q3 and 2012Q2"]


def test_the_command_takes_its_defaults_for_what_nobody_gave(
    begun: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    db = begun.warehouse.path
    begun.close()
    asked = ("release", "--quarter", "2011Q2", "--seed", 1, "--db", db)
    told = srsql(*asked, "--k", 3)
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "promises less (k 3, was 4)" in told.err
    monkeypatch.chdir(tmp_path)
    made = srsql(*asked, "--json")
    assert made.json["manifest"]["k"] == 4
    gap = srsql("release", "--quarter", "2012Q2", "--seed", 1, "--db", db)
    assert "gap in the series: 2011Q3 to 2012Q1 (3 periods) are missing" in gap.out
    (one,) = srsql("series", "show", "main", "--db", db, "--json").json
    assert (one["parameters"]["k"], len(one["gaps"])) == ("4", 1)
    assert "k 4" in srsql("status", "--db", db).out
    assert "gap in the series" in srsql("audit", "--db", db).out
    assert srsql("series", "set", "main", "--k", 3, "--db", db).code == 2
    changed = srsql("series", "set", "main", "--k", 3, "--weaker", "--db", db)
    assert changed.code == 0, changed.err
    created = srsql("series", "create", "new", "--model", "ms", "--ids", "original", "--db", db)
    assert created.code == 0, created.err
    assert "nothing is out" in created.out
    shown = srsql("series", "show", "--db", db, "--json").json
    assert [one["series"] for one in shown] == ["main", "new"]
    assert srsql("series", "set", "main", "--missing", "drop", "--db", db).code == 0
    assert srsql("series", "show", "main", "--db", db, "--json").json[0]["parameters"]["k"] == "3"


def test_the_release_is_the_same_whether_its_parameters_are_given_or_remembered(
    begun: Engine,
) -> None:
    given = begun.release("2011Q2", **FIRST)
    rows = {name: begun.sql(f"FROM release_2011q2.{name}") for name in given.rows}
    again = begun.release("2011Q2", seed=1, supersede=True)
    assert {name: begun.sql(f"FROM release_2011q2.{name}") for name in again.rows} == rows
    ignored = {"metrics", "made_after"}
    assert {n: v for n, v in again.manifest.items() if n not in ignored} == {
        n: v for n, v in given.manifest.items() if n not in ignored
    }


def test_a_request_that_is_asked_of_no_series_has_nothing_to_compare() -> None:
    assert make_request("2011Q1", {}).remembered is None
