"""Who carries parts of the work."""
