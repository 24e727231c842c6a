"""Runs the notebooks from top to bottom, each in an empty folder, and compares what they print.

``python docs/run_notebooks.py [NOTEBOOK…]`` checks, ``--update`` writes the actual outputs into the
notebooks. It takes nbclient and ipykernel, and for the notebook of JupySQL jupysql; what is kept of
an output is its text.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NOTEBOOKS = tuple(HERE / "notebooks" / f"{who}.ipynb" for who in ("analyst", "auditor", "steward"))


def run(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The notebook with what its cells print when they are run in the folder."""
    import nbformat
    from nbclient import NotebookClient

    node = nbformat.reads(json.dumps(notebook), as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        node, timeout=600, record_timing=False, resources={"metadata": {"path": str(folder)}}
    )
    done: dict[str, Any] = json.loads(nbformat.writes(client.execute()))  # type: ignore[no-untyped-call]
    for cell, before in zip(done["cells"], notebook["cells"], strict=True):
        if cell["cell_type"] == "code":
            before["outputs"] = [kept for output in cell["outputs"] for kept in as_text(output)]
            before["execution_count"] = cell["execution_count"]
    return notebook


def as_text(output: dict[str, Any]) -> list[dict[str, Any]]:
    """What is kept of an output: text that was printed or that stands for a result."""
    if output["output_type"] == "stream":
        return [output] if output["name"] == "stdout" else []
    text = output.get("data", {}).get("text/plain")
    return [output | {"data": {"text/plain": text}, "metadata": {}}] if text else []


def main(arguments: list[str]) -> int:
    """Check or update the notebooks; the number of those that differ."""
    update = "--update" in arguments
    paths = [Path(a) for a in arguments if a != "--update"] or list(NOTEBOOKS)
    differing = 0
    for path in paths:
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory(prefix="srsql-notebook-") as folder:
            done = run(json.loads(before), Path(folder))
        after = json.dumps(done, indent=1, ensure_ascii=False) + "\n"
        if after != before and update:
            path.write_text(after, encoding="utf-8")
        elif after != before:
            print(f"{path.name} shows something else than what comes out", file=sys.stderr)
            for cell in different(json.loads(before), done):
                print(cell, file=sys.stderr)
            differing += 1
    return differing


def different(shown: dict[str, Any], done: dict[str, Any]) -> list[str]:
    """The cells that print something else, with what came out."""
    return [
        f"{''.join(after['source'])}\n-> {json.dumps(after['outputs'], ensure_ascii=False)}"
        for before, after in zip(shown["cells"], done["cells"], strict=True)
        if before.get("outputs") != after.get("outputs")
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
