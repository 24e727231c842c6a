"""Thresholds, levels files, external knowledge and leftovers, seen from what is released."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.files import copied
from support.quarters import Report, crowd, write_quarter
from support.released import regions, rows, terms_of

from srsql.engine.api.engine import Engine
from srsql.engine.errors import InfeasibleError, ReleaseError, SrsqlError

pytestmark = pytest.mark.slow


@pytest.fixture
def loaded(kept: Path, tmp_path: Path) -> Iterator[Engine]:
    made = copied(kept / "thresholds", tmp_path / "w.duckdb", {"2011Q4": crowd(60)})
    with Engine(made) as opened:
        yield opened


def levels(tmp_path: Path, text: str, name: str = "levels.csv") -> str:
    (tmp_path / name).write_text(text)
    return f"levels:{tmp_path / name}"


@pytest.mark.thorough
def test_a_value_of_theta_zero_is_refused_by_default_and_never_released(
    loaded: Engine, tmp_path: Path
) -> None:
    theta = levels(tmp_path, "value,theta\n reaction 05 ,0\n*,1/2\n")
    with pytest.raises(InfeasibleError, match=r"'Reaction 05' in 2 of 60 cases \(3.3%\) > theta 0"):
        loaded.release("2011Q4", k=3, theta=theta, seed=1)
    made = loaded.release(
        "2011Q4", k=3, theta=theta, seed=1, on_infeasible="withhold", ids="original"
    )
    shown = terms_of(loaded.con, "release_2011q4")
    assert made.manifest["withheld"] == {"infeasible": {"cases": 2, "reports": 2}}
    assert "reaction 05" not in set().union(*shown.values())
    assert {5, 45}.isdisjoint(shown)
    assert "reaction 05" not in {t["value"] for t in public(loaded)["thresholds"]}


def public(engine: Engine) -> dict[str, Any]:
    (row,) = rows(engine.con, "SELECT * FROM release_2011q4.manifest")
    return row


def test_a_small_theta_grows_every_group_and_the_manifest_says_so(
    loaded: Engine, tmp_path: Path
) -> None:
    theta = levels(tmp_path, "value,theta\nReaction 07,1/8\n*,0.5\n")
    made = loaded.release("2011Q4", k=3, theta=theta, seed=1)
    facts = public(loaded)
    assert (facts["k"], facts["k_effective"]) == (3, 8)
    assert (made.manifest["k"], made.manifest["k_effective"]) == (3, 8)
    found = regions(loaded.con, "release_2011q4")
    assert min(len(cases) for cases in found.values()) >= 8
    shown = terms_of(loaded.con, "release_2011q4")
    for cases in found.values():
        assert 8 * sum("reaction 07" in shown[case] for case in cases) <= len(cases)


@pytest.mark.thorough
def test_a_small_theta_of_a_value_that_does_not_occur_grows_nothing(
    loaded: Engine, tmp_path: Path
) -> None:
    theta = levels(tmp_path, "value,theta\nElsewhere,1/50\n*,0.5\n")
    assert loaded.release("2011Q4", k=3, theta=theta, seed=1).manifest["k_effective"] == 3


@pytest.mark.thorough
def test_the_same_levels_in_toml_and_csv_make_the_same_release(
    loaded: Engine, tmp_path: Path
) -> None:
    as_csv = levels(
        tmp_path, "value,theta\nREACTION 01,0.2\nreaction 02,0.2\nDisease 03,1/3\n*,0.5\n"
    )
    as_toml = levels(
        tmp_path,
        'default = 0.5\n[values]\n"disease 03" = "1/3"\n'
        '[[group]]\ntheta = 0.2\nvalues = ["Reaction 01", "Reaction 02"]\n',
        "levels.toml",
    )
    loaded.release("2011Q4", model="ms", k=3, theta=as_csv, seed=1)
    shown = rows(loaded.con, "SELECT * FROM release_2011q4.demo ORDER BY 1")
    thresholds = {t["value"]: t["theta"] for t in public(loaded)["thresholds"]}
    loaded.release(
        "2011Q4", model="ms", k=3, theta=as_toml, seed=1, supersede=True, change=True, weaker=True
    )
    assert rows(loaded.con, "SELECT * FROM release_2011q4.demo ORDER BY 1") == shown
    assert {t["value"]: t["theta"] for t in public(loaded)["thresholds"]} == thresholds
    assert [thresholds[t] for t in ("reaction 01", "reaction 02", "disease 03", "disease 04")] == [
        0.2,
        0.2,
        pytest.approx(1 / 3),
        0.5,
    ]


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("a.csv", "value,theta\nPain,0.4\n", "no default"),
        ("a.csv", "term,theta\nPain,0.4\n", "columns value and theta"),
        ("a.csv", "", "columns value and theta"),
        ("a.csv", "value,theta\nPain,often\n*,0.5\n", "'often' is not a threshold"),
        ("a.csv", "value,theta\nPain\n*,0.5\n", "'Pain'"),
        ("a.csv", "value,theta\nPain,1.5\n*,0.5\n", "between 0 and 1"),
        ("a.csv", "value,theta\nPain,nan\n*,0.5\n", "'nan'"),
        ("a.csv", "value,theta\nPain,0.4\nPain,0.3\n*,0.5\n", "two thresholds"),
        ("a.toml", "default = 0.5\n[values\n", "cannot be read"),
        ("a.toml", "[values]\nPain = 0.4\n", "no default"),
        ("a.toml", 'default = 0.5\n[[group]]\nvalues = ["Pain"]\n', "Pain"),
        *(
            pytest.param("a.toml", f"default = 0.5\n{text}\n", names)
            for text, names in (
                ("values = 3", "values"),
                ('group = "Pain"', "group"),
                ("[[group]]\ntheta = 0.4\nvalues = 7", "values"),
                ('[[group]]\ntheta = 0.4\nvalues = "Pain"', "values"),
                ("[vaules]\nPain = 0.4", "vaules"),
            )
        ),
    ],
)
def test_a_bad_levels_file_is_refused_in_one_line_that_names_it(
    loaded: Engine, tmp_path: Path, name: str, text: str, names: str
) -> None:
    with pytest.raises(SrsqlError) as caught:
        loaded.release("2011Q4", theta=levels(tmp_path, text, name))
    message = str(caught.value)
    assert str(tmp_path / name) in message
    assert names in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_the_strictest_of_the_thresholds_of_two_spellings_counts(
    loaded: Engine, tmp_path: Path
) -> None:
    theta = levels(tmp_path, "value,theta\nreaction 07,1/8\nREACTION 07,1/2\n*,0.5\n")
    loaded.release("2011Q4", k=3, theta=theta, seed=1)
    thresholds = {t["value"]: t["theta"] for t in public(loaded)["thresholds"]}
    assert thresholds["reaction 07"] == 1 / 8
    assert len(thresholds) == 80


def test_a_levels_file_that_is_not_there_or_not_text_is_refused_in_one_line(
    loaded: Engine, tmp_path: Path
) -> None:
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"value,theta\n\xff\xfe,0.4\n")
    for path in (tmp_path / "none.csv", binary, tmp_path):
        with pytest.raises(SrsqlError, match=r"cannot be read|there is no file") as caught:
            loaded.release("2011Q4", theta=f"levels:{path}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "theta", ["2", "-0.1", "often", "", "1/0", "levels", "0.1234567891", "inf"]
)
def test_a_theta_that_is_no_threshold_is_refused_in_one_line(loaded: Engine, theta: str) -> None:
    with pytest.raises(SrsqlError) as caught:
        loaded.release("2011Q4", theta=theta)
    assert "--theta" in str(caught.value)
    assert "\n" not in str(caught.value)


def takers() -> list[Report]:
    """12 young cases take Drug X, 28 older ones do not; nobody reports the disease it is for."""
    young = [replace(r, age="30", drugs=("Drug X",)) for r in crowd(12)]
    return young + [replace(r, age="60", drugs=("Drug Y",)) for r in crowd(28, first=13)]


@pytest.mark.thorough
def test_a_drug_that_implies_a_disease_is_limited_like_the_disease(
    engine: Engine, tmp_path: Path
) -> None:
    knowledge = tmp_path / "knowledge.csv"
    knowledge.write_text("drug,disease\n drug x,Acromegaly\n")
    engine.ingest([write_quarter(tmp_path, "2011Q4", takers())], allow_incomplete=True)

    def worst(**options: Any) -> float:
        engine.release(
            "2011Q4", model="ms", k=4, theta="0.4", seed=1, supersede=True, allow_linkable=True,
            change=True, ids="original", **options,
        )  # fmt: skip
        (facts,) = rows(engine.con, "SELECT * FROM release_2011q4.manifest")
        assert facts["external_knowledge"] == ("yes" if options else "no")
        assert "acromegaly" not in {t["value"] for t in facts["thresholds"]}
        return max(
            sum(case <= 12 for case in cases) / len(cases)
            for cases in regions(engine.con, "release_2011q4").values()
        )

    assert worst() > 0.4
    assert worst(knowledge=knowledge) <= 0.4


def test_knowledge_that_makes_a_disease_too_frequent_is_infeasible(
    engine: Engine, tmp_path: Path
) -> None:
    knowledge = tmp_path / "knowledge.csv"
    knowledge.write_text("drug,disease\nDrug Y,Acromegaly\n")
    engine.ingest([write_quarter(tmp_path, "2011Q4", takers())], allow_incomplete=True)
    with pytest.raises(InfeasibleError, match=r"'acromegaly' in 28 of 40 cases \(70.0%\)"):
        engine.release("2011Q4", k=4, theta="0.4", seed=1, knowledge=knowledge)


@pytest.mark.thorough
@pytest.mark.parametrize("refine", ["off", "fast", "full"])
def test_fractional_counts_are_bounded_without_the_floor(
    engine: Engine, tmp_path: Path, refine: str
) -> None:
    """1 + 1/2 + 1/3 + 1/3 of four cases have S: a confidence of 13/24, and theta is 0.55."""
    knowledge = tmp_path / "knowledge.csv"
    knowledge.write_text("drug,disease\nA,S\nA,T\nB,S\nB,U\nB,V\n")
    bare = [replace(r, pt=(), indi=(), drugs=()) for r in crowd(4)]
    four = [
        replace(bare[0], pt=("S",)),
        replace(bare[1], drugs=("A",)),
        replace(bare[2], drugs=("B",)),
        replace(bare[3], drugs=("B",)),
    ]
    engine.ingest([write_quarter(tmp_path, "2011Q4", four)], allow_incomplete=True)
    options = {"model": "ms", "k": 4, "seed": 1, "knowledge": knowledge, "refine": refine}
    made = engine.release("2011Q4", theta="0.55", **options)
    assert made.manifest["withheld"] == {}
    with pytest.raises(ReleaseError, match=r"nothing of 2011Q4 can be released .*infeasible"):
        engine.release("2011Q4", theta="0.54", on_infeasible="withhold", series="other", **options)


@pytest.mark.thorough
def test_a_pattern_that_has_the_cases_but_no_group_is_not_called_too_small(
    engine: Engine, tmp_path: Path
) -> None:
    """Any two of three share a value that one of two may hold, but all three together are fine."""
    shared = [("A", "B"), ("B", "C"), ("A", "C")]
    cases = [
        replace(r, pt=pt, indi=(), age="", wt="", sex="")
        for r, pt in zip(crowd(3), shared, strict=True)
    ]
    engine.ingest([write_quarter(tmp_path, "2011Q4", cases)], allow_incomplete=True)
    options = {"model": "ms", "k": 2, "theta": "2/3", "seed": 1}
    with pytest.raises(ReleaseError, match="no_group_fits 3"):
        engine.release("2011Q4", refine="off", **options)
    assert engine.release("2011Q4", **options).manifest["withheld"] == {}


@pytest.mark.parametrize("text", ["drug\nX\n", "drug,disease\nX,\n", "drug,disease\nX\n", ""])
def test_a_bad_knowledge_file_is_refused_in_one_line(
    loaded: Engine, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "knowledge.csv"
    path.write_text(text)
    with pytest.raises(SrsqlError) as caught:
        loaded.release("2011Q4", knowledge=path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def crowded(engine: Engine, tmp_path: Path) -> Engine:
    """Ten cases, four with X; groups of three take one X each, so that one X is left over."""
    cases = [replace(r, pt=("X",) if r.caseid <= 4 else (), indi=()) for r in crowd(10)]
    engine.ingest([write_quarter(tmp_path, "2011Q4", cases)], allow_incomplete=True)
    return engine


@pytest.mark.thorough
def test_a_case_that_fits_no_group_is_withheld_by_default(crowded: Engine) -> None:
    made = crowded.release("2011Q4", model="ms", k=3, theta="0.4", seed=1, refine="off")
    assert made.manifest["withheld"] == {"no_group_fits": {"cases": 1, "reports": 1}}
    assert Counter(len(c) for c in regions(crowded.con, "release_2011q4").values()) == {3: 3}
    assert len(terms_of(crowded.con, "release_2011q4")) == 3


@pytest.mark.thorough
def test_merging_releases_every_case_and_keeps_the_bound(crowded: Engine) -> None:
    made = crowded.release(
        "2011Q4", model="ms", k=3, theta="0.4", seed=1, leftovers="merge", ids="original"
    )
    assert made.manifest["withheld"] == {}
    found = regions(crowded.con, "release_2011q4")
    assert sum(len(cases) for cases in found.values()) == 10
    for cases in found.values():
        assert sum(case <= 4 for case in cases) <= math.floor(len(cases) * 2 / 5)


@pytest.mark.thorough
def test_refinement_makes_room_for_it_and_keeps_the_bound(crowded: Engine) -> None:
    made = crowded.release("2011Q4", model="ms", k=3, theta="0.4", seed=1, ids="original")
    assert made.manifest["withheld"] == {}
    assert public(crowded)["refine"] == "fast"
    for cases in regions(crowded.con, "release_2011q4").values():
        assert len(cases) >= 3
        assert 5 * sum(case <= 4 for case in cases) <= 2 * len(cases)


@pytest.mark.thorough
def test_a_case_that_fits_no_group_can_fail_the_release(crowded: Engine) -> None:
    options = {"model": "ms", "k": 3, "theta": "0.4", "seed": 1, "leftovers": "error"}
    with pytest.raises(ReleaseError, match=r"1 case\(s\) of 2011Q4 fit no group"):
        crowded.release("2011Q4", refine="off", **options)
    assert crowded.sql("SELECT count(*) FROM srsql.release") == [(0,)]
