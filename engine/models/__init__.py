"""The registry of models: adding one touches its own file and this one, nothing else."""

from __future__ import annotations

from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.models.base import Extension, GroupingModel
from srsql.engine.models.bounding import Ms, Ppms, PpmsAlpha, PpmsEar, PpmsPlus, PpmsStay
from srsql.engine.models.comparators import AlphaK, KAnonymity, LDiversity, XyAnonymity
from srsql.engine.models.counts_alone import CountTables
from srsql.engine.models.lattice import DpHistogram, FullDomain, Ipa
from srsql.engine.models.perturbing import MsdpAll, MsdpNum, PpmsDpAll, PpmsDpNum
from srsql.engine.models.terms_only import Cba, Disassociation
from srsql.engine.parameters import declared, option_name
from srsql.engine.shapes.foreign import Foreign
from srsql.engine.shapes.regions import Shape

MODELS: dict[str, type[GroupingModel]] = {
    model.name: model
    for model in (
        Ms, Ppms, PpmsEar, PpmsPlus, PpmsAlpha, PpmsStay, PpmsDpNum, PpmsDpAll, MsdpNum, MsdpAll,
        CountTables, Disassociation, Ipa, KAnonymity, XyAnonymity, LDiversity, AlphaK, Cba,
        FullDomain, DpHistogram,
    )
}  # fmt: skip
DEFAULT_MODEL = PpmsPlus.name


def made_shape(model: str) -> Shape:
    """The shape of what a model makes; of one that is not known here, that of somebody else's."""
    return MODELS[model].shape if model in MODELS else Foreign()


def able_to(extension: Extension) -> list[str]:
    """The models whose releases may promise so much beyond them, by name."""
    return [name for name, model in MODELS.items() if extension in model.claimed_bounds.extensions]


def make_model(name: str, **parameters: Any) -> GroupingModel:
    """The model of that name; parameters that are None take its defaults.

    Args:
        name: of ``MODELS``.
        parameters: by keyword, as a caller writes them.

    Raises:
        ReleaseError: there is none, or it has no such parameter.
    """
    if name not in MODELS:
        raise ReleaseError(f"no model {name!r}: give one of {', '.join(MODELS)}")
    model = MODELS[name]
    given = {key: value for key, value in parameters.items() if value is not None}
    known = declared(model)
    for key in given:
        if key not in known:
            raise ReleaseError(f"{option_name(key)} does not apply to the model {name}")
    return model(**given)
