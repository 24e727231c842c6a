"""The stages of a release, one a file; ``registry`` has them in their order."""
