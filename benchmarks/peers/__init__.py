"""srsql beside the anonymizers of the package index: same table, one run, judged by one measure."""

from benchmarks.peers.run import main

__all__ = ["main"]
