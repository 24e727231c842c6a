"""Loss and risk of a release, as uniform rows."""
