"""The cases that signals count, from the released views or from the raw tables of those quarters.

Everything after it reads the temporary tables ``srsql_signal_SIDE_*`` and knows no column of any
dataset. A case stands in them once, as its latest quarter has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.catalog.datasets import normalized, raw_term, term_key, term_keys
from srsql.engine.catalog.layout import derived, key_column, raw_table
from srsql.engine.catalog.levels import Level, add_names, make_names, name_of
from srsql.engine.catalog.releases import (
    ANY_VALUE,
    ONE_VALUE,
    most_suppressed,
    suppressing,
)
from srsql.engine.errors import SignalError
from srsql.engine.shapes.regions import ROWS, RowPairs
from srsql.engine.signals.rules import AGE, SEX, Counting, Rule, did_you_mean, granules, leaves
from srsql.engine.store.statements import (
    column,
    create,
    query,
    table,
    temporary,
    union_all,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Hierarchy, Qid, Signals

RELEASED, ORIGINAL = "released", "original"
_RELEASES = "signals/releases"
PAIR = "srsql_signal_pair"
"""The temporary table of the pairs that are measured."""
NOT_COMPARED = ("deleted", "missing_qid", "counted_before")
"""Reasons for which a case of the originals is left out of them."""


@dataclass(frozen=True)
class Scope:
    """Which rows count."""

    dataset: Dataset
    signals: Signals
    schema: str
    """Of the views that hold all released quarters of the series."""
    releases: dict[str, int]
    """Released quarter -> its release."""
    roles: tuple[str, ...]
    """Normalized; empty: every role."""
    told: RowPairs = ROWS
    """What tells the drugs and reactions of released cases."""
    levels: tuple[Level, ...] = ()
    """On which levels drugs and reactions are counted."""
    shows_keys: bool = False
    """Released rows have the keys of terms beside their spellings."""
    states: bool = False
    """Every state of a case counts by itself, a row of ``case`` for each period that reports it."""

    def level(self, source: str, value: str) -> Level | None:
        """The level of a column; None: its values count as they are."""
        named = (each for each in self.levels if each.key == f"{source}.{value}")
        return next(named, None)

    def pairs(self, side: str) -> RowPairs:
        """What tells the drugs and reactions of a side."""
        return self.told if side == RELEASED else ROWS


def side_table(side: str, name: str) -> str:
    """Name of a temporary table of one side."""
    return f"srsql_signal_{side}_{name}"


def load_wanted(
    warehouse: Warehouse, scope: Scope, numbers: Sequence[int], pairs: Sequence[tuple[str, str]]
) -> None:
    """Fill ``srsql_signal_pair``: keys of pairs of names, with their numbers.

    Args:
        warehouse: where the table is made.
        scope: by which version of the key terms are compared.
        numbers: a number for each pair.
        pairs: names of a drug and of a reaction.
    """
    warehouse.run(
        create(temporary(PAIR), wanted_pairs(scope.dataset.term_key), temp=True),
        {
            "numbers": list(numbers),
            "drugs": [drug for drug, _ in pairs],
            "reactions": [reaction for _, reaction in pairs],
        },
    )


def unknown_names(
    warehouse: Warehouse, scope: Scope, side: str, rules: Sequence[Rule], *, allowed: bool
) -> list[str]:
    """What is to be said of the drugs and reactions of rules that no row of a side has.

    Rows of any role and of every quarter count, so that a name of no case that meets a condition is
    none of them.

    Args:
        warehouse: may be read-only.
        scope: says which columns are drug and reaction.
        side: ``RELEASED``: only released names are known, and named.
        rules: what is asked for.
        allowed: whether such names are no error.

    Raises:
        SignalError: there is one; it names others that are spelled like it.
    """
    signals, said = scope.signals, []
    for what, source, value in (
        ("drug", signals.drug_table, signals.drug),
        ("reaction", signals.reaction_table, signals.reaction),
    ):
        names = scope.pairs(side).names(what, _names(scope, side, source, value))
        wanted = list(dict.fromkeys(name for rule in rules if (name := getattr(rule, what))))
        listed = exp.select(exp.Explode(this=exp.cast(exp.Placeholder(this="wanted"), "VARCHAR[]"))
                            .as_("name")).subquery("w")  # fmt: skip
        absent = (
            exp.select(column("name", "w"))
            .from_(listed)
            .join(
                names.subquery("n"),
                on=term_key(column("name", "w"), scope.dataset.term_key).eq(column("name", "n")),
                join_type="anti",
            )
        )
        found = warehouse.rows(absent.sql(dialect="duckdb"), {"wanted": wanted})
        for name in sorted({name for (name,) in found}, key=wanted.index):
            whose = "no case" if side == ORIGINAL else "no released case"
            text = f"{whose} has the {what} {name!r}"
            if not allowed:
                raise SignalError(f"{text}{did_you_mean(warehouse, names, name)}")
            said.append(f"{text}: it counts as none")
    return said


def wanted_pairs(version: int) -> exp.Select:
    """Numbers and keys of the names of the pairs in lists: $numbers, $drugs and $reactions.

    ``version``: of the key.
    """
    lists = {"pair_no": ("numbers", "BIGINT[]")}
    lists |= {name: (f"{name}s", "VARCHAR[]") for name in ("drug", "reaction")}
    listed = exp.select(
        *[
            exp.Explode(this=exp.cast(exp.Placeholder(this=texts), kind)).as_(name)
            for name, (texts, kind) in lists.items()
        ]
    )
    return exp.select(
        column("pair_no", "n"),
        *[term_key(column(name, "n"), version).as_(name) for name in ("drug", "reaction")],
    ).from_(listed.subquery("n"))


_REMARKS = (
    "sensitive values of some cases are suppressed: of how many is what public manifests say, "
    "which no artifact can show",
)


@dataclass(frozen=True)
class Suppressed:
    """How many released cases, at most, have what no row shows."""

    reactions: int = 0
    """So many may have any one reaction although no row shows it."""
    drugs: int = 0
    """So many may have any one drug although no row shows it."""
    remarks: tuple[str, ...] = ()
    """What is to be said where a release tells of such cases, be it a share of 0, in words."""

    def __bool__(self) -> bool:
        """Whether any may have something that no row shows."""
        return bool(self.reactions or self.drugs)

    def parameters(self) -> dict[str, int]:
        """As the statements of ``signals/tables`` take them."""
        return {"suppressed": self.reactions, "suppressed_drugs": self.drugs}


def suppressed_of(warehouse: Warehouse, scope: Scope) -> Suppressed:
    """How many released cases may have a reaction, or a drug, that no row shows."""
    signals = scope.signals
    places = (
        (signals.reaction_table, signals.reaction),
        (signals.drug_table, signals.drug),
    )
    sensitive = {(a.table, a.column) for a in scope.dataset.sensitive}
    return Suppressed(
        suppressed_cases(warehouse, scope, places[0]),
        suppressed_cases(warehouse, scope, places[1]),
        () if sensitive.isdisjoint(places) or not _suppressing(warehouse, scope) else _REMARKS,
    )


def suppressed_cases(warehouse: Warehouse, scope: Scope, place: tuple[str, str]) -> int:
    """So many released cases, at most, may have any one value although no row shows it.

    Where the values are sensitive, that is what the public manifests tell, over all quarters;
    ``place``: table and column of the values.
    """
    if place not in {(a.table, a.column) for a in scope.dataset.sensitive}:
        return 0
    share = ANY_VALUE if scope.level(*place) else ONE_VALUE  # several values have one name
    return sum(
        int(warehouse.value(exp.select(most).sql("duckdb")))
        for most in (
            most_suppressed(schema, share, "released_cases")
            for schema in _suppressing(warehouse, scope)
        )
    )


def _suppressing(warehouse: Warehouse, scope: Scope) -> tuple[str, ...]:
    """The schemas of the releases of a scope that suppress values."""
    names = {"releases": list(scope.releases.values())}
    schemas = [schema for schema, _ in warehouse.rows(query(_RELEASES, "schemas"), names)]
    return suppressing(warehouse, schemas)


def load_names(warehouse: Warehouse, scope: Scope, sides: Sequence[str]) -> None:
    """Have the names that drugs and reactions of these sides have on the levels of the scope.

    Args:
        warehouse: where the table of names is made.
        scope: which columns, on which levels.
        sides: ``RELEASED``, ``ORIGINAL`` or both.
    """
    make_names(warehouse)
    for level in scope.levels:
        named = level.attribute
        values = [_values(scope, side, named.table, named.column) for side in sides]
        add_names(warehouse, level, union_all([*values]))


def _term(scope: Scope, side: str, source: str, value: str) -> exp.Expr:
    """The key of a term of a side's rows ``t``."""
    if side == ORIGINAL:
        return raw_term(scope.dataset, source, value, "t")
    if scope.shows_keys:
        return column(key_column(value), "t")
    return term_key(column(value, "t"), scope.dataset.term_key)


def _values(scope: Scope, side: str, source: str, value: str) -> exp.Select:
    """The keys of the values of a column of a side, as ``value``: of all roles and quarters."""
    term = _term(scope, side, source, value)
    return exp.select(term.as_("value")).from_(_source(scope, side, source, "t"))


def _names(scope: Scope, side: str, source: str, value: str) -> exp.Select:
    """What these values count as: themselves, or their names on a level."""
    values, level = _values(scope, side, source, value).subquery("v"), scope.level(source, value)
    if level is None:
        return exp.select(column("value", "v").as_("name")).from_(values)
    rows = exp.select(column("name", "l")).from_(values)
    return name_of(level, rows, column("value", "v"), "l")


def load_cases(
    warehouse: Warehouse, scope: Scope, side: str, *, regions: bool = True, every_name: bool = True
) -> None:
    """Fill the tables ``case`` and ``box`` of one side, and those that tell drugs and reactions.

    The original side has the cases that came in in the released quarters, withheld ones too, but
    not those that were withdrawn before the release, nor those that it was asked to leave out for
    want of a value (``--missing drop``). The released side reads views alone.

    Args:
        warehouse: where the tables are made.
        scope: which rows count.
        side: ``RELEASED`` or ``ORIGINAL``.
        regions: fill ``box``, which a condition asks for.
        every_name: tell every drug and reaction, and not only those of ``srsql_signal_pair``.
    """
    made = side_tables(scope, side, regions=regions, every_name=every_name)
    for name, rows in made.items():
        warehouse.run(create(temporary(side_table(side, name)), rows, temp=True))
    scope.pairs(side).load_means(warehouse, side_table(side, "item_mean"))


def side_tables(
    scope: Scope, side: str, *, regions: bool = True, every_name: bool = True
) -> dict[str, exp.Query]:
    """Name of each table of a side -> its rows, as of ``load_cases``; each reads tables before."""
    signals = scope.signals
    told = {
        name: _terms(scope, side, name, *place, every_name=every_name)
        for name, place in {
            "drug": (signals.drug_table, signals.drug),
            "reaction": (signals.reaction_table, signals.reaction),
        }.items()
    }
    boxes = _boxes(scope, side)
    return {
        "case": _cases(scope, side),
        "box": boxes if regions else exp.select("b.*").from_(boxes.subquery("b")).limit(0),
        **scope.pairs(side).held(told, scope.roles),
    }


def leave_out(warehouse: Warehouse, scope: Scope, side: str, counting: Counting) -> int:
    """Take cases of a dominant drug or reaction out of a side, and indications out of reactions.

    A drug that many cases have, or a reaction, makes others of its reactions (or drugs) look less
    frequent than they are without it: masking, or competition.

    Args:
        warehouse: has the tables of ``load_cases``.
        scope: which rows count.
        side: ``RELEASED`` or ``ORIGINAL``.
        counting: what is left out.

    Returns:
        How many cases left.

    Raises:
        SignalError: rows tell no indications.

    Source: Wang, Hochberg, Pearson and Hauben 2010 for drugs; Pariente et al. 2012 for reactions.
    """
    masked = 0
    if counting.without_drug is not None or counting.without_reaction is not None:
        tables = {name: side_table(side, name) for name in ("masked", "drug", "reaction")}
        warehouse.run(
            query("signals/tables", "masked", **tables),
            {
                what: _key(warehouse, scope, getattr(counting, f"without_{what}"))
                for what in ("drug", "reaction")
            },
        )
        own = exp.select(exp.Count(this=exp.Star())).from_(temporary(tables["masked"], alias="m"))
        masked = int(warehouse.value(own.sql(dialect="duckdb")))
        for name in ("case", "drug", "reaction"):
            left = {"masked": tables["masked"], name: side_table(side, name)}
            warehouse.run(query("signals/tables", f"{name}_left", **left))
    if counting.without_indications:
        table_name, value = indication_of(scope)
        named = scope.signals.reaction_table, scope.signals.reaction
        levels = [scope.level(*named), scope.level(table_name, value)]
        if len({level and level.name for level in levels}) > 1:
            raise SignalError(
                "reactions are compared with indications: give --level for "
                f"{scope.signals.reaction} and {value} alike, or leave --without-indications out"
            )
        rows = _terms(scope, side, "indication", table_name, value)
        names = {name: side_table(side, name) for name in ("reaction", "indication")}
        warehouse.run(create(temporary(names["indication"]), rows, temp=True))
        warehouse.run(query("signals/tables", "no_indication", **names))
    return masked


def indication_of(scope: Scope) -> tuple[str, str]:
    """Table and column with what a drug was taken for.

    Raises:
        SignalError: the dataset does not say, or they are taken apart from rows.
    """
    declared = scope.signals
    if declared.indication_table is None or declared.indication is None:
        raise SignalError(
            f"rows of dataset {scope.dataset.name} tell no indications: its [signals] section "
            "needs indication_table and indication, which must not be taken apart from rows"
        )
    return declared.indication_table, declared.indication


def _key(warehouse: Warehouse, scope: Scope, name: str | None) -> str | None:
    """The key of a name."""
    return None if name is None else term_keys(warehouse, [name], scope.dataset.term_key)[0]


def _conditional(dataset: Dataset) -> list[tuple[int, Qid]]:
    """The quasi-identifiers that a condition may speak of."""
    return [
        (position, qid)
        for position, qid in enumerate(dataset.qid)
        if (qid.name, qid.kind) in ((AGE, "numeric"), (SEX, "categorical"))
    ]


def _source(scope: Scope, side: str, name: str, alias: str) -> exp.Table:
    if side == RELEASED:
        return table(scope.schema, name, alias=alias)
    return raw_table(scope.dataset, name, alias=alias)


def _reports(scope: Scope, side: str) -> exp.Table | exp.Subquery:
    """The rows ``t`` of the report table of a side."""
    reports = _source(scope, side, scope.dataset.report_table, "t")
    return scope.pairs(side).report_rows(reports)


def _cases(scope: Scope, side: str) -> exp.Query:
    """Each case and its latest quarter among those of the scope; or each state of each case, with
    a number for an id, its quarter, and the next one that reports the case (``until``)."""
    case_id, latest = column(scope.dataset.case_id, "t"), exp.func("max", column("quarter", "t"))
    if scope.states:
        cases = exp.select(case_id.as_("reported"), column("quarter", "t")).distinct()
    else:
        cases = exp.select(case_id.as_("case_id"), latest.as_("quarter")).group_by(case_id.copy())
    cases = cases.from_(_reports(scope, side)).where(
        column("quarter", "t").isin(*map(exp.Literal.string, scope.releases))
    )
    if side == ORIGINAL:
        withdrawn = (
            exp.select(column("quarter", "r"), column("case_id", "w"))
            .from_(table("srsql", "withheld", alias="w"))
            .join(
                table("srsql", "release", alias="r"),
                on=column("release_id", "w").eq(column("release_id", "r")),
            )
            .where(column("release_id", "w").isin(*map(exp.convert, scope.releases.values())))
            .where(column("reason", "w").isin(*map(exp.Literal.string, NOT_COMPARED)))
        )
        waiting = (  # of the period that they are released in, or withheld for good
            exp.select(column("quarter", "r"), column("case_id", "w"))
            .from_(table("srsql", "waiting", alias="w"))
            .join(
                table("srsql", "release", alias="r"),
                on=column("release_id", "w").eq(column("release_id", "r")),
            )
            .where(column("release_id", "w").isin(*map(exp.convert, scope.releases.values())))
        )
        cases = cases.join(
            union_all([withdrawn, waiting]).subquery("withdrawn"),
            on=exp.and_(
                column("quarter", "t").eq(column("quarter", "withdrawn")),
                exp.cast(case_id.copy(), "VARCHAR").eq(column("case_id", "withdrawn")),
            ),
            join_type="anti",
        )
    if not scope.states:
        return cases
    return exp.select(
        "row_number() OVER (ORDER BY s.quarter, s.reported) AS case_id",
        column("reported", "s"),
        column("quarter", "s"),
        "lead(s.quarter) OVER (PARTITION BY s.reported ORDER BY s.quarter) AS until",
        dialect="duckdb",
    ).from_(cases.subquery("s"))


def _in_latest(rows: exp.Select, scope: Scope, side: str, alias: str) -> exp.Select:
    """``rows`` of the table ``alias`` that are of each case's latest quarter, or of its states."""
    return rows.join(
        temporary(side_table(side, "case"), alias="c"),
        on=exp.and_(
            column(scope.dataset.case_id, alias).eq(
                column("reported" if scope.states else "case_id", "c")
            ),
            column("quarter", alias).eq(column("quarter", "c")),
        ),
    )


def _boxes(scope: Scope, side: str) -> exp.Query:
    """The hull of each case's values or regions: granules, or numbers of leaves."""
    parts: list[exp.Query] = []
    for position, qid in _conditional(scope.dataset):
        rows = exp.select(column("case_id", "c"), exp.Literal.number(position).as_("position"))
        rows = rows.from_(_reports(scope, side))
        low: exp.Expr
        high: exp.Expr
        if qid.kind == "categorical":
            node = qid.name if side == RELEASED else derived(qid.name)
            rows = rows.join(
                _nodes(scope.dataset.hierarchies[qid.name]),
                on=column("node", "n").eq(column(node, "t")),
                join_type="left",
            )
            low, high = column("low", "n"), column("high", "n")
        elif side == RELEASED:
            low, high = (granules(qid, column(f"{qid.name}_{end}", "t")) for end in ("low", "high"))
        else:
            low, high = column(derived(qid.name), "t"), column(derived(qid.name), "t")
        rows = rows.select(
            exp.cast(exp.func("min", low), "BIGINT").as_("low"),
            exp.cast(exp.func("max", high), "BIGINT").as_("high"),
        )
        parts.append(_in_latest(rows, scope, side, "t").group_by(column("case_id", "c")))
    if not parts:  # no condition can be asked for
        parts = [
            exp.select(column("case_id", "c"), "0 AS position", "0 AS low", "0 AS high")
            .from_(temporary(side_table(side, "case"), alias="c"))
            .where(exp.false())
        ]
    return union_all(parts)


def _nodes(tree: Hierarchy) -> exp.Values:
    """Rows ``n (node, low, high)``: the leaves under each node that tells something.

    The root is not among them: a value at the root is a missing one.
    """
    rows = [
        exp.Tuple(expressions=[exp.Literal.string(node), *map(exp.convert, ends)])
        for number, (node, ends) in enumerate(zip(tree.labels, leaves(tree), strict=True))
        if number or len(tree.labels) == 1
    ]
    columns = [exp.to_identifier(name) for name in ("node", "low", "high")]
    alias = exp.TableAlias(this=exp.to_identifier("n"), columns=columns)
    return exp.Values(expressions=rows, alias=alias)


def _terms(
    scope: Scope, side: str, name: str, source: str, value: str, *, every_name: bool = True
) -> exp.Query:
    """Distinct (case, key of a term); of drugs, those in a role that counts."""
    dataset, signals = scope.dataset, scope.signals
    term = _term(scope, side, source, value)
    rows = exp.select(column("case_id", "c"), term.as_(name))
    rows = rows.from_(_source(scope, side, source, "t"))
    if side == RELEASED:
        rows = _in_latest(rows, scope, side, "t")
    else:  # child rows of legacy quarters name the report only
        reports = exp.and_(
            column(dataset.report_id, "t").eq(column(dataset.report_id, "p")),
            column("quarter", "t").eq(column("quarter", "p")),
        )
        rows = rows.join(raw_table(dataset, dataset.report_table, alias="p"), on=reports)
        rows = _in_latest(rows, scope, side, "p")
    if name == "drug" and signals.role and scope.roles:
        role = normalized(column(signals.role, "t"))
        rows = rows.where(role.isin(*map(exp.Literal.string, scope.roles)))
    level = scope.level(source, value)
    if not every_name and level is None:
        wanted = exp.select(column(name, "w")).from_(temporary(PAIR, alias="w"))
        rows = rows.where(term.copy().isin(query=wanted))
    terms = (
        exp.select(column("case_id", "u"), column(name, "u"))
        .distinct()
        .from_(rows.subquery("u"))
        .where(column(name, "u").is_(exp.null()).not_())
    )
    if level is None:
        return terms
    named = exp.select(column("case_id", "d"), column("name", "l").as_(name)).distinct()
    return name_of(level, named.from_(terms.subquery("d")), column(name, "d"), "l")
