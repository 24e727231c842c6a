"""Draws the frontier of whole rows: docs/frontier-2022q4.svg, and those beside it.

``python docs/build_frontier.py`` draws the tables of docs/measurements.md that ``python -m
benchmarks frontier`` printed, as that command with ``--svg FILE`` draws what it has just measured.
A test fails where a figure says another thing than its table.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from srsql.engine.extras.study.compare_page import draw_rows
from srsql.engine.extras.study.row_settings import RowSetting
from srsql.engine.report.drawing import Image

DOCS = Path(__file__).parent
PAGE = DOCS / "measurements.md"
FIGURES = {
    "frontier-2022q4.svg": "2022Q4, the 887 reports with drugs",
    "frontier-vaers2004.svg": "VAERS 2004 (15,330 reports",
    "frontier-vaers2005.svg": "VAERS 2005 (15,587 reports",
    "frontier-vaers2006.svg": "VAERS 2006 (17,332 reports",
    "frontier-2011q4.svg": "Synthetic 2011Q4 at scale 0.24",
}
"""File -> how the line above its table begins."""
NONE = "–"


def settings(page: str, line: str) -> Iterator[RowSetting]:
    """The rows of the table after a line of the page.

    Raises:
        SystemExit: there is no such table.
    """
    _, found, after = page.partition(f"\n{line}")
    rows = [text for text in after.split("\n\n")[1].splitlines() if text] if found else []
    if not rows or not rows[0].startswith("| k | cases of a cluster | m |"):
        raise SystemExit(f"{PAGE.name} has no table of a frontier after {line!r}")
    for row in rows[2:]:
        cells = dict(zip(_cells(rows[0]), _cells(row), strict=True))
        size = cells["cases of a cluster"]
        whole = size == "whole rows"
        (mhra, mhra_before), (eb05, eb05_before) = (
            [int(part.replace(",", "")) for part in cells[name].split(" (")[0].split(" of ")]
            for name in ("MHRA kept", "EB05 kept")
        )
        yield RowSetting(
            label="",
            k=int(cells["k"]),
            term_cases=None if whole else int(size),
            m=None if cells["m"] == NONE else int(cells["m"]),
            mhra_before=mhra_before,
            mhra_kept=mhra,
            eb05_before=eb05_before,
            eb05_kept=eb05,
            below_k=float(cells["below k"].removesuffix("%")) / 100,
        )


def _cells(row: str) -> list[str]:
    """Of a row of a table; both columns *others* have one name, of which the last one stays."""
    return [cell.strip() for cell in row.strip("|").split("|")]


def drawn(file: str) -> Image:
    """One of the figures."""
    return draw_rows(list(settings(PAGE.read_text(encoding="utf-8"), FIGURES[file])))


def main() -> int:
    """Write them."""
    for file in FIGURES:
        (DOCS / file).write_bytes(drawn(file).svg_file())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
