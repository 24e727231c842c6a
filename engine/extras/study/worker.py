"""One cell or setting in a process of its own: release on a copy, measure, write one file.

Run as ``python -m srsql.engine.extras.study.worker`` with the task as one line of JSON on
stdin, which stays open: where it ends, whoever started this process is gone, and so it ends too. A
task of a comparison is a cell: every quarter is released. One with ``sample`` is a setting of an
advice, one with ``rows`` a way of taking whole rows apart.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from srsql.engine.api.engine import Engine
from srsql.engine.audit.evidence import extremes
from srsql.engine.catalog.releases import released_id
from srsql.engine.checks.series import USUAL_ALPHA
from srsql.engine.errors import SrsqlError
from srsql.engine.extras.study.results import LOADING, finite
from srsql.engine.extras.study.row_settings import pair_rows
from srsql.engine.extras.study.sample import thin
from srsql.engine.measures import MeasureRow
from srsql.engine.models import MODELS
from srsql.engine.release.request import make_request
from srsql.engine.risk.linkage import shipped_medical, telling_cases
from srsql.engine.risk.term_counts import MANY
from srsql.engine.signals.results import agreements
from srsql.engine.store.scratch import put_beside
from srsql.engine.store.statements import query

SERIES = "compared"
"""Series of what is compared, or the first of ``compared_2`` and so on that is not there yet."""
ATTACKS = ("b", "f", "l", "md", "ss")
BIASES = {
    "a": "a_bias",
    "prr": "prr_bias",
    "ror": "ror_bias",
    "ebgm": "ebgm_bias",
    "ic": "ic_shift",
    "ic_shrunk": "ic_shrunk_shift",
}
"""Measure of a signal: its bias; ratios, of the ICs differences."""
CHANGES = ("a", "prr")
"""Measures of which the papers show released less original."""
CRITERIA = ("signal_prr", "signal_mhra", "signal_ror", "signal_ic", "signal_eb05")
"""Of which a comparison counts the signals that are kept, lost and undecided."""
OF_KNOWLEDGE = ("rr_bias", "ar_bias")
"""What medical knowledge adds to a risk (Wu 2022, Figs. 10 and 11)."""
Row = dict[str, Any]


def combination(terms: int, cases: int) -> str:
    """Scope of the share of the combinations of so many terms that so many cases hold."""
    return f"{terms} terms, held by {cases if cases < MANY else f'> {MANY - 1}'}"


def run_task(task: dict[str, Any], tell: Callable[[str], None]) -> list[Row]:
    """The rows of a task, of whichever kind it is."""
    work = run_rows if task.get("rows") else run_setting if "sample" in task else run_cell
    return work(task, tell)


def run_cell(task: dict[str, Any], tell: Callable[[str], None]) -> list[Row]:
    """The rows of a cell; what is refused is a row with the reason.

    Args:
        task: ``snapshot``, ``scratch`` (files), ``dataset``, ``quarters``, ``options``,
            ``signals``, ``threads``, ``memory_limit``; ``cases``: of each quarter, or None: all.
        tell: takes what is being done.
    """
    rows: list[Row] = []
    quarters = task["quarters"]
    with own_engine(task) as engine:
        task = task | {"series": _free_series(engine)}
        if task["cases"] is not None:
            seed = task["options"]["seed"]
            for quarter in quarters:
                thin(engine.warehouse, engine.dataset(), quarter, task["cases"], seed)
        seconds_of: dict[str, float] = {}
        for quarter in quarters:
            seconds, found = _release(engine, quarter, task, tell)
            rows += found
            if seconds is not None:
                seconds_of[quarter] = seconds
        for quarter, seconds in seconds_of.items():
            tell(f"{quarter}: metrics")
            rows += [row | {"seconds": seconds} for row in _measured(engine, quarter, task)]
        if seconds_of:
            tell("attacks and signals")
            rows += list(_audited(engine, task))
            if len(seconds_of) > 1:
                span = _span(quarters, list(seconds_of))
                rows += _guarded("signals", span, lambda: _signals(engine, None, span, task))
    return [{name: finite(value) for name, value in row.items()} for row in rows]


def own_engine(task: dict[str, Any]) -> Engine:
    """The engine on a copy of the snapshot that is this process's own."""
    scratch = Path(task["scratch"])
    for suffix in ("", ".wal"):
        if Path(task["snapshot"] + suffix).exists():
            shutil.copyfile(task["snapshot"] + suffix, f"{scratch}{suffix}")
    return Engine(
        scratch,
        dataset=task["dataset"],
        threads=task["threads"],
        memory_limit=task["memory_limit"],
    )


def _span(quarters: list[str], released: list[str]) -> str:
    """The range of the released quarters, and those of ``quarters`` in it that are not."""
    first, last = released[0], released[-1]
    absent = [q for q in quarters if first < q < last and q not in released]
    return f"{first}:{last}" + (f" without {', '.join(absent)}" if absent else "")


def _free_series(engine: Engine) -> str:
    """A series that the snapshot does not hold: its releases would count as earlier ones."""
    rows = engine.warehouse.rows(query("study/data", "series_names"), [engine.dataset().name])
    taken = {name for (name,) in rows}
    names = (SERIES, *(f"{SERIES}_{n + 2}" for n in range(len(taken))))
    return next(name for name in names if name not in taken)


def _release(
    engine: Engine, quarter: str, task: dict[str, Any], tell: Callable[[str], None]
) -> tuple[float | None, list[Row]]:
    """Seconds without loading kernels, or None; rows of stages and tables, or of the reason."""
    try:
        release = engine.release.make_range(  # in a copy that nobody sees
            f"{quarter}:{quarter}", progress=tell, series=task["series"], allow_linkable=True,
            **task["options"],
        ).released[0]  # fmt: skip
    except SrsqlError as error:
        return None, [_failed("release", quarter, error)]
    total = sum(seconds for stage, seconds in release.seconds.items() if stage != LOADING)
    rows = [
        {"quarter": quarter, "measure": "stage", "scope": stage, "seconds": seconds}
        for stage, seconds in release.seconds.items()
    ]
    rows += [
        {"quarter": quarter, "measure": "rows", "scope": name, "total": count, "seconds": total}
        for name, count in release.rows.items()
    ]
    return total, rows


def _measured(engine: Engine, quarter: str, task: dict[str, Any]) -> Iterator[Row]:
    yield from _guarded(
        "metrics",
        quarter,
        lambda: [
            {"quarter": quarter} | {k: v for k, v in asdict(row).items() if k != "release"}
            for row in _told(engine, quarter, task["series"])
        ],
    )
    yield from _guarded("questions", quarter, lambda: _answered(engine, quarter, task["series"]))
    yield from _guarded("combinations", quarter, lambda: _combined(engine, quarter, task["series"]))
    yield from _guarded("signals", quarter, lambda: _signals(engine, quarter, quarter, task))


def _told(engine: Engine, quarter: str, series: str) -> list[MeasureRow]:
    """The metrics; what knowledge adds has no value where it speaks of no released case."""
    rows = engine.audit.metrics(quarter, series=series)
    if not any(row.measure in OF_KNOWLEDGE for row in rows):
        return rows
    dataset = engine.dataset()
    release_id = released_id(engine.warehouse, dataset, quarter, series)
    if telling_cases(engine.warehouse, dataset, release_id, shipped_medical(dataset)):
        return rows
    return [
        replace(row, violating=None, ratio=None) if row.measure in OF_KNOWLEDGE else row
        for row in rows
    ]


def _answered(engine: Engine, quarter: str, series: str) -> list[Row]:
    """Q1 to Q4 of Lee 2020: what the release answers, and the originals."""
    found = engine.query.age_groups(quarter, series=series)
    return [
        {"quarter": quarter, "measure": measure, "scope": f"{row.condition}, {row.age_group}",
         "violating": ours, "total": truth,
         "ratio": None if ours is None or truth is None else ours - truth}
        for row in found
        for measure, ours, truth in (
            ("group_count", row.expected, row.original),
            ("group_mean", row.mean_amount, row.original_mean),
        )
        if ours is not None or truth is not None
    ]  # fmt: skip


def _combined(engine: Engine, quarter: str, series: str) -> list[Row]:
    """Shares of combinations of terms by how many cases hold them (Loukides 2014, Fig. 12)."""
    return [
        {"quarter": quarter, "measure": "combinations", "total": row.examined, "ratio": row.share,
         "scope": combination(row.terms, row.records)}
        for row in engine.audit.term_combinations(quarter, series=series)
    ]  # fmt: skip


def _audited(engine: Engine, task: dict[str, Any]) -> Iterator[Row]:
    """DIR, DSR and SSGR under every attack, also those that the model does not withstand."""
    model = make_request("", task["options"]).model
    alpha: Fraction = model.symptoms_limit or USUAL_ALPHA

    def rows() -> list[Row]:
        found = engine.audit.run(
            attacks=ATTACKS, scopes=("group",), alpha=alpha, evidence=0, series=task["series"]
        )
        return [
            {
                "quarter": row.quarter,
                "measure": f"audit_{name}",
                "scope": ",".join(row.attacks),
                "violating": count,
                "total": row.groups,
                "ratio": share,
            }
            for row in found.releases
            for name, count, share in (
                ("dir", row.dig, row.dir),
                ("dsr", row.dsg, row.dsr),
                ("ssgr", row.ssg, row.ssgr),
            )
        ]

    for measure in model.shape.of_cases([rows], []):
        yield from _guarded("audit", None, measure)


def _signals(engine: Engine, quarter: str | None, name: str, task: dict[str, Any]) -> list[Row]:
    """Released and original measures of every rule, and the bias."""
    asked = MODELS[task["options"]["model"]].shape.of_cases(task["signals"], None)
    if not asked:
        return []
    found = engine.signals.find(  # a rule may be about a drug that no case of the sample has
        quarter=quarter, series=task["series"], allow_unknown=True, **asked
    )
    rows = [
        {"quarter": name, "measure": f"signals_{what}", "scope": criterion, "violating": count,
         "total": told.before, "ratio": count / told.before if told.before else None}
        for criterion, told in zip(CRITERIA, agreements(found.signals, CRITERIA), strict=True)
        for what, count in (("kept", told.kept), ("lost", told.lost), ("undecided", told.undecided))
    ]  # fmt: skip
    for signal in found.signals:
        where = signal.condition
        words = [signal.drug]
        words += [f"age >= {where.min_age}"] if where.min_age is not None else []
        words += [f"age <= {where.max_age}"] if where.max_age is not None else []
        words += [f"sex {where.sex}"] if where.sex is not None else []
        scope = f"{', '.join(words)} => {signal.reaction}"
        for measure, bias in BIASES.items():
            after = getattr(signal.released, measure)
            before = getattr(signal.original, measure) if signal.original else None
            both = {"quarter": name, "scope": scope, "violating": after, "total": before}
            ratio = getattr(signal.bias, bias) if signal.bias else None
            rows.append(both | {"measure": f"signal_{measure}", "ratio": ratio})
            if measure in CHANGES:
                # where the originals have no such case, there is nothing that could change
                change = None if after is None or not before else after - before
                rows.append(both | {"measure": f"signal_{measure}_change", "ratio": change})
    return rows


def run_setting(task: dict[str, Any], tell: Callable[[str], None]) -> list[Row]:
    """What a release with these options measures, in uniform rows; or why there is none.

    Args:
        task: as ``run_cell`` takes it, with ``series`` and ``sample``.
        tell: takes what is being done.
    """
    (quarter,) = task["quarters"]
    with own_engine(task) as engine:
        dataset = engine.dataset()
        if task["sample"]:
            tell("sample")
            thin(engine.warehouse, dataset, quarter, *task["sample"])
        try:
            release = engine.release.make(
                quarter, series=task["series"], progress=tell, allow_linkable=True, change=True,
                weaker=True, **task["options"],
            )  # fmt: skip
        except SrsqlError as error:
            return [{"measure": "release", "error": " ".join(str(error).split())}]
        seconds = sum(duration for stage, duration in release.seconds.items() if stage != LOADING)
        rows: list[Row] = [
            {"measure": "release", "seconds": seconds},
            {"measure": "k_effective", "ratio": release.manifest["k_effective"]},
            {"measure": "groups", "ratio": release.manifest["groups"]},
        ]
        rows += [
            {
                "measure": "infeasible",
                "scope": value["value"],
                "violating": value["cases"],
                "total": value["total"],
                "ratio": value["frequency"],
                "threshold": value["theta"],
            }
            for value in release.manifest["infeasible"]
        ]
        tell("metrics")
        rows += [
            {name: value for name, value in asdict(row).items() if name != "release"}
            for row in _metrics(engine, quarter, task)
        ]
        tell("worst target")
        rows += _worst(engine, quarter, task["series"])
    return [{name: finite(value) for name, value in row.items()} for row in rows]


def _metrics(engine: Engine, quarter: str, task: dict[str, Any]) -> list[MeasureRow]:
    """All metrics; of a sample those that the release itself has kept, which are without RR of
    regions: it takes as long as the release."""
    if not task["sample"]:
        return engine.audit.metrics(quarter, series=task["series"])
    release_id = released_id(engine.warehouse, engine.dataset(), quarter, task["series"])
    kept = engine.warehouse.rows(query("study/data", "kept_metrics"), [release_id])
    return [MeasureRow(*row) for row in kept]


def run_rows(task: dict[str, Any], tell: Callable[[str], None]) -> list[Row]:
    """What a release of whole rows, taken apart or not, measures; or why there is none.

    Args:
        task: as ``run_cell`` takes it.
        tell: takes what is being done.
    """
    (quarter,) = task["quarters"]
    with own_engine(task) as engine:
        rows = row_figures(engine, quarter, task["options"], tell)
    return [{name: finite(value) for name, value in row.items()} for row in rows]


def row_figures(
    engine: Engine, quarter: str, options: dict[str, Any], tell: Callable[[str], None]
) -> list[Row]:
    """The rows that ``row_setting`` takes, of a release in a series of its own.

    Args:
        engine: on a private copy.
        quarter: that is released.
        options: of the release.
        tell: takes what is being done.
    """
    series, signals = _free_series(engine), engine.dataset().signals
    try:
        release = engine.release.make(
            quarter, series=series, progress=tell, allow_linkable=True, **options
        )
    except SrsqlError as error:
        return [_failed("release", quarter, error)]
    seconds = sum(duration for stage, duration in release.seconds.items() if stage != LOADING)
    tell("metrics")
    rows: list[Row] = [{"measure": "release", "seconds": seconds}]
    rows += [asdict(row) for row in engine.audit.metrics(quarter, series=series)]
    if signals is not None:
        tell("signals")
        found = engine.signals.find(  # items tell drugs without their roles
            every_pair=True, quarter=quarter, series=series, roles=["all"] if signals.role else None
        )
        rows += pair_rows(found.signals)
    return rows


def _worst(engine: Engine, quarter: str, series: str) -> list[Row]:
    found = extremes(engine.warehouse, engine.dataset(), series, quarter)
    return [
        {"measure": "fewest", "scope": ",".join(found.attacks), "ratio": found.fewest},
        {
            "measure": "confidence",
            "scope": found.term,
            "violating": found.held,
            "total": found.of,
            "threshold": found.theta,
        },
    ]


def _guarded(stage: str, quarter: str | None, rows: Callable[[], list[Row]]) -> list[Row]:
    try:
        return rows()
    except SrsqlError as error:
        return [_failed(stage, quarter, error)]


def _failed(stage: str, quarter: str | None, error: SrsqlError) -> Row:
    return {"quarter": quarter, "measure": stage, "error": " ".join(str(error).split())}


def _peak() -> float:
    """The most memory this process had, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def _end_with_parent() -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock would be held when the interpreter exits
        pass
    os._exit(1)


def serve() -> None:
    """Do the task and put its file in its place."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    rows = run_task(task, lambda text: print(text, flush=True))
    with put_beside(Path(task["file"])) as beside:
        beside.write_text(json.dumps({"peak_mib": _peak(), "rows": rows}), encoding="utf-8")


if __name__ == "__main__":
    serve()
