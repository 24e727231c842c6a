"""The pairs that a report draws, against all pairs put in order in Python."""

from __future__ import annotations

from heapq import nsmallest
from pathlib import Path

import pytest

from srsql import Engine
from srsql.engine.report import signal_figures
from srsql.engine.report.signal_figures import strongest


@pytest.mark.parametrize("most", [1, 3, 1_000])
def test_the_strongest_are_those_of_the_greatest_ic025(
    db: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(signal_figures, "SIGNALS_DRAWN", most)
    with Engine(db, read_only=True) as engine:
        every = engine.signals.find(every_pair=True, quarter="2011Q3", released_only=True).signals
        found = strongest(engine.warehouse, engine.dataset(), "main", "2011Q3")
    drawn = [one for one in every if one.released.prr_low and one.released.prr_high]
    assert 3 < len(drawn) <= len(every)
    order = nsmallest(most, drawn, key=lambda s: (-(s.released.ic025 or 0), s.drug, s.reaction))
    assert found == (len(every), order)
