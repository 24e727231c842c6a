"""Counts and measures of a real quarter's originals, beside vigipy on cases that pandas counts.

The cases are read from the archive and counted by pairs of a drug and a reaction without srsql;
vigipy measures these counts. Without a value that a condition asks for a case is left out, as
``--missing exclude`` leaves it out.
"""

from __future__ import annotations

import warnings
import zipfile
from dataclasses import astuple
from typing import Any

import pandas as pd
import pytest
from support.real_data import DATA, needs

from srsql.engine.api.engine import Engine

SOURCE = "faers/faers_ascii_2022Q4.zip"
NO_VIGIPY = "vigipy, an independent implementation, is not installed"
YEARS = {"DEC": 10.0, "YR": 1.0, "MON": 1 / 12, "WK": 7 / 365.25, "DY": 1 / 365.25,
         "HR": 1 / 8766}  # fmt: skip
MEASURES = (
    ("prr", "prr", "PRR", 1e-6),
    ("ror", "ror", "ROR", 1e-6),
    ("gps", "ebgm", "EBGM", 1e-4),
    ("gps", "eb05", "LowerBound", 5e-4),
    ("gps", "eb95", "UpperBound", 5e-4),
)
"""Method of vigipy, the measure here and there, and how far they may be apart: it adds 1e-7 or so
to cells, finds quantiles by halving an interval some times, and its optimizer of the prior stops
after 500 steps, wherever it is."""
pytestmark = [pytest.mark.slow, needs(SOURCE)]


def table(name: str, *columns: str) -> pd.DataFrame:
    """Columns of one file of the archive, as text, blank where there is nothing."""
    with zipfile.ZipFile(DATA / SOURCE) as archive:
        (member,) = (n for n in archive.namelist() if name in n.upper())
        with archive.open(member) as file:
            read = pd.read_csv(file, sep="$", dtype=str, keep_default_na=False, quoting=3)
    return read[list(columns)].apply(lambda values: values.str.strip())


def items_of(file: str, column: str, name: str, reports: set[str]) -> pd.DataFrame:
    """Each item of each of the reports once, as ``name``."""
    items = table(file, "primaryid", column).rename(columns={column: name})
    items[name] = items[name].str.upper()
    kept = items["primaryid"].isin(reports) & (items[name] != "")
    return items[kept].drop_duplicates()


def pairs_of(minimum: int | None, sex: str | None) -> tuple[pd.DataFrame, int]:
    """Cases of each pair, of each drug and of each reaction, and of all, under a condition."""
    cases = table("DEMO", "primaryid", "caseid", "age", "age_cod", "sex")
    assert cases["caseid"].is_unique  # no two reports are to be merged
    years = pd.to_numeric(cases["age"], errors="coerce") * cases["age_cod"].map(YEARS)
    chosen = pd.Series(True, index=cases.index)
    if minimum is not None:
        chosen &= years >= minimum  # false where no age is known
    if sex is not None:
        chosen &= cases["sex"] == sex
    within = cases[chosen]
    drugs, reactions = (
        items_of(file, column, name, set(within["primaryid"]))
        for file, column, name in (("DRUG", "drugname", "drug"), ("REAC", "pt", "reaction"))
    )
    joined = drugs.merge(reactions, on="primaryid")
    found = joined.groupby(["drug", "reaction"]).size().reset_index(name="events")
    found["product_aes"] = found["drug"].map(drugs["drug"].value_counts())
    found["count_across_brands"] = found["reaction"].map(reactions["reaction"].value_counts())
    named = found.rename(columns={"drug": "product_name", "reaction": "ae_name"})
    return named, len(within)


@pytest.mark.parametrize(("minimum", "sex"), [(None, None), (None, "F"), (18, None), (40, "M")])
def test_all_pairs_of_three_cases_have_vigipys_measures(
    real: Any, tmp_path: Any, minimum: int | None, sex: str | None
) -> None:
    vigipy = pytest.importorskip("vigipy", reason=NO_VIGIPY)
    from vigipy.GPS.GPS import truncated_likelihood
    from vigipy.utils.Container import DataContainer

    counted, total = pairs_of(minimum, sex)
    container = DataContainer(data=counted, N=total, type="flattened")
    theirs = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("prr", "ror"):
            theirs[method] = getattr(vigipy, method)(
                container, min_events=1, continuity_correction=False
            )
        begun = vigipy.gps(container, min_events=1, minimization_options={"tol": 1e-12})
    with Engine(real("2022Q4", tmp_path / "w.duckdb")) as engine:
        engine.release("2022Q4", k=5, theta="frequency", on_infeasible="withhold", seed=1)
        condition = {"min_age": minimum, "sex": sex}
        asked = {name: value for name, value in condition.items() if value is not None}
        found = engine.signals(
            every_pair=True, quarter="2022Q4", roles=["all"], missing="exclude", **asked
        )
    mine = {
        (each.drug, each.reaction): each.original
        for each in found.signals
        if each.original is not None and each.original.a >= 3
    }
    wanted = counted[counted["events"] >= 3]
    assert len(wanted) > 500
    pairs = set(zip(wanted["product_name"], wanted["ae_name"], strict=True))
    assert set(mine) == pairs
    for row in wanted.to_dict("records"):
        measures = mine[row["product_name"], row["ae_name"]]
        assert (measures.a, measures.a + measures.b, measures.a + measures.c) == (
            row["events"], row["product_aes"], row["count_across_brands"]
        )  # fmt: skip
        assert measures.a + measures.b + measures.c + measures.d == total
    # by its own likelihood our prior is at least as likely as the one that it stopped at, and with
    # that prior it has our measures
    prior = next(astuple(each)[3:8] for each in found.priors if each.data == "original")
    expected = counted["product_aes"] * counted["count_across_brands"] / total
    events = counted["events"].to_numpy(float)
    ours, its = (
        truncated_likelihood(each, events, expected.to_numpy(), 0)  # negative, and of the logarithm
        for each in (prior, begun.param["prior_param"])
    )
    assert ours <= its * (1 + 1e-9)
    theirs["gps"] = vigipy.gps(container, min_events=1, prior_param=list(prior))
    for method, name, column, apart in MEASURES:
        compared = 0
        for row in theirs[method].all_signals.to_dict("records"):
            key = row["Product"], row["Adverse Event"]
            value = getattr(mine[key], name) if key in mine else None
            if value is not None:
                assert value == pytest.approx(row[column], rel=apart), (name, key)
                compared += 1
        assert compared > 300, name
