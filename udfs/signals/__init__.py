"""Kernels of signal detection."""
