"""Count tables of somebody else: what the rules refute is refused, and what they cannot is said."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from oracles.count_tables import NOTHING, Counts, Item, Key, Maker, Rules, Tree, Unit

from srsql.cli import cli
from srsql.engine.artifact.verify.foreign_counts import verify_foreign_counts
from srsql.engine.artifact.verify.verdict import Verified
from srsql.engine.errors import VerifyError

ITEMS = ("drug", "reaction")
THETA = {"reaction": Fraction(2, 5)}
K = 5
Row = dict[str, Any]


def row(cases: int, drug: str = "", reaction: str = "", sex: str = "") -> Row:
    return {"drug": drug, "reaction": reaction, "sex": sex, "cases": cases}


def sound() -> list[Row]:
    """Cases by sex, a drug by sex, a reaction and both of all."""
    return [
        row(100, sex="F"), row(100, sex="M"), row(200),
        row(20, "x", sex="F"), row(20, "x", sex="M"), row(40, "x"),
        row(30, reaction="s"), row(12, "x", "s"),
    ]  # fmt: skip


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def judged(tmp_path: Path, rows: Sequence[Mapping[str, Any]], **more: Any) -> Verified:
    given: dict[str, Any] = {"k": K, "theta": THETA, "items": ITEMS} | more
    return verify_foreign_counts(write(tmp_path / "counts.csv", rows), **given)


def failed(found: Verified) -> set[str]:
    return {check.name for check in found.checks if check.faults}


def test_parts_by_one_column_within_another_are_added_up(tmp_path: Path) -> None:
    """Men are told by age alone."""
    head = {"drug": "", "reaction": "", "sex": "", "age": ""}
    rows = [
        head | {"cases": 500}, head | {"sex": "F", "cases": 248},
        head | {"sex": "M", "age": "0-17", "cases": 100},
        head | {"sex": "M", "age": "18+", "cases": 150},
    ]  # fmt: skip
    found = judged(tmp_path, rows)
    assert failed(found) == {"told counts"}
    assert "2 of it are in no part" in found.checks[0].faults[0]
    rows[0]["cases"] = 498
    assert judged(tmp_path, rows).passed


def test_a_sound_table_passes_and_says_what_it_cannot_show(tmp_path: Path) -> None:
    found = judged(tmp_path, sound())
    assert found.passed
    assert [check.total for check in found.checks] == [8, 8, 8, 0]
    assert any("rule R6" in text for text in found.cannot_show)
    assert any("counts are true" in text for text in found.cannot_show)


def test_without_thresholds_and_wholes_it_is_said_that_shares_are_not_judged(
    tmp_path: Path,
) -> None:
    found = judged(tmp_path, [row(12, "x", "s"), row(7, "y", "s")], theta={})
    assert found.passed
    assert "thresholds: give --theta" in found.cannot_show
    assert any(text.startswith("4 counts of items or pairs") for text in found.cannot_show)


def put(rows: list[Row], *new: Row) -> list[Row]:
    """The rows, with others in the place of those of the same cell."""
    cells = {(r["drug"], r["reaction"], r["sex"]): r for r in [*rows, *new]}
    return list(cells.values())


FORGERIES: list[tuple[str, Callable[[list[Row]], list[Row]], str]] = [
    ("a count below k", lambda r: put(r, row(4, "x", "s")), "told counts"),
    ("parts that are more than the whole", lambda r: put(r, row(38, "x")), "told counts"),
    ("a part that follows by subtraction", lambda r: put(r, row(43, "x")), "told counts"),
    ("one part of a pair, and two of it left",
     lambda r: put(r, row(8, "x", "s", "F")), "told counts"),
    ("a share above theta", lambda r: put(r, row(17, "x", "s")), "told shares"),
    ("a share of one part above theta",
     lambda r: put(r, row(15, "x", "s"), row(9, "x", "s", "F"), row(15, reaction="s", sex="F")),
     "told shares"),
    ("a base rate above theta", lambda r: put(r, row(81, reaction="s")), "told shares"),
    ("more with both than with one", lambda r: put(r, row(31, "x", "s")), "told shares"),
    ("all but three hold it", lambda r: put(r, row(97, "x", sex="F"), row(117, "x")),
     "told shares"),
    ("a reaction that the frequent drug is forced on (G1)",
     lambda r: put(r[:-1], row(90, "x", sex="F"), row(110, "x"), row(40, reaction="s", sex="F"),
                   row(45, reaction="s")), "ways out"),
    ("fewer with both than must have", lambda r: put(r, row(90, "x", sex="F"), row(110, "x"),
     row(40, reaction="s", sex="F"), row(45, reaction="s"), row(20, "x", "s", "F"),
     row(20, "x", "s")), "ways out"),
    ("a pair that only women can have (G2)",
     lambda r: put(r, row(15, "x", sex="F"), row(25, "x", sex="M"), row(40, "x"),
                   row(5, reaction="s", sex="M"), row(25, reaction="s", sex="F"),
                   row(15, "x", "s")), "ways out"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "forge", "check"), FORGERIES, ids=[forgery[0] for forgery in FORGERIES]
)
def test_a_table_that_breaks_a_rule_is_refused_by_the_check_that_sees_it(
    tmp_path: Path, name: str, forge: Callable[[list[Row]], list[Row]], check: str
) -> None:
    del name
    found = failed(judged(tmp_path, forge(sound())))
    assert check in found
    assert found <= {check, "ways out"}  # a count that is too high forces others


def test_two_partners_that_force_an_item_are_refused(tmp_path: Path) -> None:
    """8 of 10 with the reaction have the drug, and 8 the outcome: so 6 of the 6 with both (G3)."""
    cells = [("", "", "", 300), ("x", "", "", 100), ("", "H", "", 100), ("", "", "s", 10),
             ("x", "", "s", 8), ("", "H", "s", 8), ("x", "H", "", 6)]  # fmt: skip
    rows = [dict(zip(("drug", "outcome", "reaction", "cases"), c, strict=True)) for c in cells]
    items = ("drug", "outcome", "reaction")
    assert failed(judged(tmp_path, rows, items=items)) == {"bridges"}
    without = judged(tmp_path, rows[:-1], items=items)
    assert without.passed
    assert any(text.startswith("1 of 1 pairs of items") for text in without.cannot_show)
    rows[-1]["cases"] = 40
    assert judged(tmp_path, rows, items=items).passed


TREE = Tree({"all": ("F", "M")})
DRUGS: list[Item] = [("drug", t) for t in "xyz"]
REACTIONS: list[Item] = [("reaction", t) for t in "st"]
KINDS = frozenset({frozenset({"drug", "reaction"})})


def world(seed: int) -> list[Unit]:
    luck = random.Random(seed)
    share = {item: luck.choice((0.1, 0.3, 0.6)) for item in (*DRUGS, *REACTIONS)}
    return [
        (luck.choice("FM"), frozenset(i for i, rate in share.items() if luck.random() < rate))
        for _ in range(luck.randint(20, 120))
    ]


def as_rows(told: Mapping[Key, Mapping[str, int]]) -> list[Row]:
    found = []
    for key, cells in told.items():
        named = dict(key)
        for node, cases in cells.items():
            sex = "" if node == "all" else node
            if cases:
                found.append(row(cases, str(named.get("drug", "")),
                                 str(named.get("reaction", "")), sex))  # fmt: skip
    return found


def with_sums(told: Mapping[Key, Mapping[str, int]]) -> dict[Key, dict[str, int]]:
    return {key: {"all": sum(cells.values())} | dict(cells) for key, cells in told.items()}


@pytest.mark.parametrize("seed", range(40))
def test_tables_by_our_rules_pass_with_their_sums_and_raw_counts_do_not(
    tmp_path: Path, seed: int
) -> None:
    units = world(seed)
    rules = Rules(3, dict.fromkeys(REACTIONS, Fraction(2, 5)), KINDS)
    told = Maker(units, TREE, rules).tell()
    if NOTHING not in told:
        return
    found = judged(tmp_path, as_rows(with_sums(told)), k=3)
    assert found.passed, [check.faults for check in found.checks]
    counts = Counts(units, TREE)
    keys = [frozenset(i) for i in ((), *((i,) for i in (*DRUGS, *REACTIONS)))]
    keys += [frozenset(pair) for pair in product(DRUGS, REACTIONS)]
    raw = {key: {node: counts.of(node, key) for node in TREE.nodes()} for key in keys}
    broken = any(
        0 < n < 3 or any(n > Fraction(2, 5) * raw[key - {i}][node] for i in key & set(REACTIONS))
        for key, cells in raw.items()
        for node, n in cells.items()
    )
    assert broken <= (not judged(tmp_path, as_rows(raw), k=3).passed)


def test_strata_may_part_the_cases_in_two_ways(tmp_path: Path) -> None:
    """By sex and by age: 43 of all in ages, of which 40 are told, leave three."""
    cells = [("", "", 100), ("F", "", 50), ("M", "", 50), ("", "old", 57), ("", "young", 40)]
    rows = [{"drug": "", "reaction": "", "sex": s, "age": a, "cases": n} for s, a, n in cells]
    assert failed(judged(tmp_path, rows)) == {"told counts"}
    rows[3]["cases"] = 60
    assert judged(tmp_path, rows).passed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("drug,cases\nx,5\n", "it needs one column 'reaction'"),
        ("drug,reaction,cases\nx,s,five\n", "'five' is no number of cases"),
        ("drug,reaction,cases\nx,s,-1\n", "'-1' is no number of cases"),
        ("drug,reaction,cases\nx,s,5\nX,s,6\n", "row 3: this count is there twice"),
        ("drug,reaction,cases\nx,s,5,6\n", "row 2: it has not as many fields"),
        ("drug,reaction,cases\nx,s\n", "row 2: it has not as many fields"),
        ("drug,reaction,cases\n", "there are no counts"),
        ('drug,reaction,cases\n"x,s,5\n', "cannot be read"),
        ("drug,reaction,cases\nx,s,\u0665\n", "row 2"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_in_a_line(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VerifyError, match=says):
        verify_foreign_counts(path, K, THETA, ITEMS)


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        (["--theta", "reaction=0.4"], 0, "passed: 4 checks"),
        (["--theta", "reaction=1/10"], 1, "told shares"),
        (["--k", "13"], 1, "told counts"),
        (["--theta", "reaction=2"], 2, "give a column and a number"),
        (["--theta", "route=0.4"], 2, "it is none of --items"),
        (["--k", "1"], 2, "give 2 or more"),
    ],
)
def test_the_command_judges_a_file(tmp_path: Path, given: list[str], code: int, says: str) -> None:
    path = write(tmp_path / "counts.csv", sound())
    found = CliRunner().invoke(cli, ["verify", "--counts", str(path), *given])
    if code == 2:
        assert isinstance(found.exception, VerifyError)
        assert says in str(found.exception)
    else:
        assert found.exit_code == code, found.output
        assert says in found.output


def test_its_options_go_with_the_file_alone(tmp_path: Path) -> None:
    runner = CliRunner()
    assert "belong to --counts" in runner.invoke(cli, ["verify", "x", "--k", "5"]).output
    both = runner.invoke(cli, ["verify", str(tmp_path), "--counts", "c.csv"])
    assert "give it alone" in both.output
    path = write(tmp_path / "counts.csv", sound())
    told = runner.invoke(cli, ["verify", "--counts", str(path), "--json"])
    assert json.loads(told.stdout)["passed"] is True
    assert [c["name"] for c in json.loads(told.stdout)["checks"]] == [
        "told counts", "told shares", "ways out", "bridges",
    ]  # fmt: skip


def test_forgeries_are_all_different() -> None:
    names = [name for name, _, _ in FORGERIES]
    assert not [one for one, other in combinations(names, 2) if one == other]
