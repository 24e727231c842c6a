"""Two dumps of one scenario, compared part by part."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from benchmarks.same_release.drawn import without_draws
from benchmarks.same_release.masks import masked, masked_artifact, masked_publication
from benchmarks.same_release.result import Result, Side, dictionaries, records
from benchmarks.same_release.scenarios import Draws, Scenario

DATA_FILES = ("value-thresholds.csv", "value-hierarchies.csv")
"""Files of an artifact whose lines are data, beside its tables."""
SUMS, MANIFEST, COLUMNS = "SHA256SUMS", "manifest.json", "columns.json"
NOTHING = Draws("", ())


def compare(scenario: Scenario, before: Path, after: Path) -> Result:
    """Compare two dumps of a scenario.

    Args:
        scenario: of both; says what is drawn in every run anew.
        before: folder of a dump.
        after: folder of the other dump.
    """
    return _Comparison(scenario.draws or NOTHING, before, after).result


class _Comparison:
    """All parts of two dumps."""

    def __init__(self, draws: Draws, before: Path, after: Path) -> None:
        self._draws = draws
        self._sides = Side(before), Side(after)
        self.result = Result((self._sides[0].version, self._sides[1].version))
        if draws.reason:
            self.result.notes.append(draws.reason)
        self._commands()
        self._tables()
        self._artifacts()
        for name in self._common("pages"):
            self.result.text(name, *self._read(f"pages/{name}"), html=True)
        self._documents("archives", "files.json")

    def _commands(self) -> None:
        """Documents, texts, exit codes and messages of the commands."""
        before, after = (side.document("commands.json") for side in self._sides)
        if len(before) != len(after):
            self.result.failures.append(f"{len(before)} commands before, {len(after)} after")
        for one, other in zip(before, after, strict=False):
            name = "srsql " + " ".join(one["arguments"][:3])
            if one["code"] != other["code"]:
                self.result.failures.append(f"{name}: exit code {one['code']} -> {other['code']}")
            if ("document" in one) != ("document" in other):
                self.result.failures.append(f"{name}: only one version prints a document")
            elif "document" in one:
                pair = [masked(answer["document"]) for answer in (one, other)]
                if one["arguments"][0] == "publish":
                    pair = [masked_publication(document) for document in pair]
                self.result.document("documents", name, *pair)
            elif one["text"] or other["text"]:
                self.result.text(f"{name} (printed)", one["text"], other["text"])
            if one["errors"] or other["errors"]:
                self.result.text(f"{name} (messages)", one["errors"], other["errors"])

    def _tables(self) -> None:
        """Released tables: columns with their types, manifests, rows."""
        self._documents("lists of columns", f"tables/{COLUMNS}")
        schemas: dict[str, list[str]] = defaultdict(list)
        for name in self._common("tables"):
            if name == COLUMNS:
                continue
            schema, table, kind = name.split(".")
            if kind == "json":
                self._documents("public manifests", f"tables/{name}")
                continue
            schemas[schema].append(table)
            if table not in self._draws.tables:
                self._rows("tables", f"tables/{name}")
        for schema, tables in schemas.items():
            self._drawn("tables with something drawn", f"tables/{schema}.", tables)

    def _artifacts(self) -> None:
        """Files of published artifacts; the tables of Parquet files are among the tables."""
        folders: dict[str, list[str]] = defaultdict(list)
        for name in self._common("artifacts"):
            file, place = Path(name), f"artifacts/{name}"
            one, other = (side.folder / place for side in self._sides)
            drawn = file.stem in self._draws.tables
            if file.suffix == ".csv":
                folders[str(file.parent)].append(file.stem)
            if file.name == MANIFEST:
                pair = [
                    masked(masked_artifact(side.document(place), self._draws.tables))
                    for side in self._sides
                ]
                self.result.document("artifact manifests", name, *pair)
            elif file.name == SUMS:
                lists = [[line.split()[-1] for line in t.splitlines()] for t in self._read(place)]
                self.result.document("lists of hashes", name, *lists)
            elif drawn:
                continue
            elif one.read_bytes() == other.read_bytes():
                self.result.equal["artifact files"] += 1
            elif file.suffix == ".parquet":
                self.result.texts.append(
                    (f"{name}: other bytes; its rows are among the tables", [])
                )
            elif self._is_data(name):
                self._rows("artifact files", place)
            else:
                self.result.text(name, *self._read(place), html=True)
        for folder, tables in folders.items():
            self._drawn("artifact files with something drawn", f"artifacts/{folder}/", tables)

    def _rows(self, kind: str, place: str) -> None:
        """Byte for byte, in the order in which they are stored."""
        one, other = (side.folder / place for side in self._sides)
        if one.read_bytes() == other.read_bytes():
            self.result.equal[kind] += 1
            self.result.equal["rows"] += len(records(one)) - 1
        else:
            self.result.rows(place, records(one), records(other))

    def _drawn(self, kind: str, prefix: str, tables: list[str]) -> None:
        """The tables of one schema that have something drawn, by what is not drawn of them."""
        needed = {t for t in tables if t in (*self._draws.tables, *self._draws.read)}
        before, after = (
            without_draws(
                {table: dictionaries(side.folder / f"{prefix}{table}.csv") for table in needed},
                clusters=self._draws.clusters,
            )
            for side in self._sides
        )
        for table in sorted(needed.intersection(self._draws.tables)):
            if before[table] == after[table]:
                self.result.equal[kind] += 1
            else:
                name = f"{prefix}{table}.csv, without what is drawn"
                self.result.rows(name, before[table], after[table])

    def _is_data(self, name: str) -> bool:
        """Whether a file of an artifact is a table, rather than a text."""
        file = Path(name)
        manifest = self._sides[0].document(f"artifacts/{file.parent}/{MANIFEST}")
        return file.name in (*DATA_FILES, *(table["file"] for table in manifest["tables"]))

    def _documents(self, kind: str, place: str) -> None:
        self.result.document(kind, place, *(masked(side.document(place)) for side in self._sides))

    def _read(self, place: str) -> list[str]:
        return [(side.folder / place).read_text(encoding="utf-8") for side in self._sides]

    def _common(self, where: str) -> list[str]:
        """Names of the files on both sides; those on one side only are failures."""
        before, after = (side.names(where) for side in self._sides)
        for name in sorted(set(before) ^ set(after)):
            side = "before" if name in before else "after"
            self.result.failures.append(f"{where}/{name}: only {side}")
        return [name for name in before if name in set(after)]
