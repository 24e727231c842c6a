"""The documents of an artifact that catalogues and papers read."""
