"""Reads dictionaries of others as they are delivered: MedDRA, ATC, OMOP; or plain ones.

None of them ships with srsql: they are licensed. The layouts are those of the MedDRA Distribution
File Format Document (``mdhier.asc``, ``llt.asc``, ``smq_list.asc``, ``smq_content.asc``), of the
ATC index (a code and a name in a row), and of the OMOP Standardized Vocabularies (``concept`` and
``concept_ancestor``, as Athena delivers them).
"""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from srsql.schemas.dictionary import (
    Dictionary,
    DictionaryError,
    Maker,
    chained,
    of_hierarchy,
    of_table,
    read_rows,
)
from srsql.schemas.hierarchy import build_hierarchy, load_hierarchy
from srsql.schemas.outside import need_within

SHIPPED = "terms.csv"
"""The hierarchy of terms that ships: plain words of reports, and frequent ones of synthetic series,
in a grouping of our own, which anybody may use for anything (CC0)."""
MEDDRA = ("PT", "HLT", "HLGT", "SOC", "SMQ", "SMQ-narrow")
_MDHIER = {"PT": 4, "HLT": 5, "HLGT": 6, "SOC": 7}
"""Level -> place of its name in a row of ``mdhier.asc``."""
ATC = ("ATC5", "ATC4", "ATC3", "ATC2", "ATC1")
_ATC_CODE = {5: 7, 4: 5, 3: 4, 2: 3, 1: 1}
"""Level -> characters of its codes."""
_ATC_NAMES = ("atc_name", "atc_level_name", "name")
OMOP = (
    "Concept", "Ingredient", "ATC 5th", "ATC 4th", "ATC 3rd", "ATC 2nd", "ATC 1st", "PT", "HLT",
    "HLGT", "SOC",
)  # fmt: skip
"""The concept itself, and the concept classes of OMOP whose concepts are levels of others."""
_SHOWN = 80
"""Characters of a path that messages show where it may be too long to be one."""
KINDS = (
    "a CSV file (name, then its names on levels), a hierarchy (node,parent), an ATC index "
    "(atc_code,atc_name), or a folder with mdhier.asc, or with CONCEPT.csv and CONCEPT_ANCESTOR.csv"
)


def load_dictionaries(paths: Sequence[Path]) -> Dictionary:
    """Several dictionaries as one; see ``chained``.

    Raises:
        DictionaryError: see ``load_dictionary``.
    """
    return chained([load_dictionary(path) for path in paths])


def load_dictionary(path: Path | None) -> Dictionary:
    """Read a dictionary of any of the kinds; None: the hierarchy that ships.

    Raises:
        DictionaryError: it is none of the kinds, or a file of it cannot be read.
    """
    if path is None:
        tree = load_hierarchy(resources.files("srsql.schemas.hierarchies") / SHIPPED)
        return of_hierarchy(SHIPPED, tree)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise DictionaryError(f"there is no {path}: give {KINDS}") from None
        shown = f"{path}"[:_SHOWN]
        raise DictionaryError(f"{shown!r} cannot be read ({error.strerror})") from None
    except ValueError:
        raise DictionaryError(f"{f'{path}'[:_SHOWN]!r} is no path: give {KINDS}") from None
    if stat.S_ISDIR(mode):
        return _of_folder(path)
    if not stat.S_ISREG(mode):
        raise DictionaryError(f"{path} is a pipe, a device or the like: give {KINDS}")
    if path.suffix.lower() == ".asc":
        if path.name.lower() != "mdhier.asc":
            raise DictionaryError(f"{path.name} has no levels: give mdhier.asc or its folder")
        return _of_folder(path.parent)
    toml = path.suffix.lower() == ".toml"
    header = [] if toml else _header(path)
    if toml or {"node", "parent"} <= set(header):
        try:
            tree = load_hierarchy(path) if toml else build_hierarchy(_nodes(path, header))
            return of_hierarchy(path.name, tree)
        except DictionaryError:
            raise
        except (OSError, ValueError) as error:
            raise DictionaryError(f"{path.name}: {error}") from None
    if "atc_code" in header:
        return _of_atc(path, header)
    return of_table(path.name, read_rows(path))


def _header(path: Path) -> list[str]:
    """The names in the first row, in lower case, with underscores."""
    names = next(read_rows(path), [])
    return [re.sub(r"[^a-z0-9]+", "_", name.strip().lower()) for name in names] or [""]


def _nodes(path: Path, header: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a hierarchy, with any of the separators."""
    rows = read_rows(path)
    next(rows)
    return [dict(zip(header, row, strict=False)) for row in rows if row]


def _of_folder(folder: Path) -> Dictionary:
    readers: Mapping[str, Callable[[Mapping[str, Path]], Dictionary]] = {
        "mdhier.asc": _of_meddra,
        "concept_ancestor.csv": _of_omop,
    }
    for place in (folder, folder / "MedAscii"):
        files = {file.name.lower(): file for file in place.glob("*") if file.is_file()}
        for name, read in readers.items():
            if name in files:
                for file in files.values():
                    _need_within(file, folder)
                return replace(read(files), origin=folder.name or name)
    raise DictionaryError(f"{folder} has no dictionary: give {KINDS}")


def _need_within(file: Path, folder: Path) -> None:
    try:
        need_within(file, folder)
    except OSError as error:
        raise DictionaryError(f"{file}: {error}") from None


def _of_meddra(files: Mapping[str, Path]) -> Dictionary:
    """Terms of MedDRA along their primary path, as cumulative counts are made by the field."""
    maker = Maker("MedDRA", MEDDRA)
    paths: dict[str, dict[str, str]] = {}
    for row in _asc(files["mdhier.asc"], 12):
        if row[11].strip().upper() == "Y":
            paths[row[0]] = {level: row[place] for level, place in _MDHIER.items()}
            maker.add(row[4], paths[row[0]])
    lowest: dict[str, str] = {}
    below: dict[str, list[str]] = {}
    for row in _asc(files["llt.asc"], 3) if "llt.asc" in files else ():
        lowest[row[0]] = row[1]
        below.setdefault(row[2], []).append(row[1])
        maker.add(row[1], paths.get(row[2], {}))
    if {"smq_list.asc", "smq_content.asc"} <= files.keys():
        names = {row[0]: row[1] for row in _asc(files["smq_list.asc"], 2)}
        content: dict[str, list[list[str]]] = {}
        for row in _asc(files["smq_content.asc"], 7):
            if row[6].strip().upper() != "I":  # inactive
                content.setdefault(row[0], []).append(row)
        for code, name in names.items():
            for term, scope in _searched(code, content, names):
                listed = [paths[term]["PT"], *below.get(term, ())] if term in paths else []
                for each in listed or [lowest[t] for t in (term,) if t in lowest]:
                    maker.add(each, {"SMQ": name})
                    if scope == "2":
                        maker.add(each, {"SMQ-narrow": name})
    return maker.made()


def _searched(
    code: str, content: Mapping[str, list[list[str]]], queries: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """(code, scope) of the terms of a standardised query and of all queries below it, each once."""
    seen, waiting = {code}, [code]
    while waiting:
        for row in content.get(waiting.pop(), ()):
            if row[1] not in queries:
                yield row[1], row[3].strip()
            elif row[1] not in seen:
                seen.add(row[1])
                waiting.append(row[1])


def _asc(path: Path, fields: int) -> Iterator[list[str]]:
    """The rows of a file of MedDRA, which has no header.

    Raises:
        DictionaryError: a row has fewer fields than the layout.
    """
    for number, row in enumerate(read_rows(path, "$"), start=1):
        if not row:
            continue
        if len(row) < fields:
            raise DictionaryError(
                f"{path.name}: row {number} has {len(row)} fields, the layout of MedDRA has "
                f"{fields}: is the file whole?"
            )
        yield row


def _of_atc(path: Path, header: Sequence[str]) -> Dictionary:
    """Substances and their classes; the same name under several codes is in the classes of each."""
    place = next((header.index(name) for name in _ATC_NAMES if name in header), None)
    if place is None:
        raise DictionaryError(f"{path.name}: beside atc_code there must be atc_name")
    code_at, rows = header.index("atc_code"), read_rows(path)
    names: dict[str, str] = {}
    next(rows)
    for row in rows:
        if len(row) > max(code_at, place):
            names[row[code_at].strip().upper()] = row[place].strip()
    maker = Maker(path.name, ATC)
    for code, name in names.items():
        if len(code) != _ATC_CODE[5]:
            continue
        path_up = {"ATC5": name}
        for level in (4, 3, 2, 1):
            up = code[: _ATC_CODE[level]]
            path_up[f"ATC{level}"] = f"{up} {names.get(up, '')}".strip()
        maker.add(name, path_up)
    return maker.made()


def _of_omop(files: Mapping[str, Path]) -> Dictionary:
    """Concepts, by name and by number, below the concepts of the classes ``OMOP``."""
    if "concept.csv" not in files:
        raise DictionaryError("CONCEPT.csv is not beside CONCEPT_ANCESTOR.csv: put it there")
    concept = ("concept_id", "concept_name", "concept_class_id")
    levels = {each.upper(): each for each in OMOP[1:]}
    above: dict[str, tuple[str, str]] = {}
    for number, name, kind in _columns(files["concept.csv"], concept):
        if kind.upper() in levels:
            above[number] = levels[kind.upper()], name
    ancestor = ("ancestor_concept_id", "descendant_concept_id")
    found: dict[str, list[tuple[str, str]]] = {}
    for upper, lower in _columns(files["concept_ancestor.csv"], ancestor):
        if upper in above:
            found.setdefault(lower, []).append(above[upper])
    maker = Maker("OMOP", OMOP)
    for number, name, _ in _columns(files["concept.csv"], concept):
        maker.add(number, {OMOP[0]: name})
        for level, called in found.get(number, ()):
            maker.add(name, {level: called})
            maker.add(number, {level: called})
    return maker.made()


def _columns(path: Path, names: Sequence[str]) -> Iterator[list[str]]:
    """Some columns of a file with a header, by name in any case.

    Raises:
        DictionaryError: it lacks one.
    """
    rows = read_rows(path)
    header = [name.strip().lower() for name in next(rows, [])]
    if missing := [name for name in names if name not in header]:
        raise DictionaryError(f"{path.name}: no column {missing[0]!r} in its header")
    places = [header.index(name) for name in names]
    for row in rows:
        if len(row) > max(places):
            yield [row[place] for place in places]
