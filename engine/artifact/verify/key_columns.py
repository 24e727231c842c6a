"""The columns with the keys of terms: whether each has the key of its spelling."""

from __future__ import annotations

from collections import Counter

import duckdb
import pyarrow as pa
from sqlglot import exp

from srsql.engine.artifact.format import Manifest, key_pairs
from srsql.engine.artifact.verify import Check
from srsql.engine.artifact.verify.reading import loaded
from srsql.engine.artifact.verify.term_keys import key_of_term
from srsql.engine.warehouse.released_terms import Items
from srsql.engine.warehouse.statements import column, create, temporary, union_all

SPELLINGS = "srsql_term_spelling"
"""Table (spelling, key) of the terms of a quarter that was read."""
TERM_KEYS = "term keys"
"""Name of the check."""
_HELD = ("record_chunk", "shared_chunk", "item_chunk", "reconstructed")
"""Tables of disassociated terms that name terms."""


def keep_keys(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """Derive the key of every spelling that the loaded tables show, and keep both in ``SPELLINGS``.

    Args:
        con: into which the tables were loaded.
        manifest: that declares them; where its terms have no key, the table is empty.
    """
    shown = [
        exp.select(column(c.name, "t").as_("spelling"))
        .distinct()
        .from_(temporary(loaded(item.name), alias="t"))
        .where(column(c.name, "t").is_(exp.null()).not_())
        for item in manifest.tables
        for c in item.columns
        if manifest.term_key and c.role in ("sensitive", "quasi-sensitive")
    ]
    texts: list[str] = []
    if shown:
        every = exp.select(exp.column("spelling", "s")).distinct()
        rows = con.execute(every.from_(union_all(list(shown)).subquery("s")).sql("duckdb"))
        texts = [row[0] for row in rows.fetchall()]
    keys = {"spelling": texts, "key": [key_of_term(text) for text in texts]}
    kinds = pa.schema([("spelling", pa.string()), ("key", pa.string())])
    con.register("srsql_derived_keys", pa.table(keys, schema=kinds))
    derived = exp.select("d.spelling", "d.key").from_("srsql_derived_keys AS d")
    con.execute(create(exp.to_table(SPELLINGS), derived, temp=True))
    con.unregister("srsql_derived_keys")


def key_checks(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[Check]:
    """The check of the key columns of a quarter; none where its terms have no key.

    Args:
        con: with the table of ``keep_keys``.
        manifest: that declares the columns.
    """
    if not manifest.term_key:
        return []
    faults, total = list[str](), 0
    for item in manifest.tables:
        wrong = []
        for spelling, key in key_pairs(item).items():
            total += item.rows
            wrong.append(
                exp.NullSafeNEQ(this=column(key, "t"), expression=column("key", f"k_{spelling}"))
            )
        if not wrong:
            continue
        counting = exp.select(exp.Count(this=exp.Star())).where(exp.or_(*wrong))
        counting = counting.from_(temporary(loaded(item.name), alias="t"))
        for spelling in key_pairs(item):
            alias = f"k_{spelling}"
            same = column(spelling, "t").eq(column("spelling", alias))
            counting = counting.join(temporary(SPELLINGS, alias=alias), on=same, join_type="left")
        ((rows,),) = con.execute(counting.sql("duckdb")).fetchall()
        if rows:
            faults.append(
                f"{rows} rows of {item.name} have a key that is not that of their spelling"
            )
    return [Check(TERM_KEYS, faults, total)]


def spelling_faults(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> list[str]:
    """Terms that are told apart from records in more than one spelling.

    Args:
        con: into which the tables of terms were loaded.
        manifest: that declares them; where whole rows are taken apart, it tells which of their
            columns have thresholds, and those are looked at.
    """
    claim = manifest.terms
    if claim is None or not manifest.term_key:
        return []
    own = claim.sensitive if claim.whole_rows else claim.attributes
    shown = [
        exp.select(column("term", "t")).from_(temporary(loaded(name), alias="t")) for name in _HELD
    ]
    terms = exp.select(exp.column("term", "s")).distinct()
    rows = con.execute(terms.from_(union_all(list(shown)).subquery("s")).sql("duckdb")).fetchall()
    spellings = Counter[tuple[str, str | None]]()
    for (item,) in rows:
        attribute, _, term = str(item).partition(":")
        if attribute in (own or ()):
            spellings[attribute, key_of_term(term)] += 1
        elif not claim.whole_rows:
            spellings["", key_of_term(str(item))] += 1
    several = sum(number > 1 for number in spellings.values())
    return [f"{several} terms are told in more than one spelling"] if several else []


class KeyedItems(Items):
    """Items of a release that compares terms by their key."""

    def value(self, item: str) -> str | None:
        """The key of the sensitive value of an item; None: it has none."""
        found = super().value(item)
        return found and key_of_term(found)
