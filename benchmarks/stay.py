"""The price of withstanding persistence: loss, withheld cases and danger of the periodical models.

Each model releases the same quarters, anew for every k. NIL is that of all released cases together;
withheld is the share of cases of the quarters; DIR is the share of groups that B, F and L leave
with fewer than k cases or too much of a value, at scope = match and group (the greater one), DIR_P
the same with persistence (docs/decisions.md, D286), of each scope; targets that their own values
exclude are counted apart. Seconds are those of the processor for the releases.

Beside what is withheld stands what *any* algorithm would have to withhold (``least_withheld``): for
the other models, the quarters that have fewer than k cases; for ``ppms-stay`` those who go on from
one quarter to the next as well, where they are fewer than k.

``--windows`` tells instead what an attacker who knows of two, or of three, consecutive quarters
whether the target is released in each would cost, if the releases as they are were repaired by
withholding.

The quarters are synthetic, at a scale of the real ones, or those of a warehouse that is given,
which is copied and not changed.
"""

from __future__ import annotations

import argparse
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from srsql import Engine
from srsql.engine.extras.synth import quarter_range, synthesize

MODELS = ("ppms", "ppms-ear", "ppms++", "ppms-alpha", "ppms-stay")
HEAD = (
    "| k | model | NIL | beside ppms++ | withheld | at least | DIR | DIR_P, group | DIR_P, match "
    "| self-excluded | seconds |"
)
SCOPES = ("group", "match")
GROUPS = """
SELECT list(m.case_id ORDER BY m.case_id) AS cases, list(m.group_id ORDER BY m.case_id) AS groups
FROM srsql.member AS m
INNER JOIN srsql.release AS r ON m.release_id = r.release_id
GROUP BY r.quarter
ORDER BY r.quarter
"""
CASES = """
SELECT list(DISTINCT d.caseid) AS cases
FROM raw_faers.demo AS d
WHERE d.quarter BETWEEN $first AND $last
GROUP BY d.quarter
ORDER BY d.quarter
"""
COUNTS = """
SELECT
    (SELECT count(*) FROM srsql.member) AS released,
    (SELECT count(*) FROM srsql.withheld) AS withheld,
    (
        SELECT sum(m.violating) / sum(m.total)
        FROM srsql.measure AS m
        WHERE m.measure = 'nil'
    ) AS nil
"""


def synthetic(folder: Path, first: str, last: str, scale: float) -> Path:
    """A warehouse with the quarters and the one after them."""
    synthesize(folder, quarter_range(first, last), cases=None, scale=scale, seed=1)
    path = folder / "stay.duckdb"
    with Engine(path) as engine:
        for archive in sorted(folder.glob("*.zip")):
            engine.ingest([archive])
    return path


def least_withheld(quarters: Sequence[Set[int]], k: int, staying: bool) -> int:
    """What any release of consecutive quarters withholds at least, whatever the algorithm.

    A quarter of fewer than k cases has no group. Where fewer than k cases of a quarter are in the
    next one as well, ``ppms-stay`` can release none of them in both, since the class of those who
    go on would have fewer than k cases: each is withheld in one of the two. A case that this
    concerns in m consecutive pairs of quarters is withheld m / 2 times at least, rounded up.

    Args:
        quarters: the cases of each quarter.
        k: of the model.
        staying: whether those who go on and those who stop are told apart.

    Returns:
        So many cases of quarters; what is really needed can be more.
    """
    released = [cases if len(cases) >= k else frozenset[int]() for cases in quarters]
    needed = sum(map(len, quarters)) - sum(map(len, released))
    if not staying:
        return needed
    concerned: Set[int] = frozenset()
    for cases, after in pairwise(released):
        both = cases & after
        # a case that was withheld in the first quarter of this pair needs nothing more of it
        concerned = both - concerned if len(both) < k else frozenset()
        needed += len(concerned)
    return needed


def repaired(quarters: Sequence[Mapping[int, int]], k: int, window: int) -> int:
    """What withholding costs until presence in ``window`` consecutive quarters leaves k new cases.

    In every quarter the cases of a group that are in the same ones of the next quarters are none,
    or k of them are in no earlier quarter. Where they are fewer, each loses its last row within the
    window, until nothing is left to repair; groups are not made anew, and theta is not looked at.

    Args:
        quarters: the group of each released case, quarter by quarter.
        k: of the model.
        window: consecutive quarters of which presence is known.

    Returns:
        Rows of cases that are withheld; 0 of ``ppms-stay`` for a window of two.
    """
    left, gone = [dict(groups) for groups in quarters], 0
    while True:
        short: set[tuple[int, int]] = set()
        seen: set[int] = set()
        for first, groups in enumerate(left):
            classes: defaultdict[tuple[int, tuple[bool, ...]], list[int]] = defaultdict(list)
            after = left[first + 1 : first + window]
            for case, group in groups.items():
                classes[group, tuple(case in later for later in after)].append(case)
            for (_, present), cases in classes.items():
                if sum(case not in seen for case in cases) < k:
                    last = first + max(
                        (n for n, is_in in enumerate(present, 1) if is_in), default=0
                    )
                    short |= {(last, case) for case in cases}
            seen |= groups.keys()
        if not short:
            return gone
        for quarter, case in short:
            del left[quarter][case]
        gone += len(short)


def table_of_windows(
    source: Path, quarters: str, sizes: Sequence[int], theta: str | None, models: Sequence[str]
) -> None:
    """Print what windows of two and three quarters would cost by withholding alone."""
    print("| k | model | released | withheld | more for two quarters | more for three |")
    print("| --- | --- | --- | --- | --- | --- |")
    for k in sizes:
        for model in models:
            with released(source, model, k, quarters, theta) as (engine, _):
                ((rows, withheld, _),) = engine.sql(COUNTS)
                groups = [dict(zip(*row, strict=True)) for row in engine.sql(GROUPS)]
            found = (withheld, *(repaired(groups, k, window) for window in (2, 3)))
            told = " | ".join(f"{count / max(1, rows + withheld):.2%}" for count in found)
            print(f"| {k} | `{model}` | {rows:,} | {told} |", flush=True)


@contextmanager
def released(
    source: Path, model: str, k: int, quarters: str, theta: str | None
) -> Iterator[tuple[Engine, float]]:
    """A copy of the warehouse in which the quarters are released, and the processor's seconds."""
    options = {} if theta is None else {"theta": theta}
    with (
        TemporaryDirectory() as name,
        Engine(Path(shutil.copy(source, Path(name) / "stay.duckdb"))) as engine,
    ):
        began = process_time()
        engine.release.make_range(
            quarters, model=model, k=k, seed=1, on_infeasible="withhold", **options
        )
        yield engine, process_time() - began


def danger(engine: Engine, attacks: Sequence[str]) -> tuple[list[float], int | None]:
    """The share of groups in danger at each scope, and targets that exclude themselves."""
    found = engine.audit.run(attacks=list(attacks), evidence=0).releases
    by_scope = {scope: [row for row in found if row.scope == scope] for scope in SCOPES}
    shares = [
        sum(max(row.dig, row.dsg) for row in rows) / max(1, sum(row.groups for row in rows))
        for rows in by_scope.values()
    ]
    own = [row.self_excluded for row in by_scope["group"] if row.self_excluded is not None]
    return shares, sum(own) if own else None


def measured(source: Path, model: str, k: int, quarters: str, theta: str | None) -> list[float]:
    """NIL, withheld, that at least, DIR, DIR_P of each scope, self-excluded, seconds."""
    with released(source, model, k, quarters, theta) as (engine, seconds):
        ((rows, withheld, nil),) = engine.sql(COUNTS)
        dir_, _ = danger(engine, ("b", "f", "l"))
        dir_p, own = danger(engine, ("b", "f", "l", "p"))
        first, last = quarters.split(":")
        cases = [set(row[0]) for row in engine.sql(CASES, {"first": first, "last": last})]
    least = least_withheld(cases, k, model == "ppms-stay")
    shares = [part / max(1, rows + withheld) for part in (withheld, least)]
    return [float(nil), *shares, max(dir_), *dir_p, own or 0, seconds]


def table(
    source: Path, quarters: str, sizes: Sequence[int], theta: str | None, models: Sequence[str]
) -> None:
    """Print the figures of the models, by k; loss is told beside that of ``ppms++``."""
    print(HEAD, "|" + " --- |" * HEAD.count(" | ") + " --- |", sep="\n")
    for k in sizes:
        base = 0.0
        for model in ("ppms++", *(name for name in models if name != "ppms++")):
            found = measured(source, model, k, quarters, theta)
            nil, withheld, least, dir_, by_group, by_match, own, seconds = found
            base = base or nil
            print(
                f"| {k} | `{model}` | {nil:.4f} | {nil / base:.2f} | {withheld:.2%} | {least:.2%} "
                f"| {dir_:.2%} | {by_group:.2%} | {by_match:.2%} | {own:,.0f} | {seconds:.0f} |",
                flush=True,
            )


def command(arguments: list[str]) -> None:
    """``python -m benchmarks stay [--db FILE] [--quarters A:B] [--k 3,5,10] ...``"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stay", description=__doc__)
    parser.add_argument("--db", type=Path, help="a warehouse with the quarters; default: synthetic")
    parser.add_argument("--quarters", default="2010Q1:2011Q4", help="A:B")
    parser.add_argument("--after", default="2012Q1", help="of synthetic ones, the quarter after B")
    parser.add_argument("--scale", type=float, default=0.05, help="of synthetic ones")
    parser.add_argument("--k", default="3,5,10", help="numbers with commas")
    parser.add_argument("--models", default=",".join(MODELS), help="names with commas")
    parser.add_argument("--windows", action="store_true", help="what three quarters would cost")
    parser.add_argument("--theta", help="as of release; default: frequency")
    options = parser.parse_args(arguments)
    sizes = [int(part) for part in options.k.split(",")]
    with TemporaryDirectory() as name:
        source = options.db
        if source is None:
            first = options.quarters.split(":")[0]
            source = synthetic(Path(name), first, options.after, options.scale)
        shown = table_of_windows if options.windows else table
        shown(source, options.quarters, sizes, options.theta, options.models.split(","))


def main(small: bool) -> None:
    """As ``python -m benchmarks stay``, or small."""
    command(["--scale", "0.01", "--k", "5", "--quarters", "2011Q1:2011Q2", "--after", "2011Q3"]
            if small else [])  # fmt: skip
