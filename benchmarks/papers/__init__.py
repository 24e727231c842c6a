"""The claims of the papers, judged on the table of a comparison: ``python -m benchmarks papers``.

``papers FOLDER`` reads ``results.parquet`` of a folder of ``srsql compare``, prints how many claims
hold and writes ``papers.html`` beside it; ``--keep NAME`` keeps each verdict beside those on other
data. ``papers --update`` writes the tables of ``docs/papers.md`` anew, and a test fails while they
are stale.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pyarrow import parquet

from benchmarks.papers import recorded, table
from benchmarks.papers.page import OUTCOMES, judge, page
from srsql.schemas import load_dataset


def command(arguments: Sequence[str]) -> None:
    """Judge a table, or write the page of the docs anew."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks papers", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="of srsql compare")
    parser.add_argument("--dataset", default="faers", help="name or file of the dataset")
    parser.add_argument("--update", action="store_true", help="write docs/papers.md anew")
    parser.add_argument("--keep", metavar="NAME", help="of the data: keep what each claim came to")
    options = parser.parse_args(arguments)
    if options.update == (options.folder is not None):
        parser.error("give the folder of a comparison, or --update")
    if options.update:
        text = table.PAGE.read_text(encoding="utf-8")
        table.PAGE.write_text(table.page(text), encoding="utf-8")
        return
    rows = parquet.read_table(options.folder / "results.parquet").to_pylist()
    if options.keep:
        print(f"kept {recorded.keep(options.keep, rows)} verdicts as {options.keep}")
    quarters = sorted({row["quarter"] for row in rows})
    span = quarters[0] if len(quarters) == 1 else f"{quarters[0]} to {quarters[-1]}"
    counts = Counter(verdict.outcome for *_, verdict in judge(rows))
    print("claims of papers:", ", ".join(f"{counts[name]} {name}" for name in OUTCOMES))
    file = options.folder / "papers.html"
    file.write_text(page(load_dataset(options.dataset), span, rows), encoding="utf-8")
    print(f"wrote {file}")
