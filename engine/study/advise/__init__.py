"""Advice on parameters, from what they cost and risk."""
