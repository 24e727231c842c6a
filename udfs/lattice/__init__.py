"""Kernels of full-domain generalization."""
