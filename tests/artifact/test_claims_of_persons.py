"""What an artifact says of persons, and cannot be true at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.persons import suspect
from support.quarters import crowd, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify.contradictions import claim_faults
from srsql.engine.artifact.verify.verify import verify

AT = ("k_by_persons_90_percent", "k_by_persons_99_percent")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("persons")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, "2011Q4", crowd(60, terms=12))])
        suspect(engine, [("1", "31", 0.95), ("2", "32", 0.999)])
        engine.release("2011Q4", k=3, theta="1/2", seed=1, count="persons")
        engine.publish("2011Q4", folder / "out", format="parquet")
    return folder / "out"


@pytest.mark.slow
def test_it_verifies_and_names_no_pair(folder: Path) -> None:
    assert verify(folder).passed
    names = {path.name for path in folder.rglob("*")}
    assert not [name for name in names if "person" in name or "duplicate" in name]
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_text("utf-8"))
    told = {name for name in manifest.parameters if "person" in name or name in ("counted",)}
    assert told == {*AT, "counted"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({AT[0]: 2}, "parameter k_by_persons_90_percent is 2, and k persons are counted at 0.9"),
        ({AT[1]: 2}, "fewer persons are told at a higher match probability"),
        ({AT[0]: 4}, "parameter k_by_persons_90_percent is 4, and k is 3"),
        ({AT[0]: "3"}, "parameter k_by_persons_90_percent is '3', and k is 3"),
        ({"match_probability": "0.3"}, "counted is 'persons', at a match probability of '0.3'"),
        ({"match_probability": "nan"}, "counted is 'persons', at a match probability of 'nan'"),
        ({"counted": "cases"}, "counted is 'cases', at a match probability of '0.9'"),
        ({"counted": None}, "counted is None, at a match probability of '0.9'"),
        ({"counted": None, "match_probability": None}, "the guarantee is not that of ppms++"),
    ],
)
def test_a_claim_that_contradicts_itself_is_found(
    folder: Path, changes: dict[str, Any], said: str
) -> None:
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_text("utf-8"))
    assert claim_faults(manifest) == []
    told = {**manifest.parameters, **changes}
    told = {name: value for name, value in told.items() if value is not None}
    faults = claim_faults(manifest.model_copy(update={"parameters": told}))
    assert any(said in fault for fault in faults), faults


def test_persons_counted_at_a_higher_probability_need_not_be_k_at_a_lower_one(folder: Path) -> None:
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_text("utf-8"))
    told = {**manifest.parameters, "match_probability": "0.95", AT[0]: 2}
    assert claim_faults(manifest.model_copy(update={"parameters": told})) == []
