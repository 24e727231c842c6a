"""The README is short, and tells what is protected, what is not, and measured figures."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURED = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
WALK = (ROOT / "docs" / "walkthrough.md").read_text(encoding="utf-8")
INSTALLING = re.compile(r"^    python3 -m venv .*$", re.MULTILINE)


def table(text: str, head: str) -> dict[str, list[str]]:
    """Name -> cells of the table whose first line begins so."""
    lines = text[text.index(f"\n| {head}") + 1 :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: cells for name, *cells in rows}


def test_it_says_what_it_is_how_to_try_it_for_whom_and_what_it_does_not_protect_in_this_order() -> (
    None
):
    places = [
        README.index(words)
        for words in (
            "match at least *k* cases",
            "    python3 -m venv",
            "](docs/attack.svg)",
            "\n## Who it is for\n",
            "\n## What it protects\n",
            "\n## What it does not protect\n",
            "\n## Beside other anonymizers\n",
        )
    ]
    assert places == sorted(places)
    assert len(README.split()) <= 900


def test_two_commands_install_it() -> None:
    demo, tests = INSTALLING.findall(README)
    assert demo.endswith("&& .venv/bin/srsql demo")
    assert tests.endswith("&& .venv/bin/pytest -n 2")


def test_what_the_demo_prints_is_what_the_walk_through_runs() -> None:
    shown = README.split("```text\n")[1].split("```")[0]
    printed = WALK.split("$ srsql demo srsql-demo\n")[1].split("```")[0]
    assert shown in printed


def test_the_losses_of_other_anonymizers_are_the_measured_ones() -> None:
    measured = table(MEASURED, "loss, k = 5")
    sizes = measured["loss, k = 5"]
    shown = table(README, "loss")
    columns = [sizes.index(size) for size in ("10,000", "100,000", "2,958", "30,317")]
    assert [size.split()[0] for size in shown.pop("loss")] == [sizes[place] for place in columns]
    del shown["---"]
    assert shown == {name: [measured[name][place] for place in columns] for name in shown}
    assert len(shown) == 6


def test_the_shares_of_a_real_release_are_the_measured_ones() -> None:
    told = " ".join(README.split())
    (lost,) = re.findall(r"lose (\S+ %) of their detail", told)
    (alone,) = re.findall(r"single case for (\S+ %) of those", told)
    assert f"lost {lost} of the detail of age, weight and sex (NIL)" in MEASURED
    measured = table(MEASURED, "share of the cases that have such items")
    assert measured["one candidate, worst 2 drugs or terms"][0].split(" (")[0] == alone


def test_rows_and_count_tables_have_the_measured_figures() -> None:
    shown = table(README, "first 8,905 cases of 2022Q4, *k* = 5")
    (rows,) = (cells for name, cells in shown.items() if name.startswith("rows"))
    (counts,) = (cells for name, cells in shown.items() if name.startswith("count tables"))
    measured = table(MEASURED, "`srsql release --quarter 2022Q4 …`")
    by_rows, by_counts = measured["`--k 5`"], measured["`--k 5 --terms tables`"]
    assert rows[0] == f"{float(by_rows[0].removesuffix(' %')):.0f} % of cases"
    assert (counts[0], by_counts[0].split()[0]) == ("0 %", "0")
    for cells, (_, signals, kept, ratio) in ((rows, by_rows), (counts, by_counts)):
        share = int(kept.replace(",", "")) / int(signals.replace(",", ""))
        assert cells[1].split(",")[0] == f"{share:.0%}".replace("%", " %")
        assert ratio.split()[0] == "1"
