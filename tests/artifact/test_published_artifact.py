"""What leaves the house is what was released, whole, in fresh files, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from artifact.conftest import HOSTILE, OPTIONS
from oracles import clinic
from oracles.term_key import term_key
from support.artifacts import (
    content_of,
    make,
    manifest_of,
    read_csv,
    tables_of,
    thresholds_of,
)
from support.quarters import crowd, write_quarter
from support.released import content, rows

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.errors import CheckFailedError, InfeasibleError, PublishError, VerifyError

pytestmark = pytest.mark.slow

FORMATS = ("parquet", "csv", "duckdb")


def view_rows(db: Path, schema: str, name: str) -> list[dict[str, Any]]:
    with Engine(db, read_only=True) as engine:
        return rows(engine.con, f'SELECT * FROM "{schema}"."{name}"')


def as_sorted(found: list[dict[str, Any]]) -> list[str]:
    """Comparable over formats: values as text."""
    return sorted(
        json.dumps({k: None if v is None else str(v) for k, v in row.items()}) for row in found
    )


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("ms", "parquet"),
        pytest.param("ms", "csv", marks=pytest.mark.thorough),
        pytest.param("ms", "duckdb", marks=pytest.mark.thorough),
        pytest.param("ppms++", "parquet", marks=pytest.mark.thorough),
    ],
)
def test_an_artifact_holds_the_rows_of_the_views_and_passes_its_verification(
    warehouses: dict[str, Path],
    kept_artifacts: dict[tuple[str, str], Path],
    model: str,
    form: str,
) -> None:
    folder = kept_artifacts[model, form]
    found = verify(folder)
    assert found.passed
    assert {check.name for check in found.checks} >= {"files", "content", "k", "theta", "bounds"}
    published = tables_of(folder)
    assert list(published) == ["demo", "drug", "reac", "indi", "outc"]
    for name, table in published.items():
        assert as_sorted(table) == as_sorted(view_rows(warehouses[model], "release_2011q3", name))
        ids = [int(row["primaryid"]) for row in table]
        assert ids == sorted(ids)


@pytest.mark.thorough
def test_the_three_formats_have_the_same_content(
    kept_artifacts: dict[tuple[str, str], Path],
) -> None:
    digests = {
        tuple(t["content_sha256"] for t in manifest_of(kept_artifacts["ms", form])["tables"])
        for form in FORMATS
    }
    (only,) = digests
    for form in FORMATS:
        assert only == tuple(content_of(t) for t in tables_of(kept_artifacts["ms", form]).values())


def test_terms_that_a_careless_writer_loses_survive_in_csv(
    kept_artifacts: dict[tuple[str, str], Path],
) -> None:
    assert {row["pt"] for row in read_csv(kept_artifacts["ms", "csv"], "reac")} >= set(HOSTILE)


@pytest.mark.thorough
def test_terms_that_look_the_same_are_one_value_and_keep_their_spellings(tmp_path: Path) -> None:
    spellings = ("Crème brûlée", "cre\u0300me bru\u0302le\u0301e", "Cr\u200bème\u2060 brûlée\ufeff")
    reports = crowd(40)
    reports[:30] = [
        replace(report, pt=(*report.pt, spellings[n % 3])) for n, report in enumerate(reports[:30])
    ]
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", reports)])
        with pytest.raises(InfeasibleError, match="'Crème brûlée' in 30 of 40 cases"):
            engine.release("2011Q3", model="ms", **OPTIONS)
        engine.release("2011Q3", model="ms", **OPTIONS | {"theta": "0.9"})
        engine.publish("2011Q3", tmp_path / "out", format="csv")
    assert [v for v in thresholds_of(tmp_path / "out") if "BR" in v] == ["CRÈME BRÛLÉE"]
    shown = {row["pt"] for row in read_csv(tmp_path / "out", "reac")}
    assert shown >= {text.strip("\ufeff") for text in spellings[:2]}
    assert any("\u200b" in str(text) for text in shown)


def test_the_manifest_tells_what_is_public_and_thresholds_of_released_values_only(
    warehouses: dict[str, Path], kept_artifacts: dict[tuple[str, str], Path]
) -> None:
    folder = kept_artifacts["ms", "parquet"]
    told = manifest_of(folder)
    assert (told["model"], told["k"], told["quarter"]) == ("ms", 3, "2011Q3")
    assert told["counts"] == {
        "released_cases": 60,
        "released_reports": 60,
        "withheld_cases": 1,
        "withheld_reports": 1,
    }
    assert "shared by at least 3 distinct cases" in told["guarantee"]
    shown = {term_key(row["pt"]) for row in tables_of(folder)["reac"]}
    shown |= {term_key(row["indi_pt"]) for row in tables_of(folder)["indi"]}
    assert set(thresholds_of(folder)) == shown
    assert set(thresholds_of(folder).values()) == {(1, 2)}


def test_the_hashes_are_those_that_sha256sum_computes(
    kept_artifacts: dict[tuple[str, str], Path],
) -> None:
    folder = kept_artifacts["ms", "csv"]
    listed = dict(
        reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    assert listed == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "SHA256SUMS"
    }


@pytest.mark.thorough
def test_the_same_release_makes_the_same_bytes_whatever_the_number_of_threads(
    warehouses: dict[str, Path], kept_artifacts: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    with Engine(warehouses["ms"], read_only=True, threads=1) as engine:
        for form in ("parquet", "csv"):
            engine.publish("2011Q3", tmp_path / form, format=form)  # type: ignore[arg-type]
            again = (tmp_path / form / "SHA256SUMS").read_text()
            assert again == (kept_artifacts["ms", form] / "SHA256SUMS").read_text()


@pytest.mark.thorough
def test_publishing_changes_nothing_in_the_warehouse_and_works_on_a_callers_connection(
    warehouses: dict[str, Path], tmp_path: Path
) -> None:
    with duckdb.connect(str(warehouses["ms"])) as con:
        before = content(con)
        Engine(con).publish("2011Q3", tmp_path / "out", format="csv")
        assert content(con) == before
    assert verify(tmp_path / "out").passed


@pytest.mark.thorough
def test_a_dataset_with_text_ids_and_fine_weights_round_trips(tmp_path: Path) -> None:
    wards = ["no\u00a0break", "back\\slash", "NULL", "\\N", '"', '""', "a,b", "'", "#", "nan", "注"]
    visits = [(*v[:4], wards[n % len(wards)], v[5]) for n, v in enumerate(clinic.visits())]
    source = clinic.write(tmp_path, visits, clinic.findings(["headache", "nausea", "fever"]))
    toml = (tmp_path / "clinic.toml").read_text()
    toml = toml.replace("domain = [0, 120]", "domain = [0, 120]\ngranularity = 0.25")
    (tmp_path / "clinic.toml").write_text(toml)
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([source], dataset=tmp_path / "clinic.toml", period="2011q1")
        engine.release("2011q1", k=2, theta="1", seed=1)
        views = {
            name: rows(engine.con, f"SELECT * FROM release_2011q1.{name}")
            for name in ("visit", "finding")
        }
        for form in FORMATS:
            engine.publish("2011q1", tmp_path / form, format=form)  # type: ignore[arg-type]
            assert verify(tmp_path / form).passed
            found = tables_of(tmp_path / form)
            assert {n: as_sorted(t) for n, t in found.items()} == {
                n: as_sorted(t) for n, t in views.items()
            }
    assert [c["name"] for c in manifest_of(tmp_path / "csv")["tables"][0]["columns"]] == [
        "visit_id", "patient_id", "quarter", "age_low", "age_high", "sex", "ward",
    ]  # fmt: skip


@pytest.mark.thorough
def test_a_column_called_rowid_is_a_column(tmp_path: Path) -> None:
    source = clinic.write(tmp_path, clinic.visits(), clinic.findings(["headache", "nausea"]))
    for file in (tmp_path / "clinic.toml", source / "visit.csv"):
        file.write_text(file.read_text().replace("ward", "rowid"))
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([source], dataset=tmp_path / "clinic.toml", period="2011q1")
        engine.release("2011q1", k=2, theta="1", seed=1)
        engine.publish("2011q1", tmp_path / "out")
    assert verify(tmp_path / "out").passed


def test_a_view_that_shows_more_than_was_released_is_not_published(
    warehouses: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copy(warehouses["ms"], tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.sql(
            "CREATE OR REPLACE VIEW release_2011q3.outc AS "
            "SELECT primaryid, caseid, mfr_num AS outc_cod FROM raw_faers.demo"
        )
        with pytest.raises(CheckFailedError, match="does not read its own table alone"):
            engine.publish("2011Q3", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_released_rows_that_were_changed_in_the_warehouse_are_not_published(
    warehouses: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copy(warehouses["ms"], tmp_path / "w.duckdb")
    with Engine(tmp_path / "w.duckdb") as engine:
        ((store,),) = engine.sql(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'srsql_data' "
            "AND table_name LIKE 'release_1_demo'"
        )
        engine.sql(f"UPDATE srsql_data.{store} SET age_low = 0 WHERE caseid = 7")
        with pytest.raises(PublishError, match="fails its own check: k: region"):
            engine.publish("2011Q3", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.duckdb"]


@pytest.mark.thorough
def test_an_empty_release_is_published_and_verified(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(2))])
        engine.release_range("2011Q4:2011Q4", **OPTIONS)
        for form in FORMATS:
            engine.publish("2011Q4", tmp_path / form, format=form)  # type: ignore[arg-type]
            assert verify(tmp_path / form).passed
            assert tables_of(tmp_path / form)["demo"] == []


@pytest.mark.thorough
def test_a_folder_whose_name_is_a_pattern_or_a_partition_is_only_a_name(
    warehouses: dict[str, Path], kept_artifacts: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    for form in FORMATS:
        folder = tmp_path / "year=2011" / f"a[b]*% '{form}'"
        shutil.copytree(kept_artifacts["ms", form], folder)
        assert verify(folder).passed
    make(warehouses["ms"], tmp_path / "year=2012" / "a[b]*'", "2011Q3")


class TestPseudonyms:
    @pytest.mark.thorough
    def test_ids_are_hmacs_under_the_key_stable_over_quarters_and_rows_follow_them(
        self, warehouses: dict[str, Path], tmp_path: Path
    ) -> None:
        options: dict[str, Any] = {"case_ids": "pseudonym", "key_file": tmp_path / "key"}
        folders = [
            make(warehouses["ppms++"], tmp_path / q, q, format="csv", **options)
            for q in ("2011Q3", "2011Q4")
        ]
        assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
        key = bytes.fromhex((tmp_path / "key").read_text())
        for folder, schema in zip(folders, ("release_2011q3", "release_2011q4"), strict=True):
            assert verify(folder).passed
            for name in ("demo", "reac"):
                expected = {
                    (hidden(key, "report", row["primaryid"]), hidden(key, "case", row["caseid"]))
                    for row in view_rows(warehouses["ppms++"], schema, name)
                }
                found = [(r["primaryid"], r["caseid"]) for r in read_csv(folder, name)]
                assert set(found) == expected
                assert [int(r or 0) for r, _ in found] == sorted(int(r or 0) for r, _ in found)
        assert verify(folders).passed

    @pytest.mark.thorough
    def test_another_key_makes_other_pseudonyms(
        self, warehouses: dict[str, Path], tmp_path: Path
    ) -> None:
        ids = []
        for name in "ab":
            folder = make(
                warehouses["ms"], tmp_path / name, "2011Q3", format="csv",
                case_ids="pseudonym", key_file=tmp_path / f"key-{name}",
            )  # fmt: skip
            ids.append({row["caseid"] for row in read_csv(folder, "demo")})
        assert ids[0].isdisjoint(ids[1])

    @pytest.mark.thorough
    def test_drugs_that_are_numbered_over_all_reports_are_counted_within_each(
        self, tmp_path: Path
    ) -> None:
        from faults.test_no_link_back import legacy_quarter

        with Engine(tmp_path / "w.duckdb") as engine:
            engine.ingest([legacy_quarter(tmp_path / "aers")])
            engine.release("2004Q1", **OPTIONS)
            engine.publish(
                "2004Q1", tmp_path / "out", format="csv",
                case_ids="pseudonym", key_file=tmp_path / "key",
            )  # fmt: skip
        drugs, indi = (read_csv(tmp_path / "out", name) for name in ("drug", "indi"))
        assert {row["drug_seq"] for row in drugs} == {"1", "2"}
        second = {(r["primaryid"], r["drug_seq"]) for r in drugs if r["drug_seq"] == "2"}
        assert {(r["primaryid"], r["indi_drug_seq"]) for r in indi} == second

    @pytest.mark.thorough
    def test_a_series_that_releases_pseudonyms_gets_others(self, tmp_path: Path) -> None:
        with Engine(tmp_path / "w.duckdb") as engine:
            engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30))])
            engine.release("2011Q4", **OPTIONS, series="partners")
            released = {r["caseid"] for r in rows(engine.con, "FROM release_partners_2011q4.demo")}
            engine.publish(
                "2011Q4", tmp_path / "out", series="partners",
                case_ids="pseudonym", key_file=tmp_path / "key",
            )  # fmt: skip
        assert verify(tmp_path / "out").passed
        assert released.isdisjoint(r["caseid"] for r in tables_of(tmp_path / "out")["demo"])

    def test_a_file_that_is_no_key_is_refused_and_kept(
        self, warehouses: dict[str, Path], tmp_path: Path
    ) -> None:
        (tmp_path / "key").write_text("my diary")
        with pytest.raises(PublishError, match="is not a key file"):
            make(
                warehouses["ms"], tmp_path / "out", "2011Q3",
                case_ids="pseudonym", key_file=tmp_path / "key",
            )  # fmt: skip
        assert (tmp_path / "key").read_text() == "my diary"
        assert not (tmp_path / "out").exists()


def hidden(key: bytes, kind: str, identity: object) -> str:
    digest = hmac.new(key, f"{kind}:{identity}".encode(), hashlib.sha256).hexdigest()
    return str(int(digest[:15], 16))


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"quarter": "2010Q1"}, r"2010Q1 is not released.*2011Q3 to 2011Q4 \(2\)"),
            ({"series": "nobody"}, "series 'nobody' of faers has no releases"),
            ({"format": "xlsx"}, "give one of parquet, csv, duckdb"),
            ({"case_ids": "hashed"}, "give one of as-released, pseudonym"),
            ({"case_ids": "pseudonym"}, "go together"),
            ({"key_file": "key"}, "go together"),
            ({"storage_version": "v1.4.0"}, "for --format duckdb"),
            ({"format": "duckdb", "storage_version": "'; --"}, "give a version of DuckDB"),
            ({"format": "duckdb", "storage_version": "v0.0.1"}, "v0.0.1: DuckDB .* cannot write"),
            (
                {"format": "duckdb", "storage_version": "v9.9.9"},
                r"^--storage-version v9\.9\.9: DuckDB [^ ]+ cannot write it; give .{0,60}$",
            ),
        ],
    )
    def test_what_cannot_be_published_is_refused_with_the_reason(
        self, warehouses: dict[str, Path], tmp_path: Path, options: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(PublishError, match=said):
            make(warehouses["ms"], tmp_path / "out", **({"quarter": "2011Q3"} | options))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.thorough
    def test_a_draft_is_not_published_and_a_superseded_release_is_replaced_by_its_successor(
        self, tmp_path: Path
    ) -> None:
        with Engine(tmp_path / "w.duckdb") as engine:
            engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(30))])
            engine.release("2011Q4", model="ms", draft=True, **OPTIONS)
            with pytest.raises(PublishError, match="is a draft: expose it"):
                engine.publish("2011Q4", tmp_path / "out")
            engine.confirm("2011Q4")
            yes: dict[str, Any] = {"allow_linkable": True}
            engine.release("2011Q4", model="ms", supersede=True, k=4, change=True, seed=1, **yes)
            engine.publish("2011Q4", tmp_path / "out", **yes)
        assert manifest_of(tmp_path / "out")["k"] == 4
        assert manifest_of(tmp_path / "out")["earlier_releases"] == ["2011Q4"]

    def test_somebody_elses_release_is_not_published(self, tmp_path: Path) -> None:
        from support import foreign

        table = foreign.table(
            tmp_path / "t.csv",
            "case_id age_low age_high sex adr disease",
            [(n, 10, 20, "M", f"r{n}", f"d{n}") for n in range(6)],
        )
        with Engine(tmp_path / "w.duckdb") as engine:
            engine.import_release(table, "2011Q4", dataset=foreign.dataset(tmp_path))
            with pytest.raises(PublishError, match="somebody else's"):
                engine.publish("2011Q4", tmp_path / "out", dataset="other")

    @pytest.mark.parametrize(
        "what",
        [
            "a file",
            "a full folder",
            pytest.param("an artifact", marks=pytest.mark.thorough),
            "a link",
        ],
    )
    def test_nothing_that_exists_is_overwritten(
        self,
        warehouses: dict[str, Path],
        tmp_path: Path,
        what: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Before any work: not even the quarter is looked for."""
        out = tmp_path / "out"
        if what == "a file":
            out.write_text("mine")
        elif what == "a full folder":
            out.mkdir()
            (out / "mine").write_text("mine")
        elif what == "an artifact":
            make(warehouses["ms"], out, "2011Q3")
        else:
            (tmp_path / "elsewhere").mkdir()
            out.symlink_to(tmp_path / "elsewhere")
        before = sorted(tmp_path.rglob("*"))
        monkeypatch.setattr("srsql.engine.artifact.publish.links_handed_on", None)
        for quarter in ("2011Q4", "1999Q1"):
            with pytest.raises(PublishError, match="exists and is not an empty folder"):
                make(warehouses["ms"], out, quarter)
        assert sorted(tmp_path.rglob("*")) == before

    @pytest.mark.thorough
    def test_an_empty_folder_is_filled(self, warehouses: dict[str, Path], tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        assert verify(make(warehouses["ms"], tmp_path / "out", "2011Q3")).passed

    def test_the_key_never_lies_in_the_artifact(
        self, warehouses: dict[str, Path], tmp_path: Path
    ) -> None:
        with pytest.raises(PublishError, match="would lie in the artifact"):
            make(
                warehouses["ms"], tmp_path / "out", "2011Q3",
                case_ids="pseudonym", key_file=tmp_path / "out" / "x" / ".." / "key",
            )  # fmt: skip

    def test_a_place_that_cannot_be_written_is_told_in_one_line(
        self, warehouses: dict[str, Path], tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        for place in (tmp_path / "file" / "out", Path("/proc/out")):
            with pytest.raises(PublishError, match=f"nothing is at {re.escape(str(place))}"):
                make(warehouses["ms"], place, "2011Q3")

    def test_a_folder_that_is_no_artifact_is_not_verified(self, tmp_path: Path) -> None:
        for folder in (tmp_path, tmp_path / "absent"):
            with pytest.raises(VerifyError):
                verify(folder)
        with pytest.raises(VerifyError, match="twice"):
            verify([tmp_path, tmp_path / "."])


@pytest.mark.thorough
def test_what_was_withdrawn_since_the_release_is_told(tmp_path: Path) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(30))])
        engine.release("2011Q3", **OPTIONS)
        engine.ingest([write_quarter(tmp_path, "2011Q4", crowd(9, first=90), deleted=[7, 8])])
        made = engine.publish("2011Q3", tmp_path / "out", stale=True)
        assert "is stale (2 deleted)" in made.stale


def test_the_rights_of_an_artifact_are_those_of_any_new_folder(
    kept_artifacts: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    folder = kept_artifacts["ms", "duckdb"]
    assert folder.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert not [path for path in folder.iterdir() if os.access(path, os.X_OK)]
