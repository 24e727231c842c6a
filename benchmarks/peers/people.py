"""The table that everybody gets: a row a case, with what is missing left missing."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from srsql import Engine
from srsql.engine.extras.synth import synthesize

QUARTER, SEED = "2011Q1", 2011
FIRST_REPORTED = """
SELECT
    row_number() OVER (ORDER BY d.primaryid) - 1 AS "row",
    d.srsql_age AS age,
    d.srsql_wt AS wt,
    d.srsql_sex AS sex,
    r.term
FROM raw_faers.demo AS d
INNER JOIN (
    SELECT c.primaryid, min_by(upper(trim(c.pt)), c.srsql_line) AS term
    FROM raw_faers.reac AS c
    WHERE trim(c.pt) <> ''
    GROUP BY c.primaryid
) AS r ON d.primaryid = r.primaryid
QUALIFY row_number() OVER (PARTITION BY d.caseid ORDER BY d.primaryid DESC) = 1
ORDER BY 1
"""
"""The latest report of every case, with the reaction that it lists first."""


@dataclass(frozen=True)
class Table:
    """One table of people: columns row, age, wt, sex, term."""

    name: str
    file: Path
    complete: bool
    """Whether only rows without a missing value are in it."""
    rows: int


def write_people(folder: Path, sizes: Sequence[int]) -> list[Table]:
    """A table of each size, as it is and without its incomplete rows.

    A smaller table is the start of a larger one.
    """
    with tempfile.TemporaryDirectory() as made:
        synthesize(Path(made) / "ascii", [QUARTER], cases=max(sizes), seed=SEED)
        with Engine(Path(made) / "people.duckdb") as engine:
            engine.ingest([Path(made) / "ascii"])
            people = engine.con.execute(FIRST_REPORTED).df()
    people["row"] = range(len(people))
    tables = []
    for size in sizes:
        some = people.head(size)
        whole = some.dropna()
        for name, chosen, complete in (
            (f"{len(some):,} rows", some, False),
            (f"the {len(whole):,} complete rows of {len(some):,}", whole, True),
        ):
            file = folder / f"people_{size}{'_complete' * complete}.csv"
            chosen.to_csv(file, index=False)
            tables.append(Table(name, file, complete, len(chosen)))
    return tables
