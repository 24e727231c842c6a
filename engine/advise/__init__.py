"""`srsql advise`: which model, k, theta and epsilon for the next release of a series."""
