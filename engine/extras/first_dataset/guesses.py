"""Which columns are quasi-identifiers, terms and periods: each guess with its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from srsql.engine.extras.first_dataset.columns import MOST_CODES, UNKNOWN_WORDS, Column
from srsql.engine.extras.first_dataset.tables import FoundTable, tells_sex
from srsql.engine.extras.first_dataset.words import (
    DRUG,
    FEMALE,
    KINDS,
    MALE,
    NEVER,
    NO_TERM,
    RANGES,
    RECEIVED,
    ROLES,
    STRONG,
    UNIT_WORDS,
    UNITS,
    WEAK,
    concept_of,
    plain,
    tells,
    words_of,
)
from srsql.schemas.hierarchy import load_hierarchy
from srsql.schemas.outside import breaks_line

SEX = "sex"
SHIPPED = ("countries", "us_states", "eudravigilance_ages", "eudravigilance_regions", "jader_ages")
"""Hierarchies that ship and tell something of a patient, beside that of sex."""
_SHIPPED_FIT = 0.95
_OUTSIDE = 0.05
"""The share of the numbers of a column that may lie outside of what is possible."""
_LEAST_BY_VALUE = 5
"""Different values by which a column without a name is known by a hierarchy that ships."""
SEPARATORS = (",<BR><BR>", "<BR><BR>", ",<BR>", "<BR>", "; ", ";", "|", "~")
_SPLIT_CELLS = 0.2
TAKE = r"^\s*(.*\S)\s+\([^()]*\)\s*$"
"""The text before the last brackets, as ``take`` of a split."""
_BRACKETS = 0.05
"""The share of the terms of a report's own cells that have brackets; more tell more than terms."""
_UNKNOWN_DIGITS = {"0", "3", "9"}


@dataclass(frozen=True)
class GuessedQid:
    """A quasi-identifier."""

    name: str
    column: Column
    kind: str
    settings: Mapping[str, Any]
    why: str
    leaves: tuple[str, ...] = ()
    """Of a category without a hierarchy that ships: its values."""
    unit_column: Column | None = None


@dataclass(frozen=True)
class GuessedTerm:
    """A column of terms."""

    table: FoundTable
    column: Column
    kind: str | None
    """One of ``KINDS``; None: its name says nothing."""
    why: str
    name: str
    """What it is called in the dataset."""
    parts: tuple[Column, ...] = ()
    """Columns that each hold one of the terms."""
    separator: str | None = None
    """What stands between two terms of a cell."""
    take: str | None = None
    """The term in a piece of a cell that tells more of it, in brackets behind it."""
    more: bool = False
    """More than the term stands in a cell, so that nothing of it is published as it is."""

    @property
    def sensitive(self) -> bool:
        """Whether theta bounds it; drugs are quasi-sensitive."""
        return self.kind != DRUG


@dataclass(frozen=True)
class GuessedPeriod:
    """What tells the period of a report."""

    column: Column
    kind: str
    form: str | None
    labels: tuple[str, ...]
    """Periods of the sample, in their order."""


@dataclass
class Found:
    """Everything that is guessed of the reports, and what is left to fill in."""

    qids: list[GuessedQid] = field(default_factory=list)
    terms: list[GuessedTerm] = field(default_factory=list)
    period: GuessedPeriod | None = None
    file_period: tuple[str, str] | None = None
    """``period_pattern`` and ``period_label``."""
    roles: tuple[Column, tuple[str, ...]] | None = None
    """Of the table of drugs: the column of their roles, and which of these are suspected."""
    open: list[str] = field(default_factory=list)
    """What is to be filled in, each a sentence."""
    candidates: list[str] = field(default_factory=list)
    """What may be a quasi-identifier or tell periods as well."""


def found_in(report: FoundTable, children: Sequence[FoundTable]) -> Found:
    """What is guessed of the reports and of the tables that have their rows."""
    found = Found()
    _find_period(report, children, found)
    _find_qids(report, found)
    _find_terms(report, children, found)
    _find_candidates(report, found)
    return found


def _find_qids(report: FoundTable, found: Found) -> None:
    taken: set[str] = set()
    ids = {*report.key, report.case}
    ranked = sorted(report.columns, key=lambda c: (not (c.numeric or c.comma or c.units), c.place))
    told = {column.place: _concept(column) for column in report.columns}
    for column in ranked:
        concept = told[column.place]
        if concept is None or column.place in ids or not column.known or column.date:
            continue
        if words_of(column.header) & UNIT_WORDS - {concept} and concept in UNITS:
            continue  # the unit of another column
        if concept in taken:
            found.candidates.append(
                f"{_shown(column)} may tell the {concept.replace('_', ' ')} as well ({column.told})"
            )
            continue
        guess = _qid(report, column, concept, found)
        if guess is not None:
            taken.add(concept)
            found.qids.append(guess)
    found.qids.sort(key=lambda qid: qid.column.place)
    if not found.qids:
        found.open.append(
            "[[qid]]: no column is known to tell age, sex, weight or country: declare what "
            "attackers may know of a patient"
        )


def _find_candidates(report: FoundTable, found: Found) -> None:
    """Columns with few different values that are nothing else."""
    used = {qid.column.place for qid in found.qids} | {*report.key, report.case}
    used |= {t.column.place for t in found.terms if t.table is report}
    for column in report.columns:
        if column.place in used or column.date or column.labels:
            continue
        if column.header and concept_of(column.header) is None and column.coded:
            found.candidates.append(
                f"{_shown(column)} has few different values ({column.told}): a quasi-identifier, "
                "if an attacker may know it"
            )
        elif not column.header and column.different > _LEAST_BY_VALUE and column.numeric:
            found.candidates.append(f"{_shown(column)}: {column.told}, such as an age or a weight")


def _concept(column: Column) -> str | None:
    """What a column tells of a patient, by its name or, without one, by its codes."""
    if column.header:
        return concept_of(column.header)
    if tells_sex(column):
        return SEX
    best = _shipped(column)
    known = best is not None and column.different >= _LEAST_BY_VALUE
    return {"us_states": "state", "countries": "country"}.get(best or "", "age") if known else None


def _qid(report: FoundTable, column: Column, concept: str, found: Found) -> GuessedQid | None:
    if concept in RANGES and (column.numeric or column.comma or column.units):
        return _number(report, column, concept, found)
    if concept in RANGES and concept == "birth_year":
        return None
    return _category(column, concept, found)


def _number(report: FoundTable, column: Column, concept: str, found: Found) -> GuessedQid | None:
    low, high, unit, rounding = RANGES[concept]
    settings: dict[str, Any] = {"unit": unit, "domain": [low, high], "rounding": rounding}
    why = f"its name says {concept.replace('_', ' ')}; {column.told}"
    units, unit_column = column.units, None
    if units:
        settings["unit_in_value"] = True
    else:
        unit_column = _unit_column(report, column, concept)
        units = Counter({t.upper(): n for t, n in unit_column.known.items()} if unit_column else {})
    known = UNITS.get(concept, {})
    if units:
        settings["units"] = dict(known) if set(units) & set(known) else {}
        if lost := [code for code in units if code not in known]:
            found.open.append(
                f"qid.{concept}.units: {len(lost)} unit(s) of {_shown(unit_column or column)} are "
                f"not known here: give their factor to {unit}"
            )
        if not settings["units"]:
            return None
    elif _outside(column, low, high) > _OUTSIDE:
        found.open.append(
            f"[[qid]]: {_shown(column)} looks like the {concept}, but many of its numbers lie "
            f"outside {low} to {high} {unit}: say in which unit they are"
        )
        return None
    missing = _unknown_codes(column)
    if missing:
        settings["missing"] = missing
    return GuessedQid(concept, column, "numeric", settings, why, unit_column=unit_column)


def _unit_column(report: FoundTable, column: Column, concept: str) -> Column | None:
    """The column with the units of another: of the same thing by its name, with codes of units."""
    for other in report.columns:
        words = words_of(other.header)
        named = concept_of(other.header) == concept and words & UNIT_WORDS
        if other is not column and named and other.counts and not other.numeric:
            return other
    return None


def _outside(column: Column, low: int, high: int) -> float:
    numbers = ((float(text.replace(",", ".")), n) for text, n in column.known.items()
               if re.fullmatch(r"[+-]?[\d.,]*\d[.,]?", text) and text.count(",") < 2)  # fmt: skip
    beyond = sum(n for number, n in numbers if not low <= number < high + 1)
    return beyond / column.known.total()


def _unknown_codes(column: Column) -> list[str]:
    return sorted({text.upper() for text in column.counts if text.upper() in UNKNOWN_WORDS})


def _category(column: Column, concept: str, found: Found) -> GuessedQid | None:
    missing = _unknown_codes(column)
    settings: dict[str, Any] = {}
    if concept == SEX and (aliases := _sexes(column, missing)) is not None:
        settings["hierarchy"] = "hierarchies/sex.csv"
        why = f"its name says sex; {column.told}"
        if set(aliases) & {"1", "2"}:
            why = "its name says sex; 1 is taken for male and 2 for female (ISO 5218): look it up"
        if not column.header:
            why = "it has codes of both sexes"
        settings |= {"aliases": aliases} if aliases else {}
        settings |= {"missing": missing} if missing else {}
        return GuessedQid(SEX, column, "categorical", settings, why)
    settings |= {"missing": missing} if missing else {}
    shipped = _shipped(column)
    if shipped is not None:
        settings = {"hierarchy": f"hierarchies/{shipped}.csv", **settings}
        why = f"its values are those of the hierarchy {shipped}.csv, which ships"
        return GuessedQid(concept, column, "categorical", settings, why)
    leaves = _leaves(column)
    if len(leaves) < 2 or len(leaves) > MOST_CODES:
        found.open.append(
            f"[[qid]]: {_shown(column)} looks like the {concept}, with {column.different:,} "
            "different values: write a hierarchy of them, and declare it"
        )
        return None
    why = f"its name says {concept}; {column.told}; all values stand beneath one node: group them"
    return GuessedQid(concept, column, "categorical", settings, why, leaves=leaves)


def _leaves(column: Column) -> tuple[str, ...]:
    """The values of a column, each in its commonest spelling."""
    spelled: dict[str, str] = {}
    for text, _ in sorted(column.known.items(), key=lambda each: (-each[1], each[0])):
        if not breaks_line(text):
            spelled.setdefault(text.upper(), text)
    return tuple(sorted(spelled.values()))


def _sexes(column: Column, missing: list[str]) -> dict[str, str] | None:
    """The codes of a column -> M or F; what is neither is missing. None: it has other codes."""
    codes = {text.upper(): text for text in column.known}
    if set(codes) <= {"1", "2", *_UNKNOWN_DIGITS} and {"1", "2"} <= set(codes):
        missing += sorted(set(codes) & _UNKNOWN_DIGITS)
        return {"1": "M", "2": "F"}
    if not tells_sex(column):
        return None
    missing += sorted(text for code, text in codes.items() if code not in MALE | FEMALE)
    found = {codes[c]: "M" for c in sorted(codes) if c in MALE and c != "M"}
    return found | {codes[c]: "F" for c in sorted(codes) if c in FEMALE and c != "F"}


def _shipped(column: Column) -> str | None:
    """The hierarchy that ships whose nodes nearly all values are."""
    total, best = column.known.total(), (0.0, "")
    for name in SHIPPED if total and column.different > 1 else ():
        labels = _labels(name)
        share = sum(n for text, n in column.known.items() if text.upper() in labels) / total
        best = max(best, (share, name))
    return best[1] if best[0] >= _SHIPPED_FIT else None


@cache
def _labels(name: str) -> frozenset[str]:
    tree = load_hierarchy(resources.files("srsql.schemas.hierarchies") / f"{name}.csv")
    return frozenset(label.upper() for label in tree.labels)


def _find_terms(report: FoundTable, children: Sequence[FoundTable], found: Found) -> None:
    used = {qid.column.place for qid in found.qids} | set(report.key)
    used |= set() if report.case is None else {report.case}
    for table in (*children, report):
        taken = set(table.key) if table is not report else used
        for kind in KINDS:
            term = _term(table, kind, taken, report)
            if term is not None:
                if term.more:
                    found.open.append(
                        f"publish: {_shown(term.column)} tells more than terms, in brackets: say "
                        "by split with take what of it may be published"
                    )
                taken.update(c.place for c in (term.column, *term.parts))
                found.terms.append(term)
    if not any(term.sensitive for term in found.terms):
        _unnamed_term(report, children, found)
    drugs = next((term for term in found.terms if term.kind == DRUG), None)
    if drugs is not None and drugs.table is not report:
        found.roles = _role(drugs)


def _term(
    table: FoundTable, kind: str, taken: Iterable[int], report: FoundTable
) -> GuessedTerm | None:
    """The column of a table whose name says most clearly that it has terms of a kind."""
    skipped, best = set(taken), None
    for column in table.columns:
        name = plain(column.header)
        if not name or column.place in skipped or not column.counts or column.date:
            continue
        strong = STRONG[kind].search(name) is not None and not NEVER.search(name)
        weak = WEAK[kind].search(name) is not None
        if not strong and (not weak or NO_TERM.search(name) or not column.terms):
            continue
        separator = _separator(column) if table is report else None
        told = column.terms or separator is not None or (strong and column.short)
        score = (strong, column.filled * 2 >= len(column.texts), -column.place)
        if told and (best is None or score > best[0]):
            best = score, column, separator
    if best is None:
        return None
    column, separator = best[1], best[2]
    parts = _numbered(table, column)
    why = f"its name says {kind}; {column.told}"
    if separator is not None:
        why = (
            f"its name says {kind}; several terms stand in a cell, with {separator!r} between them"
        )
    if parts:
        why = f"its name says {kind}; {len(parts)} columns of one name hold a term each"
    name = _stem(table.named(column.place)) if parts else table.named(column.place)
    take, more = _taken(column, separator) if table is report else (None, False)
    return GuessedTerm(table, column, kind, why, name, parts, separator, take, more)


def _taken(column: Column, separator: str | None) -> tuple[str | None, bool]:
    """How to take the term of a cell of a report, and whether more of it would get out."""
    pieces = Counter[str]()
    for text, count in column.known.items():
        for piece in text.split(separator) if separator is not None else (text,):
            pieces[piece.strip()] += count
    told = sum(n for piece, n in pieces.items() if re.search(r"[(\[]", piece))
    if told <= _BRACKETS * pieces.total():
        return None, False
    fitting = sum(n for piece, n in pieces.items() if re.fullmatch(TAKE, piece))
    fits = separator is not None and fitting == pieces.total()
    return (TAKE, False) if fits else (None, True)


def _stem(name: str) -> str:
    return name.rstrip("0123456789").rstrip("_")


def _numbered(table: FoundTable, column: Column) -> tuple[Column, ...]:
    """The columns that have one name but for the number at its end, if there are several."""
    header = column.header
    if not header[-1:].isdigit():
        return ()
    same = [
        c for c in table.columns if _stem(c.header) == _stem(header) and c.header != _stem(header)
    ]
    numbered = [c for c in same if c.header[-1:].isdigit() and not (c.counts and c.numeric)]
    return tuple(numbered) if len(numbered) > 1 else ()


def _separator(column: Column) -> str | None:
    """What stands between terms of a cell, where many cells have several that come again."""
    for separator in SEPARATORS:
        split = Counter[str]()
        several = 0
        for text, count in column.known.items():
            pieces = [piece.strip() for piece in text.split(separator) if piece.strip()]
            several += count * (len(pieces) > 1)
            split.update(dict.fromkeys(pieces, count))
        if several >= _SPLIT_CELLS * column.known.total() and len(split) * 2 <= split.total():
            return separator
    return None


def _unnamed_term(report: FoundTable, children: Sequence[FoundTable], found: Found) -> None:
    """Take the texts that most look like terms for sensitive, where no name says which are."""
    best: tuple[int, FoundTable, Column] | None = None
    for table in children or (report,):
        used = {*table.key} | {qid.column.place for qid in found.qids if table is report}
        named = {t.column.place for t in found.terms if t.table is table}
        for column in table.columns:
            if column.place in used | named or not column.terms or column.header:
                continue
            found.candidates.append(
                f"{_shown(column)} of {table.sample.name} may have terms ({column.told})"
            )
            if best is None or column.different > best[0]:
                best = column.different, table, column
    if best is None:
        found.open.append(
            "[[sensitive]]: no column is known to hold reactions or diagnoses: declare table and "
            "column of what theta is to bound"
        )
        return
    _, table, column = best
    why = "short texts that come again; no name says what they are"
    found.terms.append(GuessedTerm(table, column, None, why, table.named(column.place)))
    found.open.append(
        f"tables.{table.name}.publish: look at {table.named(column.place)!r}, and name it there if "
        "it may be published"
    )


def _role(drugs: GuessedTerm) -> tuple[Column, tuple[str, ...]] | None:
    for column in drugs.table.columns:
        suspect = [text for text in column.counts if text.upper() in ROLES]
        if suspect and column.different <= MOST_CODES and column is not drugs.column:
            return column, tuple(sorted(suspect))
    return None


def _find_period(report: FoundTable, children: Sequence[FoundTable], found: Found) -> None:
    tables = (report, *children)
    reader = report.sample.layout.reader
    for pattern, label in (
        ("(?i)(?:19|20)?([0-9]{2})q([1-4])", "20{0}Q{1}"),
        ("(?<![0-9])((?:19|20)[0-9]{2})(?![0-9])", "{0}"),
    ):
        if reader != "table" and all(re.search(pattern, t.sample.name) for t in tables):
            found.file_period = pattern, label
            break
    dated = []
    for column in report.columns:
        if column.date is not None or column.labels:
            dated.append((not tells(column.header, RECEIVED), column.place, column))
    for other, _, column in sorted(dated):
        if other or found.file_period or found.period:
            found.candidates.append(f"{_shown(column)} may tell periods ({column.told})")
        else:
            found.period = _period(column)


def _period(column: Column) -> GuessedPeriod:
    if column.date is None:
        return GuessedPeriod(column, "label", None, tuple(sorted(column.known)))
    python, declared = column.date
    labels = set()
    for text in column.known:
        try:
            day = datetime.strptime(text[:10] if declared is None and "-" in text else text, python)
        except ValueError:
            continue
        labels.add(f"{day.year}Q{(day.month + 2) // 3}")
    return GuessedPeriod(column, "quarter", declared, tuple(sorted(labels)))


def _shown(column: Column) -> str:
    return repr(column.header) if column.header else f"column {column.place + 1}"
