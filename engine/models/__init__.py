"""The registry of models: adding one touches its own file and this one, nothing else."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from srsql.engine.errors import ReleaseError
from srsql.engine.models.alpha_k import AlphaK
from srsql.engine.models.base import GroupingModel
from srsql.engine.models.cba import Cba
from srsql.engine.models.disassociation import Disassociation
from srsql.engine.models.dp_histogram import DpHistogram
from srsql.engine.models.full_domain import FullDomain
from srsql.engine.models.ipa import Ipa
from srsql.engine.models.k_anonymity import KAnonymity
from srsql.engine.models.l_diversity import LDiversity
from srsql.engine.models.ms import Ms
from srsql.engine.models.msdp_all import MsdpAll
from srsql.engine.models.msdp_num import MsdpNum
from srsql.engine.models.ppms import Ppms
from srsql.engine.models.ppms_alpha import PpmsAlpha
from srsql.engine.models.ppms_dp_all import PpmsDpAll
from srsql.engine.models.ppms_dp_num import PpmsDpNum
from srsql.engine.models.ppms_ear import PpmsEar
from srsql.engine.models.ppms_plus import PpmsPlus
from srsql.engine.models.xy_anonymity import XyAnonymity

MODELS: dict[str, type[GroupingModel]] = {
    model.name: model
    for model in (
        Ms, Ppms, PpmsEar, PpmsPlus, PpmsAlpha, PpmsDpNum, PpmsDpAll, MsdpNum, MsdpAll,
        Disassociation, Ipa, KAnonymity, XyAnonymity, LDiversity, AlphaK, Cba, FullDomain,
        DpHistogram,
    )
}  # fmt: skip
DEFAULT_MODEL = PpmsPlus.name


def make_model(name: str, **parameters: Any) -> GroupingModel:
    """The model of that name; parameters that are None take its defaults.

    Raises:
        ReleaseError: there is none, or it has no such parameter.
    """
    if name not in MODELS:
        raise ReleaseError(f"no model {name!r}: give one of {', '.join(MODELS)}")
    model = MODELS[name]
    given = {key: value for key, value in parameters.items() if value is not None}
    known = {field.name for field in fields(model)}
    for key in given:
        if key not in known:
            raise ReleaseError(f"--{key.replace('_', '-')} does not apply to the model {name}")
    return model(**given)
