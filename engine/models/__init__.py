"""The registry of models: adding one touches its own file and this one, nothing else."""

from __future__ import annotations

from srsql.engine.errors import ReleaseError
from srsql.engine.models.base import GroupingModel
from srsql.engine.models.ms import Ms

MODELS: dict[str, type[GroupingModel]] = {"ms": Ms}
DEFAULT_MODEL = "ms"


def model_class(name: str) -> type[GroupingModel]:
    """The model of that name.

    Raises:
        ReleaseError: there is none.
    """
    if name not in MODELS:
        raise ReleaseError(f"no model {name!r}: give one of {', '.join(MODELS)}")
    return MODELS[name]
