"""What the specification says about speed and memory, measured: ``python -m benchmarks NAME``."""
