"""A DuckDB connection, what its catalog says, and the names of stored tables."""
