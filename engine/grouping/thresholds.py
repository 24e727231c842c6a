"""Threshold policies: which theta each sensitive value gets (SPEC section 6)."""

from __future__ import annotations

import csv
import re
import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from srsql.engine.errors import ReleaseError
from srsql.engine.warehouse.catalog import normalized_texts
from srsql.engine.warehouse.statements import query
from srsql.engine.warehouse.warehouse import Warehouse

MAX_DENOMINATOR = 10**9
_NUMBER = re.compile(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}|\d{1,9}/\d{1,10}")


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
        return [("*", str(self.default)), *values]


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


def apply_theta(warehouse: Warehouse, policy: ThetaPolicy) -> None:
    """Fill ``srsql_theta(term_no, theta_num, theta_den)`` for every term of ``srsql_term``."""
    if policy.kind == "frequency":
        warehouse.run(query("grouping/thresholds", "by_frequency"))
        return
    assert policy.default is not None
    warehouse.run(
        query("grouping/thresholds", "by_value"),
        {
            "terms": normalized_texts(warehouse, list(policy.values)),
            "nums": [theta.numerator for theta in policy.values.values()],
            "dens": [theta.denominator for theta in policy.values.values()],
            "num": policy.default.numerator,
            "den": policy.default.denominator,
        },
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

    The CSV has the columns ``value`` and ``theta``; the value ``*`` is the default for the rest.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = _toml_rows(text, path) if path.suffix.lower() == ".toml" else _csv_rows(text, path)
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
    return ThetaPolicy("levels", default=default, values=values, source=path.name)


def _toml_rows(text: str, path: Path) -> list[tuple[str, str]]:
    data = tomllib.loads(text)
    unknown = sorted(set(data) - {"default", "values", "group"})
    if unknown:
        raise ReleaseError(f"{path}: unknown key {unknown[0]!r}: use default, values, group")
    rows = [("*", str(data["default"]))] if "default" in data else []
    values = data.get("values", {})
    if not isinstance(values, dict):
        raise ReleaseError(f"{path}: key values must be a table of value = theta")
    rows += [(value, str(theta)) for value, theta in values.items()]
    groups = data.get("group", [])
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise ReleaseError(f"{path}: key group must be [[group]] with theta and values")
    for group in groups:
        listed = group.get("values")
        if set(group) - {"theta", "values"} or not isinstance(listed, list):
            raise ReleaseError(f"{path}: [[group]] needs theta and a list of values, nothing else")
        if not all(isinstance(value, str) for value in listed):
            raise ReleaseError(f"{path}: values of a [[group]] must be texts")
        rows += [(value, str(group.get("theta"))) for value in listed]
    return rows


def _csv_rows(text: str, path: Path) -> list[tuple[str, str]]:
    reader = csv.DictReader(text.splitlines())
    if not {"value", "theta"} <= set(reader.fieldnames or ()):
        raise ReleaseError(f"{path}: the header must name the columns value and theta")
    return [(row["value"] or "", row["theta"] or "") for row in reader]
