"""Two dumps of one scenario: what is equal, what differs, and which texts have changed."""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.same_release.documents import (
    TO_TWELVE_DIGITS,
    Difference,
    differences,
    leaves,
)
from benchmarks.same_release.drawn import Row, without_draws
from benchmarks.same_release.masks import (
    masked,
    masked_artifact,
    masked_publication,
    masked_text,
)
from benchmarks.same_release.scenarios import Scenario

SHOWN = 8
"""Differences of one document or table that are told."""
DATA_FILES = ("value-thresholds.csv", "value-hierarchies.csv")
SUMS, MANIFEST, COLUMNS = "SHA256SUMS", "manifest.json", "columns.json"


@dataclass
class Result:
    """What came of comparing two dumps."""

    equal: Counter[str] = field(default_factory=Counter)
    """Kind -> how many of that kind are equal."""
    notes: list[str] = field(default_factory=list)
    """What could only be compared without its order or numbers, and why."""
    texts: list[tuple[str, list[str]]] = field(default_factory=list)
    """Name of a text that changed, and its unified diff."""
    failures: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return not self.failures


@dataclass(frozen=True)
class Side:
    """A dump as it lies in its folder."""

    folder: Path

    def document(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def names(self, where: str) -> list[str]:
        folder = self.folder / where
        found = folder.rglob("*") if folder.is_dir() else ()
        return sorted(str(path.relative_to(folder)) for path in found if path.is_file())

    @property
    def version(self) -> str:
        return str(self.document("scenario.json")["version"])


class Comparison:
    """Two dumps of one scenario, compared part by part."""

    def __init__(self, scenario: Scenario, before: Path, after: Path) -> None:
        self._scenario = scenario
        self._sides = Side(before), Side(after)
        self._result = Result()
        draws = scenario.draws
        self._drawn: Collection[str] = draws.tables if draws else ()

    def result(self) -> Result:
        if self._scenario.draws:
            self._result.notes.append(self._scenario.draws.reason)
        self._commands()
        self._tables()
        self._artifacts()
        self._pages()
        self._document("archives", "files.json", *(s.document("files.json") for s in self._sides))
        return self._result

    def _commands(self) -> None:
        """Documents, texts, exit codes and messages of the commands."""
        before, after = (side.document("commands.json") for side in self._sides)
        if len(before) != len(after):
            self._result.failures.append(f"{len(before)} commands before, {len(after)} after")
        for one, other in zip(before, after, strict=False):
            name = "srsql " + " ".join(one["arguments"][:3])
            if one["code"] != other["code"]:
                self._result.failures.append(f"{name}: exit code {one['code']} -> {other['code']}")
            if ("document" in one) != ("document" in other):
                self._result.failures.append(f"{name}: only one of them prints a document")
            elif "document" in one:
                documents = [masked(answer["document"]) for answer in (one, other)]
                if one["arguments"][0] == "publish":
                    documents = [masked_publication(document) for document in documents]
                self._document("documents", name, *documents)
            else:
                self._text(f"{name} (printed)", one["text"], other["text"])
            self._text(f"{name} (messages)", one["errors"], other["errors"])

    def _tables(self) -> None:
        """Released tables: columns with types, manifests, rows."""
        self._document(
            "lists of columns", "tables", *(s.document(f"tables/{COLUMNS}") for s in self._sides)
        )
        names = self._common("tables", "table")
        schemas: dict[str, list[str]] = defaultdict(list)
        for name in names:
            if name == COLUMNS:
                continue
            schema, table, kind = name.split(".")
            if kind == "json":
                documents = [masked(side.document(f"tables/{name}")) for side in self._sides]
                self._document("public manifests", name, *documents)
            elif table in self._drawn:
                schemas[schema].append(name)
            else:
                self._rows(name)
        for schema, drawn in schemas.items():
            self._drawn_tables(schema, drawn)

    def _rows(self, name: str) -> None:
        """Byte for byte, in the order in which they are stored."""
        one, other = (side.folder / "tables" / name for side in self._sides)
        content = one.read_bytes(), other.read_bytes()
        if content[0] == content[1]:
            self._result.equal["tables"] += 1
            self._result.equal["rows"] += max(0, sum(1 for _ in _records(one)) - 1)
            return
        before, after = (list(map(tuple, _records(path))) for path in (one, other))
        self._different_rows(name, before, after)

    def _drawn_tables(self, schema: str, names: list[str]) -> None:
        """Tables of one schema that have something drawn."""
        clusters = self._scenario.draws is not None and self._scenario.draws.clusters
        forms = []
        for side in self._sides:
            tables = {
                name.split(".")[1]: _dictionaries(side.folder / "tables" / name) for name in names
            }
            forms.append(without_draws(tables, clusters=clusters))
        for table, before in forms[0].items():
            if before == forms[1][table]:
                self._result.equal["tables with something drawn"] += 1
            else:
                self._different_rows(
                    f"{schema}.{table} (without what is drawn)", before, forms[1][table]
                )

    def _different_rows(self, name: str, before: list[Any], after: list[Any]) -> None:
        only = Counter(map(repr, before)), Counter(map(repr, after))
        lost, gained = only[0] - only[1], only[1] - only[0]
        if not lost and not gained:
            place = next(
                i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
            )
            self._result.failures.append(
                f"{name}: the same rows in another order, from row {place} on"
            )
            return
        told = [f"- {row}" for row in list(lost)[:SHOWN]] + [
            f"+ {row}" for row in list(gained)[:SHOWN]
        ]
        self._result.failures.append(
            f"{name}: {lost.total()} of {len(before)} rows only before, "
            f"{gained.total()} of {len(after)} only after\n" + "\n".join(f"      {t}" for t in told)
        )

    def _artifacts(self) -> None:
        """Files of published artifacts; those with something drawn by their rows alone."""
        for name in self._common("artifacts", "artifact file"):
            one, other = (side.folder / "artifacts" / name for side in self._sides)
            if Path(name).name == MANIFEST:
                documents = [
                    masked(
                        masked_artifact(json.loads(path.read_text(encoding="utf-8")), self._drawn)
                    )
                    for path in (one, other)
                ]
                self._document("artifact manifests", name, *documents)
            elif Path(name).name == SUMS:
                lists = [[line.split()[-1] for line in _lines(path)] for path in (one, other)]
                self._document("lists of hashes", name, *lists)
            elif Path(name).stem in self._drawn:
                if Path(name).suffix == ".csv":
                    self._drawn_file(name)
            elif one.read_bytes() == other.read_bytes():
                self._result.equal["artifact files"] += 1
            elif Path(name).suffix == ".parquet":
                self._result.texts.append(
                    (f"{name}: other bytes; its rows are compared as a table", [])
                )
            elif Path(name).suffix == ".csv" and self._is_rows(name):
                self._different_rows(name, *(list(map(tuple, _records(p))) for p in (one, other)))
            else:
                self._text(name, *(p.read_text(encoding="utf-8") for p in (one, other)), html=True)

    def _drawn_file(self, name: str) -> None:
        """The CSV file of a table with something drawn: with the others of its folder, once."""
        folder = Path(name).parent
        present = [
            n
            for n in self._drawn
            if (self._sides[0].folder / "artifacts" / folder / f"{n}.csv").exists()
        ]
        if Path(name).stem != min(present):
            return
        clusters = self._scenario.draws is not None and self._scenario.draws.clusters
        before, after = (
            without_draws(
                {
                    n: _dictionaries(side.folder / "artifacts" / folder / f"{n}.csv")
                    for n in present
                },
                clusters=clusters,
            )
            for side in self._sides
        )
        for table in present:
            if before[table] == after[table]:
                self._result.equal["artifact files with something drawn"] += 1
            else:
                self._different_rows(
                    f"{folder}/{table} (without what is drawn)", before[table], after[table]
                )

    def _is_rows(self, name: str) -> bool:
        path = Path(name)
        manifest = self._sides[0].document(f"artifacts/{path.parent}/{MANIFEST}")
        return path.name in DATA_FILES or path.name in {
            table["file"] for table in manifest["tables"]
        }

    def _pages(self) -> None:
        """Reports: text."""
        for name in self._common("pages", "page"):
            texts = [(s.folder / "pages" / name).read_text(encoding="utf-8") for s in self._sides]
            self._text(name, *texts, html=True)

    def _common(self, where: str, what: str) -> list[str]:
        """Names of the files on both sides; those on one side only are failures."""
        before, after = (side.names(where) for side in self._sides)
        for name in sorted(set(before) ^ set(after)):
            side = "before" if name in before else "after"
            self._result.failures.append(f"{what} {name}: only {side}")
        return [name for name in before if name in set(after)]

    def _document(self, kind: str, name: str, before: Any, after: Any) -> None:
        found = list(differences(before, after))
        values = [d for d in found if not d.is_text and not d.is_rounding]
        rounded = sum(d.is_rounding for d in found)
        if rounded:
            self._result.notes.append(
                f"{name}: {rounded} of {', '.join(sorted(TO_TWELVE_DIGITS))} differ behind the "
                "twelfth digit, as they do between two runs of one version"
            )
        if not values:
            self._result.equal[kind] += 1
            self._result.equal["values"] += leaves(before) - len(found)
        for difference in values[:SHOWN]:
            self._result.failures.append(f"{name}: {difference}")
        if len(values) > SHOWN:
            self._result.failures.append(f"{name}: {len(values) - SHOWN} more values differ")
        for difference in found:
            if difference.is_text:
                self._phrase(name, difference)

    def _phrase(self, name: str, difference: Difference) -> None:
        versions = [side.version for side in self._sides]
        pair = [str(difference.before), str(difference.after)]
        texts = [masked_text(text, version) for text, version in zip(pair, versions, strict=True)]
        if texts[0] != texts[1]:
            self._result.texts.append(
                (f"{name} {difference.path}{_numbers_note(*texts)}", unified(*texts))
            )

    def _text(self, name: str, before: str, after: str, *, html: bool = False) -> None:
        versions = [side.version for side in self._sides]
        texts = [masked_text(t, v) for t, v in zip((before, after), versions, strict=True)]
        if texts[0] == texts[1]:
            self._result.equal["texts"] += 1
            return
        if html:  # one element a line, so that a diff says where
            texts = [re.sub(r">\s*<", ">\n<", text) for text in texts]
        self._result.texts.append((name + _numbers_note(*texts), unified(*texts)))


def compare(scenario: Scenario, before: Path, after: Path) -> Result:
    """Compare two dumps of a scenario."""
    return Comparison(scenario, before, after).result()


def unified(before: str, after: str) -> list[str]:
    """A unified diff of two texts, without the names of files."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))[2:]


def _numbers_note(before: str, after: str) -> str:
    one, other = (Counter(re.findall(r"\d[\d.,]*", text)) for text in (before, after))
    return "" if one == other else " (its numbers differ as well)"


def _records(path: Path) -> Iterable[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.reader(file)


def _dictionaries(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
