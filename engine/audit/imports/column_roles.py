"""Which column of somebody else's table is what: the header matched with the dataset's names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from srsql.engine.errors import ImportReleaseError
from srsql.schemas.model import Dataset, Qid, Table

WILDCARDS = ("*", "ANY")
"""What published tables write for a value that may be any."""
PERIODS = ("quarter", "period")
GROUP = "group_id"


@dataclass(frozen=True)
class Ends:
    """Where a quasi-identifier is: two columns of bounds, or one of values (``high`` is None)."""

    position: int
    qid: Qid
    low: int
    high: int | None
    unit: int | None
    """The column of units, which only originals have."""

    @property
    def bounds(self) -> tuple[Qid, Qid]:
        """The numeric QID, once for each end of its interval, read from columns of our naming."""
        low, high = (
            self.qid.model_copy(
                update={
                    "name": self.named(end),
                    "column": self.named(f"{end} text"),
                    "missing": (*self.qid.missing, *WILDCARDS),
                    "unit_column": self.named("unit") if self.unit else None,
                    "units": self.qid.units if self.unit else {},
                }
            )
            for end in ("low", "high")
        )
        return low, high

    def named(self, part: str) -> str:
        """A column name for a part of this quasi-identifier that no other one has."""
        return f"{self.position} {part}"


@dataclass(frozen=True)
class SensitiveAt:
    """One column of a sensitive attribute, whose name is that of its declared column."""

    attribute: str
    missing: tuple[str, ...]
    place: int


@dataclass(frozen=True)
class Columns:
    """Places in the file, from 1."""

    case: int
    period: int | None
    group: int | None
    qids: tuple[Ends, ...]
    sensitive: tuple[SensitiveAt, ...]


def attribute_names(dataset: Dataset) -> list[str]:
    """Names of the sensitive attributes: their columns."""
    return list(dict.fromkeys(attribute.column for attribute in dataset.sensitive))


def match(
    dataset: Dataset,
    file: str,
    header: tuple[str, ...],
    *,
    original: bool,
    group_column: str | None,
) -> Columns:
    """Find the columns, by their names and aliases in any case, or a QID's own name.

    Args:
        dataset: declares them.
        file: name of the file, for messages.
        header: its names in lower case.
        original: raw records: no group and no sensitive attributes are looked for.
        group_column: the column that tells the groups; None: ``group_id`` if it is there.

    Raises:
        ImportReleaseError: a column is missing, or a name is in the header twice.
    """
    search = _Search(dataset, file, header, original)
    group = None
    if not original:
        group = search.find((group_column or GROUP,))
        if group_column is not None and group is None:
            raise ImportReleaseError(
                f"{file}: no column {group_column!r} (--group-column) in its header"
            )
    return Columns(
        case=search.need("case id", search.spellings(dataset.report_table, dataset.case_id)),
        period=search.find(PERIODS),
        group=group,
        qids=tuple(search.ends(p, qid) for p, qid in enumerate(dataset.qid)),
        sensitive=() if original else tuple(search.sensitive()),
    )


@dataclass(frozen=True)
class _Search:
    dataset: Dataset
    file: str
    header: tuple[str, ...]
    original: bool

    def spellings(self, table: str, name: str) -> tuple[str, ...]:
        """A declared column's name and its aliases."""
        columns = self.dataset.table(table).columns
        return (name, *(a for c in columns if c.name == name for a in c.aliases))

    def find(self, spellings: Iterable[str]) -> int | None:
        """Place of the first of the names that the header has."""
        for spelling in (s.strip().lower() for s in spellings):
            if self.header.count(spelling) > 1:
                raise ImportReleaseError(
                    f"{self.file}: column {spelling!r} is in the header twice: rename one"
                )
            if spelling in self.header:
                return self.header.index(spelling) + 1
        return None

    def need(self, what: str, spellings: Iterable[str]) -> int:
        names = list(dict.fromkeys(spellings))
        found = self.find(names)
        if found is None:
            raise ImportReleaseError(
                f"{self.file}: no column {' or '.join(names)} for the {what} in its header: "
                "is line 1 the header, and the dataset the right one?"
            )
        return found

    def ends(self, position: int, qid: Qid) -> Ends:
        table = self.dataset.report_table
        names = list(dict.fromkeys((qid.name, *self.spellings(table, qid.column))))
        if qid.kind == "categorical":
            return Ends(position, qid, self.need(f"QID {qid.name}", names), None, None)
        low, high = (self.find(f"{name}_{end}" for name in names) for end in ("low", "high"))
        if low is not None and high is not None:
            return Ends(position, qid, low, high, None)
        if low is not None or high is not None:
            raise ImportReleaseError(
                f"{self.file}: {qid.name}_low and {qid.name}_high must both be there"
            )
        unit = None
        if qid.unit_column is not None and self.original:
            unit = self.find(self.spellings(table, qid.unit_column))
        wanted = names if self.original else [*names, f"{qid.name}_low with {qid.name}_high"]
        return Ends(position, qid, self.need(f"QID {qid.name}", wanted), None, unit)

    def sensitive(self) -> list[SensitiveAt]:
        """Each attribute's column, or those that its rows are spread over."""
        found: dict[tuple[str, int], tuple[str, ...]] = {}
        for attribute in self.dataset.sensitive:
            name = attribute.column
            names = self.spellings(attribute.table, name)
            table: Table = self.dataset.table(attribute.table)
            spread = [self.find((source,)) for source in table.unpivot.get(name, ())]
            places = [p for p in spread if p is not None] if self.find(names) is None else []
            for at in places or [self.need(f"sensitive attribute {name}", names)]:
                found[name, at] = found.get((name, at), ()) + attribute.missing
        return [SensitiveAt(name, missing, at) for (name, at), missing in found.items()]
