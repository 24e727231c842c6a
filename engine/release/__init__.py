"""One quarter from request to COMMIT."""
