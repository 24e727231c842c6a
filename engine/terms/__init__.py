"""Terms without the records they come from: disassociation (SPEC section 11, Loukides 2014)."""
