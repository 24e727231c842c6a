"""What an audience chooses of a release and of an advice, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from support.command import srsql
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import ReleaseError
from srsql.engine.extras.study.settings import Sweep, sweep_for
from srsql.engine.release.audiences import (
    AUDIENCES,
    audience_options,
    audience_sentences,
    model_for,
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A warehouse with two quarters, and a series."""
    folder = tmp_path_factory.mktemp("audiences")
    with Engine(folder / "w.duckdb") as opened:
        for number, quarter in enumerate(("2022Q3", "2022Q4")):
            opened.ingest([write_quarter(folder, quarter, crowd(120, first=1 + 200 * number))])
        opened.create_series("begun", k=11)
        yield opened


def test_each_audience_has_the_k_of_the_risk_that_the_field_asks_for() -> None:
    assert {name: (of.k, of.risk) for name, of in AUDIENCES.items()} == {
        "public": (11, Fraction(1, 11)),
        "contract": (5, Fraction(1, 5)),
        "enclave": (3, Fraction(1, 3)),
    }
    for of in AUDIENCES.values():
        assert f"{float(of.risk):.2f}".rstrip("0") == of.rounded


def chosen(engine: Engine, quarter: str, series: str, **given: object) -> dict[str, object]:
    return audience_options(engine.warehouse, engine.dataset(), quarter, series, given)


def test_the_public_gets_rows_apart_and_persistence_where_the_next_period_is_loaded(
    engine: Engine,
) -> None:
    apart = {"k": 11, "terms": "disassociate", "term_attributes": "all", "ids": "per-quarter"}
    stay = apart | {"model": "ppms-stay"}
    assert chosen(engine, "2022Q3", "new", audience="public") == stay
    assert chosen(engine, "2022Q4", "new", audience="public") == apart | {"model": "ppms++"}
    assert chosen(engine, "2022Q3:2022Q4", "new", audience="public") == apart | {"model": "ppms++"}


def test_others_get_whole_rows_and_smaller_groups(engine: Engine) -> None:
    assert chosen(engine, "2022Q3", "new", audience="contract") == {"k": 5, "model": "ppms++"}
    assert chosen(engine, "2022Q3", "new", audience="enclave") == {"k": 3, "model": "ppms++"}


def test_what_is_given_by_hand_wins_and_a_series_keeps_its_model_and_ids(engine: Engine) -> None:
    by_hand = {"k": 20, "model": "ms", "ids": "original"}
    found = chosen(engine, "2022Q3", "new", audience="public", **by_hand)
    assert found == {"terms": "disassociate", "term_attributes": "all"}
    assert chosen(engine, "2022Q3", "new", audience="public", model="cba").keys() == {"k"}
    assert chosen(engine, "2022Q3", "begun", audience="contract") == {"k": 5}
    with pytest.raises(ReleaseError, match=r"other parameters|promises less"):
        engine.release("2022Q3", series="begun", audience="contract")


def test_an_advice_tries_what_the_audience_asks_for_unless_something_else_is_given(
    engine: Engine,
) -> None:
    public, usual = AUDIENCES["public"], Sweep()
    model = model_for(engine.warehouse, engine.dataset(), "2022Q3", public)
    found = sweep_for(usual, public, model)
    assert (found.models, found.terms, min(found.k)) == (("ppms-stay",), True, 11)
    by_hand = Sweep(models=("ms",), k=(4,))
    assert sweep_for(by_hand, public, model).models == ("ms",)
    assert sweep_for(by_hand, public, model).k == (4,)


def test_sentences_tell_what_was_made_and_not_what_was_wished() -> None:
    made = {"k": 11, "model": "ppms-stay", "attacks": "b,f,l,md,p", "term_cases": 44}
    assert list(audience_sentences("public", made)) == [
        "for anybody: k = 11, so that by quasi-identifiers nobody is picked with a chance above "
        "1/11 (the field's 0.09)",
        "rows: drugs and terms are told of clusters and of no case",
        "attackers: who joins the periods, and knows in which of two a patient is, is withstood",
    ]
    whole = {"k": 4, "model": "ppms++", "attacks": "b,f,l"}
    first, rows, attackers = audience_sentences("contract", whole)
    assert "k = 4, less than the 5 that the field asks for" in first
    assert "may single a case out; the contract has to prevent that" in rows
    assert "ppms-stay withstands that" in attackers
    drawn = {"k": 5, "model": "dp-histogram", "noise": "secure", "guarantee": "epsilon is 1"}
    assert next(audience_sentences("public", drawn)) == "for anybody: epsilon is 1"


@pytest.mark.slow
def test_a_release_for_an_audience_says_so_in_three_sentences_and_a_second_run_is_as_asked(
    engine: Engine,
) -> None:
    db = Path(engine.warehouse.path or "")
    engine.close()
    asked = ("release", "--audience", "public", "--series", "open", "--theta", "1", "--db", db)
    answer = srsql(*asked, "--quarter", "2022Q3")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[1].startswith("for anybody: k = 11")
    assert lines[2] == "rows: drugs and terms are told of clusters and of no case"
    assert lines[3].startswith("attackers: who joins the periods, and knows in which of two")
    assert "nothing to do" in srsql(*asked, "--quarter", "2022Q3:2022Q3").out
    other = ("release", "--audience", "contract", "--series", "open", "--db", db)
    assert "not as asked" in srsql(*other, "--quarter", "2022Q3:2022Q3").err
