"""What is asked: bounds on risk and loss, and the settings to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from srsql.engine.errors import AdviseError, SrsqlError
from srsql.engine.models import DEFAULT_MODEL, MODELS
from srsql.engine.parameters import parameter, read_fields
from srsql.engine.parameters.calls import strict_class
from srsql.engine.parameters.takes import Amount, Names, RefusedError, Several, Whole
from srsql.engine.release.options import release_options
from srsql.engine.release.series import check_turn
from srsql.engine.study.compare.grid import Cell, Grid, cells
from srsql.engine.warehouse.releases import find_ingestion
from srsql.engine.warehouse.series import check_name, find_series
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

USUAL_RISK = Fraction(1, 5)
"""Bound on the risk where no bound is given: what is typically used (Loukides 2014, section 6.2:
k = 5, so that nobody is picked with a chance above 0.2)."""
FIRST = (DEFAULT_MODEL, "ppms-dp-num")
"""Models for a series that has no release yet: both may be published."""
RELEASE = release_options()
ADVISED: dict[str, dict[str, Any]] = {
    name: {
        "takes": Several(option.takes),
        "default": option.first.advised,
        "help": option.meaning.removesuffix("."),
    }
    for name, option in RELEASE.items()
    if option.first.advised is not None
}
"""What is varied: its declaration as a list, with what is tried where nothing is asked."""
THETA: tuple[str, ...] = ADVISED["theta"]["default"]
Share = str | float | Fraction | None
SAMPLE = 20_000
SEED = 0
"""What settings are measured with where no seed is given; a release then draws its own."""


@dataclass(frozen=True)
class Bounds:
    """What a release must keep; None: unbounded."""

    risk: Fraction | None
    loss: Fraction | None
    confidence: Fraction | None = None
    """In any sensitive value whose threshold is below 1."""

    @property
    def aim(self) -> Literal["risk", "loss"]:
        """What is as small as possible within the bounds: the loss, unless it alone is bounded."""
        return "risk" if self.risk is None and self.loss is not None else "loss"


def make_bounds(max_risk: Share, max_loss: Share, max_confidence: Share = None) -> Bounds:
    """Bounds from shares such as 0.1 or 1/11; the usual risk where neither it nor loss is bounded.

    Raises:
        AdviseError: not a share above 0 and at most 1.
    """
    asked = {
        f"--max-{name}": text
        for name, text in (("risk", max_risk), ("loss", max_loss), ("confidence", max_confidence))
    }
    shares = [None if text is None else _share(text, option) for option, text in asked.items()]
    if shares[0] is None and shares[1] is None:
        shares[0] = USUAL_RISK
    return Bounds(*shares)


def _share(given: str | float | Fraction, option: str) -> Fraction:
    try:
        return Amount(1, noun="share").read(given, option)
    except RefusedError as why:
        raise AdviseError(str(why)) from None


@strict_class(AdviseError)
@dataclass(frozen=True)
class Sweep:
    """The values that are tried; every combination that applies to a model is one setting."""

    models: tuple[str, ...] = parameter(
        (),
        takes=Names(),
        help="Models to choose from",
        usual=f"that of the latest release of the series, else {','.join(FIRST)}",
    )
    k: tuple[int, ...] = parameter(**ADVISED["k"])
    theta: tuple[str, ...] = parameter(
        **ADVISED["theta"]
        | {"default": (), "usual": f"{','.join(THETA)}; of models with noise the first"}
    )
    """Empty: risk and loss of models with noise hardly follow from it."""
    epsilon: tuple[str, ...] = parameter(**ADVISED["epsilon"])
    missing: Literal["keep", "drop"] = parameter(
        "keep", takes=RELEASE["missing"].takes, help=RELEASE["missing"].first.help
    )
    on_infeasible: Literal["error", "withhold"] = parameter(
        "withhold", takes=RELEASE["on_infeasible"].takes, help=RELEASE["on_infeasible"].first.help
    )
    sample: int = parameter(
        SAMPLE,
        takes=Whole(0),
        help="Cases that all settings are tried on before the best are measured on the whole "
        "quarter; 0 for no sample",
    )
    seed: int | None = parameter(
        None,
        takes=Whole(),
        help="Seed of sample and releases; the command it ends with has it, too",
    )

    def __post_init__(self) -> None:
        """Refuse values that could not be read."""
        read_fields(self, AdviseError)


def settings(sweep: Sweep, models: tuple[str, ...]) -> list[Cell]:
    """Every setting once, as it may be published: sound calibration and secure noise.

    Raises:
        SrsqlError: a value is not one.
    """
    return [cell for name in dict.fromkeys(models) for cell in _settings(sweep, name)]


def _settings(sweep: Sweep, model: str) -> list[Cell]:
    theta = sweep.theta or (THETA[:1] if MODELS[model].perturbs_values else THETA)
    return cells(
        Grid(
            models=(model,),
            k=sweep.k,
            theta=theta,
            epsilon=sweep.epsilon,
            calibration=("sound",),
            noise=("secure",),
            seed=(SEED if sweep.seed is None else sweep.seed,),
            missing=sweep.missing,
            on_infeasible=sweep.on_infeasible,
        )
    )


def _check_models(models: tuple[str, ...]) -> None:
    for name in models:
        if name not in MODELS:
            raise AdviseError(f"no model {name!r}: give some of {', '.join(MODELS)}")
        if not MODELS[name].releases_case_rows:
            raise AdviseError(
                f"--models {name}: advice is on models that release each case under a region, and "
                "this one does not; 'srsql compare' measures it"
            )
        if MODELS[name].unpublishable:
            raise AdviseError(
                f"--models {name}: its releases may not be published; 'srsql compare' measures it"
            )


def models_for(
    warehouse: Warehouse, dataset: Dataset, series: str, quarter: str, asked: tuple[str, ...]
) -> tuple[str, ...]:
    """The models that the next release of the series may have: ``asked``, if they may follow.

    By default the model of its latest release, since a series keeps to one family; of a series
    without releases ``FIRST``.

    Raises:
        SrsqlError: the quarter is not ingested, or its turn is over; or a model may not follow, has
            releases without regions, or such as may not be published.
    """
    check_name(series)
    _check_models(asked)
    find_ingestion(warehouse, dataset, quarter)
    found = find_series(warehouse, dataset, series)
    if found is None:
        return asked or FIRST
    try:
        check_turn(warehouse, found, quarter, supersede=False)
    except SrsqlError as error:
        out = str(error).partition(";")[0]  # the rest is about releasing it
        raise AdviseError(
            f"advice is on what to release next: {out}: name a later quarter, or another --series"
        ) from None
    latest = warehouse.value(
        "SELECT r.model FROM srsql.release AS r WHERE r.dataset = ? AND r.series = ? "
        "ORDER BY r.status = 'draft', r.quarter DESC, r.release_id DESC LIMIT 1",
        [dataset.name, series],
    )
    usual = (latest,) if latest in MODELS else FIRST
    models = asked or tuple(name for name in usual if MODELS[name].family == found.family)
    strange = [name for name in models if MODELS[name].family != found.family]
    if strange or not models:
        raise AdviseError(
            f"series {series!r} holds {found.family} releases, which no release by "
            f"{(strange or usual)[0]} may follow: give other --models, or another --series"
        )
    return models
