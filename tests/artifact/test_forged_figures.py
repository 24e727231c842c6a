"""Every number of a manifest: forged, it is refused, or it is named as what is not shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from artifact.conftest import OPTIONS
from support.artifacts import manifest_of, rehash
from support.quarters import crowd, write_quarter

from srsql import verify
from srsql.engine.api.engine import Engine
from srsql.engine.artifact.verify import Verified

QUARTER = "2011Q3"
MADE: dict[str, dict[str, Any]] = {
    "rows": {"model": "ms"},
    "noise": {"model": "msdp-all", "seed": None},
    "suppressed": {"model": "ms", "on_infeasible": "suppress", "theta": "0.2"},
    "apart": {"model": "ms", "terms": "disassociate", "term_attributes": "all"},
}


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


def forged(folder: Path, to: Path, place: str, figure: str, value: int | str) -> Verified:
    """The artifact with another figure, and everything that follows from the manifest made anew."""
    shutil.copytree(folder, to)
    told = manifest_of(to)
    told[place][figure] = value
    (to / "manifest.json").write_text(json.dumps(told))
    rehash(to, report=not told.get("terms"), series=told["series"])
    return verify(to)


def numbers(folder: Path) -> list[tuple[str, str, int | str]]:
    """(place, name, value) of every number of the parameters and the counts, whatever they are."""
    found = []
    told = manifest_of(folder)
    for place in ("parameters", "counts"):
        for name, value in told[place].items():
            text = str(value).replace("/", "").replace(".", "")
            if value is not None and text.isdigit():
                found.append((place, name, value))
    return found


@pytest.mark.parametrize("name", MADE)
def test_every_figure_of_a_manifest_is_refused_if_forged_or_named_as_not_shown(
    name: str, published: dict[str, Path], tmp_path: Path
) -> None:
    folder = published[name]
    found = numbers(folder)
    assert len(found) > 5
    honest = verify(folder)
    assert honest.passed
    unseen = [text for text in honest.cannot_show if "figures" in text]
    assert len(unseen) == 1
    for number, (place, figure, value) in enumerate(found):
        if figure in unseen[0].split(": the figures ")[1].split(" of the manifest")[0].split(", "):
            continue
        other = value + 1 if isinstance(value, int) else "1/3"
        found_out = forged(folder, tmp_path / str(number), place, figure, other)
        by = {check.name for check in found_out.checks if check.faults}
        assert by - {"report"}, figure  # a forger would draw the page anew


def test_the_figures_that_were_forged_unseen_are_named(published: dict[str, Path]) -> None:
    (text,) = [t for t in verify(published["suppressed"]).cannot_show if "figures" in t]
    for name in ("suppressed_reports_per_10000", "suppressed_cases_per_10000", "withheld_cases",
                 "below_k_percent_2_items", "one_candidate_percent_1_item"):  # fmt: skip
        assert name in text
