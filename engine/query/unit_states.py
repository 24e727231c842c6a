"""The statements for what is no plain count: of what each unit of a group may be.

All have the steps of ``count_bounds`` and differ in what they ask of the worlds of a unit:

* ``HitCounts``, for shares and for COUNT with a FILTER: whether it meets the filter as well. Of the
  units of a group it tells how many surely and possibly do (``hit``), and how many surely and
  possibly are in the group and do not (``rest``); no unit is both, so that the ends of a share are
  those of its two parts;
* ``ValueEnds``, for means and quantiles: between which ends its value lies, in granules. Of several
  quarters of a case the newest counts that has a value and meets the conditions;
* ``Uncertain``: why the bounds of a count are apart.
"""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.query.count_bounds import Composer, with_steps
from srsql.engine.query.worlds import bounds_of
from srsql.engine.store.statements import column, table
from srsql.schemas import Qid

HITS = ("hit_lower", "hit_expected", "hit_upper", "hit_known", "rest_lower", "rest_upper")
"""What ``HitCounts`` tells of a group beside lower, expected, upper and known."""
ENDS = ("first", "last", "certain", "missing", "known", "members", "part")
"""What ``ValueEnds`` tells of a group, a row for those that are alike."""


class HitCounts(Composer):
    """Composes the counts of those that meet a filter, and of the others."""

    def text(self) -> str:
        """A SELECT of the group columns, then lower, expected, upper, known and ``HITS``."""
        sums = _columns(
            """
            coalesce(sum(b.certain * b.weight), 0)::BIGINT AS lower,
            coalesce(sum(b.part * b.weight), 0)::DOUBLE AS expected,
            coalesce(sum(b.weight), 0)::BIGINT AS upper,
            coalesce(sum(b.known * b.weight), 0)::BIGINT AS known,
            coalesce(sum(b.weight) FILTER (WHERE b.hit_certain), 0)::BIGINT AS hit_lower,
            coalesce(sum(b.hit_part * b.weight), 0)::DOUBLE AS hit_expected,
            coalesce(sum(b.weight) FILTER (WHERE b.hit_possible), 0)::BIGINT AS hit_upper,
            coalesce(sum(b.weight) FILTER (WHERE b.hit_known), 0)::BIGINT AS hit_known,
            coalesce(sum(b.weight) FILTER (WHERE b.rest_certain), 0)::BIGINT AS rest_lower,
            coalesce(sum(b.weight) FILTER (WHERE b.rest_possible), 0)::BIGINT AS rest_upper
            """
        )
        steps = self.steps()
        return with_steps(self.by_group(*sums), steps).sql("duckdb", pretty=True)

    def _marks(self) -> list[exp.Expr]:
        assert self.hit is not None
        return [exp.func("coalesce", self._over_worlds(self.hit), exp.false()).as_("hit")]

    def _outcomes(self) -> exp.Expr:
        """A unit meets the filter in a world if one of its rows does."""
        carried = [*self.keys, *self.groups]
        for qid in self.used.values():
            carried += [*bounds_of(qid), f"cell_{qid.name}"]
        carried += ["weight"] if self.question.counted == "rows" else []
        names = [column(name, "o") for name in carried]
        return (
            exp.select(*names, exp.func("bool_or", column("hit", "o")).as_("hit"))
            .from_(table("outcome", alias="o"))
            .group_by(*[name.copy() for name in names])
            .subquery("c")
        )

    def _verdict_columns(self, cells: exp.Expr, share: exp.Expr) -> list[exp.Expr]:
        hits = exp.CountIf(this=column("hit", "c"))
        others = exp.CountIf(this=exp.not_(column("hit", "c")))
        none = exp.Literal.number(0)
        part = exp.Filter(
            this=exp.Sum(this=share.copy()), expression=exp.Where(this=column("hit", "c"))
        )
        return [
            exp.EQ(this=hits, expression=cells.copy()).as_("hit_certain"),
            exp.GT(this=hits.copy(), expression=none).as_("hit_possible"),
            exp.EQ(this=others, expression=cells.copy()).as_("rest_certain"),
            exp.GT(this=others.copy(), expression=none.copy()).as_("rest_possible"),
            exp.func("coalesce", part, 0).as_("hit_part"),
        ]

    def _bound(self) -> exp.Select:
        """Of several quarters one is enough for the filter, and none may meet it for the rest."""
        return (
            super()
            ._bound()
            .select(
                *_columns(
                    """
                    bool_or(j.hit_certain) AS hit_certain,
                    bool_or(j.hit_possible) AS hit_possible,
                    bool_or(j.known AND j.hit_possible) AS hit_known,
                    bool_or(j.rest_certain) AND NOT bool_or(j.hit_possible) AS rest_certain,
                    bool_or(j.rest_possible) AND NOT bool_or(j.hit_certain) AS rest_possible,
                    max(CASE WHEN j.hit_certain THEN 1 ELSE least(1, j.hit_part) END) AS hit_part
                    """
                )
            )
        )


class ValueEnds(Composer):
    """Composes the ends between which the values of the units of a group lie."""

    def text(self) -> str:
        """A SELECT of the group columns and ``ENDS``: how many units are alike in the first five.

        ``certain``: they surely have a value in the group. ``missing``: their region has no bounds.
        ``known``: their region decides every comparison. ``part``: their expected number.
        """
        steps = self.steps()
        alike = [column(name, "b") for name in ENDS[:5]]
        final = self.by_group(
            *alike,
            *_columns(
                "sum(b.weight)::BIGINT AS members, sum(b.part * b.weight)::DOUBLE AS part",
            ),
        ).group_by(*[name.copy() for name in alike])
        return with_steps(final, steps).sql("duckdb", pretty=True)

    def _verdict_columns(self, cells: exp.Expr, share: exp.Expr) -> list[exp.Expr]:
        place = list(self.used).index(self.valued if self.valued is not None else -1)
        low = bounds_of(self.used[list(self.used)[place]])[0]
        first = column("first", f"s{place}")
        return [
            exp.func("min", first).as_("first"),
            exp.func("max", column("last", f"s{place}")).as_("last"),
            exp.EQ(this=exp.func("count", first.copy()), expression=cells.copy()).as_("valued"),
            exp.func("bool_or", column(low, "c").is_(exp.null())).as_("missing"),
        ]

    def _bound(self) -> exp.Select:
        """Of its quarters those back to the newest that surely counts: one of them is the newest
        that does."""
        names = ["unit", *self.groups]
        keys = [column(name, "j") for name in names]
        rows = exp.select("j.*").from_(table("verdict", alias="j"))
        rows = rows.where(column("first", "j").is_(exp.null()).not_())
        if "quarter" in self.keys:
            places = exp.func(
                "list_position",
                exp.array(*[exp.Literal.string(q) for q in self.views.schemas]),
                column("quarter", "j"),
            )
            newer = exp.Window(
                this=exp.func("bool_or", column("valued", "j")),
                partition_by=[key.copy() for key in keys],
                order=exp.Order(expressions=[exp.Ordered(this=places, desc=True)]),
                spec=exp.WindowSpec(
                    kind="ROWS",
                    start="UNBOUNDED",
                    start_side="PRECEDING",
                    end=exp.Literal.number(1),
                    end_side="PRECEDING",
                ),
            )
            rows = rows.select(newer.as_("newer"))
            rows = exp.select("n.*").from_(rows.subquery("n"))
            rows = rows.where(exp.not_(exp.func("coalesce", column("newer", "n"), exp.false())))
        return (
            exp.select(
                *keys,
                *_columns(
                    """
                    min(j.first) AS first, max(j.last) AS last, max(j.weight) AS weight,
                    bool_or(j.valued) AS certain, bool_and(j.missing) AS missing,
                    bool_or(j.valued AND j.known) AS known,
                    CASE WHEN bool_or(j.valued) THEN 1 ELSE least(1, max(j.part)) END AS part
                    """
                ),
            )
            .from_(rows.subquery("j"))
            .group_by(*[key.copy() for key in keys])
        )


class Uncertain(Composer):
    """Composes why bounds are wide: what those lack who meet the question possibly, not surely."""

    def text(self) -> str:
        """A SELECT of their number, how many lack each quasi-identifier that the question speaks
        of, and how many lack none, so that their regions straddle a limit."""
        steps = self.steps()
        lacks = {f"lacks_{n}": self._lacks(qid) for n, qid in enumerate(self.used.values())}
        weight: exp.Expr = exp.Literal.number(1)
        if self.question.counted == "rows":
            weight = exp.func("max", column("weight", "a"))
        open_units = (
            exp.select(column("unit", "b"))
            .from_(table("bound", alias="b"))
            .where(column("certain", "b").eq(0))
        )
        units = (
            exp.select(weight.as_("weight"))
            .select(*[exp.func("bool_and", each).as_(name) for name, each in lacks.items()])
            .from_(table("exact_match", alias="a"))
            .where(exp.In(this=column("unit", "a"), query=open_units.subquery()))
            .group_by(column("unit", "a"))
        )
        none = exp.not_(exp.or_(*[column(name, "u") for name in lacks]))
        sums: list[exp.Expr] = [exp.Sum(this=column("weight", "u"))]
        sums += [
            exp.Filter(this=sums[0].copy(), expression=exp.Where(this=condition))
            for condition in (*[column(name, "u") for name in lacks], none)
        ]
        final = exp.select(*[exp.cast(exp.func("coalesce", each, 0), "BIGINT") for each in sums])
        return with_steps(final.from_(units.subquery("u")), steps).sql("duckdb", pretty=True)

    def _lacks(self, qid: Qid) -> exp.Expr:
        """Whether a region has no bounds, or is the root."""
        name = bounds_of(qid)[0]
        if qid.kind == "numeric":
            return column(name, "a").is_(exp.null())
        root = exp.Literal.string(self.dataset.hierarchies[qid.name].labels[0])
        return exp.func("coalesce", column(name, "a"), root).eq(root.copy())


def _columns(text: str) -> list[exp.Expr]:
    """The columns of a SELECT list."""
    return list(exp.maybe_parse(f"SELECT {text}", dialect="duckdb").expressions)
