"""The README's first screen tells what is protected, what is not, and measured figures."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
FIRST_SCREEN = README.partition("    python3 -m venv")[0]


def table(text: str, head: str) -> dict[str, list[str]]:
    """Name -> cells of the table whose first line begins so."""
    lines = text[text.index(f"\n| {head}") + 1 :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: cells for name, *cells in rows}


def test_what_is_protected_and_what_is_not_stands_before_the_commands() -> None:
    places = [
        FIRST_SCREEN.index(words)
        for words in (
            "lead to no fewer than *k* cases",
            "**What it does not protect.**",
            "](docs/attack.svg)",
            "**Beside other anonymizers**",
        )
    ]
    assert places == sorted(places)


def test_the_losses_of_other_anonymizers_are_the_measured_ones() -> None:
    measured = table(MODELS, "loss, k = 5")
    sizes = measured["loss, k = 5"]
    shown = table(FIRST_SCREEN, "loss")
    columns = [sizes.index(size) for size in ("10,000", "100,000", "2,958", "30,317")]
    assert [size.split()[0] for size in shown.pop("loss")] == [sizes[place] for place in columns]
    del shown["---"]
    assert shown == {name: [measured[name][place] for place in columns] for name in shown}
    assert len(shown) == 6


def test_the_shares_of_a_real_release_are_the_measured_ones() -> None:
    told = " ".join(FIRST_SCREEN.split())
    (lost,) = re.findall(r"give up (\S+ %) of the detail", told)
    (alone,) = re.findall(r"single case for (\S+ %) of those", told)
    assert f"lost {lost} of the detail of age, weight and sex (NIL)" in MODELS
    measured = table(MODELS, "share of the cases that have such items")
    assert measured["one candidate, worst 2 drugs or terms"][0].split(" (")[0] == alone
