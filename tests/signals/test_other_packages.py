"""Signals against packages that others maintain."""

from __future__ import annotations

import functools
import random
import warnings
from typing import Any

import pandas as pd
import pytest

pytestmark = pytest.mark.slow

TABLE = "drug VARCHAR, reaction VARCHAR, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE"
NO_VIGIPY = "vigipy, an independent implementation, is not installed"
NO_STATSMODELS = "statsmodels, an independent implementation of strata, is not installed"
NO_NLTK = "nltk, an independent implementation of IC, is not installed"


@functools.cache
def reports() -> list[tuple[str, str]]:
    """One drug and one reaction each, so that reports and pairs are counted alike."""
    luck = random.Random(2016)
    pairs = [(drug, reaction) for drug in range(40) for reaction in range(60)]
    rates = [
        luck.gammavariate(2, 3) if luck.random() < 0.1 else luck.gammavariate(2, 0.5) for _ in pairs
    ]
    weights = [
        rate / (1 + drug) / (1 + reaction)
        for rate, (drug, reaction) in zip(rates, pairs, strict=True)
    ]
    return [(f"D{drug}", f"R{reaction}") for drug, reaction in luck.choices(pairs, weights, k=9000)]


@pytest.fixture
def found(sql: Any) -> dict[tuple[str, str], dict[str, Any]]:
    numbered = list(enumerate(reports()))
    names = {
        "weights": sql.table(
            "weights",
            "case_id BIGINT, lower INTEGER, expected DOUBLE, upper INTEGER",
            [(i, 1, 1.0, 1) for i, _ in numbered],
        ),
        "drugs": sql.table(
            "drugs", "case_id BIGINT, drug VARCHAR", [(i, d) for i, (d, _) in numbered]
        ),
        "reactions": sql.table(
            "reactions", "case_id BIGINT, reaction VARCHAR", [(i, r) for i, (_, r) in numbered]
        ),
    }
    inputs = ", ".join(names.values())
    for name, query in (
        ("seen", f"srsql.observed_pairs({inputs})"),
        ("pairs", "(SELECT s.drug, s.reaction FROM temp.main.seen AS s)"),
        ("prior", "srsql.gps_prior('temp.main.seen')"),
        ("tables", f"srsql.contingency({inputs}, 'temp.main.pairs')"),
        ("ratios", "srsql.signal_measures('temp.main.tables')"),
    ):
        sql.con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM {query}")
    rows = sql.records("FROM srsql.shrunk_measures('temp.main.ratios', 'temp.main.prior')")
    return {(row["drug"], row["reaction"]): row for row in rows}


def counted() -> Any:
    vigipy = pytest.importorskip("vigipy", reason=NO_VIGIPY)
    frame = pd.DataFrame(reports(), columns=["name", "AE"])
    frame["count"] = 1
    return vigipy, vigipy.convert(frame.groupby(["name", "AE"], as_index=False).sum())


@pytest.mark.parametrize(("method", "theirs"), [("prr", "PRR"), ("ror", "ROR")])
def test_vigipy_agrees_on_prr_and_ror_to_four_digits(
    found: dict[tuple[str, str], dict[str, Any]], method: str, theirs: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vigipy, container = counted()
        result = getattr(vigipy, method)(container, min_events=1, continuity_correction=False)
    compare(found, result.all_signals, method, theirs)


def test_vigipy_agrees_on_ebgm_eb05_and_eb95_to_four_digits(
    found: dict[tuple[str, str], dict[str, Any]],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vigipy, container = counted()
        result = vigipy.gps(
            container,
            min_events=1,
            truncate=True,
            minimization_options={"tol": 1e-12},
        )
    for mine, theirs in (("ebgm", "EBGM"), ("eb05", "LowerBound"), ("eb95", "UpperBound")):
        compare(found, result.all_signals, mine, theirs)


def compare(
    found: dict[tuple[str, str], dict[str, Any]], frame: Any, mine: str, theirs: str
) -> None:
    compared = 0
    for row in frame.to_dict("records"):
        value = found[row["Product"], row["Adverse Event"]][mine]
        if value is not None:
            assert value == pytest.approx(row[theirs], rel=1e-4)
            compared += 1
    assert compared > 200


@pytest.mark.thorough
def test_nltk_agrees_on_ic_to_four_digits(
    found: dict[tuple[str, str], dict[str, Any]],
) -> None:
    association = pytest.importorskip("nltk.metrics.association", reason=NO_NLTK)
    for row in found.values():
        a, b, c, d = (int(row[name]) for name in "abcd")
        theirs = association.BigramAssocMeasures.pmi(a, (a + b, a + c), a + b + c + d)
        assert row["ic"] == pytest.approx(theirs, rel=1e-4, abs=1e-9)


def test_statsmodels_agrees_on_measures_over_strata_to_four_digits(sql: Any) -> None:
    """Points of PRR and ROR, and the interval of ROR; it has no interval of PRR."""
    tables = pytest.importorskip(
        "statsmodels.stats.contingency_tables", reason=NO_STATSMODELS
    ).StratifiedTable
    luck = random.Random(1959)
    drawn = {
        f"D{n:02}": [
            tuple(luck.randint(1, top) for top in (30, 300, 200, 5000))
            for _ in range(luck.randint(1, 8))
        ]
        for n in range(25)
    }
    name = sql.table(
        "apart",
        "drug VARCHAR, reaction VARCHAR, stratum INTEGER, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE",
        [
            (drug, "R", number, *cells)
            for drug, each in drawn.items()
            for number, cells in enumerate(each)
        ],
    )
    rows = sql.records(f"FROM srsql.mantel_haenszel({name})")
    assert len(rows) == len(drawn)
    for row in rows:
        theirs = tables([[[a, b], [c, d]] for a, b, c, d in drawn[row["drug"]]])
        low, high = theirs.oddsratio_pooled_confint()
        for mine, other in (
            ("prr", theirs.riskratio_pooled), ("ror", theirs.oddsratio_pooled),
            ("ror_low", low), ("ror_high", high),
        ):  # fmt: skip
            assert row[mine] == pytest.approx(other, rel=1e-4), mine
