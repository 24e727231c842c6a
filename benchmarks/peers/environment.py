"""Where the peers are: an interpreter, made once in a cache folder of its own, and ARX."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
OVERRIDE = "SRSQL_PEERS_PYTHON"
"""Environment variable: the path of an interpreter that has the requirements already."""
PROBE = "import anjana, anonypy, anonypyx, pycanon"
ARX = "SRSQL_ARX_JAR"
"""Environment variable: the class path of ARX, which no package index has: its jar, as a rule."""
DRIVER = Path(__file__).with_name("Arx.java")


class UnavailableError(Exception):
    """The peers cannot be had; one line says why."""


def interpreter() -> Path:
    """The interpreter with the peers, after installing them where that was not done yet."""
    given = os.environ.get(OVERRIDE)
    if given:
        return _probed(Path(given), f"{OVERRIDE}={given}")
    folder = cache_folder()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    finished = folder / "installed"
    if not finished.exists():
        print(f"installing the peers into {folder} (once)", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        _install(python)
        finished.touch()
    return _probed(python, str(folder))


def arx(memory_mib: int) -> list[str]:
    """How ARX is started, but for the arguments of one run; needs a JDK, 11 or later."""
    given, java = os.environ.get(ARX), shutil.which("java")
    if not given:
        raise UnavailableError(f"{ARX} does not name its jar")
    if java is None:
        raise UnavailableError("there is no java on PATH")
    command = [java, f"-Xmx{memory_mib}m", "-cp", given, str(DRIVER)]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode:
        why = (found.stderr.strip().splitlines() or [f"exit {found.returncode}"])[0]
        raise UnavailableError(f"{ARX}={given}: {why}")
    return command


def cache_folder() -> Path:
    """Another list of requirements is another folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    mark = f"{sys.version_info[:2]}".encode() + REQUIREMENTS.read_bytes()
    return home / "srsql" / f"peers-{hashlib.sha256(mark).hexdigest()[:12]}"


def _install(python: Path) -> None:
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    # nothing is built from source: a Python too new for their pins fails at once, not after a build
    command += ["--only-binary", ":all:", "-r", REQUIREMENTS]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        lines = [line for line in made.stderr.splitlines() if line.startswith("ERROR")]
        raise UnavailableError((lines or made.stderr.splitlines() or ["pip failed"])[-1])


def _probed(python: Path, named: str) -> Path:
    try:
        found = subprocess.run([python, "-c", PROBE], capture_output=True, text=True)
    except OSError as error:
        raise UnavailableError(f"{named}: {error}") from None
    if found.returncode:
        raise UnavailableError(f"{named}: {(found.stderr.splitlines() or ['no peers'])[-1]}")
    return python
