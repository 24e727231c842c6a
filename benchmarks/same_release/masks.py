"""What two versions may differ in: hidden before documents and texts are compared."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

MASKED_KEYS = {
    "software_version",
    "dataset_fingerprint",
    "definitions",
    "fingerprint",
    "seconds",
    "bytes_on_disk",
    "key_id",
    "new_key",
    "runs",
}
DROPPED = "release_date"
"""The one field in which two equal releases may differ; versions before 0.3 have none."""
MASK = "(masked)"
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_PYTHON = re.compile(r"[^\s\"']*/bin/python[\d.]*")


def masked(document: Any) -> Any:
    """The document with every value of a key of ``MASKED_KEYS`` hidden, and without ``DROPPED``.

    So is a list of columns, each with its type, without that one.
    """
    if isinstance(document, dict):
        return {
            k: MASK if k in MASKED_KEYS else masked(v) for k, v in document.items() if k != DROPPED
        }
    if isinstance(document, list):
        return [masked(value) for value in document if value != [DROPPED, "VARCHAR"]]
    return document


def masked_text(text: str, version: str) -> str:
    """The text without hashes, the place of the interpreter and the number of the version."""
    text = _PYTHON.sub("PYTHON", _HASH.sub("(hash)", text))
    return re.sub(rf"(?<![\d.]){re.escape(version)}(?![\d]|\.\d)", "(version)", text)


def masked_publication(document: Any) -> Any:
    """What ``publish`` prints, without sizes and hashes: the files themselves are compared."""
    if not isinstance(document, dict) or not isinstance(document.get("files"), list):
        return document
    files = [file | {"bytes": MASK, "sha256": MASK} for file in document["files"]]
    return document | {"files": files}


def masked_artifact(document: Any, drawn: Collection[str]) -> Any:
    """The manifest of an artifact without the hashes of its files.

    Args:
        document: the manifest.
        drawn: tables whose rows differ in every run, and so does the hash of their contents.
    """
    tables = [
        table | {"content_sha256": MASK} if table["name"] in drawn else table
        for table in document["tables"]
    ]
    return document | {"files": dict.fromkeys(document["files"], MASK), "tables": tables}
