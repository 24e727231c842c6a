"""Kernels of grouping: the greedy selection and what it searches in."""
