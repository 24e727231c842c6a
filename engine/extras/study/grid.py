"""What is compared: one cell per model and set of parameters that apply to it."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from srsql.engine.catalog.levels import content_of_levels
from srsql.engine.errors import CompareError, ReleaseError
from srsql.engine.grouping.thresholds import ThetaPolicy, parse_theta
from srsql.engine.models import MODELS
from srsql.engine.parameters import Parameter, declared, strict_class, unknown_option
from srsql.engine.parameters.takes import Names, RefusedError, Several, Whole
from srsql.engine.release.features.as_printed import AS_PRINTED, printed_options
from srsql.engine.release.request import TERMS, Request, make_request, release_options
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.terms.policies import PolicyChoice, parse_policy
from srsql.schemas.outside import read_bytes

FORMAT = 4
"""Of the files of cells; another one makes every cell anew."""
COMPARED = {
    name: replace(
        option,
        declarations=tuple(d for d in option.declarations if d.parameter.compared is not None),
    )
    for name, option in release_options().items()
    if option.compared is not None
}
"""The options of a release that a grid varies."""
OF_TERMS = tuple(
    name
    for name, option in COMPARED.items()
    if name in declared(DisassociationParameters)
    and not any(each.models for each in option.declarations)
)
"""Those of them that are of terms apart from each other."""
OF_CHUNKS = frozenset({"partners", "pooled_by"})
"""Those of them that are of terms in chunks."""
JOINED = frozenset(name for name, option in COMPARED.items() if isinstance(option.takes, Names))
"""Lists themselves, so that their names have + between them."""
NEEDED = ("k", "theta", "seed")
"""What every cell has a value of."""
Plain = int | float | str | bool | None


@strict_class(CompareError)
@dataclass(frozen=True)
class Rules:
    """Whose signals are compared before and after: a file of rules, or one pair."""

    file: Path | None = None
    drug: str | None = None
    reaction: str | None = None
    min_age: str | None = None
    max_age: str | None = None
    sex: str | None = None
    level: Sequence[str] | None = None
    """Of drugs and reactions, as ``Engine.signals.find`` takes them."""

    def __post_init__(self) -> None:
        """Refuse what names no pair."""
        if self.level is not None:
            try:
                object.__setattr__(self, "level", Names().parse(self.level, "--level"))
            except RefusedError as why:
                raise CompareError(str(why)) from None
            if self.file is None and self.drug is None:
                raise CompareError("--level needs --rules, or --drug and --reaction")
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
    def call(self) -> dict[str, Any]:
        """As ``Engine.signals.find`` takes it; empty: no signals."""
        on_level = {} if self.level is None else {"level": list(self.level)}
        if self.file is not None:
            return {"rules": str(self.file)} | on_level
        names = ("drug", "reaction", "min_age", "max_age", "sex")
        told = {name: text for name in names if (text := getattr(self, name)) is not None}
        return told | on_level

    @property
    def content(self) -> str:
        """What tells one set of rules from another, wherever its file lies.

        Raises:
            CompareError: the file cannot be read.
            LevelError: a dictionary cannot be read.
        """
        on_level = "" if self.level is None else content_of_levels(self.level)
        if self.file is None:
            return json.dumps(self.call) + on_level
        try:
            return hashlib.sha256(read_bytes(self.file)).hexdigest() + on_level
        except OSError as error:
            raise CompareError(f"{self.file}: cannot be read ({error.strerror})") from None


def grid_parameters() -> dict[str, Parameter]:
    """What a grid is made of beside the models, by keyword."""
    of_release = declared(Request)
    found = {
        name: Parameter(
            keyword=name,
            takes=Several(option.takes),
            default=option.compared,
            help=option.meaning.removesuffix(".")
            + ("; names that go together have + between them" if name in JOINED else ""),
            usual="as k" if name == "l" else "" if option.compared else "each model's own",
        )
        for name, option in COMPARED.items()
    }
    found["terms"] = replace(TERMS, help="Of models that release rows: their terms apart from them")
    found["cases"] = Parameter(
        keyword="cases",
        takes=Several(Whole()),
        default=(),
        help="Size of the sample of each quarter, in cases",
        usual="all",
    )
    found["seed"] = Parameter(
        keyword="seed",
        takes=Several(Whole()),
        default=(0,),
        help="Several seeds: claims and figures are means over them",
    )
    return found | {name: of_release[name] for name in ("missing", "on_infeasible", AS_PRINTED)}


@dataclass(frozen=True, init=False)
class Grid:
    """Models, and the values of every parameter; none: the model's own default.

    Without values of ``l`` it is as k, which is how Lin 2016 compares. Values of a parameter that
    is a list itself have + between its names.
    """

    models: tuple[str, ...]
    values: Mapping[str, Any]
    """By keyword, as ``grid_parameters`` lists them."""

    def __init__(self, models: Sequence[str], **values: Any) -> None:
        """Refuse what no model could read.

        Raises:
            CompareError: no models, or an unknown one; an unknown keyword; a value that is none; or
                policies that the table could not tell apart.
            ReleaseError: a threshold is not one.
        """
        if not models:
            raise CompareError("--models: name at least one model")
        for name in models:
            if name not in MODELS:
                raise CompareError(f"no model {name!r}: give some of {', '.join(MODELS)}")
        known = grid_parameters()
        for name in values:
            if name not in known:
                raise CompareError(unknown_option("a grid", name, known))
        read = {name: told.default for name, told in known.items()}
        for name, value in values.items():
            if value is None and known[name].default is None:
                continue
            try:
                read[name] = known[name].takes.read(value, known[name].option)
            except RefusedError as why:
                raise CompareError(str(why)) from None
        for name in NEEDED:
            if not read[name]:
                raise CompareError(f"--{name}: give at least one value")
        for name in models:
            chosen = printed_options({AS_PRINTED: read[AS_PRINTED], "model": name})
            for told in (known[each] for each in chosen if each in known):
                value = read[told.keyword]
                asked = [str(each) for each in (value if isinstance(value, tuple) else [value])]
                if value != told.default and asked != [str(chosen[told.keyword])]:
                    raise CompareError(
                        f"--as-printed {read[AS_PRINTED]} chooses {told.option}: leave one of the "
                        "two out"
                    )
        if any(count < 1 for count in read["cases"]):
            raise CompareError("--cases: a sample has at least 1 case")
        _check_policies(read["policy"])
        object.__setattr__(self, "models", tuple(models))
        object.__setattr__(self, "values", read)

    @property
    def cases(self) -> tuple[int, ...]:
        """Sizes of samples of every quarter; empty: the whole quarters."""
        return tuple(self.values["cases"])


def _check_policies(texts: Sequence[str]) -> None:
    """Refuse two policies of one name."""
    named: dict[str, PolicyChoice] = {}
    for text in texts:
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
    parameters: tuple[tuple[str, Plain], ...]
    """Fields of the model and what is asked of its terms, by name, with the values in force; the
    size of a sample, the seed."""
    options: tuple[tuple[str, Any], ...]
    """As ``Engine.release.make`` takes them."""
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
        names = ("k", "l", "alpha", "epsilon", "theta", "leftovers", "refine", "m", "policy",
                 "informative")  # fmt: skip
        told |= {"cases": self.cases, "seed": told.get("seed") or None}
        for name, plain in (("leftovers", "withhold"), ("refine", "off")):
            if told.get(name) == plain:
                del told[name]
        return " ".join(
            f"{name}={told[name]}" if name != "model" else self.model
            for name in ("model", *names, "seed", "cases")
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


def with_options(cell: Cell, **options: Any) -> Cell:
    """The cell with other options of a release than its own."""
    return _cell(cell.model, dict(cell.options) | options, cell.cases)


def _combinations(grid: Grid, model: str) -> Iterator[dict[str, Any]]:
    known = declared(MODELS[model])
    varied = [name for name in COMPARED if name in known]
    if _of_terms(grid, model):
        chunks = MODELS[model].term_format == "chunks"
        varied += [name for name in OF_TERMS if chunks or name not in OF_CHUNKS]
    varied += MODELS[model].shape.of_cases(["theta"], [])
    asked: Mapping[str, Sequence[Any]] = {
        name: grid.values[name] for name in (*varied, "seed") if grid.values[name]
    }
    for values in itertools.product(*asked.values()):
        options = dict(zip(asked, values, strict=True))
        if "l" in known and "l" not in asked:
            options["l"] = options["k"]
        for name in JOINED & options.keys():
            options[name] = options[name].replace("+", ",")
        if _of_terms(grid, model):
            options |= MODELS[model].shape.of_cases({"terms": grid.values["terms"]}, {})
        options |= {
            "model": model,
            "missing": grid.values["missing"],
            "on_infeasible": grid.values["on_infeasible"],
        }
        if paper := grid.values[AS_PRINTED]:
            of_paper = {AS_PRINTED: paper, "model": model}
            options |= of_paper | printed_options(of_paper)
        yield options


def _of_terms(grid: Grid, model: str) -> bool:
    """Whether the terms of its releases are apart from each other."""
    return MODELS[model].shape.tells_terms(asked=bool(grid.values["terms"]))


def _cell(model: str, options: dict[str, Any], cases: int | None) -> Cell:
    theta = options.get("theta")
    beside = (*([("cases", cases)] if cases is not None else []), ("seed", options["seed"]))
    policy = parse_theta(theta) if theta is not None else None
    listed = tuple(options.items())
    try:
        request = make_request("", options)
    except ReleaseError as error:
        asked = tuple((name, value) for name, value in listed if name in declared(MODELS[model]))
        return Cell(model, theta, policy, (*asked, *beside), listed, refused=str(error))
    made, terms = request.model, request.terms
    parameters = [(f.name, _plain(getattr(made, f.name))) for f in fields(made)]
    if terms is not None:
        parameters += [
            ("m", terms.m),
            ("policy", terms.policy.name if terms.policy else "none"),
            ("term_attributes", ",".join(terms.attributes) or None),
        ]
        if made.term_format == "chunks":
            parameters += [("partners", terms.partners), ("pooled_by", terms.pooled_by)]
    choice = terms.policy if terms else None
    return Cell(model, theta, policy, (*parameters, *beside), listed, choice, cases)


def _plain(value: Any) -> Plain:
    if isinstance(value, Fraction):
        return float(value)
    return value if value is None or isinstance(value, (int, float, str, bool)) else str(value)
