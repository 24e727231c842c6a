"""A dataset made of names: somebody else's table, registered in one command without a file of ours.

``--map NAME=COLUMN`` says which column of the file is what. Without ``--dataset`` the names make
the dataset ``foreign``:

* ``case`` is the id of the case (a column ``case_id``, ``caseid`` or ``case`` needs no name);
* ``term``, and any name that begins with ``term_``, is a sensitive column;
* ``quarter`` is the period of a row, ``group_id`` its group, both if there;
* every other name is a quasi-identifier: what an attacker may know. ``age``, ``wt`` and ``sex`` are
  those of FAERS. Of others the values decide: a column in which all are numbers or intervals such
  as ``46-50`` is numeric, any other is a category whose values stand side by side below ``Any``.

A column that no name stands for is not read, which the answer says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from srsql.engine.audit.imports.column_roles import (
    GROUP,
    INTERVAL,
    PERIODS,
    WILDCARDS,
    renamed,
)
from srsql.engine.audit.imports.foreign_table import RELEASED, ForeignFile, read_file
from srsql.engine.catalog.datasets import (
    StoredHierarchies,
    dataset_names,
    normalized_texts,
    registered_dataset,
)
from srsql.engine.errors import ImportReleaseError
from srsql.engine.ingest import explained
from srsql.engine.ingest.records import RECORD, drop_temporary, workspace
from srsql.engine.store.statements import SPACE, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Qid, SchemaError, load_dataset, parse_dataset

FOREIGN = "foreign"
"""The dataset that names make."""
CASE_NAMES = ("case_id", "caseid", "case")
TERM = "term"
ROOT = "Any"
MOST_VALUES = 10_000
"""Values of a category that has no hierarchy of its own."""
SEXES = {"W": "F", "WEIBLICH": "F", "FRAU": "F", "MÄNNLICH": "M", "MANN": "M"}
"""Codes of sex beside those of FAERS."""
_SHIPPED = "faers"
_HEAD = """name = "{name}"
title = "somebody else's table, whose columns --map named"
report_table = "reports"
report_id = "case_id"
case_id = "case_id"
id_type = "text"
{without}

[source]
reader = "csv"

[tables.reports]
files = []

[tables.reports.columns]
case_id = ["caseid", "case"]
"""
Nodes = list[tuple[str, str, str | None, None, None]]
"""Rows of a hierarchy: quasi-identifier, node, parent, no range."""


def mapped_dataset(
    warehouse: Warehouse, path: Path, columns: Mapping[str, str], suppressed: str | None = None
) -> Dataset:
    """The dataset that names make; the one that is registered already, if it has the same names.

    Args:
        warehouse: where the file is read and the dataset may be known.
        path: the released table, whose values tell what is not known of its columns.
        columns: name -> column of the file.
        suppressed: what a suppressed row shows, which is no value.

    Raises:
        ImportReleaseError: no name is a quasi-identifier, a column is not there, or a category has
            too many values to go without a hierarchy.
        IngestError: the file cannot be read.
    """
    qids, terms = _roles(columns)
    if FOREIGN in dataset_names(warehouse):
        known = registered_dataset(warehouse, FOREIGN)
        names = ([q.name for q in known.qid], [s.column for s in known.sensitive])
        if names == (qids, terms):
            return known
    if not path.is_file():
        raise ImportReleaseError(f"{path}: no such file")
    found: list[str] = []
    nodes: Nodes = []
    with explained(path.name), workspace(warehouse) as folder:
        try:
            file = ForeignFile(path, RELEASED, "", columns=dict(columns))
            _, records = read_file(warehouse, ",", file, folder)
            header = renamed(columns, path.name, records.names)
            for name in qids:
                found.append(_declared(warehouse, path.name, name, header, nodes, suppressed))
        finally:
            drop_temporary(warehouse, RECORD)
    lines = [
        _HEAD.format(name=FOREIGN, without="" if terms else "sensitive = []"),
        *(f"{name} = []\n" for name in (*qids, *terms)),
        *found,
    ]
    lines += [f'\n[[sensitive]]\ntable = "reports"\ncolumn = "{name}"\n' for name in terms]
    text = "".join(lines)
    try:
        return parse_dataset(text, cast(Any, StoredHierarchies(text, nodes)), origin="--map")
    except SchemaError as error:
        raise ImportReleaseError(str(error)) from None


def _roles(columns: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The quasi-identifiers and the sensitive columns among the names, each in order."""
    taken = {*CASE_NAMES, *PERIODS, GROUP}
    for name in columns:
        if not re.fullmatch("[a-z][a-z0-9_]*", name):
            raise ImportReleaseError(
                f"--map {name}=...: a name has lower-case letters, digits and _, such as age"
            )
    names = sorted({_without_end(name) for name in columns} - taken)
    terms = [name for name in names if name == TERM or name.startswith(f"{TERM}_")]
    qids = [name for name in names if name not in terms]
    if not qids:
        raise ImportReleaseError(
            "--map names no quasi-identifier: give what an attacker may know, such as --map "
            "age=COLUMN"
        )
    return qids, terms


def _without_end(name: str) -> str:
    """``age`` of ``age_low`` and ``age_high``."""
    return name.removesuffix("_low").removesuffix("_high")


def _declared(
    warehouse: Warehouse,
    file: str,
    name: str,
    header: tuple[str, ...],
    nodes: Nodes,
    suppressed: str | None,
) -> str:
    """The declaration of a quasi-identifier as TOML; the nodes of a category go to ``nodes``."""
    dataset = load_dataset(_SHIPPED)
    shipped = next((qid for qid in dataset.qid if qid.name == name), None)
    if shipped is not None:
        if shipped.kind == "categorical":
            tree = dataset.hierarchies[name]
            nodes += [
                (name, label, tree.labels[above] if above >= 0 else None, None, None)
                for label, above in zip(tree.labels, tree.parent, strict=True)
            ]
        return _shipped_text(shipped)
    ends = [f"{name}_low", f"{name}_high"] if name not in header else [name]
    if any(end not in header for end in ends):
        raise ImportReleaseError(f"{file}: --map names {name}_low or {name}_high alone: give both")
    places = [header.index(end) + 1 for end in ends]
    facts = [
        warehouse.rows(
            query("audit/imports", "numbers_of_column"), _asked(place, suppressed, INTERVAL)
        )[0]
        for place in places
    ]
    if any(known for known, _, _ in facts) and not any(others for _, others, _ in facts):
        digits = max(decimals or 0 for _, _, decimals in facts)
        step = Decimal(1).scaleb(-min(digits, 6))
        return _qid_text(name, kind="numeric", domain="observed", granularity=str(step))
    values = _values(warehouse, file, name, _asked(places[0], suppressed))
    nodes.append((name, ROOT, None, None, None))
    nodes += [(name, value, ROOT, None, None) for value in values]
    return _qid_text(name, kind="categorical", hierarchy=f"{name}.csv")


def _asked(place: int, suppressed: str | None, interval: str | None = None) -> dict[str, Any]:
    """What the statements on the texts of a column take."""
    nothing = [*WILDCARDS, *([suppressed.strip().upper()] if suppressed else [])]
    told = {"place": place, "space": SPACE, "wildcards": nothing}
    return told | ({"interval": interval} if interval else {"most": MOST_VALUES + 1})


def _values(warehouse: Warehouse, file: str, name: str, asked: dict[str, Any]) -> list[str]:
    """The values of a category, each spelling of one term once."""
    found = warehouse.rows(query("audit/imports", "values_of_column"), asked)
    if len(found) > MOST_VALUES:
        raise ImportReleaseError(
            f"{file}: {name} has more than {MOST_VALUES:,} values and is no number: write a "
            "dataset file with its hierarchy (--dataset)"
        )
    texts = [text for (text,) in found]
    terms = dict(zip(reversed(normalized_texts(warehouse, texts)), reversed(texts), strict=True))
    return sorted(text for term, text in terms.items() if term not in (None, ROOT.upper()))


def _shipped_text(qid: Qid) -> str:
    if qid.kind == "categorical":
        aliases = {**SEXES, **qid.aliases}
        codes = ", ".join(f"{json.dumps(k, ensure_ascii=False)} = {json.dumps(v)}"
                          for k, v in aliases.items())  # fmt: skip
        text = _qid_text(qid.name, kind=qid.kind, hierarchy=f"{qid.name}.csv")
        return f"{text}missing = {json.dumps(list(qid.missing))}\naliases = {{ {codes} }}\n"
    domain = qid.domain if isinstance(qid.domain, tuple) else (0, 0)
    text = _qid_text(qid.name, kind=qid.kind, unit=qid.unit, rounding=qid.rounding)
    return f"{text}domain = [{domain[0]}, {domain[1]}]\ngranularity = {qid.granularity}\n"


def _qid_text(name: str, **keys: str) -> str:
    told: Iterable[tuple[str, str]] = {"name": name, **keys, "column": name}.items()
    lines = [
        f"{key} = {value if key == 'granularity' else json.dumps(value)}" for key, value in told
    ]
    return "\n".join(["\n[[qid]]", *lines, ""])
