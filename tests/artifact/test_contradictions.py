"""An artifact that contradicts itself is found although every hash and document was made anew."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from artifact.conftest import OPTIONS, Artifacts, Warehouses
from support.artifacts import make, manifest_of, rehash
from support.quarters import crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.publish import built_beside, read_or_make_key
from srsql.engine.artifact.publish.tables import plan_tables
from srsql.engine.artifact.verify.declarations import expected_columns
from srsql.engine.errors import PublishError
from srsql.engine.models import MODELS, make_model
from srsql.schemas import builtin_names, load_dataset

pytestmark = pytest.mark.thorough

TOLD: dict[str, Any] = {"theta": "1/2", "term_key": 1}


def faults(folder: Path) -> dict[str, list[str]]:
    """Check -> its faults, of a verification that must fail."""
    found = verify(folder)
    assert not found.passed
    return {check.name: list(check.faults) for check in found.checks if check.faults}


@pytest.fixture
def periodical(kept_artifacts: Artifacts, tmp_path: Path) -> Path:
    """A copy of the artifact of 2011Q3 under ppms++."""
    return Path(shutil.copytree(kept_artifacts["ppms++", "csv"], tmp_path / "2011Q3"))


@pytest.fixture
def both(periodical: Path, warehouses: Warehouses, tmp_path: Path) -> list[Path]:
    later = make(warehouses["ppms++"], tmp_path / "2011Q4", "2011Q4", format="csv")
    return [periodical, later]


def test_an_artifact_that_follows_its_manifest_alone_passes(csv_artifact: Path) -> None:
    """What the forger of these tests rewrites is what was written."""
    before = {path.name: path.read_bytes() for path in csv_artifact.iterdir()}
    rehash(csv_artifact, counts=True)
    for name in ("README.md", "data-dictionary.csv"):
        assert (csv_artifact / name).read_bytes() == before[name]
    assert verify(csv_artifact).passed


@pytest.mark.parametrize("attacks", [[], ["b"], ["b", "f", "l", "md"], ["f", "b", "l"]])
def test_attacks_that_the_model_does_not_promise_are_found(
    periodical: Path, attacks: list[str]
) -> None:
    rehash(periodical, attacks=attacks)
    told = ",".join(attacks) or "none"
    assert faults(periodical) == {
        "manifest": [f"manifest.json: attacks are {told}, ppms++ promises b,f,l"]
    }


def test_attacks_depend_on_what_was_assumed_of_stopping(
    tmp_path: Path,
) -> None:
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
        engine.release(
            "2011Q3", model="ppms-alpha", k=3, theta="0.5", alpha="0.5", assume_md="all", seed=1
        )
        engine.publish("2011Q3", tmp_path / "out", format="csv")
    assert manifest_of(tmp_path / "out")["attacks"] == ["b", "f", "l", "ss"]
    assert verify(tmp_path / "out").passed
    known = manifest_of(tmp_path / "out")["parameters"]
    rehash(tmp_path / "out", parameters=known | {"assume_md": "none"})
    assert "promises b,f,l,md,ss" in faults(tmp_path / "out")["manifest"][0]
    rehash(tmp_path / "out", parameters=known | {"alpha": "1e999999999"})
    assert "the parameters are none of ppms-alpha" in faults(tmp_path / "out")["manifest"][0]


def test_a_model_that_is_not_known_is_said_not_to_be_judged(both: list[Path]) -> None:
    for folder in both:
        rehash(folder, model="better", attacks=[], report=True)
    found = verify(both)
    assert found.passed
    for quarter in ("2011Q3", "2011Q4"):
        of_quarter = [t for t in found.cannot_show if t.startswith(f"{quarter}: ")]
        told = [t for t in of_quarter if ": the figures " not in t and "made anew" not in t]
        assert ["knows no model 'better'" in t for t in told] == [True, False]
        assert "what joining it with the other artifacts tells" in told[1]


def test_artifacts_of_a_model_without_a_promise_are_listed_as_not_joined(
    kept_artifacts: Artifacts, warehouses: Warehouses, tmp_path: Path
) -> None:
    later = make(warehouses["ms"], tmp_path / "out", "2011Q4", format="csv")
    found = verify([kept_artifacts["ms", "csv"], later])
    assert found.passed
    told = [t for t in found.cannot_show if "its model, ms, promises nothing of that" in t]
    assert [t[:6] for t in told] == ["2011Q3", "2011Q4"]


@pytest.mark.parametrize("at", [0, 1])
def test_a_history_that_the_other_artifacts_contradict_is_found(both: list[Path], at: int) -> None:
    rehash(both[at], earlier_releases=["2010Q4"])
    assert verify(both[at]).passed
    found = verify(both)
    assert not found.passed
    lost = ["2010Q4", "2011Q3"][at]
    assert found.failures == [
        f"series: 2011Q4 does not tell of the earlier release(s) of {lost}, which 2011Q3 shows"
    ]
    assert "series: cover" in found.not_run


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        (["2011Q4"], "earlier_releases names 2011Q4, which is after 2011Q3"),
        (["2011Q2", "2011Q1"], "earlier_releases are not in order: 2011Q2, 2011Q1"),
    ],
)
def test_a_history_that_cannot_be_is_found(
    csv_artifact: Path, earlier: list[str], said: str
) -> None:
    rehash(csv_artifact, earlier_releases=earlier)
    assert faults(csv_artifact) == {"manifest": [f"manifest.json: {said}"]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": 2}, "the guarantee does not tell k, which is 2"),
        ({"case_ids": "pseudonym"}, "case_ids is 'pseudonym', key_id is None"),
        ({"key_id": "0" * 64}, "case_ids is 'as released', key_id is '0000"),
        ({"perturbed": True}, "perturbed is True, of ms it is not"),
        ({"guarantee": "3 hold everything"}, "the guarantee is not that of ms"),
        ({"guarantee": "Groups of 1.3 to 30 cases"}, "the guarantee does not tell k, which is 3"),
        ({"parameters": TOLD}, "k_effective is None, k is 3"),
        (
            {"parameters": TOLD | {"k_effective": 2}},
            "k_effective is 2, k is 3",
        ),
        (
            {
                "parameters": {
                    "theta": "1/2",
                    "term_key": 1,
                    "k_effective": 3,
                    "release_date": "2024-02-30",
                }
            },
            "release_date is '2024-02-30', not a day as YYYY-MM-DD",
        ),
        (
            {
                "parameters": {
                    "theta": "1/2",
                    "term_key": 1,
                    "k_effective": 3,
                    "release_date": 20240203,
                }
            },
            "release_date is 20240203, not a day",
        ),
    ],
)
def test_a_manifest_that_claims_what_cannot_be_true_at_once_is_found(
    csv_artifact: Path, change: dict[str, Any], said: str
) -> None:
    rehash(csv_artifact, **change)
    told = faults(csv_artifact)
    assert set(told) == {"manifest", *({"ids"} if "case_ids" in change else ())}
    assert said in " ".join(told["manifest"])


def test_a_region_without_quasi_identifiers_is_refused(csv_artifact: Path) -> None:
    told = manifest_of(csv_artifact)
    reports = told["tables"][0]
    reports["columns"] = [c for c in reports["columns"] if not c["attribute"]]
    rehash(csv_artifact, attributes=[], tables=told["tables"])
    assert "the quasi-identifiers are none" in faults(csv_artifact)["manifest"][0]


@pytest.mark.parametrize("name", ["README.md", "data-dictionary.csv"])
def test_a_document_that_says_something_else_is_found(csv_artifact: Path, name: str) -> None:
    text = (csv_artifact / name).read_text()
    (csv_artifact / name).write_text(text.replace("least", "most"))
    rehash(csv_artifact)
    assert faults(csv_artifact) == {"manifest": [f"{name} does not say what manifest.json says"]}


def test_documents_of_another_version_are_said_not_to_be_compared(csv_artifact: Path) -> None:
    (csv_artifact / "README.md").write_text("Other words.")
    told = manifest_of(csv_artifact) | {
        "software_version": "0.0.1",
        "report_written_by": "srsql 0.0.1",
    }
    (csv_artifact / "manifest.json").write_text(json.dumps(told))
    rehash(csv_artifact)
    found = verify(csv_artifact)
    assert found.passed
    assert [t for t in found.cannot_show if "since srsql 0.0.1 wrote them" in t]


def test_an_artifact_of_version_1_is_verified_as_it_was_written(tmp_path: Path) -> None:
    """It told neither what drew the report nor whether every sensitive column is published, and its
    terms had no keys."""
    out = tmp_path / "out"
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q3", crowd(40))])
        engine.release("2011Q3", **OPTIONS, term_key=0)
        engine.publish("2011Q3", out, format="csv")
    (out / "README.md").write_text("Words of then.")
    (out / "report.html").write_text("<p>Figures of then.</p>")
    told = manifest_of(out) | {"artifact_version": 1}
    del told["report_written_by"], told["every_term_published"]
    (out / "manifest.json").write_text(json.dumps(told))
    rehash(out)
    found = verify(out)
    assert found.passed
    for said in ("that its README, its data dictionary", "since an earlier version drew it",
                 "counts terms that differ in invisible characters as several"):  # fmt: skip
        assert [text for text in found.cannot_show if said in text]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('"sex","ring","link"\n"sex","link","ring"\n', "'ring' lies below itself"),
        ('"sex","other root",""\n', "it has 2 roots, not one"),
        ('"sex","lost","nowhere"\n', "the parent of 'lost', 'nowhere', is no node of it"),
        ('"sex","F","F"\n', "a node stands there twice"),
        ('"age","old",""\n', "hierarchy of 'age', which is no categorical quasi-identifier"),
        ('"mood","any",""\n', "hierarchy of 'mood', which is no categorical quasi-identifier"),
    ],
)
def test_a_hierarchy_that_is_no_tree_is_found(csv_artifact: Path, line: str, said: str) -> None:
    with (csv_artifact / "value-hierarchies.csv").open("a") as file:
        file.write(line)
    rehash(csv_artifact)
    told = faults(csv_artifact)
    # rows are counted by the nodes that they show, which a node that is there twice changes
    assert set(told) - {"declaration", "manifest"} == {"bounds"}
    assert said in " ".join(told["bounds"])


def test_a_hierarchy_that_is_missing_is_found(csv_artifact: Path) -> None:
    (csv_artifact / "value-hierarchies.csv").write_text('"attribute","node","parent"\n')
    rehash(csv_artifact)
    assert "sex has no hierarchy" in faults(csv_artifact)["bounds"]


def test_thresholds_that_differ_from_the_one_for_all_are_found(csv_artifact: Path) -> None:
    path = csv_artifact / "value-thresholds.csv"
    head, first, *rest = path.read_text().splitlines(keepends=True)
    value = first.split('","')[0].strip('"')
    for num, den in (("1", "1"), ("1", "0")):
        path.write_text("".join([head, f'"{value}","{num}","{den}"\n', *rest]))
        rehash(csv_artifact)
        told = faults(csv_artifact)["thresholds"]
        assert f"{value} has the threshold {num}/{den}, the parameter theta is 1/2" in told


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("COMMENT ON TABLE demo IS 'secret'", "comment on table main.demo"),
        ("COMMENT ON COLUMN demo.sex IS 'secret'", "comment on column main.demo.sex"),
        ("ALTER TABLE demo ALTER sex SET DEFAULT 'secret'", "default of main.demo.sex"),
        ("ALTER TABLE demo ALTER primaryid SET NOT NULL", "constraint NOT NULL of main.demo"),
        ("CREATE INDEX secret ON demo (sex)", "index main.secret"),
    ],
)
def test_what_is_written_beside_the_rows_of_a_duckdb_file_is_found(
    kept_artifacts: Artifacts, tmp_path: Path, statement: str, said: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(kept_artifacts["ms", "duckdb"], folder)
    with duckdb.connect(str(folder / "release.duckdb")) as con:
        con.execute(statement)
    rehash(folder)
    found = faults(folder)["columns"]
    assert f"release.duckdb holds the {said}" in found
    # our own comment stood where another one stands now
    lacking = [f"release.duckdb lacks the {said}"] if statement.startswith("COMMENT") else []
    assert sorted(found) == sorted([f"release.duckdb holds the {said}", *lacking])


def test_a_trigger_in_a_duckdb_file_is_found(warehouses: Warehouses, tmp_path: Path) -> None:
    """Only newer files can hold one."""
    folder = make(
        warehouses["ms"], tmp_path / "out", "2011Q3", format="duckdb", storage_version="v2.0.0"
    )
    with duckdb.connect(str(folder / "release.duckdb")) as con:
        con.execute(
            "CREATE TRIGGER peep AFTER INSERT ON demo INSERT INTO reac "
            "SELECT 1, 2, 'secret', 'secret'"
        )
    rehash(folder)
    assert faults(folder)["columns"] == ["release.duckdb holds the trigger main.demo.peep"]


@pytest.mark.parametrize("plain", [False, True])
def test_of_two_publications_to_one_place_the_later_is_told_and_the_first_stays(
    tmp_path: Path, plain: bool
) -> None:
    target = tmp_path / "out"

    def meanwhile() -> None:
        if plain:
            target.write_text("1")
            return
        with built_beside(target) as (folder, _):
            (folder / "first").write_text("1")

    with pytest.raises(PublishError, match="out exists and is not an empty folder"):
        second(target, meanwhile)
    assert list(tmp_path.iterdir()) == [target]
    assert plain or [path.name for path in target.iterdir()] == ["first"]


def second(target: Path, meanwhile: Callable[[], None]) -> None:
    with built_beside(target) as (folder, _):
        (folder / "second").write_text("2")
        meanwhile()


class TestKeyFile:
    def test_a_crash_while_it_is_written_leaves_nothing_under_its_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", _crash)
            with pytest.raises(KeyboardInterrupt):
                read_or_make_key(tmp_path / "key")
        assert list(tmp_path.iterdir()) == []
        key, made = read_or_make_key(tmp_path / "key")
        assert made
        assert read_or_make_key(tmp_path / "key") == (key, False)
        assert [path.name for path in tmp_path.iterdir()] == ["key"]

    def test_two_publications_at_once_take_the_key_of_the_first(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = os.link

        def late(source: Path, target: Path) -> None:
            monkeypatch.setattr(os, "link", link)
            first.append(read_or_make_key(tmp_path / "key"))
            link(source, target)

        first: list[tuple[bytes, bool]] = []
        monkeypatch.setattr(os, "link", late)
        assert read_or_make_key(tmp_path / "key") == (first[0][0], False)
        assert first[0][1]
        assert [path.name for path in tmp_path.iterdir()] == ["key"]


def _crash(handle: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("model", "options"),
    [(name, {}) for name in MODELS]
    + [
        ("ppms-alpha", {"alpha": Fraction(1, 3), "assume_md": "all", "leftovers": "merge"}),
        ("ppms-dp-num", {"epsilon": Fraction(1, 4), "calibration": "paper"}),
        ("ppms-dp-all", {"epsilon": Fraction(7, 2), "epsilon_limit": Fraction(9)}),
    ],
)
def test_what_a_release_of_any_model_says_of_itself_is_no_contradiction(
    csv_artifact: Path, model: str, options: dict[str, Any]
) -> None:
    made = make_model(model, **{"k": 11, "leftovers": "withhold"} | options)
    parameters = {"theta": "frequency", "k_effective": 11, "leftovers": made.leftovers}
    parameters["term_key"] = 1
    rehash(
        csv_artifact,
        model=model,
        k=11,
        guarantee=made.guarantee,
        perturbed=made.claimed_bounds.drawn,
        attacks=made.defended_attacks,
        parameters=parameters | made.public_facts,
    )
    (manifest,) = [check for check in verify(csv_artifact).checks if check.name == "manifest"]
    assert manifest.faults == []


@pytest.mark.parametrize("name", builtin_names())
@pytest.mark.parametrize("apart", [(), ("pt", "symptom")])
def test_what_is_published_of_a_dataset_that_ships_is_what_verify_expects_of_it(
    name: str, apart: tuple[str, ...]
) -> None:
    dataset = load_dataset(name).without_terms(apart, rows=True)
    for plan in plan_tables(dataset, "release", None, keyed=False):
        found = {c.name: (c.type, c.role, c.attribute) for c in plan.columns}
        assert found == expected_columns(dataset, dataset.table(plan.name))
