"""Which columns tell that two cases may be one person, for the datasets that ship."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

COLUMNS = ("event_date", "country")


@cache
def shipped_person_columns() -> dict[str, dict[str, str]]:
    """Dataset -> role (``event_date``, ``country``) -> column of its report table."""
    text = (resources.files("srsql.schemas") / "knowledge/persons.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
