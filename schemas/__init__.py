"""Dataset schemas, hierarchies and the catalog's DDL: what exists."""

from srsql.schemas.hierarchy import Hierarchy, load_hierarchy
from srsql.schemas.model import (
    Column,
    Dataset,
    Qid,
    SchemaError,
    Sensitive,
    Signals,
    Source,
    Table,
    builtin_names,
    load_dataset,
    parse_dataset,
)

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
