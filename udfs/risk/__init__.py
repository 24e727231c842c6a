"""Kernels of the measures of risk: nearest records, and who is left when items are known."""
