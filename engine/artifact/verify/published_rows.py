"""How the rows of an artifact tell the truth, read once from what its manifest claims.

Checks ask this, and decide nothing by the kind of an artifact. It knows what is published, and
shares no code with the shapes of releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from srsql.engine.artifact.format import CLUSTERS, REGION_CELLS, Manifest, QidSetClaim
from srsql.schemas import Dataset

Found = TypeVar("Found")


@dataclass(frozen=True)
class PublishedRows:
    """What rows show of a case; without more, its region and its terms."""

    manifest: Manifest
    with_region: frozenset[str | None]
    """The tables whose rows show the columns of a region."""
    spellings: tuple[str, ...] = ()
    """Attributes of terms that are told apart from rows, each in one spelling."""
    cluster_columns: int = 0
    """Columns of the report table that name the cluster of a case, where whole rows are apart."""
    unproved: frozenset[str] = frozenset()
    """Checks of rows that are not claimed of them: what they prove is proved of clusters, or of
    counts."""
    growing: tuple[str, ...] = ("below_k_percent", "one_candidate_percent")
    """Shares of cases that grow with the number of items that an attacker knows."""

    def shown(self, dataset: Dataset) -> Dataset:
        """The dataset without the rows of what is told apart from them."""
        claim = self.manifest.terms
        if self.manifest.cells:
            return dataset.with_counts(rows=not self.manifest.counts_alone)
        if claim is None:
            return dataset
        apart = self.of_clusters(lambda: claim.attributes, lambda: None)
        return dataset.without_terms(apart, rows=self.manifest.report_table is not None)

    def by_set(self, checks: Sequence[str]) -> tuple[str, ...]:
        """Those of some checks of regions that are made of one set of quasi-identifiers after the
        other, as each is protected by itself."""
        return tuple(checks) if self.sets else ()

    @property
    def sets(self) -> Sequence[QidSetClaim]:
        """The sets of quasi-identifiers; none: all are protected together."""
        return self.manifest.qid_sets or ()

    def spelled(self, item: str) -> tuple[str, str] | None:
        """Attribute and text of a term of which one spelling is told; None: it may have several."""
        attribute, _, term = item.partition(":")
        if attribute in self.spellings:
            return attribute, term
        return self.of_clusters(lambda: ("", item), lambda: None)

    def of_clusters(self, groups: Callable[[], Found], rows: Callable[[], Found]) -> Found:
        """What goes for clusters inside groups, or for those of whole rows."""
        return rows() if self.cluster_columns else groups()


def published_rows(manifest: Manifest) -> PublishedRows:
    """How the rows of an artifact of one quarter tell the truth."""
    place = REGION_CELLS if manifest.counts_alone else manifest.report_table
    rows, claim = frozenset({place}), manifest.terms
    if manifest.cells:
        return PublishedRows(
            manifest, rows, unproved=frozenset({"theta", "thresholds"}), growing=()
        )
    if claim is None:
        return PublishedRows(manifest, rows)
    if claim.cases is None:
        return PublishedRows(manifest, rows | {CLUSTERS}, claim.attributes)
    sensitive, unproved = claim.sensitive or (), frozenset({"thresholds"})
    return PublishedRows(manifest, rows, sensitive, 1, unproved, growing=())
