"""Hierarchies that ship, as CSV files."""
