"""RR, AR_rev and NIL* of a real quarter, against every original compared with every record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.real_data import needs

from srsql.engine.api.engine import Engine

pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]
QUARTER = "2022Q4"
NEAR = 1e-12
Floats = NDArray[np.float64]


def numbers(own: float, low: Floats, high: Floats, span: int) -> Floats:
    """[records] mean |x - v| over the intervals, by the trapezoids on both sides of v."""
    kink = np.clip(own, low, high)
    area = sum(
        (b - a) * (np.abs(a - own) + np.abs(b - own)) / 2 for a, b in ((low, kink), (kink, high))
    )
    width = high - low
    inside = np.divide(area, width, out=np.abs(low - own), where=width > 0)
    return missing(own, low, inside / span)


def missing(own: float, shown: Floats, loss: Floats) -> Floats:
    """The loss; 1 where one of both is not known, 0 where neither is."""
    gaps = np.isnan(shown).astype(int) + int(np.isnan(own))
    return np.where(gaps == 1, 1.0, np.where(gaps == 2, 0.0, loss))


def test_linkage_of_a_real_quarter_is_that_of_all_pairs(tmp_path: Path, real: Any) -> None:
    with Engine(real("2022Q4", tmp_path / "w.duckdb")) as engine:
        engine.release(QUARTER, model="ms", k=10, theta="0.6", on_infeasible="withhold", seed=4)
        found = {row.measure: row for row in engine.metrics(QUARTER)}
        cells = engine.frame(
            "SELECT c.case_no, c.low AS own_low, c.high AS own_high, g.low, g.high "
            "FROM srsql.member AS m "
            "INNER JOIN srsql.case_qid AS c USING (release_id, case_no) "
            "INNER JOIN srsql.region AS g USING (release_id, group_id, position) "
            "ORDER BY c.case_no, c.position"
        ).astype(float)
        terms = dict(
            engine.sql(
                "SELECT c.case_no, list(c.term_no) FROM srsql.case_term AS c "
                "INNER JOIN srsql.threshold AS t USING (term_no) WHERE t.released GROUP BY 1"
            )
        )
    n = len(cells) // 3
    case = cells["case_no"].to_numpy()[::3].astype(int)
    own_low, own_high, low, high = (
        cells[end].to_numpy().reshape(n, 3) for end in ("own_low", "own_high", "low", "high")
    )
    own = (own_low + own_high) / 2
    node = np.array([[0, 1 / 2, 1 / 2], [1 / 2, 0, 2 / 3], [1 / 2, 2 / 3, 0]])  # Any, M, F
    shown = np.nan_to_num(low[:, 2]).astype(int)
    lost = identified = inferred = 0.0
    for r in range(n):
        sex = int(np.nan_to_num(own_low[r, 2]))
        loss = numbers(own[r, 0], low[:, 0], high[:, 0], 120)
        loss = loss + numbers(own[r, 1], low[:, 1], high[:, 1], 400)
        loss = loss + missing(own[r, 2], low[:, 2], node[sex][shown])
        lost += loss[r]
        chosen = np.flatnonzero(loss <= loss.min() + NEAR)
        if r not in chosen:
            continue
        identified += 1 / len(chosen)
        held = [t for c in chosen for t in terms.get(case[c], [])]
        if held:
            inferred += len(held) / len(chosen) / len(set(held))
    assert found["rr"].total == n
    assert found["rr"].violating == pytest.approx(identified, rel=1e-9)
    assert found["ar_rev"].violating == pytest.approx(inferred, rel=1e-9)
    assert found["nil_star"].violating == pytest.approx(lost, rel=1e-9)
    assert found["rr_bias"].ratio == pytest.approx(
        found["rr_medical"].ratio - found["rr"].ratio, abs=1e-15
    )
