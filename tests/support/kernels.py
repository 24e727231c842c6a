"""Compiles the kernels that the workers would compile at the same time; see ``conftest.py``."""

from __future__ import annotations

from support.baskets import Desk
from support.generalized import Generalized

from srsql.udfs import nearest, partition

BASKETS = [frozenset({n % 3, 3 + n % 4, 7 + n % 5, 12 + n // 8}) for n in range(40)]
POLICY = [frozenset(range(3)), frozenset(range(3, 16))]


def compile_all() -> None:
    """All but those of ``greedy.warm_up``, with the types that the engine calls them with."""
    nearest.warm_up()
    partition.warm_up()
    desk = Desk()
    desk.put(BASKETS, constraints=POLICY, kept_apart=[3])
    desk.run(3, 2)
    desk.close()
    Generalized().make([frozenset(b) for b in BASKETS], POLICY, 3, 2)


if __name__ == "__main__":
    compile_all()
