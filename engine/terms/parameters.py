"""What is asked of disassociation: which terms, against how much knowledge, for which uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from srsql.engine.catalog.releases import ReleasedTerms, TermFormat
from srsql.engine.errors import ReleaseError
from srsql.engine.parameters import declared, option_name, parameter, read_fields
from srsql.engine.parameters.takes import Flag, Names, OneOf, Parsed, Whole
from srsql.engine.terms.policies import WAYS, PolicyChoice, parse_policy
from srsql.schemas import Dataset
from srsql.schemas.outside import read_text

Found = TypeVar("Found")
DISASSOCIATE = "disassociate"
"""The value of ``--terms``."""
ALL = "all"
"""The value of ``--term-attributes`` for every published attribute."""
TERM_CASES = 4
"""Cases of a cluster of whole groups, at least, where nothing is asked: so many times k, or the k
of the terms where that is larger."""
MOST_CASES = 1_000_000
MOST = 1_000
"""No patient's record has more terms than this that an attacker could know one by one."""
_OF = "terms told apart from records"


def read_terms(path: str) -> frozenset[str]:
    """The terms of a file, one a line; the warehouse compares them in the form its data have.

    Raises:
        ReleaseError: the file cannot be read, or has no term.
    """
    try:
        lines = read_text(Path(path)).splitlines()
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
        help="records of a cluster for the sensitive terms, at least; where whole rows are taken "
        "apart, no term without a threshold is more probable than 1 / l, whatever is known",
        of="with --sensitive-terms, or whole rows",
        weaker="lower",
    )
    """l of Loukides 2014, section 7.2. Of whole rows it bounds what follows from known items (the
    cover problem of Awad 2019), as theta does for sensitive values."""
    kept_apart: frozenset[str] = parameter(
        frozenset(),
        takes=Parsed(
            frozenset, read_terms, "the path of a file with a term on each line", content=sorted
        ),
        keyword="sensitive_terms",
        help="file of terms, one a line, published per cluster and never per record",
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
        "level:N[:FILE], sim:N[:FILE] (no file: over the hierarchy that ships), "
        "level:NAME:DICTIONARY or sup:PERCENT",
        of=_OF,
        compared=(),
    )
    repeated: bool = parameter(
        False,
        takes=Flag(),
        keyword="repeated_terms",
        help="count a term that a case has n times as n terms",
        of=_OF,
    )
    """Loukides 2014, section 7.1."""
    term_cases: int | None = parameter(
        None,
        takes=Whole(2, MOST_CASES),
        help="cases of a cluster, at least: whole rows are taken apart, in unions of whole groups",
        of="--terms disassociate",
        usual="clusters lie inside groups; with --term-attributes all, 4 times k",
        weaker="lower",
    )
    term_k: int | None = parameter(
        None,
        takes=Whole(2, MOST_CASES),
        help="k of the terms, where whole rows are taken apart",
        of="--terms disassociate",
        usual="k",
        weaker="lower",
    )
    max_cluster_size: int | None = parameter(
        None,
        takes=Whole(2, MOST_CASES),
        help="records from which on a cluster is split, if its parts are large enough",
        of="disassociated terms",
        usual="twice the least",
    )
    partners: Literal["shared", "neighbours"] = parameter(
        "shared",
        takes=OneOf(("shared", "neighbours")),
        help="which clusters may share terms: those that have most of them in common, or "
        "neighbours in one list of all clusters",
        of="disassociated terms",
        compared=("neighbours",),
    )
    """Loukides 2014, section 4, leaves the order open; neighbours are those of Terrovitis et al.
    2012."""
    pooled_by: Literal["terms", "splits"] = parameter(
        "terms",
        takes=OneOf(("terms", "splits")),
        help="how records of parts too small for a cluster are put together: one by one, in the "
        "order of their terms, or part by part, in the order of the splits",
        of="disassociated terms",
        compared=("splits",),
    )
    """Loukides 2014, Fig. 8, makes clusters of such parts, which would not keep k."""
    link_quarters: bool = parameter(
        False,
        takes=Flag(),
        help=(
            "keep pseudonyms the same in all quarters; the bounds on a row's terms then "
            "hold within one quarter only"
        ),
        of="--terms disassociate",
    )

    item_cases: int | None = None
    """Cases of its cluster that hold an item without a count, at most, where whole rows are taken
    apart; nobody asks for it. None: it is not known yet, or not promised."""

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        read_fields(self, ReleaseError)
        if len(set(self.attributes)) < len(self.attributes):
            raise ReleaseError("--term-attributes names an attribute twice")

    @property
    def whole_rows(self) -> bool:
        """Nothing of a row keeps an id but its region: all else is told of clusters of groups."""
        return self.term_cases is not None or self.attributes == (ALL,)

    def of(self, dataset: Dataset, k: int) -> DisassociationParameters:
        """The same with the attributes that a dataset has by default, and the usual sizes.

        Args:
            dataset: of the release.
            k: of its model.
        """
        return self.of_clusters(
            lambda: replace(self, attributes=self.attributes or (dataset.sensitive[0].column,)),
            lambda: self._of_rows(dataset, k),
        )

    def of_clusters(self, groups: Callable[[], Found], rows: Callable[[], Found]) -> Found:
        """What goes for terms in clusters inside groups or as nodes, or for whole rows."""
        return rows() if self.whole_rows else groups()

    def _of_rows(self, dataset: Dataset, k: int) -> DisassociationParameters:
        term_k = k if self.term_k is None else self.term_k
        usual = TERM_CASES * max(k, term_k)
        return replace(
            self,
            attributes=self.attributes if self._named else every_attribute(dataset),
            term_k=term_k,
            term_cases=usual if self.term_cases is None else self.term_cases,
        )

    @property
    def _named(self) -> bool:
        return self.attributes not in ((), (ALL,))

    def least(self, k: int) -> int:
        """Records of a cluster, at least, for k and what is asked of the terms themselves."""
        return max(k, self.diversity, self.term_k or 0, self.term_cases or 0)

    def released(self, term_format: TermFormat) -> ReleasedTerms:
        """The same as a release of them is checked and measured."""
        return ReleasedTerms(
            self.attributes, self.m, self.diversity, self.repeated, term_format, self.kept_apart,
            self.term_k, self.term_cases, self.item_cases,
        )  # fmt: skip

    def facts(self, k: int, tells: Literal["chunks", "nodes"]) -> dict[str, str | int]:
        """What the public manifest tells of them."""
        return {
            "terms": ", ".join(self.attributes),
            "m": self.m,
            "l": self.diversity,
            "terms_kept_apart": len(self.kept_apart),
            "utility_policy": self.policy.name if self.policy else "none",
            "repeated_terms": "yes" if self.repeated else "no",
            **self.of_clusters(
                lambda: {
                    "terms_guarantee": GUARANTEES[tells](", ".join(self.attributes), k, self.m)
                },
                lambda: self._whole_facts(k),
            ),
        }

    def _whole_facts(self, k: int) -> dict[str, str | int]:
        """What is told where whole rows are taken apart, with the sizes that ``of`` gave."""
        term_k, cases = self.term_k or k, self.term_cases or k
        linked = {"linked_quarters": "yes"} if self.link_quarters else {}
        return {
            "term_k": term_k,
            "term_cases": cases,
            **({} if self.item_cases is None else {"item_cases": self.item_cases}),
            **linked,
            "terms_guarantee": rows_guarantee(
                ", ".join(self.attributes), min(k, term_k), self.m, linked=self.link_quarters
            )
            + rows_promise(term_k, self.item_cases)
            + self._inference,
        }

    @property
    def _inference(self) -> str:
        """What holds of terms without a threshold, in words."""
        if self.diversity == 1:
            return (
                " What follows from known items of drugs and other items without a threshold is "
                "not bounded, but counted (terms_inferred)."
            )
        return (
            " Of items without a threshold none is more probable than 1 in "
            f"{self.diversity}, whatever of these is known."
        )


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
    if not terms_only and terms != DISASSOCIATE:
        for name, value in asked.items():
            if value and name not in shared:
                raise ReleaseError(
                    f"{option_name(name)} goes with --terms {DISASSOCIATE} or the model "
                    "disassociation or cba"
                )
        return None
    made = DisassociationParameters(**{known[name].field: value for name, value in asked.items()})
    if "l" in asked and not made.of_clusters(lambda: made.kept_apart, lambda: True):
        raise ReleaseError("--l needs --sensitive-terms: which terms it is for")
    return made


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


def rows_guarantee(attributes: str, k: int, m: int, *, linked: bool) -> str:
    """What holds of whole rows, in words (see ``checks.whole_rows``)."""
    some = "one item" if m == 1 else f"up to {m} items"
    over = (
        "Pseudonyms are the same in all quarters, so that this is claimed of no patient who is in "
        "several of them: what their clusters have in common can single a row out. "
        if linked
        else "What several quarters of a patient have in common is not hidden from whoever finds "
        "the rows of one patient in each. "
    )
    return (
        "Of known drugs and terms more is promised than above. The items of "
        f"{attributes} are told of clusters of whole groups and of no row: whoever "
        f"knows the quasi-identifiers of a patient of this release and {some} is left with at "
        f"least {k} cases, each of which holds all of them in some dataset that fits what is "
        f"released. {over}"
    )


def rows_promise(term_k: int, item_cases: int | None) -> str:
    """What else holds of them: thresholds, and how many cases hold an item without a count.

    ``item_cases``: None of releases that early versions made, which promised less.
    """
    if item_cases is None:
        return (
            "Where all datasets that fit are equally likely, and an item without a count is held "
            "once, no sensitive value is likelier than its threshold, whatever of these is known. "
            "An item without a count may be held by all cases of its cluster."
        )
    items = (
        f"An item without a count is held by fewer than {term_k} cases of its cluster."
        if item_cases < term_k
        else "An item without a count may be held by all cases of its cluster."
    )
    return (
        "In each region of a cluster no sensitive value is held by a larger share of the cases "
        "than its threshold. Where all datasets that fit and keep this are equally likely, no "
        "sensitive value of a case is likelier than its threshold, whatever of these is known. "
        f"{items}"
    )


def every_attribute(dataset: Dataset) -> tuple[str, ...]:
    """Every attribute of which published child rows tell: the sensitive and the quasi-sensitive
    ones, and of tables without any all columns but serial numbers."""
    named = {(a.table, a.column) for a in (*dataset.sensitive, *dataset.quasi_sensitive)}
    found: list[str] = []
    for child in dataset.child_tables:
        shown = [name for name in child.publish if name not in child.serial]
        declared_ones = [name for name in shown if (child.name, name) in named]
        found += declared_ones or shown
    return tuple(found)


GUARANTEES = {"chunks": terms_guarantee, "nodes": nodes_guarantee}
"""By ``GroupingModel.term_format``."""
