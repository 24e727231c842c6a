"""What whole rows that are taken apart are still good for: size of clusters, k and m against use.

``python -m benchmarks frontier --source FILE --quarter 2022Q4`` releases one quarter again and
again, and prints of each release

* *a*, *PRR*: the median ratio of released (expected) to original, of the pairs of a drug and a
  reaction that three original cases or more;
* *MHRA*, *EB05*: how many pairs meet the criterion at their original counts; the share of them that
  does at the expected ones, and how many others do;
* *ARE*: the average relative error of counts of sets of terms (W1: frequent ones, W2: random ones
  that some record holds);
* *below k*, *told*: cases for which some two known items leave fewer than k candidates, or let a
  further value follow with certainty;
* *seconds* of processor time.

They are measured as ``srsql advise --terms`` measures them
(``engine/extras/study/row_settings.py``). Of rows left whole, which come first, all but ARE is
measured as well. ``--grid`` measures every combination of k, size and m instead of each by turns
around the middle, and ``--svg FILE`` draws what was measured. ``--with-drugs`` leaves out reports
of which the source has no drug, as in samples that were cut.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from srsql import Engine
from srsql.engine.extras.study.row_settings import CRITERIA, MODEL, RowSetting, row_setting
from srsql.engine.extras.study.worker import row_figures
from srsql.engine.store.statements import dotted

HEAD = (
    "| k | cases of a cluster | m | a | PRR | MHRA kept | others | EB05 kept | others | ARE W1 | "
    "ARE W2 | below k | told | seconds |"
)


@dataclass(frozen=True)
class Setting:
    """One release; without a size its rows stay whole."""

    k: int
    cases: int | None = None
    m: int = 2

    @property
    def options(self) -> dict[str, Any]:
        """What ``Engine.release.make`` is asked."""
        found = {"model": MODEL, "k": self.k, "seed": 1, "on_infeasible": "withhold"}
        apart = {"terms": "disassociate", "term_attributes": "all", "m": self.m}
        return found if self.cases is None else found | apart | {"term_cases": self.cases}


def settings(
    ks: Sequence[int], sizes: Sequence[int], ms: Sequence[int], *, grid: bool = False
) -> Iterator[Setting]:
    """Whole rows; then each of k, size and m by turns, the others in the middle of their lists.

    ``grid``: whole rows of each k, then every combination.
    """
    if grid:
        yield from map(Setting, ks)
        yield from (Setting(k, size * k, m) for k, size, m in product(ks, sizes, ms))
        return
    k, size, m = (numbers[len(numbers) // 2] for numbers in (ks, sizes, ms))
    yield Setting(k)
    seen = set()
    for setting in (
        *(Setting(each, size * each, m) for each in ks),
        *(Setting(k, each * k, m) for each in sizes),
        *(Setting(k, size * k, each) for each in ms),
    ):
        if setting not in seen:
            seen.add(setting)
            yield setting


def prepare(source: Path, name: str | None, target: Path, *, with_drugs: bool) -> None:
    """A warehouse with the quarters of a source."""
    with Engine(target) as engine:
        engine.ingest(
            [source], allow_incomplete=True, **({} if name is None else {"dataset": name})
        )
        if not with_drugs:
            return
        dataset = engine.dataset(name)
        assert dataset.signals is not None
        schema, report = f"raw_{dataset.name}", dataset.report_id
        known = f"SELECT d.{report} FROM {dotted(schema, dataset.signals.drug_table)} AS d"
        for table in (dataset.report_table, *(child.name for child in dataset.child_tables)):
            engine.con.execute(
                f"DELETE FROM {dotted(schema, table)} AS t WHERE t.{report} NOT IN ({known})"
            )


def measured(source: Path, name: str | None, quarter: str, setting: Setting) -> RowSetting:
    """What one release measures; its seconds are those of processors, of all that is measured."""
    with TemporaryDirectory() as folder:
        path = Path(shutil.copy(source, Path(folder) / "frontier.duckdb"))
        with Engine(path, dataset=name) as engine:
            began = process_time()
            rows = row_figures(engine, quarter, setting.options, lambda _: None)
            return replace(row_setting(setting.options, rows), seconds=process_time() - began)


def cells(one: RowSetting) -> Iterator[str]:
    """Those of ``HEAD``."""
    whole = one.term_cases is None
    yield from (str(one.k), "whole rows" if whole else str(one.term_cases))
    yield "" if whole else str(one.m)
    for ratio in (one.a_ratio, one.prr_ratio):
        yield "-" if ratio is None else f"{ratio:.2f}"
    for criterion in CRITERIA:
        before, kept, others = (
            getattr(one, f"{criterion}_{name}") or 0 for name in ("before", "kept", "others")
        )
        share = one.share(criterion)
        yield f"{kept:,} of {before:,}" + ("" if share is None else f" ({share:.0%})")
        yield f"{others:,}"
    for error in (one.are_w1, one.are_w2):
        yield "" if error is None else f"{error:.3f}"
    for ratio in (one.below_k, one.follows):
        yield "" if ratio is None else f"{ratio:.1%}"
    yield f"{one.seconds or 0:.0f}"


def command(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks frontier", description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="an archive of the quarter")
    parser.add_argument("--quarter", required=True)
    parser.add_argument("--dataset", help="of the source; default: faers")
    parser.add_argument("--with-drugs", action="store_true", help="only reports with a drug")
    parser.add_argument("--grid", action="store_true", help="every combination of k, size and m")
    parser.add_argument("--svg", type=Path, help="file of the figure that is to be drawn")
    for name, usual in (("k", "3,5,10"), ("size", "2,4,8"), ("m", "1,2,3")):
        help_text = (
            "cases of a cluster, in multiples of k" if name == "size" else f"values of {name}"
        )
        parser.add_argument(f"--{name}", default=usual, help=f"{help_text} ({usual})")
    asked = parser.parse_args(arguments)
    lists = [[int(each) for each in getattr(asked, n).split(",")] for n in ("k", "size", "m")]
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source.duckdb"
        prepare(asked.source, asked.dataset, source, with_drugs=asked.with_drugs)
        print(HEAD)
        print("| --- " * (HEAD.count("|") - 1) + "|", flush=True)
        found = []
        for setting in settings(*lists, grid=asked.grid):
            found.append(measured(source, asked.dataset, asked.quarter, setting))
            print(f"| {found[-1].error or ' | '.join(cells(found[-1]))} |", flush=True)
    if asked.svg is not None:
        from srsql.engine.extras.study.compare_page import draw_rows  # brings matplotlib

        asked.svg.write_bytes(draw_rows(found).svg_file())
