"""Kernels: what is sequential or random, and its registration with DuckDB.

The folders have the names of the engine's. A folder of the engine that needs one kernel has a
module here: ``lattice_node`` of lattice, ``shrinkage`` of signals.
Several share ``grouping_problem`` (boxes, terms and losses as arrays), ``exact_search``,
``mechanisms`` (noise, choices), and ``columns`` (of Arrow as arrays, and back). The user's caches
are those of ``caches``.
"""
