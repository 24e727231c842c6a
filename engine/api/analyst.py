"""`Artifact`: what an analyst asks of published artifacts, without a warehouse."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import duckdb

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import Context, dataset_at
from srsql.engine.api.engine import Engine
from srsql.engine.api.options import Name, Word
from srsql.engine.artifact.opened import Opened, opened
from srsql.engine.catalog.releases import as_newest

if TYPE_CHECKING:
    from srsql.engine.measures import MeasureRow
    from srsql.engine.parameters import Form
    from srsql.engine.query.answer import Answer
    from srsql.engine.query.coverage import Coverage, Spellings
    from srsql.engine.signals.counted import Exported
    from srsql.engine.signals.interactions import Interaction
    from srsql.engine.signals.likelihood import LikelihoodTest
    from srsql.engine.signals.results import Signals
    from srsql.engine.signals.trends import Trend
    from srsql.schemas import Dataset


@dataclass(frozen=True)
class _Artifacts(Context):
    """The rows of artifacts, whose dataset is known."""

    found: Opened = field(kw_only=True)

    def periods_of(self, dataset: Name = None) -> list[str]:
        """The labels of the periods that the artifacts hold."""
        return list(self.found.series.schemas)

    def dataset_of(self, quarter: str | None, name: Name) -> Dataset:
        """The dataset of the artifacts."""
        return self.found.dataset

    def visible(self, series: str, quarter: str | None, name: Name) -> Dataset:
        """That dataset as the newest of the artifacts shows it."""
        return as_newest(self.warehouse, self.found.dataset, self.found.series.name)


class _Reader(Engine):
    """The engine on the rows of artifacts."""

    def __init__(self, found: Opened) -> None:
        self.warehouse = found.warehouse
        self._context = _Artifacts(found.warehouse, found=found)


class Artifact:
    """One or several published artifacts of one series, together; close it, or use it in ``with``.

    The rows are in a database in memory. Questions and signals give the answers that they give on
    the released views of the warehouse that published them. That the bounds hold is not looked at:
    :func:`srsql.verify` does.

    Args:
        folders: as ``srsql publish`` wrote them, in any order, each of a quarter or of several.
        dataset: the TOML file of a dataset that does not ship with srsql.
        threads: DuckDB worker threads.
        memory_limit: what the process may take, such as ``"8GB"``, of which DuckDB gets a part.
    """

    @reads(errors.ArtifactError)
    def __init__(
        self,
        *folders: str | Path,
        dataset: Name = None,
        threads: int | None = None,
        memory_limit: Word = None,
    ) -> None:
        for folder in folders:
            if not isinstance(folder, (str, Path)):
                raise errors.ArtifactError(f"{folder!r} is not the path of a folder")
        schema = None if dataset is None else dataset_at(dataset)
        self._open = ExitStack()
        self._found = self._open.enter_context(
            opened([Path(f) for f in folders], schema, threads=threads, memory_limit=memory_limit)
        )
        self._engine = _Reader(self._found)

    def __enter__(self) -> Self:
        """The artifacts themselves; they are closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the rows go."""
        self.close()

    def close(self) -> None:
        """Let the rows go."""
        self._open.close()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, for SQL of your own; it reads no file."""
        return self._found.warehouse.con

    @property
    def series(self) -> str:
        """The series that the artifacts are of."""
        return self._found.series.name

    @property
    def quarters(self) -> tuple[str, ...]:
        """What the artifacts hold, oldest first."""
        return tuple(self._found.series.schemas)

    def _periods_of(self, dataset: Name = None) -> list[str]:
        """The labels of the periods that the artifacts hold."""
        return list(self.quarters)

    def sql(self, query: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of your own; the views are those of a warehouse (``released.*``)."""
        return self._engine.sql(query, parameters)

    def frame(self, query: str, parameters: Any = (), **options: Any) -> Any:
        """The result of a query of your own as a data frame; see :meth:`Engine.frame`."""
        return self._engine.frame(query, parameters, **options)

    def query(self, sql: str, **options: Any) -> Answer:
        """A question over the original tables, with bounds; options of :meth:`QueryCalls.ask`."""
        return self._engine.query.ask(sql, series=self.series, **self._own(options))

    def signals(self, **options: Any) -> Signals:
        """Signals in what was released; options of :meth:`SignalCalls.find`."""
        given = self._own(options) | {"released_only": True}
        return self._engine.signals.find(series=self.series, **given)

    def trend(self, drug: str, reaction: str, **options: Any) -> Trend:
        """A released pair over time; options of :meth:`SignalCalls.trend`."""
        given = self._own(options) | {"released_only": True}
        return self._engine.signals.trend(drug, reaction, series=self.series, **given)

    def interaction(self, drug: str, with_drug: str, reaction: str, **options: Any) -> Interaction:
        """Two drugs together with a reaction; options of :meth:`SignalCalls.interaction`."""
        given = self._own(options) | {"released_only": True}
        names = (drug, with_drug, reaction)
        return self._engine.signals.interaction(*names, series=self.series, **given)

    def likelihood(self, drug: str, **options: Any) -> LikelihoodTest:
        """A drug tested over all reactions; options of :meth:`SignalCalls.likelihood`."""
        given = self._own(options) | {"released_only": True}
        return self._engine.signals.likelihood(drug, series=self.series, **given)

    def export(self, form: Form, to: str | Path, **options: Any) -> Exported:
        """The released rows for another tool; options of :meth:`SignalCalls.export`."""
        return self._engine.signals.export(form, to, series=self.series, **self._own(options))

    def drugs(self, level: str, **options: Any) -> Coverage:
        """What a dictionary calls released values; options of :meth:`QueryCalls.drugs`."""
        given = self._own(options) | {"released_only": True}
        return self._engine.query.drugs(level, series=self.series, **given)

    def spellings(self, **options: Any) -> Spellings:
        """Released terms with several spellings; options of :meth:`QueryCalls.spellings`."""
        given = self._own(options) | {"released_only": True}
        return self._engine.query.spellings(series=self.series, **given)

    @reads(errors.ArtifactError)
    def metrics(
        self,
        quarter: Word = None,
        *,
        public: bool = True,
        medical: Name = None,
        series: Word = None,
    ) -> list[MeasureRow]:
        """The public measures of a quarter, which need not be named where there is one."""
        from srsql.engine.report.shapes import public_measures  # brings matplotlib with its package

        self._own({"series": series})
        if medical is not None:
            raise errors.ArtifactError("--medical needs the originals, which no artifact has")
        chosen = self.quarters[0] if quarter is None and len(self.quarters) == 1 else quarter
        if chosen not in self.quarters:
            asked = "give --quarter" if chosen is None else f"{chosen} is not in the artifacts"
            raise errors.ArtifactError(f"{asked} (they have: {', '.join(self.quarters)})")
        schema, number = self._found.series.schemas[chosen], self.quarters.index(chosen) + 1
        with self._found.warehouse.guarded():
            return public_measures(self._found.warehouse, self._found.dataset, schema, number)

    def _own(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options without the series, which is that of the artifacts.

        Raises:
            ArtifactError: another one is asked for, or a dataset.
        """
        series = options.pop("series", None)
        if series not in (None, self.series):
            raise errors.ArtifactError(
                f"the artifacts are of series {self.series!r}, not {series!r}: leave --series out"
            )
        if "dataset" in options:
            raise errors.ArtifactError("the dataset is said when artifacts are opened")
        return options


@reads(errors.ArtifactError)
def open_artifact(
    *folders: str | Path,
    dataset: Name = None,
    threads: int | None = None,
    memory_limit: Word = None,
) -> Artifact:
    """Open one or several artifacts of one series; see :class:`Artifact`."""
    return Artifact(*folders, dataset=dataset, threads=threads, memory_limit=memory_limit)
