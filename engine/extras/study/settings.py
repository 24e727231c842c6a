"""The settings of an advice: which are tried, what was measured of each, what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Literal

from srsql.engine.errors import AdviseError
from srsql.engine.extras.study.grid import Cell, Grid, cells, with_options
from srsql.engine.extras.study.results import Row
from srsql.engine.extras.study.row_settings import KNOWN, MODEL, TIMES, RowAdvice, RowSetting
from srsql.engine.models import DEFAULT_MODEL, MODELS
from srsql.engine.models.base import SUPPRESS
from srsql.engine.parameters import Parameter, declared, parameter, read_fields, strict_class
from srsql.engine.parameters.takes import Flag, Names, Real, Several, Whole
from srsql.engine.release.audiences import Audience
from srsql.engine.release.request import release_options
from srsql.engine.risk.singling_out import PERCENT
from srsql.engine.store.frames import Framed
from srsql.engine.terms.parameters import ALL, DISASSOCIATE

FIRST = (DEFAULT_MODEL,)
"""Models for a series that has no release yet. Noise is tried where it is asked for."""
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
KS: tuple[int, ...] = ADVISED["k"]["default"]
SAMPLE = 20_000
SEED = 0
"""What settings are measured with where no seed is given; a release then draws its own."""
DELETED = "cases: deleted"
"""Withdrawn by their reporter: no release may have them, so they are nobody's loss."""


SINGLED_OUT = PERCENT["one_candidate_percent_2_items"]
"""Measure and scope that a setting tells of what stands beside the region."""


SUPPRESSED_VALUES = ("suppressed_values", "values of cases")
"""Measure and scope of the values that are suppressed."""


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
    k: tuple[int, ...] = parameter(
        **ADVISED["k"]
        | {
            "default": (),
            "usual": "the least that promises --max-risk, and what is larger of "
            f"{','.join(map(str, KS))}",
        }
    )
    theta: tuple[str, ...] = parameter(
        **ADVISED["theta"]
        | {"default": (), "usual": f"{','.join(THETA)}; of models with noise the first"}
    )
    """Empty: risk and loss of models with noise hardly follow from it."""
    epsilon: tuple[str, ...] = parameter(**ADVISED["epsilon"])
    leftovers: tuple[str, ...] = parameter(**ADVISED["leftovers"])
    """With ``suppress``, values that no grouping could keep are suppressed as well."""
    refine: tuple[str, ...] = parameter(**ADVISED["refine"])
    missing: Literal["keep", "drop"] = parameter(
        "keep", takes=RELEASE["missing"].takes, help=RELEASE["missing"].first.help
    )
    on_infeasible: Literal["error", "withhold", "suppress"] = parameter(
        "withhold", takes=RELEASE["on_infeasible"].takes, help=RELEASE["on_infeasible"].first.help
    )
    sample: int = parameter(
        SAMPLE,
        takes=Whole(0),
        help=(
            "Size of the sample for a first try of all settings, in cases; the best are "
            "then measured on the whole quarter; 0: no sample"
        ),
    )
    quick: bool = parameter(
        False,
        takes=Flag(),
        help=(
            "Stop after the first round: the settings of the least k, without those that suppress, "
            "on a sample of 2,000 cases"
        ),
    )
    seed: int | None = parameter(
        None,
        takes=Whole(),
        help="Seed of sample and releases; the recommended command has it, too",
    )
    terms: bool = parameter(
        False,
        takes=Flag(),
        help=(
            "Recommend settings for whole rows, too: sizes of clusters, and known items; "
            "measured on the whole quarter"
        ),
    )
    max_singled_out: float = parameter(
        0.0,
        takes=Real(0, 1),
        help=(
            "Largest share of cases that two known items may single out (fewer than k "
            "candidates), with --terms"
        ),
    )

    def __post_init__(self) -> None:
        """Refuse values that could not be read."""
        read_fields(self, AdviseError)


def sweep_parameters() -> dict[str, Parameter]:
    """What a sweep is made of, by keyword."""
    return declared(Sweep)


def sweep_for(sweep: Sweep, audience: Audience, model: str) -> Sweep:
    """The settings that are tried for an audience; what differs from the usual ones was given.

    Args:
        sweep: as it was asked for.
        audience: whom the release is for.
        model: see ``model_for``.
    """
    return replace(
        sweep,
        k=sweep.k or _from_k(audience.k),
        models=sweep.models or (model,),
        terms=sweep.terms or audience.rows_apart,
    )


def _from_k(least: int) -> tuple[int, ...]:
    return (least, *(k for k in KS if k > least))


def _usual_ks(model: str, risk: Fraction | None) -> tuple[int, ...]:
    """What is tried of k: no less than what promises the bound on the risk, where it is 1 / k."""
    if risk is None or MODELS[model].claimed_bounds.drawn:
        return KS
    return _from_k(max(KS[0], ceil(1 / risk)))


def settings(sweep: Sweep, models: tuple[str, ...], risk: Fraction | None = None) -> list[Cell]:
    """Every setting once, as it may be published: sound calibration and secure noise.

    Args:
        sweep: what is tried.
        models: of which models.
        risk: the bound on the risk, from which k follows where none is given.

    Raises:
        SrsqlError: a value is not one.
    """
    return [cell for name in dict.fromkeys(models) for cell in _settings(sweep, name, risk)]


def _settings(sweep: Sweep, model: str, risk: Fraction | None) -> list[Cell]:
    theta = sweep.theta or (THETA[:1] if MODELS[model].claimed_bounds.drawn else THETA)
    made = cells(
        Grid(
            models=(model,),
            k=sweep.k or _usual_ks(model, risk),
            theta=theta,
            epsilon=sweep.epsilon,
            calibration=("sound",),
            noise=("secure",),
            refine=sweep.refine,
            seed=(SEED if sweep.seed is None else sweep.seed,),
            missing=sweep.missing,
            on_infeasible=sweep.on_infeasible,
        )
    )
    return [
        with_options(cell, leftovers=choice, on_infeasible=_infeasible(sweep, choice))
        for cell in made
        for choice in dict.fromkeys(sweep.leftovers)
    ]


def _infeasible(sweep: Sweep, leftovers: str) -> str:
    """What becomes of infeasible values: suppressed with the leftovers, unless otherwise asked."""
    if leftovers == SUPPRESS and sweep.on_infeasible == "withhold":
        return SUPPRESS
    return sweep.on_infeasible


def plain_cells(cells: Sequence[Cell]) -> list[Cell]:
    """The cells without those that suppress what a twin of theirs withholds."""
    withholding = {twins(cell) for cell in cells if not is_weaker(cell)}
    return [cell for cell in cells if not is_weaker(cell) or twins(cell) not in withholding]


def is_weaker(cell: Cell) -> bool:
    """Whether leftovers are suppressed, which promises less than to withhold them."""
    return dict(cell.options).get("leftovers") == SUPPRESS


def twins(cell: Cell) -> str:
    """What is the same of settings that differ in what becomes of leftovers."""
    return repr([each for each in cell.options if each[0] not in ("leftovers", "on_infeasible")])


def row_cells(sweep: Sweep, best: Setting) -> list[Cell]:
    """The settings of whole rows, those left whole first, with k and thresholds of ``best``.

    Nothing is suppressed, since that is for values that rows show.
    """
    asked = replace(
        sweep,
        k=(best.k,),
        theta=(best.theta or THETA[0],),
        leftovers=("withhold",),
        refine=(best.refine,),
        on_infeasible="withhold" if sweep.on_infeasible == SUPPRESS else sweep.on_infeasible,
    )
    (whole,) = settings(asked, (MODEL,))
    apart = [{"term_cases": times * best.k, "m": known} for times in TIMES for known in KNOWN]
    return [whole] + [
        with_options(whole, terms=DISASSOCIATE, term_attributes=ALL, **options) for options in apart
    ]


@dataclass(frozen=True)
class Infeasible:
    """A value more frequent than its threshold, for which cases were withheld."""

    value: str
    cases: int
    total: int
    frequency: float
    theta: float


@dataclass(frozen=True)
class Setting:
    """A model with its parameters, and what its release of the quarter (or a sample) measures.

    ``risk``: of a model that releases regions ``worst``, the greatest chance with which an attacker
    of the audit picks a target's record: 1 / the fewest candidates that remain of any target's
    group after the exclusion sets (Huang 2021, Definitions 1 to 4), 1 where none remain. A release
    with another seed may leave fewer than the one that was measured, down to the k_effective that
    is promised: unless the seed is kept, the risk counts on no more than that. Of a
    model with noise, whose values are draws that exclude nobody, it is RR (Wu 2022, section V.A): a
    mean over the cases of one draw, which bounds nothing for any one of them.

    ``loss``: w + (1 - w) NIL*, in [0, 1], w the share of the cases that is withheld: the mean over
    cases and quasi-identifiers, where a withheld case loses each of them. Where a share s of the
    values of cases is suppressed, 1 - (1 - w) (1 - NIL*) (1 - s): what is left of either.
    """

    label: str
    model: str
    k: int
    theta: str | None
    epsilon: str | None
    measured_on: Literal["sample", "quarter"]
    error: str | None = None
    """Why there is no release with these options."""
    leftovers: str = "withhold"
    on_infeasible: str = "withhold"
    refine: str = "fast"
    risk: float | None = None
    risk_is: Literal["worst", "mean"] = "worst"
    loss: float | None = None
    fewest: int | None = None
    """Candidates that remain of the worst target, as they were measured."""
    counted: int | None = None
    """Of them, those that the risk counts on."""
    attacks: str = ""
    """By which they were narrowed down."""
    rr: float | None = None
    """Mean chance of picking a case's record (Wu 2022)."""
    confidence: float | None = None
    """Greatest, in any value with a threshold below 1, about any target within its group (of a
    model with noise: its internal group)."""
    confidence_held: int | None = None
    """What it is the quotient of, so that bounds are compared exactly:"""
    confidence_of: int | None = None
    """candidates that hold the value, and all that remain (with external knowledge: weights)."""
    confidence_in: str | None = None
    dsr: float | None = None
    """Share of groups in which a value exceeds its threshold after exclusions; 0 is promised."""
    singled_out: float | None = None
    """Share of the cases that the region and some two drugs or terms of the case single out: beside
    the region they are published as they are, so no setting bounds it."""
    nil_star: float | None = None
    cases: int = 0
    """In the quarter or sample, withheld ones included, deleted ones not."""
    withheld: int = 0
    withheld_why: dict[str, int] = field(default_factory=dict)
    infeasible: tuple[Infeasible, ...] = ()
    suppressed_share: float = 0.0
    """Of the values of released cases."""
    groups: int = 0
    smallest: int | None = None
    """Cases of the smallest group."""
    k_effective: int = 0
    """Cases that groups were grown to; above k where a threshold needs it."""
    seconds: float | None = None
    frontier: bool = False
    """No other setting judged by the same risk, and measured on as much, beats it in both."""
    keeps: bool = False
    """Every bound."""

    @property
    def point(self) -> tuple[float, float]:
        """Risk and loss of a setting that has them; without a release they mean nothing."""
        return self.risk or 0.0, self.loss or 0.0

    @property
    def given_up(self) -> float | None:
        """Share of the values of released cases that is suppressed; None: it suppresses none where
        cases would be withheld."""
        asked = SUPPRESS in (self.leftovers, self.on_infeasible)
        return self.suppressed_share if asked else None

    @property
    def withheld_share(self) -> float:
        """w; 0 of nobody."""
        return self.withheld / self.cases if self.cases else 0.0


def setting(
    cell: Cell,
    on: Literal["sample", "quarter"],
    rows: Sequence[Row],
    error: str | None,
    *,
    seeded: bool,
) -> Setting:
    """The figures of a cell from the rows of its worker.

    Args:
        cell: what was released.
        on: what of.
        rows: that were measured.
        error: why there are none.
        seeded: the release will be made with the same seed.
    """
    options = dict(cell.options)
    noisy = MODELS[cell.model].claimed_bounds.drawn
    base: dict[str, Any] = {
        "label": cell.label.removesuffix(f" seed={options['seed']}"),  # one for all of them
        "model": cell.model,
        "k": options["k"],
        "theta": options.get("theta"),
        "epsilon": options.get("epsilon"),
        "leftovers": str(options.get("leftovers", "withhold")),
        "on_infeasible": str(options.get("on_infeasible", "withhold")),
        "refine": str(options["refine"]),
        "measured_on": on,
        "risk_is": "mean" if noisy else "worst",
    }
    error = error or next((row["error"] for row in rows if row.get("error")), None)
    if error:
        return Setting(**base, error=error)
    found = {(row["measure"], row.get("scope")): row for row in rows}
    of_measure = {row["measure"]: row for row in rows}
    withheld, cases = _withheld(found)
    share = withheld / cases
    nil_star = of_measure["nil_star"]["ratio"]
    suppressed = found.get(SUPPRESSED_VALUES, {}).get("ratio") or 0.0
    rr = of_measure["rr"]["ratio"] if "rr" in of_measure else None
    fewest, confidence = of_measure["fewest"], of_measure["confidence"]
    remaining = None if noisy else int(fewest["ratio"])
    promised = int(of_measure["k_effective"]["ratio"])
    counted = None if remaining is None else remaining if seeded else min(remaining, promised)
    return Setting(
        **base,
        risk=rr if counted is None else 1 / max(counted, 1),
        loss=_loss(share, nil_star, suppressed),
        suppressed_share=suppressed,
        fewest=remaining,
        counted=counted,
        attacks="" if noisy else fewest["scope"],
        rr=rr,
        confidence=confidence["violating"] / confidence["total"] if confidence["total"] else None,
        confidence_held=confidence["violating"],
        confidence_of=confidence["total"],
        confidence_in=confidence.get("scope"),
        dsr=next((r["ratio"] for (name, scope), r in found.items()
                  if name == "dsr" and str(scope).startswith("group")), None),
        singled_out=found.get(SINGLED_OUT, {}).get("ratio"),
        nil_star=nil_star,
        cases=cases,
        withheld=withheld,
        withheld_why=_withheld_why(found),
        infeasible=tuple(
            Infeasible(r["scope"], int(r["violating"]), int(r["total"]), r["ratio"], r["threshold"])
            for r in rows
            if r["measure"] == "infeasible"
        ),
        groups=int(of_measure["groups"]["ratio"]),
        smallest=int(found["group_size", "min"]["ratio"]),
        k_effective=promised,
        seconds=of_measure["release"].get("seconds"),
    )  # fmt: skip


def _loss(withheld: float, nil_star: float, suppressed: float) -> float:
    """See :class:`Setting`."""
    if not suppressed:
        return withheld + (1 - withheld) * nil_star
    return 1 - (1 - withheld) * (1 - nil_star) * (1 - suppressed)


def _withheld(found: Mapping[tuple[str, Any], Row]) -> tuple[int, int]:
    """How many cases are withheld, and of how many, without the deleted ones."""
    withheld, deletions = found["withheld", "cases"], found.get(("withheld", DELETED))
    deleted = int(deletions["violating"]) if deletions else 0
    return int(withheld["violating"]) - deleted, int(withheld["total"]) - deleted


def _withheld_why(found: Mapping[tuple[str, Any], Row]) -> dict[str, int]:
    return {
        str(scope).removeprefix("cases: "): int(row["violating"])
        for (name, scope), row in found.items()
        if name == "withheld" and str(scope).startswith("cases: ") and scope != DELETED
    }


@dataclass(frozen=True)
class Advice(Framed):
    """What to release next, and what that follows from."""

    _tables: ClassVar[tuple[str, ...]] = ("settings", "row_settings")

    dataset: str
    series: str
    quarter: str
    after: list[str]
    """Quarters of the earlier releases of the series, which the attacker has; once for each."""
    cases: int
    """Of the quarter."""
    sample: int | None
    """Cases of the sample that settings were tried on; None: the whole quarter."""
    max_risk: float | None
    max_loss: float | None
    max_confidence: float | None
    recommended: Setting | None
    nearest: Setting | None
    """If none keeps the bounds: which comes nearest."""
    misses: dict[str, tuple[float, float]]
    """Bounds that this one breaks: name -> figure, bound."""
    reason: str
    command: list[str] | None
    """The release that is recommended."""
    settings: list[Setting]
    """Measured on the whole quarter (with --quick, on the sample), in the order of the sweep."""
    sampled: list[Setting]
    """Measured on the sample; empty where there is none."""
    measured: int
    """Measured in this run; the rest was before."""
    files: list[str]
    """Page, CSV, Parquet."""
    row_settings: list[RowSetting] = field(default_factory=list)
    """With --terms: rows left whole, and taken apart in each way, measured on the whole quarter."""
    rows: RowAdvice | None = None
    """With --terms: which of them is recommended."""

    @property
    def quick(self) -> bool:
        """Whether it rests on figures of a sample."""
        return any(one.measured_on == "sample" for one in self.settings)
