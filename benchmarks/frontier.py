"""What whole rows that are taken apart are still good for: size of clusters, k and m against use.

``python -m benchmarks frontier --source FILE --quarter 2022Q4`` releases one quarter again and
again, and prints of each release

* *a*, *PRR*: the median ratio of released (expected) to original, of the pairs of a drug and a
  reaction that three original cases have or more;
* *MHRA*, *EB05*: how many pairs meet the criterion at their original counts; the share of them that
  does at the expected ones, and how many others do;
* *ARE*: the average relative error of counts of sets of terms (W1: frequent ones, W2: random ones
  that some record holds);
* *below k*, *told*: cases for which some two known items leave fewer than k candidates, or let a
  further value follow with certainty;
* *seconds* of processor time.

Of the first release, of the same model with its rows whole, all but ARE is measured as well.
``--with-drugs`` leaves out reports of which the source has no drug, as in samples that were cut.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from srsql import Engine
from srsql.engine.signals.results import Measures, Signal
from srsql.engine.warehouse.statements import dotted

HEAD = (
    "| k | cases of a cluster | m | a | PRR | MHRA kept | others | EB05 kept | others | ARE W1 | "
    "ARE W2 | below k | told | seconds |"
)
BELOW, TOLD = "candidates_below_k", "certain_term"
TWO = "2 of the drugs or terms, worst"
W1, W2 = "W1, 5 %", "W2 held, all"


@dataclass(frozen=True)
class Setting:
    """One release; without a size its rows stay whole."""

    k: int
    cases: int | None = None
    m: int = 2

    @property
    def options(self) -> dict[str, Any]:
        """What ``Engine.release`` is asked."""
        apart = {"terms": "disassociate", "term_attributes": "all", "m": self.m}
        return {} if self.cases is None else {**apart, "term_cases": self.cases}


def settings(ks: Sequence[int], sizes: Sequence[int], ms: Sequence[int]) -> Iterator[Setting]:
    """Whole rows; then each of k, size and m by turns, the others in the middle of their lists."""
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


@dataclass(frozen=True)
class Kept:
    """What became of the pairs that meet a criterion, judged at expected counts."""

    before: int
    kept: int
    others: int

    @classmethod
    def of(cls, signals: Sequence[Signal], criterion: str) -> Kept:
        """Of all pairs of three original cases or more."""
        found = [(meets(s.original, criterion), meets(s.released, criterion)) for s in signals]
        before = sum(was for was, _ in found)
        both = sum(was and now for was, now in found)
        return cls(before, both, sum(now for _, now in found) - both)


def meets(measures: Measures | None, criterion: str) -> bool:
    """Whether a table of expected counts meets the criterion, as one of whole cases would."""
    assert measures is not None
    if criterion == "eb05":
        return (measures.eb05 or 0) >= 2
    prr, chi2 = measures.prr or 0, measures.chi2 or 0
    return prr >= 2 and measures.a >= 3 and chi2 >= 4


def prepare(source: Path, name: str | None, target: Path, *, with_drugs: bool) -> None:
    """A warehouse with the quarters of a source."""
    with Engine(target) as engine:
        engine.ingest([source], **({} if name is None else {"dataset": name}))
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


def measured(source: Path, name: str | None, quarter: str, setting: Setting) -> list[str]:
    """The cells of one row."""
    with TemporaryDirectory() as folder:
        path = Path(shutil.copy(source, Path(folder) / "frontier.duckdb"))
        with Engine(path) as engine:
            began = process_time()
            engine.release(
                quarter, model="ms", k=setting.k, seed=1, on_infeasible="withhold", dataset=name,
                **setting.options,
            )  # fmt: skip
            seconds = process_time() - began
            roles = ["all"] if engine.dataset(name).signals.role else None  # type: ignore[union-attr]
            found = engine.signals(every_pair=True, quarter=quarter, roles=roles, dataset=name)
            told = {
                (row.measure, row.scope): row.ratio for row in engine.metrics(quarter, dataset=name)
            }
    return [*cells(setting, found.signals, told), f"{seconds:.0f}"]


def cells(
    setting: Setting, signals: Sequence[Signal], told: Mapping[tuple[str, str], float | None]
) -> Iterator[str]:
    """Those of ``HEAD`` up to the seconds."""
    biases = [s.bias for s in signals if s.bias is not None]
    whole = setting.cases is None
    yield from (str(setting.k), "whole rows" if whole else str(setting.cases))
    yield "" if whole else str(setting.m)
    for values in ([b.a_bias for b in biases], [b.prr_bias for b in biases]):
        known = [value for value in values if value is not None]
        yield f"{median(known):.2f}" if known else "-"
    for criterion in ("mhra", "eb05"):
        kept = Kept.of(signals, criterion)
        share = f" ({kept.kept / kept.before:.0%})" if kept.before else ""
        yield f"{kept.kept:,} of {kept.before:,}{share}"
        yield f"{kept.others:,}"
    for key in (("are", W1), ("are", W2)):
        error = told.get(key)
        yield "" if error is None else f"{error:.3f}"
    for measure in (BELOW, TOLD):
        ratio = told.get((measure, TWO))
        yield "" if ratio is None else f"{ratio:.1%}"


def command(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks frontier", description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="an archive of the quarter")
    parser.add_argument("--quarter", required=True)
    parser.add_argument("--dataset", help="of the source; default: faers")
    parser.add_argument("--with-drugs", action="store_true", help="only reports with a drug")
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
        for setting in settings(*lists):
            row = measured(source, asked.dataset, asked.quarter, setting)
            print(f"| {' | '.join(row)} |", flush=True)
