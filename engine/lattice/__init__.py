"""Full-domain generalization: the lattice of Lee 2020 (IPA) and its two comparators."""
