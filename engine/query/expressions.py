"""The conditions of a question, rebuilt from the constructs that are understood.

Every node of the analyst's statement is read and written anew; nothing of it is passed on as it is.
A comparison of a quasi-identifier becomes an atom, a column of the worlds (see ``worlds``);
everything else is a condition on columns that are released as they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from srsql.engine.catalog.datasets import term_key, text_key
from srsql.engine.errors import QueryError
from srsql.engine.query.bands import computed_from, read_band, read_condition
from srsql.engine.query.limits import Limits, Scalar
from srsql.engine.query.vocabulary import (
    Block,
    Exact,
    Generalized,
    Kind,
    Names,
    Views,
    excerpt,
    number,
    only_parts,
    refusal,
    region_refusal,
)
from srsql.engine.query.worlds import (
    FARTHEST_VALUE,
    Atom,
    Band,
    Span,
    complement,
    label_column,
    truth_column,
    union,
)
from srsql.engine.signals.rules import leaves
from srsql.engine.store.statements import column
from srsql.schemas import Hierarchy, Qid

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE
}  # fmt: skip
_FUNCTIONS = (exp.Upper, exp.Lower, exp.Trim)
_TESTS = (exp.StartsWith, exp.Contains)


@dataclass
class Expressions:
    """Rebuilds the expressions of one question, and collects its atoms."""

    names: Names
    limits: Limits
    views: Views
    subquery: Callable[[exp.Expr, Block], exp.Expr]
    """Rebuilds EXISTS and IN (SELECT ...)."""
    atoms: list[Atom] = field(default_factory=list)
    tested: set[int] = field(default_factory=set)
    """Quasi-identifiers that IS NULL asks about."""
    labelled: set[int] = field(default_factory=set)
    """Quasi-identifiers by whose leaves the question groups."""
    bands: list[Band] = field(default_factory=list)
    """What the question computes from numbers and groups by."""
    by_keys: bool = False
    """Terms are compared or grouped by their keys."""
    blanked: dict[exp.Expr, str] = field(default_factory=dict)
    """Values with placeholders by which the question groups -> name of the column."""

    def predicate(self, node: exp.Expr, block: Block, positive: bool = True) -> exp.Expr:
        """A condition, rebuilt.

        Args:
            node: the condition as the analyst wrote it.
            block: the SELECT that it stands in.
            positive: whether it stands under an even number of NOTs.

        Raises:
            QueryError: it is not one that can be answered.
        """
        if isinstance(node, exp.Paren):
            return self.predicate(only_parts(node, "this").this, block, positive)
        if isinstance(node, (exp.And, exp.Or)):
            only_parts(node, "this", "expression")
            join = exp.and_ if isinstance(node, exp.And) else exp.or_
            sides = [self.predicate(side, block, positive) for side in (node.left, node.right)]
            return join(*sides)
        if isinstance(node, exp.Not):
            return exp.not_(self.predicate(only_parts(node, "this").this, block, not positive))
        if isinstance(node, exp.Boolean):
            return exp.Boolean(this=bool(node.this))
        if isinstance(node, COMPARISONS):
            only_parts(node, "this", "expression")
            return self._comparison(type(node), node.left, node.right, block, positive)
        if isinstance(node, exp.Between):
            only_parts(node, "this", "low", "high")
            return exp.and_(
                self._comparison(exp.GTE, node.this, node.args["low"], block, positive),
                self._comparison(exp.LTE, node.this, node.args["high"], block, positive),
            )
        if isinstance(node, exp.In):
            return self._in(node, block, positive)
        if isinstance(node, exp.Exists):
            return self.subquery(node, block)
        if isinstance(node, exp.Is):
            return self._is_null(node, block)
        if isinstance(node, (exp.Like, exp.ILike, *_TESTS)):
            return self._search(node, block, positive)
        if isinstance(node, exp.Case):
            return self._case(node, block, lambda each: self.predicate(each, block, positive))
        raise refusal(node)

    def scalar(self, node: exp.Expr, block: Block) -> Scalar:
        """A value that is released as it was, or a literal."""
        if isinstance(node, exp.Paren):
            return self.scalar(only_parts(node, "this").this, block)
        if isinstance(node, exp.Column):
            found = self.names.find(only_parts(node, "this", "table"), block)
            if isinstance(found, Generalized):
                raise region_refusal(found)
            if found.kind == "quarter":
                return Scalar(self.views.quarter(found.item.alias), "quarter")
            return self._released_column(found)
        if isinstance(node, exp.Literal) and node.is_string:
            return Scalar(exp.Literal.string(node.name), "text", literal=node.name)
        if isinstance(node, (exp.Literal, exp.Neg)):
            return Scalar(exp.Literal.number(format(number(node), "f")), "number")
        if isinstance(node, _FUNCTIONS):
            value = self.scalar(only_parts(node, "this").this, block)
            if value.kind != "text":
                raise QueryError(f"{excerpt(node)}: {node.key} is for text")
            self.limits.check_spelling(value)
            return self._spelled(type(node), value)
        if isinstance(node, exp.Case):
            return self._case_value(node, block)
        for inner in node.find_all(exp.Column):
            found = self.names.find(inner, block)
            if isinstance(found, Generalized):
                raise region_refusal(found)
        raise refusal(node)

    def group(self, node: exp.Expr, block: Block) -> exp.Expr:
        """What to group by: exact, a categorical quasi-identifier, or CASE of conditions."""
        if isinstance(node, exp.Paren):
            return self.group(only_parts(node, "this").this, block)
        found = self.names.find(node, block) if isinstance(node, exp.Column) else None
        if computed := computed_from(self.names, node, block):
            self.need_outermost(computed, block)
            band, shown = read_band(self.names.dataset, computed, node, block)
            if band not in self.bands:
                self.bands.append(band)
            return shown
        if not isinstance(found, Generalized):
            return self._group_value(self.scalar(node, block))
        if found.qid.kind == "numeric":
            raise QueryError(
                f"{found.qid.name} is released as intervals: group by bands, such as "
                f"{found.qid.name} // 10 * 10, or by ranges, such as CASE WHEN {found.qid.name} < "
                "18 THEN 'below' ELSE 'above' END"
            )
        self.labelled.add(found.position)
        return label_column(found.qid)

    def _case(
        self, node: exp.Case, block: Block, result: Callable[[exp.Expr], exp.Expr]
    ) -> exp.Expr:
        """CASE, with or without a value after the word; ``result`` rebuilds what it may come to.

        A WHEN that is FALSE and one that is NULL are passed over alike, so that each stands as if
        under no NOT.
        """
        only_parts(node, "this", "ifs", "default")
        built = exp.Case()
        for branch in node.args["ifs"]:
            only_parts(branch, "this", "true")
            if node.this:
                when = self._comparison(exp.EQ, node.this, branch.this, block, positive=True)
            else:
                when = self.predicate(branch.this, block)
            built = built.when(when, result(branch.args["true"]))
        default = node.args.get("default")
        if default is None or isinstance(default, exp.Null):
            return built
        return built.else_(result(default))

    def _case_value(self, node: exp.Case, block: Block) -> Scalar:
        kinds: dict[Kind, Scalar] = {}
        is_term = False

        def result(each: exp.Expr, part: Callable[[Scalar], exp.Expr]) -> exp.Expr:
            nonlocal is_term
            if isinstance(each, exp.Null):
                return exp.null()
            value = self.scalar(each, block)
            self.limits.check_result(value)
            self._comparable(value, next(iter(kinds.values()), value))
            kinds.setdefault(value.kind, value)
            is_term = is_term or (value.key is not None and bool(self.views.term_key))
            return part(value)

        def built(part: Callable[[Scalar], exp.Expr]) -> exp.Expr:
            return self._case(node, block, lambda each: result(each, part))

        spelled = built(lambda value: value.node)
        kind: Kind = next(iter(kinds), "text")
        if not is_term:
            return Scalar(spelled, kind)
        return Scalar(spelled, kind, key=built(self._key_of), label=built(lambda v: v.shown))

    def _group_value(self, value: Scalar) -> exp.Expr:
        """A value to group by, a term by its key; rows without one are left out where a placeholder
        may be behind, and on a level, where such a value has no name."""
        self.limits.check_group(value)
        self.by_keys |= value.label is not None
        if self.limits.placeholders(value) or self.views.level(value.origin):
            self.blanked[value.shown] = value.name
        return value.shown

    def _released_column(self, found: Exact) -> Scalar:
        origin = (found.item.table.name, found.name)
        alias, spelled = found.item.alias, column(found.name, found.item.alias)
        key = self.views.key(origin, alias) if self.limits.is_term(origin) else None
        label = None if self.views.level(origin) else key
        return Scalar(spelled, found.kind, origin, alias=alias, key=key, label=label)

    def _spelled(self, function: type[exp.Expr], value: Scalar) -> Scalar:
        """A function of the spelling alone, which leaves a term the same one."""
        label = None if value.label is None else function(this=value.label)
        key = value.key if self.views.term_key else None
        return replace(value, node=function(this=value.node), key=key, label=label)

    def _qid(self, node: exp.Expr, block: Block) -> Generalized | None:
        bare = node.unnest()
        if not isinstance(bare, exp.Column):
            return None
        found = self.names.find(bare, block)
        return found if isinstance(found, Generalized) else None

    def _comparison(
        self,
        operator: type[exp.Expr],
        left: exp.Expr,
        right: exp.Expr,
        block: Block,
        positive: bool,
    ) -> exp.Expr:
        if not (_is_simple(left) and _is_simple(right)):
            whole = operator(this=left.copy(), expression=right.copy())
            if computed := computed_from(self.names, whole, block):
                spans = read_condition(self.names.dataset, computed, whole)
                return self._atom(computed, spans, block)
        first, second = self._qid(left, block), self._qid(right, block)
        if first and second:
            raise QueryError(
                f"{first.qid.name} and {second.qid.name} are released as regions: their values "
                "cannot be compared with each other"
            )
        if first:
            return self._atom(first, self._spans(first, operator, right), block)
        if second:
            mirrored = _MIRRORED.get(operator, operator)
            return self._atom(second, self._spans(second, mirrored, left), block)
        values = self.scalar(left, block), self.scalar(right, block)
        self._comparable(*values)
        self.limits.check_comparison(operator, *values, block.links, positive)
        one, other = values[0].node, values[1].node
        if operator in (exp.EQ, exp.NEQ) or any(self.views.level(v.origin) for v in values):
            one, other = self._alike(*values)
        return operator(this=one, expression=other)

    def _in(self, node: exp.In, block: Block, positive: bool) -> exp.Expr:
        if node.args.get("query"):
            self.scalar(node.this, block)
            return self.subquery(node, block)
        only_parts(node, "this", "expressions")
        found = self._qid(node.this, block)
        if not found and (computed := computed_from(self.names, node, block)):
            spans = read_condition(self.names.dataset, computed, node)
            return self._atom(computed, spans, block)
        if found:
            listed = [self._spans(found, exp.EQ, item) for item in node.expressions]
            return self._atom(found, union(listed), block)
        value = self.scalar(node.this, block)
        items = [self.scalar(item, block) for item in node.expressions]
        for item in items:
            self._comparable(value, item)
            self.limits.check_comparison(exp.EQ, value, item, block.links, positive)
        pairs = [self._alike(value, item) for item in items]
        if len({one for one, _ in pairs}) == 1:
            return pairs[0][0].isin(*(other for _, other in pairs))
        return exp.paren(exp.or_(*(one.eq(other) for one, other in pairs)))

    def _alike(self, one: Scalar, other: Scalar) -> tuple[exp.Expr, exp.Expr]:
        """What to compare for equality: the keys of both, where one is a term."""
        if one.key is None and other.key is None:
            return one.node, other.node
        self.by_keys |= bool(self.views.term_key)
        return self._key_of(one), self._key_of(other)

    def _key_of(self, value: Scalar) -> exp.Expr:
        """The key of a value that is compared with a term."""
        if value.key is not None:
            return value.key
        if value.literal is not None and isinstance(value.node, exp.Literal):
            return text_key(value.literal, self.views.term_key)
        return term_key(value.node, self.views.term_key) if self.views.term_key else value.node

    def _is_null(self, node: exp.Is, block: Block) -> exp.Expr:
        only_parts(node, "this", "expression")
        if not isinstance(node.expression, exp.Null):
            raise refusal(node)
        found = self._qid(node.this, block)
        if found:
            return self._no_value(found, block)
        value = self.scalar(node.this, block)
        self.limits.check_null(value)
        return exp.Is(this=value.node, expression=exp.null())

    def _no_value(self, found: Generalized, block: Block) -> exp.Expr:
        """Whether a case is released without a value: it is missing there, or was given up."""
        self.need_outermost(found, block)
        self.tested.add(found.position)
        report = self.names.dataset.report_table
        (alias,) = [item.alias for item in block.items if item.table.name == report]
        if found.qid.kind == "numeric":
            return exp.Is(this=column(f"{found.qid.name}_low", alias), expression=exp.null())
        root = self.names.dataset.hierarchies[found.qid.name].labels[0]
        node = exp.func("coalesce", column(found.qid.name, alias), exp.Literal.string(root))
        return node.eq(exp.Literal.string(root))

    def need_outermost(self, found: Generalized, block: Block) -> None:
        """Refuse a quasi-identifier in a subquery."""
        if block.outer is not None:
            raise QueryError(
                f"{found.qid.name} stands in a subquery: put its conditions into the outer WHERE"
            )

    def _search(self, node: exp.Expr, block: Block, positive: bool) -> exp.Expr:
        """LIKE, ILIKE, ``starts_with`` and ``contains``."""
        only_parts(node, "this", "expression", "negate")
        negated = bool(node.args.get("negate"))
        text, wanted = self._text(node.this, block), self._text(node.expression, block)
        self.limits.check_search(type(node), text, wanted, positive is not negated)
        built = type(node)(this=text.node, expression=wanted.node)
        return exp.not_(built) if negated else built

    def _text(self, node: exp.Expr, block: Block) -> Scalar:
        value = self.scalar(node, block)
        if value.kind not in ("text", "quarter"):
            raise QueryError(f"{excerpt(node)} is not text")
        return value

    def _spans(
        self, found: Generalized, operator: type[exp.Expr], constant: exp.Expr
    ) -> tuple[Span, ...]:
        """The values of a quasi-identifier that compare so with a constant."""
        qid, bare = found.qid, constant.unnest()
        is_text = isinstance(bare, exp.Literal) and bare.is_string
        if isinstance(bare, exp.Null):
            raise refusal(bare)
        if qid.kind == "numeric":
            if is_text or not isinstance(bare, (exp.Literal, exp.Neg)):
                raise region_refusal(found)
            return numeric_spans(qid, operator, Fraction(number(bare)))
        if not is_text:
            raise region_refusal(found)
        if operator not in (exp.EQ, exp.NEQ):
            raise QueryError(f"{qid.name} has no order: compare it with =, <> or IN")
        spans = node_spans(qid, self.names.dataset.hierarchies[qid.name], bare.name)
        return spans if operator is exp.EQ else complement(spans)

    def _atom(self, found: Generalized, spans: tuple[Span, ...], block: Block) -> exp.Expr:
        self.need_outermost(found, block)
        atom = Atom(found.position, spans)
        if atom not in self.atoms:
            self.atoms.append(atom)
        return truth_column(self.atoms.index(atom))

    def _comparable(self, one: Scalar, other: Scalar) -> None:
        kinds = {one.kind, other.kind}
        if "id" in kinds:
            if kinds == {"id"} or "number" in kinds or one.literal or other.literal:
                return
        elif len(kinds) == 1 or (kinds == {"text", "quarter"} and (one.literal or other.literal)):
            return
        raise QueryError(
            f"{one.name} and {other.name} are of different types: text is compared with '...'"
        )


def _is_simple(node: exp.Expr) -> bool:
    """Whether nothing is computed: a column, a literal or NULL."""
    return isinstance(node.unnest(), (exp.Column, exp.Literal, exp.Neg, exp.Null))


def numeric_spans(qid: Qid, operator: type[exp.Expr], limit: Fraction) -> tuple[Span, ...]:
    """The values of a number that meet a comparison.

    Args:
        qid: a numeric quasi-identifier.
        operator: such as ``exp.LT``.
        limit: what its values are compared with, in its unit.

    Returns:
        Spans of granules, ascending; none if no value meets the comparison.
    """
    point = limit / Fraction(qid.granularity)
    below, above = math.floor(point), math.ceil(point)
    if operator in (exp.EQ, exp.NEQ):
        spans = ((below, below),) if below == above else ()
        return spans if operator is exp.EQ else complement(spans)
    ends: dict[type[exp.Expr], Span] = {
        exp.LT: (-FARTHEST_VALUE, above - 1),
        exp.LTE: (-FARTHEST_VALUE, below),
        exp.GT: (below + 1, FARTHEST_VALUE),
        exp.GTE: (above, FARTHEST_VALUE),
    }
    low, high = ends[operator]
    return (
        ((max(low, -FARTHEST_VALUE), min(high, FARTHEST_VALUE)),)
        if max(low, -FARTHEST_VALUE) <= min(high, FARTHEST_VALUE)
        else ()
    )


def node_spans(qid: Qid, tree: Hierarchy, text: str) -> tuple[Span, ...]:
    """The leaves under a node of a hierarchy.

    Args:
        qid: a categorical quasi-identifier.
        tree: its hierarchy.
        text: label or source code of the node, in upper or lower case.

    Returns:
        One span of numbers of leaves.

    Raises:
        QueryError: no such node, or a code that means "not known".
    """
    wanted = text.strip().upper()
    codes = {code.strip().upper(): label for code, label in qid.aliases.items()}
    labels = {label.strip().upper(): label for label in tree.labels}
    label = labels.get(wanted) or codes.get(wanted)
    if wanted in {code.strip().upper() for code in qid.missing}:
        raise QueryError(f"{qid.name} = '{text}' means not known: write {qid.name} IS NULL")
    if label is None or label not in tree.number:
        raise QueryError(f"{qid.name} has no value '{text}': it has {', '.join(tree.labels[:12])}")
    return (leaves(tree)[tree.number[label]],)
