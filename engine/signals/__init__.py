"""Signals of disproportionate reporting, before and after a release."""
