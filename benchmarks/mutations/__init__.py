"""Proof by mutation: each thing that a maker could do otherwise than it says, and who notices.

Every mutation of the list is applied in memory to one release of a small dataset where it bites,
beside a run without it. Caught is what a check of the release refuses, an audit judges unsafe, or
what ``publish`` or ``verify`` refuses; whoever verifies has a program without the mutation. Those
of count tables are applied to what ``srsql.count_tables`` tells of drawn cases, and the checks
catch them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.mutations.of_counts import COUNTS, OF_COUNTS, Counted
from benchmarks.mutations.of_rows import OF_ROWS
from benchmarks.mutations.of_secrets import OF_SECRETS
from benchmarks.mutations.records import Mutation
from benchmarks.mutations.runs import BROKEN, RELEASE, SAME, UNCAUGHT, Ran, Worlds, run

MUTATIONS: tuple[Mutation, ...] = (*OF_ROWS, *OF_SECRETS, *OF_COUNTS)
FAILED = (UNCAUGHT, BROKEN, SAME)
WHY = 150
"""Characters of the reason that are shown."""


def command(arguments: Sequence[str]) -> None:
    """Run the mutations and say who caught each; the exit code is 1 if nobody caught one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutations", description=__doc__)
    parser.add_argument("--small", action="store_true", help="the first of each family")
    parser.add_argument("--only", default="", help="those whose name or world has this text")
    options = parser.parse_args(arguments)
    chosen = [each for each in MUTATIONS if options.only in each.name or options.only == each.world]
    if options.small:
        chosen = list({each.family: each for each in reversed(chosen)}.values())[::-1]
    found = outcomes(chosen)
    for who, count in sorted(Counter(found.values()).items()):
        print(f"{count:4}  {who}")
    print(f"{len(found):4}  mutations")
    if any(who in FAILED for who in found.values()):
        raise SystemExit(1)


def outcomes(chosen: Sequence[Mutation]) -> dict[str, str]:
    """Who caught each of the mutations, by its name; each is printed as soon as it is known.

    Raises:
        SystemExit: a run without any mutation is refused.
    """
    found: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        controls = Controls(Worlds(Path(folder)))
        counted = Counted() if any(each.world == COUNTS for each in chosen) else None
        for each in chosen:
            if counted is not None and each.world == COUNTS:
                by, why, changed = counted.caught(each)
                found[each.name] = by or (UNCAUGHT if changed else SAME)
                print(
                    f"{each.family:15} {each.name:38} {found[each.name]:9} {why[:WHY]}", flush=True
                )
                continue
            ran = run(controls.worlds, each.world, each)
            # whoever refuses what a run without the mutation passes shows that something changed
            whole = ran.by != RELEASE
            control = controls.of(each.world, whole=whole)
            who = ran.by or (SAME if ran.digest == control.digest else UNCAUGHT)
            found[each.name] = who
            print(f"{each.family:15} {each.name:38} {who:9} {ran.why[:WHY]}", flush=True)
    return found


class Controls:
    """The worlds without any mutation, each run as far as it is asked for."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self._released: set[str] = set()
        self._whole: dict[str, Ran] = {}

    def of(self, name: str, *, whole: bool) -> Ran:
        """What came of it.

        Raises:
            SystemExit: somebody refused it.
        """
        if name in self._whole or (name in self._released and not whole):
            return self._whole.get(name, Ran("", "", ""))
        ran = run(self.worlds, name, None, publishes=whole)
        if ran.by:
            raise SystemExit(f"without a mutation, {name}: {ran}")
        self._released.add(name)
        if whole:
            self._whole[name] = ran
        return ran
