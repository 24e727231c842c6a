"""The first declaration of a dataset, guessed from its files or tables.

``samples`` reads the first records of each file, ``columns`` says what their columns hold,
``guesses`` which of them are keys, quasi-identifiers, terms and periods, and ``written`` makes the
TOML of it. Nothing that is guessed counts until a person has read it: each guess has its reason.
"""

from srsql.engine.extras.first_dataset.written import FirstDataset, Guess, write_first_dataset

__all__ = ["FirstDataset", "Guess", "write_first_dataset"]
