"""The experiment grid, and the claims of the papers."""
