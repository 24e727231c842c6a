"""Settings of an advice: measured within this process, or made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from srsql.engine.extras.study.row_settings import RowAdvice, RowSetting
from srsql.engine.extras.study.settings import Advice, Setting

OPTIONS: dict[str, Any] = {"missing": "keep", "on_infeasible": "withhold", "seed": 0}
"""What a setting is released with where nothing else is asked."""


def task_of(db: Path, scratch: Path, quarter: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The task of a worker."""
    return {
        "snapshot": str(db),
        "scratch": str(scratch),
        "dataset": None,
        "quarters": [quarter],
        "series": "main",
        "sample": None,
        "options": OPTIONS | dict(options),
        "threads": 2,
        "memory_limit": "2GiB",
    }


def _setting(
    model: str, k: int, risk: float, loss: float, on: Literal["quarter", "sample"] = "quarter"
) -> Setting:
    noisy = "dp" in model
    return Setting(
        label=f"{model} k={k} theta=0.4", model=model, k=k, theta="0.4",
        epsilon="1" if noisy else None, measured_on=on,
        risk=risk, risk_is="mean" if noisy else "worst", loss=loss, fewest=round(1 / risk),
        counted=round(1 / risk), attacks="b,f,l", rr=risk / 3, confidence=0.39, confidence_held=7,
        confidence_of=18, confidence_in="NAUSEA", dsr=0.0, singled_out=0.913, nil_star=loss * 0.9,
        cases=57831, withheld=round(5783 * loss), withheld_why={"infeasible": 12, "too few": 3},
        groups=12345 // k, smallest=k, k_effective=k, seconds=12.25 * k, frontier=True,
        keeps=risk <= 0.2,
    )  # fmt: skip


def advice() -> Advice:
    """Made up: settings of two models, one recommended, one without a release."""
    found = [_setting("ppms++", k, 1 / k, 0.05 * k**0.5) for k in (3, 5, 7, 10)]
    found += [_setting("ppms-dp-num", k, 0.4 / k, 0.08 * k**0.5) for k in (3, 5)]
    failed = Setting(
        label="ppms++ k=50 theta=0.4", model="ppms++", k=50, theta="0.4", epsilon=None,
        measured_on="quarter", error="no grouping keeps theta = 0.4 with k = 50",
    )  # fmt: skip
    tried = [_setting("ppms++", k, 1 / k, 0.055 * k**0.5, "sample") for k in (3, 5, 7, 10, 15)]
    return Advice(
        dataset="faers", series="main", quarter="2011Q3", after=["2011Q1", "2011Q2"], cases=57831,
        sample=20000, max_risk=0.2, max_loss=None, max_confidence=0.4, recommended=found[1],
        nearest=None, misses={}, reason="It has the least loss of the 3 settings that keep a risk "
        "of at most 20 %.",
        command=["srsql", "release", "--quarter", "2011Q3", "--series", "main", "--model",
                 "ppms++", "--k", "5", "--theta", "levels:my thresholds.toml", "--missing", "keep",
                 "--on-infeasible", "withhold"],
        settings=[*found, failed], sampled=tried, measured=6, files=[],
    )  # fmt: skip


def rows_advice(found: Advice) -> Advice:
    """The same with ways of taking whole rows apart, made up."""
    whole = RowSetting("ms k=5 whole rows", 5, None, None, looked_at=2000, below_k=0.97,
                       mhra_before=10, mhra_kept=10, mhra_others=0)  # fmt: skip
    best = replace(whole, label="ms k=5 term_cases=20 m=1", term_cases=20, m=1, below_k=0.0,
                   follows=0.01, mhra_kept=6, are_w1=0.2, are_w2=0.7, a_ratio=0.5,
                   keeps=True)  # fmt: skip
    other = replace(best, label="ms k=5 term_cases=10 m=2", term_cases=10, m=2, mhra_kept=4)
    refused = RowSetting("ms k=5 term_cases=40 m=2", 5, 40, 2, error="too few cases")
    command = ["srsql", "release", "--term-cases", "20", "--series", "a b"]
    return replace(
        found,
        row_settings=[whole, best, other, refused],
        rows=RowAdvice("rows", 0.0, best, "It keeps most signals.", command),
    )
