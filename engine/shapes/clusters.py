"""Whole rows that are taken apart: rows show region and cluster, and clusters tell items.

How drugs and reactions are counted from clusters alone, and how far such counts are known.

A row shows its region and its cluster, and items are told of clusters. How many cases hold a drug,
a reaction or both, within conditions on quasi-identifiers, is therefore known within bounds.

*Claim*: for each cell of a pair's table, ``lower`` and ``upper`` (``srsql.term_pairs`` and
``srsql.cluster_contingency``) are the least and the largest number of cases over all datasets that
fit the published tables and all values of the regions; both are reached, unless what regions keep
of their thresholds stands against it, which would narrow them.

*Proof.* (1) Clusters share nothing, so that the ends of a sum over clusters are the sums of their
ends. Let a cluster P have n records. (2) A dataset fits P if each chunk's subrecords lie on as many
different records, and each item of the item chunk on some record; chunks are independent. Let the
reaction be in a chunk with r11 subrecords that hold the drug as well, r10 with the drug alone and
r01 with the reaction alone, and let r00 of the n records have neither there. The other chunks that
tell the drug (in another role, or without a count) have it on sets of sizes d1, d2 ... that lie
anywhere, an item without a count having any size from 1 to t, what the release promises
(``item_cases``; n where it promises nothing). Their union U meets a set of r
records in max(0, max(d) + r - n) of them at least, all sets beginning with the other records in
one order, and in min(r, d1 + d2 + ...) at most, each going to records of the set that no other one
has taken. With the sets on r01 this gives the ends of a (both) and c (reaction alone), with those
on r00 the ends of b (drug alone) and d (neither). A reaction without a count lies on any set of 1
to t records: the ends are at 1 and t, U being as small or as large as it can be. (3) The records
of P that meet the condition are the rows whose region lies within it, ``cluster.lower`` of them,
and any of the rows whose region meets it, ``cluster.upper`` with the former. A dataset that fits
still fits when two records of P are exchanged: so x records of a cell, whichever they are, may be
any x rows, of which max(0, x + lower - n) at least and min(x, upper) at most meet the condition.
Both grow with x, so that the ends of x give the ends of the count.

``known`` counts what the regions decide. All conditions of a signal must hold, so that who is
decided and meets them is who surely does: known = lower.

``expected`` is the mean where every placement is equally likely, and an item without a count lies
on as many records as such items do on average. That average is no published figure: it is estimated
from the supports that record chunks show (``item_mean``), since nothing but the k of the terms
decides which terms have a count. What makes a pair of different chunks more likely than chance is
not put right: how often clusters share both says too little of records (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp

from srsql.engine.catalog.layout import CLUSTER, CLUSTERS, region_columns
from srsql.engine.catalog.released_terms import PublishedTerms
from srsql.engine.catalog.releases import ReleasedTerms, key_of
from srsql.engine.catalog.series import PER_QUARTER, Ids
from srsql.engine.errors import SignalError, SrsqlError
from srsql.engine.shapes.item_means import item_mean
from srsql.engine.shapes.regions import Found, RowPairs, Shape, Statement, Telling, Told
from srsql.engine.store.statements import column, dotted, query, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset

RECORDS, ITEMS = "record_chunk", "item_chunk"
_KEYS = ("cluster", "chunk", "subrecord")


@dataclass(frozen=True)
class ClusterViews:
    """The views of one release whose whole rows are taken apart."""

    schema: str
    told: tuple[str, ...]
    """The attributes of its items, such as ``pt`` or ``drugname/role_cod``."""

    @classmethod
    def of(cls, warehouse: Warehouse, schema: str) -> ClusterViews:
        """Those in a schema; what its items tell is read off them."""
        names = " UNION ".join(
            f"SELECT split_part(t.term, ':', 1) AS name FROM {dotted(schema, view)} AS t"
            for view in (RECORDS, ITEMS)
        )
        found = warehouse.rows(f"SELECT n.name FROM ({names}) AS n ORDER BY n.name")
        return cls(schema, tuple(name for (name,) in found))

    def attribute(self, name: str) -> str | None:
        """As which attribute a column is told; None: it is not."""
        return next((each for each in self.told if each.partition("/")[0] == name), None)

    def item_mean(self, warehouse: Warehouse, attribute: str) -> float:
        """Of how many records of its cluster an item without a count is told on average."""
        return item_mean(warehouse, PublishedTerms.in_schema(self.schema), attribute)

    def item_cases(self, warehouse: Warehouse) -> int | None:
        """Records of its cluster that hold an item without a count, at most, as the release
        promises; None: early releases promise nothing of it."""
        if "item_cases" not in warehouse.columns(self.schema, "manifest"):
            return None
        told = exp.select(exp.func("max", column("item_cases", "m")))
        told = told.from_(table(self.schema, "manifest", alias="m"))
        found = warehouse.value(told.sql("duckdb"))
        return None if found is None else int(found)

    def items(self, attribute: str) -> exp.Select:
        """(cluster, chunk, subrecord, name, qualifier) of the items of an attribute.

        The item chunk is chunk 0, and each of its items a subrecord. The qualifier is the text
        behind the last slash; a name without any is a name.
        """
        held = exp.select(*[column(n, "r") for n in (*_KEYS, "term")])
        held = held.from_(table(self.schema, RECORDS, alias="r"))
        alone = exp.select(
            column("cluster", "i"),
            exp.Literal.number(0).as_("chunk"),
            "row_number() OVER (ORDER BY i.cluster, i.term) AS subrecord",
            column("term", "i"),
            dialect="duckdb",
        ).from_(table(self.schema, ITEMS, alias="i"))
        told = exp.func("substr", column("term", "t"), exp.Literal.number(len(attribute) + 2))
        name: exp.Expr = told
        qualifier: exp.Expr = exp.cast(exp.null(), "VARCHAR")
        if "/" in attribute:
            parts = [
                exp.func("regexp_replace", told.copy(), *map(exp.Literal.string, (pattern, "")))
                for pattern in ("/[^/]*$", "^.*/")
            ]
            has_one = exp.func("contains", told.copy(), exp.Literal.string("/"))
            name = exp.case().when(has_one, parts[0]).else_(told.copy())
            qualifier = exp.case().when(has_one.copy(), parts[1])
        return (
            exp.select(*[column(n, "t") for n in _KEYS])
            .select(name.as_("name"), qualifier.as_("qualifier"))
            .from_(union_all([held, alone]).subquery("t"))
            .where(
                exp.func("starts_with", column("term", "t"), exp.Literal.string(f"{attribute}:"))
            )
        )


@dataclass(frozen=True)
class ClusterPairs(RowPairs):
    """Drugs and reactions that clusters tell of, and what counts them."""

    views: ClusterViews
    case_id: str
    report_table: str
    drug: str
    """Attribute of the items."""
    reaction: str

    of_clusters: ClassVar[bool] = True
    by_name: ClassVar[bool] = False
    weighed: ClassVar[tuple[Statement, ...]] = (
        ("crowd", ("crowd", "weight", "place", "cluster_size")),
        ("margin", ("margin", "crowd", "holding", "item_mean")),
        ("observed", ("observed", "margin", "crowd", "holding")),
    )
    prior: ClassVar[Statement] = ("observed_prior", ("observed",))
    tables: ClassVar[tuple[Statement, ...]] = (
        ("pair_table", ("pair_table", "margin", "crowd", "holding")),
        ("cluster_contingency", ("contingency", "pair_table", "margin", "crowd")),
    )
    measured: ClassVar[tuple[Statement, ...]] = (("measure_of_clusters", ("measure",)),)

    def need_strata(self, strata: Sequence[str], *, bands: bool, compared: bool) -> None:
        """Refuse strata, which rows of cases must tell."""
        del bands, compared
        if strata:
            self.need_rows("--strata")

    def need_rows(self, option: str) -> None:
        """Refuse what rows of cases must tell."""
        raise SignalError(
            f"drugs and reactions are told of clusters, and of no row of a case: leave {option} out"
        )

    def every(self, least: int, *, surely: bool) -> tuple[Statement, dict[str, Any]]:
        """Those that may be of so many cases."""
        del surely
        return ("observed_pair", ("observed",)), {"enough": least}

    def held(self, told: Mapping[str, exp.Query], roles: Sequence[str]) -> Mapping[str, exp.Query]:
        """The cluster of each case, the size of each cluster, and what its records hold."""
        del told
        schema = self.views.schema
        drugs = self.views.items(self.drug)
        listed = exp.select(*[column(n, "h") for n in _KEYS], "'drug' AS side", column("name", "h"))
        listed = listed.from_(drugs.subquery("h"))
        if roles and "/" in self.drug:
            listed = listed.where(column("qualifier", "h").isin(*map(exp.Literal.string, roles)))
        reactions = exp.select(
            *[column(n, "h") for n in _KEYS], "'reaction' AS side", column("name", "h")
        ).from_(self.views.items(self.reaction).subquery("h"))
        return {
            "place": exp.select(column(self.case_id, "t").as_("case_id"), column(CLUSTER, "t"))
            .from_(table(schema, self.report_table, alias="t")),
            "cluster_size": exp.select(column("cluster", "c"), column("records", "c"))
            .from_(table(schema, CLUSTERS, alias="c")),
            "holding": union_all([listed, reactions]),
        }  # fmt: skip

    def names(self, what: str, told: exp.Select) -> exp.Select:
        """The names of the items."""
        del told
        items = self.views.items({"drug": self.drug, "reaction": self.reaction}[what])
        return exp.select(column("name", "i")).from_(items.subquery("i"))

    def load_means(self, warehouse: Warehouse, into: str) -> None:
        """Of how many records an item without a count is told on average, and at most."""
        most = self.views.item_cases(warehouse)
        means = [self.views.item_mean(warehouse, name) for name in (self.drug, self.reaction)]
        warehouse.run(
            query("signals/tables", "item_mean", item_mean=into),
            {"sides": ["drug", "reaction"], "means": means, "mosts": [most, most]},
        )


@dataclass(frozen=True)
class Clusters(Shape):
    """Rows of cases show their region and cluster alone."""

    beside_region: ClassVar[tuple[str, ...]] = (CLUSTER,)
    clusters_in_groups: ClassVar[bool] = False
    unjudged: ClassVar[str] = "its terms are told of clusters, and not of cases"
    usual_ids: ClassVar[Ids | None] = PER_QUARTER
    """A pseudonym that stays tells in which clusters a case was in each quarter, and what these
    have in common."""

    def without_told(self, dataset: Dataset, apart: Sequence[str]) -> Dataset:
        """Rows of cases alone, which show nothing but their region."""
        del apart
        return dataset.without_terms(None, rows=True)

    def told_apart(self, apart: Sequence[str]) -> str:
        """Rows as a whole."""
        del apart
        return "whole rows"

    def placed(self, dataset: Dataset, regions: exp.Query) -> exp.Query:
        """The public regions of groups with the cluster that each group is in."""
        groups = sqlglot.parse_one(query("terms/baskets", "cluster_groups"), dialect="duckdb")
        names = ["group_no", *region_columns(dataset)]
        return (
            exp.select(*[column(name, "p") for name in names], column(CLUSTER, "k"))
            .from_(regions.subquery("p"))
            .join(
                exp.Subquery(this=groups, alias=exp.to_identifier("k", quoted=True)),
                on=column("group_no", "p").eq(column("group_no", "k")),
            )
        )

    def claimed(self, dataset: Dataset, terms: ReleasedTerms) -> dict[str, Any]:
        """How items are read."""
        sensitive = terms.sensitive_attributes(dataset)
        return {"k": terms.term_k, "cases": terms.term_cases, "sensitive": sensitive}

    def need_one_quarter(self, series: str, error: type[SrsqlError]) -> None:
        """Clusters are others in every quarter."""
        raise error(
            f"series {series!r} tells items of clusters, which are others in every quarter, so "
            "cases cannot be counted over several: give --quarter"
        )

    def tell(self, telling: Telling[Found]) -> Found:
        """Clusters tell them."""
        return telling.by_clusters()

    def told_pairs(self, warehouse: Warehouse, told: Told, releases: Mapping[str, int]) -> Told:
        """What the clusters of one release tell of drugs and reactions."""
        (release_id,) = releases.values()
        asked = {"releases": [release_id]}
        schema = str(warehouse.value(query("signals/releases", "schemas"), asked))
        dataset = told.dataset.keyed(key_of(warehouse, release_id))  # items are keys of terms
        views, declared = ClusterViews.of(warehouse, schema), dataset.signals
        assert declared is not None
        drug = _attribute(views, "drugs", declared.drug, dataset)
        reaction = _attribute(views, "reactions", declared.reaction, dataset)
        roles = told.roles if "/" in drug else _no_roles(views, told.roles)
        pairs = ClusterPairs(views, dataset.case_id, dataset.report_table, drug, reaction)
        return replace(told, dataset=dataset, schema=schema, pairs=pairs, roles=roles)


def _attribute(views: ClusterViews, what: str, name: str, dataset: Dataset) -> str:
    """As which attribute drugs are told, or reactions, which have no qualifier.

    Raises:
        SignalError: they are not.
    """
    told, declared = views.attribute(name), dataset.signals
    assert declared is not None
    if told is None or (what == "reactions" and "/" in told):
        text = "none" if told is None else f"{what} with {told.partition('/')[2]}"
        raise SignalError(
            f"{views.schema} tells {text} of {name}: signals need a series that was released with "
            f"{declared.drug} and {declared.reaction} among its --term-attributes"
        )
    return told


def _no_roles(views: ClusterViews, roles: Sequence[str] | None) -> Sequence[str]:
    """Every role, where drugs are told without theirs.

    Raises:
        SignalError: some are asked for that nobody can tell.
    """
    if roles:
        raise SignalError(
            f"{views.schema} tells drugs without their roles: give --roles all, or ask a series "
            "with --term-attributes drugname/role_cod"
        )
    return ()
