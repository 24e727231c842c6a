"""The part of a release that takes terms apart from rows: which tables keep them, and the rest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from sqlglot import exp

from srsql.engine.catalog.layout import region_columns
from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import Ids
from srsql.engine.checks.term_chunks import longest_unproved
from srsql.engine.checks.whole_rows import (
    inferred,
    longest_untold,
    release_shares,
    told_of_release,
)
from srsql.engine.errors import InfeasibleError, NothingToReleaseError
from srsql.engine.grouping.feasibility import withhold_all
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.features.feature import InGroups, OnTermRows, OnTerms
from srsql.engine.release.features.table import refuse
from srsql.engine.release.request import Request
from srsql.engine.release.views import public_regions
from srsql.engine.shapes.regions import Telling
from srsql.engine.store.statements import column, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.baskets import check_attributes, load_baskets, load_rows
from srsql.engine.terms.disassociate import Judge, keep_apart, most_of_an_item
from srsql.engine.terms.generalize import MAKING
from srsql.engine.terms.parameters import DisassociationParameters
from srsql.engine.terms.policies import put_chosen
from srsql.engine.workers.carriers import Carrier
from srsql.schemas import Dataset

TOPIC = "release/terms"


def need_terms(release: Release, request: Request, terms: DisassociationParameters) -> None:
    """Before regions are made: where terms alone are released, a cluster's worth of cases has some.

    Where a quarter may be empty, it is: its cases are withheld.

    Args:
        release: with ``srsql_grouped``.
        request: the model, and whether the quarter may be empty.
        terms: the attributes, and how few cases of a cluster may have them.

    Raises:
        ReleaseError: too few cases have a term, or one has a term that may not be released.
    """
    request.model.shape.of_cases(_told_with_rows, _need_alone)(release, request, terms)


def _told_with_rows(release: Release, request: Request, terms: DisassociationParameters) -> None:
    """Rows are released, of cases with a term or without."""


def _need_alone(release: Release, request: Request, terms: DisassociationParameters) -> None:
    warehouse, quarter = release.warehouse, release.quarter
    least = max(request.model.k, terms.diversity)
    if warehouse.value("SELECT count(*) FROM temp.main.srsql_grouped"):
        load_baskets(warehouse, release.dataset, quarter, terms, grouped=False, least=least)
        _refuse_never_released(warehouse)
        records = warehouse.value("SELECT count(*) FROM temp.main.srsql_part")
        if records >= least:
            return
        if not request.may_be_empty:
            raise NothingToReleaseError(
                f"{records:,} cases of {quarter} have a term of "
                f"{', '.join(terms.attributes)}, a cluster needs {least:,}: nothing can be released"
            )
    withhold_all(warehouse, "no_group_fits")
    warehouse.run("DELETE FROM temp.main.srsql_grouped")


def _refuse_never_released(warehouse: Warehouse) -> None:
    """Thresholds bound what is known of regions, so terms alone have none, but 0 bars a term."""
    barred = warehouse.rows(query(TOPIC, "never_released"))
    if barred:
        raise InfeasibleError(
            f"theta of {len(barred):,} term(s) is 0, which is never released: {barred[0][0]!r} "
            "and the like would be, since this model withholds no case for its terms: give "
            "another --theta, or --terms disassociate with a model that does"
        )


def release_terms(
    release: Release, request: Request, terms: DisassociationParameters, carrier: Carrier | None
) -> tuple[dict[str, int], DisassociationParameters]:
    """Fill the tables ``srsql_pub_*`` from the released cases of the quarter.

    Args:
        release: with ``srsql_grouped``.
        request: the model and the seed.
        terms: what is told apart from records, and how.
        carrier: carries clusters; None: nobody.

    Returns:
        What the private manifest tells of it: how many terms a chunk was allowed, where that had to
        be limited; and the terms, with what can be promised of them.

    Raises:
        ReleaseError: clusters would have to be larger than groups are.
    """
    return request.shape.tell(_Released(release, request, terms, carrier))


def _limited(chunk_terms: int | None) -> dict[str, int]:
    return {} if chunk_terms is None else {"chunk_terms": chunk_terms}


@dataclass(frozen=True)
class _Released(Telling[tuple[dict[str, int], DisassociationParameters]]):
    """The terms of a release, made by what tells them; see ``release_terms``."""

    release: Release
    request: Request
    terms: DisassociationParameters
    carrier: Carrier | None

    def by_rows(self) -> tuple[dict[str, int], DisassociationParameters]:
        """Some attributes, apart from rows that tell the others, or alone."""
        release, request, terms, carrier = self.release, self.request, self.terms, self.carrier
        warehouse, model = release.warehouse, request.model
        k, grouped = model.k, request.shape.clusters_in_groups
        least = max(k, terms.diversity)
        if grouped:
            refuse(InGroups(request))
        load_baskets(
            warehouse, release.dataset, release.quarter, terms, grouped=grouped, least=least
        )
        _store_terms(release, terms, model)
        put_chosen(warehouse, terms.policy, release.release_id, release.dataset.term_key)
        keep_apart(warehouse, terms, release.dataset.term_key)
        chunks = PublishedTerms.in_schema("temp", "main", prefix="srsql_pub_")
        most = MAKING[model.term_format].make(
            warehouse, terms, k, request.seed, grouped=grouped,
            judge=Judge(partial(longest_unproved, warehouse, chunks, k, terms.m)), carrier=carrier,
        )  # fmt: skip
        return _limited(most), terms

    def by_clusters(self) -> tuple[dict[str, int], DisassociationParameters]:
        """Whole rows, in clusters of whole groups."""
        release, request, terms, carrier = self.release, self.request, self.terms, self.carrier
        warehouse, k = release.warehouse, request.model.k
        load_rows(warehouse, release.dataset, release.quarter, terms)
        _store_terms(release, terms, request.model)
        put_chosen(warehouse, terms.policy, release.release_id, release.dataset.term_key)
        keep_apart(warehouse, terms, release.dataset.term_key)
        chunks = PublishedTerms.in_schema("temp", "main", prefix="srsql_pub_")
        term_k = terms.term_k or k

        def unproved() -> int:
            return max(
                longest_unproved(warehouse, chunks, term_k, terms.m),
                longest_untold(warehouse, chunks, terms.m),
            )

        def told_too_much(clusters: Collection[int] | None) -> list[tuple[int, str]]:
            promised = _promised(terms, term_k, most_of_an_item(warehouse), _largest(release))
            shares = told_of_release(
                release,
                promised.released("chunks"),
                chunks,
                _placed_rows(release),
                _thresholds(release),
                clusters,
            )
            return sorted({(t.cluster, term) for t in shares if not t.passed for term in t.mixed})

        most = MAKING["chunks"].make(
            warehouse, terms, k, request.seed, grouped=True,
            judge=Judge(unproved, told_too_much), carrier=carrier,
        )  # fmt: skip
        held = most_of_an_item(warehouse)
        return _limited(most), _promised(terms, term_k, held, _largest(release))


def _promised(
    terms: DisassociationParameters, term_k: int, held: int, largest: int
) -> DisassociationParameters:
    """The terms with how many cases of its cluster hold an item without a count, at most.

    Fewer than k of the terms do, unless a term had to be told so that k cases could hold: then
    nothing is said but that a cluster has no more cases.
    """
    return replace(terms, item_cases=term_k - 1 if held < term_k else largest)


def _largest(release: Release) -> int:
    """Cases of the largest cluster."""
    return int(release.warehouse.value(query(TOPIC, "largest_cluster")) or 0)


def _thresholds(release: Release) -> dict[str, Fraction]:
    """Of the sensitive values, before the catalog has them."""
    found = release.warehouse.rows(query(TOPIC, "grouped_thresholds"))
    return {term: Fraction(num, den) for term, num, den in found}


def _placed_rows(release: Release) -> str:
    """The query of (region, case_id, cluster) before there are views."""
    dataset = release.visible_dataset
    shown = public_regions(dataset, temporary("srsql_region", alias="r"))
    pairs: list[exp.Expr] = []
    for name in region_columns(dataset):
        pairs += [exp.Literal.string(name), column(name, "g")]
    return (
        exp.select(
            exp.cast(exp.Anonymous(this="json_object", expressions=pairs), "VARCHAR").as_("region"),
            column("case_no", "b").as_("case_id"),
            column("cluster_no", "c").as_("cluster"),
        )
        .from_(temporary("srsql_cluster", alias="c"))
        .join(
            temporary("srsql_basket_case", alias="b"),
            on=column("record_no", "c").eq(column("record_no", "b")),
        )
        .join(shown.subquery("g"), on=column("part", "b").eq(column("group_no", "g")))
        .sql("duckdb")
    )


def release_thresholds(release: Release) -> None:
    """Tell the thresholds of the values that items tell of; the catalog has its rows."""
    release.warehouse.run(query(TOPIC, "release_thresholds"), {"release_id": release.release_id})


def terms_inferred(release: Release, terms: DisassociationParameters) -> int:
    """How many terms of clusters follow from known ones, before the views are there."""
    tables = PublishedTerms.in_schema("temp", "main", prefix="srsql_pub_")
    told = release_shares(release, terms.released("chunks"), tables, _placed_rows(release))
    return inferred(told)


def usual_ids(request: Request) -> Ids | None:
    """Which ids the series gets where it is new and nothing is asked; None: the usual ones."""
    if request.ids is not None or (request.terms is not None and request.terms.link_quarters):
        return request.ids
    return request.shape.usual_ids


def family_of(request: Request, terms: DisassociationParameters | None) -> str:
    """What the releases of a series have in common: rows that some have and others do not would
    show in one quarter what is taken apart in the next. ``terms``: with their attributes."""
    family = request.model.series_family()
    if terms is None:
        return f"{family}{request.shape.family}"
    return f"{family}, {request.shape.told_apart(terms.attributes)} disassociated"


def visible_part(dataset: Dataset, request: Request) -> Dataset:
    """The dataset with the tables of which a release will have rows.

    Args:
        dataset: as the model takes it.
        request: the model, which may release no rows of cases at all, and what is told apart from
            records.

    Raises:
        ReleaseError: the model or the dataset does not go with them.
    """
    model, terms = request.model, request.terms
    refuse(OnTerms(request, dataset))
    if terms is None:
        return request.shape.shown(dataset, model.name)
    check_attributes(dataset, terms)
    refuse(OnTermRows(request, dataset))
    return request.shape.without_told(dataset, terms.attributes)


def _store_terms(release: Release, terms: DisassociationParameters, model: GroupingModel) -> None:
    """Write into the catalog what a release disassociates."""
    release.warehouse.run(
        query(TOPIC, "store"),
        {
            "release_id": release.release_id,
            "attributes": list(terms.attributes),
            "m": terms.m,
            "diversity": terms.diversity,
            "repeated": terms.repeated,
            "with_rows": model.shape.shows_cases,
            "term_format": model.term_format,
        },
    )
