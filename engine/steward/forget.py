"""A patient is forgotten: what a warehouse has of a case is erased, and a keyed token stays.

The token, ``forgotten:`` and an HMAC of the case id, stands for the id wherever the catalog names
it. With it stay the groups that the case was in and the weights of its values, so that audits of
earlier releases count it as they did; files that have it are recognized (``ingest.known_cases``).
Nobody without the key of the dataset can tell whose it is; who has the warehouse and the id can.
"""

from __future__ import annotations

import datetime
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from srsql.engine.audit.verdicts import drop
from srsql.engine.catalog.datasets import dataset_names, forgotten_pads, hmac_pads
from srsql.engine.catalog.layout import (
    ERASED_BY_CASE,
    NAMES_CASES,
    derived,
    raw_table,
    source_columns,
    store_of,
)
from srsql.engine.catalog.releases import Stale, staleness
from srsql.engine.catalog.series import PER_QUARTER, find_series
from srsql.engine.errors import ForgetError, WarehouseError
from srsql.engine.lake.lake import Change, changing
from srsql.engine.parameters import MAIN
from srsql.engine.release.ids import pseudonym
from srsql.engine.release.series import remove_draft
from srsql.engine.steward.backup import REBUILD, rebuild
from srsql.engine.steward.copies import Copy, copies_with
from srsql.engine.store.statements import (
    SPACES,
    STORE,
    column,
    dotted,
    query,
    spaces_and,
    table,
    temporary,
)
from srsql.engine.store.warehouse import Warehouse
from srsql.schemas import Dataset, Table
from srsql.schemas.outside import json_of

TOPIC = "release/forget"
KEY_BYTES = 64
ERASURES = {
    "srsql.case_qid": "erase_qids",
    "srsql.case_term": "erase_withheld_terms",
    "srsql.suppressed": "erase_suppressed",
}
"""Catalog table -> the statement that erases its rows of the places of the cases."""
STAYS = (
    "srsql.forgotten_case: a token for each case (a keyed hash of its id), so that files which "
    "have it are recognized and it never returns",
    "srsql.member, case_flag, case_term, region, perturbed: under the token the groups that it was "
    "released in and the weights of its values there, so that audits of earlier releases count it",
    "srsql.withheld, waiting, taken_case, budget_ledger, replaced_case, deleted_case, "
    "counted_person: under the token, that it was withheld or waited, what was charged, that it "
    "changed or was withdrawn, with which cases it counted as one person",
    "srsql.threshold: values that other cases have too, or that a release which is out shows; "
    "srsql.external_knowledge, utility_constraint: what files of the steward name",
    "srsql.measure, private manifests, srsql.ingested_file: figures and digests over all cases",
    "srsql_data: its rows in releases that are out, until 'srsql correct' takes them out",
)
"""What a warehouse keeps of a forgotten case, and why."""
ELSEWHERE = (
    "backups, copies of the warehouse, source files, reports, tables that a dataset is read from",
    "rejected lines that name neither the case nor its reports (such as the rest of a broken line)",
)


@dataclass(frozen=True)
class Receipt:
    """What was erased where, what stays and why, and what is to be done."""

    dataset: str
    reason: str
    day: str
    dry_run: bool
    tokens: list[str]
    """Of the cases, in the order of their ids."""
    not_found: list[str]
    """Ids that the dataset does not have; a file that brings them is recognized all the same."""
    erased: dict[str, int]
    """Rows that were deleted or blanked, by table."""
    renamed: dict[str, int]
    """Rows in which the token stands for the id, by catalog table."""
    drafts: list[str]
    """Drafts that had one of the cases and were removed: series and quarter."""
    exposed: list[dict[str, Any]]
    """Releases that are or were out and have one of them: what was published of them left the
    house."""
    stale: list[Stale]
    """Releases that are out and show a case that left."""
    duplicates: list[str] = field(default_factory=list)
    """Other cases that are suspected to be the same person, the likeliest first; they stay."""
    together: list[dict[str, Any]] = field(default_factory=list)
    """By series with ids that join quarters: forgotten cases that releases of several quarters
    show (``cases``), those that will have fewer than k candidates (``below_k``) to one who joins
    all versions, and the ``fewest``; no model bounds it."""
    stays: list[str] = field(default_factory=lambda: list(STAYS))
    elsewhere: list[str] = field(default_factory=lambda: list(ELSEWHERE))
    forgotten_before: int = 0
    """How many of the cases were forgotten before, of which there is nothing to erase any more."""
    rebuilt: bool = False
    """The file holds nothing of the erased rows any more."""
    copies: list[Copy] = field(default_factory=list)
    """What lies beside the warehouse and holds one of the cases, or may: it is to be deleted."""
    commands: list[str] = field(default_factory=list)
    """What is to be run now, in this order."""


class _DryRunError(Exception):
    """Ends the transaction of a dry run."""


def forget(
    warehouse: Warehouse,
    dataset: Dataset,
    written: Sequence[str],
    reason: str,
    *,
    dry_run: bool = False,
) -> Receipt:
    """Erase what the warehouse has of cases, in one transaction; see ``complete``.

    Source: SPEC section 16 (remanence).

    Args:
        warehouse: to write to.
        dataset: whose cases, in all of its series and quarters.
        written: the source's case ids.
        reason: is kept with the tokens.
        dry_run: tell what would be erased, and change nothing.

    Raises:
        ForgetError: no id is given, one cannot be a case id, there is no such dataset, or the
            reason is blank or names a case.
    """
    if dataset.name not in dataset_names(warehouse):
        raise ForgetError(f"nothing of dataset {dataset.name!r} is in the warehouse: see --dataset")
    cases = _read_ids(warehouse, dataset, written)
    reason = " ".join(reason.split())
    if not reason:
        raise ForgetError("the reason is blank: say why with --reason")
    if any(case in reason.split() for case in cases):
        raise ForgetError("the reason names a case, and it is kept: leave the id out of --reason")
    made: list[Receipt] = []
    try:
        with changing(warehouse, dataset) as change, warehouse.transaction():
            made.append(_forgotten(warehouse, dataset, cases, reason, change))
            if dry_run:
                raise _DryRunError
    except _DryRunError:
        return replace(made[0], dry_run=True, commands=[])
    return made[0]


def _read_ids(warehouse: Warehouse, dataset: Dataset, written: Sequence[str]) -> list[str]:
    rows = warehouse.rows(query(TOPIC, "read_ids"), {"written": list(written), **_ids(dataset)})
    wrong = next((text for text, case in rows if case is None), None)
    if wrong is not None or not rows:
        what = "no case id is given" if wrong is None else f"{wrong!r} is no case id"
        raise ForgetError(f"{what}: give the source's case ids of {dataset.name}, or --file")
    return list(dict.fromkeys(case for _, case in rows))


def _ids(dataset: Dataset) -> dict[str, Any]:
    return {"ends": SPACES, "integer": dataset.id_type == "integer"}


def _forgotten(
    warehouse: Warehouse,
    dataset: Dataset,
    cases: Sequence[str],
    reason: str,
    change: Change | None,
) -> Receipt:
    """Within the transaction: everything that is to be erased, and the receipt."""
    own = {"dataset": dataset.name}
    pads = _prepare(warehouse, dataset, cases)
    tables = [declared for declared in dataset.tables if _exists(warehouse, dataset, declared)]
    for declared in sorted(tables, key=lambda each: each.name != dataset.report_table):
        warehouse.run(_find_statement(dataset, declared))
    warehouse.run(query(TOPIC, "create_places"), own)
    found = {case for each in _places() for (case,) in warehouse.rows(each, own)}
    erased = {"srsql.reject": _blank_rejects(warehouse, dataset)}
    for declared in tables:
        erased[f"raw_{dataset.name}.{declared.name}"] = (
            _count(warehouse, _erase_statement(dataset, declared))
            if change is None
            else change.erase(declared, _of_cases(dataset, declared))
        )
    drafts = _remove_drafts(warehouse, dataset)
    drop(warehouse, [row[0] for row in warehouse.rows(query(TOPIC, "places_released"))])
    terms = _find_terms(warehouse, dataset, pads)
    for name, statement in ERASURES.items():
        erased[name] = _count(warehouse, query(TOPIC, statement))
    duplicates = [case for (case,) in warehouse.rows(query(TOPIC, "duplicates"), own)]
    for name, columns in ERASED_BY_CASE.items():
        erased[f"srsql.{name}"] = _count(warehouse, _erase_named(name, columns), own)
    renamed = {
        f"srsql.{name}": _count(warehouse, _name_statement(name, of), own)
        for name, of in NAMES_CASES.items()
    }
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    known = int(warehouse.value(query(TOPIC, "known_before"), own))
    warehouse.run(query(TOPIC, "keep_tokens"), {**own, "reason": reason, "today": today})
    erased |= _sweep(warehouse, dataset, terms)
    exposed = warehouse.rows(query(TOPIC, "exposed"), own)
    together = _leaving_together(warehouse, dataset)
    tokens = [token for _, token in warehouse.rows(query(TOPIC, "tokens"))]
    _drop(warehouse)
    stale = [each for each in staleness(warehouse, dataset.name) if each.status == "released"]
    return Receipt(
        dataset=dataset.name,
        reason=reason,
        day=today,
        dry_run=False,
        tokens=tokens,
        not_found=[case for case in cases if case not in found],
        erased={name: rows for name, rows in erased.items() if rows},
        renamed={name: rows for name, rows in renamed.items() if rows},
        drafts=drafts,
        exposed=[
            dict(zip(("release_id", "series", "quarter", "status"), row, strict=True))
            for row in exposed
        ],
        stale=stale,
        duplicates=duplicates,
        together=together,
        forgotten_before=known,
        commands=_commands(stale),
    )


def _commands(stale: Sequence[Stale]) -> list[str]:
    """What is to be run, in this order: releases are corrected, then the file is written anew."""
    corrections = dict.fromkeys(each.command for each in stale if each.command)
    return [*corrections, *[REBUILD][: len(corrections)]]


def _leaving_together(warehouse: Warehouse, dataset: Dataset) -> list[dict[str, Any]]:
    """How few candidates are left to one who joins the versions of several quarters, by series."""
    found = []
    names = ("series", "cases", "below_k", "fewest", "k")
    for row in warehouse.rows(query(TOPIC, "together"), {"dataset": dataset.name}):
        series = find_series(warehouse, dataset, row[0])
        if series is not None and series.ids != PER_QUARTER:
            found.append(dict(zip(names, row, strict=True)))
    return found


def _prepare(warehouse: Warehouse, dataset: Dataset, cases: Sequence[str]) -> dict[str, bytes]:
    """The temporary tables, and the pads of the key, which is made with the first token."""
    own = {"dataset": dataset.name}
    warehouse.run(query(TOPIC, "make_key"), {**own, "key": secrets.token_bytes(KEY_BYTES)})
    pads = hmac_pads(bytes(warehouse.value(query(TOPIC, "key"), own)))
    warehouse.run(query(TOPIC, "create_cases"), {**pads, "cases": list(cases)})
    warehouse.run(query(TOPIC, "create_lines"))
    return pads


def _drop(warehouse: Warehouse) -> None:
    warehouse.drop_temporary_tables(f"srsql_forget_{name}" for name in ("case", "line", "place"))


def _exists(warehouse: Warehouse, dataset: Dataset, declared: Table) -> bool:
    names = warehouse.rows(query(TOPIC, "raw_tables"), {"schema": f"raw_{dataset.name}"})
    return (declared.name,) in names


def _count(warehouse: Warehouse, statement: str, parameters: Any = ()) -> int:
    """Run a statement that changes rows; how many it changed."""
    return int(warehouse.value(statement, parameters))


def _places() -> list[str]:
    """For each place where the dataset may have cases, a query for those to forget that it has."""
    places = [(name, "case_id", of) for name, of in NAMES_CASES.items()]
    erased = [(name, each) for name, columns in ERASED_BY_CASE.items() for each in columns]
    cases = exp.select("f.case_id").from_(temporary("srsql_forget_case", alias="f"))
    return [
        query(TOPIC, "found"),
        *(
            exp.select(column(each, "t"))
            .from_(table("srsql", name, alias="t"))
            .where(column(each, "t").isin(query=cases), _of_dataset(of))
            .sql(dialect="duckdb")
            for name, each, of in [*places, *((*place, "dataset") for place in erased)]
        ),
    ]


def _of_dataset(of: str) -> exp.Expr:
    """Whether a row of the catalog is of the dataset; ``of``: see ``NAMES_CASES``."""
    of_dataset, ours = exp.Placeholder(this="dataset"), column(of, "t")
    if of == "dataset":
        return ours.eq(of_dataset)
    releases = exp.select("r.release_id").from_(table("srsql", "release", alias="r"))
    return ours.isin(query=releases.where(column("dataset", "r").eq(of_dataset)))


def _name_statement(name: str, of: str) -> str:
    """The token stands for the case in a table of the catalog; ``of``: see ``NAMES_CASES``."""
    return exp.update(
        table("srsql", name, alias="t"),
        {"case_id": column("token", "f")},
        from_=exp.From(this=temporary("srsql_forget_case", alias="f")),
        where=exp.and_(column("case_id", "t").eq(column("case_id", "f")), _of_dataset(of)),
    ).sql(dialect="duckdb")


def _erase_named(name: str, columns: Sequence[str]) -> str:
    """No row of a table of the catalog stays that names a case; see ``ERASED_BY_CASE``."""
    cases = exp.select("f.case_id").from_(temporary("srsql_forget_case", alias="f"))
    named = [column(each, "t").isin(query=cases) for each in columns]
    rows = exp.delete(table("srsql", name, alias="t"), dialect="duckdb")
    return rows.where(exp.and_(_of_dataset("dataset"), exp.or_(*named))).sql(dialect="duckdb")


def _of_cases(dataset: Dataset, declared: Table) -> exp.Expr:
    """Whether a raw row is of a case to forget: by its case id, or by its report."""
    parts: list[exp.Expr] = []
    if declared.name == dataset.report_table or dataset.case_id in source_columns(declared):
        cases = exp.select("f.case_id").from_(temporary("srsql_forget_case", alias="f"))
        parts.append(exp.cast(column(dataset.case_id, "t"), "VARCHAR").isin(query=cases))
    if declared.name != dataset.report_table:
        reports = (
            exp.select("1")
            .from_(temporary("srsql_forget_line", alias="r"))
            .where(column("table_name", "r").eq(exp.Literal.string(dataset.report_table)))
            .where(column("quarter", "r").eq(column("quarter", "t")))
            .where(column("report_id", "r").eq(exp.cast(column(dataset.report_id, "t"), "VARCHAR")))
        )
        parts.append(exp.Exists(this=reports))
    return exp.or_(*parts)


def _find_statement(dataset: Dataset, declared: Table) -> str:
    """What notes the lines of the cases to forget, of the report table first."""
    told = declared.name == dataset.report_table or dataset.case_id in source_columns(declared)
    case = column(dataset.case_id, "t") if told else exp.null()
    lines = (
        exp.select(
            column("quarter", "t"),
            exp.Literal.string(declared.name),
            column(derived("line"), "t"),
            exp.cast(case, "VARCHAR"),
            exp.cast(column(dataset.report_id, "t"), "VARCHAR"),
        )
        .from_(raw_table(dataset, declared.name, alias="t"))
        .where(_of_cases(dataset, declared))
    )
    return exp.Insert(this=temporary("srsql_forget_line"), expression=lines).sql(dialect="duckdb")


def _erase_statement(dataset: Dataset, declared: Table) -> str:
    rows = exp.delete(raw_table(dataset, declared.name, alias="t"), dialect="duckdb")
    return rows.where(_of_cases(dataset, declared)).sql(dialect="duckdb")


def _blank_rejects(warehouse: Warehouse, dataset: Dataset) -> int:
    own = {"dataset": dataset.name}
    named = {**own, **_ids(dataset), "separator": dataset.source.separator}
    named["ends"] = spaces_and(dataset.source.quotes)
    return _count(warehouse, query(TOPIC, "blank_records"), named) + _count(
        warehouse, query(TOPIC, "blank_values"), own
    )


def _remove_drafts(warehouse: Warehouse, dataset: Dataset) -> list[str]:
    """A draft that has one of the cases goes, whatever else it holds: nobody has seen it."""
    removed = []
    for name, quarter in warehouse.rows(query(TOPIC, "drafts")):
        series = find_series(warehouse, dataset, name)
        assert series is not None
        remove_draft(warehouse, series, quarter)
        removed.append(quarter if name == MAIN else f"{quarter} in series {name}")
    warehouse.run(query(TOPIC, "forget_drafts"))
    return removed


def _find_terms(warehouse: Warehouse, dataset: Dataset, pads: dict[str, bytes]) -> dict[str, str]:
    """Values that forgotten cases alone have, each with its token.

    Before the values of withheld cases are erased, since these show whose they are.
    """
    return dict(warehouse.rows(query(TOPIC, "terms"), {"dataset": dataset.name, **pads}))


def _sweep(warehouse: Warehouse, dataset: Dataset, terms: dict[str, str]) -> dict[str, int]:
    """Erase forgotten cases in what is not out any more: superseded rows, values that they alone
    have. Rows per table."""
    own = {"dataset": dataset.name}
    erased: dict[str, int] = {}
    for release_id, series, quarter in warehouse.rows(query(TOPIC, "superseded"), own):
        for name, rows in _clean_stores(warehouse, dataset, release_id, series, quarter).items():
            erased[f"{STORE}.{name}"] = rows
    if terms:
        listed = {"terms": list(terms), "tokens": list(terms.values())}
        erased["srsql.threshold"] = _count(warehouse, query(TOPIC, "name_terms"), own | listed)
        warehouse.run(query(TOPIC, "name_asked_terms"), own | listed)
        for release_id, text in warehouse.rows(query(TOPIC, "manifests"), own):
            manifest = json_of(text)
            blanked = _without(manifest, terms)
            if blanked != manifest:
                warehouse.run(
                    query("release/manifest", "store"),
                    {"release_id": release_id, "manifest": json.dumps(blanked)},
                )
    return erased


def _without(document: Any, terms: dict[str, str]) -> Any:
    """A manifest with tokens in the place of values."""
    if isinstance(document, dict):
        return {key: _without(value, terms) for key, value in document.items()}
    if isinstance(document, list):
        return [_without(value, terms) for value in document]
    return terms.get(document, document) if isinstance(document, str) else document


def _clean_stores(
    warehouse: Warehouse, dataset: Dataset, release_id: int, series_name: str, quarter: str
) -> dict[str, int]:
    """Keep the rows of the other cases of a superseded release; what has no ids is dropped."""
    series = find_series(warehouse, dataset, series_name)
    assert series is not None
    kept = exp.select(column("case_id", "m").as_("id")).from_(table("srsql", "member", alias="m"))
    kept = kept.where(column("release_id", "m").eq(exp.convert(release_id)))
    if series.id_scope is not None:
        kept = exp.select(exp.cast(column("pseudonym", "p"), "VARCHAR").as_("id"))
        kept = kept.from_(table("srsql", "id_pseudonym", alias="p"))
        for name, value in (("dataset", dataset.name), ("series", series.name), ("kind", "case")):
            kept = kept.where(column(name, "p").eq(exp.Literal.string(value)))
        if series.id_scope == "quarter":
            kept = kept.where(column("quarter", "p").eq(exp.Literal.string(quarter)))
    elif series.key is not None:
        made = pseudonym(dataset, series.key, dataset.case_id, column("case_id", "m"))
        kept = kept.select(exp.cast(made, "VARCHAR").as_("id"), append=False)
    erased, stores = {}, {"store": STORE, "prefix": store_of(release_id, "")}
    for (store,) in warehouse.rows(query("release/series", "stores"), stores):
        if dataset.case_id in warehouse.columns(STORE, store):
            own = exp.cast(column(dataset.case_id, "t"), "VARCHAR")
            rows = exp.delete(table(STORE, store, alias="t"), dialect="duckdb")
            gone = own.isin(query=kept.copy()).not_()
            erased[store] = _count(warehouse, rows.where(gone).sql(dialect="duckdb"))
        else:
            erased[store] = warehouse.value(f"SELECT count(*) FROM {dotted(STORE, store)}")
            warehouse.run(f"DROP TABLE {dotted(STORE, store)}")
    return erased


def sweep(warehouse: Warehouse, dataset: Dataset) -> None:
    """Erase what a correction left of cases that were forgotten before it, in one transaction.

    Args:
        warehouse: to write to.
        dataset: whose cases.
    """
    if forgotten_pads(warehouse, dataset.name) is None:
        return
    with warehouse.transaction():
        pads = _prepare(warehouse, dataset, [])
        warehouse.run(query(TOPIC, "create_places"), {"dataset": dataset.name})
        _sweep(warehouse, dataset, _find_terms(warehouse, dataset, pads))
        _drop(warehouse)


def complete(
    warehouse: Warehouse, dataset: Dataset, written: Sequence[str], receipt: Receipt
) -> Receipt:
    """Have the file rebuilt, and say in the receipt what copies are left beside it.

    Where the file cannot be rebuilt, the receipt has the command that does it.

    Args:
        warehouse: without a transaction.
        dataset: whose cases.
        written: their ids, as they were given.
        receipt: of their erasure.

    Raises:
        WarehouseError: it cannot be rebuilt for now; the cases are forgotten all the same.
    """
    if not receipt.dry_run:
        receipt = _with_rebuilt(warehouse, receipt)
    with warehouse.guarded():
        cases = _read_ids(warehouse, dataset, written)
        return replace(receipt, copies=copies_with(warehouse, dataset, cases))


def _with_rebuilt(warehouse: Warehouse, receipt: Receipt) -> Receipt:
    if warehouse.path is None:
        return replace(receipt, commands=list(dict.fromkeys([*receipt.commands, REBUILD])))
    try:
        rebuild(warehouse)
    except WarehouseError as error:
        raise WarehouseError(f"the cases are forgotten, but {error}") from None
    return replace(receipt, rebuilt=True)
