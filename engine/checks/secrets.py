"""What nobody may undo of a release: its ids are pseudonyms under a key of its series, and the
order of its rows is drawn.

The keyed hash is written here once more (RFC 2104): a maker that hashes otherwise, or hashes
nothing, shows ids that are not among those that follow from the originals and the key.
"""

from __future__ import annotations

from itertools import pairwise
from math import log

from sqlglot import exp

from srsql.engine.catalog.dimensions import dimensions_of, shown_columns
from srsql.engine.catalog.layout import NUMBER, ROWS, raw_table, store_of
from srsql.engine.catalog.releases import Release
from srsql.engine.checks import Evidence, as_measures
from srsql.engine.checks.lattice import taken
from srsql.engine.checks.noise import row
from srsql.engine.errors import CheckFailedError
from srsql.engine.measures import Measure
from srsql.engine.store.statements import (
    STORE,
    column,
    literal,
    query,
    scalar_macro,
    table,
    union_all,
)
from srsql.schemas import Dataset

TOPIC = "checks/secrets"
KEY_BYTES = 64
BITS, OLD_BITS = 53, 60
"""Of a pseudonym; of one of a series that was made before pseudonyms were stored."""
ATTEMPTS = 100
FALSE_ALARM = log(2e7)
"""Nats from which on an order is refused: two sides, one order in 10 million."""
SHOWN, ORIGINAL, FIRST, DERIVED = "shown_id", "original_id", "first_id", "derived_id"
LEAST_DISTINCT = 32
"""Distinct bytes of a key that was drawn: 56.7 of 64 are expected, and fewer than 32 have a chance
of 1.4e-21."""
MOST_ALIKE = 16
"""Steps from a byte of a key to the next one that may be the same (chance of more: 2.5e-24)."""
LEAST_OF_TEXT = 128
"""Bytes of text are below; that 64 are has the largest chance of all that is looked at, 5.4e-20."""
OF_ANOTHER = "it is that of another series"


def check_ids(evidence: Evidence) -> list[Measure]:
    """Ids as the key of the series gives them, and a key that somebody drew."""
    release = evidence.release
    asked = {"release": release.release_id}
    ((ids, key, shared),) = release.warehouse.rows(query(TOPIC, "key"), asked)
    tables = {ORIGINAL: _originals(evidence), SHOWN: _shown(evidence)}
    parameters: dict[str, object] = {}
    order = _out_of_order(evidence)
    if ids == "original":
        derived = f"FROM {ORIGINAL}"
        why = "" if key is None else "the series has ids of the source, and needs none"
    else:
        why = OF_ANOTHER if shared else weakness(key)
        quarter = release.quarter if ids == "per-quarter" else ""
        stored = ids in ("pseudonym", "per-quarter")
        usable = key if key is not None and len(key) == KEY_BYTES else bytes(KEY_BYTES)
        parameters = {
            **_pads(usable),
            "quarter": quarter,
            "bits": BITS if stored else OLD_BITS,
        }
        derived = _pseudonyms(stored=stored)
        if stored:
            names = {"dataset": release.dataset.name, "series": release.series}
            parameters |= {**names, "attempts": ATTEMPTS}
            first, derived = derived, f"FROM {FIRST} UNION ALL ({query(TOPIC, 'taken')})"
            tables[FIRST] = first
    tables[DERIVED] = derived
    return order + evidence.ask(
        "check_ids", literal(SHOWN), literal(DERIVED), literal(why),
        tables=tables, parameters=parameters,
    )  # fmt: skip


def _out_of_order(evidence: Evidence) -> list[Measure]:
    """Reports stand in the order of the ids that they are published under, not in one of their own,
    which would tell that of the source."""
    release = evidence.release
    dataset = release.visible_dataset
    store = table(STORE, store_of(release.release_id, dataset.report_table), alias="s")
    name = column(dataset.report_id, "s").sql("duckdb")
    ((wrong, total),) = release.warehouse.rows(
        f"SELECT count(*) FILTER (WHERE o.id < o.before), count(*) FROM (SELECT {name} AS id, "
        f"lag({name}) OVER (ORDER BY s.rowid) AS before FROM {store.sql('duckdb')}) AS o"
    )
    return as_measures([row(evidence, "check_ids", "order of rows", wrong, total)])


def weakness(key: bytes | None) -> str:
    """Why nobody would draw such a key; empty: a key that was drawn is refused with a chance of
    5.6e-20."""
    if key is None:
        return "there is none"
    if len(key) != KEY_BYTES:
        return f"it has {len(key)} bytes, not {KEY_BYTES}"
    steps = [(after - before) % 256 for before, after in pairwise(key)]
    half = KEY_BYTES // 2
    faults = {
        "it is made of few bytes": len(set(key)) < LEAST_DISTINCT,
        "it is text": max(key) < LEAST_OF_TEXT,
        "one half of it is the other": key[:half] == key[half:],
        "its bytes count": max(steps.count(step) for step in set(steps)) > MOST_ALIKE,
    }
    return next((why for why, found in faults.items() if found), "")


def need_published_pseudonyms(release: Release, rows: exp.Query, key: bytes) -> None:
    """Refuse to publish ids that are not the pseudonyms of the released ones under a key.

    Args:
        release: whose views are published.
        rows: of the report table, as they are to leave the house.
        key: of the pseudonyms.

    Raises:
        CheckFailedError: some id is another one, or the key can be guessed.
    """
    released, leaving = (
        _ids_of(release.visible_dataset, source)
        for source in (
            table(release.schema, release.visible_dataset.report_table, alias="v"),
            rows.copy().subquery("v"),
        )
    )
    names = SHOWN, ORIGINAL, DERIVED
    texts = leaving, released, _pseudonyms(stored=False)
    parts = ", ".join(f"{name} AS ({text})" for name, text in zip(names, texts, strict=True))
    usable = key if len(key) == KEY_BYTES else bytes(KEY_BYTES)
    found = release.warehouse.rows(
        f"WITH {parts} SELECT c.* FROM srsql.check_ids('{SHOWN}', '{DERIVED}', "
        f"{literal(weakness(key))}, {release.release_id}) AS c",
        {**_pads(usable), "bits": OLD_BITS},
    )
    for _, _, scope, violating, total, *_ in found:
        if violating:
            raise CheckFailedError(
                f"{violating:,.0f} of {total:,.0f} ({scope}) are not the pseudonyms that follow "
                "from the released ids and the key file: nothing was published"
            )


def _pads(key: bytes) -> dict[str, bytes]:
    """The inner and the outer key of RFC 2104."""
    return {
        "inner_key": bytes(byte ^ 0x36 for byte in key),
        "outer_key": bytes(byte ^ 0x5C for byte in key),
    }


def _kinds(dataset: Dataset) -> dict[str, str]:
    """Kind -> the column that has its ids; a report that is its own case has those of the case."""
    own = {"case": dataset.case_id, "report": dataset.report_id}
    return {"case": own["case"]} if dataset.reports_are_cases else own


def _originals(evidence: Evidence) -> str:
    """(kind, id) of the reports of the period, as the release took them."""
    release = evidence.release
    dataset = release.visible_dataset
    rows = (
        exp.select("r.*")
        .from_(raw_table(dataset, dataset.report_table, alias="r"))
        .where(column("quarter", "r").eq(exp.Literal.string(release.quarter)))
    )
    return _ids_of(dataset, rows.subquery("v"))


def _shown(evidence: Evidence) -> str:
    """(kind, id) of the released rows."""
    dataset = evidence.release.visible_dataset
    return _ids_of(dataset, table(evidence.release.schema, dataset.report_table, alias="v"))


def _ids_of(dataset: Dataset, rows: exp.Table | exp.Subquery) -> str:
    """(kind, id) of rows ``v``; ids of the source are compared as text."""
    each = {
        kind: exp.select(column(name, "v").as_("id")).distinct().from_(rows.copy()).subquery("d")
        for kind, name in _kinds(dataset).items()
    }
    parts: list[exp.Query] = [
        exp.select(exp.Literal.string(kind).as_("kind"))
        .select(exp.cast(column("id", "d"), "VARCHAR").as_("id"))
        .from_(ids)
        for kind, ids in each.items()
    ]
    return union_all(parts).sql("duckdb")


def _pseudonyms(*, stored: bool) -> str:
    """(kind, id) of what the originals become at the first attempt."""
    kind, original = column("kind", "o"), column("id", "o")
    inner, outer, quarter, bits = (
        exp.Placeholder(this=name) for name in ("inner_key", "outer_key", "quarter", "bits")
    )
    parts: list[exp.Expr] = [kind.copy()]
    if stored:
        length = exp.Anonymous(this="strlen", expressions=[quarter.copy()])
        parts += [exp.convert(0), length, quarter.copy()]
    text = exp.Anonymous(
        this="concat_ws", expressions=[exp.Literal.string(":"), *parts, original.copy()]
    )
    made = scalar_macro("checked_pseudonym", _blob(inner), _blob(outer), text, bits)
    return (
        exp.select(kind, exp.cast(made, "VARCHAR").as_("id"))
        .from_(table(ORIGINAL, alias="o"))
        .sql("duckdb")
    )


def _blob(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BLOB")


def check_order(evidence: Evidence) -> list[Measure]:
    """Rows that no id orders, against the order in which they were made."""
    terms = evidence.terms
    if evidence.facts.synthetic_rows:
        paired = _rows_in_order(evidence)
    elif terms is not None and terms.term_format == "nodes":
        paired = query(TOPIC, "records")
    elif evidence.facts.case_rows:
        paired = f"{query(TOPIC, 'subrecords')} UNION ALL ({query(TOPIC, 'clusters')})"
    else:
        paired = query(TOPIC, "subrecords")
    return evidence.ask(
        "check_order", literal("paired"), repr(FALSE_ALARM), tables={"paired": f"({paired})"}
    )


def _rows_in_order(evidence: Evidence) -> str:
    """Pairs of rows over a lattice that are half of all apart by number: whether the dimensions of
    the one are less than those of the other, where they differ."""
    release = evidence.release
    names, _, _, _ = taken(release)
    dimensions = dimensions_of(release.dataset, names)
    shown = [column(name, "v") for name in shown_columns(release.dataset, dimensions)]
    half = exp.IntDiv(this=exp.Window(this=exp.Count(this=exp.Star())), expression=exp.convert(2))
    placed = exp.select(
        exp.func("row", *shown).as_("shown"), column(NUMBER, "v").as_("place"), half.as_("half")
    ).from_(table(release.schema, ROWS, alias="v"))
    own, other = column("shown", "p"), column("shown", "q")
    place, far = column("place", "p"), column("half", "p")
    return (
        exp.select(
            exp.Literal.string("row").as_("scope"),
            exp.LT(this=own, expression=other).as_("rising"),
            exp.cast(exp.convert(0.5), "DOUBLE").as_("chance"),
        )
        .from_(placed.subquery("p"))
        .join(
            placed.copy().subquery("q"),
            on=exp.and_(
                exp.EQ(this=place + far, expression=column("place", "q")),
                exp.LTE(this=place.copy(), expression=far.copy()),
            ),
        )
        .where(exp.NEQ(this=own.copy(), expression=other.copy()))
        .sql("duckdb")
    )
