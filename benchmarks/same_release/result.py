"""What came of comparing two dumps, and the dumps as they lie in their folders."""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.same_release.documents import TO_TWELVE_DIGITS, differences, leaves
from benchmarks.same_release.masks import masked_text

SHOWN = 8
"""Differences of one document or table that are told."""


@dataclass(frozen=True)
class Side:
    """A dump as it lies in its folder."""

    folder: Path

    def document(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def names(self, where: str) -> list[str]:
        folder = self.folder / where
        found = folder.rglob("*") if folder.is_dir() else ()
        return sorted(str(path.relative_to(folder)) for path in found if path.is_file())

    @property
    def version(self) -> str:
        return str(self.document("scenario.json")["version"])


@dataclass
class Result:
    """What is equal, what differs, and which texts have changed."""

    versions: tuple[str, str]
    """Numbers of the two versions, which are masked in texts."""
    equal: Counter[str] = field(default_factory=Counter)
    """Kind -> how many of that kind are equal."""
    notes: list[str] = field(default_factory=list)
    """What could only be compared without its order or numbers, and why."""
    texts: list[tuple[str, list[str]]] = field(default_factory=list)
    """Name of a text that changed, and its unified diff."""
    failures: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return not self.failures

    def document(self, kind: str, name: str, before: Any, after: Any) -> None:
        """Compare two documents: values must be equal, phrases are listed."""
        found = list(differences(before, after))
        values = [d for d in found if not d.is_text and not d.is_rounding]
        if rounded := sum(d.is_rounding for d in found):
            self.notes.append(
                f"{name}: {rounded} of {', '.join(sorted(TO_TWELVE_DIGITS))} differ behind the "
                "twelfth digit, as they do between two runs of one version"
            )
        if not values:
            self.equal[kind] += 1
            self.equal["values"] += leaves(before) - len(found)
        self.failures += [f"{name}: {difference}" for difference in values[:SHOWN]]
        if len(values) > SHOWN:
            self.failures.append(f"{name}: {len(values) - SHOWN} more values differ")
        for difference in found:
            if difference.is_text:
                pair = str(difference.before), str(difference.after)
                self.text(f"{name} {difference.path}", *pair)

    def text(self, name: str, before: str, after: str, *, html: bool = False) -> None:
        """Compare two texts, without what is masked in them."""
        pair = zip((before, after), self.versions, strict=True)
        one, other = (masked_text(text, version) for text, version in pair)
        if one == other:
            self.equal["texts"] += 1
            return
        if html:  # one element a line, so that a diff says where
            one, other = (re.sub(r">\s*<", ">\n<", text) for text in (one, other))
        figures = [Counter(re.findall(r"\d[\d.,]*", text)) for text in (one, other)]
        note = "" if figures[0] == figures[1] else " (its numbers differ as well)"
        self.texts.append((name + note, unified(one, other)))

    def rows(self, name: str, before: list[Any], after: list[Any]) -> None:
        """Say how the rows of two tables differ that are not the same in the same order."""
        only = Counter(map(repr, before)), Counter(map(repr, after))
        lost, gained = only[0] - only[1], only[1] - only[0]
        if not lost and not gained:
            places = enumerate(zip(before, after, strict=True), 1)
            place = next((i for i, (one, other) in places if one != other), None)
            order = f"the same rows in another order, from line {place} on"
            self.failures.append(f"{name}: {order if place else 'other bytes, the same rows'}")
            return
        told = [f"- {row}" for row in list(lost)[:SHOWN]]
        told += [f"+ {row}" for row in list(gained)[:SHOWN]]
        self.failures.append(
            f"{name}: {lost.total()} of {len(before)} rows only before, "
            f"{gained.total()} of {len(after)} only after\n" + "\n".join(f"      {t}" for t in told)
        )


def unified(before: str, after: str) -> list[str]:
    """A unified diff of two texts, without the names of files."""
    lines = before.splitlines(), after.splitlines()
    return list(difflib.unified_diff(*lines, lineterm="", n=0))[2:]


def records(path: Path) -> list[tuple[str, ...]]:
    """The rows of a CSV file, the header first."""
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row) for row in csv.reader(file)]


def dictionaries(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file by the names of its columns."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
