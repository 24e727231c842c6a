"""What a kernel calls is compiled with it, and named tuples are passed by their address."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba.core import event

from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit
from srsql.udfs.passed import addressed, by_address


@by_address
class Inner(NamedTuple):
    values: Ints
    factor: int


@by_address
class Outer(NamedTuple):
    name: int
    inner: Inner
    flags: Ints
    on: bool


@leaf()
def weighed(inner: Inner, place: int) -> int:
    return int(inner.values[place] * inner.factor)


@leaf()
def total(outer: Outer) -> int:
    found = outer.name
    for place in range(len(outer.inner.values)):
        if outer.on and outer.flags[place] > 0:
            found += weighed(outer.inner, place)
        outer.flags[place] += 1
    return int(found)


@njit()
def twice(outer: Outer, factor: int) -> int:
    halved = addressed(Inner(outer.inner.values, factor))
    found = total(outer)
    for place in range(len(halved.values)):
        found += weighed(halved, place)
    return found


def by_hand(outer: Outer) -> int:
    values, factor = outer.inner
    chosen = [v * factor for v, flag in zip(values, outer.flags, strict=True) if flag > 0]
    return outer.name + (sum(chosen) if outer.on else 0)


@given(
    rows=st.lists(st.tuples(st.integers(-99, 99), st.integers(0, 1)), max_size=20),
    name=st.integers(-9, 9),
    factors=st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
    on=st.booleans(),
)
def test_parts_of_tuples_are_read_and_written_where_they_are(
    rows: list[tuple[int, int]], name: int, factors: tuple[int, int], on: bool
) -> None:
    values = np.array([v for v, _ in rows], np.int64)
    flags = np.array([f for _, f in rows], np.int64)
    due = by_hand(outer := Outer(name, Inner(values, factors[0]), flags.copy(), on))
    assert total(outer) == due
    assert outer.flags.tolist() == (flags + 1).tolist()
    outer = outer._replace(flags=flags.copy())
    assert twice(outer, factors[1]) == due + int(values.sum()) * factors[1]
    assert outer.flags.tolist() == (flags + 1).tolist()


class _Compiled(event.Listener):
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: event.Event) -> None:
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        pass


def test_a_kernel_that_python_and_kernels_call_is_compiled_once_for_each() -> None:
    @njit()
    def low(x: int) -> int:
        return x + 1

    @njit()
    def high(x: int) -> int:
        return low(x) * 2

    listener = _Compiled()
    with event.install_listener("numba:compile", listener):
        assert high(4) == 10
        assert listener.names == ["high", "low"]
        assert high.signatures
        assert not low.signatures  # no machine code of its own
        assert low(4) == 5
        assert high(5) == 12
    assert listener.names == ["high", "low", "low"]
