"""The newcomer's first run: a small synthetic series from files to released views."""

from srsql.engine.extras.demo.demo import CASES, FIRST, LAST, SEED, K, run_demo

__all__ = ["CASES", "FIRST", "LAST", "SEED", "K", "run_demo"]
