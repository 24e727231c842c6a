"""Decisions can be cited: pages by their number, and what they gather by the numbers of before."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "decisions.md"
FOLDER = ROOT / "docs" / "decisions"
ARCHIVE = FOLDER / "archive.md"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path != ARCHIVE)
ENTRY = re.compile(r"^\* D(\d+), (\d{4}-\d{2}-\d{2})\. \S")
NUMBER = re.compile(r"\bD([1-9]\d{0,2})\b")
LAST_OF_BEFORE = 440


def test_every_entry_of_the_archive_has_a_number_of_its_own_and_a_date() -> None:
    lines = [line for line in ARCHIVE.read_text(encoding="utf-8").splitlines() if line[:2] == "* "]
    found = [ENTRY.match(line) for line in lines]
    without = [line for line, match in zip(lines, found, strict=True) if match is None]
    assert without == []
    numbers = sorted(int(match[1]) for match in found if match)
    assert numbers == list(range(1, LAST_OF_BEFORE + 1))
    assert all(date.fromisoformat(match[2]) for match in found if match)


def test_pages_are_numbered_without_a_gap_and_listed_with_what_they_gather() -> None:
    assert [int(page.name[:4]) for page in PAGES] == list(range(1, len(PAGES) + 1))
    listed = re.findall(
        r"^\| \[(\d{4})\]\(decisions/(\S+)\) \| (.+) \| (.*) \|$",
        INDEX.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert [name for _, name, _, _ in listed] == [page.name for page in PAGES]
    for page, (number, _, title, gathered) in zip(PAGES, listed, strict=True):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(number)}. {title}\n")
        status = text.split("## Status\n")[1].split("\n## ")[0]
        assert NUMBER.findall(status) == NUMBER.findall(gathered)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_has_the_usual_parts_and_is_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["Status", "Context", "Decision", "Consequences"]
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    assert 100 < len(prose.split()) <= 350


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_files_and_numbers_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert all(int(number) <= LAST_OF_BEFORE for number in NUMBER.findall(text))
    for named in re.findall(r"`([\w.]+(?:/[\w.]+)+/?)`", text):
        places = (
            ROOT / named,
            ROOT / "engine" / named,
            ROOT / "engine/extras/verifier_page" / named,
        )
        assert any(place.exists() for place in places), named
