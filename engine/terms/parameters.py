"""What is asked of disassociation: which terms, against how much knowledge, for which uses."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import declared, option_name, parameter, read_fields
from srsql.engine.parameters.takes import Flag, Names, Parsed, Whole
from srsql.engine.terms.policies import WAYS, PolicyChoice, parse_policy
from srsql.engine.warehouse.releases import ReleasedTerms, TermFormat
from srsql.schemas import Dataset

DISASSOCIATE = "disassociate"
"""The value of ``--terms``."""
MOST = 1_000
"""No patient's record has more terms than this that an attacker could know one by one."""
_OF = "terms told apart from records"


def read_terms(path: str) -> frozenset[str]:
    """The terms of a file, one a line; the warehouse compares them in the form its data have.

    Raises:
        ReleaseError: the file cannot be read, or has no term.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"--sensitive-terms {path}: cannot be read: {error}") from None
    found = frozenset(line.strip() for line in lines if line.strip())
    if not found:
        raise ReleaseError(f"--sensitive-terms {path}: no term in it")
    return found


@dataclass(frozen=True)
class DisassociationParameters:
    """k^m-anonymity of the terms themselves (Loukides 2014, Definition 1 and Guarantee 1).

    Protects: whoever knows up to m terms of a patient's record has to reckon with at least k
    records that hold all of them, in some original dataset that fits what is published. Holds for
    one release: a patient who is in several is not protected against joining them.

    Does not protect: against learning terms that most records of a cluster share (``diversity``
    and ``kept_apart`` do, for the terms named), nor against joining several quarters.
    """

    attributes: tuple[str, ...] = parameter(
        (),
        takes=Names(),
        keyword="term_attributes",
        help="columns whose terms are taken together, such as indi_pt,pt",
        usual="the first sensitive one",
        of=_OF,
        weaker="different",
        compared=(),
    )
    m: int = parameter(
        2,
        takes=Whole(1, MOST),
        help="terms of a record that an attacker may know",
        of=_OF,
        weaker="lower",
        compared=(),
    )
    diversity: int = parameter(
        1,
        takes=Whole(1),
        keyword="l",
        help="records of a cluster for the sensitive terms, at least",
        of="with --sensitive-terms",
        weaker="lower",
    )
    """l of Loukides 2014, section 7.2."""
    kept_apart: frozenset[str] = parameter(
        frozenset(),
        takes=Parsed(
            frozenset, read_terms, "the path of a file with a term on each line", content=sorted
        ),
        keyword="sensitive_terms",
        help="terms, in any spelling, that are told of clusters and never of a record, one a line",
        of="disassociated terms",
        weaker="different",
    )
    policy: PolicyChoice | None = parameter(
        None,
        takes=Parsed(
            PolicyChoice,
            parse_policy,
            WAYS,
            show_with=lambda choice: choice.name,
            content=lambda choice: choice.fixed and list(choice.fixed.constraints.items()),
        ),
        help="sets of terms that stay together where that is safe: a CSV file (constraint, term), "
        "level:N[:FILE], sim:N[:FILE] (no file: over the hierarchy that ships) or sup:PERCENT",
        of=_OF,
        compared=(),
    )
    repeated: bool = parameter(
        False,
        takes=Flag(),
        keyword="repeated_terms",
        help="a term told n times of a case is n terms",
        of=_OF,
    )
    """Loukides 2014, section 7.1."""

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        read_fields(self, ReleaseError)
        if len(set(self.attributes)) < len(self.attributes):
            raise ReleaseError("--term-attributes names an attribute twice")

    def of(self, dataset: Dataset) -> DisassociationParameters:
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


def make_terms(
    terms: str | None, given: Mapping[str, Any], *, terms_only: bool, shared: Set[str]
) -> DisassociationParameters | None:
    """The terms that are told apart from records; None: they are released with their rows.

    Args:
        terms: ``disassociate``, or None.
        given: parameters of :class:`DisassociationParameters`, by keyword.
        terms_only: the model releases nothing else.
        shared: keywords that models have, too.

    Raises:
        ReleaseError: options that go with nothing, or a file of terms that cannot be read.
        PolicyError: the policy is none.
    """
    known = declared(DisassociationParameters)
    asked = {name: value for name, value in given.items() if value is not None and name in known}
    if not terms_only and terms is None:
        for name, value in asked.items():
            if value and name not in shared:
                raise ReleaseError(
                    f"{option_name(name)} goes with --terms {DISASSOCIATE} or the model "
                    "disassociation or cba"
                )
        return None
    if "l" in asked and not asked.get("sensitive_terms"):
        raise ReleaseError("--l needs --sensitive-terms: which terms it is for")
    return DisassociationParameters(**{known[name].field: value for name, value in asked.items()})


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
"""By ``GroupingModel.term_format``."""
