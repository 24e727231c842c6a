"""`Engine`: everything the command line does, for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import duckdb
import pandas as pd

from srsql.engine.advise.advise import Advice, advise
from srsql.engine.advise.question import Sweep, make_bounds
from srsql.engine.artifact.layout import Format
from srsql.engine.artifact.publish import Publication, Published, publish
from srsql.engine.attack import Attack, attack
from srsql.engine.audit import SCOPES, Audit, audit
from srsql.engine.catalog import dataset_names, registered_dataset
from srsql.engine.compare.compare import Compared, compare
from srsql.engine.compare.grid import Grid, Rules
from srsql.engine.draft import confirm
from srsql.engine.errors import (
    AttackError,
    AuditError,
    DatasetError,
    ReportError,
    SignalError,
    SrsqlError,
)
from srsql.engine.frames import Kind, shaped
from srsql.engine.imported import Imported, ImportRequest, import_release
from srsql.engine.ingest import Ingested, ingest
from srsql.engine.lattice.questions import GroupAnswer, answer_errors, group_answers
from srsql.engine.lattice.told import need_cases, over_lattice
from srsql.engine.linkage import measure_linkage
from srsql.engine.medical import read_medical, shipped_medical
from srsql.engine.metrics import MeasureRow, measure, released_id
from srsql.engine.options import DEFAULTS, ReleaseOptions, make_request
from srsql.engine.query.query import Answer, query
from srsql.engine.ranges import Range, is_range, range_ends, release_range
from srsql.engine.release import release
from srsql.engine.request import Released
from srsql.engine.series_check import measure_series
from srsql.engine.signals.results import Signals
from srsql.engine.signals.rules import Rule, make_condition, read_rules
from srsql.engine.signals.signals import signals
from srsql.engine.status import Status, status
from srsql.engine.terms.combinations import CombinationShare
from srsql.engine.terms.counts import TermCount
from srsql.engine.terms.metrics import count_term_sets, measure_terms, term_combinations
from srsql.engine.terms.told import as_told
from srsql.engine.thresholds import parse_theta
from srsql.engine.warehouse import Warehouse
from srsql.schemas import Dataset, SchemaError, load_dataset

if TYPE_CHECKING:
    from srsql.engine.report import Report

Progress = Callable[[str], None]


TERMS_ALONE = (
    "series {series!r} releases terms alone, and these attacks are on regions, of which it has "
    "none: 'srsql verify' of the published artifact checks its chunks"
)


class Engine:
    """The engine on one warehouse.

    Args:
        target: path of a DuckDB file, or an open connection (used, never closed).
        dataset: dataset for every call that names none; default: the only one ingested, else
            ``faers``.
        read_only: open the file for reading only.
        threads: DuckDB worker threads.
        memory_limit: DuckDB's memory limit, such as ``"8GB"``.
    """

    def __init__(
        self,
        target: str | Path | duckdb.DuckDBPyConnection,
        *,
        dataset: str | Path | None = None,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self.warehouse = Warehouse(
            target, read_only=read_only, threads=threads, memory_limit=memory_limit
        )
        self._dataset = dataset

    def __enter__(self) -> Engine:
        """The engine itself; the warehouse closes when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the warehouse if it is ours."""
        self.close()

    def close(self) -> None:
        """Close the warehouse if it is ours."""
        self.warehouse.close()

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection, for SQL of your own."""
        return self.warehouse.con

    def dataset(self, name: str | Path | None = None) -> Dataset:
        """The schema of that name or file; by default the only dataset of the warehouse.

        Raises:
            DatasetError: there is no such dataset, or its file is wrong.
        """
        chosen = name if name is not None else self._dataset
        known = dataset_names(self.warehouse)
        if chosen is None:
            if len(known) > 1:
                raise DatasetError(
                    f"the warehouse holds {', '.join(known)}: say which one with --dataset"
                )
            chosen = known[0] if known else DEFAULTS.dataset
        if str(chosen) in known:
            return registered_dataset(self.warehouse, str(chosen))
        try:
            return load_dataset(chosen)
        except SchemaError as error:
            raise DatasetError(str(error)) from None

    def ingest(
        self,
        sources: Sequence[str | Path] = (),
        *,
        dataset: str | Path | None = None,
        period: str | None = None,
        replace: bool = False,
        max_reject_rate: float = 0.01,
        progress: Progress | None = None,
    ) -> list[Ingested]:
        """Load files, or tables of the connection, of one or more periods; see ``srsql ingest``."""
        chosen = dataset if dataset is not None else self._dataset or DEFAULTS.dataset
        try:
            schema = load_dataset(chosen)
        except SchemaError as error:
            raise DatasetError(str(error)) from None
        with self.warehouse.guarded():
            return ingest(
                self.warehouse,
                [Path(source) for source in sources],
                schema,
                period=period,
                replace=replace,
                max_reject_rate=max_reject_rate,
                origin=str(chosen),
                progress=progress,
            )

    def release(
        self,
        quarter: str,
        *,
        dataset: str | Path | None = None,
        progress: Progress | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Released:
        """Anonymize one quarter into views; see ``srsql release`` and ``ReleaseOptions``."""
        request = make_request(quarter, options)
        with self.warehouse.guarded():
            return release(self.warehouse, self._dataset_of(quarter, dataset), request, progress)

    def release_range(
        self,
        quarters: str,
        *,
        dataset: str | Path | None = None,
        progress: Progress | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Range:
        """Release the quarters ``A:B`` that are not out yet; options as for :meth:`release`."""
        request = make_request(quarters, options)
        with self.warehouse.guarded():
            schema = self._dataset_of(range_ends(quarters)[0], dataset)
            return release_range(self.warehouse, schema, request, progress)

    def confirm(
        self, quarter: str, *, dataset: str | Path | None = None, series: str = DEFAULTS.series
    ) -> Released:
        """Expose a draft; see ``srsql release --confirm``."""
        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            return confirm(self.warehouse, schema, quarter, series)

    def metrics(
        self,
        quarter: str,
        *,
        medical: str | Path | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[MeasureRow]:
        """Risk and loss of a released quarter; see ``srsql metrics``."""
        with self.warehouse.guarded():
            schema = self._dataset_of(quarter, dataset)
            known = read_medical(schema, Path(medical)) if medical else shipped_medical(schema)
            release_id = released_id(self.warehouse, schema, quarter, series)
            if over_lattice(self.warehouse, release_id):  # no row that could be linked
                answers = group_answers(self.warehouse, schema, release_id)
                return [
                    *measure(self.warehouse, release_id),
                    *answer_errors(release_id, answers),
                ]
            return [
                *measure(self.warehouse, release_id),
                *measure_linkage(self.warehouse, schema, release_id, known),
                *measure_series(self.warehouse, schema, series, release_id, quarter),
                *measure_terms(self.warehouse, schema, release_id),
            ]

    def age_groups(
        self,
        quarter: str,
        value: str | None = None,
        *,
        width: int = 5,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[GroupAnswer]:
        """Q1 to Q4 of Lee 2020 of a release of ipa, full-domain or dp-histogram, and the truth.

        Cases of one informative value by age group (None: of the value that most cases hold).
        """
        with self.warehouse.guarded():
            schema = self._dataset_of(quarter, dataset)
            release_id = released_id(self.warehouse, schema, quarter, series)
            if not over_lattice(self.warehouse, release_id):
                return []
            return group_answers(self.warehouse, schema, release_id, value, width)

    def term_combinations(
        self,
        quarter: str,
        *,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[CombinationShare]:
        """How many cases share a combination of terms (Loukides 2014, Fig. 12): the steward's.

        Of the originals of a release with disassociated or generalized terms.
        """
        with self.warehouse.guarded():
            schema = self._dataset_of(quarter, dataset)
            release_id = released_id(self.warehouse, schema, quarter, series)
            return term_combinations(self.warehouse, schema, release_id)

    def count_terms(
        self,
        quarter: str,
        sets: Sequence[Sequence[str]],
        *,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> list[TermCount]:
        """How many records hold all terms of each set: lower, expected, upper.

        From the released tables of a quarter with disassociated terms alone.
        """
        with self.warehouse.guarded():
            schema = self._dataset_of(quarter, dataset)
            release_id = released_id(self.warehouse, schema, quarter, series)
            return count_term_sets(self.warehouse, release_id, [tuple(s) for s in sets])

    def report(
        self,
        quarter: str | None = None,
        *,
        public: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Report:
        """One HTML page on a quarter, or on the whole series; see ``srsql report``."""
        from srsql.engine.report import report  # brings matplotlib, which nothing else needs

        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            need_cases(self.warehouse, schema.name, series, ReportError)
            return report(self.warehouse, schema, series, quarter, public=public)

    def import_release(
        self,
        path: str | Path,
        quarter: str,
        *,
        dataset: str | Path | None = None,
        originals: str | Path | None = None,
        series: str = DEFAULTS.series,
        group_column: str | None = None,
        separator: str = ";",
        supersede: bool = False,
    ) -> Imported:
        """Register somebody else's released table; see ``srsql import-release``."""
        request = ImportRequest(
            Path(path),
            quarter,
            originals=Path(originals) if originals is not None else None,
            series=series,
            group_column=group_column,
            separator=separator,
            supersede=supersede,
        )
        with self.warehouse.guarded():
            schema = self.dataset(dataset)
            return import_release(
                self.warehouse, schema, request, str(dataset or self._dataset or schema.name)
            )

    def attack(
        self,
        quarter: str,
        qids: Mapping[str, str | int],
        *,
        new: bool = False,
        stopped: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Attack:
        """Play one attacker against a release; see ``srsql attack``."""
        known = {name: str(value) for name, value in qids.items()}
        with self.warehouse.guarded():
            schema = self._with_regions(series, quarter, dataset, AttackError)
            return attack(
                self.warehouse, schema, quarter, known, new=new, stopped=stopped, series=series
            )

    def audit(
        self,
        *,
        quarter: str | None = None,
        attacks: Sequence[str] | None = None,
        scopes: Sequence[str] = SCOPES,
        k: int | None = None,
        theta: str | None = None,
        alpha: Fraction | None = None,
        evidence: int | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Audit:
        """Attack every case of a series; see ``srsql audit``."""
        with self.warehouse.guarded():
            schema = self._with_regions(series, quarter, dataset, AuditError)
            return audit(
                self.warehouse,
                schema,
                series,
                quarter=quarter,
                attacks=tuple(attacks) if attacks is not None else None,
                scopes=tuple(scopes),
                k=k,
                theta=parse_theta(theta) if theta is not None else None,
                alpha=alpha,
                evidence=evidence,
            )

    def signals(
        self,
        *,
        drug: str | None = None,
        reaction: str | None = None,
        rules: str | Path | None = None,
        every_pair: bool = False,
        quarter: str | None = None,
        min_age: float | str | None = None,
        max_age: float | str | None = None,
        sex: str | None = None,
        roles: Sequence[str] | None = None,
        released_only: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Signals:
        """Signals of one pair, of a file of rules, or of every pair; see ``srsql signals``."""
        asked = [drug is not None and reaction is not None, rules is not None, every_pair]
        if sum(asked) != 1 or (drug is None) != (reaction is None):
            raise SignalError("give --drug and --reaction, or --rules, or --all")
        low, high = (None if limit is None else str(limit) for limit in (min_age, max_age))
        if rules is not None and any(text is not None for text in (low, high, sex)):
            raise SignalError(
                "--rules brings its own conditions: leave --min-age, --max-age, --sex out"
            )
        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            need_cases(self.warehouse, schema.name, series, SignalError)
            condition = make_condition(schema, low, high, sex)
            chosen = (
                read_rules(schema, Path(rules))
                if rules is not None
                else condition
                if drug is None or reaction is None
                else [Rule(drug, reaction, condition)]
            )
            return signals(
                self.warehouse,
                schema,
                series,
                chosen,
                quarter=quarter,
                roles=roles,
                released_only=released_only,
            )

    def query(
        self,
        sql: str,
        *,
        quarter: str | None = None,
        include_withheld: bool = False,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
    ) -> Answer:
        """A question over the original tables, from released views; see ``srsql query``."""
        with self.warehouse.guarded():
            schema = self._told(series, quarter, dataset)
            return query(
                self.warehouse,
                schema,
                series,
                sql,
                quarter=quarter,
                include_withheld=include_withheld,
            )

    def compare(
        self,
        quarters: str,
        grid: Grid,
        out: str | Path,
        *,
        rules: Rules | None = None,
        jobs: int | None = None,
        dataset: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Compared:
        """A grid of models and parameters over quarters, measured; see ``srsql compare``."""
        with self.warehouse.guarded():
            schema = self._dataset_of(
                range_ends(quarters)[0] if is_range(quarters) else quarters, dataset
            )
            return compare(
                self.warehouse, schema, quarters, grid, rules or Rules(), Path(out), jobs, progress
            )

    def advise(
        self,
        quarter: str,
        out: str | Path,
        *,
        max_risk: str | None = None,
        max_loss: str | None = None,
        max_confidence: str | None = None,
        sweep: Sweep | None = None,
        jobs: int | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
        progress: Progress | None = None,
    ) -> Advice:
        """Which model, k, theta and epsilon for the next release; see ``srsql advise``."""
        bounds = make_bounds(max_risk, max_loss, max_confidence)
        with self.warehouse.guarded():
            return advise(
                self.warehouse,
                self._dataset_of(quarter, dataset),
                quarter,
                bounds,
                sweep or Sweep(),
                series=series,
                out=Path(out),
                jobs=jobs,
                progress=progress,
            )

    def status(self) -> Status:
        """What the warehouse holds; see ``srsql status``."""
        with self.warehouse.guarded():
            return status(self.warehouse)

    def publish(
        self,
        quarter: str,
        to: str | Path,
        *,
        format: Format = "parquet",
        case_ids: Literal["as-released", "pseudonym"] = "as-released",
        key_file: str | Path | None = None,
        storage_version: str | None = None,
        dataset: str | Path | None = None,
        series: str = DEFAULTS.series,
        progress: Progress | None = None,
    ) -> Published:
        """Write the artifact of a released quarter; see ``srsql publish``."""
        asked = Publication(
            quarter,
            Path(to),
            series,
            format,
            case_ids,
            Path(key_file) if key_file is not None else None,
            storage_version,
        )
        with self.warehouse.guarded():
            schema = self._told(asked.series, quarter, dataset)
            return publish(self.warehouse, schema, asked, progress)

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of your own."""
        return self.warehouse.rows(query, parameters)

    @overload
    def frame(self, query: str, parameters: Sequence[Any] = ()) -> pd.DataFrame: ...
    @overload
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind) -> Any: ...
    def frame(self, query: str, parameters: Sequence[Any] = (), *, kind: Kind = "pandas") -> Any:
        """The result of a query of your own as a pandas, Arrow or Polars table.

        Types are the query's, whatever its rows: integers with NULL stay integers, decimals exact.
        """
        result = self.con.sql(query, params=list(parameters) or None)
        return shaped(result.to_arrow_table(), kind)

    def _told(self, series: str, quarter: str | None, dataset: str | Path | None) -> Dataset:
        """The dataset with the tables of which the series has rows."""
        schema = self._dataset_of(quarter, dataset) if quarter else self.dataset(dataset)
        return as_told(self.warehouse, schema, series)

    def _with_regions(
        self,
        series: str,
        quarter: str | None,
        dataset: str | Path | None,
        error: type[SrsqlError],
    ) -> Dataset:
        """The same; refused, as ``error``, where the series has no regions to attack."""
        schema = self._told(series, quarter, dataset)
        need_cases(self.warehouse, schema.name, series, error)
        if not schema.rows:
            raise error(TERMS_ALONE.format(series=series))
        return schema

    def _dataset_of(self, quarter: str, dataset: str | Path | None) -> Dataset:
        """The dataset asked for, or the only one that has the quarter."""
        if dataset is None and self._dataset is None:
            holders = [
                row[0]
                for row in self.warehouse.rows(
                    "SELECT DISTINCT i.dataset FROM srsql.ingestion AS i "
                    "WHERE i.quarter = ? AND NOT i.replaced",
                    [quarter],
                )
            ]
            holders = holders or [
                row[0]
                for row in self.warehouse.rows(
                    "SELECT DISTINCT r.dataset FROM srsql.release AS r WHERE r.quarter = ?",
                    [quarter],
                )
            ]
            if len(holders) == 1:
                return self.dataset(holders[0])
        return self.dataset(dataset)
