"""The options of a release, as the command line and Python callers give them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, cast

from srsql.engine.audit.plan import parse_share
from srsql.engine.grouping.cases import load_knowledge
from srsql.engine.grouping.perturbation import parse_epsilon
from srsql.engine.grouping.symptoms import parse_symptoms_rule
from srsql.engine.grouping.thresholds import parse_theta
from srsql.engine.models import DEFAULT_MODEL, MODELS, make_model
from srsql.engine.release.request import Request
from srsql.engine.terms.options import make_terms


@dataclass(frozen=True)
class Defaults:
    """What a release uses where nothing is said (SPEC section 6)."""

    model: str = DEFAULT_MODEL
    k: int = 5
    theta: str = "frequency"
    ss_rule: str = "mean+sd"
    series: str = "main"
    dataset: str = "faers"


DEFAULTS = Defaults()


class ReleaseOptions(TypedDict, total=False):
    """How to release; what is not given takes the default that ``srsql release --help`` shows."""

    model: str
    k: int
    theta: str
    missing: Literal["keep", "drop"]
    leftovers: Literal["withhold", "merge", "error"]
    on_infeasible: Literal["error", "withhold"]
    knowledge: str | Path | None
    alpha: str | None
    assume_md: Literal["none", "all"] | None
    l: int | None  # noqa: E741 (the model's own name for it)
    terms: Literal["disassociate"] | None
    m: int | None
    term_attributes: str | Sequence[str] | None
    policy: str | Path | None
    sensitive_terms: str | Path | None
    repeated_terms: bool
    ss_rule: str
    epsilon: str | None
    calibration: Literal["paper", "sound"] | None
    noise: Literal["secure", "seeded"] | None
    epsilon_limit: str | None
    suppress_below: int | None
    informative: str | None
    dimensions: str | None
    seed: int | None
    series: str
    draft: bool
    supersede: bool


def make_request(quarter: str, options: ReleaseOptions) -> Request:
    """What is asked of a release, from options as callers give them.

    Raises:
        ReleaseError: an option means nothing, or does not go with the model.
    """
    seed, alpha = options.get("seed"), options.get("alpha")
    knowledge = options.get("knowledge")
    budget = {
        key: parse_epsilon(text, f"--{key.replace('_', '-')}")
        for key in ("epsilon", "epsilon_limit")
        if (text := cast(str | None, options.get(key))) is not None
    }
    name = options.get("model", DEFAULTS.model)
    terms = make_terms(options, terms_only=_terms_only(name))
    return Request(
        quarter=quarter,
        model=make_model(
            name,
            k=options.get("k", DEFAULTS.k),
            leftovers=options.get("leftovers", "withhold"),
            alpha=parse_share(alpha, "--alpha") if alpha is not None else None,
            assume_md=options.get("assume_md"),
            l=None if terms else options.get("l"),
            calibration=options.get("calibration"),
            noise=options.get("noise"),
            suppress_below=options.get("suppress_below"),
            informative=options.get("informative"),
            dimensions=options.get("dimensions"),
            **budget,
        ),
        theta=parse_theta(options.get("theta", DEFAULTS.theta)),
        seed=secrets.randbits(63) if seed is None else seed,
        missing=options.get("missing", "keep"),
        on_infeasible=options.get("on_infeasible", "error"),
        knowledge=load_knowledge(Path(knowledge)) if knowledge else None,
        series=options.get("series", DEFAULTS.series),
        terms=terms,
        symptoms=parse_symptoms_rule(options.get("ss_rule", DEFAULTS.ss_rule)),
        draft=options.get("draft", False),
        supersede=options.get("supersede", False),
    )


def _terms_only(model: str) -> bool:
    """Whether a model releases terms apart from everything, and nothing else."""
    return model in MODELS and not (MODELS[model].rows or MODELS[model].own_rows)
