"""A keyword that a call does not have, or a value of another kind, is an error of one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql

from srsql.engine.api.arguments import ARGUMENTS, PERIODS
from srsql.engine.api.artifacts import ArtifactCalls
from srsql.engine.api.audits import AuditCalls
from srsql.engine.api.engine import MOVED, Engine
from srsql.engine.api.options import Counting, Publication
from srsql.engine.api.questions import QueryCalls
from srsql.engine.api.releases import ReleaseCalls, SeriesCalls
from srsql.engine.api.signals import SignalCalls
from srsql.engine.api.steward import StewardCalls
from srsql.engine.errors import (
    AdviseError,
    AuditError,
    CompareError,
    PublishError,
    ReleaseError,
    SignalError,
    SrsqlError,
    WarehouseError,
)
from srsql.engine.extras.study.grid import Grid, Rules
from srsql.engine.extras.study.settings import Sweep
from srsql.engine.extras.study.study import Study
from srsql.engine.extras.synth import SynthError, quarter_range, synthesize
from srsql.engine.models.lattice import Ipa
from srsql.engine.parameters import arguments_of, declared
from srsql.engine.release.request import make_request, release_options
from srsql.engine.terms.count_tables import TableParameters

GROUPS = {
    "artifact": ArtifactCalls,
    "audit": AuditCalls,
    "query": QueryCalls,
    "release": ReleaseCalls,
    "series": SeriesCalls,
    "signals": SignalCalls,
    "steward": StewardCalls,
}
CALLS = {
    f"{group}.{name}".lstrip("."): call
    for group, of in {"": Engine, **GROUPS}.items()
    for name, call in inspect.getmembers(of, inspect.isfunction)
    if not name.startswith("_")
} | {"compare": Study.compare, "advise": Study.advise}
"""What each call takes; a call behind a door, what the door does."""
COMMANDS = {
    "audit.run": "audit",
    "query.ask": "query",
    "release.make": "release",
    "release.make_range": "release",
    "series.create": "create_series",
    "series.set": "set_series",
    "series.show": "series",
    "signals.find": "signals",
}
"""Calls that errors call otherwise."""
NEEDED: dict[str, Any] = {
    "quarter": "2018Q3",
    "quarters": "2018Q1:2018Q3",
    "case": "8123456",
    "query": "SELECT 1",
    "sql": "SELECT count(*) FROM demo",
    "path": "theirs.csv",
    "to": "out",
    "out": "out",
    "grid": Grid(("ms",)),
    "sets": [["Rash"]],
    "qids": {"age": 37},
    "ids": ["1"],
    "name": "other",
    "cases": ["1"],
    "command": "nightly",
    "level": "pt=soc",
    "drug": "Humira",
    "with_drug": "Aspirin",
    "reaction": "Rash",
    "form": "pvda",
}
"""What a call cannot do without."""
READ = [
    (name, argument) for name, call in CALLS.items() for argument in arguments_of(call, ARGUMENTS)
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("strict") / "w.duckdb") as opened:
        yield opened


def needed(call: Callable[..., Any]) -> dict[str, Any]:
    told = inspect.signature(call).parameters.values()
    return {p.name: NEEDED[p.name] for p in told if p.name in NEEDED and p.default is p.empty}


def refused(error: type[SrsqlError], call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """The text of the error, which is one line."""
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.exit_code == 2
    return text


@pytest.mark.parametrize(("name", "argument"), [each for each in READ if each[1] in PERIODS])
def test_every_argument_that_names_a_period_goes_through_the_one_parser(
    engine: Engine, name: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(label: str, known: list[str], *, fresh: bool) -> str:
        raise ReleaseError(f"{label} was read, {known}, {fresh}")

    monkeypatch.setattr("srsql.engine.catalog.periods.named_period", read)
    call = attrgetter(name)(engine)
    fresh = name in ("ingest", "audit.import_release")
    text = refused(ReleaseError, call, **needed(CALLS[name]) | {argument: "22-q1"})
    assert text == f"22-q1 was read, [], {fresh}"


def test_synthetic_quarters_and_weeks_are_named_in_the_usual_spellings_too() -> None:
    assert quarter_range("11-q1", "Q3/2011") == ["2011Q1", "2011Q2", "2011Q3"]
    assert quarter_range("2024-w01", "2024W2") == ["2024W01", "2024W02"]


@pytest.mark.slow
def test_a_misspelt_threshold_is_not_a_release_with_the_default(engine: Engine) -> None:
    text = refused(ReleaseError, engine.release.make, "2018Q3", k=20, thetta="0.2")
    assert text == "release takes no option thetta: did you mean theta?"
    text = refused(ReleaseError, engine.release.make, "2018Q3", K=20)
    assert text == "release takes no option K: did you mean k?"


@pytest.mark.parametrize("name", CALLS)
def test_a_keyword_that_there_is_not_is_named(engine: Engine, name: str) -> None:
    call = attrgetter(name)(engine)
    text = refused(SrsqlError, call, **needed(call), no_such_keyword=1)
    said = COMMANDS.get(name, name.rpartition(".")[2])
    assert text.startswith(f"{said} takes no option ")
    assert "no_such_keyword" in text


@pytest.mark.parametrize("name", CALLS)
def test_what_a_call_names_its_other_keywords_is_no_keyword(engine: Engine, name: str) -> None:
    rest = [p.name for p in inspect.signature(CALLS[name]).parameters.values()
            if p.kind is p.VAR_KEYWORD]  # fmt: skip
    for keyword in rest:
        refused(SrsqlError, attrgetter(name)(engine), **needed(CALLS[name]), **{keyword: 1})


@pytest.mark.parametrize(
    ("error", "name", "given", "meant"),
    [
        (AuditError, "audit.run", {"atacks": "b"}, "attacks"),
        (CompareError, "compare", {"job": 2}, "jobs"),
        (AdviseError, "advise", {"maxrisk": "0.1"}, "max_risk"),
        (PublishError, "artifact.publish", {"fromat": "csv"}, "format"),
        (SrsqlError, "audit.metrics", {"datset": "faers"}, "dataset"),
        (SignalError, "signals.find", {"re_action": "Rash"}, "reaction"),
        (SrsqlError, "query.ask", {"serie": "main"}, "series"),
        (ReleaseError, "release.make_range", {"epsilom": "1"}, "epsilon"),
    ],
)
def test_the_keyword_that_was_meant_is_told(
    engine: Engine, error: type[SrsqlError], name: str, given: dict[str, Any], meant: str
) -> None:
    call = attrgetter(name)(engine)
    assert refused(error, call, **needed(call), **given).endswith(f"did you mean {meant}?")


@pytest.mark.parametrize(("name", "argument"), READ)
def test_a_value_of_another_kind_is_refused_with_what_is_taken(
    engine: Engine, name: str, argument: str
) -> None:
    call = attrgetter(name)(engine)
    told = arguments_of(CALLS[name], ARGUMENTS)[argument]
    text = refused(SrsqlError, call, **needed(call) | {argument: object()})
    assert text.startswith(f"{told.option} ")
    assert text.endswith(f"give {told.takes.words}")


@pytest.mark.parametrize("keyword", release_options())
def test_a_value_of_another_kind_is_refused_by_a_release(engine: Engine, keyword: str) -> None:
    option = release_options()[keyword]
    models = option.declarations[0].models
    asked: dict[str, Any] = {} if option.common else {"terms": "disassociate", "model": "ms"}
    if models and not option.common:
        asked = {"model": models[0]}
    elif keyword in declared(TableParameters):
        asked["terms"] = "tables"
    elif keyword == "l":
        asked["sensitive_terms"] = "terms.txt"
    text = refused(ReleaseError, engine.release.make, "2018Q3", **asked | {keyword: object()})
    assert text.startswith(f"--{keyword.replace('_', '-')} ")
    assert "give" in text


def test_what_is_missing_or_too_much_is_one_line(engine: Engine) -> None:
    assert "quarter" in refused(SrsqlError, engine.audit.metrics)
    assert refused(AuditError, engine.audit.run, "2018Q3").startswith("audit: ")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"k": "5"}, "--k '5': give a whole number"),
        ({"k": True}, "--k True: give a whole number"),
        ({"k": 5.0}, "--k 5.0: give a whole number"),
        ({"k": 1}, "k is 1: a group needs at least 2 cases to hide one"),
        ({"missing": "kept"}, "--missing 'kept': give one of keep, drop"),
        ({"theta": ["0.2"]}, "--theta ['0.2']: give a number or fraction, frequency"),
        ({"model": "ipa", "dimensions": ["age", 1]}, "--dimensions ['age', 1]: give a list of"),
        ({"model": "ppms-alpha", "alpha": "1/0"}, "--alpha '1/0': give a share such as"),
        ({"model": "msdp-all", "epsilon": "9e99"}, "--epsilon 9000"),
        ({"knowledge": 5}, "--knowledge 5: give the path of a CSV file"),
        ({"draft": "yes"}, "--draft 'yes': give True or False"),
    ],
)
def test_what_a_release_takes_is_said(engine: Engine, options: dict[str, Any], text: str) -> None:
    assert refused(ReleaseError, engine.release.make, "2018Q3", **options).startswith(text)


def test_numbers_lists_and_tuples_stand_for_their_text() -> None:
    listed = make_request("", {"model": "ipa", "dimensions": ["age", "sex"], "seed": 1})
    assert listed == make_request("", {"model": "ipa", "dimensions": "age,sex", "seed": 1})
    assert listed.model == Ipa(dimensions="age,sex")
    both = [
        make_request("", {"model": "disassociation", "term_attributes": names}).terms
        for names in (("pt", "indi_pt"), "pt, indi_pt")
    ]
    assert both[0] == both[1]
    exact = make_request("", {"model": "ppms-alpha", "alpha": 0.1, "theta": 0.4}).model
    assert exact.symptoms_limit == Fraction(1, 10)
    assert make_request("", {"alpha": None, "k": None}).model.k == 5


def test_the_parts_of_a_study_and_synthetic_quarters_are_as_strict(tmp_path: Path) -> None:
    assert "did you mean theta?" in refused(CompareError, Grid, ("ms",), thetta=("0.2",))
    assert "--k 5: give a list" in refused(CompareError, Grid, ("ms",), k=5)
    assert "--k '5': give" in refused(CompareError, Grid, ("ms",), k=("5",))
    assert "did you mean drug?" in refused(CompareError, Rules, drugs="x", reaction="y")
    assert "did you mean theta?" in refused(AdviseError, Sweep, thetta=("0.2",))
    assert "--sample -1" in refused(AdviseError, Sweep, sample=-1)
    text = refused(SynthError, synthesize, tmp_path, ["2011Q1"], cases="9")
    assert text == "--cases '9': give a whole number"
    assert "did you mean cases?" in refused(SynthError, synthesize, tmp_path, [], casses=9)


def test_an_engine_is_opened_as_strictly(tmp_path: Path) -> None:
    text = refused(WarehouseError, Engine, tmp_path / "w.duckdb", treads=2)
    assert text == "Engine takes no option treads: did you mean threads?"
    assert "--threads '2'" in refused(WarehouseError, Engine, tmp_path / "w.duckdb", threads="2")
    assert "--target 5" in refused(WarehouseError, Engine, 5)
    assert not (tmp_path / "w.duckdb").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--thetta", "0.2"), "No such option"),
        (("--k", "five"), "'five' is not a valid integer"),
        (("--theta", "often"), "'often' is not a threshold"),
    ],
)
def test_the_command_refuses_the_same(
    tmp_path: Path, arguments: tuple[str, ...], text: str
) -> None:
    with Engine(tmp_path / "w.duckdb"):
        pass
    told = srsql("release", "--quarter", "2018Q3", "--db", tmp_path / "w.duckdb", *arguments)
    assert (told.code, told.out) == (2, "")
    assert text in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("defaults", "text"),
    [
        ("[release]\nworkrs = 2\n", "[release] takes no option workrs: did you mean workers?"),
        ("wiat = 2\n", "srsql takes no option wiat: did you mean wait?"),
        ("[release]\nworkers = [5]\n", "[5] is not a whole number"),
        ("[release]\nworkers = 5.5\n", "5.5 is not a whole number"),
        ('[release]\nif_needed = "maybe"\n', "'maybe' is not a valid boolean"),
        ("[publish]\nlicense = [1]\n", "publish: license = [1]: give text"),
        ("[metrics]\nmedical = 5\n", "medical cannot be set in a file"),
    ],
)
def test_defaults_of_a_file_are_read_as_strictly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, defaults: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("srsql.toml").write_text(defaults)
    with Engine("srsql.duckdb"):
        pass
    command = "metrics" if "metrics" in defaults else "release"
    told = srsql(command, "--quarter", "2018Q3")
    assert told.code == 2
    assert text in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("name", [each for each in CALLS if each not in {"advise", "compare"}])
def test_a_call_has_at_most_eight_parameters(name: str) -> None:
    call = CALLS[name]
    named = [p for p in inspect.signature(call).parameters.values() if p.kind is not p.VAR_KEYWORD]
    assert len([p for p in named if p.name != "self"]) <= 8


def test_options_in_one_object_are_read_as_keywords_are_which_come_first(engine: Engine) -> None:
    """What is refused tells which value was read, and that the object was not taken as it is."""
    publish = engine.artifact.publish
    text = refused(PublishError, publish, "2018Q3", "out", Publication(format="xml"))  # type: ignore[arg-type]
    assert text.startswith("--format 'xml': give one of parquet")
    good, bad = Publication(format="csv"), "yes"
    text = refused(PublishError, publish, "2018Q3", "out", good, format=bad)
    assert text.startswith("--format 'yes'")
    text = refused(PublishError, publish, "2018Q3", "out", {"format": "csv"})
    assert text == "--publication {'format': 'csv'}: give Publication(...)"


def test_a_field_of_options_that_a_call_does_not_have_is_refused_in_either_form(
    engine: Engine,
) -> None:
    for given in ({"strata": ["sex"]}, {"counting": Counting(strata=["sex"])}):
        text = refused(SignalError, engine.signals.trend, "Humira", "Rash", **given)
        assert text.startswith("trend takes no option strata")


@pytest.mark.parametrize("old", [*MOVED, "release", "series", "audit", "signals", "query"])
def test_a_call_goes_on_by_its_old_name_and_says_the_new_one(engine: Engine, old: str) -> None:
    """It refuses an argument as the new one does, so that it is that call."""
    new = MOVED.get(old) or f"{old}.{getattr(engine, old).CALL}"
    given = needed(CALLS[new]) | {"no_such_keyword": 1}
    due = refused(SrsqlError, attrgetter(new)(engine), **given)
    with pytest.warns(DeprecationWarning, match=rf"^Engine\.{old}\(\) is Engine\.{new}\(\): "):
        assert refused(SrsqlError, lambda **each: getattr(engine, old)(**each), **given) == due
    assert not hasattr(engine, "no_such_call")
    guide = Path(__file__).parents[2].joinpath("docs", "guide.md").read_text(encoding="utf-8")
    assert f"| `{old}` | `{new}` |\n" in guide
