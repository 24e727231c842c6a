"""The files of an advice: one offline page, and the table as CSV and Parquet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from srsql.engine.errors import AdviseError
from srsql.engine.report.page import Fact, Figure, Table, Value, render
from srsql.engine.study.advise_plot import draw
from srsql.engine.study.advise_words import share, withheld
from srsql.engine.study.results import put_whole
from srsql.engine.study.settings import Setting
from srsql.schemas import Dataset

if TYPE_CHECKING:
    from srsql.engine.study.advise import Advice

_LEFT_OUT = ("withheld_why", "infeasible")
_COLUMNS = (
    "model", "k", "theta", "epsilon", "worst risk", "candidates", "mean risk (RR)", "loss", "NIL*",
    "withheld", "share", "groups", "smallest", "confidence", "DSR", "frontier", "keeps", "seconds",
)  # fmt: skip
_INTEGERS = (
    "k",
    "fewest",
    "cases",
    "withheld",
    "groups",
    "smallest",
    "k_effective",
    "confidence_held",
    "confidence_of",
)


def write_all(dataset: Dataset, advice: Advice, out: Path) -> list[str]:
    """``advise.html``, ``advise.csv`` and ``advise.parquet``, each put in its place when whole.

    Raises:
        AdviseError: they cannot be written.
    """
    table = frame(advice)
    text = page(dataset, advice)
    wanted: tuple[tuple[str, Callable[[Path], object]], ...] = (
        ("advise.html", lambda file: file.write_text(text, encoding="utf-8")),
        ("advise.csv", lambda file: table.to_csv(file, index=False, lineterminator="\n")),
        ("advise.parquet", lambda file: table.to_parquet(file, index=False)),
    )
    return [str(put_whole(out / name, write, AdviseError)) for name, write in wanted]


def frame(advice: Advice) -> pd.DataFrame:
    """A row per setting and what it was measured on; withheld cases by reason as columns."""
    whys = sorted({why for s in (*advice.settings, *advice.sampled) for why in s.withheld_why})
    rows = [
        {name: value for name, value in asdict(one).items() if name not in _LEFT_OUT}
        | {"recommended": one == advice.recommended}
        | {f"withheld_{why}": one.withheld_why.get(why, 0) for why in whys}
        for one in (*advice.settings, *advice.sampled)
    ]
    made = pd.DataFrame(rows)
    return made.astype(dict.fromkeys(_INTEGERS, "Int64"))


def page(dataset: Dataset, advice: Advice) -> str:
    """The page; the same advice gives the same."""
    told = advice.recommended or advice.nearest
    facts = [Fact("cases", "cases in the quarter", advice.cases)]
    if advice.sample is not None:
        facts.append(Fact("sample", "of them in the sample", advice.sample))
    if told is not None:
        facts += [
            Fact("risk", f"{told.risk_is} risk", told.risk, share(told.risk)),
            Fact("loss", "loss", told.loss, share(told.loss)),
            Fact("withheld", "cases withheld", told.withheld),
        ]
    image = draw(
        advice.settings, advice.sampled, advice.recommended, advice.max_risk, advice.max_loss
    )
    return render(
        "advise.html.j2",
        dataset=dataset,
        series=advice.series,
        advice=advice,
        facts=facts,
        withheld=withheld(told) if told else [],
        figure=Figure("frontier", image, "Each setting by risk and loss; filled: measured on the "
                      "whole quarter; hatched: beyond a bound (one far from every setting is not "
                      "drawn)"),
        measured=_table("settings", f"Measured on all {advice.cases:,} cases", advice.settings),
        sampled=_table(
            "sampled", f"Tried on a sample of {advice.sample or 0:,} cases", advice.sampled
        ),
        failed=Table(
            "failed",
            "Settings without a release, with the reason",
            ("setting", "measured on", "reason"),
            [
                (one.label, one.measured_on, one.error)
                for one in (*advice.settings, *advice.sampled)
                if one.error
            ],
        ),
    )  # fmt: skip


def _table(key: str, caption: str, settings: list[Setting]) -> Table:
    return Table(key, caption, _COLUMNS, [_row(one) for one in settings if not one.error])


def _row(one: Setting) -> tuple[Value, ...]:
    return (
        one.model,
        one.k,
        one.theta,
        one.epsilon,
        one.risk if one.risk_is == "worst" else None,
        one.fewest,
        one.rr,
        one.loss,
        one.nil_star,
        one.withheld,
        one.withheld_share,
        one.groups,
        one.smallest,
        one.confidence,
        one.dsr,
        "on it" if one.frontier else None,
        one.keeps if one.measured_on == "quarter" else None,
        one.seconds,
    )
