"""What the ids of a real quarter tell of the week in which a report was received.

``SRSQL_REAL_DATA=... python -m pytest -m "" -s tests/real/test_ids_real.py`` prints the shares.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from datetime import datetime
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.real_data import DATA, needs

from srsql.engine.api.engine import Engine

SOURCE = "faers/faers_ascii_2022Q4.zip"
pytestmark = [pytest.mark.thorough, needs(SOURCE)]
QUARTER = "2022Q4"
KNOWN = 200
DRAWS = 20
"""Attackers, each with other reports that they know."""
Floats = NDArray[np.float64]
Share = tuple[float, float, float]
"""With its interval of 95 %."""


def dates_of_receipt() -> dict[int, int]:
    """Case -> the day of its first receipt (``init_fda_dt``), which is not published."""
    with zipfile.ZipFile(DATA / SOURCE) as archive:
        (name,) = (n for n in archive.namelist() if Path(n).name.upper().startswith("DEMO"))
        head, *lines = archive.read(name).decode("utf-8", "replace").splitlines()
    case, date = (head.lower().split("$").index(column) for column in ("caseid", "init_fda_dt"))
    rows = [line.split("$") for line in lines]
    return {
        int(row[case]): datetime.strptime(row[date], "%Y%m%d").toordinal()
        for row in rows
        if len(row[date]) == 8
    }


def week(days: Floats) -> Floats:
    """Days of our calendar are counted from a Monday."""
    return np.floor((np.round(days) - 1) / 7)


def isotonic(ids: Floats, days: Floats, asked: Floats) -> Floats:
    """Least squares among the functions that never fall, between the known ids straight."""
    blocks: list[tuple[float, int]] = []
    for day in days[np.argsort(ids)]:
        blocks.append((float(day), 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (a, n), (b, m) = blocks[-2], blocks.pop()
            blocks[-1] = ((a * n + b * m) / (n + m), n + m)
    fitted = np.repeat([mean for mean, _ in blocks], [count for _, count in blocks])
    return np.interp(asked, np.sort(ids), fitted)


def rank_matching(everybody: Floats, days: Floats, asked: Floats) -> Floats:
    """The day at the same place in the order of the known days as the id has in that of all."""
    place = (np.searchsorted(np.sort(everybody), asked) + 0.5) / len(everybody)
    return np.quantile(days, place)


def interval(right: int, of: int) -> Share:
    """A share with Wilson's interval of 95 %."""
    z, p = 1.959964, right / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return p, middle - half, middle + half


def played(public: Floats, days: Floats, seed: int) -> dict[str, Share]:
    """What one attacker gets right of the weeks of all others: by each way, and by none."""
    known = np.zeros(len(public), dtype=bool)
    known[np.random.default_rng(seed).choice(len(public), KNOWN, replace=False)] = True
    truth, asked = week(days[~known]), public[~known]
    commonest = Counter(week(days)).most_common(1)[0][0]  # as if they knew that, too
    guesses = {
        "isotonic": week(isotonic(public[known], days[known], asked)),
        "ranks": week(rank_matching(public, days[known], asked)),
        "commonest": np.full(len(truth), commonest),
    }
    return {n: interval(int((guess == truth).sum()), len(truth)) for n, guess in guesses.items()}


@pytest.mark.parametrize("ids", ["original", "pseudonym", "per-quarter"])
def test_pseudonyms_tell_no_more_of_the_week_of_receipt_than_naming_the_commonest(
    tmp_path: Path, real: Any, ids: str
) -> None:
    with Engine(real(QUARTER, tmp_path / "w.duckdb")) as engine:
        engine.release(QUARTER, k=5, seed=4, on_infeasible="withhold", ids=ids)
        shown = engine.sql(f"SELECT caseid, primaryid FROM release_{QUARTER.lower()}.demo")
        if ids == "original":
            case_of = {case: case for case, _ in shown}
        else:
            found = engine.lookup([str(case) for case, _ in shown]).found
            case_of = {one.pseudonym: int(one.case_id) for one in found}
    received = dates_of_receipt()
    rows = [(c, r, received[case_of[c]]) for c, r in shown if case_of[c] in received]
    assert len(rows) > 8000
    days = np.array([day for *_, day in rows], dtype=float)
    for place, name in enumerate(("case id", "report id")):
        public = np.array([row[place] for row in rows], dtype=float)
        runs = [played(public, days, seed) for seed in range(DRAWS)]
        first = runs[0]
        best = max(first["isotonic"], first["ranks"])
        told = ", ".join(f"{n} {p:.4f} [{a:.4f}, {b:.4f}]" for n, (p, a, b) in first.items())
        print(f"{ids}, {name}, {len(rows)} reports, {KNOWN} known: {told}")
        means = {n: float(np.mean([run[n][0] for run in runs])) for n in first}
        print(f"  mean of {DRAWS} attackers: {', '.join(f'{n} {p:.4f}' for n, p in means.items())}")
        if ids == "original":
            assert best[1] > 10 * first["commonest"][2]
        else:
            assert best[1] <= first["commonest"][2]
            assert max(means["isotonic"], means["ranks"]) <= means["commonest"]


def test_no_original_id_is_in_the_artifact_of_a_real_quarter(tmp_path: Path, real: Any) -> None:
    with Engine(real(QUARTER, tmp_path / "w.duckdb")) as engine:
        engine.release(QUARTER, k=5, seed=4, on_infeasible="withhold", ids="pseudonym")
        engine.publish(QUARTER, tmp_path / "out", format="csv")
        rows = engine.sql("SELECT caseid, primaryid FROM raw_faers.demo")
    original = {str(number).encode() for row in rows for number in row}
    assert len(original) == 2 * 8905
    for file in (tmp_path / "out").iterdir():
        content = file.read_bytes()
        if file.suffix == ".html":  # whose drawings are full of decimals
            content = re.sub(rb"<svg.*?</svg>", b"", content, flags=re.DOTALL)
            assert b"singled out" in content
        found = set(re.findall(rb"\b[0-9]{7,10}\b", content))
        assert found.isdisjoint(original), file.name
