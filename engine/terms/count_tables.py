"""What is asked of count tables (``--terms tables``), and how they are made of released cases.

The rules, the claim (``COUNTS_CLAIM`` of ``models/base.py``) and its proof stand in
``sql_macros/terms/count_tables.sql``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from srsql.engine.catalog.datasets import normalized, raw_term
from srsql.engine.catalog.layout import (
    CASES,
    REGION,
    REGION_COUNT,
    STRATUM,
    Built,
    count_columns,
    raw_table,
    region_columns,
    source_of,
    store_of,
)
from srsql.engine.catalog.releases import Release
from srsql.engine.errors import ReleaseError
from srsql.engine.grouping.thresholds import ThetaPolicy
from srsql.engine.parameters import declared, option_name, parameter, read_fields
from srsql.engine.parameters.takes import Names, Parsed, Whole
from srsql.engine.shapes.strata import (
    Cut,
    check_cuts,
    cuts_text,
    leaf_of,
    parse_cuts,
    strata,
    usual_cuts,
)
from srsql.engine.store.statements import (
    STORE,
    column,
    create,
    query,
    table,
    temporary,
    union_all,
    with_rows,
)
from srsql.schemas import Dataset

TABLES = "tables"
"""The value of ``--terms``."""
TOPIC = "terms/count_tables"
MOST = 1_000_000
BY_FREQUENCY = Fraction(1, 5)
"""The least threshold that the policy ``frequency`` gives (Lin 2016)."""


@dataclass(frozen=True)
class TableParameters:
    """Count tables in the place of items in rows: SPEC section 19."""

    cuts: tuple[Cut, ...] | None = parameter(
        None,
        takes=Parsed(
            tuple,
            parse_cuts,
            "none, or the path of a TOML file of [[cut]]",
            show_with=cuts_text,
            content=lambda cuts: cuts and [cuts_text(cuts)],
        ),
        keyword="strata",
        help="strata by which units are counted: none, or a TOML file of [[cut]] with qid, and "
        "value, from or below",
        usual="sex, then age 65+, under 18, 18 to under 65, as far as the dataset has them",
        of="--terms tables",
        weaker="different",
    )
    k: int | None = parameter(
        None,
        takes=Whole(2, MOST),
        keyword="table_k",
        help="units of a published count, at least",
        usual="k, or 1 / theta if that is more",
        of="--terms tables",
        weaker="lower",
    )
    attributes: tuple[str, ...] = parameter(
        (),
        takes=Names(),
        keyword="table_items",
        help="columns whose values are counted, alone and in pairs, such as drugname,pt,outc_cod",
        usual="the sensitive and quasi-sensitive ones",
        of="--terms tables",
        weaker="different",
    )

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        read_fields(self, ReleaseError)
        if len(set(self.attributes)) < len(self.attributes):
            raise ReleaseError("--table-items names a column twice")

    def of(self, dataset: Dataset, k: int, theta: ThetaPolicy) -> TableParameters:
        """The same with what a dataset has by default.

        Args:
            dataset: of the release.
            k: of its model.
            theta: decides the least k of a count, by itself and not by the data.

        Raises:
            ReleaseError: the dataset has none of what is asked for, or k is too low.
        """
        named = (*dataset.quasi_sensitive, *dataset.sensitive)
        cuts = usual_cuts(dataset) if self.cuts is None else self.cuts
        found = replace(
            self,
            cuts=cuts,
            k=self.k or max(k, _least_k(theta)),
            attributes=self.attributes or tuple(a.column for a in named),
        )
        check_cuts(dataset, cuts)
        sources(dataset, found.attributes)
        if (found.k or 0) < _least_k(theta):
            raise ReleaseError(
                f"--table-k {found.k}: 1 / theta is more: give at least {_least_k(theta)}, or "
                "higher thresholds"
            )
        return found

    def facts(self, dataset: Dataset) -> dict[str, str | int]:
        """What both manifests tell."""
        pairs = [f"{one} x {other}" for one, other in kinds(dataset, self.attributes)]
        return {
            "table_k": self.k or 0,
            "table_items": ", ".join(self.attributes),
            "table_pairs": ", ".join(pairs),
            "table_strata": cuts_text(self.cuts or ()),
        }


def _least_k(theta: ThetaPolicy) -> int:
    """1 / the least threshold above 0, rounded up; without thresholds below 1 it is 1."""
    listed = [*theta.values.values(), BY_FREQUENCY if theta.default is None else theta.default]
    least = min((each for each in listed if each > 0), default=Fraction(1))
    return -(-least.denominator // least.numerator)


def make_tables(
    terms: str | None, given: Mapping[str, Any], *, always: bool = False
) -> TableParameters | None:
    """What is asked of count tables; None: none are asked for.

    Args:
        terms: value of ``--terms``.
        given: options by keyword.
        always: the model releases nothing else.

    Raises:
        ReleaseError: options that go with nothing.
    """
    known = declared(TableParameters)
    asked = {name: value for name, value in given.items() if value is not None and name in known}
    if terms != TABLES and not always:
        for name, value in asked.items():
            if value:
                raise ReleaseError(
                    f"{option_name(name)} goes with --terms {TABLES} or the model tables: give "
                    "one of them, or leave it out"
                )
        return None
    return TableParameters(**{known[name].field: value for name, value in asked.items()})


@dataclass(frozen=True)
class Source:
    """One attribute that is counted."""

    table: str
    column: str
    sensitive: bool
    """Its values have thresholds."""
    declared: bool
    role: str | None
    """A column of the same table; None: all rows count."""
    suspects: tuple[str, ...]
    """The values of it that count (rule R4)."""


def sources(dataset: Dataset, attributes: Sequence[str]) -> list[Source]:
    """Where the values of these attributes are.

    Raises:
        ReleaseError: one is no published column of a child table.
    """
    sensitive = {(a.table, a.column) for a in dataset.sensitive}
    named = sensitive | {(a.table, a.column) for a in dataset.quasi_sensitive}
    columns = {
        name: child.name
        for child in dataset.child_tables
        for name in child.publish
        if name not in child.serial
    }
    found, of = [], dataset.signals
    for name in attributes:
        if name not in columns:
            raise ReleaseError(
                f"--table-items: {name!r} is no published column of a table of dataset "
                f"{dataset.name} that has several rows a report (it has: {', '.join(columns)})"
            )
        place = columns[name], name
        drug = of is not None and of.role is not None and place == (of.drug_table, of.drug)
        found.append(
            Source(
                *place, place in sensitive, place in named,
                of.role if of and drug else None,
                tuple(text.strip().upper() for text in of.suspect) if of and drug else (),
            )
        )  # fmt: skip
    return found


def kinds(dataset: Dataset, attributes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Attributes whose pairs are counted: drug or reaction with another one, but not two whose
    values have thresholds; where no signals are declared, any two of which one has none."""
    listed = sources(dataset, attributes)
    of = dataset.signals
    leading = {of.drug, of.reaction} if of else {each.column for each in listed}
    for number, one in enumerate(listed):
        for other in listed[number + 1 :]:
            if not (one.sensitive and other.sensitive) and leading & {one.column, other.column}:
                yield (one.column, other.column)


def take_items_off(release: Release) -> None:
    """Keep the thresholds of values for the tables, and have cases hold none: no row shows any."""
    release.warehouse.run_step("terms/items_apart")


def make_counts(release: Release, tables: TableParameters) -> None:
    """Fill ``srsql_pub_*`` with the counts that are told, and the tree of strata.

    Args:
        release: with ``srsql_identity``, ``srsql_public_region`` and ``srsql_role``.
        tables: with what the dataset has by default.
    """
    warehouse, dataset, cuts = release.warehouse, release.dataset, tables.cuts or ()
    tree = list(strata(cuts))
    warehouse.run(
        query(TOPIC, "tree"),
        {
            "strata": [each.name for each in tree],
            "parents": [each.parent for each in tree],
            "columns": [each.cut and each.cut.qid for each in tree],
            "values": [each.cut and each.cut.value for each in tree],
            "lows": [_text(each.cut and each.cut.low) for each in tree],
            "belows": [_text(each.cut and each.cut.below) for each in tree],
            "insides": [each.inside if each.cut else None for each in tree],
        },
    )
    pairs = list(kinds(dataset, tables.attributes))
    warehouse.run(query(TOPIC, "kinds"), {"ones": [a for a, _ in pairs],
                                          "others": [b for _, b in pairs]})  # fmt: skip
    placed = exp.select(
        column("group_no", "r"), leaf_of(release.visible_dataset, cuts, "r").as_("stratum")
    ).from_(temporary(REGION, alias="r"))
    items = union_all([report_items(release, each) for each in sources(dataset, tables.attributes)])
    for name, rows in (
        ("counted_unit", with_rows(query(TOPIC, "counted_unit"), region_stratum=placed)),
        ("held_item", with_rows(query(TOPIC, "held_item"), report_item=items)),
    ):
        warehouse.run(create(temporary(f"srsql_{name}"), rows, temp=True))
    warehouse.run_step("terms/count_tables", {"k": tables.k})
    if not release.visible_dataset.rows:
        counted = create(temporary(source_of(REGION_COUNT)), _regions(release), temp=True)
        warehouse.run(counted)


def _regions(release: Release) -> exp.Query:
    """The counted cases of each published region."""
    shown = [column(name, "g") for name in region_columns(release.visible_dataset)]
    cases = exp.Count(this=exp.Distinct(expressions=[column("unit", "u")]))
    return (
        exp.select(*shown, cases.as_(CASES))
        .from_(temporary("srsql_counted_unit", alias="u"))
        .join(
            temporary("srsql_grouped", alias="m"),
            on=column("unit", "u").eq(column("case_no", "m")),
        )
        .join(temporary(REGION, alias="g"), on=column("group_no", "m").eq(column("group_no", "g")))
        .group_by(*[each.copy() for each in shown])
    )


def _text(number: object) -> str | None:
    return None if number is None else format(number, "f")


def report_items(release: Release, source: Source) -> exp.Query:
    """(report_id, attribute, term, sensitive) of the raw rows of the quarter."""
    dataset = release.dataset
    term = (
        raw_term(dataset, source.table, source.column, "t")
        if source.declared
        else normalized(column(source.column, "t"))
    )
    rows = (
        exp.select(
            column(dataset.report_id, "t").as_("report_id"),
            exp.Literal.string(source.column).as_("attribute"),
            term.as_("term"),
            exp.convert(source.sensitive).as_("sensitive"),
        )
        .from_(raw_table(dataset, source.table, alias="t"))
        .where(column("quarter", "t").eq(exp.Literal.string(release.quarter)))
        .where(term.copy().is_(exp.null()).not_())
    )
    if source.role is None:
        return rows
    role = exp.func("upper", exp.func("trim", column(source.role, "t")))
    return rows.where(role.isin(*map(exp.Literal.string, source.suspects)))


def count_queries(dataset: Dataset) -> dict[str, exp.Query]:
    """Table of counts -> what fills it: strata from the root on, cells in the order of columns."""
    found: dict[str, exp.Query] = {}
    for name, columns in count_columns(dataset).items():
        rows = exp.select(*[column(shown, "t") for shown in columns])
        rows = rows.from_(temporary(source_of(name), alias="t"))
        if name != STRATUM:
            rows = rows.order_by(*[column(shown, "t") for shown in columns])
        found[name] = rows
    return found


def build_counts(release: Release) -> list[Built]:
    """Fill one table per released view in the schema ``STORE``."""
    built = []
    for name, rows in count_queries(release.visible_dataset).items():
        store = store_of(release.release_id, name)
        release.warehouse.run(create(table(STORE, store), rows))
        built.append(Built(name, store, rows))
    return built
