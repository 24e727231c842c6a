"""The first declaration of a dataset, guessed from its files or tables.

``samples`` reads the first records of each file, ``columns`` says what their columns hold,
``tables`` how tables hang together, ``guesses`` which columns are quasi-identifiers, terms and
periods, and ``declaration`` makes the TOML of it. Each guess has its reason, and is to be read.
"""

from srsql.engine.extras.first_dataset.declaration import FirstDataset, Guess, write_first_dataset

__all__ = ["FirstDataset", "Guess", "write_first_dataset"]
