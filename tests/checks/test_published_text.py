"""Published texts: the check finds what one value of one record would not hold, and refuses it.

A release under test has a text of its rows changed after it was made, as a fault of ingestion or of
its making would.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.examples import REPEATABLE
from oracles.published_text import breaks_a_line, with_ids_of_others
from support.artifacts import manifest_of
from support.quarters import Report, crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.format import Column, Manifest, Table
from srsql.engine.artifact.verify.texts import text_check
from srsql.engine.catalog.layout import Built
from srsql.engine.catalog.releases import Release
from srsql.engine.checks import Evidence, published_text
from srsql.engine.errors import (
    CheckFailedError,
    PublishedIdError,
    ReleaseError,
    UnsafeArtifactError,
)
from srsql.engine.release.stages import tables as filling
from srsql.schemas import parse_dataset

pytestmark = pytest.mark.slow

QUARTER = "2011Q3"
OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "1", "seed": 1}
SOME = settings(REPEATABLE, max_examples=120)
MOST = 12
TOML = """
name = "notes"
report_table = "rep"
report_id = "rid"
case_id = "cid"
id_type = "{kind}"
[source]
reader = "csv"
[tables.rep]
files = ["rep.csv"]
columns = ["rid", "cid", "sex"]
[tables.kid]
files = ["kid.csv"]
columns = ["rid", "cid", "note"]
publish = ["note"]
max_length = {{ note = 12 }}
[[qid]]
name = "sex"
kind = "categorical"
column = "sex"
hierarchy = "hierarchies/sex.csv"
[[sensitive]]
table = "kid"
column = "note"
"""
numbers = st.sampled_from(["123456", "1234567", "123457", "12345", "-654321", "99999999"])
words = st.sampled_from(["ab-1234", "AB 1234", "#abcdef", "abcde", "x.y.zz9", "ÄBCDEF", "9-9-9-9"])
separators = st.sampled_from(["", " ", "-", "/", "a", "7", "0", "é", "_", "\n", "\x85", "\u2028"])


def texts_of(ids: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pieces = st.one_of(ids, separators, st.text(alphabet="ab1 -.", max_size=3))
    return st.lists(pieces, min_size=1, max_size=4).map("".join).filter(bool)


Note = tuple[str, str, str]
"""A text with the report and the case of its row."""


def notes_of(ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[Note]]:
    return st.lists(st.tuples(texts_of(ids), ids, ids), max_size=6)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with duckdb.connect() as con:
        yield Engine(con)


def load(engine: Engine, kind: str, notes: Sequence[Note], source: Sequence[str]) -> Release:
    """A release with these notes in a warehouse with the reports ``source``."""
    con, of = engine.con, "BIGINT" if kind == "integer" else "VARCHAR"
    for schema in ("raw_notes", "release_q"):
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    con.execute(f"CREATE OR REPLACE TABLE raw_notes.rep (rid {of}, cid {of}, quarter VARCHAR)")
    con.execute(f"CREATE OR REPLACE TABLE release_q.kid (rid {of}, cid {of}, note VARCHAR)")
    for each in source:
        con.execute("INSERT INTO raw_notes.rep VALUES (?, ?, 'q')", [each, each])
    for note, report, case in notes:
        con.execute("INSERT INTO release_q.kid VALUES (?, ?, ?)", [report, case, note])
    dataset = parse_dataset(TOML.format(kind=kind), Path("."))
    return Release(engine.warehouse, dataset, dataset, 1, "main", "q", "release_q", 2)


def held(release: Release, *, keyed: bool) -> tuple[dict[str, int], set[str]]:
    """Kind of fault -> texts that have it, as the check counts them; and the texts with ids."""
    shown = published_text.text_columns(release)
    queries = {
        name: query.sql("duckdb")
        for name, query in published_text.held_ids(release, shown, keyed=keyed).items()
    }
    names = [f"'{published_text.TEXTS}'", f"'{published_text.HELD}'"]
    rows = Evidence(release).ask("check_text", *names, tables=queries)
    found = {str(row[2]).rpartition(": ")[2]: int(row[3]) for row in rows}
    assert all(row[-1] is (row[3] == 0) for row in rows)
    totals = [row[4] for row in rows if "with an id" in row[2]]
    assert totals == [len(_texts(release))]
    parts = [f"{name} AS MATERIALIZED ({text})" for name, text in queries.items()]
    texts = release.warehouse.rows(
        f"WITH {', '.join(parts)} SELECT h.value FROM {published_text.HELD} AS h"
    )
    return found, {text for (text,) in texts}


def _texts(release: Release) -> set[str]:
    return {note for (note,) in release.warehouse.rows("SELECT note FROM release_q.kid")}


def due(
    notes: Sequence[Note], ids: Sequence[str], *, keyed: bool
) -> tuple[dict[str, int], set[str]]:
    texts = {note for note, _, _ in notes}
    others = with_ids_of_others([(note, own) for note, *own in notes], ids, keyed=keyed)
    return {
        "with a line end or control character": sum(map(breaks_a_line, texts)),
        "longer than declared": sum(len(text) > MOST for text in texts),
        "with an id of another report or case": len(others),
    }, others


@SOME
@given(notes=notes_of(numbers), source=st.lists(numbers, max_size=4), keyed=st.booleans())
def test_texts_are_judged_as_defined_where_ids_are_numbers(
    engine: Engine, notes: list[Note], source: list[str], keyed: bool
) -> None:
    assert held(load(engine, "integer", notes, source), keyed=keyed) == due(
        notes, source, keyed=keyed
    )


@pytest.mark.thorough
@SOME
@given(notes=notes_of(words), source=st.lists(words, max_size=4), keyed=st.booleans())
def test_texts_are_judged_as_defined_where_ids_are_texts(
    engine: Engine, notes: list[Note], source: list[str], keyed: bool
) -> None:
    assert held(load(engine, "text", notes, source), keyed=keyed) == due(notes, source, keyed=keyed)


@given(text=st.text(max_size=3))
def test_a_line_is_broken_by_what_is_no_sign_of_a_line(sql: Any, text: str) -> None:
    assert sql.rows("SELECT srsql.breaks_line(?)", [text]) == [(breaks_a_line(text),)]


def test_every_control_character_breaks_a_line(sql: Any) -> None:
    signs = [chr(code) for code in range(0x3000)]
    found = sql.rows("SELECT s FROM (SELECT unnest(?) AS s) WHERE srsql.breaks_line(s)", [signs])
    assert {sign for (sign,) in found} == set(filter(breaks_a_line, signs))


def manifest_of_notes(kind: str) -> Manifest:
    of = "BIGINT" if kind == "integer" else "VARCHAR"
    ids = (
        Column(name="rid", type=of, role="report id"),
        Column(name="cid", type=of, role="case id"),
    )
    note = Column(name="note", type="VARCHAR", role="sensitive", max_length=MOST)
    tables = (("rep", ids), ("kid", (*ids, note)))
    return Manifest.model_construct(
        report_table="rep",
        parameters={},
        tables=tuple(
            Table(name=name, file=f"{name}.csv", rows=0, content_sha256="0" * 64, columns=columns)
            for name, columns in tables
        ),
    )


@pytest.mark.thorough
@SOME
@given(data=st.data(), kind=st.sampled_from(["integer", "text"]))
def test_an_artifact_is_judged_as_defined_by_the_ids_that_it_publishes(
    data: st.DataObject, kind: str
) -> None:
    ids = numbers if kind == "integer" else words
    notes = data.draw(notes_of(ids))
    of = "BIGINT" if kind == "integer" else "VARCHAR"
    with duckdb.connect() as con:
        con.execute(f"CREATE TEMP TABLE srsql_loaded_rep (rid {of}, cid {of})")
        con.execute(f"CREATE TEMP TABLE srsql_loaded_kid (rid {of}, cid {of}, note VARCHAR)")
        for note, report, case in notes:
            con.execute("INSERT INTO srsql_loaded_rep VALUES (?, ?)", [report, case])
            con.execute("INSERT INTO srsql_loaded_kid VALUES (?, ?, ?)", [report, case, note])
        found, accepted = text_check(con, manifest_of_notes(kind))
    known = [each for _, *own in notes for each in own]
    short = {note for note, _, _ in notes if len(note) <= MOST}
    counts, others = due(notes, known, keyed=False)
    texts = {
        "a line end or another control character": counts["with a line end or control character"],
        f"more than {MOST} characters": counts["longer than declared"],
        "the id of another report or case": len(others & short),  # others are a fault already
    }
    assert accepted == 0
    assert sorted(found.faults) == sorted(
        f"kid.note: {number} text(s) {'of' if what.startswith('more') else 'with'} {what}"
        for what, number in texts.items()
        if number
    )
    # ids of the type text are texts themselves
    ids_of_rows = {id_ for _, *own in notes for id_ in own} if kind == "text" else set()
    columns = 4 if kind == "text" else 0
    assert found.total >= len({note for note, _, _ in notes})
    assert found.total <= len({note for note, _, _ in notes}) + columns * len(ids_of_rows)


# --- releases of which a text is changed -------------------------------------------------------

OTHER = 20110005
"""A report id of another case."""


def reports() -> list[Report]:
    """Cases with ids of seven digits, and reports with ids of eight."""
    drugs = cycle(["Ada", "Bor", "Cis"])
    return [
        replace(each, caseid=2011000 + n, primaryid=20110000 + n, drugs=(next(drugs),))
        for n, each in enumerate(crowd(40))
    ]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loaded")
    with Engine(folder / "w.duckdb") as made:
        made.ingest([write_quarter(folder, QUARTER, reports())])
    return folder / "w.duckdb"


@pytest.fixture
def warehouse(loaded: Path, tmp_path: Path) -> Iterator[Engine]:
    target = tmp_path / "w.duckdb"
    target.write_bytes(loaded.read_bytes())
    with Engine(target) as opened:
        yield opened


Change = Callable[[list[Built]], list[str]]
"""Released tables -> statements that change a row of one of them."""


def changing(monkeypatch: pytest.MonkeyPatch, view: str, name: str, text: str) -> None:
    """Have every release that is made show a text in one row of a view."""

    def changing_what(build: Callable[..., list[Built]]) -> Callable[..., list[Built]]:
        def mutated(first: Any, *given: Any, **named: Any) -> list[Built]:
            tables = build(first, *given, **named)
            warehouse = first.warehouse if isinstance(first, Release) else first
            for store in [item.store for item in tables if item.name == view]:
                warehouse.run(
                    f"UPDATE srsql_data.{store} SET {name} = $text WHERE rowid = "
                    f"(SELECT max(t.rowid) FROM srsql_data.{store} AS t)",
                    {"text": text},
                )
            return tables

        return mutated

    for builder in ("build_tables", "build_term_tables", "build_rows"):
        monkeypatch.setattr(filling, builder, changing_what(getattr(filling, builder)))


MUTATIONS = [
    ("2011|B\n20110005|2011005|35", "drug.drugname: with a line end or control character"),
    ("B\u2028C", "drug.drugname: with a line end or control character"),
    ("B\x00", "drug.drugname: with a line end or control character"),
    ("B" * 501, "drug.drugname: longer than declared"),
    (f"B$F ${OTHER}$", f"texts of drug.drugname with an id of another report or case ({OTHER})"),
    ("B (2011005)", "texts of drug.drugname with an id of another report or case (2011005)"),
]


@pytest.mark.parametrize(("text", "said"), MUTATIONS)
@pytest.mark.parametrize("ids", ["original", "pseudonym"])
def test_a_release_whose_drug_name_was_changed_is_refused_and_nothing_is_left(
    warehouse: Engine, monkeypatch: pytest.MonkeyPatch, ids: str, text: str, said: str
) -> None:
    changing(monkeypatch, "drug", "drugname", text)
    with pytest.raises(CheckFailedError) as refused:
        warehouse.release(QUARTER, ids=ids, **OPTIONS)
    told = str(refused.value)
    assert said in told
    assert "nothing was released" in told
    assert len(told.splitlines()) == 1
    assert list(warehouse.sql("SELECT count(*) FROM srsql.release")) == [(0,)]


@pytest.mark.parametrize(
    ("options", "view", "name"),
    [
        ({"terms": "disassociate", "term_attributes": "all"}, "item_chunk", "term"),
        ({"terms": "disassociate"}, "item_chunk", "term"),
        ({"model": "full-domain", "informative": "pt", "dimensions": "sex"}, "released_rows", "pt"),
        ({"model": "cba"}, "term_nodes", "term"),
    ],
)
def test_terms_that_are_told_without_rows_are_looked_at_as_well(
    warehouse: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    view: str,
    name: str,
) -> None:
    changing(monkeypatch, view, name, f"PAIN {OTHER}")
    usual = {"model": "ms", "k": 3, "seed": 1, "theta": "1"} | options
    if view == "term_nodes":  # a term that is in no constraint is suppressed, and there is no node
        terms = warehouse.sql("SELECT DISTINCT indi_pt FROM raw_faers.indi")
        usual["policy"] = tmp_path / "policy.csv"
        usual["policy"].write_text("constraint,term\n" + "".join(f"all,{t}\n" for (t,) in terms))
    with pytest.raises(ReleaseError, match=rf"texts of {view}.{name} with an id of another"):
        warehouse.release(QUARTER, **usual)


def call_drug(warehouse: Engine, report: int, name: str) -> None:
    """Have the drugs of a report called so, and known by the key of that name."""
    warehouse.sql(
        "UPDATE raw_faers.drug SET drugname = ?, srsql_drugname = srsql.term_key(?::VARCHAR) "
        "WHERE primaryid = ?",
        [name, name, report],
    )


def test_a_text_with_the_ids_of_its_own_row_is_released_with_original_ids_alone(
    warehouse: Engine,
) -> None:
    call_drug(warehouse, OTHER, f"Ada {OTHER}")
    warehouse.release(QUARTER, ids="original", **OPTIONS)
    with pytest.raises(PublishedIdError, match=f"with an id of another report or case .{OTHER}"):
        warehouse.release(QUARTER, series="other", ids="pseudonym", **OPTIONS, allow_linkable=True)


def test_a_number_that_is_no_id_is_released_where_it_is_named_and_told_to_whoever_verifies(
    warehouse: Engine, tmp_path: Path
) -> None:
    """Codes with zeros in front are no ids; a number is, until somebody says that it is none."""
    names = {20110001: f"STUDY {OTHER}", 20110002: f"ATARAX /0{OTHER}/"}
    for report, name in names.items():
        call_drug(warehouse, report, name)
    with pytest.raises(PublishedIdError, match=rf"1 of \d+ texts .*give --not-ids {OTHER}$"):
        warehouse.release(QUARTER, ids="original", **OPTIONS)
    warehouse.release(QUARTER, ids="original", **OPTIONS, not_ids=f"{OTHER}", draft=True)
    made = warehouse.confirm(QUARTER)
    assert made.manifest["not_ids"] == [str(OTHER)]
    warehouse.publish(QUARTER, tmp_path / "out")
    assert manifest_of(tmp_path / "out")["parameters"]["not_ids"] == str(OTHER)
    found = verify(tmp_path / "out")
    assert found.passed
    assert [text for text in found.cannot_show if "1 number(s) in texts" in text] != []
    warehouse.publish(
        QUARTER, tmp_path / "keyed", case_ids="pseudonym", key_file=str(tmp_path / "key")
    )
    told = manifest_of(tmp_path / "keyed")
    assert "not_ids" not in json.dumps(told), "of pseudonyms no artifact tells ids of the source"


def test_a_release_of_an_earlier_version_with_such_a_text_is_not_published(
    warehouse: Engine, tmp_path: Path
) -> None:
    made = warehouse.release(QUARTER, **OPTIONS)
    warehouse.sql(
        f"UPDATE srsql_data.release_{made.release_id}_drug SET drugname = 'B {OTHER}' "
        "WHERE rowid = 3"
    )
    with pytest.raises(UnsafeArtifactError, match=r"was not published: 1 of .*drugname with"):
        warehouse.publish(QUARTER, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_longer_text_is_released_and_verified_where_its_length_is_declared(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "kid.csv").write_text(
        "rid,cid,note\n" + "".join(f"{n},{n},{'x' * (600 + n % 2)}\n" for n in range(1, 9))
    )
    (folder / "rep.csv").write_text(
        "rid,cid,sex\n" + "".join(f"{n},{n},{'MF'[n % 2]}\n" for n in range(1, 9))
    )
    with Engine(tmp_path / "w.duckdb") as engine:
        for most, passes in ((12, False), (601, True)):
            text = TOML.format(kind="integer").replace("note = 12", f"note = {most}")
            (tmp_path / "notes.toml").write_text(text)
            dataset = tmp_path / "notes.toml"
            engine.ingest([folder], dataset=dataset, period="2020", if_needed=passes)
            options = OPTIONS | {"k": 2, "dataset": "notes"}
            if passes:
                engine.release("2020", **options)
            else:
                with pytest.raises(CheckFailedError, match=r"2 of 2 .kid.note: longer than decl"):
                    engine.release("2020", **options)
        engine.publish("2020", tmp_path / "out", dataset="notes")
    assert verify(tmp_path / "out").passed
    (kid,) = [t for t in manifest_of(tmp_path / "out")["tables"] if t["name"] == "kid"]
    assert [c.get("max_length") for c in kid["columns"]] == [None, None, 601, 601]
