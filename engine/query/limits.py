"""Limits of the columns that are released unchanged: what a release does not tell of them.

Three things differ from the original: ids of a series with pseudonyms, serial numbers in it, which
are counted from 1 in every report, and terms that mean "not known", which are published as NULL.
A condition that one of them could decide otherwise than the original is refused. For a placeholder
it is enough that SQL takes the row for neither: where the original says FALSE and the release NULL,
AND, OR, WHERE and WHEN go the same way, and so they do under a NOT where the original says TRUE.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.vocabulary import Kind, Links, Views, excerpt
from srsql.schemas import Dataset
from srsql.udfs.term_key import term_key

Origin = tuple[str, str]
"""Table and column."""


@dataclass(frozen=True)
class Scalar:
    """An exact value in the rewritten statement."""

    node: exp.Expr
    kind: Kind
    origin: Origin | None = None
    """The column that it is, or is a spelling of."""
    literal: str | None = None
    """The text of a literal."""
    alias: str | None = None
    """Our alias of the table of ``origin``."""
    key: exp.Expr | None = None
    """What it is compared by, where that is the key of a term; None: ``node``."""
    label: exp.Expr | None = None
    """What a group of it is called, where that is made of a key; None: ``node``."""

    @property
    def shown(self) -> exp.Expr:
        """What a group of it is called."""
        return self.node if self.label is None else self.label

    @property
    def name(self) -> str:
        """What a message calls it."""
        return self.origin[1] if self.origin else excerpt(self.node)


@dataclass(frozen=True)
class Lookup:
    """A name that a question compares a column of terms with."""

    value: Scalar
    """The column, or a spelling of it."""
    name: str


class Limits:
    """Refuses what the exact columns of a release tell otherwise than the original.

    Args:
        dataset: of the question.
        views: that answer it. A column that is asked on a level has no placeholder: what means "not
            known" has no name there, neither in the original nor in the release.
    """

    def __init__(self, dataset: Dataset, views: Views) -> None:
        pseudonym_series = views.pseudonym_series
        self._pseudonym_series = pseudonym_series
        self._version = views.term_key
        self._serial: dict[Origin, str] = {
            (child.name, name): numbering
            for child in (dataset.child_tables if pseudonym_series else ())
            for name, numbering in child.serial.items()
        }
        self.lookups: list[Lookup] = []
        """Names of drugs and terms that were compared with, in their order."""
        self._named: set[Origin] = set()
        self._placeholders: dict[Origin, tuple[str, ...]] = {}
        for attribute in (*dataset.sensitive, *dataset.quasi_sensitive):
            origin = (attribute.table, attribute.column)
            self._named.add(origin)
            if attribute.missing and views.level(origin) is None:
                self._placeholders[origin] = (
                    *self._placeholders.get(origin, ()),
                    *attribute.missing,
                )

    def check_comparison(
        self, operator: type[exp.Expr], one: Scalar, other: Scalar, links: Links, positive: bool
    ) -> None:
        """Refuse a comparison that the release decides otherwise.

        Args:
            operator: such as ``exp.EQ``.
            one: its left side.
            other: its right side.
            links: which tables speak of the same report.
            positive: whether it stands under an even number of NOTs.

        Raises:
            QueryError: the release could decide otherwise than the original.
        """
        pair = self._is_renumbered(one) or self._is_renumbered(other)
        if pair and not (operator in (exp.EQ, exp.NEQ) and self._same_equality(one, other, links)):
            raise self._pseudonym_refusal(one if self._is_renumbered(one) else other)
        for value, partner in ((one, other), (other, one)):
            if value.origin in self._named and partner.literal and operator in (exp.EQ, exp.NEQ):
                self.lookups.append(Lookup(value, partner.literal))
            if not self.placeholders(value):
                continue
            text = None if partner.literal is None else self._form(partner.literal)
            if text in self._terms(value):
                raise QueryError(
                    f"{value.name} '{partner.literal}' means not known and is published as "
                    "missing: leave it out"
                )
            if text is None or operator not in (exp.EQ, exp.NEQ):
                raise self._placeholder_refusal(value)
            if (operator is exp.EQ) is not positive:
                raise self._placeholder_refusal(value)

    def check_search(
        self, test: type[exp.Expr], text: Scalar, wanted: Scalar, positive: bool
    ) -> None:
        """Refuse LIKE, ILIKE, ``starts_with`` or ``contains`` where a placeholder may be found.

        Args:
            test: such as ``exp.Like``.
            text: what is searched.
            wanted: the pattern or the part that is searched for.
            positive: whether the test stands under an even number of NOTs.

        Raises:
            QueryError: the release could decide otherwise than the original.
        """
        for value in (text, wanted):
            if self._is_renumbered(value):
                raise self._pseudonym_refusal(value)
        if self.placeholders(wanted):
            raise self._placeholder_refusal(wanted)
        if self.placeholders(text):
            plain = isinstance(wanted.node, exp.Literal)
            found = any(self._finds(test, term, wanted.node.name) for term in self._terms(text))
            if not plain or not positive or found:
                raise self._placeholder_refusal(text)

    def check_null(self, value: Scalar) -> None:
        """Refuse IS NULL of what may be missing in the release alone."""
        if self.placeholders(value):
            raise self._placeholder_refusal(value)

    def check_group(self, value: Scalar) -> None:
        """Refuse a value that would be shown otherwise than in the original."""
        if self._is_renumbered(value):
            raise self._pseudonym_refusal(value)

    def check_spelling(self, value: Scalar) -> None:
        """Refuse a function of a number that is another one in the original."""
        if value.origin in self._serial:
            raise self._pseudonym_refusal(value)

    def check_result(self, value: Scalar) -> None:
        """Refuse a result of CASE that the original would show otherwise."""
        self.check_group(value)
        self.check_null(value)

    def placeholders(self, value: Scalar) -> tuple[str, ...]:
        """The terms of a column that are published as NULL."""
        return self._placeholders.get(value.origin, ()) if value.origin else ()

    def is_term(self, origin: Origin) -> bool:
        """Whether a column has names of drugs or terms."""
        return origin in self._named

    def _terms(self, value: Scalar) -> tuple[str, ...]:
        return tuple(self._form(term) for term in self.placeholders(value))

    def _form(self, text: str) -> str:
        """What the spellings of a placeholder have in common."""
        return (term_key(text) or "") if self._version else _upper(text.strip())

    def _finds(self, test: type[exp.Expr], term: str, wanted: str) -> bool:
        """Whether some spelling of a placeholder, whose form is given, may pass a test."""
        if not self._version:
            return _found(test, term, _upper(wanted))
        # what spellings may write otherwise or leave out is passed over, a sign that stands for one
        # other stands for any number
        if test in (exp.Like, exp.ILike):
            kept = "%".join(map(_letters, wanted.replace("_", "%").split("%")))
        else:
            kept = _letters(wanted)
        return _found(test, _letters(term), kept)

    def _is_renumbered(self, value: Scalar) -> bool:
        return bool(self._pseudonym_series) and (value.kind == "id" or value.origin in self._serial)

    def _same_equality(self, one: Scalar, other: Scalar, links: Links) -> bool:
        """Whether both are equal exactly where the original ones are."""
        if not (one.origin and other.origin and one.alias and other.alias):
            return False
        if one.kind == other.kind == "id":
            return one.origin[1] == other.origin[1]
        numberings = {self._serial.get(one.origin), self._serial.get(other.origin)}
        return (
            len(numberings) == 1
            and None not in numberings
            and links.same_report(one.alias, other.alias)
        )

    def _pseudonym_refusal(self, value: Scalar) -> QueryError:
        if value.kind == "id":
            return QueryError(
                f"{value.name}: ids of series {self._pseudonym_series!r} are pseudonyms: compare "
                "them only with each other, by = or <>, each with those of its kind"
            )
        return QueryError(
            f"{value.name}: series {self._pseudonym_series!r} counts it from 1 in every report: "
            "compare it only with numbers of the same kind in the same report, by = or <>"
        )

    def _placeholder_refusal(self, value: Scalar) -> QueryError:
        return QueryError(
            f"{value.name}: '{self.placeholders(value)[0]}' and the like are published as "
            "missing, so this cannot be counted; compare it with terms by = or IN, without NOT"
        )


def _upper(text: str) -> str:
    """Letter by letter, as DuckDB does: no letter becomes two."""
    return "".join(c.upper() if len(c.upper()) == 1 else c for c in text)


def _letters(text: str) -> str:
    """The letters and digits of the key of a text, which all its spellings have in this order."""
    return "".join(c for c in term_key(text) or "" if c.isalnum())


def _found(test: type[exp.Expr], text: str, wanted: str) -> bool:
    """Whether a text passes a test; both are folded."""
    if test is exp.StartsWith:
        return text.startswith(wanted)
    if test is exp.Contains:
        return wanted in text
    ends = {0}
    """How much of the text the pattern up to here may have taken."""
    for sign in wanted:
        if sign == "%":
            ends = set(range(min(ends), len(text) + 1))
        else:
            ends = {n + 1 for n in ends if n < len(text) and sign in ("_", text[n])}
        if not ends:
            return False
    return len(text) in ends
