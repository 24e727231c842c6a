"""Every number of a manifest: forged, it is refused, or it is named as what is not shown."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from artifact.conftest import OPTIONS
from support.artifacts import manifest_of, rehash
from support.quarters import crowd, write_quarter

from srsql import open_artifact, verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.format import Manifest
from srsql.engine.artifact.verify import Verified
from srsql.engine.artifact.verify.told_figures import _told_of_items
from srsql.engine.console.field_signals import counted_lines
from srsql.engine.console.measures import signal_lines

pytestmark = pytest.mark.thorough

QUARTER = "2011Q3"
MADE: dict[str, dict[str, Any]] = {
    "rows": {"model": "ms"},
    "noise": {"model": "msdp-all", "seed": None},
    "suppressed": {"model": "ms", "on_infeasible": "suppress", "theta": "0.2"},
    "apart": {"model": "ms", "terms": "disassociate", "term_attributes": "all"},
    "alone": {"model": "disassociation", "m": 2, "term_attributes": "pt"},
    "series": {"model": "ppms++"},
}
"""One of each family of models that can be published, and what adds figures of its own."""
Place = tuple[str | int, ...]
DIGESTS = {"files", "content_sha256", "key_id", "dataset_fingerprint"}
ELSEWHERE = {"dataset_version": "of dataset 'faers'"}
"""Figure -> how a text names it that says it is not shown."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Name of a way of releasing -> its artifact."""
    folder = tmp_path_factory.mktemp("figures")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest([write_quarter(folder, QUARTER, crowd(100, terms=10))])
        for name, options in MADE.items():
            engine.release(QUARTER, **OPTIONS | options, series=name, allow_linkable=True)
            engine.publish(QUARTER, folder / name, series=name, format="csv", allow_linkable=True)
    return {name: folder / name for name in MADE}


def forged(folder: Path, to: Path, place: Place, value: int | str) -> Verified:
    """The artifact with another figure, and everything that follows from the manifest made anew."""
    shutil.copytree(folder, to)
    told = manifest_of(to)
    inner: Any = told
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    (to / "manifest.json").write_text(json.dumps(told))
    rehash(to, series=told["series"])
    return verify(to)


def numbers(told: Any, place: Place = ()) -> Iterator[tuple[Place, int | str]]:
    """Where every number of a manifest stands, whatever it is, and the number."""
    if isinstance(told, dict):
        for name, value in told.items():
            if name not in DIGESTS:
                yield from numbers(value, (*place, name))
    elif isinstance(told, list):
        for at, value in enumerate(told):
            yield from numbers(value, (*place, at))
    elif (isinstance(told, int) and not isinstance(told, bool)) or (
        isinstance(told, str) and re.fullmatch(r"-?[0-9]+([./][0-9]+)?", told)
    ):
        yield place, told


def first_of_its_kind(places: Iterable[tuple[Place, int | str]]) -> list[tuple[Place, int | str]]:
    """One of the figures that differ in the table, column or quasi-identifier alone."""
    found: dict[Place, tuple[Place, int | str]] = {}
    for place, value in places:
        found.setdefault(tuple(step for step in place if isinstance(step, str)), (place, value))
    return list(found.values())


def others(value: int | str) -> list[int | str]:
    """One more, one less, and what is far away."""
    if isinstance(value, str):
        return ["1/3" if value != "1/3" else "1/2", "7"]
    return [each for each in (value + 1, value - 1, 0) if each >= 0 and each != value]


def by(found: Verified) -> set[str]:
    """The checks that refused it; a forger would draw the page anew."""
    return {check.name for check in found.checks if check.faults} - {"report"}


@pytest.mark.parametrize("name", MADE)
def test_every_figure_of_a_manifest_is_refused_if_forged_or_named_as_not_shown(
    name: str, published: dict[str, Path], tmp_path: Path
) -> None:
    folder = published[name]
    places = first_of_its_kind(numbers(manifest_of(folder)))
    assert {place[0] for place, _ in places} >= {"k", "parameters", "counts", "tables"}
    honest = verify(folder)
    assert honest.passed
    (unseen,) = [text for text in honest.cannot_show if ": the figures " in text]
    named = unseen.split(": the figures ")[1].split(" of the manifest")[0].split(", ")
    passed = []
    for number, (place, value) in enumerate(places):
        if place[0] in ("parameters", "counts") and place[-1] in named:
            continue
        for again, other in enumerate(others(value)):
            found = forged(folder, tmp_path / f"{number} {again}", place, other)
            words = ELSEWHERE.get(str(place[-1]))
            told = words and any(words in text for text in found.cannot_show)
            if not by(found) and not told:
                passed.append((place, value, other))
    assert not passed


def test_figures_that_were_forged_unseen_are_refused_where_the_rows_tell(
    published: dict[str, Path], tmp_path: Path
) -> None:
    """Every percentage set to 1, as if items singled nobody out."""
    shutil.copytree(published["rows"], tmp_path / "rows")
    told = manifest_of(tmp_path / "rows")
    told["parameters"] |= {name: 1 for name in told["parameters"] if "_percent_" in name}
    (tmp_path / "rows" / "manifest.json").write_text(json.dumps(told))
    rehash(tmp_path / "rows", series=told["series"])
    found = verify(tmp_path / "rows")
    assert any("exact_values_percent_every_row is 1, the rows give 0" in t for t in faults(found))


def test_what_one_item_singles_out_lies_between_what_release_and_region_show(
    published: dict[str, Path],
) -> None:
    manifest = Manifest.model_validate_json((published["rows"] / "manifest.json").read_text())
    told = {n: manifest.parameters[f"{n}_percent_1_item"] for n in ("one_candidate", "below_k")}
    assert (told["one_candidate"] > 60, told["below_k"]) == (True, 100)
    found = {"one_candidate_percent": (40, 60), "below_k_percent": (90, 100)}
    (fault,), shown = _told_of_items(manifest, 100, found, regions=True)
    assert "by the items that rows show it is 40.0 to 60.0" in fault
    assert shown == {"measured_cases"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"one_candidate_percent_2_items": 0}, "one_candidate_percent_2_items, which is of no"),
        ({"below_k_percent_2_items": 101}, "no percentage"),
        ({"suppressed_cases_per_10000": 0, "suppressed_values_per_10000": 100},
         "are 0 and others are not"),
        ({"suppressed_one_value_per_10000": 9_999}, "more cases lost one value than lost any"),
        ({"suppressed_cases_per_10000": 9_999}, "is no number of 100"),
        ({"k_effective": 99}, "k_effective is 99, by the thresholds it is 5"),
        ({"measured_cases": 99}, "measured_cases is 99, the rows give 100"),
        ({"version": 2}, "version is 2, and earlier_releases tells otherwise"),
    ],
)  # fmt: skip
def test_figures_that_contradict_each_other_or_the_rows_are_refused(
    published: dict[str, Path], tmp_path: Path, changes: dict[str, int], why: str
) -> None:
    shutil.copytree(published["suppressed"], tmp_path / "made")
    parameters = manifest_of(tmp_path / "made")["parameters"] | changes
    rehash(tmp_path / "made", parameters=parameters)
    assert any(why in text for text in faults(verify(tmp_path / "made")))


def faults(found: Verified) -> list[str]:
    return [fault for check in found.checks for fault in check.faults]


def test_the_figures_that_nothing_refutes_are_named(published: dict[str, Path]) -> None:
    """Shares of what is suppressed that are all 0 are as good as any: no row shows what is not
    there."""
    (text,) = [t for t in verify(published["suppressed"]).cannot_show if "figures" in t]
    for name in ("suppressed_reports_per_10000", "suppressed_cases_per_10000", "withheld_cases",
                 "below_k_percent_2_items", "one_candidate_percent_1_item"):  # fmt: skip
        assert name in text
    assert "k_effective" not in text
    assert "measured_cases" not in text


def test_shares_of_what_is_suppressed_that_are_all_0_are_told_with_every_answer(
    published: dict[str, Path], tmp_path: Path
) -> None:
    """A count is then answered as if it were exact."""
    folder = shutil.copytree(published["suppressed"], tmp_path / "made")
    told = manifest_of(folder)["parameters"]
    told |= {name: 0 for name in told if name.startswith("suppressed_") and name.endswith("_10000")}
    rehash(folder, parameters=told, report=True)
    assert verify(folder).passed
    with open_artifact(folder) as artifact:
        found = artifact.query(
            "SELECT count(DISTINCT caseid) FROM demo JOIN reac USING (primaryid, caseid) "
            "WHERE pt = 'Reaction 01'"
        )
        asked = {"drug": "Drug 1", "reaction": "Reaction 01", "allow_unknown": True}
        signals, trend = artifact.signals(**asked), artifact.trend(**asked)
    assert any("what manifests say of it no artifact can show" in note for note in found.notes)
    assert (signals.suppressed, len(signals.remarks)) == (0, 1)
    for lines in (signal_lines(signals), counted_lines(trend.counted)):
        assert any("which no artifact can show" in line for line in lines)
