"""The catalog's datasets: a schema is stored with its hierarchies when it is first used."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from importlib.resources.abc import Traversable
from typing import Any, cast

import duckdb
from sqlglot import exp

from srsql.engine.catalog.layout import derived, term_placeholders
from srsql.engine.catalog.releases import optional_columns
from srsql.engine.errors import DatasetError
from srsql.engine.store.statements import bare, column, normal_form, query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, parse_dataset
from srsql.schemas.dataset import TERM_KEY
from srsql.schemas.hierarchy import Hierarchy
from srsql.schemas.outside import toml_of
from srsql.udfs.term_key import term_key as udfs_term_key

TOPIC = "warehouse/catalog"


def trimmed(expression: exp.Expression, *, many: bool = False) -> exp.Expression:
    """``expression`` without white space at its ends; NULL if nothing is left.

    ``many``: see ``normal_form``.
    """
    text = bare(expression.copy(), many=many)
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


def normalized(expression: exp.Expr, *, many: bool = False) -> exp.Expression:
    """The normalized term (SPEC section 2), NULL if blank; see ``normal_form``."""
    text = normal_form(expression.copy(), many=many)
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


def term_key(value: exp.Expr, version: int, *, many: bool = False) -> exp.Expression:
    """The key of a term, NULL if blank.

    Args:
        value: its text.
        version: of the key: 1 as SPEC section 2 has it; 0 is :func:`normalized`.
        many: it is worked out for each of many rows; see ``normal_form``.
    """
    if version == 0:
        return normalized(value, many=many)
    call = exp.Anonymous(this="term_key", expressions=[value.copy()])
    return exp.Dot(this=exp.to_identifier("srsql"), expression=call)


def text_key(text: str, version: int) -> exp.Expression:
    """The key of a text that a statement names, NULL if blank: a literal, so that the statement
    calls no macro.

    Args:
        text: any spelling.
        version: of the key.
    """
    if version == 0:
        return normalized(exp.Literal.string(text))
    key = udfs_term_key(text)
    return exp.null() if key is None else exp.Literal.string(key)


def raw_term(dataset: Dataset, source: str, name: str, alias: str) -> exp.Expression:
    """The key of a raw row's term; NULL where that is blank or stands for "not known".

    Args:
        dataset: by which version of the key terms are compared, and which the raw tables hold.
        source: the table of the row.
        name: a sensitive or quasi-sensitive column of it.
        alias: of the raw table.
    """
    if dataset.raw_key == dataset.term_key:
        return column(derived(name), alias)
    placeholders = term_placeholders(dataset, dataset.table(source))[name]
    return known_term(dataset.term_key, placeholders, name, alias)


def known_term(version: int, placeholders: Iterable[str], name: str, alias: str) -> exp.Expression:
    """The key of a column's term, worked out from its text.

    Args:
        version: of the key.
        placeholders: terms that stand for "not known".
        name: the column.
        alias: of the rows that have it.

    Returns:
        The key; NULL where the term is blank or a placeholder.
    """
    value = term_key(column(name, alias), version, many=True)
    blanks = [term_key(exp.Literal.string(text), version) for text in placeholders]
    if not blanks:
        return value
    return exp.Case().when(exp.Not(this=exp.In(this=value.copy(), expressions=blanks)), value)


def term_keys(warehouse: Warehouse, texts: Sequence[str], version: int) -> list[str | None]:
    """The keys of ``texts``, in their order."""
    return of_texts(warehouse, texts, term_key(column("text", "u"), version))


def normalized_texts(warehouse: Warehouse, texts: Sequence[str]) -> list[str | None]:
    """The normalized terms of ``texts``, in their order."""
    return of_texts(warehouse, texts, normalized(column("text", "u")))


def of_texts(warehouse: Warehouse, texts: Sequence[str], found: exp.Expr) -> list[str | None]:
    """What an expression over ``u.text`` makes of ``texts``, in their order."""
    return [
        row[0]
        for row in warehouse.rows(
            f"SELECT {found.sql(dialect='duckdb')} FROM (SELECT unnest($1::VARCHAR[]) AS text,"
            " unnest(range(len($1::VARCHAR[]))) AS place) AS u ORDER BY u.place",
            [list(texts)],
        )
    ]


def hmac_pads(key: bytes) -> dict[str, bytes]:
    """The inner and the outer key of HMAC (RFC 2104), as ``srsql.hmac_sha256`` takes them."""
    return {
        f"{name}_pad": bytes(b ^ pad for b in key)
        for name, pad in (("inner", 0x36), ("outer", 0x5C))
    }


def forgotten_pads(warehouse: Warehouse, dataset: str) -> dict[str, bytes] | None:
    """What makes the tokens of the forgotten cases of a dataset; None: no case is forgotten."""
    key = warehouse.value(query(TOPIC, "forgotten_key"), {"dataset": dataset})
    return None if key is None else hmac_pads(key)


def dataset_names(warehouse: Warehouse) -> list[str]:
    """Names of the datasets the warehouse knows."""
    return [name for (name,) in warehouse.rows("SELECT dataset FROM srsql.dataset ORDER BY 1")]


def registered_dataset(warehouse: Warehouse, name: str) -> Dataset:
    """The dataset as it was registered, its hierarchies rebuilt from ``srsql.node``.

    Raises:
        DatasetError: no dataset of that name is in the warehouse.
    """
    toml = warehouse.value("SELECT toml FROM srsql.dataset WHERE dataset = ?", [name])
    if toml is None:
        known = ", ".join(dataset_names(warehouse)) or "none"
        raise DatasetError(
            f"no dataset {name!r} in the warehouse (it has: {known}): ingest it first"
        )
    nodes = warehouse.rows(query(TOPIC, "nodes"), {"dataset": name})
    found = parse_dataset(toml, cast(Traversable, StoredHierarchies(toml, nodes)), origin=name)
    return with_raw_key(warehouse, found)


def with_raw_key(warehouse: Warehouse, dataset: Dataset) -> Dataset:
    """The dataset with the version of the key of terms that its raw tables hold."""
    version = warehouse.value(query(TOPIC, "raw_key"), {"dataset": dataset.name})
    return dataset.model_copy(update={"raw_key": version or 0})


def register_dataset(warehouse: Warehouse, dataset: Dataset, origin: str) -> None:
    """Store ``dataset`` unless it is there already; call it inside a transaction.

    Raises:
        DatasetError: the name stands for another schema that has data, or a range of the
            hierarchy does not fit the catalog.
    """
    known = warehouse.value("SELECT toml FROM srsql.dataset WHERE dataset = ?", [dataset.name])
    if known is not None:
        stored = registered_dataset(warehouse, dataset.name)
        if (stored.text, stored.hierarchies, stored.groups) == (
            dataset.text, dataset.hierarchies, dataset.groups
        ):  # fmt: skip
            return
        if stored.reads_as(dataset):
            _need_optional_columns(warehouse, dataset)
            warehouse.run(
                query(TOPIC, "update"),
                {
                    "dataset": dataset.name,
                    "version": dataset.version,
                    "fingerprint": dataset.fingerprint,
                    "origin": origin,
                    "toml": dataset.text,
                },
            )
            for attribute, tree in dataset.groups.items():
                if attribute not in stored.groups:
                    _store_hierarchy(warehouse, dataset.name, attribute, tree)
            return
        _forget(warehouse, dataset.name)
    warehouse.run(
        "INSERT INTO srsql.dataset VALUES (?, ?, ?, ?, ?)",
        [dataset.name, dataset.version, dataset.fingerprint, origin, dataset.text],
    )
    warehouse.run("INSERT INTO srsql.dataset_key VALUES (?, ?)", [dataset.name, TERM_KEY])
    for attribute, tree in (dataset.hierarchies | dataset.groups).items():
        _store_hierarchy(warehouse, dataset.name, attribute, tree)


def _need_optional_columns(warehouse: Warehouse, dataset: Dataset) -> None:
    """Refuse a declaration without an optional column that some release shows.

    Raises:
        DatasetError: the text names it.
    """
    for names in optional_columns(warehouse, dataset.name, None):
        for name in names:
            if name not in dataset.optional_columns:
                raise DatasetError(
                    f"a release of {dataset.name!r} shows the optional column {name}, which the "
                    "changed declaration does not name as optional: leave it there"
                )


def _forget(warehouse: Warehouse, name: str) -> None:
    if warehouse.value(query(TOPIC, "has_data"), {"dataset": name}):
        raise DatasetError(
            f"dataset {name!r} is registered with another schema and has data: give the changed "
            "schema another name, or use a warehouse of its own (--db)"
        )
    for table in ("dataset", "dataset_key", "node", "hierarchy"):
        warehouse.run(f"DELETE FROM srsql.{table} WHERE dataset = ?", [name])


def _store_hierarchy(warehouse: Warehouse, dataset: str, attribute: str, tree: Hierarchy) -> None:
    low, high = ([_decimal_text(value) for value in ends] for ends in (tree.low, tree.high))
    nodes: dict[str, Sequence[int] | Sequence[str | None]] = {
        "pre": list(range(len(tree.labels))),
        "node": tree.labels,
        "parent": [tree.labels[at] if at >= 0 else None for at in tree.parent],
        "last": tree.last,
        "depth": tree.depth,
        "height": tree.height,
        "leaf_count": tree.leaf_count,
        "low": low,
        "high": high,
    }
    named = {"dataset": dataset, "attribute": attribute}
    try:
        with warehouse.given("srsql_given_node", nodes):
            warehouse.run_step("warehouse/register_nodes", named)
    except duckdb.ConversionException:
        raise DatasetError(
            f"hierarchy of {attribute!r}: a range has more than 12 digits before the point"
        ) from None


def _decimal_text(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")


class StoredHierarchies:
    """A folder of hierarchy files whose content is in ``srsql.node``, for ``parse_dataset``."""

    def __init__(self, toml: str, nodes: list[tuple[Any, ...]]) -> None:
        self._file: dict[str, _StoredFile] = {}
        for qid in toml_of(toml).get("qid", []):
            for key in ("hierarchy", "groups"):
                if key in qid:
                    rows = [node[1:] for node in nodes if node[0] == qid["name"]]
                    self._file[qid[key]] = _StoredFile(rows)

    def __truediv__(self, name: str) -> _StoredFile:
        """The file of that name."""
        return self._file[name]


class _StoredFile:
    name = "stored.csv"

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def is_file(self) -> bool:
        return True

    def read_text(self, encoding: str) -> str:
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(["node", "parent", "low", "high"])
        writer.writerows(
            [node, parent or "", _shortest(low), _shortest(high)]
            for node, parent, low, high in self._rows
        )
        return text.getvalue()


def _shortest(value: Decimal | None) -> str:
    """``value`` without the zeros that DECIMAL(18, 6) appends."""
    return "" if value is None else format(value.normalize(), "f")
