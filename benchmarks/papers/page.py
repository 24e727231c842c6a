"""One offline page: each claim of each paper beside what was measured, with the papers' figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers.claims import CLAIMS, FIGURES, GRIDS, Verdict
from srsql.engine.extras.study.compare_page import draw_all
from srsql.engine.extras.study.results import Row
from srsql.engine.report.page import Fact, Figure, Table, render
from srsql.schemas import Dataset

OUTCOMES = ("holds", "does not hold", "cannot be told")


@dataclass(frozen=True)
class Paper:
    """One paper's section."""

    key: str
    name: str
    claims: Table
    figures: list[Figure]
    missing: list[str]
    grids: Table


def judge(rows: Sequence[Row]) -> list[tuple[str, str, str, str, Verdict]]:
    """Paper, place, claim, rule and verdict of every claim."""
    return [(c.paper, c.place, c.sentence, c.rule, c.judge(rows)) for c in CLAIMS]


def page(dataset: Dataset, quarters: str, rows: Sequence[Row]) -> str:
    """The page; the same table gives the same.

    Args:
        dataset: whose quarters.
        quarters: what was compared.
        rows: the table.
    """
    verdicts = judge(rows)
    outcomes = [verdict.outcome for *_, verdict in verdicts]
    return render(
        Path(__file__).with_name("papers.html.j2"),
        dataset=dataset,
        series="compared",
        quarters=quarters,
        facts=[
            Fact(name.replace(" ", "-"), f"claims: {name}", outcomes.count(name))
            for name in OUTCOMES
        ],
        papers=[_paper(name, verdicts, rows) for name in dict.fromkeys(v[0] for v in verdicts)],
    ).html


def _paper(
    name: str, verdicts: Sequence[tuple[str, str, str, str, Verdict]], rows: Sequence[Row]
) -> Paper:
    key = name.lower().replace(" ", "-")
    figures, missing = draw_all([f for f in FIGURES if f.paper == name], rows, key)
    return Paper(
        key,
        name,
        Table(
            f"claims-{key}",
            "Claims; a claim holds where all comparisons agree, or as many as its rule says",
            ("where", "claim", "verdict", "agree", "of", "measured", "agrees where"),
            [
                (place, words, v.outcome, v.agreeing, v.comparisons, v.measured, rule)
                for paper, place, words, rule, v in verdicts
                if paper == name
            ],
        ),
        figures,
        missing,
        Table(
            f"grids-{key}",
            "What measures the figures of the paper (A:B are your quarters)",
            ("figures", "command"),
            [(", ".join(grid.places), grid.command) for grid in GRIDS if grid.paper == name],
        ),
    )
