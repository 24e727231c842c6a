"""Spark as a carrier of parts."""
