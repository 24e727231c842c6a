"""Dataset schemas, hierarchies and the catalog's DDL: what exists."""

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
