"""The verdict of an audit in one plain sentence, with figures; and the legend of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.files import copied
from support.quarters import crowd

from srsql.engine.api.engine import Engine
from srsql.engine.console.audit import LEGEND
from srsql.schemas.glossary import term

pytestmark = pytest.mark.thorough

HUANG = Path(__file__).parent.parent / "golden" / "huang2021"
BOUNDS = ("--k", 3, "--theta", "1/3")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Huang's Table 2: safe against B, F and L, not against MD."""
    path = tmp_path_factory.mktemp("verdict") / "w.duckdb"
    for quarter in ("2011Q1", "2011Q2", "2011Q3"):
        answer = srsql(
            "import-release", HUANG / "released_table2.csv", "--quarter", quarter,
            "--dataset", HUANG / "huang.toml", "--originals", HUANG / "original.csv", "--db", path,
        )  # fmt: skip
        assert answer.code == 0, answer.err
    return path


def first_line(*arguments: object) -> str:
    return srsql("audit", *arguments).out.splitlines()[0]


def test_a_safe_imported_series_names_the_attacks_that_were_played(imported: Path) -> None:
    line = first_line("--db", imported, *BOUNDS, "--scope", "group")
    groups = sum(row["groups"] for row in srsql(
        "audit", "--db", imported, *BOUNDS, "--scope", "group", "--json").json["releases"]
    )  # fmt: skip
    assert line == (
        "Safe: no attack that was played (B, F, L) finds fewer than 3 candidates for anybody, or a "
        f"value with more confidence than its threshold, in {groups} groups of 3 releases."
    )


def test_an_unsafe_series_names_groups_candidates_and_quarters(imported: Path) -> None:
    asked = ("--db", imported, *BOUNDS, "--attacks", "b,f,l,md", "--scope", "group")
    rows: list[dict[str, Any]] = srsql("audit", *asked, "--json").json["releases"]
    dig, dsg, groups = (sum(row[name] for row in rows) for name in ("dig", "dsg", "groups"))
    where = [row["quarter"] for row in rows if row["dig"] or row["dsg"]]
    assert first_line(*asked) == (
        f"Unsafe: {dig} of {groups} groups leave somebody with fewer than 3 candidates (as few as "
        f"1); {dsg} of {groups} groups let a value be inferred with more confidence than its "
        f"threshold; {len(where)} quarter{'s' if len(where) > 1 else ''}: {', '.join(where)}."
    )


def test_our_own_release_says_what_the_model_defends(tmp_path: Path) -> None:
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", {"2011Q4": crowd(60)})
    with Engine(path) as engine:
        engine.release("2011Q4", model="ppms++", k=3, theta="1/2", seed=1)
        found = engine.audit()
        engine.release("2011Q4", model="ms", k=3, theta="1/2", seed=1, series="b",
                       allow_linkable=True)  # fmt: skip
        single = engine.audit(series="b")
        joined = engine.audit(all_series=True)
    assert found.verdict.startswith(
        "Safe: no attack that the model defends against (B, F, L) finds fewer than 3 candidates "
        "for anybody, or a value with more confidence than its threshold, in "
    )
    assert found.verdict.endswith(" of 1 release.")
    assert "no attack that was played (B, F, L)" in single.verdict
    assert joined.verdict.startswith("Safe: " if joined.safe else "Unsafe: ")


@pytest.mark.parametrize(
    ("asked", "told"), [((), "md, ss, nor against P"), (("--attacks", "b,f,l,p"), "md, ss, p")]
)
def test_what_a_model_does_not_defend_against_names_persistence_once(
    tmp_path: Path, asked: tuple[str, ...], told: str
) -> None:
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", {"2011Q4": crowd(60)})
    with Engine(path) as engine:
        engine.release("2011Q4", model="ppms++", k=3, theta="1/2", seed=1)
    lines = srsql("audit", "--db", path, *asked).out.splitlines()
    assert f"2011Q4: ppms++ does not defend against {told}" in lines


def test_perturbed_releases_are_judged_by_their_internal_groups(tmp_path: Path) -> None:
    path = copied(tmp_path / "kept", tmp_path / "w.duckdb", {"2011Q4": crowd(60)})
    with Engine(path) as engine:
        engine.release("2011Q4", model="msdp-num", k=3, theta="1/2", seed=1, epsilon=1)
        verdict = engine.audit().verdict
    assert verdict == (
        "Safe: the groups behind the drawn values of 1 release keep k and theta, and attacks on "
        "what was drawn gate nothing."
    )


def test_the_legend_says_what_every_letter_means_as_the_glossary_does(imported: Path) -> None:
    text = srsql("audit", "--db", imported, *BOUNDS, "--attacks", "b,f,l,md").out
    legend = text[text.index("legend:\n") :].splitlines()[1:]
    assert legend == [f"  {term(key).term}: {term(key).short}" for key in LEGEND]
    letters = {line.strip().partition(",")[0].partition(":")[0] for line in legend}
    assert {"B", "F", "L", "MD", "P", "SS", "U", "E"} <= letters
