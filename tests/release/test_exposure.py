"""What is told and refused before a release is exposed: links to others, weaker terms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.quarters import crowd, write_quarter
from support.released import content, schemas

from srsql.engine.api.engine import Engine
from srsql.engine.errors import LinkableError, ReleaseError
from srsql.engine.release.exposure import is_correction

pytestmark = pytest.mark.thorough

OPTIONS: dict[str, Any] = {"model": "ms", "k": 3, "theta": "0.5", "seed": 1}
LINKS = r"link one to one to another release .*--max-linkable 0.05.*--allow-linkable"


@pytest.fixture
def loaded(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    """2011Q3 with cases 1-40, each of which has a reaction of its own, out in the series main."""
    reports = [replace(r, pt=(f"Of case {r.caseid}",), indi=()) for r in crowd(40)]
    target = copied(kept / "exposure", tmp_path / "w.duckdb", {"2011Q3": reports})
    with Engine(target) as engine:
        engine.release("2011Q3", **OPTIONS, ids="original")
        yield engine


def unchanged(engine: Engine, options: dict[str, Any], error: type[Exception], text: str) -> None:
    before = content(engine.con)
    with pytest.raises(error, match=text):
        engine.release("2011Q3", **OPTIONS | options)
    assert content(engine.con) == before


def test_a_second_series_that_links_is_refused_and_nothing_changes(loaded: Engine) -> None:
    unchanged(loaded, {"series": "journal"}, LinkableError, LINKS)
    made = loaded.release("2011Q3", **OPTIONS, series="journal", allow_linkable=True)
    assert [(row.scope, row.violating, row.total) for row in made.links] == [
        ("series main", 40.0, 40.0)
    ]
    assert made.manifest["metrics"]["linkable (series main)"] == 1


def test_the_limit_is_a_share_of_the_rows(loaded: Engine) -> None:
    made = loaded.release("2011Q3", **OPTIONS, series="journal", max_linkable="1")
    assert made.status == "released"
    unchanged(loaded, {"series": "other", "max_linkable": "39/40"}, LinkableError, "40 of 40")
    for wrong in ("0", "1.1", "many"):
        with pytest.raises(ReleaseError, match="--max-linkable"):
            loaded.release("2011Q3", **OPTIONS, series="third", max_linkable=wrong)


def test_a_version_that_regroups_needs_a_yes_and_one_that_changes_nothing_does_not(
    loaded: Engine,
) -> None:
    unchanged(loaded, {"supersede": True, "seed": 9}, LinkableError, LINKS)
    again = loaded.release("2011Q3", **OPTIONS, supersede=True)
    assert [(row.scope, row.violating) for row in again.links] == [
        ("earlier version (release 1)", 40.0)
    ]


def test_a_version_that_takes_whole_groups_out_is_a_correction(loaded: Engine) -> None:
    group = loaded.sql(
        "SELECT list(m.case_id::BIGINT) FROM srsql.member AS m GROUP BY m.group_id "
        "ORDER BY min(m.case_id::BIGINT) LIMIT 1"
    )[0][0]
    stores = [
        store
        for (store,) in loaded.sql(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'srsql_data' "
            "AND table_name LIKE 'release_1_%'"
        )
    ]

    def version(number: int, gone: list[int]) -> bool:
        """Copy release 1 without these cases as another one; whether it is a correction."""
        marks = ", ".join(map(str, gone))
        for store in stores:
            name = store.removeprefix("release_1_")
            where = "" if name == "manifest" else f" WHERE caseid NOT IN ({marks})"
            loaded.con.execute(
                f"CREATE TABLE srsql_data.release_{number}_{name} AS FROM srsql_data.{store}{where}"
            )
        loaded.con.execute(
            f"INSERT INTO srsql.member SELECT * REPLACE ({number} AS release_id) "
            f"FROM srsql.member WHERE release_id = 1 AND case_id::BIGINT NOT IN ({marks})"
        )
        return is_correction(loaded.warehouse, number, 1)

    assert version(101, group)
    assert not version(102, group[:1])  # a group that lost a case would stay
    assert not is_correction(loaded.warehouse, 1, 101)  # cases would be added
    loaded.con.execute("UPDATE srsql_data.release_101_demo SET age_high = age_high + 1")
    assert not is_correction(loaded.warehouse, 101, 1)  # a region would be wider


def test_a_draft_is_told_of_and_refused_when_it_is_to_be_exposed(loaded: Engine) -> None:
    draft = loaded.release("2011Q3", **OPTIONS, series="journal", draft=True)
    assert [row.scope for row in draft.links] == ["series main"]
    with pytest.raises(LinkableError, match=LINKS):
        loaded.confirm("2011Q3", series="journal")
    assert schemas(loaded.con) == {"release_2011q3", "draft_journal_2011q3"}
    made = loaded.confirm("2011Q3", series="journal", allow_linkable=True)
    assert (made.status, made.links[0].violating) == ("released", 40.0)


def test_publishing_a_quarter_that_two_series_hold_needs_the_yes_again(
    loaded: Engine, tmp_path: Path
) -> None:
    loaded.release("2011Q3", **OPTIONS, series="journal", allow_linkable=True)
    for series in ("main", "journal"):
        with pytest.raises(LinkableError, match=LINKS):
            loaded.publish("2011Q3", tmp_path / series, series=series)
        assert not (tmp_path / series).exists()
        made = loaded.publish("2011Q3", tmp_path / series, series=series, allow_linkable=True)
        assert [row.violating for row in made.links] == [40.0]


WEAKER = [
    ({"k": 2}, "k 2, was 3"),
    ({"theta": "0.6"}, r"theta of OF CASE 1 3/5, was 1/2; .*and theta of 37 more values"),
]


@pytest.mark.parametrize(("options", "said"), WEAKER)
def test_a_version_with_weaker_terms_is_refused_unless_it_is_meant(
    loaded: Engine, options: dict[str, Any], said: str
) -> None:
    weaker = {**options, "supersede": True, "allow_linkable": True, "change": True}
    unchanged(loaded, weaker, ReleaseError, "promises less .*--weaker")
    made = loaded.release("2011Q3", **OPTIONS | weaker, weaker=True)
    assert re.match(said, "; ".join(made.weaker))
    again = OPTIONS | {"supersede": True, "allow_linkable": True, "change": True}
    assert loaded.release("2011Q3", **again).weaker == []


def test_a_draft_with_weaker_terms_is_refused_when_it_is_to_be_exposed(loaded: Engine) -> None:
    options = OPTIONS | {"k": 2, "supersede": True}
    assert loaded.release("2011Q3", **options, draft=True).weaker == ["k 2, was 3"]
    with pytest.raises(ReleaseError, match="k 2, was 3"):
        loaded.confirm("2011Q3", allow_linkable=True)
    with pytest.raises(ReleaseError, match=r"has other parameters \(k 2, was 3\)"):
        loaded.confirm("2011Q3", allow_linkable=True, weaker=True)
    made = loaded.confirm("2011Q3", allow_linkable=True, weaker=True, change=True)
    assert (made.status, made.weaker) == ("released", ["k 2, was 3"])


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"model": "alpha-k", "alpha": "0.5"}, {"model": "alpha-k", "alpha": "0.6"},
         "alpha 3/5, was 1/2"),
        ({"model": "l-diversity", "l": 3}, {"model": "l-diversity", "l": 2}, "values 2, was 3"),
        ({"model": "msdp-num", "epsilon": "1"}, {"model": "msdp-num", "epsilon": "2"},
         "epsilon of wt 2, was 1"),
        ({"model": "msdp-all", "epsilon": "3"}, {"model": "msdp-num", "epsilon": "1"},
         "epsilon of age none, was 1; epsilon of sex none, was 1"),
        ({"model": "disassociation", "m": 2}, {"model": "disassociation", "m": 1},
         "m of .* 1, was 2"),
        ({"model": "ipa", "epsilon": "1"}, {"model": "ipa", "epsilon": "2"}, "epsilon 2, was 1"),
    ],
)  # fmt: skip
def test_what_other_models_promise_is_compared_too(
    kept: Path, tmp_path: Path, first: dict[str, Any], second: dict[str, Any], said: str
) -> None:
    yes: dict[str, Any] = {"supersede": True, "allow_linkable": True, "change": True}
    with Engine(copied(kept / "sixty", tmp_path / "w.duckdb", {"2011Q3": crowd(60)})) as engine:
        engine.release("2011Q3", k=3, seed=1, **first)
        draft = engine.release("2011Q3", k=3, seed=1, **second, **yes, draft=True)
        assert re.fullmatch(said, "; ".join(draft.weaker))
        with pytest.raises(ReleaseError, match=f"promises less .{said}.: give"):
            engine.confirm("2011Q3", allow_linkable=True, change=True)
        assert engine.release("2011Q3", k=3, seed=1, **second, **yes, weaker=True).weaker


def test_the_same_files_under_another_dataset_link_by_every_case_that_both_show(
    tmp_path: Path,
) -> None:
    source = write_quarter(tmp_path, "2011Q3", crowd(60))
    other = write_quarter(tmp_path / "other", "2011Q3", crowd(40, first=31))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([source])
        engine.ingest([source], dataset="faers-wide")
        engine.release("2011Q3", dataset="faers", **OPTIONS)
        before = content(engine.con)
        with pytest.raises(LinkableError, match=r"60 of 60 .*dataset faers, series main: 60"):
            engine.release("2011Q3", dataset="faers-wide", **OPTIONS)
        assert content(engine.con) == before
        made = engine.release("2011Q3", dataset="faers-wide", **OPTIONS, allow_linkable=True)
        scope = "dataset faers, series main"
        assert [(row.scope, row.violating) for row in made.links] == [(scope, 60.0)]
        told = engine.metrics("2011Q3", dataset="faers")
        linked = [row for row in told if row.measure == "linkable"]
        assert [row.scope for row in linked] == ["dataset faers_wide, series main"]
    with Engine(tmp_path / "x.duckdb") as engine:  # the same ids are no link without a file
        engine.ingest([source])
        engine.ingest([other], dataset="faers-wide")
        engine.release("2011Q3", dataset="faers", **OPTIONS)
        assert engine.release("2011Q3", dataset="faers-wide", **OPTIONS).links == []
