"""sqlfluff on the SQL files that it has not passed before, in this version and by these rules.

Usage: python .ci/lint_sql.py FOLDER

FOLDER keeps an empty file for each that passed, called by the digest of its text, of the rules and
of the version. What is said of a file depends on nothing else, so that a clone may be given the
folder of another.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
SQL = ("sql_macros", "schemas")


def main(folder: Path) -> int:
    """Exit code of sqlfluff; what passed is not looked at another time."""
    settings = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))
    rules = json.dumps([version("sqlfluff"), settings["tool"]["sqlfluff"]], sort_keys=True)
    files = [path for name in SQL for path in sorted((HOUSE / name).rglob("*.sql"))]
    passed = {path: folder / digest(rules, path) for path in files}
    left = [path for path in files if not passed[path].exists()]
    print(f"{len(left)} of {len(files)} SQL files were not looked at before", flush=True)
    if not left:
        return 0
    names = [str(path.relative_to(HOUSE)) for path in left]
    ended = subprocess.run(["sqlfluff", "lint", "-p", "2", *names], cwd=HOUSE).returncode
    if ended == 0:
        folder.mkdir(parents=True, exist_ok=True)
        for path in left:
            passed[path].touch()
    return ended


def digest(rules: str, path: Path) -> str:
    """What a file is known by that passed; ``rules``: by which."""
    return hashlib.sha256(rules.encode() + b"\0" + path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
