"""The audit of imported tables of counts: by the rules of count tables, and beside other tables.

The rules are those that ``verify --counts`` holds a file to. What differs from every other table of
the period, of ours and of foreign ones, is ``audit/count_differences.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from srsql.engine.artifact.verify.foreign_counts import NO_THETA, judged_counts
from srsql.engine.audit.count_differences import FOREIGN_K, CountDifference, count_differences
from srsql.engine.audit.imports.import_counts import kept_counts
from srsql.engine.errors import AuditError
from srsql.engine.measures import cell
from srsql.engine.store.frames import Framed
from srsql.engine.store.statements import query
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

DIFFERENCES = "differences"
NO_SENSITIVE = "thresholds: no column was imported as sensitive (import-release --sensitive COLUMN)"
CANNOT = (
    "tables of other periods: whether they count some of these cases again",
    "strata and items that two tables call otherwise, and the joint use of more than two tables",
)


@dataclass(frozen=True)
class CountsCheck:
    """One rule, and where imported tables of a period break it."""

    quarter: str = field(metadata=cell("quarter"))
    check: str = field(metadata=cell("check"))
    passed: bool = field(metadata=cell("passed", "verdict"))
    faults: int = field(metadata=cell("faults", "count"))
    total: int = field(metadata=cell("of", "count"))
    example: str = field(metadata=cell("one of them"))


@dataclass(frozen=True)
class CountsAudit(Framed):
    """The audit of a series of imported tables of counts."""

    _tables: ClassVar[tuple[str, ...]] = ("checks", "differences")

    dataset: str
    series: str
    k: int
    theta: str
    checks: list[CountsCheck]
    """Of each table that stands or was superseded."""
    differences: list[CountDifference]
    """From other tables of the same period."""
    cannot_show: tuple[str, ...]
    """What no table shows, in words."""

    @property
    def safe(self) -> bool:
        """Whether no rule is refuted, and no difference is of 1 to k - 1 cases."""
        return all(check.passed for check in self.checks) and not self.differences

    @property
    def verdict(self) -> str:
        """In one sentence."""
        tables = len({check.quarter for check in self.checks})
        if self.safe:
            return (
                f"Not refuted: the counts of {tables} period(s) keep k = {self.k} and the rules of "
                "count tables, as far as they show it, and no other table gives less than k away."
            )
        faults = sum(check.faults for check in self.checks)
        found = sum(each.found for each in self.differences)
        return (
            f"Unsafe: {faults:,} counts break a rule, and {found:,} differences from other tables "
            f"are of 1 to {self.k - 1} cases."
        )


def audit_counts(
    warehouse: Warehouse,
    dataset: Dataset,
    series: str,
    quarter: str | None = None,
    k: int | None = None,
    theta: Fraction | None = None,
) -> CountsAudit:
    """Judge the imported tables of a series.

    Args:
        warehouse: may be read-only.
        dataset: of the series.
        series: that holds imported tables of counts.
        quarter: the only one.
        k: cases of a count, at least; None: 5.
        theta: of the columns that were imported as sensitive; None: no threshold is judged.

    Raises:
        AuditError: there is no such table, or k hides nobody.
    """
    least = FOREIGN_K if k is None else k
    if least < 2:
        raise AuditError(f"--k {least}: a count of one case hides nobody, give 2 or more")
    own = {"dataset": dataset.name, "series": series, "quarter": quarter}
    tables = warehouse.rows(query("audit/imports", "imported_counts"), own)
    if not tables:
        raise AuditError(f"series {series!r} has no table of counts of {quarter}: give another one")
    checks, cannot = list[CountsCheck](), dict[str, None]()
    for release_id, period, status in tables:
        counts, sensitive = kept_counts(warehouse, release_id)
        limits = {} if theta is None else dict.fromkeys(sensitive, theta)
        found, unjudged = judged_counts(counts, least, limits)
        place = period if status == "released" else f"{period} ({status})"
        checks += [
            CountsCheck(
                place, each.name, not each.faults, len(each.faults), each.total,
                each.faults[0] if each.faults else "",
            )
            for each in found
        ]  # fmt: skip
        if theta is not None and not sensitive:
            unjudged = [NO_SENSITIVE if text == NO_THETA else text for text in unjudged]
        cannot |= dict.fromkeys(text for text in unjudged if "rule R6" not in text)
    return CountsAudit(
        dataset.name,
        series,
        least,
        "none" if theta is None else str(theta),
        checks,
        count_differences(warehouse, dataset, series, quarter, k=k),
        (*cannot, *CANNOT),
    )
