"""Two versions compared: what is masked, what is listed, and what is a failure."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.benchmark import load

compare, documents = load("same_release.compare"), load("same_release.documents")
drawn, masks = load("same_release.drawn"), load("same_release.masks")
scenarios, version = load("same_release.scenarios"), load("same_release.version")
command = load("same_release.command")
GUARANTEE = "At least 5 cases remain."
MANIFEST = {"quarter": "2004", "software_version": "0.1.0", "k": 5, "guarantee": GUARANTEE}
DEMO = [(1, 30, "F"), (2, 30, "M")]
SUBRECORDS = [("1", "1", "ACNE"), ("1", "2", "COUGH"), ("2", "1", "FEVER")]


def table(header: str, rows: list[Any]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal dumps of a scenario with one release and one artifact."""
    before, after = tmp_path / "before", tmp_path / "after"
    audit = {"arguments": ["audit"], "code": 0, "document": {"dir": 0.25, "seconds": 1.5}}
    files = {
        "scenario.json": json.dumps({"version": "0.1.0"}),
        "commands.json": json.dumps([audit | {"errors": "drawn by srsql 0.1.0\n"}]),
        "files.json": "{}",
        "tables/columns.json": json.dumps({"release_2004.demo": [["caseid", "BIGINT"]]}),
        "tables/release_2004.manifest.json": json.dumps([MANIFEST]),
        "tables/release_2004.demo.csv": table("caseid,age,sex", DEMO),
        "tables/release_2004.record_chunk.csv": table("cluster,subrecord,term", SUBRECORDS),
        "artifacts/x/manifest.json": json.dumps(
            MANIFEST
            | {"tables": [{"name": "demo", "file": "demo.csv"}], "files": {"demo.csv": "0"}}
        ),
        "artifacts/x/demo.csv": table("caseid,age,sex", DEMO),
        "artifacts/x/README.md": "Made by srsql 0.1.0 on k = 5.\n",
    }
    for name, text in files.items():
        (before / name).parent.mkdir(parents=True, exist_ok=True)
        (before / name).write_text(text)
    shutil.copytree(before, after)
    return before, after


def change(file: Path, how: Callable[[str], str]) -> None:
    text = file.read_text()
    assert how(text) != text
    file.write_text(how(text))


def found(sides: tuple[Path, Path], draws: Any = None) -> Any:
    return compare.compare(scenarios.Scenario("small", (), draws=draws), *sides)


def test_equal_dumps_are_the_same_and_counted(sides: tuple[Path, Path]) -> None:
    result = found(sides)
    assert (result.same, result.texts, result.notes) == (True, [], [])
    assert result.equal["rows"] == 2 + 3
    assert result.equal["artifact files"] == 2


def test_versions_hashes_and_seconds_are_masked(sides: tuple[Path, Path]) -> None:
    _, after = sides
    change(after / "scenario.json", lambda t: t.replace("0.1.0", "0.2.0"))
    change(after / "commands.json", lambda t: t.replace("1.5", "2.5").replace("0.1.0", "0.2.0"))
    change(after / "tables/release_2004.manifest.json", lambda t: t.replace("0.1.0", "0.2.0"))
    change(after / "artifacts/x/README.md", lambda t: t.replace("0.1.0", "0.2.0"))
    change(after / "artifacts/x/manifest.json", lambda t: t.replace('"0"', '"1"'))
    result = found(sides)
    assert (result.same, result.texts, result.failures) == (True, [], [])


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("commands.json", "0.25", "0.26", "/dir: 0.25 -> 0.26"),
        ("commands.json", '"code": 0', '"code": 1', "exit code 0 -> 1"),
        ("tables/columns.json", "BIGINT", "INTEGER", "'BIGINT' -> 'INTEGER'"),
        ("tables/release_2004.manifest.json", '"k": 5', '"k": 6', "/k: 5 -> 6"),
        ("tables/release_2004.demo.csv", "1,30", "1,31", "1 of 3 rows only before"),
        ("tables/release_2004.demo.csv", "1,30,F\n2,30,M", "2,30,M\n1,30,F", "in another order"),
        ("artifacts/x/demo.csv", "30,F", "30,M", "1 of 3 rows only before"),
    ],
)
def test_a_value_or_a_row_that_changed_is_a_failure(
    sides: tuple[Path, Path], file: str, old: str, new: str, said: str
) -> None:
    change(sides[1] / file, lambda text: text.replace(old, new))
    result = found(sides)
    assert not result.same
    assert len(result.failures) == 1
    assert said in result.failures[0]


def test_the_day_of_a_release_may_differ_or_be_missing(sides: tuple[Path, Path]) -> None:
    _, after = sides
    dated = MANIFEST | {"release_date": "2026-11-22"}
    (after / "tables/release_2004.manifest.json").write_text(json.dumps([dated]))
    columns = {"release_2004.demo": [["caseid", "BIGINT"], ["release_date", "VARCHAR"]]}
    (after / "tables/columns.json").write_text(json.dumps(columns))
    assert found(sides).same


def test_a_table_that_is_missing_is_a_failure(sides: tuple[Path, Path]) -> None:
    (sides[1] / "tables/release_2004.demo.csv").unlink()
    assert found(sides).failures == ["tables/release_2004.demo.csv: only before"]


def test_a_text_that_changed_is_only_listed(sides: tuple[Path, Path]) -> None:
    _, after = sides
    change(after / "tables/release_2004.manifest.json", lambda t: t.replace("remain", "stay"))
    change(after / "artifacts/x/README.md", lambda t: t.replace("k = 5", "k = 6"))
    result = found(sides)
    assert result.same
    (guarantee, lines), (readme, _) = result.texts
    assert guarantee == "tables/release_2004.manifest.json /0/guarantee"
    assert lines[1:] == ["-At least 5 cases remain.", "+At least 5 cases stay."]
    assert readme == "x/README.md (its numbers differ as well)"


@pytest.mark.parametrize(
    ("key", "before", "after", "is_text"),
    [
        ("note", "holds for all", "holds for any", True),
        ("measure", "nil", "loss", False),
        ("term", "Cough at night", "Cough at noon", False),
        ("note", "holds for all", 7, False),
        ("passed", True, 1, False),
    ],
)
def test_words_and_data_are_values_and_phrases_are_texts(
    key: str, before: Any, after: Any, is_text: bool
) -> None:
    (difference,) = documents.differences({key: before}, {key: after})
    assert difference.is_text == is_text


def test_only_quantiles_may_differ_behind_the_twelfth_digit() -> None:
    before, after = ({"eb05": 1 + e, "prr": 1 + e} for e in (0.0, 1e-15))
    quantile, other = documents.differences(before, after)
    assert (quantile.is_rounding, other.is_rounding) == (True, False)


def test_drawn_subrecords_are_compared_as_a_multiset(sides: tuple[Path, Path]) -> None:
    file = sides[1] / "tables/release_2004.record_chunk.csv"
    turned = [("1", "2", "ACNE"), ("1", "1", "COUGH"), ("2", "1", "FEVER")]
    file.write_text(table("cluster,subrecord,term", turned))
    assert not found(sides).same
    result = found(sides, scenarios.SUBRECORDS)
    assert (result.same, result.notes) == (True, [scenarios.SUBRECORDS.reason])
    change(file, lambda text: text.replace("COUGH", "FEVER"))
    assert not found(sides, scenarios.SUBRECORDS).same


def test_clusters_under_drawn_numbers_are_known_by_their_contents() -> None:
    def tables(numbers: dict[str, str]) -> Any:
        chunk = [{"cluster": numbers[c], "subrecord": s, "term": t} for c, s, t in SUBRECORDS]
        clusters = [{"cluster": numbers[c], "records": "5"} for c in "12"]
        return {"clusters": clusters, "record_chunk": chunk}

    plain, other = ({"1": "1", "2": "2"}, {"1": "2", "2": "1"})
    by_content = drawn.without_draws(tables(plain), clusters=True)
    assert by_content == drawn.without_draws(tables(other), clusters=True)
    assert by_content != drawn.without_draws(tables({"1": "1", "2": "1"}), clusters=True)


def test_an_interpreter_in_a_text_is_masked() -> None:
    text = "'/x/bin/python3.12' of srsql 0.1.0, not 10.1.0"
    assert masks.masked_text(text, "0.1.0") == "'PYTHON' of srsql (version), not 10.1.0"


def test_a_dump_of_other_commands_is_refused(tmp_path: Path) -> None:
    scenario = scenarios.Scenario("small", (("status",),))
    assert version.kept_dump(tmp_path, scenario) is None
    (tmp_path / "small").mkdir()
    said = version.description(scenario) | {"version": "0.1.0"}
    (tmp_path / "small" / "scenario.json").write_text(json.dumps(said))
    assert version.kept_dump(tmp_path, scenario) == tmp_path / "small"
    with pytest.raises(version.MisuseError, match="other commands"):
        version.kept_dump(tmp_path, scenarios.Scenario("small", (("audit",),)))


@pytest.mark.parametrize(
    "arguments",
    [[], ["--before", "a"], ["--only", "nothing"], ["--before-dumps", "absent"], ["--unknown"]],
)
def test_misuse_is_told_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.command(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
