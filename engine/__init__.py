"""The engine: what happens in which order, in layers (docs/architecture.md)."""
