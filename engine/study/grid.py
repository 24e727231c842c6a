"""What is compared: one cell per model and set of parameters that apply to it."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

from srsql.engine.audit.plan import parse_share
from srsql.engine.errors import CompareError, ReleaseError
from srsql.engine.grouping.perturbation import parse_epsilon
from srsql.engine.grouping.thresholds import ThetaPolicy, parse_theta
from srsql.engine.models import MODELS
from srsql.engine.release.options import ReleaseOptions, make_request
from srsql.engine.terms.choice import PolicyChoice, parse_policy

FORMAT = 2
"""Of the files of cells; another one makes every cell anew."""
VARIED = (
    "k", "epsilon", "l", "alpha", "calibration", "noise", "suppress_below", "informative",
    "dimensions",
)  # fmt: skip
"""What a grid varies of a model's own parameters."""
TERMS = ("m", "policy", "term_attributes")
"""What it varies of terms that are apart from each other."""
JOINED = frozenset({"term_attributes", "dimensions"})
"""Lists themselves, so that their names have + between them."""
Parameter = int | float | str | bool | None


@dataclass(frozen=True)
class Rules:
    """Whose signals are compared before and after: a file of rules, or one pair."""

    file: Path | None = None
    drug: str | None = None
    reaction: str | None = None
    min_age: str | None = None
    max_age: str | None = None
    sex: str | None = None

    def __post_init__(self) -> None:
        """Refuse what names no pair."""
        pair = (self.drug, self.reaction)
        conditions = (self.min_age, self.max_age, self.sex)
        if (self.drug is None) != (self.reaction is None):
            raise CompareError("give --drug and --reaction together")
        if self.file is not None and any(text is not None for text in (*pair, *conditions)):
            raise CompareError(
                "--rules brings its own pairs and conditions: give nothing beside it"
            )
        if self.drug is None and any(text is not None for text in conditions):
            raise CompareError("--min-age, --max-age and --sex need --drug and --reaction")

    @property
    def asked(self) -> dict[str, str]:
        """As ``Engine.signals`` takes it; empty: no signals."""
        if self.file is not None:
            return {"rules": str(self.file)}
        names = ("drug", "reaction", "min_age", "max_age", "sex")
        return {name: text for name in names if (text := getattr(self, name)) is not None}

    @property
    def content(self) -> str:
        """What tells one set of rules from another, wherever its file lies.

        Raises:
            CompareError: the file cannot be read.
        """
        if self.file is None:
            return json.dumps(self.asked)
        try:
            return hashlib.sha256(self.file.read_bytes()).hexdigest()
        except OSError as error:
            raise CompareError(f"{self.file}: cannot be read ({error.strerror})") from None


@dataclass(frozen=True)
class Grid:
    """The values of every parameter; empty: the model's own default."""

    models: tuple[str, ...]
    k: tuple[int, ...] = (5,)
    theta: tuple[str, ...] = ("frequency",)
    epsilon: tuple[str, ...] = ()
    l: tuple[int, ...] = ()  # noqa: E741 (the model's own name for it)
    """Empty: as k, which is how Lin 2016 compares."""
    alpha: tuple[str, ...] = ()
    calibration: tuple[str, ...] = ("paper",)
    noise: tuple[str, ...] = ("seeded",)
    m: tuple[int, ...] = ()
    """Of models of terms; so are the next two."""
    policy: tuple[str, ...] = ()
    """Utility policies as of ``srsql release``."""
    term_attributes: tuple[str, ...] = ()
    """Columns of terms; those that go together with + between them."""
    terms: Literal["disassociate"] | None = None
    """Of models that release rows: their terms apart from each other."""
    suppress_below: tuple[int, ...] = ()
    informative: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    """Those of one release with + between them."""
    cases: tuple[int, ...] = ()
    """Sizes of samples of every quarter; empty: the whole quarters."""
    seed: tuple[int, ...] = (0,)
    missing: Literal["keep", "drop"] = "keep"
    on_infeasible: Literal["error", "withhold"] = "error"

    def __post_init__(self) -> None:
        """Refuse what no model could read.

        Raises:
            CompareError: no models, or an unknown one; or policies that the table could not tell
                apart.
            ReleaseError: a threshold, share or budget is not one.
        """
        if not self.models:
            raise CompareError("--models: name at least one model")
        for name in self.models:
            if name not in MODELS:
                raise CompareError(f"no model {name!r}: give some of {', '.join(MODELS)}")
        for name in ("k", "theta", "seed"):
            if not getattr(self, name):
                raise CompareError(f"--{name}: give at least one value")
        if any(count < 1 for count in self.cases):
            raise CompareError("--cases: a sample has at least 1 case")
        for text in self.theta:
            parse_theta(text)
        for text in self.epsilon:
            parse_epsilon(text, "--epsilon")
        for text in self.alpha:
            parse_share(text, "--alpha")
        named: dict[str, PolicyChoice] = {}
        for text in self.policy:
            choice = parse_policy(text)
            if named.setdefault(choice.name, choice) != choice:
                raise CompareError(
                    f"--policy {text}: another one is called {choice.name!r} in the table, too; "
                    "compare them one by one, each with an --out of its own"
                )


@dataclass(frozen=True)
class Cell:
    """One series: a model and one set of the parameters that apply to it, with one seed."""

    model: str
    theta: str | None
    """As it was asked for; None where the model has no use for thresholds."""
    policy: ThetaPolicy | None
    parameters: tuple[tuple[str, Parameter], ...]
    """Fields of the model and what is asked of its terms, by name, with the values in force; the
    size of a sample, the seed."""
    options: tuple[tuple[str, Any], ...]
    """As ``Engine.release`` takes them."""
    choice: PolicyChoice | None = None
    """The utility policy, with its content."""
    cases: int | None = None
    """So many cases of each quarter, drawn with the seed; None: all."""
    refused: str | None = None
    """Why the model does not take these parameters."""

    @property
    def label(self) -> str:
        """In a few words, for progress."""
        told = dict(self.options)
        names = ("k", "l", "alpha", "epsilon", "theta", "m", "policy", "informative", "seed")
        told |= {"cases": self.cases, "seed": told.get("seed") or None}
        return " ".join(
            f"{name}={told[name]}" if name != "model" else self.model
            for name in ("model", *names, "cases")
            if told.get(name) is not None
        )

    def digest(self, data: str) -> str:
        """What a finished cell is known by: all that its results follow from.

        ``data``: fingerprint of what is released and of how it is measured.
        """
        files = [repr(self.policy), repr(self.choice)]
        told = [FORMAT, self.model, self.theta, *files, self.parameters, self.options]
        return hashlib.sha256(json.dumps([told, data], default=str).encode()).hexdigest()[:24]


def cells(grid: Grid) -> list[Cell]:
    """Every cell once, whatever parameters that do not apply to it are varied.

    Which ones apply follows from the fields of the model's class; thresholds apply where rows are
    released. A combination that the model refuses is a cell all the same.
    """
    found: dict[Any, Cell] = {}
    for model in grid.models:
        for options, cases in itertools.product(_combinations(grid, model), grid.cases or (None,)):
            cell = _cell(model, options, cases)
            key = (model, cell.parameters, repr((cell.policy, cell.choice)), cell.refused)
            found.setdefault(key, cell)
    return list(found.values())


def _combinations(grid: Grid, model: str) -> Iterator[dict[str, Any]]:
    known = _fields(model)
    asked: Mapping[str, Sequence[Any]] = {
        name: getattr(grid, name)
        for name in (*VARIED, *(TERMS if _of_terms(grid, model) else ()))
        if getattr(grid, name) and (name in known or name in TERMS)
    }
    asked = {**asked, **({"theta": grid.theta} if MODELS[model].rows else {}), "seed": grid.seed}
    for values in itertools.product(*asked.values()):
        options = dict(zip(asked, values, strict=True))
        if "l" in known and "l" not in asked:
            options["l"] = options["k"]
        for name in JOINED & options.keys():
            options[name] = options[name].replace("+", ",")
        if _of_terms(grid, model) and MODELS[model].rows:
            options["terms"] = grid.terms
        yield options | {
            "model": model,
            "missing": grid.missing,
            "on_infeasible": grid.on_infeasible,
        }


def _of_terms(grid: Grid, model: str) -> bool:
    """Whether the terms of its releases are apart from each other."""
    kind = MODELS[model]
    return bool(grid.terms) if kind.rows else not kind.own_rows


def _fields(model: str) -> set[str]:
    return {field.name for field in fields(MODELS[model])}


def _cell(model: str, options: dict[str, Any], cases: int | None) -> Cell:
    theta = options.get("theta")
    beside = (*([("cases", cases)] if cases is not None else []), ("seed", options["seed"]))
    policy = parse_theta(theta) if theta is not None else None
    listed = tuple(options.items())
    try:
        request = make_request("", cast(ReleaseOptions, options))
    except ReleaseError as error:
        asked = tuple((name, value) for name, value in listed if name in _fields(model))
        return Cell(model, theta, policy, (*asked, *beside), listed, refused=str(error))
    made, terms = request.model, request.terms
    parameters = [(f.name, _plain(getattr(made, f.name))) for f in fields(made)]
    if terms is not None:
        parameters += [
            ("m", terms.m),
            ("policy", terms.policy.name if terms.policy else "none"),
            ("term_attributes", ",".join(terms.attributes) or None),
        ]
    choice = terms.policy if terms else None
    return Cell(model, theta, policy, (*parameters, *beside), listed, choice, cases)


def _plain(value: Any) -> Parameter:
    if isinstance(value, Fraction):
        return float(value)
    return value if value is None or isinstance(value, (int, float, str, bool)) else str(value)
