"""The glossary: every term with its definition and its paper, from ``glossary.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

FILE = "glossary.toml"


@dataclass(frozen=True)
class Term:
    """One term."""

    key: str
    topic: str
    """Title of the section that it stands in."""
    term: str
    """The name that is shown."""
    short: str
    """A phrase for legends: without the name, without a full stop."""
    text: str
    """The definition in whole sentences."""
    formula: str
    """Empty where there is none."""
    source: str
    """Paper with definition, equation or section; empty for what comes from srsql itself."""


def term(key: str) -> Term:
    """The term of that key.

    Raises:
        KeyError: the glossary has no such term.
    """
    return terms()[key]


@cache
def terms() -> Mapping[str, Term]:
    """Key -> term, by topic, in the order of the file."""
    entries = dict(_content())
    topics, _ = entries.pop("topics"), entries.pop("papers")
    found = {
        key: Term(
            key,
            topics[entry["topic"]],
            entry["term"],
            entry["short"],
            entry["text"],
            entry.get("formula", ""),
            ", ".join(part for part in (entry.get("paper"), entry.get("place")) if part),
        )
        for key, entry in entries.items()
    }
    order = list(topics.values())
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].topic)))


def papers() -> Mapping[str, str]:
    """Short name of each paper that is cited -> authors, title and where it appeared."""
    return dict(_content()["papers"])


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads((resources.files("srsql.schemas") / FILE).read_text(encoding="utf-8"))
