"""What was never compiled is compiled by a process of its own, and loaded by the one that asks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import pytest

from srsql.udfs import interpreted, kernels

MODULE = """
from srsql.udfs.caches import COMPILING
from srsql.udfs.compiled import njit
results = []
@njit()
def double(x):
    return 2 * x
def warm_up():
    results.append(double(21))
    if double.stats.cache_misses:
        for tell in COMPILING:  # as kernels of ours are told
            tell("double")
"""


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[str]]:
    """The processes that are started; kernels are kept in a new folder."""
    (tmp_path / "some_kernel.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_kernel", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(kernels, "_LOADED", set())
    found = []

    def start(*args: Any, **options: Any) -> subprocess.Popen[str]:
        found.append(start_process(*args, **options))
        return found[-1]

    start_process = subprocess.Popen
    monkeypatch.setattr(kernels.subprocess, "Popen", start)
    return found


def misses() -> int:
    """How many kernels this process had to compile itself."""
    module: Any = sys.modules["some_kernel"]
    return sum(module.double.stats.cache_misses.values())


@pytest.mark.thorough
def test_another_process_compiles_once_and_this_one_takes_what_is_kept(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(kernels, "COMPILING", [told.append])
    kernels.load_kernels(["some_kernel"])
    kernels.load_kernels(["some_kernel:warm_up", "some_kernel"])
    assert [each.returncode for each in started] == [0, 0], "two names, each asked for once"
    assert told == ["double"], "the second process finds what the first one left"
    assert misses() == 0
    kernels._LOADED.clear()
    kernels.load_kernels(["some_kernel", "some_kernel:warm_up"])
    assert len(started) == 2


@pytest.mark.slow
def test_kernels_are_loaded_or_compiled_beside_what_needs_none(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with kernels.loading_kernels(["some_kernel"]) as loaded:
        while not started:
            time.sleep(0.01)  # begun before anybody waits for it
        loaded(None)
    assert [each.returncode for each in started] == [0]
    monkeypatch.delitem(sys.modules, "some_kernel")
    kernels._LOADED.clear()
    with kernels.loading_kernels(["some_kernel"]) as loaded:
        loaded(None)
    assert (len(started), misses()) == (1, 0)
    assert sys.modules["some_kernel"].results == [42], "loaded once, by the thread"
    kernels._LOADED.clear()
    monkeypatch.setattr(sys.modules["some_kernel"], "warm_up", None)
    with kernels.loading_kernels(["some_kernel"]) as loaded, pytest.raises(TypeError):
        loaded(None)


def test_where_no_other_process_can_compile_this_one_does(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for executable in ("", "/nowhere/python", sys.executable):
        monkeypatch.setattr(sys, "executable", executable)
        if executable == sys.executable and executable:
            monkeypatch.setattr(kernels, "_CALL", "raise SystemExit(3)")
        kernels._LOADED.clear()
        kernels.load_kernels(["some_kernel"])
    assert [each.returncode for each in started] == [3]
    assert misses() == 1


def test_nothing_is_started_where_nothing_can_be_kept(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srsql.udfs.caches.kept_in", lambda: None)
    kernels.load_kernels(["some_kernel"])
    kernels.load_kernels([])
    assert started == []
    assert sys.modules["some_kernel"].results == [42]


@pytest.mark.slow
def test_what_fails_meanwhile_gives_up_the_compiling(
    started: list[subprocess.Popen[str]],
) -> None:
    def fail() -> None:
        with kernels.loading_kernels(["some_kernel", "some_kernel:warm_up"]):
            while not started:
                time.sleep(0.01)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert {each.returncode for each in started} <= {-9}
    kernels.load_kernels(["some_kernel"])
    assert misses() == 0, "whoever asks next has them compiled"


@pytest.mark.slow
def test_an_interruption_ends_the_other_process(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "COMPILING", [interrupted])
    with pytest.raises(KeyboardInterrupt):
        kernels.load_kernels(["some_kernel"])
    assert [each.poll() is not None for each in started] == [True]


@pytest.fixture
def waited(started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Some kernel is interpreted for up to ten cases; the names that were waited for."""
    found: list[str] = []
    load_kernels = kernels.load_kernels

    def load(names: list[str]) -> None:
        found.extend(names)
        load_kernels(names)

    monkeypatch.setattr(kernels, "INTERPRETED", {"some_kernel": 10})
    monkeypatch.setattr(kernels, "load_kernels", load)
    return found


def doubled(module_of: Any) -> int:
    return int(module_of("some_kernel").double(4))


@pytest.mark.slow
def test_a_few_cases_do_not_wait_until_their_kernels_are_compiled(waited: list[str]) -> None:
    with kernels.loading_kernels(["some_kernel"]) as loaded:
        loaded(10)
        assert waited == []
        assert kernels.called("some_kernel", 10, doubled) == 8
        assert waited == []
        loaded(11)
        assert waited == ["some_kernel"]
        loaded(11)
    assert waited == ["some_kernel"], "once it is there"


@pytest.mark.slow
def test_what_is_interpreted_for_a_few_cases_is_compiled_only_once_it_takes_long(
    started: list[subprocess.Popen[str]], waited: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "_INTERPRETING", [0.0])
    with kernels.loading_kernels(["some_kernel"], 10) as loaded:
        loaded(10)
        assert kernels.called("some_kernel", 10, doubled) == 8
        assert started == []
        monkeypatch.setattr(kernels, "PATIENCE", 0.0)

        def patient(module_of: Any) -> int:
            while not started:
                time.sleep(0.01)
            return doubled(module_of)

        assert kernels.called("some_kernel", 10, patient) == 8
    kernels.compile_apart(["some_kernel"])  # that it ends
    assert (waited, len(started)) == ([], 1)


@pytest.mark.slow
@pytest.mark.parametrize("cases", [11, None])
def test_many_cases_wait_for_what_is_compiled(waited: list[str], cases: int | None) -> None:
    assert kernels.called("some_kernel", cases, doubled) == 8
    assert (waited, misses()) == (["some_kernel"], 0)


@pytest.mark.slow
def test_what_is_interpreted_for_too_long_is_called_again_compiled(
    waited: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "SECONDS", -1.0)
    monkeypatch.setattr(interpreted, "_LOOKED_AT", 1)
    search = "srsql.udfs.grouping.members"

    def five(kernels: Any) -> int:
        return int(kernels.bits(0b11111))

    def call(module_of: Any) -> tuple[str, int]:
        return type(module_of(search)).__name__, five(module_of(search))

    assert kernels.called("some_kernel", 5, call) == ("module", 5)
    assert waited == ["some_kernel"]
    assert five(interpreted.interpreted(search)) == 5, "others have no such limit"


@pytest.mark.slow
def test_a_process_ends_without_waiting_for_what_it_had_begun_to_compile(
    started: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    (tmp_path / "endless.py").write_text("def warm_up():\n    import time\n    time.sleep(60)\n")
    ends = f"""
import sys, time
sys.path.insert(0, {str(tmp_path)!r})
from srsql.udfs import interpreted, kernels
kernels.begin_compiling(["endless"])
while not kernels._COMPILERS._processes:
    time.sleep(0.01)
print(kernels._COMPILERS._processes[0].pid)
"""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", ends], capture_output=True, text=True, check=True)
    assert time.monotonic() - begun < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
