"""Somebody else's released tables, registered so that they can be audited."""
