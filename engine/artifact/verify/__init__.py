"""What an artifact shows of itself; imports nothing that makes it."""
