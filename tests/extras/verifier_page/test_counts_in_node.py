"""Counts of items in the verifier's page, in Node: as artifacts pass and forgeries fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from artifact.test_artifacts_with_counts import FORGERIES, Q1, Q2, Forge, db, published
from support.artifacts import manifest_of, read_csv, rehash
from support.node import NODE, answered_in_node, opened_in_node

from srsql import open_artifact

__all__ = ["db", "published"]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="no node on PATH")]
NOT_OF_THE_PAGE = {
    "items_that_force_a_term", "a_pair_of_one_part", "another_guarantee", "ids_of_a_quarter",
    "fewer_with_both_than_must_have", "rows_in_an_order_that_tells", "a_term_by_its_spelling",
    "two_spellings_of_a_term", "an_attribute_of_one_value_told_in_part",
    "other_columns_counted_together", "a_pair_that_leaves_its_term_no_other_place",
}  # fmt: skip
"""What srsql verify alone sees; the page says so of the ways out."""
FOR_THE_PAGE = [(forge, check) for forge, check in FORGERIES
                if forge.__name__ not in NOT_OF_THE_PAGE]  # fmt: skip


def test_artifacts_pass_alone_and_together(published: Path, tmp_path: Path) -> None:
    told = opened_in_node(tmp_path, published / f"{Q1}-csv", published / f"{Q2}-csv")
    assert told["passed"], told
    found = {check["name"]: check["total"] for check in told["checks"]}
    assert {"strata", "told units", "told counts", "told shares", "bridges"} <= found.keys()
    assert found["told counts"] > 100
    assert any("rules G1 and G2" in words for words in told["notShown"])


@pytest.mark.parametrize(("forge", "check"), FOR_THE_PAGE, ids=lambda v: getattr(v, "__name__", ""))
def test_a_forged_artifact_is_refused(
    published: Path, tmp_path: Path, forge: Forge, check: str
) -> None:
    shutil.copytree(published / f"{Q1}-csv", tmp_path / "forged")
    (tmp_path / "other").symlink_to(published / f"{Q2}-csv")
    forge(tmp_path / "forged")
    rehash(tmp_path / "forged", counts=True, series=manifest_of(tmp_path / "forged")["series"])
    told = opened_in_node(tmp_path, tmp_path / "forged")
    assert not told["passed"]
    assert check in {each["name"] for each in told["checks"] if each["count"]}


def test_told_pairs_have_the_ratio_that_signals_give(published: Path, tmp_path: Path) -> None:
    folder = published / f"{Q1}-csv"
    with open_artifact(folder) as artifact:
        signal = max(
            (s for s in artifact.signals(every_pair=True, quarter=Q1).signals if s.released.prr),
            key=lambda s: (s.released.a, s.drug, s.reaction),
        )
    terms = [
        {"table": "item_count", "column": column, "value": value}
        for column, value in (("drugname", signal.drug), ("pt", signal.reaction))
    ]
    told = answered_in_node(tmp_path, folder, {"terms": terms, "ratio": True})["compared"]
    ours = signal.released
    assert [c["lower"] for c in told["counts"]] == [ours.a, ours.b, ours.c, ours.d]
    assert [c["upper"] for c in told["counts"]] == [ours.a, ours.b, ours.c, ours.d]
    assert told["ratios"][0]["ratio"] == pytest.approx(ours.prr, rel=1e-12)
    counted = answered_in_node(tmp_path, folder, {"terms": terms})["answered"]["counts"]
    assert [(c["lower"], c["upper"]) for c in counted] == [(ours.a, ours.a)]


def test_what_is_not_told_is_bounded_by_what_is(published: Path, tmp_path: Path) -> None:
    folder = published / f"{Q1}-csv"
    items: dict[str, int] = {}
    for row in read_csv(folder, "item_count"):
        if row["attribute"] == "pt":
            items[str(row["term"])] = items.get(str(row["term"]), 0) + int(str(row["cases"]))
    told = answered_in_node(
        tmp_path, folder, {"group": {"table": "item_count", "column": "pt"}, "most": 1000}
    )["answered"]["counts"]
    assert {c["key"]: c["lower"] for c in told} == items
    women = answered_in_node(
        tmp_path, folder,
        {"group": {"table": "item_count", "column": "pt"}, "most": 1000,
         "nodes": [{"attribute": "sex", "node": "F"}]},
    )["answered"]["counts"]  # fmt: skip
    assert all(c["lower"] <= c["upper"] <= items[c["key"]] for c in women)
    assert any(c["lower"] < c["upper"] for c in women)
    assert any(0 < c["lower"] == c["upper"] for c in women)


def test_a_name_that_no_count_tells_is_refused_with_those_like_it(
    published: Path, tmp_path: Path
) -> None:
    folder = published / f"{Q1}-csv"
    name = next(str(r["term"]) for r in read_csv(folder, "item_count") if r["attribute"] == "pt")
    term = {"table": "item_count", "column": "pt", "value": name[:-1]}
    told = answered_in_node(tmp_path, folder, {"terms": [term]})
    assert "no count tells pt" in told["refused"]
    assert f"'{name}'" in told["refused"]
