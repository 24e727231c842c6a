"""What callers may choose: every parameter is declared once, and read and checked in one way.

A parameter of a model or of a request is a field of its dataclass, declared with
:func:`parameter`; what a call takes follows from its signature (see :mod:`.calls`).
From these declarations follow the options of the command line, the keywords of the Python
interface and what they refuse, the grid of a comparison, the facts of the manifests and the table
in the documentation.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal

from srsql.engine.errors import SrsqlError
from srsql.engine.parameters.takes import RefusedError, Takes

Calibration = Literal["paper", "sound"]
Noise = Literal["secure", "seeded"]
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
    weaker: Literal["", "lower", "higher"] = ""
    """Which values protect less than others."""
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
    values = {name: getattr(made, each.field) for name, each in told.items() if each.in_facts}
    return {name: value if isinstance(value, int) else str(value) for name, value in values.items()}


def unknown_option(call: str, name: str, known: Iterable[str]) -> str:
    """One line on a keyword that a call does not have: which one was meant, or which it has."""
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(names)}"
    return f"{call} takes no option {name}: {hint}"
