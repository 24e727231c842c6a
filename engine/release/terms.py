"""The part of a release that takes terms apart from rows: which tables keep them, and the rest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from functools import partial

from sqlglot import exp

from srsql.engine.catalog.layout import region_columns
from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.catalog.releases import Release
from srsql.engine.catalog.series import ORIGINAL, PER_QUARTER, Ids, Series
from srsql.engine.checks.term_chunks import longest_unproved
from srsql.engine.checks.whole_rows import (
    inferred,
    longest_untold,
    release_shares,
    told_of_release,
)
from srsql.engine.errors import InfeasibleError, NothingToReleaseError, ReleaseError
from srsql.engine.grouping.feasibility import withhold_all
from srsql.engine.models.base import GroupingModel
from srsql.engine.release.request import Request
from srsql.engine.release.views import public_regions
from srsql.engine.store.statements import column, query, temporary
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.baskets import check_attributes, load_baskets, load_rows
from srsql.engine.terms.disassociate import Judge, keep_apart, most_of_an_item
from srsql.engine.terms.generalize import MAKING
from srsql.engine.terms.parameters import ALL, DisassociationParameters
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
    if request.model.releases_case_rows:
        return
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
    warehouse, model = release.warehouse, request.model
    k, grouped = model.k, model.releases_case_rows
    least = max(k, terms.diversity)
    if terms.whole_rows:
        return _release_rows(release, request, terms, carrier)
    if grouped and least > k:
        raise ReleaseError(
            f"--l {terms.diversity} is above k = {k}: within QID-groups clusters cannot be larger "
            "than groups are; give a larger --k"
        )
    load_baskets(warehouse, release.dataset, release.quarter, terms, grouped=grouped, least=least)
    _store_terms(release, terms, model)
    put_chosen(warehouse, terms.policy, release.release_id, release.dataset.term_key)
    keep_apart(warehouse, terms, release.dataset.term_key)
    chunks = PublishedTerms.in_schema("temp", "main", prefix="srsql_pub_")
    most = MAKING[model.term_format].make(
        warehouse, terms, k, request.seed, grouped=grouped,
        judge=Judge(partial(longest_unproved, warehouse, chunks, k, terms.m)), carrier=carrier,
    )  # fmt: skip
    return _limited(most), terms


def _limited(chunk_terms: int | None) -> dict[str, int]:
    return {} if chunk_terms is None else {"chunk_terms": chunk_terms}


def _release_rows(
    release: Release, request: Request, terms: DisassociationParameters, carrier: Carrier | None
) -> tuple[dict[str, int], DisassociationParameters]:
    """The same where whole rows are taken apart, in clusters of whole groups."""
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
    """Which ids the series gets where it is new and nothing is asked; None: the usual ones.

    A pseudonym that stays tells in which clusters a case was in each quarter, and what these have
    in common.
    """
    terms = request.terms
    if request.ids is not None or terms is None or not terms.whole_rows or terms.link_quarters:
        return request.ids
    return PER_QUARTER


def need_pseudonyms(request: Request, series: Series) -> None:
    """Refuse ids that join whole rows with the source, or their quarters without --link-quarters,
    and external knowledge.

    Raises:
        ReleaseError: what to do.
    """
    if not request.takes_rows_apart or request.terms is None:
        return
    if request.knowledge is not None:
        raise ReleaseError(
            "--knowledge tells diseases of drugs, and whole rows are taken apart so that no row "
            "tells its drugs: leave it out"
        )
    if series.ids == ORIGINAL:
        raise ReleaseError(
            "original ids join rows that are taken apart with those of the source: leave --ids "
            "out, or give another --series"
        )
    if series.ids != PER_QUARTER and not request.terms.link_quarters:
        raise ReleaseError(
            f"--ids {series.ids} are the same in all quarters, which tells in which clusters a "
            "case was: give --ids per-quarter, or --link-quarters, with which whole rows are "
            "claimed to be safe in one quarter alone"
        )
    if series.ids == PER_QUARTER and request.terms.link_quarters:
        raise ReleaseError(
            f"--link-quarters: series {series.name!r} has pseudonyms of each quarter, which link "
            "none: leave it out, or give another --series"
        )


def family_of(family: str, terms: DisassociationParameters | None) -> str:
    """What the releases of a series have in common: rows that some have and others do not would
    show in one quarter what is taken apart in the next."""
    if terms is None:
        return family
    if terms.whole_rows:
        return f"{family}, whole rows disassociated"
    return f"{family}, {'+'.join(terms.attributes)} disassociated"


def visible_part(
    dataset: Dataset, model: GroupingModel, terms: DisassociationParameters | None
) -> Dataset:
    """The dataset with the tables of which a release will have rows.

    Args:
        dataset: as the model takes it.
        model: which may release no rows of cases at all.
        terms: what is told apart from records; None: nothing.

    Raises:
        ReleaseError: the model or the dataset does not go with them.
    """
    if terms is None:
        if model.releases_synthetic_rows:
            return dataset.without_terms((), rows=False)
        if not model.releases_case_rows:
            raise ReleaseError(f"the model {model.name} releases terms only: say which")
        return dataset
    if model.term_format == "nodes" and (terms.kept_apart or terms.diversity > 1):
        raise ReleaseError(f"--sensitive-terms does not go with the model {model.name}")
    if model.releases_synthetic_rows or (
        model.releases_case_rows
        and (model.perturbs_values or model.guaranteed_bounds != {"k", "theta"})
    ):
        raise ReleaseError(f"--terms does not go with the model {model.name}")
    _check_options(model, terms)
    check_attributes(dataset, terms)
    _need_regions_without(dataset, terms, rows=model.releases_case_rows)
    if terms.whole_rows:
        return dataset.without_terms(None, rows=True)
    return dataset.without_terms(terms.attributes, rows=model.releases_case_rows)


def _need_regions_without(dataset: Dataset, terms: DisassociationParameters, *, rows: bool) -> None:
    """Refuse a quasi-identifier that is made from rows whose terms are told apart from cases.

    Raises:
        ReleaseError: the text names it.
    """
    named = (*dataset.sensitive, *dataset.quasi_sensitive)
    apart = {a.table for a in named if terms.whole_rows or a.column in terms.attributes}
    for qid in dataset.qid if rows else ():
        made = dataset.derived_of(qid.column)
        for table, source in made.sources if made else ():
            if table in apart:
                raise ReleaseError(
                    f"--terms: the quasi-identifier {qid.name} is made from {table}.{source}, and "
                    f"what rows of {table} tell is told apart from cases: its region would tell "
                    "it, leave it out of the dataset or leave these terms with their rows"
                )


def _check_options(model: GroupingModel, terms: DisassociationParameters) -> None:
    """Refuse what goes with whole rows alone, or does not go with them.

    Raises:
        ReleaseError: the text names the option and what to do.
    """
    of_chunks = {
        "--max-cluster-size": terms.max_cluster_size is not None,
        "--partners": terms.partners != "shared",
        "--pooled-by": terms.pooled_by != "terms",
    }
    for option, given in of_chunks.items():
        if given and model.term_format == "nodes":
            raise ReleaseError(f"{option} does not go with the model {model.name}")
    if terms.whole_rows and not model.releases_case_rows:
        option = f"--term-attributes {ALL}" if terms.term_cases is None else "--term-cases"
        raise ReleaseError(
            f"{option} takes whole rows apart, and the model {model.name} releases none: leave it "
            "out, or give --terms disassociate with a model that does"
        )
    if terms.whole_rows and terms.repeated:
        raise ReleaseError(
            "--repeated-terms does not go with whole rows that are taken apart: leave it out"
        )
    alone = {
        "--term-k": terms.term_k is not None,
        "--link-quarters": terms.link_quarters,
        "--max-cluster-size": terms.max_cluster_size is not None and model.releases_case_rows,
    }
    for option, given in alone.items():
        if given and not terms.whole_rows:
            raise ReleaseError(
                f"{option} is for whole rows that are taken apart: give --term-attributes {ALL} or "
                "--term-cases as well"
            )


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
            "with_rows": model.releases_case_rows,
            "term_format": model.term_format,
        },
    )
