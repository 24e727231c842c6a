"""A dataset schema from its TOML file: one that ships, or a user's own."""

from __future__ import annotations

import csv
import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from srsql.schemas.dataset import Dataset
from srsql.schemas.hierarchy import Hierarchy, load_hierarchy
from srsql.schemas.outside import MOST_TOML, read_text, toml_of
from srsql.schemas.roles import Qid


class SchemaError(ValueError):
    """A dataset schema is wrong; the text names the file and the key."""


def builtin_names() -> list[str]:
    """Names of the dataset schemas that ship."""
    folder = resources.files("srsql.schemas")
    files = (f.name for f in folder.iterdir() if f.name != "glossary.toml")
    return sorted(name[:-5] for name in files if name.endswith(".toml"))


def load_dataset(name_or_path: str | Path) -> Dataset:
    """Load a dataset schema that ships (by name) or a user's own (by path to a TOML file).

    Raises:
        SchemaError: unknown name, unreadable file, or a key that is missing or wrong.
    """
    shipped = str(name_or_path).replace("-", "_")  # no name has a hyphen
    if shipped in builtin_names():
        folder: Path | Traversable = resources.files("srsql.schemas")
        file = folder / f"{shipped}.toml"
    else:
        path = Path(name_or_path)
        if not path.is_file():
            names = ", ".join(builtin_names())
            raise SchemaError(f"no dataset {str(path)!r}: give one of {names}, or a TOML file")
        folder, file = path.parent, path
    try:
        text = read_text(file, MOST_TOML, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{file.name}: cannot be read ({error})") from None
    dataset = parse_dataset(text, folder, origin=file.name)
    if (unused := dataset.unused_key()) is not None:
        raise SchemaError(f"{file.name}: {unused}")
    return dataset


def parse_dataset(text: str, folder: Path | Traversable, origin: str = "dataset") -> Dataset:
    """Validate a dataset schema and read its hierarchies.

    Args:
        text: the TOML text.
        folder: where hierarchy files are looked up, before those that ship.
        origin: what messages call the text.

    Returns:
        The dataset with its hierarchies and groups.

    Raises:
        SchemaError: a key is missing or wrong, or a hierarchy file is none.
    """
    try:
        raw = toml_of(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{origin}: not valid TOML: {error}") from None
    dataset = _validated(_named_tables(raw), text)
    if isinstance(dataset, str):
        raise SchemaError(f"{origin}: {dataset}")
    trees: dict[str, dict[str, Hierarchy]] = {"hierarchy": {}, "groups": {}}
    for qid in dataset.qid:
        for key in trees:
            file = getattr(qid, key)
            if file is None:
                continue
            try:
                tree = load_hierarchy(_find(file, folder))
                if key == "groups":
                    _check_groups(qid, tree)
            except (OSError, ValueError, csv.Error) as error:
                raise SchemaError(f"{origin}: key qid.{qid.name}.{key}: {error}") from None
            trees[key][qid.name] = tree
    lost = _lost_labels(dataset, trees["hierarchy"])
    if lost:
        raise SchemaError(f"{origin}: {lost}")
    return dataset.model_copy(update={"hierarchies": trees["hierarchy"], "groups": trees["groups"]})


def _validated(raw: dict[str, Any], text: str) -> Dataset | str:
    """The dataset, or what is wrong with the first wrong key.

    pydantic's error never becomes the context of another one: it holds the tracebacks of the
    validators, hence every caller's variables, in a way that Python's garbage collector cannot see,
    so that a connection among them would never be freed.
    """
    try:
        return Dataset(**raw, text=text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "schema"
        return f"key {key}: {first['msg'].removeprefix('Value error, ')}"


def _lost_labels(dataset: Dataset, trees: dict[str, Hierarchy]) -> str:
    """What is wrong with the first hierarchy that lacks a class of its column; or nothing."""
    for qid in dataset.qid:
        made = dataset.derived_of(qid.column)
        labels = made.labels if made is not None and qid.kind == "categorical" else None
        for label in labels or ():
            if label not in trees[qid.name].number and label not in qid.aliases:
                return (
                    f"key qid.{qid.name}.hierarchy: no node {label!r}, which is a class of the "
                    f"derived column {qid.column!r}: its classes are {', '.join(labels or ())}"
                )
    return ""


def _check_groups(qid: Qid, tree: Hierarchy) -> None:
    """Every value of the domain must lie in one leaf, and every range belong to one node.

    Raises:
        ValueError: the text names the node.
    """
    if not isinstance(qid.domain, tuple):
        return
    expected, top = qid.domain
    if expected % qid.granularity:
        raise ValueError(f"the domain does not begin on a multiple of {qid.granularity}")
    for node, label in enumerate(tree.labels):
        if tree.parent.count(node) == 1:
            raise ValueError(f"node {label!r} has the same range as its only child: drop one")
        if tree.height[node]:
            continue
        low, high = tree.low[node], tree.high[node]
        if low is None or high is None:
            raise ValueError(f"leaf {label!r} has no range")
        if low != expected:
            raise ValueError(
                f"leaf {label!r} begins at {low}, not at {expected}: leaves must tile the domain "
                "in the order of the file"
            )
        if (high - low) % qid.granularity:
            raise ValueError(f"leaf {label!r} does not end on a multiple of {qid.granularity}")
        expected = high + qid.granularity
    if expected != top + qid.granularity:
        raise ValueError(f"the last leaf ends at {expected - qid.granularity}, not at {top}")


def _named_tables(raw: dict[str, object]) -> dict[str, object]:
    """Bring ``[tables.NAME]``, columns as table or list, into the shape of the model."""
    tables = raw.get("tables")
    if not isinstance(tables, dict):
        return raw
    shaped = []
    for name, table in tables.items():
        entry = dict(table) if isinstance(table, dict) else {}
        columns = entry.get("columns", [])
        if isinstance(columns, dict):
            entry["columns"] = [{"name": k, "aliases": v} for k, v in columns.items()]
        elif isinstance(columns, list):
            entry["columns"] = [{"name": c} for c in columns]
        shaped.append({"name": name, **entry})
    return {**raw, "tables": shaped}


def _find(name: str, folder: Path | Traversable) -> Path | Traversable:
    """A hierarchy file beside the dataset's, or one that ships.

    Raises:
        ValueError: there is neither, or the name leads elsewhere: a dataset of a stranger names no
            file of somebody else.
    """
    local = folder / name
    if isinstance(local, Path) and isinstance(folder, Path):
        up = Path(name).is_absolute() or ".." in Path(name).parts
        if up or not local.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{name!r} lies outside the folder of the dataset: copy it there")
    if local.is_file():
        return local
    shipped = resources.files("srsql.schemas") / name
    if not shipped.is_file():
        raise ValueError(
            f"no file {local}: a hierarchy is looked up beside the dataset file; put it there"
        )
    return shipped
