"""Counts tell the items of cases: rows of cases show their region alone (SPEC section 19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from srsql.engine.catalog.layout import CASE_COUNT, COUNTS, ITEM_COUNT, PAIR_COUNT, STRATUM
from srsql.engine.catalog.releases import key_of
from srsql.engine.errors import SignalError, SrsqlError
from srsql.engine.shapes.regions import Found, RowPairs, Shape, Statement, Telling, Told
from srsql.engine.shapes.strata import leaf_of, published_cuts
from srsql.engine.store.statements import column, query, table, union_all
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset


@dataclass(frozen=True)
class CountPairs(RowPairs):
    """Drugs and reactions that counts tell of."""

    schema: str
    case_id: str
    reports: exp.Table | exp.Subquery
    """A row ``t`` for each case, with its id and the columns of its region."""
    drug: str
    """Attribute of the counts."""
    reaction: str
    leaf: exp.Expr
    """The leaf of the region of a row ``t``."""
    parted: tuple[str, ...]
    """The quasi-identifiers of the cuts that make the strata."""

    by_name: ClassVar[bool] = False
    weighed: ClassVar[tuple[Statement, ...]] = (
        ("leaf_weight", ("leaf_weight", "weight", "place", "tree")),
    )
    prior: ClassVar[Statement] = ("no_prior", ())
    tables: ClassVar[tuple[Statement, ...]] = (
        ("count_contingency", ("contingency", "leaf_weight", "cell")),
    )
    measured: ClassVar[tuple[Statement, ...]] = (("measure_of_counts", ("measure", "contingency")),)
    own_strata: ClassVar[bool] = True
    stratum_prior: ClassVar[Statement] = prior
    stratified: ClassVar[Statement] = (
        "stratified_counts",
        ("contingency", "leaf_stratum", "leaf_weight", "tree", "cell"),
    )

    def report_rows(self, reports: exp.Table) -> exp.Table | exp.Subquery:
        """Those of the release; where regions are counted, as many as each counts."""
        return reports if isinstance(self.reports, exp.Table) else self.reports.copy()

    def need_strata(self, strata: Sequence[str], *, bands: bool, compared: bool) -> None:
        """Refuse strata that the tree does not have, and those of values."""
        for name in strata:
            if name not in self.parted:
                has = ", ".join(self.parted) or "none"
                raise SignalError(f"{self.schema} has no strata of {name} (it has: {has})")
        if bands:
            raise SignalError(
                f"strata of counts are those of {self.schema}.stratum: leave --age-bands out"
            )
        if strata and compared:
            raise SignalError(
                "strata of counts are of published regions, which no original has: give "
                "--released-only"
            )

    def need_rows(self, option: str) -> None:
        """Refuse what rows of cases must tell."""
        raise SignalError(
            f"drugs and reactions are told as counts, and by no row of a case: leave {option} out"
        )

    def every(self, least: int, *, surely: bool) -> tuple[Statement, dict[str, Any]]:
        """Those that are told of so many cases."""
        del surely
        return ("count_pair", ("cell",)), {"enough": least}

    def held(self, told: Mapping[str, exp.Query], roles: Sequence[str]) -> Mapping[str, exp.Query]:
        """The stratum of each case, the tree, and the counts of drugs and reactions."""
        del told, roles
        rows = exp.select(column(self.case_id, "t").as_("case_id"), self.leaf.as_("stratum"))
        tree = exp.select(*[column(name, "s") for name in COUNTS[STRATUM]])
        return {
            "place": rows.from_(self.reports.copy()),
            "tree": tree.from_(table(self.schema, STRATUM, alias="s")),
            "cell": union_all([self._all(), *self._items(), *self._pairs()]),
        }

    def _cells(self, name: str, drug: exp.Expr, reaction: exp.Expr) -> exp.Select:
        shown = [drug.as_("drug"), reaction.as_("reaction")]
        told = exp.select(*shown, column("stratum", "c"), column("cases", "c"))
        return told.from_(table(self.schema, name, alias="c"))

    def _all(self) -> exp.Query:
        none = exp.cast(exp.null(), "VARCHAR")
        return self._cells(CASE_COUNT, none, none.copy())

    def _items(self) -> list[exp.Query]:
        none, term = exp.cast(exp.null(), "VARCHAR"), column("term", "c")
        shown = ((self.drug, term, none), (self.reaction, none.copy(), term.copy()))
        return [
            self._cells(ITEM_COUNT, drug, reaction)
            .where(column("attribute", "c").eq(exp.Literal.string(name)))
            .where(term.copy().is_(exp.null()).not_())
            for name, drug, reaction in shown
        ]

    def _pairs(self) -> list[exp.Query]:
        found: list[exp.Query] = []
        for drug, reaction in (("", "other_"), ("other_", "")):
            terms = [column(f"{side}term", "c") for side in (drug, reaction)]
            of = [column(f"{side}attribute", "c") for side in (drug, reaction)]
            found.append(
                self._cells(PAIR_COUNT, *terms)
                .where(of[0].eq(exp.Literal.string(self.drug)))
                .where(of[1].eq(exp.Literal.string(self.reaction)))
                .where(*[term.copy().is_(exp.null()).not_() for term in terms])
            )
        return found

    def names(self, what: str, told: exp.Select) -> exp.Select:
        """The names that counts tell."""
        del told
        name = exp.Literal.string({"drug": self.drug, "reaction": self.reaction}[what])
        shown = exp.select(column("term", "i").as_("name")).distinct()
        shown = shown.from_(table(self.schema, ITEM_COUNT, alias="i"))
        return shown.where(column("attribute", "i").eq(name))


class Counts(Shape):
    """Rows of cases, and counts of what they hold by strata of their regions."""

    output: ClassVar[str] = "rows of cases without items, and counts of items"
    family: ClassVar[str] = ", items counted"
    uncorrectable: ClassVar[str] = (
        "its counts are never revised, and a count of k cases is no record of one: a release with "
        "counts that are wrong is withdrawn as a whole"
    )

    counted_once: ClassVar[bool] = True
    unsplit: ClassVar[str] = (
        "counts, which neither a public file nor an export holds: publish an artifact"
    )

    def shown(self, dataset: Dataset, model: str) -> Dataset:
        """Regions alone."""
        del model
        return dataset.with_counts()

    def without_ids(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """The counts."""
        return (*told, *COUNTS)

    def need_one_quarter(self, series: str, error: type[SrsqlError]) -> None:
        """Counts of several quarters are of different cases."""
        raise error(
            f"series {series!r} tells items as counts of the new cases of each quarter: give "
            "--quarter"
        )

    def tell(self, telling: Telling[Found]) -> Found:
        """Counts tell them."""
        return telling.by_counts()

    def placed_cases(self, dataset: Dataset, schema: str, quarter: str) -> exp.Table | exp.Subquery:
        """A row ``t`` for each case of a release, with its id and its region."""
        del quarter
        return table(schema, dataset.report_table, alias="t")

    def told_pairs(self, warehouse: Warehouse, told: Told, releases: Mapping[str, int]) -> Told:
        """What the counts of one release tell of drugs and reactions."""
        ((quarter, release_id),) = releases.items()
        asked = {"releases": [release_id]}
        schema = str(warehouse.value(query("signals/releases", "schemas"), asked))
        dataset = told.dataset.keyed(key_of(warehouse, release_id))
        declared = dataset.signals
        assert declared is not None
        if told.roles is not None:
            raise SignalError(
                f"{schema} counts the drugs in the roles {', '.join(declared.suspect)} alone: "
                "leave --roles out"
            )
        counted = exp.select(column("attribute", "i")).distinct()
        counted = counted.from_(table(schema, ITEM_COUNT, alias="i"))
        found = {name for (name,) in warehouse.rows(counted.sql("duckdb"))}
        for name in (declared.drug, declared.reaction):
            if found and name not in found:
                raise SignalError(
                    f"{schema} counts no {name}: signals need a series with it among its "
                    "--table-items"
                )
        cuts = published_cuts(warehouse, schema)
        pairs = CountPairs(
            schema,
            dataset.case_id,
            self.placed_cases(dataset, schema, quarter),
            declared.drug,
            declared.reaction,
            leaf_of(dataset, cuts, "t"),
            tuple(dict.fromkeys(cut.qid for cut in cuts)),
        )
        return replace(told, dataset=dataset, schema=schema, pairs=pairs)
