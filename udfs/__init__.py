"""Kernels: what is sequential or random, and its registration with DuckDB."""
