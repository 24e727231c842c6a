"""Run one benchmark by name; every module here with a ``main(small)`` is one.

One that needs more than its name has a ``command(arguments)`` instead.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import benchmarks

HELPERS = {"__main__", "brute_force", "one_release", "stage_watch"}
WITH_ARGUMENTS = {"answers", "batches", "buckets", "candidates", "compiling", "faers", "frontier",
                  "guessing", "linked", "minimality", "mutations", "noisy_tables", "papers",
                  "parts",
                  "quasi_identifiers", "refinement",
                  "rows", "same_release", "spark", "stay", "tasks", "term_counts", "told_counts",
                  "whole_rows"}  # fmt: skip


def available() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name for name in names if name not in HELPERS)


def main() -> None:
    name, *arguments = sys.argv[1:] or [""]
    if name in WITH_ARGUMENTS:
        importlib.import_module(f"benchmarks.{name}").command(arguments)
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument("name", nargs="?", choices=available(), help="which benchmark to run")
    parser.add_argument("--small", action="store_true", help="sizes for CI: only ratios matter")
    options = parser.parse_args()
    if options.name is None:
        print("\n".join(available()))
        return
    importlib.import_module(f"benchmarks.{options.name}").main(options.small)


if __name__ == "__main__":
    main()
