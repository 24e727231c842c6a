"""Random trees, and what a hierarchy says about them, by walking from parent to parent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Tree:
    """A tree as a child -> parent map; the root's parent is the empty text."""

    above: dict[str, str]
    """In the order of the rows of the file."""

    @property
    def root(self) -> str:
        return next(node for node, parent in self.above.items() if not parent)

    def rows(self) -> list[dict[str, str]]:
        """The rows of a hierarchy file."""
        return [{"node": node, "parent": parent} for node, parent in self.above.items()]

    def path(self, node: str) -> list[str]:
        """The node and everything above it, nearest first."""
        walked = [node]
        while self.above[walked[-1]]:
            walked.append(self.above[walked[-1]])
        return walked

    def below(self, node: str) -> list[str]:
        return [child for child, parent in self.above.items() if parent == node]

    def leaves(self, node: str) -> set[str]:
        """The leaves under a node; a leaf is under itself."""
        return {n for n in self.above if not self.below(n) and node in self.path(n)}

    def height(self, node: str) -> int:
        """Longest way down to a leaf."""
        return max(self.path(leaf).index(node) for leaf in self.leaves(node))

    def meeting(self, nodes: Iterable[str]) -> str:
        """The lowest common ancestor."""
        paths = [self.path(node) for node in nodes]
        return next(node for node in paths[0] if all(node in path for path in paths))


@st.composite
def trees(draw: st.DrawFn, largest: int = 12) -> Tree:
    """A tree of any shape, its rows in any order."""
    size = draw(st.integers(1, largest))
    above = {"n0": ""}
    for number in range(1, size):
        above[f"n{number}"] = f"n{draw(st.integers(0, number - 1))}"
    return Tree({node: above[node] for node in draw(st.permutations(list(above)))})
