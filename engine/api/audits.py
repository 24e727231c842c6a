"""Releases judged: audits, attacks, measures of risk and loss, and foreign releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from srsql.engine import errors
from srsql.engine.api.arguments import reads
from srsql.engine.api.context import CallableCalls
from srsql.engine.api.options import Bounds, ForeignTable, Name, Presence, Word
from srsql.engine.parameters import MAIN

if TYPE_CHECKING:
    from srsql.engine.artifact.counts_audit import CountsAudit
    from srsql.engine.audit.attack import Attack, Besides
    from srsql.engine.audit.audit import Audit
    from srsql.engine.audit.imports.import_counts import ImportedCounts
    from srsql.engine.audit.imports.import_release import ImportedRelease
    from srsql.engine.audit.plan import AuditOptions
    from srsql.engine.errors import SrsqlError
    from srsql.engine.measures import MeasureRow
    from srsql.engine.risk.joined_series import SeriesAudit
    from srsql.engine.risk.term_counts import CombinationShare
    from srsql.engine.store.frames import Rows
    from srsql.engine.store.warehouse import Warehouse
    from srsql.schemas import Dataset

TERMS_ALONE = (
    "series {series!r} releases terms alone, and these attacks are on regions, of which it has "
    "none: 'srsql verify' of the published artifact checks its chunks"
)


def need_regions(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    error: type[SrsqlError],
    quarter: str | None = None,
) -> None:
    """Refuse attacks on a series that has no regions.

    Raises:
        SrsqlError: of the kind ``error``.
    """
    from srsql.engine.shapes import need_cases
    from srsql.engine.store.statements import query

    need_cases(warehouse, dataset, series, error)
    if not (dataset.rows or dataset.counted):
        raise error(TERMS_ALONE.format(series=series))
    asked = {"dataset": dataset.name, "series": series, "quarter": quarter}
    for period, why in warehouse.rows(query("warehouse/public_file", "not_audited"), asked):
        raise error(
            f"the release of {period} cannot be audited from what is published ({why}): ask the "
            "steward for an audit of the warehouse, or run 'srsql verify' on the artifact"
        )


def audit_options(quarter: str | None, bounds: Bounds) -> AuditOptions:
    """What is asked of an audit, as ``srsql audit`` takes it."""
    from srsql.engine.audit.plan import AuditOptions
    from srsql.engine.grouping.thresholds import parse_theta

    attacks = bounds.attacks
    return AuditOptions(
        quarter,
        None if attacks is None else tuple(name.lower() for name in attacks),
        tuple(bounds.scopes),
        bounds.k,
        None if bounds.theta is None else parse_theta(str(bounds.theta)),
        None if bounds.alpha is None else Fraction(bounds.alpha),
        evidence=bounds.evidence,
    )


def audited(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    asked: AuditOptions,
    *,
    all_series: bool,
    kept: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Audit | SeriesAudit | CountsAudit:
    """The audit of a series, or of all series together, or as the releases of a series kept it.

    Raises:
        AuditError: the series has no regions, or something is asked that does not apply.
    """
    from srsql.engine.audit.audit import audit
    from srsql.engine.audit.count_differences import count_differences
    from srsql.engine.audit.plan import AuditOptions
    from srsql.engine.audit.verdicts import kept_audit
    from srsql.engine.catalog.series import IMPORTED_COUNTS, awaited_cases, find_series
    from srsql.engine.checks.folded_terms import folded_terms
    from srsql.engine.errors import AuditError
    from srsql.engine.risk.joined_series import audit_all_series
    from srsql.engine.shapes import series_dataset

    if all_series:
        usual = AuditOptions(asked.quarter, k=asked.k, evidence=asked.evidence)
        if asked != usual or series != MAIN or kept:
            raise AuditError(
                "--all-series takes --quarter, --k and --dataset: leave the other options out"
            )
        joined = audit_all_series(warehouse, dataset, asked.quarter, asked.k)
        counts = count_differences(warehouse, dataset, quarter=asked.quarter, k=asked.k)
        return replace(joined, counts=tuple(counts), safe=joined.safe and not counts)
    known = find_series(warehouse, dataset, series)
    if known is not None and known.family == IMPORTED_COUNTS:
        return _counts_audited(warehouse, dataset, series, asked, kept=kept)
    visible = series_dataset(warehouse, dataset, series)
    need_regions(warehouse, visible, series, AuditError, asked.quarter)
    if kept:
        if asked != AuditOptions(asked.quarter, evidence=asked.evidence):
            raise AuditError(
                "--kept takes --quarter, --series and --dataset, since releases keep what they "
                "found by their own bounds: leave the other options out"
            )
        return kept_audit(warehouse, visible, series, asked.quarter)
    coming = awaited_cases(warehouse, visible, series)
    asked = replace(asked, union=True, leaving=True, next_cases=coming)
    found = audit(warehouse, visible, series, asked, progress)
    counts = count_differences(warehouse, visible, series, asked.quarter, k=asked.k)
    folded = folded_terms(warehouse, visible, series, asked.quarter)
    return replace(found, folded=folded, counts=tuple(counts), safe=found.safe and not counts)


def _counts_audited(
    warehouse: Warehouse, dataset: Dataset, series: str, asked: AuditOptions, *, kept: bool
) -> CountsAudit:
    """The audit of imported tables of counts, of which there are no cases.

    Raises:
        AuditError: something is asked that is of cases.
    """
    from srsql.engine.artifact.counts_audit import audit_counts
    from srsql.engine.errors import AuditError

    usual = type(asked)(asked.quarter, k=asked.k, theta=asked.theta, evidence=asked.evidence)
    threshold = None if asked.theta is None else asked.theta.default
    if asked != usual or kept or (asked.theta is not None and threshold is None):
        raise AuditError(
            f"series {series!r} has imported tables of counts, which are judged by --quarter, --k "
            "and a number as --theta: leave the other options out"
        )
    return audit_counts(warehouse, dataset, series, asked.quarter, asked.k, threshold)


def all_measures(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str,
    release_id: int,
    medical: str | Path | None,
) -> list[MeasureRow]:
    """Risk and loss of a release, by every measure that applies to it.

    Args:
        warehouse: may be read-only.
        dataset: whose release.
        series: of the release.
        quarter: of the release.
        release_id: its number in the catalog.
        medical: what diseases say of a patient; None: the table that ships.
    """
    from srsql.engine.catalog.series import IMPORTED_COUNTS, find_series
    from srsql.engine.checks import catalog_facts
    from srsql.engine.checks.registry import judged
    from srsql.engine.checks.series import measure_series
    from srsql.engine.errors import QueryError
    from srsql.engine.risk.group_questions import answer_errors, group_answers
    from srsql.engine.risk.linkability import measure_linkability
    from srsql.engine.risk.linkage import measure_linkage, read_medical, shipped_medical
    from srsql.engine.risk.metrics import measure, measure_terms
    from srsql.engine.risk.singling_out import measure_singling_out
    from srsql.engine.shapes import need_cases, series_dataset

    found = find_series(warehouse, dataset, series)
    if found is not None and found.family == IMPORTED_COUNTS:
        need_cases(warehouse, dataset, series, QueryError)
    known = read_medical(dataset, Path(medical)) if medical else shipped_medical(dataset)
    facts = catalog_facts(warehouse, release_id)
    metrics = judged(facts, measure(warehouse, release_id))
    if facts.synthetic_rows:  # no row that could be linked
        answers = group_answers(warehouse, dataset, release_id)
        return [*metrics, *answer_errors(release_id, answers)]
    return [
        *metrics,
        *measure_singling_out(warehouse, series_dataset(warehouse, dataset, series), release_id),
        *measure_linkage(warehouse, dataset, release_id, known),
        *measure_series(warehouse, dataset, series, release_id, quarter),
        *measure_linkability(warehouse, dataset, release_id),
        *measure_terms(warehouse, dataset, release_id),
    ]


def measured_publicly(
    warehouse: Warehouse, visible_dataset: Dataset, release_id: int
) -> list[MeasureRow]:
    """The measures of a release that its views alone allow.

    Raises:
        QueryError: it is a foreign release, which has no views.
    """
    from srsql.engine.errors import QueryError
    from srsql.engine.report.shapes import public_measures  # brings matplotlib with its package
    from srsql.engine.store.statements import query

    schema, status = warehouse.rows(query("risk/metrics", "views"), {"release_id": release_id})[0]
    if status == "superseded" or not schema:
        raise QueryError("the release has no views to measure: leave --public out")
    return public_measures(warehouse, visible_dataset, schema, release_id)


class AuditCalls(CallableCalls):
    """``engine.audit``: what attackers learn of a release, and what it lost.

    >>> engine.audit.run().safe
    True
    >>> len(engine.audit.metrics("2011Q4")) > 10
    True
    """

    NAME, CALL = "audit", "run"

    @overload
    def run(self, *, all_series: Literal[True], **options: Any) -> SeriesAudit: ...
    @overload
    def run(self, *, all_series: Literal[False] = False, **options: Any) -> Audit: ...
    @reads(errors.AuditError, called="audit")
    def run(
        self,
        *,
        quarter: Word = None,
        bounds: Bounds = Bounds(),
        all_series: bool = False,
        kept: bool = False,
        dataset: Name = None,
        series: str = MAIN,
        progress: Callable[[str], None] | None = None,
        **fields: Any,
    ) -> Audit | SeriesAudit | CountsAudit:
        """Attack every case of a series, or of all together; see ``srsql audit``."""
        options = audit_options(quarter, bounds)
        if all_series or kept:
            self._context.need_originals("audits over all series, and kept verdicts, are")
        with self.warehouse.guarded():
            schema = self._context.dataset_of(quarter, dataset)
            return audited(
                self.warehouse,
                schema,
                series,
                options,
                all_series=all_series,
                kept=kept,
                progress=progress,
            )

    @reads(errors.AttackError)
    def attack(
        self,
        quarter: str,
        qids: Mapping[str, str | int],
        presence: Presence = Presence(),
        *,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> Attack:
        """Play one attacker against a release; see ``srsql attack``."""
        from srsql.engine.audit.attack import attack

        with self.warehouse.guarded():
            schema = self._context.visible(series, quarter, dataset)
            need_regions(self.warehouse, schema, series, errors.AttackError, quarter)
            values = {name: str(value) for name, value in qids.items()}
            known: dict[Besides, bool] = {
                "new": presence.new,
                "stopped": presence.stopped,
                "left": presence.left,
                "stayed": presence.stayed,
                "gone": presence.gone,
            }
            besides = {name for name, is_known in known.items() if is_known}
            return attack(self.warehouse, schema, quarter, values, besides, series=series)

    @reads(errors.SrsqlError)
    def metrics(
        self,
        quarter: str,
        *,
        medical: Name = None,
        bound: bool = False,
        coalition: int | None = None,
        public: bool = False,
        dataset: Name = None,
        series: str = MAIN,
    ) -> Rows[MeasureRow]:
        """Risk and loss of a released quarter; see ``srsql metrics``."""
        from srsql.engine.measures import MeasureRow
        from srsql.engine.risk.coalitions import coalitions
        from srsql.engine.risk.metrics import loss_bound
        from srsql.engine.shapes import series_dataset
        from srsql.engine.store.frames import Rows

        if medical is not None:
            self._context.need_originals("inferences by medical knowledge are")
        if bound:
            self._context.need_originals("a bound of the loss is")
        if coalition is not None:
            self._context.need_originals("what coalitions tell is")
        with self.warehouse.guarded():
            schema, found = self._context.released(quarter, dataset, series)
            if self._context.released_only(public):
                visible = series_dataset(self.warehouse, schema, series)
                return Rows(measured_publicly(self.warehouse, visible, found), MeasureRow)
            rows = all_measures(self.warehouse, schema, series, quarter, found, medical)
            if bound:
                rows += loss_bound(self.warehouse, found, rows)
            if coalition is not None:
                rows += coalitions(self.warehouse, found, coalition)
            return Rows(rows, MeasureRow)

    @reads(errors.SrsqlError)
    def term_combinations(
        self, quarter: str, *, dataset: Name = None, series: str = MAIN
    ) -> Rows[CombinationShare]:
        """How many original cases share a combination of the terms that a release tells apart from
        records or generalizes (Loukides 2014, Fig. 12): for the steward."""
        from srsql.engine.risk.metrics import term_combinations
        from srsql.engine.risk.term_counts import CombinationShare
        from srsql.engine.store.frames import Rows

        self._context.need_originals("term combinations are")
        with self.warehouse.guarded():
            schema, release_id = self._context.released(quarter, dataset, series)
            found = term_combinations(self.warehouse, schema, release_id)
            return Rows(found, CombinationShare)

    @reads(errors.ImportReleaseError)
    def import_release(
        self,
        path: str | Path,
        quarter: str,
        table: ForeignTable = ForeignTable(),
        *,
        dataset: Name = None,
        series: str = MAIN,
        **fields: Any,
    ) -> ImportedRelease | ImportedCounts:
        """Register a foreign released table; see ``srsql import-release``. Without a dataset the
        names of ``columns`` make one. With ``counts`` it is a table of counts."""
        from srsql.engine.audit.imports.import_release import ImportRequest, import_release
        from srsql.engine.audit.imports.mapped import mapped_dataset

        if table.counts is not None:
            return self._import_counts(Path(path), quarter, table, dataset, series)
        if table.sensitive:
            raise errors.ImportReleaseError("--sensitive goes with --counts: give it, too")
        raw = Path(table.originals) if table.originals is not None else None
        request = ImportRequest(
            Path(path),
            quarter,
            raw,
            series,
            table.group_column,
            table.separator,
            table.supersede,
            table.max_unpacked,
            table.columns or {},
            table.suppressed,
            table.if_needed,
        )
        given = dataset or self._context.usual
        with self.warehouse.guarded():
            if table.columns and given is None:
                schema = mapped_dataset(
                    self.warehouse, request.path, table.columns, table.suppressed
                )
            else:
                schema = self._context.dataset(dataset)
            named = str(given or ("--map" if table.columns else schema.name))
            return import_release(self.warehouse, schema, request, named)

    def _import_counts(
        self, path: Path, quarter: str, table: ForeignTable, dataset: Name, series: str
    ) -> ImportedCounts:
        from srsql.engine.audit.imports.import_counts import CountsRequest, import_counts

        of_rows = ("originals", "group_column", "suppressed", "max_unpacked", "columns")
        for name in of_rows:
            if getattr(table, name):
                option = {"columns": "map"}.get(name, name.replace("_", "-"))
                raise errors.ImportReleaseError(
                    f"--{option} is of a table of rows, and --counts of one of counts: leave one "
                    "of them out"
                )
        request = CountsRequest(
            path, quarter, tuple(table.counts or ()), tuple(table.sensitive or ()), series,
            table.supersede, table.if_needed,
        )  # fmt: skip
        with self.warehouse.guarded():
            schema = self._context.dataset(dataset)
            named = str(dataset or self._context.usual or schema.name)
            return import_counts(self.warehouse, schema, request, named)
