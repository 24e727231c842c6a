"""What callers may choose: every parameter is declared once, and read and checked in one way.

A parameter of a model or of a request is a field of its dataclass, declared with
:func:`parameter`. From these declarations follow the options of the command line, the keywords of
the Python interface and what they refuse, the grid of a comparison, the facts of the manifests and
the table in the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal

from srsql.engine.errors import SrsqlError
from srsql.engine.parameters.takes import (
    RefusedError,
    Takes,
)

Calibration = Literal["paper", "sound", "printed"]
"""How noise is scaled: as a paper prints it but for what would leave values as they are or count
records twice (``paper``), so that what is said of it is true (``sound``), word for word as printed,
for experiments (``printed``)."""
Noise = Literal["secure", "seeded"]
NOISE_HELP = (
    "secure is OpenDP's sampler (extra noise); seeded repeats with --seed, for experiments, and is "
    "not for publication"
)
"""What ``--noise`` takes, of models and of tables."""
EpsilonScope = Literal["warehouse", "series"]
Format = Literal["parquet", "csv", "duckdb"]
Access = Literal["public", "restricted", "non-public"]
Audience = Literal["public", "contract", "enclave"]
Form = Literal["pvda", "openebgm", "treescan"]
Missing = Literal["spread", "exclude"]
Preset = Literal["suspects", "primary", "usual"]
"""What the field counts: every suspect drug; the first suspect role alone; every suspect drug,
without reactions that are indications of the case and without who lacks a value that is asked for.
"""
LOOSER = {"sound": 0, "paper": 1, "printed": 2}
"""Calibrations by how little they promise."""
ATTACKS = ("b", "f", "l", "md", "ss", "p")
"""Backward, forward, latest, missing (next quarter), substantial-symptoms and persistence attacks.
"""
SCOPES = ("group", "match")
"""Candidates are the cases of the target's group, or all whose region covers it."""
MAIN = "main"
"""The series where none is named."""
MAX_LINKABLE = Fraction(1, 20)
"""Share of rows that may link to another release of the quarter before a person has to say yes."""
STORAGE_VERSION = "v1.4.0"
"""The oldest DuckDB still in use that reads our Parquet and whose files all later ones read."""
DRAWS = 9999
"""Tables that a likelihood test draws where nothing else is asked."""
_KEY = "parameter"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter: what it takes, what it is for, and where else it matters."""

    takes: Takes
    help: str = ""
    """What it is, as a clause without a full stop."""
    keyword: str = ""
    """Its keyword; empty: the name of the field or argument."""
    aliases: tuple[str, ...] = ()
    """Further names of the option on the command line."""
    default: Any = None
    usual: str = ""
    """The default in words, where no value says it."""
    required: bool = False
    of: str = ""
    """What it applies to; empty: the models that have it, by name."""
    in_facts: bool = True
    """The public manifest tells it among the facts of the model."""
    told_default: bool = True
    """It tells the default, too."""
    weaker: str = ""
    """Which values protect less than others: ``lower`` or ``higher`` ones, this one of the choices,
    or, where values cannot be ranked, any ``different`` one."""
    weaker_than: Callable[[Any, Any], bool] | None = None
    """Whether the first value may protect less than the second, where no comparison tells."""
    only_with: tuple[str, str] | None = None
    """Keyword and value of another parameter, without which it has no effect; None: it has one."""
    of_run: bool = False
    """It concerns the making of one release; a series does not remember it."""
    in_file: bool = False
    """``srsql.toml`` may set it: it names nothing to write or read, and weakens no promise."""
    compared: tuple[Any, ...] | None = None
    """What ``compare`` tries where nothing is asked; empty: the default of each model; None: a
    comparison does not vary it."""
    advised: tuple[Any, ...] | None = None
    """What ``advise`` tries; None: it leaves the parameter alone."""
    field: str = ""
    """The field that declares it."""

    @property
    def option(self) -> str:
        """Its name on the command line and in errors."""
        return option_name(self.keyword)

    @property
    def shown_default(self) -> str:
        """The default as a caller writes it; empty: there is none."""
        if self.usual or self.default is None or self.default in (False, (), frozenset()):
            return self.usual
        return self.takes.show(self.default)


def protects_less(told: Parameter, now: Any, was: Any) -> bool:
    """Whether a value protects less than the one before it; None: no limit, or nothing at all."""
    if not told.weaker or now == was:
        return False
    if told.weaker_than is not None:
        return told.weaker_than(now, was)
    if told.weaker == "different":
        return bool(was)
    if told.weaker in ("lower", "higher"):
        if now is None or was is None:
            return now is None
        return bool(now < was if told.weaker == "lower" else now > was)
    return bool(now == told.weaker)


def option_name(keyword: str) -> str:
    """The option of the command line for a keyword."""
    return f"--{keyword.replace('_', '-')}"


def parameter(
    default: Any = MISSING,
    *,
    takes: Takes,
    factory: Callable[[], Any] | None = None,
    **about: Any,
) -> Any:
    """A field of a dataclass that callers may set.

    Args:
        default: its value where the caller gives none.
        takes: which values it takes.
        factory: makes the default, instead.
        about: see :class:`Parameter`.
    """
    if factory is not None:
        return field(default_factory=factory, metadata={_KEY: Parameter(takes=takes, **about)})
    told = Parameter(takes=takes, default=default, **about)
    return field(default=default, metadata={_KEY: told})


def declared(of: type) -> dict[str, Parameter]:
    """The parameters that a dataclass declares, by keyword, in the order of its fields."""
    found = {}
    for each in fields(of):
        told: Parameter | None = each.metadata.get(_KEY)
        if told is not None:
            keyword = told.keyword or each.name
            found[keyword] = replace(told, keyword=keyword, field=each.name)
    return found


def read_fields(made: Any, error: type[SrsqlError]) -> None:
    """Read the declared fields of a frozen dataclass as they were given; for ``__post_init__``.

    Raises:
        SrsqlError: of the kind ``error``: a value is of another kind, or out of bounds.
    """
    for told in declared(type(made)).values():
        value = getattr(made, told.field)
        if value is None and told.default is None:
            continue
        try:
            object.__setattr__(made, told.field, told.takes.read(value, told.option))
        except RefusedError as why:
            raise error(str(why)) from None


def facts_of(made: Any, of: type | None = None) -> dict[str, str | int]:
    """The parameters of a model as the public manifest tells them; ``of``: those of that class."""
    told = declared(of or type(made))
    values = {
        name: value
        for name, each in told.items()
        if each.in_facts
        and ((value := getattr(made, each.field)) != each.default or each.told_default)
    }
    return {name: value if isinstance(value, int) else str(value) for name, value in values.items()}


def unknown_option(call: str, name: str, known: Iterable[str]) -> str:
    """One line on a keyword that a call does not have: which one was meant, or which it has."""
    names = list(known)
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"it takes {', '.join(names)}"
    return f"{call} takes no option {name}: {hint}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was meant by a misspelt one; None: none is near enough.

    Near are two slips in six letters or more, one in less: a letter too many, one that lacks, one
    that is another, two that changed places. What only looks alike (remove, restore) is not near.
    """
    typed = name.lower().strip("-")
    found = [(_slips(typed, each.lower().strip("-")), each) for each in known]
    slips, near = min(found, key=lambda one: one[0], default=(len(typed), name))
    return near if slips <= (2 if len(typed) >= 6 else 1) and slips < len(typed) else None


def _slips(typed: str, meant: str) -> int:
    """Slips between two words: optimal string alignment."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(typed, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(meant, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and (letter, typed[i - 2]) == (meant[j - 2], other):
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]
