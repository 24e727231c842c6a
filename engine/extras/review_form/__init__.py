"""The form that a reviewer signs: ``srsql report --form``."""
