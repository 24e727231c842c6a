"""Proof from the released rows; imports nothing that makes a release."""
