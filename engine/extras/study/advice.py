"""An advice: settings are swept on a sample and on the quarter, and one is recommended."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from srsql.engine.catalog.datasets import dataset_names
from srsql.engine.catalog.releases import find_ingestion
from srsql.engine.catalog.series import check_name, find_series, stored_parameters
from srsql.engine.errors import AdviseError, SrsqlError
from srsql.engine.extras.study.choice import (
    Bounds,
    describe_risk,
    format_share,
    judge,
    missed,
    nearest,
    reason_for,
    reason_none,
    recommend,
    shortlist,
)
from srsql.engine.extras.study.grid import Rules
from srsql.engine.extras.study.rounds import (
    FEW,
    FORMAT,
    Counted,
    Trial,
    Tried,
    best_first,
    data_of,
    first_cells,
    measured,
    plan_line,
    try_settings,
)
from srsql.engine.extras.study.row_settings import (
    MODEL,
    RowAdvice,
    RowSetting,
    judge_rows,
    recommend_rows,
    row_setting,
    rows_reason,
)
from srsql.engine.extras.study.run import Workers, fingerprint
from srsql.engine.extras.study.sample import count_cases
from srsql.engine.extras.study.settings import (
    FIRST,
    SEED,
    Advice,
    Setting,
    Sweep,
    row_cells,
    settings,
)
from srsql.engine.models import MODELS
from srsql.engine.release.memory import series_request
from srsql.engine.release.series import check_turn
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.parameters import ALL
from srsql.schemas import Dataset

ROWS = "rows"
"""Series of rows that are taken apart, or the first of ``rows_2`` and so on, where the series that
advice is asked of cannot have them."""


def advise(
    warehouse: Warehouse,
    dataset: Dataset,
    quarter: str,
    bounds: Bounds,
    sweep: Sweep,
    *,
    series: str,
    workers: Workers,
) -> Advice:
    """Recommend how to release a quarter next in a series. The warehouse is only read.

    Every setting is released on a private copy of the warehouse, after the earlier releases of the
    series, and measured there. A few are tried on a small sample first, so that there is an advice
    soon. If the quarter has more cases than ``sweep.sample``, all settings are then tried on a
    sample of so many, and those that may be best measured on the whole quarter. Unless
    ``sweep.quick`` ends it after the first round, what is recommended rests on figures of the whole
    quarter alone. Measured settings are kept, also when this is interrupted.

    Args:
        warehouse: a file.
        dataset: whose quarter.
        quarter: one that may be released next in the series.
        bounds: what the release must keep.
        sweep: the settings to choose from.
        series: whose next release it is.
        workers: what measures a setting, and where page, table and measured settings go.

    Raises:
        AdviseError: the quarter is out already, no setting can be released, or the results cannot
            be written.
    """
    from srsql.engine.extras.study.advise_page import write_all  # brings matplotlib

    workers = replace(workers, error=AdviseError)
    workers.check()
    workers.need_one_set(dataset)
    models = models_for(warehouse, dataset, series, quarter, sweep.models)
    wanted = settings(sweep, models, bounds.risk)
    if all(cell.refused for cell in wanted):
        raise AdviseError(f"no setting can be released: {wanted[0].label}: {wanted[0].refused}")

    def advised(found: Sequence[Setting]) -> str:
        return _in_a_line(trial, judge(found, bounds), bounds, sweep)

    trial = Trial(warehouse, dataset, quarter, series, workers, workers.make_folder(),
                  sweep.seed is not None, advised)  # fmt: skip
    cases, began_with = count_cases(warehouse, dataset, quarter), data_of(trial, None)
    count, seed = Counted(), SEED if sweep.seed is None else sweep.seed
    large = sweep.sample if 0 < sweep.sample < cases else None
    first = first_cells(wanted, bounds.risk)
    if not sweep.quick and ((large or cases) < 2 * FEW or len(first) == len(wanted)):
        first = []  # what follows takes hardly longer
    workers.tell(plan_line(trial, len(first), wanted, cases, large, quick=sweep.quick))
    tried: Tried = []
    if first:
        tried = try_settings(trial, first, (FEW, seed) if cases > FEW else None, first, count)
    if first and not sweep.quick:
        workers.tell(
            f"first advice, from a sample of {FEW:,} cases: {advised([s for _, s in tried])}"
        )
    sampled: list[Setting] = []
    todo = best_first(wanted, tried, bounds)
    if large and not sweep.quick:
        tried = try_settings(trial, todo, (large, seed), wanted, count)
        sampled = judge([one for _, one in tried], bounds)
        close = [tried[place][0] for place in shortlist(sampled, bounds)]
        workers.tell(f"from a sample of {large:,} cases: {advised(sampled)}")
        todo = best_first(close, tried, bounds)
    if not sweep.quick:
        tried = try_settings(trial, todo, None, wanted, count)
    found = judge([one for _, one in tried], bounds)
    keeping = recommend(found, bounds)
    best = keeping[0] if keeping else None
    row_settings, rows = _advise_rows(trial, best, sweep, count)
    if data_of(trial, None) != began_with:  # others may write while copies are measured
        raise AdviseError(
            f"quarters or parameters of series {series!r} changed while settings were measured: "
            "run it again"
        )
    if all(one.error for one in found):
        raise AdviseError(f"no setting can be released: {found[0].label}: {found[0].error}")
    near = None if best else nearest(found, bounds)
    after = _exposed_quarters(trial)
    few = FEW if sweep.quick and cases > FEW else None
    reason = (
        reason_for(keeping, found, bounds)
        if best
        else reason_none(near, bounds, joined=bool(after))
    )
    advice = Advice(
        dataset=dataset.name,
        series=series,
        quarter=quarter,
        after=after,
        cases=cases,
        sample=few or (large if sampled else None),
        max_risk=_float(bounds.risk),
        max_loss=_float(bounds.loss),
        max_confidence=_float(bounds.confidence),
        recommended=best,
        nearest=near,
        misses=missed(near, bounds) if near else {},
        reason=f"On a sample of {few:,} of {cases:,} cases: {reason}" if few else reason,
        command=_command(trial, best, sweep) if best else None,
        settings=found,
        sampled=sampled,
        measured=count.settings,
        files=[],
        row_settings=row_settings,
        rows=rows,
    )
    files = write_all(dataset, advice, workers.out, safe=workers.csv_safe)
    return replace(advice, files=files)


def _in_a_line(trial: Trial, found: Sequence[Setting], bounds: Bounds, sweep: Sweep) -> str:
    """What is to be recommended of settings that were measured; empty: none could be released."""
    keeping = recommend(found, bounds)
    if keeping:
        best = keeping[0]
        command = shlex.join(_command(trial, best, sweep))
        return f"{best.label}, loss {format_share(best.loss)}, {describe_risk(best)}: {command}"
    if any(one.error is None for one in found):
        return reason_none(nearest(found, bounds), bounds, joined=False)
    return found[0].error or "" if found else ""


def _float(bound: Any) -> float | None:
    return None if bound is None else float(bound)


def _seed(sweep: Sweep) -> int:
    return SEED if sweep.seed is None else sweep.seed


def _advise_rows(
    trial: Trial, best: Setting | None, sweep: Sweep, count: Counted
) -> tuple[list[RowSetting], RowAdvice | None]:
    """How whole rows are taken apart, if that is asked.

    Without a setting for the quasi-identifiers there is no k to measure them with.
    """
    if not sweep.terms:
        return [], None
    series, bound = _series_of_rows(trial), sweep.max_singled_out
    if best is None:
        why = "Rows are taken apart with the k that is recommended, and none is."
        return [], RowAdvice(series, bound, None, why, None)
    loaded = fingerprint(trial.warehouse, trial.dataset, [trial.quarter], Rules())
    tried = measured(
        trial,
        row_cells(sweep, best),
        repr(("rows", FORMAT, loaded)),
        "quarter, rows taken apart",
        {"rows": True},
        count=count,
        best_so_far=lambda _: "",
    )
    found = judge_rows([row_setting(dict(c.options), rows, why) for c, rows, why in tried],
                       bound)  # fmt: skip
    chosen = next(iter(recommend_rows(found)), None)
    command = None
    if chosen is not None:
        (cell,) = (c for (c, _, _), one in zip(tried, found, strict=True) if one == chosen)
        command = _typed(trial, _row_options(trial, dict(cell.options), series, sweep))
    return found, RowAdvice(series, bound, chosen, rows_reason(found, bound), command)


def _series_of_rows(trial: Trial) -> str:
    """The series, where such a release may be the next of it; else a new one beside it.

    A series keeps to one family of models, and one whose rows are whole stays so.
    """
    name, dataset = trial.series, trial.dataset.name
    if find_series(trial.warehouse, trial.dataset, name) is None:
        return name
    stored = {each.keyword: each.value for each in stored_parameters(
        trial.warehouse, dataset, name
    )}  # fmt: skip
    apart = stored.get("term_cases") or stored.get("term_attributes") == ALL
    if stored.get("model") == MODEL and apart:
        return name
    taken = {row[0] for row in trial.warehouse.rows(query("study/data", "series_names"), [dataset])}
    names = (ROWS, *(f"{ROWS}_{n + 2}" for n in range(len(taken))))
    return next(name for name in names if name not in taken)


def _row_options(
    trial: Trial, options: dict[str, Any], series: str, sweep: Sweep
) -> dict[str, Any]:
    """The options of a release of rows as they are typed."""
    names = ("model", "k", "theta", "missing", "on_infeasible", "refine", "terms",
             "term_attributes", "term_cases", "m")  # fmt: skip
    return {
        "quarter": trial.quarter,
        "dataset": _dataset_named(trial),
        "series": series,
        **{name.replace("_", "-"): options.get(name) for name in names},
        "seed": sweep.seed,
    }


def _exposed_quarters(trial: Trial) -> list[str]:
    parameters = [trial.dataset.name, trial.series]
    rows = trial.warehouse.rows(query("study/data", "exposed_quarters"), parameters)
    return [quarter for (quarter,) in rows]


def _command(trial: Trial, best: Setting, sweep: Sweep) -> list[str]:
    """The recommended release as it is typed; without the seed unless one was given."""
    options = {
        "quarter": trial.quarter,
        "dataset": _dataset_named(trial),
        "series": trial.series,
        "model": best.model,
        "k": best.k,
        "theta": best.theta,
        "epsilon": best.epsilon,
        "missing": sweep.missing,
        "on-infeasible": best.on_infeasible,
        "leftovers": best.leftovers if best.leftovers != "withhold" else None,
        "refine": best.refine,
        "seed": sweep.seed,
    }
    return _typed(trial, options)


def _dataset_named(trial: Trial) -> str | None:
    """The dataset, where it has to be named."""
    return trial.dataset.name if len(dataset_names(trial.warehouse)) > 1 else None


def _typed(trial: Trial, options: Mapping[str, Any]) -> list[str]:
    """A release as it is typed, with the consents that its series asks for."""
    words = ["srsql", "release"]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    asked = {name.replace("-", "_"): value for name, value in options.items()}
    for name in ("quarter", "dataset"):
        del asked[name]
    found = series_request(trial.warehouse, trial.dataset, trial.quarter, asked).remembered
    if found and found.changes:
        words.append("--change")
    if found and found.weaker:
        words.append("--weaker")
    return words


def _check_models(models: tuple[str, ...]) -> None:
    for name in models:
        if name not in MODELS:
            raise AdviseError(f"no model {name!r}: give some of {', '.join(MODELS)}")
        other = (
            f"--models {name}: advice is on models that release each case under a region, and "
            "this one does not; 'srsql compare' measures it"
        )
        if why := MODELS[name].shape.of_cases("", other):
            raise AdviseError(why)
        if MODELS[name].claimed_bounds.unpublishable:
            raise AdviseError(
                f"--models {name}: its releases may not be published; 'srsql compare' measures it"
            )


def models_for(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str, chosen: tuple[str, ...]
) -> tuple[str, ...]:
    """The models that the next release of the series may have: ``chosen``, if they may follow.

    By default the model of its latest release, since a series keeps to one family; of a series
    without releases ``FIRST``.

    Args:
        warehouse: whose catalog is asked.
        dataset: whose quarter.
        series: whose next release it is.
        quarter: that is to be released.
        chosen: names of models; empty: those by default.

    Raises:
        SrsqlError: the quarter is not ingested, or its turn is over; or a model may not follow, has
            releases without regions, or such as may not be published.
    """
    check_name(series)
    _check_models(chosen)
    find_ingestion(warehouse, dataset, quarter)
    found = find_series(warehouse, dataset, series)
    if found is None:
        return chosen or FIRST
    try:
        check_turn(warehouse, found, quarter, supersede=False)
    except SrsqlError as error:
        reason = str(error).partition(";")[0]  # the rest is about releasing it
        raise AdviseError(
            f"advice is on what to release next: {reason}: name a later quarter, or another "
            "--series"
        ) from None
    latest = warehouse.value(query("study/data", "latest_model"), [dataset.name, series])
    usual = (latest,) if latest in MODELS else FIRST
    models = chosen or tuple(name for name in usual if MODELS[name].family == found.family)
    strange = [name for name in models if MODELS[name].family != found.family]
    if strange or not models:
        raise AdviseError(
            f"series {series!r} holds {found.family} releases, which no release by "
            f"{(strange or usual)[0]} may follow: give other --models, or another --series"
        )
    return models
