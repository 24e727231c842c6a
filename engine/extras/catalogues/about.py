"""What the documents for catalogues are made of: an artifact, in words and by its names."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from srsql.engine.artifact.explained import key_sentences
from srsql.engine.artifact.format import (
    AnyManifest,
    Column,
    Manifest,
    RangeManifest,
    Stated,
    Table,
    quarters_of,
    stored_columns,
)

SPDX = "https://spdx.org/licenses/"
NAMESPACE = uuid.UUID("6f0d2c1e-6d0b-5a44-9a55-0c2d7f7f6b11")
"""Of the names of artifacts that have no page; drawn once."""
KEYWORDS = ("pharmacovigilance", "adverse drug reactions", "spontaneous reports", "anonymized")
Json = dict[str, Any]


class About:
    """What the documents for catalogues are made of."""

    def __init__(self, manifest: AnyManifest, sizes: Mapping[str, int]) -> None:
        self.manifest, self.sizes = manifest, sizes
        self.parts = quarters_of(manifest)
        self.first, self.last = self.parts[0], self.parts[-1]
        self.stated = self.last.stated or Stated()
        self.several = len(self.parts) > 1
        self.form = self.first.format

    @property
    def base(self) -> str:
        """What names in the documents begin with: the page of the artifact, or its contents."""
        if self.stated.landing_page:
            return self.stated.landing_page
        told = [item.content_sha256 for part in self.parts for item in part.tables]
        return f"urn:uuid:{uuid.uuid5(NAMESPACE, ' '.join(told))}"

    def named(self, *words: str) -> str:
        """The name of a thing that the documents tell of: several series can have one page."""
        of = (self.manifest.dataset, self.manifest.series, *words)
        return f"{self.base}#{'-'.join(quote(word, safe='') for word in of)}"

    @property
    def ends(self) -> tuple[str, ...]:
        """The first and the last quarter, or the one."""
        return tuple(dict.fromkeys((self.first.quarter, self.last.quarter)))

    @property
    def iri(self) -> str:
        """The name of the artifact."""
        return self.named("artifact", *self.ends)

    @property
    def title(self) -> str:
        """The artifact in a few words."""
        return (
            f"{self.stated.source or self.manifest.dataset}, {period_of(self.parts)}: anonymized "
            "adverse-event reports"
        )

    @property
    def text(self) -> str:
        """The artifact in some sentences."""
        told = "; ".join(
            f"{part.quarter}: {part.counts.released_cases:,} cases in "
            f"{part.counts.released_reports:,} reports, model {part.model} with k = {part.k}"
            for part in self.parts
        )
        promised = " ".join(dict.fromkeys(part.guarantee for part in self.parts))
        return (
            f"Anonymized adverse-event reports of series {self.manifest.series}, made by srsql "
            f"{self.manifest.software_version}. {told}; {withheld_of(self.parts)}. {promised}"
            f"{key_sentences(self.first)}"
        )

    @property
    def distinct_cases(self) -> int | None:
        """Cases, each once whatever the number of its quarters; None: ids do not follow them."""
        if isinstance(self.manifest, RangeManifest):
            return self.manifest.released_cases
        return self.first.counts.released_cases

    @property
    def issued(self) -> str | None:
        """The day of the last release."""
        days = [part.parameters.get("release_date") for part in self.parts]
        return max((str(day) for day in days if day), default=None)

    @property
    def version(self) -> str:
        """As Croissant counts versions: rows that changed since make another major one."""
        earlier = sum(part.earlier_releases.count(part.quarter) for part in self.parts)
        return f"{1 + earlier}.0.0"

    @property
    def license(self) -> str | None:
        """The licence as a page."""
        told = self.stated.license
        return f"{SPDX}{told}" if told and "://" not in told else told


def present(document: Json) -> Json:
    """What is not known is not named."""
    return {name: value for name, value in document.items() if value not in (None, [], {})}


def period_of(parts: Sequence[Manifest]) -> str:
    """The quarters of an artifact in words."""
    first, last = parts[0].quarter, parts[-1].quarter
    return first if first == last else f"{first} to {last}"


def withheld_of(parts: Sequence[Manifest]) -> str:
    """How much is withheld, in words."""
    counts = [part.counts for part in parts]
    if any(each.withheld_cases is None or each.withheld_reports is None for each in counts):
        return "how many were withheld is not told, as with every model with noise"
    cases = sum(each.withheld_cases or 0 for each in counts)
    reports = sum(each.withheld_reports or 0 for each in counts)
    if not reports:
        return "no case was withheld"
    return f"{cases:,} cases in {reports:,} reports were withheld, since the bounds need that"


def asked_columns(manifest: Manifest, item: Table) -> tuple[Column, ...]:
    """The columns of a table as it is read: of several quarters of a DuckDB file, its view."""
    if manifest.format != "duckdb":
        return stored_columns(manifest, item)
    return stored_columns(manifest.model_copy(update={"format": "parquet"}), item)
