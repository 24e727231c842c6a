"""What is released, in the forms of other tools."""
