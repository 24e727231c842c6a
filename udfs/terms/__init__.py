"""Kernels of disassociation and of the generalization of terms."""
