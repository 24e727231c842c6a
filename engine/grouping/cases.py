"""From the raw tables of one quarter to super-records: the dataset-dependent part, composed.

With external knowledge E (drug -> disease), where it is given, a case may also have a value that it
does not show.

Everything after it reads the temporary tables named here and knows no column of any dataset.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from srsql.engine.catalog.datasets import term_keys
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import DatasetError
from srsql.engine.grouping.bucket_cases import merge_buckets
from srsql.engine.grouping.reports import (
    Records,
    deleted_reports,
    has_one_value,
    load_attributes,
    number_words,
    numbered_reports,
    report_boxes,
    report_values,
    viewed_values,
)
from srsql.engine.lake.lake_parts import buckets_of
from srsql.engine.store.statements import query
from srsql.engine.workers.carriers import Carrier
from srsql.schemas.outside import open_text
from srsql.udfs.limits import weight_scale as scale_of_weights


@dataclass(frozen=True)
class Unit:
    """Who is counted: of whom k, theta and new or old are. Every record is one."""

    records: Records = "case"
    """A case with all its reports, or each report (see ``gather_pieces``)."""
    parted: bool = field(default=False, init=False)
    """Records are of several cases, which get records of their own once regions are made."""

    @property
    def name(self) -> str:
        """In the words of the checks."""
        return self.records

    def number(self, release: Release) -> None:
        """Number the reports of the quarter by who is counted; within ``load_cases``."""
        release.warehouse.run(query("grouping/cases", "own_units"))

    def part(self, release: Release, weight_scale: int, carriers: str) -> None:
        """Make records of cases of those that were grouped.

        Args:
            release: whose records were grouped.
            weight_scale: what a certain value weighs.
            carriers: of whom the bounds are: ``all`` or ``new``.
        """

    def told(self, guarantee: str) -> dict[str, str]:
        """What the public manifest tells of it; ``guarantee``: of the release."""
        return {}


def load_cases(
    release: Release,
    knowledge: Knowledge | None,
    parts: int = 1,
    unit: Unit | None = None,
    carrier: Carrier | None = None,
) -> int:
    """Build the temporary tables of ``grouping/steps/cases.sql`` for the quarter of a release.

    Cases on a DELETED list are in ``srsql_deleted``, and in no other table.

    Args:
        release: registered in the catalog, within a transaction.
        knowledge: external knowledge E, or none.
        parts: the denominator of alpha: sums of weights stay within 62 bits when each is counted in
            so many parts, too.
        unit: what a record is; None: a case with all its reports.
        carrier: carries the buckets of a lake; None: nobody, and the quarter is merged as a whole.

    Returns:
        The weight scale: what a certain value weighs.

    Source:
        Lin 2016, "combined record" and Definition 1; SPEC section 2.
    """
    warehouse, dataset, quarter = release.warehouse, release.visible_dataset, release.quarter
    buckets = [] if carrier is None else buckets_of(warehouse, dataset, quarter)
    unit = unit or Unit()
    records = unit.records
    if knowledge or not buckets:
        warehouse.run(deleted_reports(dataset), [quarter, dataset.name])
        warehouse.run(numbered_reports(dataset, records), [quarter])
    weight_scale = 1
    if knowledge:
        _store_knowledge(release, knowledge)
        cases = warehouse.value(query("grouping/cases", "case_count"))
        weight_scale = scale_of_weights(cases * parts)
    unit.number(release)
    load_attributes(warehouse, dataset)
    with_drugs = knowledge is not None
    number_words(warehouse, dataset, quarter, release.release_id, with_drugs=with_drugs)
    if carrier is not None and buckets:
        given = {"release_id": release.release_id, "weight_scale": weight_scale}
        merge_buckets(release, carrier, buckets, given, with_drugs=with_drugs)
        warehouse.run(viewed_values(dataset, quarter, with_drugs=with_drugs))
        warehouse.run_step("grouping/terms")
        return weight_scale
    warehouse.run(report_boxes(dataset, quarter))
    statement, values = report_values(dataset, with_drugs=with_drugs)
    warehouse.run(statement, [quarter] * values)
    sole = has_one_value(dataset, with_drugs=with_drugs) and not _followed_up(release)
    work_out(release, weight_scale, records, one_report=sole or records == "report", sole=sole)
    warehouse.run_step("grouping/symptoms", {"one_value": sole})
    return weight_scale


def gather_pieces(release: Release, weight_scale: int) -> None:
    """Make one record of the reports of a case that are in one group, after reports were grouped.

    From here on a group's records are its distinct cases, as every measure and audit takes them.
    Where every case has one report they are so already.
    """
    if not _followed_up(release):
        return
    release.warehouse.run_step("grouping/pieces")
    work_out(release, weight_scale, "report")


def work_out(
    release: Release,
    weight_scale: int,
    records: Records,
    *,
    one_report: bool = False,
    sole: bool = False,
) -> None:
    """What the records have, as ``srsql_case_report`` numbers them.

    Args:
        release: of the records.
        weight_scale: what a certain value weighs.
        records: what they are.
        one_report: each is known to be of one report, so that nothing has to be gathered.
        sole: and each case has one value at most.
    """
    given = {"release_id": release.release_id, "weight_scale": weight_scale}
    known = {"one_report": one_report, "one_value": sole}
    release.warehouse.run_step("grouping/cases", {**given, **known})
    release.warehouse.run_step("grouping/terms")
    if records == "report" and not sole and _followed_up(release):
        release.warehouse.run_step("grouping/report_terms")


def _followed_up(release: Release) -> bool:
    """Whether some record has several reports."""
    return bool(release.warehouse.value(query("grouping/cases", "followed_up")))


def _store_knowledge(release: Release, knowledge: Knowledge) -> None:
    warehouse, version = release.warehouse, release.dataset.term_key
    drugs, diseases = zip(*knowledge.pairs, strict=True) if knowledge.pairs else ((), ())
    keys = [term_keys(warehouse, texts, version) for texts in (drugs, diseases)]
    spelled = (drugs, diseases) if version else keys  # version 0 knows no spellings beside its form
    warehouse.run(
        query("grouping/cases", "store_knowledge"),
        {
            "release_id": release.release_id,
            **dict(zip(("drugs", "diseases"), map(list, spelled), strict=True)),
            **dict(zip(("drug_keys", "disease_keys"), keys, strict=True)),
        },
    )


@dataclass(frozen=True)
class Knowledge:
    """Pairs (drug, disease), distinct; they are normalized where they are used."""

    source: str
    pairs: tuple[tuple[str, str], ...]


def load_knowledge(path: Path) -> Knowledge:
    """Read a CSV with the columns ``drug`` and ``disease``, one pair a row.

    Raises:
        DatasetError: the file cannot be read, lacks a column, or has a row with an empty field.
    """
    try:
        with open_text(path) as file:
            reader = csv.DictReader(file)
            if not {"drug", "disease"} <= set(reader.fieldnames or ()):
                raise DatasetError(f"{path}: the header must name the columns drug and disease")
            pairs = set()
            for row in reader:
                pair = (row["drug"] or "").strip(), (row["disease"] or "").strip()
                if not all(pair):
                    raise DatasetError(f"{path}: line {reader.line_num} has an empty field")
                pairs.add(pair)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from None
    return Knowledge(source=path.name, pairs=tuple(sorted(pairs)))
