"""Sources of every text reader with signs changed at random, and what is due of them."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracles.source_records import (
    WHITE,
    Record,
    Rule,
    any_text,
    cleaned,
    lines_of,
    records,
    whole_number,
)
from support.archives import faers, vaers

from srsql.schemas import Dataset, load_dataset, parse_dataset

OWN = """
name = "own"
report_table = "rep"
report_id = "id"
case_id = "id"
id_type = "TYPE"
[source]
reader = "csv"
delimiter = "MARK"
[tables.rep]
files = ["*.csv"]
columns = ["id", "sex", "drug", "note", "pt"]
publish = ["drug"]
[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "hierarchies/sex.csv"
[[sensitive]]
table = "rep"
column = "pt"
"""
DRUGS = ("ASPIRIN", "ALPHA 6 MG", 'GAMMA 10" PATCH', '5" LINE', "BETA", "Ω-3 ACID", "")
NOTES = (
    "", "well", "says so, twice", 'he said "no"', "first line\nsecond, line\nthird", "a;b|c\td",
    'the "end"\n', "\nlate", "2 mg, then 4\n\n1, 2, 3", "été", 'x","y', '"',
)  # fmt: skip
TERMS = ("Nausea", "Rash", "Crohn's disease", "Pain, chest", "Pyrexia")
SIGNS = (
    '"', '"', '"', '""', "\n", "\n", "\r\n", "\r", "a", " ", "é", "\t", "\x01", "\x85",
    "\u2028",
)  # fmt: skip


def report_number(number: int) -> str:
    """The id of a record, far from those of its neighbours: seven digits, the first one a 4."""
    return str(4_000_000 + number * 7919 % 999_983)


@dataclass(frozen=True)
class Kind:
    """A reader, and files of it."""

    name: str
    delimiter: str
    columns: tuple[str, ...]
    integer: bool = True
    quoted: bool = True
    separator_at_end: bool = False
    """Every record ends with a delimiter, as in legacy files."""

    def rule(self) -> Rule:
        """How the contract reads it."""
        is_id = whole_number if self.integer else any_text
        return Rule(self.delimiter, self.quoted, len(self.columns), 0, is_id)

    def dataset(self, folder: Path) -> Dataset:
        """How it is declared."""
        if self.name == "faers":
            return load_dataset(self.name)
        if self.name == "vaers":  # by the names of its files: the records are no dates' affair
            own = load_dataset(self.name)
            source = own.source.model_copy(update={"period": "label", "encoding": None})
            return own.model_copy(update={"source": source})
        text = OWN.replace("TYPE", "integer" if self.integer else "text")
        return parse_dataset(text.replace("MARK", self.delimiter.replace("\t", "\\t")), folder)

    def table(self) -> str:
        """The raw table that is filled."""
        return "raw_own.rep" if self.name.startswith("own") else f"raw_{self.name}.demo"

    def files(self, text: str, year: int) -> dict[str, str | bytes]:
        """A source whose report table is this text."""
        if self.name == "faers":
            return faers(f"{year % 100:02}Q1", demo=text)
        if self.name == "vaers":
            return vaers(text, str(year)) | {f"{year}VAERSDATA.csv": text}
        return {"rep.csv": text}

    def row(self, rng: random.Random, number: int) -> tuple[str, ...]:
        """The fields of one record."""
        report = report_number(number)
        drug, note, term = rng.choice(DRUGS), rng.choice(NOTES), rng.choice(TERMS)
        if self.name == "faers":
            plain = note.replace("\n", " ").replace("$", "")
            return (report, f"9{number:05}", plain, rng.choice("MF"), drug, "US")
        if self.name == "vaers":
            return (report, "CT", str(rng.randrange(90)), rng.choice("MF"), note, drug)
        return (report if self.integer else f"R{report}", rng.choice("MF"), drug, note, term)


KINDS = (
    Kind("own", ",", ("id", "sex", "drug", "note", "pt")),
    Kind("own_text", ",", ("id", "sex", "drug", "note", "pt"), integer=False),
    Kind("own_bar", "|", ("id", "sex", "drug", "note", "pt")),
    Kind("own_semicolon", ";", ("id", "sex", "drug", "note", "pt"), separator_at_end=True),
    Kind("own_tab", "\t", ("id", "sex", "drug", "note", "pt")),
    Kind(
        "faers", "$", ("primaryid", "caseid", "mfr_sndr", "sex", "auth_num", "reporter_country"),
        quoted=False,
    ),
    Kind("vaers", ",", ("vaers_id", "state", "age_yrs", "sex", "symptom_text", "other_meds")),
)  # fmt: skip


def valid_records(kind: Kind, rng: random.Random, count: int) -> list[str]:
    """The texts of so many records, each with its line end; quotes in the middle of a field without
    another reason for quotes may stand as they are, as in files of devices."""
    texts = []
    for number in range(count):
        row = kind.row(rng, number)
        if not kind.quoted:
            texts.append(kind.delimiter.join(row) + "\n")
            continue
        written = io.StringIO()
        style = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        form: Any = {"delimiter": kind.delimiter, "quoting": style, "lineterminator": "\n"}
        csv.writer(written, **form).writerow(row)
        text = written.getvalue().removesuffix("\n")
        if style == csv.QUOTE_MINIMAL and '10"' in row[2] and rng.random() < 0.5:
            text = text.replace('"GAMMA 10"" PATCH"', 'GAMMA 10" PATCH')
        end = kind.delimiter if kind.separator_at_end else ""
        texts.append(text + end + rng.choice(("\n", "\n", "\r\n")))
    return texts


def mutate(
    kind: Kind, rng: random.Random, texts: list[str], times: int
) -> tuple[list[str], set[int]]:
    """The texts after so many changes, and the numbers of those that nothing happened to."""
    changed, touched = list(texts), set()
    for _ in range(times):
        at = rng.randrange(len(changed))
        text = changed[at]
        marks = [n for n, sign in enumerate(text) if sign in f'"\n{kind.delimiter}']
        place = rng.choice(marks) if marks and rng.random() < 0.6 else rng.randrange(len(text) + 1)
        way = rng.randrange(6)
        sign = rng.choice((*SIGNS, kind.delimiter, kind.delimiter))
        if way < 2:
            text = text[:place] + sign + text[place:]
        elif way == 2:
            text = text[:place] + text[place + 1 :]
        elif way == 3:
            text = text[:place] + sign + text[place + 1 :]
        elif way == 4:
            text = text[:place] + text[place + rng.randrange(1, 12) :]
        else:
            text = text[:place] + text[max(0, place - rng.randrange(1, 12)) :]
        touched |= {at, at + 1} if not text.endswith("\n") else {at}
        changed[at] = text
    return changed, set(range(len(texts))) - touched


@dataclass(frozen=True)
class Expected:
    """What the contract makes of a file."""

    loaded: list[tuple[Record, tuple[Any, ...]]]
    """The records that are loaded, and their values, blanks as None."""
    rejected: list[Record]
    last: int
    """The number of the last physical line."""


def expected(kind: Kind, text: str) -> Expected:
    """Which records are loaded: those of the width of the file whose ids are ids and new."""
    rule, lines = kind.rule(), lines_of(text)
    found = records(lines, rule)
    plain = sum(len(r.fields or []) == rule.width for r in found)
    trailing = sum(len(r.fields or []) == rule.width + 1 and r.fields[-1:] == [""] for r in found)
    width = rule.width + (trailing > plain)
    ids = 2 if kind.name == "faers" else 1
    read: Callable[[str], Any] = (lambda t: int(t.strip(WHITE))) if kind.integer else str.strip
    seen: set[Any] = set()
    loaded, rejected = [], []
    for record in found:
        fields = [cleaned(field) for field in record.fields or []]
        if len(fields) != width or not all(rule.is_id(field) for field in fields[:ids]):
            rejected.append(record)
            continue
        keys = [read(field) for field in fields[:ids]]
        if keys[0] in seen:
            rejected.append(record)
            continue
        seen.add(keys[0])
        values = (field or None for field in fields[ids : rule.width])
        loaded.append((record, (*keys, *values)))
    return Expected(loaded, rejected, len(lines))


def covered(parts: Sequence[Record]) -> list[int]:
    """The physical lines of some records, in order."""
    return sorted(line for r in parts for line in range(r.line, r.line + r.lines))
