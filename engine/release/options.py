"""The options of a release: what models, terms and requests declare, and what is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.models import DEFAULT_MODEL, MODELS, make_model
from srsql.engine.parameters import Parameter, declared, unknown_option
from srsql.engine.parameters.takes import OneOf, RefusedError, Takes
from srsql.engine.release.request import Request
from srsql.engine.terms.parameters import DISASSOCIATE, DisassociationParameters, make_terms

MODEL = Parameter(
    keyword="model", takes=OneOf(tuple(MODELS)), default=DEFAULT_MODEL, help="Privacy model"
)
TERMS = Parameter(
    keyword="terms",
    takes=OneOf((DISASSOCIATE,)),
    help="Release terms apart from ids, in clusters within the groups",
)
ORDER = (
    "k", "l", "alpha", "assume_md", "epsilon", "calibration", "noise", "epsilon_limit", "m",
    "policy", "term_attributes", "sensitive_terms", "repeated_terms", "suppress_below",
    "informative", "dimensions",
)  # fmt: skip
"""The order in which help, grids and tables have parameters; those of further models follow."""


@dataclass(frozen=True)
class Applied:
    """A declaration, and the models that it is one of; none: it is of every request."""

    parameter: Parameter
    models: tuple[str, ...] = ()

    @property
    def common(self) -> bool:
        """Whether it applies whatever the model."""
        return not self.parameter.of and len(self.models) in (0, len(MODELS))

    @property
    def scope(self) -> str:
        """What it applies to, in words."""
        return "" if self.common else self.parameter.of or ", ".join(self.models)


@dataclass(frozen=True)
class Option:
    """A keyword of a release, with every declaration of it."""

    keyword: str
    declarations: tuple[Applied, ...]

    @property
    def first(self) -> Parameter:
        """The declaration that comes first; all of one keyword are read alike."""
        return self.declarations[0].parameter

    @property
    def takes(self) -> Takes:
        """What is taken; bounds and defaults may differ between models."""
        return self.first.takes

    @property
    def common(self) -> bool:
        """Whether it has one meaning and one default, whatever the model."""
        return len(self.declarations) == 1 and self.declarations[0].common

    @property
    def parameter(self) -> Parameter:
        """One declaration for the command line; where models differ, they have the defaults."""
        if self.common:
            return self.first
        return replace(self.first, default=None, usual="", help=self.help)

    @property
    def compared(self) -> tuple[Any, ...] | None:
        """What a comparison tries where nothing is asked; None: it does not vary the option."""
        tried = (each.parameter.compared for each in self.declarations)
        return next((values for values in tried if values is not None), None)

    @property
    def help(self) -> str:
        """What it is; where models differ, of each, with its default."""
        if self.common:
            return self.meaning
        return "; ".join(
            text + (f"  [default: {shown}]" if (shown := each.parameter.shown_default) else "")
            for text, each in zip(self._meanings, self.declarations, strict=True)
        )

    @property
    def meaning(self) -> str:
        """What it is, without its defaults."""
        return f"{'; '.join(self._meanings)}."

    @property
    def _meanings(self) -> list[str]:
        texts = [
            f"{each.scope}: {each.parameter.help}" if each.scope else each.parameter.help
            for each in self.declarations
        ]
        if self.first.of:  # words, and not the name of a model
            texts[0] = texts[0][0].upper() + texts[0][1:]
        return texts


def release_options() -> dict[str, Option]:
    """Every option of a release by keyword: those of every model first, then by ``ORDER``."""
    found = {"model": [Applied(MODEL)]}
    for parameter, models in _of_models():
        found.setdefault(parameter.keyword, []).append(Applied(parameter, models))
    found["terms"] = [Applied(TERMS)]
    for of in (Request, DisassociationParameters):
        for keyword, parameter in declared(of).items():
            found.setdefault(keyword, []).append(Applied(parameter))
    options = [Option(keyword, tuple(applied)) for keyword, applied in found.items()]
    places = {keyword: place for place, keyword in enumerate(ORDER)}
    options.sort(key=lambda o: -1 if o.common else places.get(o.keyword, len(places)))
    return {option.keyword: option for option in options}


def _of_models() -> list[tuple[Parameter, tuple[str, ...]]]:
    """Each declaration of the models, with the names of those that have it."""
    found: list[tuple[Parameter, list[str]]] = []
    for name, model in MODELS.items():
        for parameter in declared(model).values():
            names = next((names for known, names in found if known == parameter), None)
            if names is None:
                found.append((parameter, [name]))
            else:
                names.append(name)
    return [(parameter, tuple(names)) for parameter, names in found]


def make_request(quarter: str, options: Mapping[str, Any]) -> Request:
    """What is asked of a release, from options as callers give them; None: the default.

    Args:
        quarter: the period, or a range of periods.
        options: by keyword, as ``release_options`` lists them.

    Raises:
        ReleaseError: there is no such option, its value means nothing, or it does not go with the
            model.
    """
    known = release_options()
    for name in options:
        if name not in known:
            raise ReleaseError(unknown_option("release", name, known))
    given = {name: value for name, value in options.items() if value is not None}
    model = _read(MODEL, given.pop("model", DEFAULT_MODEL))
    kind = _read(TERMS, given.pop("terms")) if "terms" in given else None
    of_models = {keyword for each in MODELS.values() for keyword in declared(each)}
    terms = make_terms(kind, given, terms_only=_terms_only(model), shared=of_models)
    of_terms = set(declared(DisassociationParameters)) - (of_models if terms is None else set())
    of_request = declared(Request)
    return Request(
        quarter=quarter,
        model=make_model(
            model, **{n: v for n, v in given.items() if n not in of_terms | set(of_request)}
        ),
        terms=terms,
        **{of_request[name].field: value for name, value in given.items() if name in of_request},
    )


def _read(parameter: Parameter, value: Any) -> Any:
    try:
        return parameter.takes.read(value, parameter.option)
    except RefusedError as why:
        raise ReleaseError(str(why)) from None


def _terms_only(model: str) -> bool:
    """Whether a model releases terms apart from everything, and nothing else."""
    return not (MODELS[model].releases_case_rows or MODELS[model].releases_synthetic_rows)
