"""The public calls: `Engine` on a warehouse, `Artifact` on what was published."""
