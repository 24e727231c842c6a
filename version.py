"""The version of the package: the build reads it here, so that nobody has to ask the installer."""

__version__ = "0.3.0"
