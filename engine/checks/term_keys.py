"""The key of a term as the checks derive it, which is not as the maker does."""

from __future__ import annotations

from sqlglot import exp

from srsql.engine.warehouse.statements import normal_form


def checked_key(value: exp.Expr, version: int) -> exp.Expr:
    """The key of a term, empty or NULL where it is blank.

    Args:
        value: its text.
        version: of the key; 0: visible text in upper case, as releases had it before there were
            keys.

    Source:
        SPEC section 2 (term, key).
    """
    if version == 0:
        return normal_form(value)
    return exp.Anonymous(this="srsql_checked_term_key", expressions=[value.copy()])
