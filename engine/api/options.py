"""Options of calls that have many, in one object each: for Python, the command line and its file.

A call takes the object, or its fields as keywords; help and defaults of the command line come from
here. What values a field takes stands in :data:`srsql.engine.api.arguments.ARGUMENTS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from srsql.engine.parameters import SCOPES, Access, Format, Missing, Options, Preset

Name = str | Path | None
Word = str | None
Number = str | float | Fraction | None


@dataclass(frozen=True)
class Ingestion(Options):
    """How files are ingested."""

    period: Word = None
    replace: bool = False
    cumulative: bool = False
    max_vanished: float = 0.01
    max_reject_rate: float = 0.01
    max_unread: float = 0.05
    allow_incomplete: bool = False
    if_needed: bool = False
    max_unpacked: Word = None
    lake: Name = None


@dataclass(frozen=True)
class Waivers(Options):
    """What may leave the house although it links rows, protects less, or has other parameters."""

    max_linkable: Number = None
    allow_linkable: bool = False
    weaker: bool = False
    change: bool = False


@dataclass(frozen=True)
class Publication(Options):
    """Form of an artifact, and what its publisher says of it."""

    format: Format = "parquet"
    case_ids: Literal["as-released", "pseudonym"] = "as-released"
    key_file: Name = None
    storage_version: Word = None
    sign: Name = None
    stale: bool = False
    if_needed: bool = False
    csv_safe: bool = False
    not_ids: Sequence[str] | None = None
    publisher: Word = None
    contact: Word = None
    license: Word = None
    cite_as: Word = None
    landing_page: Word = None
    access: Access | None = None
    access_body: Word = None
    legislation: Sequence[str] | None = None
    thesaurus: Sequence[str] | None = None


@dataclass(frozen=True)
class ForeignTable(Options):
    """How a foreign release is read; ``columns``: name -> column, such as ``{"age": "Alter"}``."""

    originals: Name = None
    group_column: Word = None
    separator: str = ";"
    suppressed: Word = None
    supersede: bool = False
    max_unpacked: Word = None
    columns: Mapping[str, str] | None = None
    if_needed: bool = False
    counts: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None


@dataclass(frozen=True)
class Presence(Options):
    """What an attacker knows of the target's presence in releases."""

    new: bool = False
    stopped: bool = False
    stayed: bool = False
    left: bool = False
    gone: bool = False


@dataclass(frozen=True)
class Bounds(Options):
    """Which attacks an audit makes, and by which bounds it judges."""

    attacks: Sequence[str] | None = None
    scopes: Sequence[str] = SCOPES
    k: int | None = None
    theta: Number = None
    alpha: Number = None
    evidence: int | None = None


@dataclass(frozen=True)
class Counting(Options):
    """Which cases count for signals, and how."""

    min_age: Number = None
    max_age: Number = None
    sex: Word = None
    roles: Sequence[str] | None = None
    preset: Preset | None = None
    strata: Sequence[str] | None = None
    age_bands: Sequence[str] | None = None
    without_drug: Word = None
    without_reaction: Word = None
    without_indications: bool = False
    quarter: Word = None
    released_only: bool = False
    missing: Missing = "spread"
    allow_unknown: bool = False
    level: Sequence[str] | None = None
