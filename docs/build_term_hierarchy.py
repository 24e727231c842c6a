"""Adds the words of synthetic quarters to ``schemas/hierarchies/terms.csv``.

The chapters above them in the file are written by hand: plain words of reports in a grouping of our
own, which anybody may use for anything (CC0). Those of synthetic series follow from
``engine/extras/synth/vocabulary.py``: a section for each ending, a category for each ending and
initial.
Run ``python docs/build_term_hierarchy.py`` after a change there; a test fails while the file is
stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from srsql.engine.extras.synth.vocabulary import RULE_REACTIONS, indications, reactions

FILE = Path(__file__).parents[1] / "schemas" / "hierarchies" / "terms.csv"
FREQUENT = 900
"""So many of the most frequent reactions, and of the indications."""
ROOT = "Any term"
CHAPTERS = {
    "inflammation": ("itis", "osis", "oedema"),
    "pain": ("algia", "spasm", "plegia"),
    "blood": ("aemia", "penia", "rrhoea"),
    "growth": ("oma", "trophy", "pathy"),
    "narrowing": ("stenosis", "sclerosis", "ectasis"),
    "function": ("uria", "phagia", "lysis"),
}
"""Of invented words, by what their endings would mean."""
FIRST = "Invented words of"


def lines(kept: list[str]) -> list[str]:
    """The file: what is written by hand, then what follows from the vocabulary."""
    by_hand = [line for line in kept if FIRST not in line and not _is_invented(line)]
    return [*by_hand, *(f"{node},{parent}" for node, parent in _nodes())]


def _is_invented(line: str) -> bool:
    return line.rpartition(",")[2].startswith("-")


def _nodes() -> Iterator[tuple[str, str]]:
    """Rows (node, parent); a category is called by ending and initial, as in ``-itis b``."""
    words = dict.fromkeys([*reactions().words[:FREQUENT], *indications().words[:FREQUENT]])
    terms = [word for word in words if word not in RULE_REACTIONS]
    for chapter, endings in CHAPTERS.items():
        yield f"{FIRST} {chapter}", ROOT
        for ending in endings:
            yield f"{FIRST} {chapter}: -{ending}", f"{FIRST} {chapter}"
            mine = [term for term in terms if _ending(term) == ending]
            for initial in sorted({term[0].lower() for term in mine}):
                yield f"-{ending} {initial}", f"{FIRST} {chapter}: -{ending}"
                for term in sorted(term for term in mine if term[0].lower() == initial):
                    yield term, f"-{ending} {initial}"


def _ending(term: str) -> str:
    """The longest ending of the first word of an invented term."""
    known = [ending for listed in CHAPTERS.values() for ending in listed]
    return max((e for e in known if term.split()[0].endswith(e)), key=len, default="")


if __name__ == "__main__":
    text = FILE.read_text(encoding="utf-8").splitlines()
    FILE.write_text("\n".join(lines(text)) + "\n", encoding="utf-8")
