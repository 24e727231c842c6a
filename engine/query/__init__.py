"""`srsql query`: a COUNT over the original schema, rewritten onto the released views."""
