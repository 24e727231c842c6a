"""The page as one file, of its sources and of what models and the datasets that ship declare.

Parquet is read by foreign code, which does not ship: hyparquet and fzstd, built into one script
(see ``integrations/parquet-reader``). The command that writes the page takes that script.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from srsql.engine.errors import VerifyError, one_line
from srsql.engine.models import MODELS
from srsql.engine.store.scratch import put_beside
from srsql.schemas import Dataset, Qid, builtin_names, load_dataset
from srsql.schemas.outside import read_bytes
from srsql.version import __version__

_SOURCES = Path(__file__).parent / "page"
WORK = (
    "bytes.js", "terms.js", "rows.js", "count_tables.js", "manifest.js", "parquet.js", "checks.js",
    "row_checks.js", "figures.js", "texts.js", "series.js", "counts.js", "answers.js", "ratios.js",
    "worker.js",
)  # fmt: skip
"""What the worker runs, in this order; ``view.js`` is what the page runs."""
READER_BUILD = "the script that integrations/parquet-reader builds"
_GLOBAL = re.compile(r"\b(?:var|let|const) parquetFiles\b")
_WITHOUT = (
    "Without a reader of Parquet: <code>srsql verify --page FILE --parquet-reader READER</code> "
    "writes a page with one."
)
_WITH = "Parquet files are read by foreign code, a script with the SHA-256 <code>{digest}</code>."


def verifier_page(parquet_reader: bytes | None = None) -> str:
    """The HTML of the page, the same for the same version of srsql and the same reader.

    Args:
        parquet_reader: a script that :func:`read_parquet_reader` has read; without it the page
            reads CSV alone.
    """
    facts = json.dumps([declared_facts(load_dataset(name)) for name in builtin_names()])
    listed = (resources.files("srsql.udfs") / "unassigned_14.txt").read_text(encoding="ascii")
    unassigned = f"const UNASSIGNED_14 = {json.dumps(' '.join(listed.split()))};\n"
    claimed = [
        (name, {"bounds": sorted(of.claimed_bounds.guaranteed), "unit": of.claimed_bounds.unit,
                "perturbed": of.claimed_bounds.drawn, "rows": of.shape.of_cases(True, False)})
        for name, of in MODELS.items()
    ]  # fmt: skip
    bounds = f"const BOUNDS_OF_MODELS = new Map({json.dumps(claimed)});\n"
    # "<" could end the script that the facts stand in
    shipped = f"const SHIPPED = {facts.replace('<', chr(92) + 'u003c')};\n{bounds}"
    foreign = "" if parquet_reader is None else f"{parquet_reader.decode()}\n"
    own = shipped + unassigned + "".join(_source(name) for name in WORK)
    view = f'"use strict";\n{{\n{_source("view.js")}}}\n'
    style = _source("page.css")
    policy = (
        f"default-src 'none'; script-src {_allowed(view)}; style-src {_allowed(style)}; "
        "worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "work": f'"use strict";\n{foreign}{own}', "view": view, "style": style, "policy": policy,
        "version": __version__,
        "formats": "CSV" if parquet_reader is None else "Parquet or CSV",
        "reader": _WITHOUT
        if parquet_reader is None
        else _WITH.format(digest=sha256(parquet_reader).hexdigest()),
    }  # fmt: skip
    return Template(_source("page.html")).substitute(parts)


def write_verifier_page(file: Path, parquet_reader: Path | None = None) -> Path:
    """Write the page to a file, which must not be there.

    Args:
        file: with the name that the page gets.
        parquet_reader: a script with which the page reads Parquet, built as
            ``integrations/parquet-reader`` says.

    Returns:
        The file.

    Raises:
        VerifyError: it is there, or cannot be written; the reader cannot be read, or is none.
    """
    reader = None if parquet_reader is None else read_parquet_reader(parquet_reader)
    content = verifier_page(reader).encode()
    try:
        with put_beside(file, private=False, over=False) as beside:
            beside.write_bytes(content)
    except FileExistsError:
        raise VerifyError(f"--page {file} is there already: give another name") from None
    except OSError as error:
        why = error.strerror or one_line(error)
        raise VerifyError(f"--page {file} cannot be written ({why}): give another name") from None
    return file


def read_parquet_reader(file: Path) -> bytes:
    """The script of a reader of Parquet.

    Raises:
        VerifyError: it cannot be read, declares no ``parquetFiles``, or could end the script that
            it will stand in.
    """
    fault = ""
    script = b""
    try:
        script = read_bytes(file)
        text = script.decode()
    except OSError as error:
        fault = f"cannot be read ({error.strerror or one_line(error)})"
    except UnicodeDecodeError:
        fault = "is no text in UTF-8"
    else:
        if not _GLOBAL.search(text):
            fault = "declares no parquetFiles"
        elif re.search("<[/!]", text):
            fault = "has </ or <! in it, which could end the script of the page"
    if fault:
        raise VerifyError(f"--parquet-reader {file} {fault}: give {READER_BUILD}")
    return script


def declared_facts(dataset: Dataset) -> dict[str, Any]:
    """What a dataset declares, by which the page knows columns that are told as something else.

    Args:
        dataset: one that ships.

    Returns:
        ``name``, ``version``, ``earlier`` (versions that lack optional columns alone), ``optional``
        (their names with table), ``columns`` (name with table, role), ``lengths`` (name with table,
        characters at most, where that is declared), ``attributes`` as manifests tell them, and
        ``trees`` (attribute, its nodes with their parents).
    """
    special = {(a.table, a.column): "quasi-sensitive" for a in dataset.quasi_sensitive}
    special |= {(a.table, a.column): "sensitive" for a in dataset.sensitive}
    columns: dict[str, str] = {}
    lengths = {f"{t.name}.{n}": most for t in dataset.tables for n, most in t.max_length.items()}
    for table in dataset.row_tables:
        columns[f"{table.name}.{dataset.case_id}"] = "case id"
        columns[f"{table.name}.{dataset.report_id}"] = "report id"
        for name in table.publish:
            plain = "serial number" if name in table.serial else "published as it is"
            if dataset.makes(table.name, name):
                plain = "derived"
            columns[f"{table.name}.{name}"] = special.get((table.name, name), plain)
            if (table.name, name) in special:
                columns[f"{table.name}.{name}_key"] = "term key"
        for name in table.optional:
            columns.setdefault(f"{table.name}.{name}", "published as it is")
    report = dataset.report_table
    columns[f"{report}.quarter"] = "period"
    trees: list[tuple[str, list[tuple[str, str]]]] = []
    for qid in dataset.qid:
        if qid.kind == "categorical":
            tree = dataset.hierarchies[qid.name]
            columns[f"{report}.{qid.name}"] = "node"
            above = [tree.labels[at] if at >= 0 else "" for at in tree.parent]
            trees.append((qid.name, list(zip(tree.labels, above, strict=True))))
        else:
            columns[f"{report}.{qid.name}_low"] = "lower bound"
            columns[f"{report}.{qid.name}_high"] = "upper bound"
    return {
        "name": dataset.name,
        "version": dataset.version,
        "earlier": list(dataset.earlier_versions),
        "optional": dataset.optional_columns,
        "columns": list(columns.items()),
        "lengths": lengths,
        "attributes": [_attribute(qid) for qid in dataset.qid],
        "trees": trees,
    }


def _attribute(qid: Qid) -> dict[str, str | None]:
    if qid.kind == "categorical":
        return {"name": qid.name, "kind": "categorical"}
    low, high = qid.domain if isinstance(qid.domain, tuple) else (None, None)
    return {
        "name": qid.name,
        "kind": "numeric",
        "unit": qid.unit,
        "granularity": format(qid.granularity, "f"),
        "low": None if low is None else format(low, "f"),
        "high": None if high is None else format(high, "f"),
    }


def _source(name: str) -> str:
    return (_SOURCES / name).read_text(encoding="utf-8")


def _allowed(text: str) -> str:
    """The source expression by which a policy names an inline script or style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
