"""Leaf kernels, in which no references are counted, neither return arrays nor get any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import NumbaError

import srsql.udfs
from srsql.udfs.columns import Ints
from srsql.udfs.compiled import leaf, njit

SOURCES = Path(srsql.udfs.__file__).parent
NUMBERS = {"int", "bool", "float", "None", "np.uint64"}


class Kernel(NamedTuple):
    """A function that is compiled, as its source has it."""

    where: str
    decorator: str
    numbers: bool
    """Whether it returns nothing but numbers."""
    calls: set[str]


def kernels() -> Iterator[Kernel]:
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef) or node.returns is None:
                continue
            decorators = [ast.unparse(each) for each in node.decorator_list]
            ours = [each for each in decorators if each.startswith(("leaf(", "njit("))]
            if ours:
                told = ast.unparse(node.returns).removeprefix("tuple[").removesuffix("]")
                calls = {
                    each.func.id
                    for each in ast.walk(node)
                    if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
                }
                numbers = {part.strip() for part in told.split(",")} <= NUMBERS
                name = f"{path.relative_to(SOURCES)}: {node.name}"
                yield Kernel(name, ours[0], numbers, calls)


def test_a_leaf_returns_numbers_and_calls_no_kernel_that_returns_arrays() -> None:
    """An array that it returned might be gone, and one that it got would stay for ever."""
    found = list(kernels())
    leaves = [kernel for kernel in found if kernel.decorator.startswith("leaf(")]
    arrays = {
        kernel.where.partition(": ")[2]
        for kernel in found
        if not kernel.numbers and "inline='always'" not in kernel.decorator  # part of its caller
    }
    assert len(leaves) > 100
    assert [kernel.where for kernel in leaves if not kernel.numbers] == []
    assert [kernel.where for kernel in leaves if kernel.calls & arrays] == []


def test_a_leaf_cannot_make_an_array() -> None:
    @leaf()
    def total(count: int) -> int:
        return int(np.arange(count).sum())

    with pytest.raises(NumbaError, match=r"NRT required|No implementation of function"):
        total(3)


def test_what_a_leaf_calls_may_make_arrays() -> None:
    @njit()
    def total(values: Ints) -> int:
        return int((values + 1).sum())

    @leaf()
    def twice(values: Ints) -> int:
        return total(values) + total(values[1:])

    values = np.arange(4)
    assert [twice(values) for _ in range(100)] == [10 + 9] * 100
    assert values.tolist() == [0, 1, 2, 3]
