"""A released view that shows more than the dataset schema lets out is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from oracles import clinic
from sqlglot import exp

from srsql import Engine
from srsql.engine.catalog.layout import Built
from srsql.engine.checks.lineage import check_lineage
from srsql.engine.errors import CheckFailedError
from srsql.engine.release.stages import tables as release_module
from srsql.engine.release.views import build_tables
from srsql.schemas import Dataset

QUARTER, SCHEMA = "2011q1", "release_2011q1"
TERMS = ("headache", "nausea", "fever")


@dataclass
class Case:
    """A released quarter and what its tables were built from."""

    engine: Engine
    dataset: Dataset
    built: list[Built]

    def check(self, built: list[Built] | None = None) -> int:
        warehouse = self.engine.warehouse
        return check_lineage(
            warehouse, self.dataset, SCHEMA, self.built if built is None else built
        )

    def item(self, name: str) -> Built:
        return next(item for item in self.built if item.name == name)

    def with_query(self, name: str, query: exp.Expression) -> list[Built]:
        """The same tables, one of them filled by another query."""
        assert isinstance(query, exp.Query)
        return [replace(i, query=query) if i.name == name else i for i in self.built]

    def view(self, name: str, select: str) -> None:
        store = f"srsql_data.{self.item(name).store}"
        self.engine.sql(f"CREATE OR REPLACE VIEW {SCHEMA}.{name} AS " + select.format(store=store))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("clinic")
    data = clinic.write(folder, clinic.visits(), clinic.findings(TERMS))
    with Engine(folder / "clinic.duckdb") as engine:
        engine.ingest([data], dataset=folder / "clinic.toml", period=QUARTER)
        yield engine


@pytest.fixture(scope="module")
def release(opened: Engine) -> Case:
    built: list[Built] = []

    def kept(*arguments: Any, **options: Any) -> list[Built]:
        built.extend(build_tables(*arguments, **options))
        return built

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_module, "build_tables", kept)
        opened.release(QUARTER, k=2, theta="1", seed=1)
    return Case(opened, opened.dataset("clinic"), built)


@pytest.fixture
def released(release: Case) -> Iterator[Case]:
    """The release; what a test does to its views is undone."""
    release.engine.sql("BEGIN TRANSACTION")
    yield release
    release.engine.sql("ROLLBACK")


@pytest.mark.slow
def test_every_column_of_an_honest_release_is_proved(released: Case) -> None:
    """visit: ids, quarter, age_low, age_high, sex, ward; finding: ids, two terms, their keys."""
    assert released.check() == 7 + 6


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("visit", "surname"),  # declared, not published
        ("visit", "age"),  # a raw QID
        ("visit", "sex"),
        ("visit", "srsql_age"),  # a raw QID as it was parsed
        ("visit", "visit_id"),  # the id behind the public one
        ("visit", "patient_id"),
        ("visit", "srsql_line"),  # the order of the file
        ("visit", "quarter"),
        ("finding", "physician"),
        ("finding", "visit_id"),
    ],
)
@pytest.mark.parametrize(
    "disguise", [False, True], ids=["in a computation", "under a published name"]
)
def test_a_table_filled_from_an_unpublished_column_is_refused(
    released: Case, name: str, shown: str, disguise: bool
) -> None:
    query = released.item(name).query.copy()
    alias = {"visit": "ward", "finding": "finding"}[name]
    source = exp.column(shown, table="t", quoted=True)
    for projection in query.selects:
        if projection.alias_or_name == alias:
            both = exp.func("coalesce", projection.unalias().copy(), source)
            projection.replace(exp.alias_(source if disguise else both, alias))
    with pytest.raises(CheckFailedError, match=f"would show '{shown}' of '{name}'"):
        released.check(released.with_query(name, query))


def test_a_group_number_is_not_shown(released: Case) -> None:
    query = released.item("visit").query.copy()
    for projection in query.selects:
        if projection.alias_or_name == "ward":
            projection.replace(exp.column("group_no", table="i", quoted=True).as_("ward"))
    with pytest.raises(CheckFailedError, match="would show 'group_no'"):
        released.check(released.with_query("visit", query))


def test_a_raw_qid_inside_a_computation_is_found(released: Case) -> None:
    query = released.item("visit").query.copy()
    for projection in query.selects:
        if projection.alias_or_name == "age_low":
            raw = exp.column("age", table="t", quoted=True)
            projection.replace(exp.Add(this=projection.copy(), expression=raw).as_("age_low"))
    with pytest.raises(CheckFailedError, match="would show 'age' of 'visit'"):
        released.check(released.with_query("visit", query))


def test_a_raw_qid_inside_a_subquery_is_found(released: Case) -> None:
    query = released.item("visit").query.copy()
    secret = exp.select("max(r.age)").from_("raw_clinic.visit AS r").subquery()
    for projection in query.selects:
        if projection.alias_or_name == "ward":
            projection.replace(secret.as_("ward"))
    with pytest.raises(CheckFailedError):
        released.check(released.with_query("visit", query))


def test_a_child_may_not_show_the_published_column_of_another_table(released: Case) -> None:
    query = released.item("finding").query.copy()
    query = query.join("raw_clinic.visit AS w", on="w.visit_id = t.visit_id")
    for projection in query.selects:
        if projection.alias_or_name == "finding":
            projection.replace(exp.column("ward", table="w").as_("finding"))
    with pytest.raises(CheckFailedError, match="would show 'ward' of 'visit'"):
        released.check(released.with_query("finding", query))


def test_a_view_with_a_column_its_table_was_not_built_with_is_refused(released: Case) -> None:
    store = released.item("visit").store
    released.engine.sql(f"ALTER TABLE srsql_data.{store} ADD COLUMN surname VARCHAR")
    released.view("visit", "SELECT t.visit_id, t.surname FROM {store} AS t")
    with pytest.raises(CheckFailedError, match="'surname' cannot be traced"):
        released.check()


@pytest.mark.parametrize(
    "select",
    [
        "SELECT t.visit_id, upper(t.ward) AS ward FROM {store} AS t",
        "SELECT t.visit_id, t.age_low + 1 AS age_low FROM {store} AS t",
        "SELECT t.visit_id, 'secret' AS ward FROM {store} AS t",
        "SELECT t.visit_id, row_number() OVER () AS ward FROM {store} AS t",
        "SELECT * FROM {store} AS t",
    ],
    ids=["function", "arithmetic", "literal", "window", "star"],
)
def test_a_view_that_computes_a_column_is_refused(released: Case, select: str) -> None:
    released.view("visit", select)
    with pytest.raises(CheckFailedError, match=r"visit (computes a column|does not read)"):
        released.check()


@pytest.mark.parametrize(
    "select",
    [
        "SELECT r.visit_id, r.ward FROM raw_clinic.visit AS r",
        "SELECT t.visit_id, t.ward FROM {store} AS t JOIN raw_clinic.visit AS r USING (visit_id)",
        "SELECT t.visit_id, t.ward FROM {store} AS t, srsql.member AS m",
        "SELECT t.visit_id, t.ward FROM {store} AS t WHERE t.ward IN "
        "(SELECT m.case_id FROM srsql.member AS m)",
        "SELECT t.visit_id, t.ward FROM {store} AS t UNION ALL "
        "SELECT r.visit_id, r.ward FROM raw_clinic.visit AS r",
        "WITH r AS (SELECT * FROM raw_clinic.visit) SELECT r.visit_id, r.ward FROM r",
        "SELECT t.visit_id, t.ward FROM srsql_data.release_1_finding AS f, {store} AS t",
    ],
    ids=["raw", "join", "product", "filter", "union", "cte", "another release table"],
)
def test_a_view_that_reads_a_second_table_is_refused(released: Case, select: str) -> None:
    released.view("visit", select)
    with pytest.raises(CheckFailedError, match="does not read its own table alone"):
        released.check()


def test_a_release_whose_tables_show_a_secret_is_rolled_back_whole(
    opened: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaking(*arguments: Any, **options: Any) -> list[Built]:
        built = build_tables(*arguments, **options)
        (release,) = arguments
        warehouse, number = release.warehouse, release.release_id
        query = built[0].query.copy().select('"t"."surname" AS "surname"')
        warehouse.run(
            f"CREATE OR REPLACE TABLE srsql_data.release_{number}_visit AS {query.sql('duckdb')}"
        )
        return [replace(built[0], query=query), *built[1:]]

    monkeypatch.setattr(release_module, "build_tables", leaking)
    before = _catalog(opened)
    with pytest.raises(CheckFailedError, match=r"release_other_2011q1\.visit would show 'surname'"):
        opened.release(QUARTER, k=2, theta="1", seed=1, series="other", allow_linkable=True)
    assert _catalog(opened) == before


def _catalog(engine: Engine) -> list[Any]:
    queries = (
        "SELECT release_id, series FROM srsql.release ORDER BY ALL",
        "SELECT dataset, series FROM srsql.series ORDER BY ALL",
        "SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL",
        "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
        "SELECT schema_name FROM duckdb_schemas() ORDER BY ALL",
    )
    return [engine.sql(query) for query in queries]
