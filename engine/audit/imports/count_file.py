"""A foreign table of counts: a CSV file with a row for each count.

It has columns of items (a drug, a reaction), any number of columns of strata (sex, age), and a
column ``cases``. An empty field stands for all: a row without items counts all cases of its
stratum, one with a drug alone all cases with the drug. The strata need no tree: by sex and by age
are two ways to part the same cases.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from srsql.engine.errors import SrsqlError
from srsql.schemas.outside import open_text

CASES = "cases"
Stratum = tuple[str | None, ...]
"""A value for each column of strata; None: all."""
Key = tuple[str | None, ...]
"""A value for each column of items; None: any."""
MOST_ROWS = 5_000_000
MOST_DIGITS = 15


class ForeignCounts:
    """The counts of a file by key and stratum."""

    def __init__(
        self, items: Sequence[str], strata: Sequence[str], told: Mapping[tuple[Key, Stratum], int]
    ) -> None:
        self.items, self.strata, self.told = items, strata, told

    @cached_property
    def by_key(self) -> dict[Key, dict[Stratum, int]]:
        """Key -> stratum -> count."""
        found: dict[Key, dict[Stratum, int]] = defaultdict(dict)
        for (key, stratum), cases in self.told.items():
            found[key][stratum] = cases
        return dict(found)

    @cached_property
    def added_up(self) -> dict[Key, dict[Stratum, int]]:
        """That with cells that are not told, by what their parts by one column have together."""
        return {key: self._added_up(cells) for key, cells in self.by_key.items()}

    def _added_up(self, cells: Mapping[Stratum, int]) -> dict[Stratum, int]:
        known = dict(cells)
        for named in range(len(self.strata), 0, -1):
            together: dict[tuple[int, Stratum], int] = defaultdict(int)
            for stratum, cases in known.items():
                at = [place for place, value in enumerate(stratum) if value is not None]
                if len(at) == named:
                    for place in at:
                        together[place, (*stratum[:place], None, *stratum[place + 1 :])] += cases
            for (_, wide), cases in together.items():
                if wide not in cells:
                    known[wide] = max(known.get(wide, 0), cases)
        return known

    def words(self, key: Key, stratum: Stratum) -> str:
        """A cell in words."""
        named = [f"{n} {v!r}" for n, v in zip(self.items, key, strict=True) if v is not None]
        where = [f"{n} {v!r}" for n, v in zip(self.strata, stratum, strict=True) if v is not None]
        return f"{' and '.join(named) or 'all cases'} of {', '.join(where) or 'all strata'}"

    def parts(self, key: Key, stratum: Stratum) -> Iterator[dict[Stratum, int]]:
        """The cells that part a cell by one column: what each value of it has, told or added up."""
        for place, value in enumerate(stratum):
            if value is None:
                found = {
                    other: cases
                    for other, cases in self.added_up[key].items()
                    if other[place] is not None
                    and other[:place] + other[place + 1 :] == stratum[:place] + stratum[place + 1 :]
                }
                if found:
                    yield found


def read_counts(path: Path, items: tuple[str, ...], error: type[SrsqlError]) -> ForeignCounts:
    """The counts of a CSV file.

    Args:
        path: of the file.
        items: the columns of items.
        error: that is raised.

    Raises:
        SrsqlError: of the kind ``error``: the file is no such table.
    """
    told: dict[tuple[Key, Stratum], int] = {}
    if CASES in items or not items or len(set(items)) < len(items):
        raise error(
            f"columns of items {', '.join(items) or 'none'}: name some, each once, and not {CASES}"
        )
    try:
        with open_text(path) as file:
            reader = csv.DictReader(file, strict=True)
            columns = [(name or "").strip() for name in reader.fieldnames or ()]
            reader.fieldnames = columns
            for name in (*items, CASES):
                if columns.count(name) != 1:
                    raise error(
                        f"{path}: it needs one column {name!r} (it has: {', '.join(columns)})"
                    )
            seen = [name.casefold() for name in columns]
            if strange := [name for name in seen if not name or seen.count(name) > 1]:
                raise error(f"{path}: two columns are {strange[0]!r}, or one has no name")
            strata = [name for name in columns if name not in (*items, CASES)]
            spellings: dict[tuple[str, str], str] = {}
            for number, row in enumerate(reader, 2):
                text = row[CASES]
                if None in row or text is None:
                    raise error(f"{path}, row {number}: it has not as many fields as columns")
                digits = text.strip()
                if not (digits.isascii() and digits.isdigit()) or len(digits) > MOST_DIGITS:
                    raise error(f"{path}, row {number}: {text[:20]!r} is no number of cases")
                if number > MOST_ROWS:
                    raise error(f"{path}: more than {MOST_ROWS:,} counts")
                key = tuple((row[name] or "").strip().casefold() or None for name in items)
                texts = [(name, (row[name] or "").strip()) for name in strata]
                where = tuple(spellings.setdefault((n, t.casefold()), t) or None for n, t in texts)
                if (key, where) in told:
                    raise error(f"{path}, row {number}: this count is there twice")
                told[key, where] = int(digits)
    except (OSError, UnicodeDecodeError, csv.Error) as why:
        raise error(f"{path}: cannot be read: {why}") from None
    if not told:
        raise error(f"{path}: there are no counts")
    return ForeignCounts(items, strata, told)
