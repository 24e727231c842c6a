"""The Python interface: everything that the command line does."""
