"""Compiled kernels are kept in a folder of the user, or, where there is none, not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from srsql.udfs import caches, compiled
from srsql.udfs.caches import UNSAFE, cache_folder, safe_folder, why_unsafe

pytestmark = pytest.mark.slow

KERNEL = """
from srsql.udfs.compiled import njit
@njit()
def double(x):
    return 2 * x
if __name__ == "__main__":
    import numba
    print(double(21), bool(numba.config.CACHE_DIR), type(double._cache).__name__)
"""


def run(folder: Path, **environment: str) -> str:
    """What a script with a kernel prints in such an environment."""
    script = folder / "kernel.py"
    script.write_text(KERNEL, encoding="utf-8")
    left_out = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    made = subprocess.run(
        [sys.executable, str(script)], env=kept | environment, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


def files(folder: Path, ending: str) -> list[str]:
    return sorted(path.name for path in folder.rglob(f"*{ending}"))


@pytest.mark.thorough
def test_kernels_are_kept_in_a_folder_of_the_user_that_is_the_users_alone(tmp_path: Path) -> None:
    caches = tmp_path / "caches"
    source = tmp_path / "source"
    source.mkdir()
    assert run(source, XDG_CACHE_HOME=str(caches)) == "42 False FunctionCache\n"
    assert len(files(caches / "srsql" / "kernels", ".nbc")) == 1
    assert files(source, ".nbc") == []
    if os.name == "posix":
        assert (caches / "srsql" / "kernels").stat().st_mode & 0o777 == 0o700


@pytest.mark.thorough
def test_an_account_without_a_home_compiles_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert run(tmp_path, HOME=str(tmp_path / "file")) == "42 False NullCache\n"
    assert files(tmp_path, ".nbc") == []


@pytest.mark.thorough
def test_who_names_a_folder_for_numba_decides(tmp_path: Path) -> None:
    named = tmp_path / "named"
    assert run(tmp_path, NUMBA_CACHE_DIR=str(named), HOME=str(tmp_path)) == (
        "42 True FunctionCache\n"
    )
    assert len(files(named, ".nbc")) == 1


CALLED = """
from srsql.udfs.compiled import njit
@njit()
def called(x):
    return {factor} * x
"""
CALLER = """
import sys
import called
from srsql.udfs import caches, compiled
caches._own_digest = lambda: caches.digest_of(caches.Path(sys.path[0]))
@compiled.njit()
def caller(x):
    return called.called(x)
if __name__ == "__main__":
    print(caller(21))
"""


@pytest.mark.thorough
def test_a_kernel_is_compiled_anew_when_another_module_that_it_calls_changes(
    tmp_path: Path,
) -> None:
    found = []
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    for factor in (2, 2, 3):
        (tmp_path / "called.py").write_text(CALLED.format(factor=factor), encoding="utf-8")
        made = subprocess.run(
            [sys.executable, "-B", str(tmp_path / "caller.py")],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.append(made.stdout)
    assert found == ["42\n", "42\n", "63\n"]


COMPILES = """
from srsql.udfs import caches
told = []
caches.COMPILING.append(told.append)
from srsql.udfs.risk.double import double
print(double(21), told)
"""


@pytest.mark.thorough
@pytest.mark.skipif(
    not hasattr(compiled.caching, "UserProvidedCacheLocator"), reason="numba before 0.62"
)
def test_the_same_sources_at_another_place_compile_nothing(tmp_path: Path) -> None:
    found = []
    for place in ("here", "there"):
        package = tmp_path / place / "srsql"
        shutil.copytree(caches._SOURCES, package / "udfs")
        (package / "__init__.py").touch()
        (package / "udfs" / "risk" / "double.py").write_text(KERNEL, encoding="utf-8")
        made = subprocess.run(
            [sys.executable, "-B", "-P", "-c", COMPILES],
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(package.parent)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.append(made.stdout)
    assert found == ["42 ['double']\n", "42 []\n"]


def test_the_name_of_the_folder_follows_every_module(tmp_path: Path) -> None:
    def digest(**modules: str) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in modules.items():
            file = folder / f"{name.replace('_', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return caches.digest_of(folder)

    first = digest(a="x = 1", b_c="y = 2")
    assert first == digest(b_c="y = 2", a="x = 1")
    others = [
        digest(a="x = 1"),
        digest(a="x = 1", b_c="y = 3"),
        digest(a="x = 1", b_d="y = 2"),
        digest(a="x = 1", b_c="y = 2", e=""),
        digest(a="x = 1\nb/c", b_c="y = 2"),
    ]
    assert len({first, *others}) == 6
    assert caches._own_digest() == caches.digest_of(Path(caches.__file__).parent)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")
def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("kernels") == tmp_path / "srsql" / "kernels"
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    (tmp_path / "srsql" / "kernels").chmod(0o770)
    assert cache_folder("kernels") is None


@pytest.mark.skipif(os.name != "posix", reason="accounts and modes of POSIX")
class TestWhoCanPutSomethingIntoAFolder:
    """What lies in a cache is run, so that it has to be nobody else's."""

    def test_every_folder_on_the_way_counts(self, tmp_path: Path) -> None:
        folder = tmp_path / "a" / "b" / "kernels"
        assert safe_folder(folder) == folder
        assert {each.stat().st_mode & 0o777 for each in (folder, *folder.parents[:2])} == {0o700}
        for place in (folder, *folder.parents[:2]):
            for mode in (0o777, 0o770, 0o702, 0o1777):
                place.chmod(mode)
                sticky_root = mode & 0o1000 and place != folder and os.geteuid() == 0
                assert bool(why_unsafe(folder)) != bool(sticky_root), (place, oct(mode))
            place.chmod(0o755)
        assert why_unsafe(folder) == ""

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_every_owner_on_the_way_counts(self, tmp_path: Path) -> None:
        folder = tmp_path / "a" / "kernels"
        folder.mkdir(parents=True)
        for place in (folder, folder.parent):
            os.chown(place, 65534, 65534)
            assert why_unsafe(folder) == f"{place} is another account's"
            os.chown(place, 0, 0)
        link = tmp_path / "link"
        link.symlink_to(folder)
        assert why_unsafe(link) == ""
        os.chown(link, 65534, 65534, follow_symlinks=False)
        assert why_unsafe(link) == f"{link} is another account's"

    def test_links_are_followed_one_by_one(self, tmp_path: Path) -> None:
        open_to_all = tmp_path / "open"
        (open_to_all / "inner").mkdir(parents=True)
        (tmp_path / "link").symlink_to("open/inner")
        (tmp_path / "twice").symlink_to(tmp_path / "link")
        (tmp_path / "up").symlink_to("open/../open/inner")
        for name in ("link", "twice", "up"):
            assert why_unsafe(tmp_path / name) == ""
        open_to_all.chmod(0o777)
        for name in ("link", "twice", "up"):
            assert why_unsafe(tmp_path / name) == f"others can write {open_to_all}"
        (tmp_path / "round").symlink_to("round")
        assert "leads to itself" in why_unsafe(tmp_path / "round")

    @pytest.mark.parametrize(
        "named", ["XDG_CACHE_HOME", pytest.param("NUMBA_CACHE_DIR", marks=pytest.mark.thorough)]
    )
    def test_a_planted_kernel_is_not_run_and_stays_as_it_was(
        self, tmp_path: Path, named: str
    ) -> None:
        source, caches = tmp_path / "source", tmp_path / "caches"
        source.mkdir()
        caches.mkdir()
        run(source, **{named: str(caches)})
        for index in caches.rglob("*.nbi"):
            head = index.read_bytes().split(b"\n")[0]  # whatever it is, reading it would fail
            index.write_bytes(head + b"planted")
        caches.chmod(0o777)
        left_out = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        before = {path: path.read_bytes() for path in caches.rglob("*") if path.is_file()}
        done = subprocess.run(
            [sys.executable, str(source / "kernel.py")],
            env=kept | {named: str(caches)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.startswith("42 ")
        assert done.stdout.endswith("NullCache\n")
        assert before == {path: path.read_bytes() for path in caches.rglob("*") if path.is_file()}

    def test_what_others_have_put_there_once_is_not_run(self, tmp_path: Path) -> None:
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "kernel.nbi").symlink_to("/dev/null")
        assert caches._trusted(tmp_path / "kept") is None
        assert "others have put" in UNSAFE.pop(str(tmp_path / "kept"))

    def test_why_nothing_is_kept_is_said_once(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(compiled, "kept_in", lambda: None)
        monkeypatch.setattr(compiled, "_said", [])
        monkeypatch.setattr(compiled, "UNSAFE", {"/open": "others can write /open"})
        compiled._say_why()
        compiled._say_why()
        (told,) = caplog.messages
        assert "(others can write /open): set XDG_CACHE_HOME to one that is" in told
        assert "\n" not in told
