"""Suspected duplicates: which cases may be one person, found by splink."""
