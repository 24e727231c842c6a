"""The TOML of a first declaration, and the hierarchies that it needs."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from srsql.engine.errors import DatasetError
from srsql.engine.extras.first_dataset.columns import NULL_WORDS
from srsql.engine.extras.first_dataset.guesses import (
    Found,
    GuessedQid,
    GuessedTerm,
    found_in,
)
from srsql.engine.extras.first_dataset.samples import RECORDS, read_samples
from srsql.engine.extras.first_dataset.tables import FoundTable, Structure, structure_of
from srsql.engine.extras.first_dataset.words import DRUG, INDICATION, REACTION
from srsql.engine.store.scratch import put_beside
from srsql.schemas.toml_file import SchemaError, parse_dataset

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NO_NUMBER = re.compile("[+-]|0[0-9]")
"""What an id begins with that would be another one as a number."""
_ROOT, _OTHER_ROOT = "Any", "All values"


@dataclass(frozen=True)
class Guess:
    """One key of the declaration, what it is guessed to be, and why."""

    key: str
    value: str
    why: str


@dataclass(frozen=True)
class FirstDataset:
    """What was written, and what is left to do."""

    file: str
    hierarchies: list[str]
    """Files of categories without a hierarchy that ships."""
    guesses: list[Guess]
    fill_in: list[str]
    """What could not be decided, each with what to fill in."""
    candidates: list[str]
    """Columns that may be quasi-identifiers or tell periods as well."""
    loads: bool
    """Whether it can be used as it is."""
    next: str
    """The command that reads the files by it."""


@dataclass
class _Toml:
    """Lines of the file, and the guesses among them."""

    lines: list[str] = field(default_factory=list)
    guesses: list[Guess] = field(default_factory=list)
    place: str = ""
    """What stands before a key where guesses are listed."""

    def head(self, section: str, item: str | None = None) -> None:
        """A table; with ``item``, one of several of that name."""
        self.lines += ["", f"[{section}]" if item is None else f"[[{section}]]"]
        self.place = f"{section}." if item is None else f"{section}.{item}."

    def add(self, key: str, value: Any, why: str = "") -> None:
        """A key with its value; with ``why``, a guess."""
        line = f"{key} = {_value(value)}"
        if why:
            self.guesses.append(Guess(f"{self.place}{key}", _value(value), why))
            line += f"  # guess: {_comment(why)}"
        self.lines.append(line)

    def say(self, text: str) -> None:
        self.lines.append(f"# {_comment(text)}")


def write_first_dataset(paths: Sequence[str | Path], to: str | Path) -> FirstDataset:
    """Guess a dataset from files or tables, and write its TOML.

    Args:
        paths: files, folders or zips of CSV and the like, Parquet files, or a DuckDB file.
        to: the TOML file; hierarchies are written beside it. Nothing is overwritten.

    Returns:
        What was guessed, and what is to be filled in.

    Raises:
        IngestError: no records can be read.
        DatasetError: a file is there already, or the name is none of a dataset.
    """
    target = Path(to)
    name = target.stem.lower().replace("-", "_")
    if target.suffix.lower() != ".toml" or not _NAME.fullmatch(name):
        raise DatasetError(
            f"--to {target}: give a name such as clinic.toml, which begins with a letter and has "
            "letters, digits and underscores"
        )
    places = [Path(path) for path in paths]
    samples, skipped = read_samples(places)
    structure = structure_of(samples)
    toml, trees, found = _Toml(), dict[str, str](), Found()
    tables = [t for t in (structure.report, *structure.children) if t] or list(structure.others)
    toml.say(
        f"A first declaration of {', '.join(t.sample.name for t in tables)}, guessed by srsql init"
    )
    toml.say(f"from the first {RECORDS:,} records of each. Read every guess before you use it:")
    toml.say("what is not declared is neither read nor published.")
    toml.add("name", name)
    if structure.report is None:
        _undecided(toml, structure, found)
    else:
        found = found_in(structure.report, structure.children)
        trees = _declare(toml, structure, structure.report, found, name)
    for reason in skipped:
        toml.say(f"not read: {reason}")
    command = _next(places, target, tables, found)
    text = "\n".join(toml.lines) + "\n"
    _put(target, text, trees)
    loads = _loads(text, target)
    return FirstDataset(
        str(target),
        [str(target.with_name(file)) for file in trees],
        toml.guesses,
        found.open,
        found.candidates,
        loads,
        command,
    )


def _undecided(toml: _Toml, structure: Structure, found: Found) -> None:
    found.open.append(
        "report_table, report_id, case_id: no column has a value of its own in every record: say "
        "which one tells reports apart (a key of several columns: key in docs/configuration.md)"
    )
    toml.say(f"FILL IN: {found.open[0]}")
    _source(toml, structure.others, found)
    for table in structure.others:
        toml.head(f"tables.{table.name}")
        _file(toml, table)
        _columns(toml, table, range(len(table.columns)), {})
        _told(toml, table, range(len(table.columns)))


def _declare(
    toml: _Toml, structure: Structure, report: FoundTable, found: Found, name: str
) -> dict[str, str]:
    """Write the whole declaration; the hierarchies that it needs, by the names of their files."""
    toml.add("report_table", report.name, "it tells most of patients, one record a report")
    _ids(toml, report, structure.children)
    tables = [report, *(t for t in structure.children if any(x.table is t for x in found.terms))]
    _source(toml, tables, found)
    for table in tables:
        _table(toml, table, report, found)
        for term in found.terms:
            if term.table is table and term.separator is not None:
                _split_table(toml, report, term)
    for table in (*structure.children, *structure.others):
        if table not in tables:
            why = "has no column of terms" if table.key else "has no column with ids of reports"
            toml.lines.append("")
            toml.say(f"not read: {table.sample.name}, which {why}")
    trees = {}
    for qid in found.qids:
        tree = f"{name}_{qid.name}.csv" if qid.leaves else None
        _qid(toml, report, qid, tree)
        if tree is not None:
            trees[tree] = _tree(qid)
    for text in found.candidates:
        toml.say(f"candidate: {text}")
    for term in found.terms:
        toml.head("sensitive" if term.sensitive else "quasi_sensitive", _table_of(term, report))
        toml.add("table", _table_of(term, report))
        toml.add("column", term.name, term.why)
    _signals(toml, report, found)
    if found.open:
        toml.lines.append("")
    for text in found.open:
        toml.say(f"FILL IN: {text}")
    return trees


def _ids(toml: _Toml, report: FoundTable, children: Sequence[FoundTable]) -> None:
    columns = [report.columns[place] for place in report.key]
    if len(columns) == 1:
        others = f", and {len(children)} other table(s) have it" if children else ""
        toml.add("report_id", _report_id(report), f"no two records share one{others}")
    else:
        both = " and ".join(report.named(place) for place in report.key)
        toml.add("report_id", _report_id(report), f"{both} together tell records apart")
    if report.case is None:
        why = "a report is taken for a case: name the column of the case if one has several reports"
        toml.add("case_id", _report_id(report), why)
    else:
        columns.append(report.columns[report.case])
        toml.add("case_id", report.named(report.case), "its name says case")
    plain = not any(_NO_NUMBER.match(text) for c in columns for text in c.texts)
    whole = plain and all(column.whole for column in columns)
    if whole and len(report.key) == 1:
        toml.add("id_type", "integer", "all ids are whole numbers")
    else:
        toml.add("id_type", "text", "ids are texts, or have several parts")


def _report_id(report: FoundTable) -> str:
    return report.named(report.key[0]) if len(report.key) == 1 else "report_key"


def _source(toml: _Toml, tables: Sequence[FoundTable], found: Found) -> None:
    layout = tables[0].sample.layout
    toml.head("source")
    toml.add("reader", layout.reader)
    if layout.reader == "csv":
        toml.add("delimiter", layout.delimiter, "by it most lines have as many fields as line 1")
        if layout.quote != '"':
            why = "quotes stand within fields, and not around them"
            toml.add("quote", layout.quote, why if not layout.quote else "it stands around fields")
        if layout.escape is not None:
            toml.add("escape", layout.escape, "it stands before quotes within fields")
    if not layout.header:
        toml.add("header", False, "line 1 looks like the lines below it")
        found.open.append("tables: say by names what the columns of each file are called")
    if layout.encoding is not None:
        toml.add("encoding", layout.encoding, "lines are not UTF-8 and look like it")
    columns = [qid.column for qid in found.qids] + [term.column for term in found.terms]
    null = {text.upper() for c in columns for text in c.texts if text.upper() in NULL_WORDS}
    if null:
        toml.add("null", sorted(null), "tools write these words for a blank")
    if any(qid.column.comma for qid in found.qids):
        toml.add("decimal", ",", "numbers have a decimal comma")
    _period(toml, tables[0], found)


def _period(toml: _Toml, report: FoundTable, found: Found) -> None:
    if found.file_period is not None:
        pattern, label = found.file_period
        toml.add("period_pattern", pattern, "the names of all files have it")
        toml.add("period_label", label)
    elif found.period is not None:
        told = found.period
        why = f"{report.named(told.column.place)} tells {len(told.labels)} period(s) of the sample"
        if report.sample.layout.reader == "table":
            toml.add("period", told.kind, why)
            return
        value: dict[str, Any] = {"column": report.named(told.column.place), "kind": told.kind}
        toml.add("period", value | ({"format": told.form} if told.form else {}), why)
    else:
        toml.say("period: no file name or column is known to tell it: give --period to ingest, or")
        toml.say('period = { column = "...", kind = "quarter" } (docs/configuration.md)')


def _table(toml: _Toml, table: FoundTable, report: FoundTable, found: Found) -> None:
    terms = [t for t in found.terms if t.table is table and t.separator is None]
    used = {*table.key} | {t.column.place for t in terms if not t.parts}
    shown = [t.name for t in terms if t.kind is not None and not t.more]
    if table is report:
        used |= {qid.column.place for qid in found.qids}
        used |= {qid.unit_column.place for qid in found.qids if qid.unit_column}
        used |= set() if table.case is None else {table.case}
        used |= {found.period.column.place} if found.period else set()
    elif found.roles is not None and any(t.kind == DRUG for t in terms):
        used.add(found.roles[0].place)
        shown.append(table.named(found.roles[0].place))
    parts = {t.name: [c.header.strip().lower() for c in t.parts] for t in terms if t.parts}
    toml.head(f"tables.{table.name}")
    _file(toml, table)
    if len(report.key) > 1:
        toml.add("key", {"report_key": [table.named(place) for place in table.key]})
    if table is report and found.period and table.sample.layout.reader == "table":
        toml.add("period_column", found.period.column.header)
    if not table.sample.layout.header:
        toml.add("names", list(table.names))
    toml.add("publish", shown, "terms are published as they are" if shown else "")
    _columns(toml, table, sorted(used), parts)
    _told(toml, table, [c.place for c in table.columns if c.place not in used])


def _split_table(toml: _Toml, report: FoundTable, term: GuessedTerm) -> None:
    """The table of terms that stand in one cell of a report."""
    toml.head(f"tables.{_table_of(term, report)}")
    toml.add("same_file", report.name)
    if len(report.key) > 1:
        toml.add("key", {"report_key": [report.named(place) for place in report.key]})
    take = {"take": term.take} if term.take is not None else {}
    toml.add("split", {term.name: {"by": term.separator, **take}}, term.why)
    why = "" if term.more else "terms are published as they are"
    toml.add("publish", [] if term.more else [term.name], why)
    _columns(toml, report, sorted({*report.key, term.column.place}), {})


def _table_of(term: GuessedTerm, report: FoundTable) -> str:
    if term.separator is None:
        return term.table.name
    return f"{report.name}_{term.kind}"


def _file(toml: _Toml, table: FoundTable) -> None:
    if table.sample.layout.reader == "table":
        schema, _, name = table.sample.name.rpartition(".")
        words = [word for word in (schema, name) if word]
        toml.add("relation", ".".join(map(_word, words)))
    else:
        toml.add("files", [table.glob])


def _word(word: str) -> str:
    """A word of the name of a table, in quotes where it needs them."""
    return word if _NAME.fullmatch(word) else '"' + word.replace('"', '""') + '"'


def _columns(
    toml: _Toml, table: FoundTable, places: Sequence[int], parts: dict[str, list[str]]
) -> None:
    """``columns``, as a list where the file calls each as the dataset does; and ``unpivot``."""
    if parts:
        toml.add("unpivot", parts)
    names = [(table.named(place), table.columns[place].header) for place in places]
    if all(not header or header.strip().lower() == name for name, header in names):
        toml.add("columns", [name for name, _ in names])
        return
    pieces = [f"{name} = {_value([header] if header else [])}" for name, header in names]
    toml.lines.append(f"columns = {{ {', '.join(pieces)} }}")


def _told(toml: _Toml, table: FoundTable, places: Sequence[int]) -> None:
    """The columns that are not read, and what they hold."""
    for place in places:
        column = table.columns[place]
        shown = column.header or table.named(place)
        toml.say(f"not read: {shown} ({column.told})")


def _qid(toml: _Toml, report: FoundTable, qid: GuessedQid, tree: str | None) -> None:
    toml.head("qid", qid.name)
    toml.add("name", qid.name)
    toml.add("kind", qid.kind)
    toml.add("column", report.named(qid.column.place), qid.why)
    if tree is not None:
        toml.add("hierarchy", tree)
    if qid.unit_column is not None and "units" in qid.settings:
        toml.add("unit_column", report.named(qid.unit_column.place), "its name says unit")
    for key, value in qid.settings.items():
        toml.add(key, value)


def _signals(toml: _Toml, report: FoundTable, found: Found) -> None:
    """What signals count: a drug and a reaction in published rows of their own."""
    own = {
        t.kind: t
        for t in found.terms
        if t.kind and (t.table is not report or t.separator is not None)
    }
    if DRUG not in own or REACTION not in own:
        return
    toml.head("signals")
    toml.add("drug_table", _table_of(own[DRUG], report))
    toml.add("drug", own[DRUG].name)
    if found.roles is not None:
        toml.add("role", own[DRUG].table.named(found.roles[0].place), "it tells suspects")
        toml.add("suspect", list(found.roles[1]))
    toml.add("reaction_table", _table_of(own[REACTION], report))
    toml.add("reaction", own[REACTION].name)
    if INDICATION in own:
        toml.add("indication_table", _table_of(own[INDICATION], report))
        toml.add("indication", own[INDICATION].name)


def _tree(qid: GuessedQid) -> str:
    """The CSV of a hierarchy: a root, and every value beneath it."""
    root = _OTHER_ROOT if _ROOT.upper() in {leaf.upper() for leaf in qid.leaves} else _ROOT
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows([["node", "parent"], [root, ""], *([leaf, root] for leaf in qid.leaves)])
    return text.getvalue()


def _put(target: Path, text: str, trees: dict[str, str]) -> None:
    """Write all files or none; the TOML gets its name last.

    They have codes of reports, so that only their owner can read them.
    """
    files = {target.with_name(name): content for name, content in trees.items()} | {target: text}
    for file in files:
        if os.path.lexists(file):
            raise DatasetError(f"{file} is there already: give another name with --to, or move it")
    try:
        with ExitStack() as stack:
            for file, content in reversed(files.items()):  # left in the other order
                stack.enter_context(put_beside(file, over=False)).write_text(
                    content, encoding="utf-8"
                )
    except OSError as error:
        raise DatasetError(f"{target} cannot be written ({error.strerror})") from None


def _loads(text: str, target: Path) -> bool:
    try:
        return parse_dataset(text, target.parent, target.name).unused_key() is None
    except SchemaError:
        return False


def _next(paths: Sequence[Path], target: Path, tables: list[FoundTable], found: Found) -> str:
    """The command that reads the files."""
    relations = tables[0].sample.layout.reader == "table"
    if relations:
        words = ["srsql", "ingest", "--db", str(paths[0])]
    else:
        words = ["srsql", "ingest", *_places(paths, tables, found)]
    words += ["--dataset", str(target)]
    if found.period is not None and not relations:
        words += ["--period", found.period.labels[-1] if found.period.labels else "PERIOD"]
    elif found.period is None and found.file_period is None:
        words += ["--period", "PERIOD"]
    return shlex.join(words)


def _places(paths: Sequence[Path], tables: list[FoundTable], found: Found) -> list[str]:
    """What ingestion is given: the files of a period together, in a folder or a zip."""
    if len(tables) == 1 or not all(path.is_file() for path in paths) or len(paths) == 1:
        return list(map(str, paths))
    folders = {path.parent for path in paths}
    if len(folders) > 1:
        found.open.append("the files of one period lie in several folders: put them into one")
    return sorted(map(str, folders))[:1]


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(str(value))


def _key(text: str) -> str:
    return text if _PLAIN_KEY.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    """A basic string of TOML 1.0."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub("[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04X}", escaped) + '"'


def _comment(text: str) -> str:
    """A text as a comment has it, on one line."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text)
