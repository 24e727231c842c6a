"""Which cells a grid has, and what tells them apart."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from srsql.engine.errors import CompareError, SrsqlError
from srsql.engine.extras.study.grid import Grid, Rules, cells
from srsql.engine.models import MODELS


def test_a_parameter_that_does_not_apply_to_a_model_makes_no_further_cells() -> None:
    grid = Grid(("ms", "msdp-all"), k=(5, 20), epsilon=("0.1", "10"), alpha=("0.2", "0.4"))
    found = cells(grid)
    assert [c.model for c in found] == ["ms"] * 2 + ["msdp-all"] * 4
    assert {dict(c.parameters).get("epsilon") for c in found} == {None, 0.1, 10.0}


def test_the_same_value_written_in_two_ways_is_one_cell() -> None:
    found = cells(Grid(("alpha-k",), theta=("0.4", "2/5"), alpha=("0.4", "2/5")))
    assert [(c.theta, dict(c.parameters)["alpha"]) for c in found] == [("0.4", 0.4)]


def test_l_is_k_unless_it_is_given() -> None:
    both = [("k", "l")]
    for l, expected in (((), [(5, 5), (20, 20)]), ((3,), [(5, 3), (20, 3)])):  # noqa: E741
        found = [dict(c.parameters) for c in cells(Grid(("l-diversity",), k=(5, 20), l=l))]
        assert [(p[a], p[b]) for p in found for a, b in both] == expected


@pytest.mark.parametrize("model", MODELS)
def test_every_model_of_the_registry_has_a_cell_with_all_its_parameters(model: str) -> None:
    (cell,) = cells(Grid((model,)))
    assert cell.refused is None
    terms = {"m", "policy", "term_attributes"} if model in ("disassociation", "cba") else set()
    terms |= {"partners", "pooled_by"} if model == "disassociation" else set()
    own = {f.name for f in fields(MODELS[model])}
    assert {name for name, _ in cell.parameters} == own | terms | {"seed"}
    assert (cell.theta is None) == (not MODELS[model].shape.of_cases(True, False))


def test_disassociation_is_compared_as_the_papers_have_it_unless_otherwise_asked() -> None:
    ways = ("partners", "pooled_by")
    (papers,) = cells(Grid(("disassociation",)))
    assert [dict(papers.options)[way] for way in ways] == ["neighbours", "splits"]
    found = cells(Grid(("disassociation", "cba"), partners=("shared", "neighbours")))
    assert [(cell.model, dict(cell.parameters).get("partners")) for cell in found] == [
        ("disassociation", "shared"), ("disassociation", "neighbours"), ("cba", None),
    ]  # fmt: skip


def test_what_a_model_refuses_is_a_cell_with_the_reason() -> None:
    good, bad = cells(Grid(("ms",), k=(5, 1)))
    assert good.refused is None
    assert bad.refused is not None
    assert "k is 1" in bad.refused


def test_cells_are_known_by_what_their_results_follow_from() -> None:
    one, two = cells(Grid(("ms",), k=(5, 6)))
    (seeded,) = cells(Grid(("ms",), seed=(1,)))
    assert len({one.digest("a"), two.digest("a"), one.digest("b"), seeded.digest("a")}) == 4
    assert cells(Grid(("ms", "ppms"), k=(6, 5)))[1].digest("a") == one.digest("a")


def test_levels_of_another_content_are_another_cell(tmp_path: Path) -> None:
    file = tmp_path / "levels.csv"
    digests = set()
    for theta in ("0.2", "0.3"):
        file.write_text(f"value,theta\n*,{theta}\n")
        (cell,) = cells(Grid(("ms",), theta=(f"levels:{file}",)))
        digests.add(cell.digest(""))
    assert len(digests) == 2


def test_samples_of_several_sizes_are_cells_that_release_with_the_same_options() -> None:
    whole, *some = cells(Grid(("ms",))) + cells(Grid(("ms",), cases=(10, 20)))
    assert [cell.cases for cell in (whole, *some)] == [None, 10, 20]
    assert [dict(cell.parameters).get("cases") for cell in (whole, *some)] == [None, 10, 20]
    assert whole.options == some[0].options == some[1].options
    assert len({cell.digest("") for cell in (whole, *some)}) == 3
    with pytest.raises(CompareError, match="at least 1 case"):
        Grid(("ms",), cases=(0,))


def test_every_seed_is_a_cell_of_its_own() -> None:
    found = cells(Grid(("ipa", "ms"), seed=(1, 2, 2)))
    assert [(c.model, dict(c.parameters)["seed"]) for c in found] == [
        ("ipa", 1), ("ipa", 2), ("ms", 1), ("ms", 2)
    ]  # fmt: skip


def test_parameters_of_terms_go_to_models_of_terms_alone_unless_terms_are_asked_for() -> None:
    varied: dict[str, Any] = {"m": (2, 3), "policy": ("sup:1", "sup:5")}
    found = cells(Grid(("ms", "cba", "ipa"), **varied))
    assert [c.model for c in found] == ["ms"] + ["cba"] * 4 + ["ipa"]
    assert {(dict(c.parameters).get("m"), dict(c.parameters).get("policy")) for c in found} == {
        (None, None), (2, "sup:1"), (2, "sup:5"), (3, "sup:1"), (3, "sup:5")
    }  # fmt: skip
    apart = cells(Grid(("ms", "cba"), terms="disassociate", **varied))
    assert [c.model for c in apart] == ["ms"] * 4 + ["cba"] * 4
    assert dict(apart[0].options)["terms"] == "disassociate"
    assert "terms" not in dict(apart[4].options)


def test_names_that_go_together_have_a_plus_between_them() -> None:
    (first, second) = cells(Grid(("ipa",), dimensions=("age+sex", "age")))
    assert [dict(c.options)["dimensions"] for c in (first, second)] == ["age,sex", "age"]
    (both,) = cells(Grid(("disassociation",), term_attributes=("pt+indi_pt",)))
    assert dict(both.options)["term_attributes"] == "pt,indi_pt"


def test_a_policy_of_another_content_is_another_cell(tmp_path: Path) -> None:
    file, digests = tmp_path / "policy.csv", set()
    for term in ("A", "B"):
        file.write_text(f"constraint,term\nu1,{term}\n")
        (cell,) = cells(Grid(("cba",), policy=(str(file),)))
        digests.add(cell.digest(""))
    assert len(digests) == 2


def test_policies_that_the_table_could_not_tell_apart_are_refused(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.csv", "b.csv")]
    for file, term in zip(files, "AB", strict=True):
        file.write_text(f"constraint,term\nu1,{term}\n")
    with pytest.raises(
        CompareError, match=r"b\.csv: another one is called 'file of 1 constraints'"
    ):
        Grid(("cba",), policy=(str(files[0]), str(files[1])))
    assert len(cells(Grid(("cba",), policy=(str(files[0]), str(files[0]), "sup:5")))) == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"models": ()}, "at least one model"),
        ({"models": ("mss",)}, "no model 'mss'"),
        ({"k": ()}, "at least one value"),
        ({"theta": ("often",)}, "not a threshold"),
        ({"epsilon": ("much",)}, "--epsilon"),
        ({"alpha": ("half",)}, "--alpha"),
        ({"policy": ("sim:ten:tree.csv",)}, "--policy"),
        ({"seed": ()}, "--seed: give at least one value"),
    ],
)
def test_a_grid_that_means_nothing_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(SrsqlError, match=words):
        Grid(**{"models": ("ms",)} | wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"drug": "a"},
        {"file": Path("r.csv"), "drug": "a", "reaction": "b"},
        {"file": Path("r.csv"), "sex": "F"},
        {"min_age": "18"},
    ],
)
def test_rules_that_name_no_pair_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(CompareError):
        Rules(**wrong)  # type: ignore[arg-type]
