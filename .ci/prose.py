"""Checks how the docs read: proselint, words to avoid, and sentences that are too long.

``python .ci/prose.py`` runs proselint (but ``LEFT_OUT``) on what people write of each page, without
code, tables and figures, and holds two counts against ``budgets.toml``: words that the docs avoid
(``AVOIDED``) and sentences of more than ``LONGEST`` words. ``--readability`` prints figures of each
page and of ``--help`` instead, ``--hard N`` the N longest sentences. ARI is the automated
readability index: the years of school that a text asks for, by letters a word and words a sentence;
it needs no dictionary of syllables.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from words import GENERATED, RECORDS, ROOT, TABLE, prose

HERE = Path(__file__).parent
AVOIDED = re.compile(
    r"\b(?:whoever|whomever|nobody|somebody|anybody|no fewer than|what of it|of whom|those who)\b",
    re.IGNORECASE,
)
"""Words in the place of a case, an attacker, an analyst: say who it is."""
LONGEST = 30
LEFT_OUT = re.compile(r": (?:annotations|dates_times|needless_variants|typography)[.:]")
"""Checks of proselint that take code, figures and terms of the field for slips."""
_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>\n]+>|[*_`>]")
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_ITEM = re.compile(r"^ *(?:[*+-]|\d+\.) +", re.MULTILINE)
_END = re.compile(
    r"(?<!\bal[.])(?<!\bFig[.])(?<!\bFigs[.])(?<!\beqs[.])(?<!\beq[.])(?<=[.!?])[\"”)]*\s+|\n{2,}"
)
_WORD = re.compile(r"[^\s]*[^\W\d_][^\s]*")


def plain(page: str) -> str:
    """The sentences of a page: no code, tables, headings or marks."""
    text = TABLE.sub("", prose(page))
    text = _ITEM.sub("\n", _HEADING.sub("\n", text))
    return _MARKS.sub(lambda mark: mark[1] or "", text)


def sentences(text: str) -> list[str]:
    """What ends with a stop, or with a paragraph."""
    found = (" ".join(part.split()) for part in _END.split(text))
    return [each for each in found if len(_WORD.findall(each)) > 1]


def readability(text: str) -> tuple[int, float, float, float]:
    """Sentences, words a sentence, the share of the long ones (20 words), and ARI."""
    of = sentences(text)
    words = [_WORD.findall(each) for each in of]
    number = sum(map(len, words)) or 1
    letters = sum(sum(map(str.isalnum, word)) for each in words for word in each)
    mean = number / max(len(of), 1)
    share = sum(len(each) > 20 for each in words) / max(len(of), 1)
    return len(of), mean, share, 4.71 * letters / number + 0.5 * mean - 21.43


def pages() -> Iterator[tuple[str, str]]:
    """Every page that people write, by its path, as sentences."""
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]):
        if path.name not in GENERATED | RECORDS:
            yield path.relative_to(ROOT).as_posix(), plain(path.read_text(encoding="utf-8"))


def help_text() -> str:
    """What ``--help`` says of every command: its description, and each option's help."""
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    shown = "\n\n".join(re.findall(r"```text\n(.*?)```", page, re.DOTALL))
    shown = re.sub(r"^Usage:.*$|\[default[^\]]*\]|^ +\$? ?srsql .*$", "", shown, flags=re.MULTILINE)
    joined = re.sub(r"\n {12,}(?=\S)", " ", shown)
    return re.sub(r"^ +-.*?(?: {2,}|$)", "\n\n", joined, flags=re.MULTILINE)


def proselint(texts: dict[str, str]) -> list[str]:
    """What it finds in the sentences of all pages, by page."""
    with tempfile.TemporaryDirectory() as folder:
        for page, text in texts.items():
            Path(folder, page.replace("/", "-")).write_text(text, encoding="utf-8")
        command = ["proselint", "check", folder]
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
    if ran.returncode and not ran.stdout:
        raise SystemExit(f"proselint did not run: {ran.stderr.strip()}")
    lines = [line.removeprefix(f"{folder}/") for line in ran.stdout.splitlines()]
    return [line for line in lines if line and not LEFT_OUT.search(line)]


def main() -> int:
    """1 if a count is above its budget, or proselint finds something."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--readability", action="store_true", help="print figures of each page")
    parser.add_argument("--hard", type=int, default=0, help="print the longest sentences")
    options = parser.parse_args()
    texts = dict(pages())
    of_all = [
        (len(_WORD.findall(each)), page, each)
        for page, text in texts.items()
        for each in sentences(text)
    ]
    for length, page, sentence in sorted(of_all, reverse=True)[: options.hard]:
        print(f"{page}, {length} words: {sentence}")
    if options.readability:
        print("sentences  words each  over 20 words    ARI")
        for page, text in {**texts, "--help": help_text()}.items():
            number, mean, share, index = readability(text)
            print(f"{number:>9}  {mean:>10.1f}  {share:>13.0%}  {index:>5.1f}  {page}")
    if options.readability or options.hard:
        return 0
    limits = tomllib.loads((HERE / "budgets.toml").read_text(encoding="utf-8"))["prose"]
    found = {
        "avoided-words": sum(len(AVOIDED.findall(text)) for text in texts.values()),
        "long-sentences": sum(length > LONGEST for length, _, _ in of_all),
    }
    above = 0
    for name, value in found.items():
        over = value > limits[name]
        print(f"{value:>6}  {name}  (budget {limits[name]}{', ABOVE IT' if over else ''})")
        above += over
    found_by_proselint = proselint(texts)
    print(*found_by_proselint, sep="\n", end="\n" if found_by_proselint else "")
    return 1 if found_by_proselint or above else 0


if __name__ == "__main__":
    sys.exit(main())
