"""Twins of kernels, interpreted in the same process, make what compiled ones make, to the bit."""

from __future__ import annotations

import pkgutil
import types
import warnings
from importlib import import_module
from inspect import getmembers, isclass, isfunction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher
from support.kernel_runs import RUNS, run

from srsql import udfs
from srsql.udfs import kernels
from srsql.udfs.grouping import greedy, refine
from srsql.udfs.grouping_problem import Attributes, Bounding, Cases
from srsql.udfs.interpreted import interpreted
from srsql.udfs.limits import WEIGHT_SCALES
from srsql.udfs.risk import singling_out
from srsql.udfs.terms import km_anonymity

MODULES = [each.name for each in pkgutil.walk_packages(udfs.__path__, f"{udfs.__name__}.")]
NONE = np.empty(0, np.int64)


def test_a_twin_calls_nothing_that_is_compiled() -> None:
    for name in MODULES:
        for what, value in vars(interpreted(name)).items():
            assert not isinstance(value, Dispatcher), (name, what)
            function = getattr(value, "__wrapped__", value)
            if isfunction(function) and function.__module__ in MODULES:
                found = {
                    each: function.__globals__.get(each) for each in names_in(function.__code__)
                }
                assert not any(isinstance(v, Dispatcher) for v in found.values()), (name, what)


def test_no_method_calls_a_kernel_of_those_that_are_interpreted() -> None:
    """A class has one set of methods, whose names no twin could replace."""
    waiting, seen = [interpreted(name).warm_up for name in kernels.INTERPRETED], set()
    while waiting:
        function = waiting.pop()
        seen.add(function)
        called = (function.__globals__.get(name) for name in names_in(function.__code__))
        ours = (getattr(each, "__wrapped__", each) for each in called)
        waiting += [each for each in ours if isfunction(each) and each not in seen]
    modules = {function.__module__ for function in seen} & set(MODULES)
    assert len(modules) > len(kernels.INTERPRETED)
    for module in map(import_module, modules):
        compiled = {name for name, value in vars(module).items() if isinstance(value, Dispatcher)}
        for _, kind in getmembers(module, isclass):
            for _, method in getmembers(kind, isfunction):
                assert not compiled & names_in(method.__code__), (kind, method)


def names_in(code: types.CodeType) -> set[str]:
    """All names of a function and of those within it."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*map(names_in, inner))


@given(st.integers(0, 2**64 - 1))
def test_words_wrap_around_as_compiled_ones_do_without_a_warning(word: int) -> None:
    for module, name in ((singling_out, "_draw"), (km_anonymity, "_ones")):
        twin = getattr(interpreted(module.__name__), name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = twin(np.uint64(word))
        assert found == getattr(module, name)(np.uint64(word))


def problem(draw: Any) -> tuple[Any, ...]:
    """Cases with two numbers and a category, boxes and terms as they come, far ends among them."""
    n, seed = draw(st.integers(6, 40) | st.just(250)), draw(st.integers(0, 2**32 - 1))
    of = np.random.default_rng(seed)
    span = draw(st.sampled_from([3, 100, 2**31]))
    low = of.integers(0, span, (n, 3))
    high = np.minimum(low + of.integers(0, 1 + span // 4, (n, 3)) * (of.random((n, 1)) < 0.2), span)
    low[:, 2] = high[:, 2] = of.integers(1, 7, n)  # leaves of a tree of two levels
    held = [np.unique(of.integers(0, 9, of.integers(0, 5))) for _ in range(n)]
    offsets = np.cumsum([0, *map(len, held)]).astype(np.int64)
    scale = draw(st.sampled_from([1, int(WEIGHT_SCALES[-1]), int(WEIGHT_SCALES[0])]))
    weights = np.full(offsets[-1], scale) // of.integers(1, 3 if scale > 1 else 2, offsets[-1])
    cases = Cases(low, high, offsets, np.concatenate(held).astype(np.int32), weights, scale)
    attributes = Attributes(
        np.array([span, span, 0]), np.array([0, 0, 0, 7]), np.array([-1, 0, 0, 0, 0, 0, 0]),
        np.array([6, 1, 2, 3, 4, 5, 6]), np.array([1, 0, 0, 0, 0, 0, 0]),
    )  # fmt: skip
    carrier = of.random(n) < draw(st.sampled_from([0.7, 1.0]))
    bounding = Bounding(
        carrier, np.ones(n, np.bool_), of.integers(0, 5, n).astype(np.int8),
        alpha_num=draw(st.integers(1, 2)), alpha_den=2, after_join=draw(st.booleans()),
        from_last=draw(st.booleans()), more_seeds=draw(st.sampled_from([0, n])),
    )  # fmt: skip
    return cases, attributes, np.full(9, 1), np.full(9, 2), draw(st.integers(2, 4)), 0, bounding


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60)
def test_greedy_and_refined_groups_are_the_same_interpreted(data: st.DataObject) -> None:
    *given_to, first, bounding = problem(data.draw)
    group = greedy.group_cases(*given_to, first, bounding)
    known, start = np.full(len(group), 7), group.astype(np.int64)
    if data.draw(st.booleans()):  # no group yet, of cases that do not know all QIDs
        known, start = np.arange(len(group)) * 5 % 8, np.full(len(group), -1)
    effort = data.draw(st.sampled_from(get_args(refine.Refinement)))
    standing = refine.Standing(known, start, effort)
    refined = groups_or_refusal(refine, given_to, bounding, standing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin = interpreted(greedy.__name__).group_cases(*given_to, first, bounding)
        found = groups_or_refusal(interpreted(refine.__name__), given_to, bounding, standing)
    assert (group.tolist(), refined) == (twin.tolist(), found)
    assert group.dtype == twin.dtype


def groups_or_refusal(module: Any, given_to: Any, bounding: Bounding, standing: Any) -> Any:
    """Refined groups; or why not, where those of the greedy break what refining asks of them."""
    try:
        return module.refine_groups(*given_to, bounding, standing).tolist()
    except ValueError as error:
        return str(error)


@pytest.mark.thorough
def test_releases_made_while_kernels_compile_have_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["ms", "ppms-alpha"]
    fast = {name: {**RUNS[name], "refine": "fast"} for name in names}
    monkeypatch.setattr("support.kernel_runs.RUNS", fast)
    kernels.load_kernels(list(kernels.INTERPRETED))
    asked: list[str] = []

    def not_kept(name: str) -> bool:
        asked.append(name)
        return False

    found = []
    for folder in (tmp_path / "compiled", tmp_path / "interpreted"):
        folder.mkdir()
        found.append(run(folder, names))
        monkeypatch.setattr(kernels, "_LOADED", set())
        monkeypatch.setattr(kernels, "_is_kept", not_kept)
        monkeypatch.setattr(kernels, "_load", lambda names: None)
    assert found[0] == found[1]
    assert set(kernels.INTERPRETED) <= set(asked)
