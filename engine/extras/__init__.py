"""What is extra: each folder imports the public face of the core, and the core none of them."""
