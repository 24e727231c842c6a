"""Whole rows of several quarters: who is singled out where one pseudonym joins them.

``python -m benchmarks linked`` releases synthetic quarters twice by each model, with pseudonyms of
each quarter and with ``--link-quarters``, and looks for every case of two quarters or more. The
attacker knows its quasi-identifiers, that it is in these quarters, and every set of at most so many
of its items, each with its quarter. *Linked*: the candidates are the pseudonyms that are candidates
in each of the quarters at once. *Not linked*: each quarter leaves its own, and the fewest count.
*Window* is two consecutive quarters, or all those of the case. Candidates are decided by the
checker of the tests (``tests/oracles``), from released rows and clusters alone. Targets whose own
values left one of their regions exclude themselves and are counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from srsql import Engine
from srsql.engine.extras.synth import quarter_range, synthesize

HEAD = (
    "| model | pseudonyms | window | targets | self-excluded | known items | sets | fewest "
    "| targets below k | share |"
)
Found = dict[int, tuple[int, int, bool]]
"""Known items -> sets, the fewest candidates of any, whether one leaves fewer than k."""


class Quarters:
    """The releases of a series, whose pseudonyms are numbered together."""

    def __init__(self, engine: Engine, quarters: Sequence[str], series: str) -> None:
        from oracles.whole_rows import Candidates
        from support.whole_rows import FAERS, read

        self._read = [
            read(engine, FAERS, quarter, f"release_{series}_{quarter.lower()}", series)
            for quarter in quarters
        ]
        ids = sorted({row.case for shown, _, _ in self._read for row in shown}, key=str)
        numbers = {case: number for number, case in enumerate(ids)}
        self._candidates = [
            Candidates(shown, clusters, numbers) for shown, clusters, _ in self._read
        ]

    def pseudonyms(self, engine: Engine, series: str) -> dict[str, dict[int, Hashable]]:
        """Case -> number of the quarter -> its pseudonym there."""
        of = dict(
            engine.con.execute(
                "SELECT p.pseudonym, p.case_id FROM srsql.id_pseudonym AS p "
                "WHERE p.kind = 'case' AND p.series = ?", [series],
            ).fetchall()
        )  # fmt: skip
        found: dict[str, dict[int, Hashable]] = defaultdict(dict)
        for number, (shown, _, _) in enumerate(self._read):
            for row in shown:
                found[of[row.case]][number] = row.case
        return found

    def fewest(
        self, place: dict[int, Hashable], window: Sequence[int], size: int, k: int, *, linked: bool
    ) -> Found | None:
        """What known items leave of one target; None: it excludes itself."""
        base: dict[int, int] = {}
        items: list[tuple[int, str]] = []
        for number in window:
            ways, held = self._read[number][2][place[number]]
            candidates = self._candidates[number]
            base[number] = candidates.covering(next(iter(ways)))
            if not base[number] & candidates.own[place[number]]:
                return None
            items += [(number, item) for item in sorted(held)]
        together = -1
        for rows in base.values():
            together &= rows
        found: Found = {}
        for count in range(size + 1):
            sets, least = 0, sys.maxsize
            for known in combinations(items, count):
                left = self._left(base, together, known, linked=linked)
                sets, least = sets + 1, min(least, left)
            if sets:
                found[count] = (sets, least, least < k)
        return found

    def _left(
        self, base: dict[int, int], together: int, known: Sequence[tuple[int, str]], *, linked: bool
    ) -> int:
        """Candidates beside these items: of all quarters at once, or of the one with the fewest."""
        by_quarter: dict[int, list[str]] = defaultdict(list)
        for number, item in known:
            by_quarter[number].append(item)
        if linked:
            for number, own in by_quarter.items():
                together &= self._held(number, own)
            return together.bit_count()
        return min(
            (rows & self._held(number, by_quarter[number])).bit_count() if number in by_quarter
            else rows.bit_count()
            for number, rows in base.items()
        )  # fmt: skip

    def _held(self, number: int, items: Sequence[str]) -> int:
        return self._candidates[number].holding(items)


def windows(place: dict[int, Hashable]) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """The quarters of a case that are looked at together."""
    numbers = sorted(place)
    pairs = [(a, b) for a, b in pairwise(numbers) if b == a + 1]
    if pairs:
        yield "two quarters", pairs
    if len(numbers) > 1:
        yield "all of them", [tuple(numbers)]


def rows_of(
    engine: Engine, quarters: Sequence[str], series: str, size: int, k: int, *, linked: bool
) -> Iterator[list[str]]:
    """The rows of the table of one series, but for the model."""
    series_of = Quarters(engine, quarters, series)
    totals: dict[str, dict[int, list[int]]] = defaultdict(dict)
    excluded: dict[str, int] = defaultdict(int)
    targets: dict[str, int] = defaultdict(int)
    for place in series_of.pseudonyms(engine, series).values():
        for name, chosen in windows(place):
            found = [series_of.fewest(place, each, size, k, linked=linked) for each in chosen]
            if None in found:
                excluded[name] += 1
                continue
            targets[name] += 1
            for count in range(size + 1):
                of = [each[count] for each in found if each and count in each]
                total = totals[name].setdefault(count, [0, sys.maxsize, 0])
                total[0] += sum(sets for sets, _, _ in of)
                total[1] = min([total[1], *(least for _, least, _ in of)])
                total[2] += any(below for _, _, below in of)
    for name in sorted(totals, reverse=True):
        for count, (sets, least, below) in totals[name].items():
            yield [
                "linked" if linked else "per quarter", name, f"{targets[name]:,}",
                str(excluded[name]), str(count), f"{sets:,}", str(least), f"{below:,}",
                f"{below / targets[name]:.1%}",
            ]  # fmt: skip


def command(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks linked",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=int, default=3000, help="new cases of a quarter")
    parser.add_argument("--quarters", default="2011Q1:2011Q4", help="A:B")
    parser.add_argument("--after", default="2012Q1", help="the quarter after B")
    parser.add_argument("--models", default="ppms++,ppms-stay", help="names with commas")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=2, help="items that an attacker knows, at most")
    asked = parser.parse_args(arguments)
    first, last = asked.quarters.split(":")
    options: dict[str, Any] = {
        "k": asked.k, "m": asked.m, "terms": "disassociate", "term_attributes": "all", "seed": 1,
        "on_infeasible": "withhold", "allow_linkable": True,
    }  # fmt: skip
    print(HEAD, "|" + " --- |" * (HEAD.count("|") - 1), sep="\n", flush=True)
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    with TemporaryDirectory() as folder:
        archives = synthesize(
            Path(folder) / "q", quarter_range(first, asked.after), cases=asked.cases, seed=1
        )
        with Engine(Path(folder) / "linked.duckdb") as engine:
            engine.ingest(archives)
            for number, model in enumerate(asked.models.split(",")):
                for linked in (False, True):
                    series = f"{'linked' if linked else 'apart'}{number}"
                    link = {"link_quarters": True} if linked else {}
                    engine.release.make_range(
                        asked.quarters, model=model, series=series, **options, **link
                    )
                    for cells in rows_of(
                        engine, quarter_range(first, last), series, asked.m, asked.k, linked=linked
                    ):
                        print(f"| `{model}` | {' | '.join(cells)} |", flush=True)
