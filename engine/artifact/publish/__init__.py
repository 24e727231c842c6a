"""The folder that leaves the house."""
