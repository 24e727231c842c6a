"""Who is run with what: only guarantees that can be compared stand side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

K, L, ALPHA = 5, 5, 0.4
SUPPRESS = (0, 10)
"""Percent of the rows that anjana may leave out; its answer depends on it most."""
HALVES = {"age": (2, 4, 8, 16, 32, 64), "wt": (2, 4, 8, 16, 32, 64, 128, 256), "sex": ()}
FIVES = {"age": (5, 10, 20, 40), "wt": (5, 10, 20, 40, 80, 160), "sex": ()}
"""Widths of the intervals that ARX generalizes to, each within the next; then "any". Its local
recoding loses less with the one on some tables, and with the other on others."""


@dataclass(frozen=True)
class Contestant:
    """One tool with one algorithm."""

    name: str
    tool: str
    options: dict[str, Any] = field(default_factory=dict)
    at_most: int | None = None
    """Rows of the largest table that it is given, where its time grows with their square."""

    @property
    def ours(self) -> bool:
        """Whether it is srsql."""
        return self.tool == "srsql"


@dataclass(frozen=True)
class Contest:
    """Contestants that promise the same; the first is what the others are compared with."""

    promise: str
    k: int
    contestants: tuple[Contestant, ...]
    l: int = 1  # noqa: E741 (the models' own name for it)
    alpha: float = 1.0


def _ours(model: str, **options: Any) -> list[Contestant]:
    """A model as it is released by default, and as the algorithm of its paper leaves it."""
    options |= {"model": model}
    return [
        Contestant(f"srsql {model}", "srsql", options),
        Contestant(f"srsql {model}, refine off", "srsql", options | {"refine": "off"}),
    ]


def _anjana(name: str, **options: Any) -> list[Contestant]:
    return [
        Contestant(f"anjana {name}, {most} %", "anjana", {"suppress": most, **options})
        for most in SUPPRESS
    ]


def _arx(name: str, recoding: str, **options: Any) -> Contestant:
    options = {"k": K, "recoding": recoding, "steps": HALVES} | options
    return Contestant(f"ARX {name}", "arx", options)


_MONDRIAN, _MDAV = {"algorithm": "Mondrian"}, {"algorithm": "MDAV-generic"}
CONTESTS = (
    Contest(
        f"k-anonymity, k = {K}",
        K,
        (
            *_ours("k-anonymity", k=K),
            *_ours("xy-anonymity", k=K),
            Contestant("k-member clustering", "k-member", {"k": K}, at_most=50_000),
            _arx("local recoding", "local"),
            _arx("local recoding by fives", "local", steps=FIVES),
            _arx("global recoding", "global"),
            Contestant("anonypyx Mondrian", "anonypyx", {"k": K, **_MONDRIAN}),
            Contestant("anonypyx MDAV", "anonypyx", {"k": K, **_MDAV}),
            Contestant("anonypy Mondrian", "anonypy", {"k": K}),
            *_anjana("k", k=K),
        ),
    ),
    Contest(
        f"l-diversity, l = {L}",
        K,
        (
            *_ours("l-diversity", l=L),
            _arx("local recoding, l", "local", l=L),
            Contestant("anonypyx Mondrian, l", "anonypyx", {"k": K, "l": L, **_MONDRIAN}),
            Contestant("anonypy Mondrian, l", "anonypy", {"k": K, "l": L}),
            *_anjana("l", k=K, l=L),
        ),
        l=L,
    ),
    Contest(
        f"(α, k)-anonymity, α = {ALPHA}, k = {K}",
        K,
        (
            *_ours("alpha-k", k=K, alpha=str(ALPHA)),
            *_ours("ms", k=K, theta=str(ALPHA)),
            *_anjana("α, k", k=K, alpha=ALPHA),
        ),
        alpha=ALPHA,
    ),
)
