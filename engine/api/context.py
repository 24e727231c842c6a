"""What the calls of the engine share: the warehouse, and which dataset and periods are meant."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from srsql.engine.store.warehouse import Warehouse
    from srsql.schemas import Dataset

FAERS = "faers"
"""The dataset of a warehouse that has none, where none is named."""


def periods_of(warehouse: Warehouse, name: str | Path | None) -> list[str]:
    """The labels of all periods that are loaded, or are or were out.

    Args:
        warehouse: that has them.
        name: of a dataset, or its file; None: those of all datasets.
    """
    from srsql.engine.store.statements import query

    found = warehouse.rows(query("warehouse/releases", "periods_known"))
    if name is not None and len({dataset for dataset, _ in found}) > 1:
        asked = dataset_named(warehouse, name).name
        found = [(dataset, label) for dataset, label in found if dataset == asked]
    return [label for _, label in found]


def dataset_named(warehouse: Warehouse, name: str | Path | None) -> Dataset:
    """The dataset of that name or file; None: the only one of the warehouse.

    Raises:
        DatasetError: there is no such dataset, or several; or its file is wrong, or reads or
            protects the data of the warehouse otherwise than they were ingested by.
    """
    from srsql.engine.catalog.datasets import dataset_names, registered_dataset
    from srsql.engine.errors import DatasetError

    known = dataset_names(warehouse)
    if name is None:
        if len(known) > 1:
            raise DatasetError(
                f"the warehouse holds {', '.join(known)}: say which one with --dataset"
            )
        name = known[0] if known else FAERS
    plain = str(name).replace("-", "_")  # no name has a hyphen
    if plain in known:
        return registered_dataset(warehouse, plain)
    found = dataset_at(name)
    if found.name in known and not registered_dataset(warehouse, found.name).reads_as(found):
        raise DatasetError(
            f"{name} declares the dataset {found.name!r} otherwise than its data were ingested by: "
            f"give --dataset {found.name}, or ingest under another name what it declares"
        )
    return found


def dataset_at(name: str | Path) -> Dataset:
    """A dataset that ships, or that of a file.

    Raises:
        DatasetError: there is none, or its file is wrong.
    """
    from srsql.engine.errors import DatasetError
    from srsql.schemas import SchemaError, load_dataset

    try:
        return load_dataset(name)
    except SchemaError as error:
        raise DatasetError(str(error)) from None


def dataset_of(warehouse: Warehouse, quarter: str | None, name: str | Path | None) -> Dataset:
    """The dataset asked for, or the only one that has the quarter.

    Raises:
        DatasetError: see ``dataset_named``.
    """
    if name is not None or quarter is None:
        return dataset_named(warehouse, name)
    loaded = (
        "SELECT DISTINCT i.dataset FROM srsql.ingestion AS i WHERE i.quarter = ? AND NOT i.replaced"
    )
    released = "SELECT DISTINCT r.dataset FROM srsql.release AS r WHERE r.quarter = ?"
    holders = warehouse.rows(loaded, [quarter]) or warehouse.rows(released, [quarter])
    return dataset_named(warehouse, holders[0][0] if len(holders) == 1 else None)


@dataclass(frozen=True)
class Context:
    """A warehouse, and the dataset of calls that name none."""

    warehouse: Warehouse
    usual: str | Path | None = None
    """Name or file of the dataset; None: the only one of the warehouse."""

    def need_originals(self, what: str) -> None:
        """Refuse what a public file cannot answer.

        Args:
            what: is asked, with its verb.

        Raises:
            WarehouseError: the warehouse is a public file.
        """
        from srsql.engine.errors import WarehouseError

        if self.warehouse.is_public:
            raise WarehouseError(
                f"{what} made from the originals, which a public file does not hold: ask the "
                "steward, who has the warehouse"
            )

    def released_only(self, asked: bool) -> bool:
        """Whether released rows alone are asked: as is said, or since there are no others."""
        return asked or self.warehouse.is_public

    def periods_of(self, dataset: str | Path | None = None) -> list[str]:
        """The labels of the periods that there are, of one dataset or of all."""
        with self.warehouse.guarded():
            return periods_of(self.warehouse, dataset or self.usual)

    def dataset(self, name: str | Path | None = None) -> Dataset:
        """The dataset of that name or file; by default the only one."""
        return dataset_named(self.warehouse, name or self.usual)

    def dataset_of(self, quarter: str | None, name: str | Path | None) -> Dataset:
        """The dataset asked for, or the one that has the quarter."""
        return dataset_of(self.warehouse, quarter, name or self.usual)

    def visible(self, series: str, quarter: str | None, name: str | Path | None) -> Dataset:
        """That dataset as a series releases it."""
        from srsql.engine.catalog.waiting import with_waiting
        from srsql.engine.shapes import series_dataset

        shown = series_dataset(self.warehouse, self.dataset_of(quarter, name), series)
        return with_waiting(self.warehouse, shown, series)

    def released(self, quarter: str, name: str | Path | None, series: str) -> tuple[Dataset, int]:
        """The dataset as a release has it, and the number of the release in the catalog."""
        from srsql.engine.catalog.releases import key_of, released_id
        from srsql.engine.catalog.waiting import with_waiting

        schema = self.dataset_of(quarter, name)
        found = released_id(self.warehouse, schema, quarter, series)
        schema = schema.keyed(key_of(self.warehouse, found))
        return with_waiting(self.warehouse, schema, series, found), found


class Calls:
    """One group of calls of an engine."""

    def __init__(self, context: Context) -> None:
        self._context, self.warehouse = context, context.warehouse
        self._periods_of = context.periods_of


class CallableCalls(Calls):
    """A group whose name was a call of the engine, and is one for this version."""

    NAME: ClassVar[str]
    """Of the group."""
    CALL: ClassVar[str]
    """The call that it was."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the group's main call does."""
        warn_moved(self.NAME, f"{self.NAME}.{self.CALL}")
        return getattr(self, self.CALL)(*args, **options)


def warn_moved(old: str, new: str) -> None:
    """Say that a call has another name, which it keeps."""
    warnings.warn(
        f"Engine.{old}() is Engine.{new}(): the old name goes with the next version",
        DeprecationWarning,
        stacklevel=3,
    )
