"""Claims and figures on whole tables, against what was recorded when each was a function in Python.

Three tables were measured (``rows``, ``terms``, ``lattice``: small grids over synthetic quarters),
the others are made up so that every claim holds in some and fails in others. Where the environment
variable ``SRSQL_UPDATE_SNAPSHOTS`` is 1, the record is written anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.benchmark import load
from support.comparisons import table

from srsql.engine.extras.study.figures import OWN, PaperFigure, panels

claims = load("papers.claims")
CLAIMS = claims.CLAIMS
FIGURES = claims.FIGURES

FOLDER = Path(__file__).parent / "recorded"
RECORD = FOLDER / "verdicts.json"
MEASURED = ("rows", "terms", "lattice")
SEEDS = {
    "Lin 2016": (0, 14, 27, 42, 71, 91, 175, 185),
    "Huang 2021": (0, 1, 2, 14),
    "Wu 2022": (0, 1, 3, 10, 14, 42),
    "Loukides 2014": (15, 163, 169, 194, 216, 260),
    "Lee 2020": (0, 167),
}
TABLES = [*MEASURED, *(f"{paper}, {seed}" for paper, seeds in SEEDS.items() for seed in seeds)]


def rows_of(name: str) -> list[dict[str, Any]]:
    if name in MEASURED:
        stored = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        columns = stored["columns"]
        return [dict(zip(columns, row, strict=True)) for row in stored["rows"]]
    paper, _, seed = name.rpartition(", ")
    return table(paper, int(seed))


def concerned(name: str, paper: str) -> bool:
    return name in MEASURED or name.startswith(paper)


@cache
def verdicts(name: str) -> Mapping[str, str]:
    """Every claim that the table is about, as it was judged."""
    rows = rows_of(name)
    found = {claim.id: claim.judge(rows) for claim in CLAIMS if concerned(name, claim.paper)}
    return {
        key: f"{v.outcome}, {v.agreeing} of {v.comparisons}: {v.measured}"
        for key, v in found.items()
    }


def figures(name: str) -> dict[str, str]:
    """What each figure shows of the table, as a digest of its panels."""
    rows = rows_of(name)
    shown: Sequence[PaperFigure] = (*FIGURES, *(OWN if name in MEASURED else ()))
    return {
        f"{figure.place}, {figure.name}": digest(panels(figure, rows))
        for figure in shown
        if concerned(name, figure.paper) or figure in OWN
    }


def digest(found: Mapping[str, Mapping[str, Mapping[Any, float]]]) -> str:
    listed = [
        [title, [[line, [[str(p), y] for p, y in points.items()]] for line, points in of.items()]]
        for title, of in found.items()
    ]
    return hashlib.sha256(json.dumps(listed, ensure_ascii=False).encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    if os.environ.get("SRSQL_UPDATE_SNAPSHOTS") == "1":
        made = {
            "claims": {c.id: [c.paper, c.place, c.sentence, c.rule] for c in CLAIMS},
            "figures": [[f.paper, f.place, f.name, f.axis] for f in (*FIGURES, *OWN)],
            "tables": {
                name: {"verdicts": verdicts(name), "figures": figures(name)} for name in TABLES
            },
        }
        text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
        RECORD.write_text(text, encoding="utf-8")
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def test_the_papers_are_quoted_as_they_were(record: dict[str, Any]) -> None:
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert {c.id: [c.paper, c.place, c.sentence, c.rule] for c in CLAIMS} == record["claims"]
    assert [[f.paper, f.place, f.name, f.axis] for f in (*FIGURES, *OWN)] == record["figures"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_verdict_and_every_figure_is_the_recorded_one(
    record: dict[str, Any], name: str
) -> None:
    recorded = record["tables"][name]
    assert verdicts(name) == recorded["verdicts"]
    assert figures(name) == recorded["figures"]


def test_every_claim_holds_in_some_table_and_fails_in_another() -> None:
    outcomes = defaultdict(set)
    for name in TABLES:
        for key, text in verdicts(name).items():
            outcomes[key].add(text.partition(",")[0])
    both = {"holds", "does not hold"}
    assert {claim.id for claim in CLAIMS if not both <= outcomes[claim.id]} == set()
