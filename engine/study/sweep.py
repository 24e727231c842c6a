"""What is asked: bounds on risk and loss, and the settings to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from srsql.engine.audit.plan import parse_share
from srsql.engine.errors import AdviseError, SrsqlError
from srsql.engine.models import DEFAULT_MODEL, MODELS
from srsql.engine.release.series import check_name, check_turn, find_series
from srsql.engine.study.grid import Cell, Grid, cells
from srsql.engine.warehouse.registration import find_ingestion
from srsql.engine.warehouse.warehouse import Warehouse
from srsql.schemas import Dataset

USUAL_RISK = Fraction(1, 5)
"""Bound on the risk where no bound is given: what is typically used (Loukides 2014, section 6.2:
k = 5, so that nobody is picked with a chance above 0.2)."""
FIRST = (DEFAULT_MODEL, "ppms-dp-num")
"""Models for a series that has no release yet: both may be published."""
K = (3, 5, 10, 20)
THETA = ("frequency", "0.4", "0.2")
EPSILON = ("0.1", "1", "10")
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


def make_bounds(
    max_risk: str | None, max_loss: str | None, max_confidence: str | None = None
) -> Bounds:
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


def _share(text: str, option: str) -> Fraction:
    found = parse_share(str(text), option)
    if not 0 < found <= 1:
        raise AdviseError(f"{option} {text}: give a share above 0 and at most 1, such as 0.1")
    return found


@dataclass(frozen=True)
class Sweep:
    """The values that are tried; every combination that applies to a model is one setting."""

    models: tuple[str, ...] = ()
    """Empty: see ``models_for``."""
    k: tuple[int, ...] = K
    theta: tuple[str, ...] = ()
    """Empty: ``THETA``, and the first of them for models with noise, whose risk and loss hardly
    follow from it."""
    epsilon: tuple[str, ...] = EPSILON
    missing: Literal["keep", "drop"] = "keep"
    on_infeasible: Literal["error", "withhold"] = "withhold"
    sample: int = SAMPLE
    """Cases of the quarter that all settings are tried on; 0, or a smaller quarter: all."""
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse a sample of nobody."""
        if self.sample < 0:
            raise AdviseError(f"--sample {self.sample}: give a number of cases, or 0 for all")


def settings(sweep: Sweep, models: tuple[str, ...]) -> list[Cell]:
    """Every setting once, as it may be published: sound calibration and secure noise.

    Raises:
        SrsqlError: a value is not one.
    """
    return [cell for name in dict.fromkeys(models) for cell in _settings(sweep, name)]


def _settings(sweep: Sweep, model: str) -> list[Cell]:
    theta = sweep.theta or (THETA[:1] if MODELS[model].perturbs else THETA)
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
        if not MODELS[name].rows:
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
