"""Which column of somebody else's table plays which role, and what its fields say in that role.

The header is matched with the names and aliases that the dataset declares (``match_columns``); the
fields of a record then become the texts of a quasi-identifier's two ends (``end_texts``), which are
either usable or a fault of the row (``numeric_faults``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.catalog.datasets import trimmed
from srsql.engine.errors import ImportReleaseError
from srsql.engine.ingest.records import call, field_at, is_null, known, plain_name, text_of
from srsql.engine.store.statements import column
from srsql.schemas import Dataset, Qid, Table

WILDCARDS = ("*", "ANY")
"""What published tables write for a value that may be any."""
PERIODS = ("quarter", "period")
GROUP = "group_id"
_NUMBER = r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)"
INTERVAL = rf"^\[?\s*({_NUMBER})\s*(?:[-–~,]\s*({_NUMBER}))?\s*\]?$"


@dataclass(frozen=True)
class QidColumns:
    """Where a quasi-identifier is: two columns of bounds, or one of values (``high`` is None)."""

    position: int
    qid: Qid
    low: int
    high: int | None
    unit: int | None
    """The column of units, which only originals have."""

    @property
    def ends(self) -> tuple[Qid, Qid]:
        """The numeric QID, once for each end of its interval, read from columns of our naming."""
        low, high = (
            self.qid.model_copy(
                update={
                    "name": self.part(end),
                    "column": self.part(f"{end} text"),
                    "missing": (*self.qid.missing, *WILDCARDS),
                    "unit_column": self.part("unit") if self.unit else None,
                    "units": self.qid.units if self.unit or self.qid.unit_in_value else {},
                }
            )
            for end in ("low", "high")
        )
        return low, high

    def part(self, name: str) -> str:
        """The name of a column for a part of this quasi-identifier, which no other one has."""
        return f"{self.position} {name}"


@dataclass(frozen=True)
class SensitiveColumn:
    """One column of a sensitive attribute, whose name is that of its declared column."""

    attribute: str
    missing: tuple[str, ...]
    place: int


@dataclass(frozen=True)
class ColumnRoles:
    """The place of every column that has a role, counted from 1."""

    case: int
    period: int | None
    group: int | None
    qids: tuple[QidColumns, ...]
    sensitive: tuple[SensitiveColumn, ...]

    @property
    def places(self) -> set[int]:
        """The places of all of them."""
        found = {self.case, self.period, self.group, *(each.place for each in self.sensitive)}
        found |= {place for each in self.qids for place in (each.low, each.high, each.unit)}
        return {place for place in found if place is not None}


def attribute_names(dataset: Dataset) -> list[str]:
    """Names of the sensitive attributes: their columns."""
    return list(dict.fromkeys(attribute.column for attribute in dataset.sensitive))


def renamed(
    columns: Mapping[str, str], file: str, header: tuple[str, ...], *, some: bool = False
) -> tuple[str, ...]:
    """The header with the names that somebody gave its columns.

    A name of two columns of bounds stands for both: ``age`` for ``Alter`` makes ``age_low`` of
    ``Alter_low``. A column that has such a name without having been given it is not read.

    Args:
        columns: name -> column of the file, in any case.
        file: the name of the file, for messages.
        header: the names of its columns in lower case.
        some: a column that is not there is passed over.

    Raises:
        ImportReleaseError: a column is not there, is there twice, or has two names.
    """
    given: dict[int, str] = {}
    for name, told in columns.items():
        asked = plain_name(told)
        ends = [end for end in ("", "_low", "_high") if f"{asked}{end}" in header]
        if not ends and not some:
            raise ImportReleaseError(
                f"{file}: no column {told!r} for {name} (--map) in its header: it has "
                f"{', '.join(header)}"
            )
        for end in ends[:1] if "" in ends else ends:
            if header.count(f"{asked}{end}") > 1:
                raise ImportReleaseError(
                    f"{file}: column {asked + end!r} is in the header twice: rename one"
                )
            place = header.index(f"{asked}{end}")
            other = given.setdefault(place, f"{name}{end}")
            if other != f"{name}{end}":
                raise ImportReleaseError(
                    f"--map: column {told!r} is given for {other} and {name}: leave one out"
                )
    taken = set(given.values())
    return tuple(
        given.get(place, f"{name} (not read)" if name in taken else name)
        for place, name in enumerate(header)
    )


def need_names(dataset: Dataset, columns: Mapping[str, str]) -> None:
    """Refuse names that nothing of a dataset is called.

    Raises:
        ImportReleaseError: the text has the names that there are.
    """
    spelled = {c.name: (c.name, *c.aliases) for t in dataset.tables for c in t.columns}
    told = [*spelled[dataset.case_id], *PERIODS, GROUP]
    for qid in dataset.qid:
        names = dict.fromkeys((qid.name, *spelled[qid.column]))
        told += [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
        told += spelled[qid.unit_column] if qid.unit_column else ()
    for attribute in dataset.sensitive:
        spread = dataset.table(attribute.table).unpivot.get(attribute.column, ())
        told += [*spelled.get(attribute.column, (attribute.column,)), *spread]
    for name in columns:
        if name not in {plain_name(each) for each in told}:
            raise ImportReleaseError(
                f"--map {name}=...: nothing of dataset {dataset.name} is called {name}: it has "
                f"{', '.join(dict.fromkeys(told))}"
            )


def match_columns(
    dataset: Dataset,
    file: str,
    header: tuple[str, ...],
    *,
    original: bool,
    group_column: str | None,
) -> ColumnRoles:
    """Find the columns by their names and aliases in any case, or by a QID's own name.

    Args:
        dataset: declares them.
        file: the name of the file, for messages.
        header: the names of its columns in lower case.
        original: whether these are raw records, in which no group and no sensitive attribute is
            looked for.
        group_column: the column of the groups' labels; None: ``group_id`` if it is there.

    Returns:
        The role of every column that has one.

    Raises:
        ImportReleaseError: a column is missing, or a name is in the header twice.
    """
    search = _Search(dataset, file, header, original, [])
    group = None
    if not original:
        group = search.find((group_column or GROUP,))
        if group_column is not None and group is None:
            raise ImportReleaseError(
                f"{file}: no column {group_column!r} (--group-column) in its header"
            )
    roles = ColumnRoles(
        case=search.need("case id", search.spellings(dataset.report_table, dataset.case_id)),
        period=search.find(PERIODS),
        group=group,
        qids=tuple(search.qid_columns(p, qid) for p, qid in enumerate(dataset.qid)),
        sensitive=() if original else tuple(search.sensitive_columns()),
    )
    if search.missing:
        raise ImportReleaseError(
            f"{file}: no column {'; no '.join(search.missing)}; its header has "
            f"{', '.join(header)}: say which is which (--map case=COLUMN, --map age=COLUMN, for "
            "what must not be inferred --map term=COLUMN), or give the right --dataset"
        )
    return roles


@dataclass(frozen=True)
class _Search:
    """The search of one header for the columns of a dataset."""

    dataset: Dataset
    file: str
    header: tuple[str, ...]
    original: bool
    missing: list[str]
    """What was looked for and is not there, all of which one message tells."""

    def spellings(self, table: str, name: str) -> tuple[str, ...]:
        """A declared column's name and its aliases."""
        columns = self.dataset.table(table).columns
        return (name, *(a for c in columns if c.name == name for a in c.aliases))

    def find(self, spellings: Iterable[str]) -> int | None:
        """The place of the first of the names that the header has."""
        for spelling in (s.strip().lower() for s in spellings):
            if self.header.count(spelling) > 1:
                raise ImportReleaseError(
                    f"{self.file}: column {spelling!r} is in the header twice: rename one"
                )
            if spelling in self.header:
                return self.header.index(spelling) + 1
        return None

    def need(self, what: str, spellings: Iterable[str]) -> int:
        """The place of a column without which the table cannot be read; 0 if it is missing."""
        names = list(dict.fromkeys(spellings))
        found = self.find(names)
        if found is None:
            self.missing.append(f"{' or '.join(names)} for the {what}")
        return found or 0

    def qid_columns(self, position: int, qid: Qid) -> QidColumns:
        """Two columns of bounds where the header has them, else one column of values."""
        table = self.dataset.report_table
        names = list(dict.fromkeys((qid.name, *self.spellings(table, qid.column))))
        if not self.original:  # a released number is in the unit of the quasi-identifier
            qid = qid.model_copy(update={"unit_in_value": False})
        if qid.kind == "categorical":
            return QidColumns(position, qid, self.need(f"QID {qid.name}", names), None, None)
        low, high = (self.find(f"{name}_{end}" for name in names) for end in ("low", "high"))
        if low is not None and high is not None:
            return QidColumns(position, qid, low, high, None)
        if low is not None or high is not None:
            raise ImportReleaseError(
                f"{self.file}: {qid.name}_low and {qid.name}_high must both be there"
            )
        unit = None
        if qid.unit_column is not None and self.original:
            unit = self.find(self.spellings(table, qid.unit_column))
        wanted = names if self.original else [*names, f"{qid.name}_low with {qid.name}_high"]
        return QidColumns(position, qid, self.need(f"QID {qid.name}", wanted), None, unit)

    def sensitive_columns(self) -> list[SensitiveColumn]:
        """Each attribute's column, or those that its rows are spread over."""
        found: dict[tuple[str, int], tuple[str, ...]] = {}
        for attribute in self.dataset.sensitive:
            name = attribute.column
            names = self.spellings(attribute.table, name)
            table: Table = self.dataset.table(attribute.table)
            spread = [self.find((source,)) for source in table.unpivot.get(name, ())]
            places = [p for p in spread if p is not None] if self.find(names) is None else []
            for place in places or [self.need(f"sensitive attribute {name}", names)]:
                found[name, place] = found.get((name, place), ()) + attribute.missing
        return [SensitiveColumn(name, missing, place) for (name, place), missing in found.items()]


def end_texts(columns: QidColumns) -> list[exp.Expression]:
    """The fields of a quasi-identifier; one such as ``46-50`` gives the texts of both ends."""
    if columns.qid.kind == "categorical":
        return [aliased(field_at(columns.low), columns.part("label text"))]
    ends = [field_at(columns.low), field_at(columns.high or columns.low)]
    if columns.high is None:
        names = exp.Array(expressions=[text_of("low"), text_of("high")])
        text = trimmed(field_at(columns.low))
        parts = call("regexp_extract", text, text_of(INTERVAL), names)
        low, high = (call("struct_extract", parts.copy(), text_of(e)) for e in ("low", "high"))
        high = call("coalesce", exp.Nullif(this=high, expression=text_of("")), low.copy())
        fits = call("regexp_full_match", text.copy(), text_of(INTERVAL))
        ends = [exp.Case().when(fits.copy(), end).else_(text.copy()) for end in (low, high)]
    fields = [
        aliased(end, columns.part(f"{name} text"))
        for name, end in zip(("low", "high"), ends, strict=True)
    ]
    if columns.unit:
        fields.append(aliased(field_at(columns.unit), columns.part("unit")))
    return fields


def numeric_faults(fault: exp.Case, columns: QidColumns) -> exp.Case:
    """``fault`` with what can be wrong about the bounds of one numeric quasi-identifier behind it.

    It reads the columns ``low text``, ``low`` and ``low reason`` of the quasi-identifier (its
    granules, and why the text gives none), and those of the high end.
    """
    texts, ends, reasons = (
        [column(columns.part(f"{end}{what}")) for end in ("low", "high")]
        for what in (" text", "", " reason")
    )
    name = columns.qid.name
    for reason, text in zip(reasons, texts, strict=True):
        sentence = concat(text_of(f"{name}: "), text, text_of(" is "), reason)
        fault = fault.when(known(reason), sentence)
    half = exp.NEQ(this=exp.paren(is_null(ends[0])), expression=exp.paren(is_null(ends[1])))
    fault = fault.when(half, text_of(f"{name}: one end of the interval is missing"))
    sentence = concat(
        text_of(f"{name}: low above high ("), texts[0], text_of(" > "), texts[1], text_of(")")
    )
    return fault.when(exp.GT(this=ends[0].copy(), expression=ends[1].copy()), sentence)


def aliased(value: exp.Expression, name: str) -> exp.Expression:
    """A value under a quoted name."""
    return exp.Alias(this=value.copy(), alias=exp.to_identifier(name, quoted=True))


def concat(*parts: exp.Expression) -> exp.Expression:
    """The parts as one text."""
    return call("concat", *[part.copy() for part in parts])
