"""WITH and subqueries in FROM: rows that are named are written in the place of their names.

A named SELECT of columns of one table or several, with conditions, is what its tables, joins and
conditions are in the SELECT that reads it; its columns stand for what they were made of. Rows
stay as many as they were, so all counts stay the same. Whatever groups, sorts out or cuts rows
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from srsql.engine.errors import QueryError
from srsql.engine.query.vocabulary import excerpt

_PARTS = {"expressions", "from_", "joins", "where", "distinct", "order"}


@dataclass(frozen=True)
class _Named:
    """Rows that have a name."""

    sources: tuple[exp.Table, ...]
    conditions: tuple[tuple[exp.Expr, ...], ...]
    """On which each of the sources is joined to those before it."""
    where: tuple[exp.Expr, ...]
    columns: Mapping[str, exp.Expr]
    """Name of a column -> what it is made of."""
    star: bool
    """All columns of the sources are there besides."""
    is_distinct: bool

    def column(self, name: str, given: str) -> exp.Expr:
        """What a column is made of.

        Raises:
            QueryError: there is none of that name.
        """
        found = self.columns.get(name.lower())
        if found is not None:
            return found.copy()
        if not self.star:
            raise QueryError(f"{given} has no column {name}: it has {', '.join(self.columns)}")
        alone = self.sources[0].alias_or_name if len(self.sources) == 1 else None
        return exp.column(name, table=alone)


def inlined(tree: exp.Select) -> exp.Select:
    """The question without WITH, and without subqueries in FROM.

    Raises:
        QueryError: rows are named that are more than columns with conditions.
    """
    clause = tree.args.get("with_")
    known: dict[str, exp.Select] = {}
    if clause is not None:
        if clause.args.get("recursive"):
            raise QueryError("WITH RECURSIVE is refused: name a SELECT of columns with conditions")
        for each in clause.expressions:
            if each.args["alias"].args.get("columns"):
                raise QueryError(f"WITH {each.alias} (...): name its columns in its SELECT, by AS")
            if not isinstance(each.this, exp.Select):
                raise _refusal(each.alias)
            known[each.alias.lower()] = _inlined_all(each.this, known)
            _checked(known[each.alias.lower()], each.alias)
        tree.set("with_", None)
    return _inlined_all(tree, known)


def _inlined_all(tree: exp.Select, known: Mapping[str, exp.Select]) -> exp.Select:
    """Every SELECT of a tree, from the inside out."""
    for select in list(tree.find_all(exp.Select, bfs=False))[::-1]:
        _inline(select, known)
    return tree


def _inline(select: exp.Select, known: Mapping[str, exp.Select]) -> None:
    """Write the named rows that a SELECT reads into it."""
    start = select.args.get("from_")
    if start is None:
        return
    joins = list(select.args.get("joins") or ())
    named: dict[str, _Named] = {}
    for source in (start.this, *(join.this for join in joins)):
        found = _definition(source, known)
        if found is not None:
            given = source.alias_or_name
            if not given:
                raise QueryError("a subquery in FROM has no name: write one behind it")
            named[given.lower()] = _read(_checked(found.copy(), given), given)
    if not named:
        return
    tables = [source.alias_or_name.lower() for source in (start.this, *(j.this for j in joins))]
    _rename(select, named, [table for table in tables if table not in named])
    built: list[exp.Join] = []
    first, conditions = start.this, list[exp.Expr]()
    start_rows = named.get(first.alias_or_name.lower())
    for join in [None, *joins]:
        source = first if join is None else join.this
        rows = named.get(source.alias_or_name.lower())
        on = [] if join is None else _joined_on(join, first, start_rows, rows)
        if rows is None:
            if join is not None:
                if on:
                    join.set("on", exp.and_(*on))
                    join.set("using", None)
                built.append(join)
            continue
        conditions += rows.where
        parts = list(zip(rows.sources, rows.conditions, strict=True))
        for n, (table, own) in enumerate(parts):
            if join is None and n == 0:
                start.set("this", table)
                conditions += own
                continue
            matches = [*on, *own] if n == 0 else list(own)
            kept = join.copy() if join is not None and n == 0 else exp.Join()
            kept.set("this", table)
            kept.set("using", None)
            kept.set("on", exp.and_(*matches) if matches else None)
            built.append(kept)
    select.set("joins", built or None)
    if conditions:
        select.where(*conditions, copy=False)
    if any(rows.is_distinct for rows in named.values()):
        _need_distinct_counts(select)


def _definition(source: exp.Expr, known: Mapping[str, exp.Select]) -> exp.Select | None:
    """The SELECT that a source of FROM names; None: it is a table."""
    if isinstance(source, exp.Subquery):
        inner = source.this
        if not isinstance(inner, exp.Select):
            raise _refusal(source.alias or "a subquery in FROM")
        return inner
    if isinstance(source, exp.Table) and not source.args.get("db"):
        return known.get(source.name.lower())
    return None


def _checked(select: exp.Select, given: str) -> exp.Select:
    """The SELECT; refused if its rows are more than columns with conditions."""
    for key, value in select.args.items():
        if value and key not in _PARTS:
            raise _refusal(given, key.strip("_").replace("_", " ").upper())
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise _refusal(given, "DISTINCT ON")
    if select.args.get("from_") is None:
        raise _refusal(given)
    for item in select.expressions:
        made = item.find(exp.AggFunc, exp.Window, exp.Select)
        if made is not None:
            raise _refusal(given, excerpt(made))
    for join in select.args.get("joins") or ():
        if any(join.args.get(key) for key in ("method", "side")):
            raise _refusal(given, excerpt(join))
    return select


def _refusal(given: str, what: str = "") -> QueryError:
    return QueryError(
        f"{given}{f': {what}' if what else ''}: rows that are named, by WITH or in FROM, are a "
        "SELECT of columns with JOIN and WHERE; count, group and cut in the question itself"
    )


def _read(select: exp.Select, given: str) -> _Named:
    """The rows of a SELECT, whose tables get names of their own."""
    joins = list(select.args.get("joins") or ())
    tables = [select.args["from_"].this, *(join.this for join in joins)]
    names: dict[str, str] = {}
    for table in tables:
        if not isinstance(table, exp.Table):
            raise _refusal(given)
        own = table.alias_or_name.lower()
        if own in names:
            raise QueryError(f"FROM of {given} has {own} twice: give them aliases")
        names[own] = f"{given}_{own}".lower()
    (alone, *others) = tables
    for column in list(select.find_all(exp.Column)):
        if column.table.lower() in names:
            column.set("table", exp.to_identifier(names[column.table.lower()], quoted=True))
        elif not column.table and not others and column.parent_select is select:
            column.set("table", exp.to_identifier(names[alone.alias_or_name.lower()], quoted=True))
    conditions: list[tuple[exp.Expr, ...]] = [()]
    for join in joins:
        own, first = names[join.this.alias_or_name.lower()], names[alone.alias_or_name.lower()]
        on = [join.args["on"]] if join.args.get("on") else []
        on += [
            exp.column(c.name, table=first).eq(exp.column(c.name, table=own))
            for c in join.args.get("using") or ()
        ]
        conditions.append(tuple(on))
    for table in tables:
        alias = exp.to_identifier(names[table.alias_or_name.lower()], quoted=True)
        table.set("alias", exp.TableAlias(this=alias))
    columns, star = {}, False
    for item in select.expressions:
        if isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        ):
            star = True
        elif not item.alias_or_name:
            raise QueryError(f"{given}: {excerpt(item)} has no name: write AS behind it")
        else:
            made = item.unalias()
            simple = isinstance(made, (exp.Column, exp.Paren))
            columns[item.alias_or_name.lower()] = made if simple else exp.paren(made)
    where = select.args.get("where")
    return _Named(
        tuple(tables),
        tuple(conditions),
        () if where is None else (exp.paren(where.this),),
        columns,
        star,
        bool(select.args.get("distinct")),
    )


def _joined_on(
    join: exp.Join, first: exp.Expr, start: _Named | None, rows: _Named | None
) -> list[exp.Expr]:
    """The conditions of a join; those of USING where one of its sides is inlined."""
    on = [join.args["on"]] if join.args.get("on") else []
    if start is None and rows is None:
        return on
    for shared in join.args.get("using") or ():
        sides = []
        for source, inner in ((first, start), (join.this, rows)):
            given = source.alias_or_name
            column = exp.column(shared.name, table=given)
            sides.append(column if inner is None else inner.column(shared.name, given))
        on.append(sides[0].eq(sides[1]))
    return on


def _rename(select: exp.Select, named: Mapping[str, _Named], tables: list[str]) -> None:
    """What the columns of named rows are made of in their place.

    Args:
        select: reads the rows.
        named: by their names.
        tables: the other sources of its FROM; a column that is of no named rows is theirs.
    """
    aliases = {item.alias.lower() for item in select.expressions if item.alias}
    for item in list(select.expressions):
        bare = item.unalias()
        inner = bare if isinstance(bare, exp.Column) else None
        if inner is not None and not item.alias and _source_of(inner, select, named):
            item.replace(exp.alias_(inner.copy(), inner.name, quoted=True))
    for column in list(select.find_all(exp.Column)):
        if isinstance(column.this, exp.Star):
            continue
        source = _source_of(column, select, named)
        clause = column.find_ancestor(exp.Group, exp.Order, exp.Having)
        if clause and not column.table and column.name.lower() in aliases:
            continue
        if source is not None:
            column.replace(named[source].column(column.name, source))
        elif not column.table and column.parent_select is select:
            _need_owner(column, named, tables)


def _need_owner(column: exp.Column, named: Mapping[str, _Named], tables: list[str]) -> None:
    """Have a column be of the table beside named rows, which do not have it."""
    if any(rows.star for rows in named.values()):
        return
    if not tables:
        next(iter(named.values())).column(column.name, next(iter(named)))
    elif len(tables) == 1:
        column.set("table", exp.to_identifier(tables[0], quoted=True))


def _source_of(column: exp.Column, select: exp.Select, named: Mapping[str, _Named]) -> str | None:
    """The named rows that a column is of."""
    if column.table:
        return column.table.lower() if column.table.lower() in named else None
    if column.parent_select is not select:
        return None
    for given, rows in named.items():
        if column.name.lower() in rows.columns:
            return given
    return None


def _need_distinct_counts(select: exp.Select) -> None:
    """Refuse what counts rows that DISTINCT has folded."""
    for item in select.expressions:
        for made in item.find_all(exp.AggFunc):
            if not (isinstance(made, exp.Count) and isinstance(made.this, exp.Distinct)):
                raise QueryError(
                    f"{excerpt(made)} of rows that are DISTINCT: leave DISTINCT out, or count "
                    "cases or reports, with COUNT(DISTINCT ...)"
                )
