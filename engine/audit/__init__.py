"""Attacks on a series of releases: one attacker, or all of them."""
