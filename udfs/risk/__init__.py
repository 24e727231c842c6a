"""Kernels of measuring."""
