"""Links between pages lead somewhere on a code host; those of the site are proved by its build."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "docs").rglob("*.ipynb"),
    *(
        path
        for kind in ("*.md", "*.ipynb", "*.qmd")
        for path in (ROOT / "integrations").rglob(kind)
    ),
]
CODE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@cache
def prose(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return CODE.sub("", text)


@cache
def anchors(page: Path) -> set[str]:
    """Of its headings, as code hosts make them: lower case, hyphens, no punctuation."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(page)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = sum(
            re.fullmatch(re.escape(anchor) + r"(-\d+)?", other) is not None for other in found
        )
        found.add(f"{anchor}-{again}" if again else anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_files_and_headings_of_the_project_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(prose(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        found = (page.parent / target).resolve() if target else page
        assert found.exists(), target
        assert found.is_relative_to(ROOT), target
        if anchor and found.suffix in {".md", ".ipynb"}:
            assert anchor in anchors(found), f"{target}#{anchor}"
