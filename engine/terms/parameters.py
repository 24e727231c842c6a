"""What is asked of disassociation: which terms, against how much knowledge, for which uses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.terms.choice import PolicyChoice
from srsql.engine.warehouse.releases import ReleasedTerms, TermFormat
from srsql.schemas import Dataset

MOST = 1_000
"""No patient's record has more terms than this that an attacker could know one by one."""


@dataclass(frozen=True)
class Terms:
    """k^m-anonymity of the terms themselves (Loukides 2014, Definition 1 and Guarantee 1).

    Protects: whoever knows up to m terms of a patient's record has to reckon with at least k
    records that hold all of them, in some original dataset that fits what is published. Holds for
    one release: a patient who is in several is not protected against joining them.

    Does not protect: against learning terms that most records of a cluster share (``diversity``
    and ``kept_apart`` do, for the terms named), nor against joining several quarters.
    """

    attributes: tuple[str, ...]
    """Columns of the dataset schema whose terms are disassociated together; none: the first
    sensitive one."""
    m: int = 2
    """Terms of a record that an attacker may know."""
    diversity: int = 1
    """l: least number of records in a cluster for the terms of ``kept_apart`` (section 7.2)."""
    kept_apart: frozenset[str] = field(default_factory=frozenset)
    """Sensitive terms in any spelling: they are told of a cluster, never of a record in it."""
    policy: PolicyChoice | None = None
    """The utility constraints: sets of terms that stay together where that is safe."""
    repeated: bool = False
    """A term told n times of a case is n terms (section 7.1)."""

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        if len(set(self.attributes)) < len(self.attributes):
            raise ReleaseError("--term-attributes names an attribute twice")
        if not 1 <= self.m <= MOST:
            raise ReleaseError(f"--m {self.m}: give a number of terms from 1 to {MOST:,}")
        if self.diversity < 1:
            raise ReleaseError(f"--l {self.diversity}: give a number of records above 0")

    def of(self, dataset: Dataset) -> Terms:
        """The same with the attributes that a dataset has by default."""
        return self if self.attributes else replace(self, attributes=(dataset.sensitive[0].column,))

    def released(self, term_format: TermFormat) -> ReleasedTerms:
        """The same as a release of them is checked and measured."""
        return ReleasedTerms(
            self.attributes, self.m, self.diversity, self.repeated, term_format, self.kept_apart
        )

    def facts(self, k: int, tells: Literal["chunks", "nodes"]) -> dict[str, str | int]:
        """What the public manifest tells of them."""
        return {
            "terms": ", ".join(self.attributes),
            "m": self.m,
            "l": self.diversity,
            "terms_kept_apart": len(self.kept_apart),
            "utility_policy": self.policy.name if self.policy else "none",
            "repeated_terms": "yes" if self.repeated else "no",
            "terms_guarantee": GUARANTEES[tells](", ".join(self.attributes), k, self.m),
        }


def terms_guarantee(attributes: str, k: int, m: int) -> str:
    """Guarantee 1 in words (Loukides 2014, section 3.1)."""
    some = "one term" if m == 1 else f"up to {m} terms"
    return (
        f"The terms of {attributes} are told apart from records: whoever knows {some} of a "
        f"patient's record has to reckon with at least {k} records that hold all of them, in some "
        "original dataset that fits what is released. That most records of a cluster hold a term, "
        "and what several quarters of a patient have in common, is not hidden."
    )


def nodes_guarantee(attributes: str, k: int, m: int) -> str:
    """k^m-anonymity of generalized terms in words (Loukides 2014, section 1.1)."""
    some = "one term" if m == 1 else f"up to {m} terms"
    return (
        f"The terms of {attributes} are generalized to sets of terms, or suppressed: whoever knows "
        f"{some} of a patient's record finds at least {k} records that may hold all of them. That "
        "most of these records hold a term, and what several quarters of a patient have in common, "
        "is not hidden."
    )


GUARANTEES = {"chunks": terms_guarantee, "nodes": nodes_guarantee}
"""By ``GroupingModel.tells``."""
