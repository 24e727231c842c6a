"""A steward's year: corrections, forgetting, restoring, explaining, backups."""
