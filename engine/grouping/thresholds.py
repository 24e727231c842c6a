"""Threshold policies: which theta each sensitive value gets (SPEC section 6)."""

from __future__ import annotations

import csv
import re
import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from srsql.engine.catalog.datasets import term_keys
from srsql.engine.errors import ReleaseError
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas.dictionary import DictionaryError, spelling
from srsql.schemas.outside import read_text, toml_of
from srsql.schemas.vocabularies import load_dictionary

MAX_DENOMINATOR = 10**9
_NUMBER = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}|\d{1,9}/\d{1,10}")


@dataclass(frozen=True)
class Called:
    """Terms that have one of some names on a level of a dictionary, and their threshold."""

    level: str
    names: tuple[str, ...]
    theta: Fraction
    terms: tuple[str, ...]
    """As the dictionary spells them; the data may spell them otherwise."""


@dataclass(frozen=True)
class ThetaPolicy:
    """How theta follows from a value.

    ``uniform``: ``default`` for all. ``levels``: ``values`` where listed, else ``default``.
    ``frequency``: by rank of the value's case count (Lin 2016).
    """

    kind: Literal["uniform", "levels", "frequency"]
    default: Fraction | None = None
    values: dict[str, Fraction] = field(default_factory=dict)
    """Value -> theta; values are normalized where they are applied."""
    source: str = ""
    called: tuple[Called, ...] = ()
    """Terms by their names on levels, which are among ``values`` too; every spelling of them has
    the threshold, and the lowest one counts."""

    def __str__(self) -> str:
        """The policy as a user writes it."""
        if self.kind == "uniform":
            return str(self.default)
        return f"levels:{self.source}" if self.kind == "levels" else "frequency"

    @property
    def listed(self) -> list[tuple[str, str]]:
        """What a file of levels says, in order; of other policies nothing."""
        if self.kind != "levels":
            return []
        values = sorted((value, str(theta)) for value, theta in self.values.items())
        called = sorted(
            (f"{each.level}={spelling(name)}", str(each.theta))
            for each in self.called
            for name in each.names
        )
        return [("*", str(self.default)), *values, *called]


def may_exceed(now: ThetaPolicy, was: ThetaPolicy) -> bool:
    """Whether some value may have a higher threshold than under a policy that is no file's.

    By frequency thresholds are 1/5, 2/5 and, for the most frequent values, 1 (Lin 2016); which of
    them a value has depends on the quarter.
    """
    least = Fraction(1, 5) if was.default is None else was.default
    listed = [Fraction(1) if now.default is None else now.default, *now.values.values()]
    return now != was and max(listed) > least


def parse_theta(text: str) -> ThetaPolicy:
    """Read ``0.4``, ``1/3``, ``frequency`` or ``levels:FILE``.

    Raises:
        ReleaseError: not one of these, or a threshold outside [0, 1].
    """
    if text == "frequency":
        return ThetaPolicy("frequency")
    if text.startswith("levels:"):
        return _levels(Path(text.removeprefix("levels:")))
    return ThetaPolicy("uniform", default=_fraction(text, "--theta"))


def apply_theta(
    warehouse: Warehouse, policy: ThetaPolicy, term_key: int, *, spelled: bool = True
) -> None:
    """Fill ``srsql_theta(term_no, theta_num, theta_den)`` for every term of ``srsql_term``.

    Of a term that has several spellings the strictest reading counts: of the thresholds listed for
    any of them the least, and by frequency the stricter of its place among the terms and that of
    its commonest spelling among the spellings.

    Args:
        warehouse: with the terms of the quarter.
        policy: as asked for.
        term_key: the version of their key; version 0 knows no spellings.
        spelled: the reports of the quarter are at hand, which have the spellings.

    Source:
        SPEC section 2 (thresholds of a key), section 6.
    """
    if policy.kind == "frequency":
        both = spelled and term_key > 0
        if both:
            warehouse.run_step("grouping/spellings")
        statement = "by_both_frequencies" if both else "by_frequency"
        warehouse.run(query("grouping/thresholds", statement))
        return
    assert policy.default is not None
    called = [(term, each.theta) for each in policy.called for term in each.terms]
    warehouse.run(
        query("grouping/thresholds", "by_value"),
        {
            "terms": term_keys(warehouse, list(policy.values), term_key),
            "nums": [theta.numerator for theta in policy.values.values()],
            "dens": [theta.denominator for theta in policy.values.values()],
            "called": term_keys(warehouse, [term for term, _ in called], term_key),
            "called_nums": [theta.numerator for _, theta in called],
            "called_dens": [theta.denominator for _, theta in called],
            "num": policy.default.numerator,
            "den": policy.default.denominator,
        },
    )


def check_called(warehouse: Warehouse, policy: ThetaPolicy, term_key: int) -> None:
    """Refuse names on a level that no term of ``srsql_term`` has, whose threshold does nothing.

    Raises:
        ReleaseError: there are such.
    """
    for each in policy.called:
        terms = term_keys(warehouse, each.terms, term_key)
        if not warehouse.value(query("grouping/thresholds", "occurring"), {"called": terms}):
            raise ReleaseError(
                f"--theta {policy}: no case has a term that level {each.level} calls "
                f"{each.names[0]!r} or as else listed there: check dictionary and names, or list "
                "terms under [values], which need not occur"
            )


def _fraction(text: str, where: str) -> Fraction:
    try:
        theta = Fraction(text.strip()) if _NUMBER.fullmatch(text.strip()) else None
    except ZeroDivisionError:
        theta = None
    if theta is None:
        raise ReleaseError(
            f"{where}: {text!r} is not a threshold: give a number such as 0.4 or 1/3, "
            "frequency, or levels:FILE"
        )
    if not 0 <= theta <= 1 or theta.denominator > MAX_DENOMINATOR:
        raise ReleaseError(f"{where}: {text} must lie between 0 and 1, with at most 9 decimals")
    return theta


def _levels(path: Path) -> ThetaPolicy:
    """A levels file: TOML (``default``, ``[values]``, ``[[group]]`` theta/values) or CSV.

    The CSV has the columns ``value`` and ``theta``; the value ``*`` is the default for the rest. In
    TOML the values of a ``[[group]]`` with a ``level`` are names on that level of ``dictionary``, a
    path from the folder of the file: each term that is called so gets the threshold.
    """
    try:
        text = read_text(path)
        toml = path.suffix.lower() == ".toml"
        rows, called = _toml_rows(text, path) if toml else (_csv_rows(text, path), [])
    except FileNotFoundError:
        raise ReleaseError(
            f"--theta levels:{path}: there is no file {path}: give the path of a TOML or CSV file "
            "with the thresholds of values"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, csv.Error) as error:
        raise ReleaseError(f"{path}: cannot be read as a levels file: {error}") from None
    values: dict[str, Fraction] = {}
    default = None
    for value, theta in rows:
        fraction = _fraction(theta, f"{path}: {value!r}")
        if value.strip() == "*":
            default = fraction
            continue
        if values.get(value, fraction) != fraction:
            raise ReleaseError(f"{path}: {value!r} has two thresholds: keep one")
        values[value] = fraction
    if default is None:
        raise ReleaseError(f"{path}: no default for the other values: add 'default' (CSV: value *)")
    return ThetaPolicy("levels", default, values, path.name, tuple(called))


def _toml_rows(text: str, path: Path) -> tuple[list[tuple[str, str]], list[Called]]:
    data = toml_of(text)
    unknown = sorted(set(data) - {"default", "values", "group", "dictionary"})
    if unknown:
        raise ReleaseError(
            f"{path}: unknown key {unknown[0]!r}: use default, values, group, dictionary"
        )
    rows = [("*", str(data["default"]))] if "default" in data else []
    values = data.get("values", {})
    if not isinstance(values, dict):
        raise ReleaseError(f"{path}: key values must be a table of value = theta")
    rows += [(value, str(theta)) for value, theta in values.items()]
    groups = data.get("group", [])
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise ReleaseError(f"{path}: key group must be [[group]] with theta and values")
    called = []
    if "dictionary" in data and not any("level" in group for group in groups):
        raise ReleaseError(
            f"{path}: key dictionary does nothing: give a [[group]] a level, or leave the key out"
        )
    for group in groups:
        listed = group.get("values")
        if set(group) - {"theta", "values", "level"} or not isinstance(listed, list):
            raise ReleaseError(
                f"{path}: [[group]] needs theta and a list of values, maybe a level, nothing else"
            )
        if not all(isinstance(value, str) for value in [*listed, group.get("level", "")]):
            raise ReleaseError(f"{path}: values and level of a [[group]] must be texts")
        if not listed:
            raise ReleaseError(f"{path}: a [[group]] has no values: list some, or leave it out")
        theta = str(group.get("theta"))
        if "level" in group:
            names, level = listed, group["level"]
            listed = _called(path, data.get("dictionary"), level, names)
            fraction = _fraction(theta, f"{path}: level {level}")
            called.append(Called(level, tuple(names), fraction, tuple(listed)))
        rows += [(value, theta) for value in listed]
    return rows, called


def _called(path: Path, dictionary: object, level: str, names: list[str]) -> list[str]:
    """The terms that have one of these names on a level of the dictionary of a levels file.

    Raises:
        ReleaseError: there is no such dictionary, level or name.
    """
    if not isinstance(dictionary, str):
        raise ReleaseError(f"{path}: a level of a [[group]] needs the key dictionary, a path")
    try:
        members = load_dictionary(path.parent / dictionary).members(level)
    except DictionaryError as error:
        raise ReleaseError(f"{path}: {error}") from None
    terms: dict[str, list[str]] = {}
    for name, listed in members.items():
        terms.setdefault(spelling(name), []).extend(listed)
    if absent := [name for name in names if spelling(name) not in terms]:
        raise ReleaseError(f"{path}: {dictionary} calls no term {absent[0]!r} on level {level}")
    return [term for name in names for term in terms[spelling(name)]]


def _csv_rows(text: str, path: Path) -> list[tuple[str, str]]:
    reader = csv.DictReader(text.splitlines())
    if not {"value", "theta"} <= set(reader.fieldnames or ()):
        raise ReleaseError(f"{path}: the header must name the columns value and theta")
    return [(row["value"] or "", row["theta"] or "") for row in reader]
