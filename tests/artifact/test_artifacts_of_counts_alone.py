"""Artifacts of counts without rows of cases: in each format they pass, forged they do not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.artifacts import manifest_of, read_csv, rehash, tables_of, write_csv
from support.node import NODE, opened_in_node

from srsql import open_artifact, verify
from srsql.engine.api.engine import Engine
from srsql.engine.extras.synth import quarter_range, synthesize

pytestmark = pytest.mark.slow

Q1, Q2 = "2011Q1", "2011Q2"
FORMS = ("parquet", "csv", "duckdb")
REGION = ("age_low", "age_high", "wt_low", "wt_high", "sex")
Row = dict[str, Any]
Forge = Callable[[Path], None]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders by quarter and format, and the warehouse; not to be changed."""
    folder = tmp_path_factory.mktemp("published")
    synthesize(folder / "raw", quarter_range(Q1, Q2), cases=500, seed=5)
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(sorted((folder / "raw").iterdir()))
        engine.release.make(Q1, model="tables", k=3, theta="0.4", seed=1)
        engine.release.make(Q2)
        for form in FORMS:
            engine.artifact.publish(Q1, folder / f"{Q1}-{form}", format=form)
            engine.artifact.publish(f"{Q1}:{Q2}", folder / f"both-{form}", format=form)
        engine.artifact.publish(Q2, folder / f"{Q2}-csv", format="csv")
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_an_artifact_passes_and_has_no_id_and_no_row_of_a_case(published: Path, form: str) -> None:
    for folder in (published / f"{Q1}-{form}", published / f"both-{form}"):
        verified = verify(folder)
        assert verified.passed
        assert {"regions", "bounds", "told units"} <= {check.name for check in verified.checks}
        assert any("no id is published" in text for text in verified.cannot_show)
    found = tables_of(published / f"{Q1}-{form}")
    assert list(found) == ["region_count", "stratum", "case_count", "item_count", "pair_count"]
    assert tuple(found["region_count"][0]) == (*REGION, "cases")
    with Engine(published / "w.duckdb", read_only=True) as engine:
        due = engine.sql("SELECT sum(cases), count(*) FROM release_2011q1.region_count")
    cases = [int(row["cases"]) for row in found["region_count"]]
    assert due == [(sum(cases), len(cases))]
    assert not (published / f"{Q1}-{form}" / "report.html").exists()


def test_quarters_together_promise_nothing_of_ids(published: Path) -> None:
    together = verify([published / f"{Q1}-csv", published / f"{Q2}-csv"])
    assert together.passed
    assert not any("ids that were made anew" in text for text in together.cannot_show)


@pytest.mark.parametrize("form", FORMS)
def test_signals_of_an_artifact_are_those_of_the_warehouse(published: Path, form: str) -> None:
    with (
        Engine(published / "w.duckdb", read_only=True) as engine,
        open_artifact(published / f"{Q1}-{form}") as artifact,
    ):
        ours = engine.signals.find(every_pair=True, quarter=Q1, released_only=True)
        theirs = artifact.signals(every_pair=True, quarter=Q1)
        assert len(ours.signals) > 5
        assert theirs.signals == ours.signals


def change(folder: Path, name: str, by: Callable[[list[Row]], list[Row] | None]) -> None:
    """Change the rows of a table, which then are in order."""
    rows: list[Row] = [dict(row) for row in read_csv(folder, name)]
    rows = by(rows) or rows
    rows.sort(key=lambda row: [(v is None, (v or "").encode() if n in ("sex", "stratum")
                                else float(v or 0)) for n, v in row.items()])  # fmt: skip
    write_csv(folder, name, rows)


def told(folder: Path, by: Callable[[dict[str, Any]], object]) -> None:
    manifest = manifest_of(folder)
    by(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def total(folder: Path, more: int) -> None:
    """The manifest tells so many cases more."""
    for name in ("released_cases", "released_reports"):
        told(folder, lambda m, name=name: m["counts"].update({name: m["counts"][name] + more}))


def a_region_below_k(folder: Path) -> None:
    gone = int(str(read_csv(folder, "region_count")[0]["cases"])) - 2
    change(folder, "region_count", lambda rows: rows[0].update(cases="2"))
    total(folder, -gone)


def a_region_told_twice(folder: Path) -> None:
    def twice(rows: list[Row]) -> list[Row]:
        large = next(row for row in rows if int(row["cases"]) >= 6)
        half = dict(large) | {"cases": "3"}
        large["cases"] = str(int(large["cases"]) - 3)
        return [*rows, half]

    change(folder, "region_count", twice)


def a_region_left_out(folder: Path) -> None:
    change(folder, "region_count", lambda rows: rows[1:])


def more_cases_in_a_region(folder: Path) -> None:
    """The manifest agrees; strata do not."""
    change(
        folder, "region_count", lambda rows: rows[0].update(cases=str(int(rows[0]["cases"]) + 1))
    )
    total(folder, 1)


def more_cases_in_the_manifest(folder: Path) -> None:
    total(folder, 1)


def fewer_cases_than_reports(folder: Path) -> None:
    told(folder, lambda m: m["counts"].update(released_reports=m["counts"]["released_reports"] + 1))


def cases_that_no_region_has(folder: Path) -> None:
    change(folder, "case_count", lambda rows: rows[0].update(cases=str(int(rows[0]["cases"]) + 1)))


def an_age_beyond_the_domain(folder: Path) -> None:
    def old(rows: list[Row]) -> None:
        row = next(r for r in rows if r["age_low"] and float(r["age_low"]) >= 65)
        row["age_high"] = "900"

    change(folder, "region_count", old)


def a_sex_of_no_hierarchy(folder: Path) -> None:
    change(folder, "region_count", lambda rows: rows[0].update(sex="X"))


def rows_in_an_order_that_tells(folder: Path) -> None:
    write_csv(folder, "region_count", read_csv(folder, "region_count")[::-1])


def a_larger_k_of_groups(folder: Path) -> None:
    told(folder, lambda m: m["parameters"].update(k_effective=4))


def an_item_beside_a_region(folder: Path) -> None:
    column = {"name": "pt", "type": "VARCHAR", "role": "sensitive", "attribute": None}
    told(folder, lambda m: m["tables"][0]["columns"].insert(0, column))
    write_csv(
        folder, "region_count", [{"pt": "zzterm", **r} for r in read_csv(folder, "region_count")]
    )


def ids_beside_a_region(folder: Path) -> None:
    column = {"name": "caseid", "type": "BIGINT", "role": "case id", "attribute": None}
    told(folder, lambda m: m["tables"][0]["columns"].insert(0, column))
    rows = read_csv(folder, "region_count")
    write_csv(folder, "region_count", [{"caseid": str(n), **r} for n, r in enumerate(rows)])


def rows_of_cases_smuggled_in(folder: Path) -> None:
    """A report table beside the counts of regions."""
    ids = [{"name": n, "type": "BIGINT", "role": role, "attribute": None}
           for n, role in (("primaryid", "report id"), ("caseid", "case id"))]  # fmt: skip
    period = {"name": "quarter", "type": "VARCHAR", "role": "period", "attribute": None}

    def more(manifest: dict[str, Any]) -> None:
        (of,) = (t for t in manifest["tables"] if t["name"] == "region_count")
        columns = [*ids, period, *of["columns"][:-1]]
        manifest["tables"].append(dict(of) | {"name": "demo", "file": "demo.csv",
                                              "columns": columns})  # fmt: skip

    told(folder, more)
    rows = [{n: r[n] for n in REGION} for r in read_csv(folder, "region_count")]
    write_csv(folder, "demo", [{"primaryid": str(n), "caseid": str(n), "quarter": Q1, **r}
                               for n, r in enumerate(rows)])  # fmt: skip


def rows_in_the_place_of_counts(folder: Path) -> None:
    """As the model with rows would publish them, under the name of this one."""
    rows_of_cases_smuggled_in(folder)

    def only(manifest: dict[str, Any]) -> None:
        manifest["tables"] = [t for t in manifest["tables"] if t["name"] != "region_count"]
        manifest["report_table"] = "demo"

    told(folder, only)
    (folder / "region_count.csv").unlink()


def rows_are_said_to_be_there(folder: Path) -> None:
    told(folder, lambda m: m["parameters"].pop("rows_of_cases"))


def another_model(folder: Path) -> None:
    told(folder, lambda m: m.update(model="ms"))


def no_claim_of_counts(folder: Path) -> None:
    told(folder, lambda m: m.update(counted=None))


def tables_of_another_quarter(folder: Path) -> None:
    for name in ("case_count", "item_count", "pair_count"):
        shutil.copy(folder.parent / "other" / f"{name}.csv", folder / f"{name}.csv")
    shutil.copy(folder.parent / "other" / "value-thresholds.csv", folder / "value-thresholds.csv")


FORGERIES: list[tuple[Forge, str]] = [
    (a_region_below_k, "regions"),
    (a_region_told_twice, "regions"),
    (a_region_left_out, "regions"),
    (more_cases_in_the_manifest, "regions"),
    (fewer_cases_than_reports, "regions"),
    (rows_in_an_order_that_tells, "regions"),
    (a_larger_k_of_groups, "regions"),
    (more_cases_in_a_region, "told units"),
    (cases_that_no_region_has, "told units"),
    (tables_of_another_quarter, "told units"),
    (an_age_beyond_the_domain, "bounds"),
    (a_sex_of_no_hierarchy, "bounds"),
    (an_item_beside_a_region, "manifest"),
    (ids_beside_a_region, "manifest"),
    (rows_of_cases_smuggled_in, "manifest"),
    (rows_in_the_place_of_counts, "manifest"),
    (rows_are_said_to_be_there, "manifest"),
    (another_model, "manifest"),
    (no_claim_of_counts, "manifest"),
]
NOT_OF_THE_PAGE = {"rows_in_an_order_that_tells"}
"""The page does not judge the order of rows of counts."""


@pytest.fixture
def forged(published: Path, tmp_path: Path) -> Path:
    shutil.copytree(published / f"{Q1}-csv", tmp_path / "forged")
    (tmp_path / "other").symlink_to(published / f"{Q2}-csv")
    return tmp_path / "forged"


@pytest.mark.parametrize(("forge", "check"), FORGERIES, ids=lambda v: getattr(v, "__name__", v))
def test_a_forged_artifact_is_refused_by_the_check_that_sees_it(
    forged: Path, forge: Forge, check: str
) -> None:
    forge(forged)
    rehash(forged, counts=True, series=manifest_of(forged)["series"])
    faults = {each.name for each in verify(forged).checks if each.faults}
    assert check in faults
    if check not in ("manifest", "told units"):
        assert faults <= {check, "told units", "ways out"}


@pytest.mark.skipif(NODE is None, reason="no node on PATH")
def test_the_page_passes_artifacts_alone_and_several(published: Path, tmp_path: Path) -> None:
    for name in (f"{Q1}-csv", "both-csv"):
        told = opened_in_node(tmp_path, published / name)
        assert told["passed"], told
        assert {"regions", "told units", "bounds"} <= {check["name"] for check in told["checks"]}
        assert any("no id is published" in text for text in told["notShown"])


@pytest.mark.skipif(NODE is None, reason="no node on PATH")
@pytest.mark.parametrize(
    ("forge", "check"),
    [each for each in FORGERIES if each[0].__name__ not in NOT_OF_THE_PAGE],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_the_page_refuses_a_forged_artifact(
    forged: Path, tmp_path: Path, forge: Forge, check: str
) -> None:
    forge(forged)
    rehash(forged, counts=True, series=manifest_of(forged)["series"])
    told = opened_in_node(tmp_path, forged)
    assert not told["passed"]
    assert check in {each["name"] for each in told["checks"] if each["count"]}
