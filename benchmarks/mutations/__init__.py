"""Proof by mutation: each thing that a maker could do otherwise than it says, and who notices.

Every mutation of the list is applied in memory to one release of a small dataset where it bites,
beside a run without it. Caught is what a check of the release refuses, an audit judges unsafe,
or what ``publish`` or ``verify`` refuses; whoever verifies has a program without the mutation.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.mutations.of_rows import OF_ROWS
from benchmarks.mutations.of_secrets import OF_SECRETS
from benchmarks.mutations.records import Mutation
from benchmarks.mutations.runs import BROKEN, SAME, UNCAUGHT, Ran, Worlds, run

MUTATIONS: tuple[Mutation, ...] = (*OF_ROWS, *OF_SECRETS)
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
    controls: dict[str, Ran] = {}
    with TemporaryDirectory() as folder:
        worlds = Worlds(Path(folder))
        for each in chosen:
            if each.world not in controls:
                controls[each.world] = run(worlds, each.world, None)
                if controls[each.world].by:
                    raise SystemExit(f"without a mutation, {each.world}: {controls[each.world]}")
            ran = run(worlds, each.world, each)
            who = ran.by
            if not who:  # whoever refuses what the control passes shows that something changed
                who = SAME if ran.digest == controls[each.world].digest else UNCAUGHT
            found[each.name] = who
            print(f"{each.family:15} {each.name:38} {who:9} {ran.why[:WHY]}", flush=True)
    return found
