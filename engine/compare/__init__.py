"""`srsql compare`: a grid of quarters, models and parameters, measured and held against papers."""
