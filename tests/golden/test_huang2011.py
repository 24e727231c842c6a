"""Huang 2011: the statistic and its null distribution on the published table of six statins.

The table (FAERS 2014Q3 to 2020Q4, 46 reactions and all others) is that of the R package pvLRT, its
figures those of Chakraborty, Markatou and Ball 2023, The R Journal 15 (1), section 4.1. They take
the expected count for known, and compare each ratio with the largest of all six drugs.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srsql.engine.signals.likelihood import null_distribution

FOLDER = Path(__file__).parent / "huang2011"


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_ratios_are_the_published_ones_and_chances_agree_with_them(sql: Any) -> None:
    cells = [(row["drug"], row["reaction"], int(row["n"])) for row in read("statin46.csv")]
    sql.table("cells", "drug VARCHAR, reaction VARCHAR, n BIGINT", cells)
    sql.con.execute(
        "CREATE OR REPLACE TEMP TABLE counts AS SELECT c.*, "
        "sum(c.n) OVER (PARTITION BY c.reaction)::BIGINT AS n_reaction, "
        "sum(c.n) OVER (PARTITION BY c.drug)::BIGINT AS n_drug, "
        "sum(c.n) OVER ()::BIGINT AS n_all FROM temp.main.cells AS c"
    )
    rows = sql.records("FROM srsql.likelihood_ratios('temp.main.counts')")
    found = {(row["drug"], row["reaction"]): row for row in rows}
    drugs = sorted({drug for drug, _, _ in cells} - {"Other"})
    draws, largest = 10_000, np.zeros(10_000)
    for seed, drug in enumerate(drugs):
        own = [row for row in rows if row["drug"] == drug]
        totals = [row["n_reaction"] for row in own]
        largest = np.maximum(largest, null_distribution(totals, own[0]["n_drug"], draws, seed))
    published = read("pvlrt_statin46.csv")
    assert len(published) == 32
    for line in published:
        row = found[line["drug"], line["reaction"]]
        assert row["n"] == int(line["n"])
        assert round(row["log_lr_poisson"], 2) == float(line["log_lr"])
        # of rare reactions the ratio of Huang 2011 is the same
        rare = row["n_drug"] * row["n_reaction"] / row["n_all"] < 5 and row["n"] < 15
        if rare:
            assert row["log_lr"] == pytest.approx(row["log_lr_poisson"], rel=1e-3, abs=1e-3)
        p = (1 + np.count_nonzero(largest >= row["log_lr_poisson"])) / (1 + draws)
        wanted = float(line["p_value"])
        assert abs(p - wanted) <= 5 * np.sqrt(2 * wanted * (1 - wanted) / draws) + 3 / draws
