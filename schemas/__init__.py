"""Dataset schemas, hierarchies and the catalog's DDL: what exists."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srsql.schemas.dataset import Dataset
    from srsql.schemas.hierarchy import Hierarchy, load_hierarchy
    from srsql.schemas.roles import Column, Qid, Sensitive, Signals, Source, Table
    from srsql.schemas.toml_file import SchemaError, builtin_names, load_dataset, parse_dataset

__all__ = [
    "Column",
    "Dataset",
    "Hierarchy",
    "Qid",
    "SchemaError",
    "Sensitive",
    "Signals",
    "Source",
    "Table",
    "builtin_names",
    "load_dataset",
    "load_hierarchy",
    "parse_dataset",
]
_MODULES = {
    "dataset": ("Dataset",),
    "hierarchy": ("Hierarchy", "load_hierarchy"),
    "roles": ("Column", "Qid", "Sensitive", "Signals", "Source", "Table"),
    "toml_file": ("SchemaError", "builtin_names", "load_dataset", "parse_dataset"),
}


def __getattr__(name: str) -> Any:
    """What the modules have, imported when it is asked for: files of others are read without it."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
