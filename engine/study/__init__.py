"""Comparing models, and advice on parameters."""
