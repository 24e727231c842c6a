"""Two series of a real quarter: how many rows link, the refusal, the yes, the joined audit."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from oracles.linkability import Row, links
from support.real_data import needs
from support.released import content, rows

from srsql.engine.api.engine import Engine
from srsql.engine.errors import LinkableError

pytestmark = [pytest.mark.thorough, needs("faers/faers_ascii_2022Q4.zip")]
ITEMS = {"drug": "drugname", "reac": "pt", "indi": "indi_pt", "outc": "outc_cod"}
SEX = {"M": (1, 1), "F": (2, 2)}


def shown(engine: Engine, schema: str) -> dict[int, Row]:
    """Case -> its row, from the views alone."""
    items: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for table, name in ITEMS.items():
        for row in rows(engine.con, f'FROM "{schema}"."{table}"'):
            if row[name] is not None and row[name].strip():
                items[row["caseid"]].add((name, row[name].strip().upper()))
    return {
        row["caseid"]: Row(
            frozenset(items[row["caseid"]]),
            (
                None if row["age_low"] is None else (row["age_low"], row["age_high"]),
                None if row["wt_low"] is None else (row["wt_low"], row["wt_high"]),
                SEX.get(row["sex"]),
            ),
        )
        for row in rows(engine.con, f'FROM "{schema}".demo')
    }


def linked(first: dict[int, Row], second: dict[int, Row]) -> int:
    """Rows that link, set of items by set of items."""
    sets: dict[frozenset[tuple[str, str]], tuple[dict[int, Row], dict[int, Row]]] = {}
    for side, release in enumerate((first, second)):
        for case, row in release.items():
            sets.setdefault(row.items, ({}, {}))[side][case] = row
    return sum(len(links(*both)) for both in sets.values())


def test_most_rows_of_a_real_quarter_link_to_a_second_series_which_needs_a_yes(
    real: object, tmp_path: Path
) -> None:
    with Engine(real("2022Q4", tmp_path / "w.duckdb")) as engine:  # type: ignore[operator]
        engine.release("2022Q4", model="ppms++", seed=1)
        before = content(engine.con)
        with pytest.raises(LinkableError, match=r"link one to one .*series main.*--allow-linkable"):
            engine.release("2022Q4", model="ppms++", seed=2, series="partners")
        assert content(engine.con) == before
        made = engine.release(
            "2022Q4", model="ppms++", seed=2, series="partners", allow_linkable=True
        )
        (row,) = made.links
        main, partners = (shown(engine, f"release_{name}2022q4") for name in ("", "partners_"))
        assert (row.violating, row.total) == (linked(partners, main), len(partners))
        assert row.ratio is not None
        assert row.ratio > 0.8
        measured = [r for r in engine.metrics("2022Q4") if r.measure == "linkable"]
        assert [(r.scope, r.violating) for r in measured] == [("series partners", row.violating)]
        joined = engine.audit(all_series=True)
        assert not joined.safe
        assert all(one.few_alone == 0 for one in joined.releases)
        assert all(one.few > 1000 for one in joined.releases if one.scope == "group")
