"""`srsql explain`: regions, group sizes and reasons, against quarters that are counted by hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command import srsql
from support.quarters import Report, crowd, next_version, write_quarter

from srsql.engine.api.engine import Engine
from srsql.engine.errors import LookUpError, ReleaseError
from srsql.engine.models import MODELS

pytestmark = pytest.mark.thorough

TWO = [
    Report(10, 1, "30", "M", "70", ("Acne",)),
    Report(20, 2, "31", "M", "72", ("Cough",)),
    Report(30, 3, "33", "M", "75", ("Fever",)),
    Report(40, 4, "60", "F", "50", ("Acne",)),
    Report(50, 5, "62", "F", "52", ("Cough",)),
    Report(60, 6, "65", "M", "55", ("Fever",)),
]
"""Two groups of 3: men of 30 to 33 who weigh 70 to 75, and the others."""


def loaded(engine: Engine, folder: Path, reports: list[Report], **options: Any) -> None:
    """Ingest 2011Q4 and release it in groups of 3."""
    engine.ingest(
        [write_quarter(folder, "2011Q4", reports, options.pop("deleted", ()))],
        allow_incomplete=True,
    )
    engine.release("2011Q4", **({"model": "ms", "k": 3, "theta": "1/2", "seed": 1} | options))


def test_each_end_of_a_region_is_that_of_the_members_who_set_it(
    engine: Engine, tmp_path: Path
) -> None:
    loaded(engine, tmp_path, TWO)
    found = engine.explain("2011Q4", "1")
    assert (found.outcome, found.reason, found.is_new, found.why) == ("released", None, True, ())
    parts = {part.attribute: part for part in found.parts}
    assert parts["age"].region == {"low": 30, "high": 33}
    assert (parts["age"].low_by, parts["age"].high_by) == (("this case",), ("case 3",))
    assert parts["wt"].region == {"low": 70, "high": 75}
    assert (parts["wt"].low_by, parts["wt"].high_by) == (("this case",), ("case 3",))
    assert parts["sex"].region == "M"
    assert set(parts["sex"].low_by) == {"this case", "case 2", "case 3"}
    other = {part.attribute: part for part in engine.explain("2011Q4", "6").parts}
    assert other["sex"].region == "Any"
    ends = {*other["sex"].low_by, *other["sex"].high_by}
    assert ends == {"this case", "case 4", "case 5"}, "both sexes make it any"
    assert other["sex"].low_by != other["sex"].high_by


def test_the_size_of_a_group_and_what_it_needs(engine: Engine, tmp_path: Path) -> None:
    """Each group has 3 cases with 3 values; one of 3 may be held by half: it needs 2."""
    loaded(engine, tmp_path, TWO)
    found = engine.explain("2011Q4", "1")
    (group,) = found.groups
    assert (group.cases, group.new_cases, group.carriers, group.needs) == (3, 3, 3, 3)
    assert (group.value, group.held, group.theta, group.value_needs) == ("ACNE", 1, "1/2", 2)
    assert (found.k, found.k_effective, found.raised_by) == (3, 3, ())


def test_a_small_threshold_raises_the_least_size_and_is_named(
    engine: Engine, tmp_path: Path
) -> None:
    levels = tmp_path / "levels.csv"
    levels.write_text("value,theta\n*,1/2\nAcne,1/5\n")
    reports = [replace(r, pt=(f"Term {r.caseid}",)) for r in TWO] + [
        Report(70 + n, 7 + n, f"{40 + n}", "M", "60", (f"Term {7 + n}",)) for n in range(4)
    ]
    reports[0] = replace(reports[0], pt=("Acne",))
    loaded(engine, tmp_path, reports, theta=f"levels:{levels}")
    found = engine.explain("2011Q4", "1")
    assert (found.k, found.k_effective) == (3, 5)
    assert found.raised_by == ("ACNE (threshold 1/5)",)
    (group,) = found.groups
    assert group.cases >= 5
    assert (group.value, group.held, group.value_needs) == ("ACNE", 1, 5)


def test_a_value_given_up_is_named_with_the_number_that_was_too_small(
    engine: Engine, tmp_path: Path
) -> None:
    """Cases 7, 8 and 9 know age and sex, age and weight, and age: alone each, together 3."""
    some = [
        Report(70, 7, "40", "M", "", ("Rash",)),
        Report(80, 8, "41", "", "80", ("Pain",)),
        Report(90, 9, "42", "", "", ("Itch",)),
    ]
    loaded(engine, tmp_path, TWO + some)
    found = engine.explain("2011Q4", "7")
    parts = {part.attribute: part for part in found.parts}
    assert parts["age"].region == {"low": 40, "high": 42}
    assert (parts["sex"].region, parts["sex"].why) == (None, "given up")
    assert (parts["wt"].region, parts["wt"].why) == (None, "no report of the case tells it")
    assert found.why == (
        "sex is given up: those of the quarter with values in just the quasi-identifiers that "
        "the case has number 1, a group needs 3",
    )
    assert not parts["sex"].low_by, "whoever has none is not told"


def test_a_case_without_company_is_withheld_and_says_what_it_lacks(
    engine: Engine, tmp_path: Path
) -> None:
    alone = Report(70, 7, "", "", "80", ("Rash",))
    loaded(engine, tmp_path, [*TWO, alone], refine="off")  # which would find it a group
    found = engine.explain("2011Q4", "7")
    assert (found.outcome, found.reason) == ("withheld", "pattern_too_small")
    assert found.why[-1] == (
        "missing: age, sex; those of the quarter with values in just the same "
        "quasi-identifiers number 1, a group needs 3"
    )
    assert (found.parts, found.groups, found.is_new) == ((), (), None)


def test_a_value_that_is_too_frequent_is_named_with_its_share(
    engine: Engine, tmp_path: Path
) -> None:
    """5 of 6 have acne, of whom half may: 4 stay out, and 1 of 2 could be kept."""
    reports = [replace(r, pt=("Acne",) if r.caseid < 6 else ("Fever",)) for r in TWO]
    reports += [replace(r, primaryid=r.primaryid + 1000, caseid=r.caseid + 100,
                        pt=(f"Term {r.caseid}",)) for r in TWO[:3]]  # fmt: skip
    loaded(engine, tmp_path, reports, on_infeasible="withhold")
    gone = [c for c in range(1, 7) if engine.explain("2011Q4", str(c)).outcome == "withheld"]
    assert gone
    found = engine.explain("2011Q4", str(gone[0]))
    assert found.reason == "infeasible"
    assert found.why[-1] == "Acne: 5 of 9 cases (55.6%), threshold 0.5"


def test_deleted_and_forgotten_cases_are_told_with_the_reason(
    engine: Engine, tmp_path: Path
) -> None:
    loaded(engine, tmp_path, crowd(30), deleted=[5])
    found = engine.explain("2011Q4", "5")
    assert (found.outcome, found.reason) == ("withheld", "deleted")
    assert found.why == ("The regulator withdrew the case.",)
    engine.forget(["7"], reason="request of May")
    found = engine.explain("2011Q4", "7")
    assert found.case_id.startswith("forgotten:")
    assert "7" not in found.case_id.split(":")[0]
    assert any("forgotten on" in text and "request of May" in text for text in found.why)


def test_a_case_released_later_first_stays_out_of_an_earlier_quarter(
    engine: Engine, tmp_path: Path
) -> None:
    both = crowd(40)
    engine.ingest([write_quarter(tmp_path, "2011Q3", both)], allow_incomplete=True)
    later = [next_version(r) for r in both[:20]] + crowd(20, first=100)
    engine.ingest([write_quarter(tmp_path, "2011Q4", later)], allow_incomplete=True)
    asked: dict[str, Any] = {"model": "ppms++", "k": 3, "theta": "1/2", "seed": 1}
    engine.release("2011Q4", **asked)
    engine.release("2011Q3", **asked, supersede=True)
    found = engine.explain("2011Q3", "1")
    assert (found.outcome, found.reason) == ("withheld", "released_later")
    assert found.why[-1] == "out in: 2011Q4"


def test_a_pseudonym_stands_for_its_case(engine: Engine, tmp_path: Path) -> None:
    loaded(engine, tmp_path, TWO)
    known = {one.kind: one for one in engine.lookup(["3"], case=True).found}
    for kind in ("case", "report"):
        found = engine.explain("2011Q4", str(known[kind].pseudonym))
        assert (found.case_id, found.outcome) == ("3", "released")
    assert engine.explain("2011Q4", " 3 ").case_id == "3"


def test_what_cannot_be_explained_is_refused_in_one_line(engine: Engine, tmp_path: Path) -> None:
    loaded(engine, tmp_path, crowd(30))
    with pytest.raises(LookUpError, match="999 is neither released nor withheld in 2011Q4"):
        engine.explain("2011Q4", "999")
    with pytest.raises(LookUpError, match="neither released nor withheld"):
        engine.explain("2011Q4", "no id")
    with pytest.raises(ReleaseError, match="not released"):
        engine.explain("2012Q1", "1")
    engine.release("2011Q4", model="full-domain", k=3, series="rows", seed=1)
    with pytest.raises(LookUpError, match="rows that are no case's"):
        engine.explain("2011Q4", "1", series="rows")
    engine.release("2011Q4", model="disassociation", k=3, series="terms", seed=1)
    with pytest.raises(LookUpError, match="terms alone"):
        engine.explain("2011Q4", "1", series="terms")


WITH_ROWS = [name for name, model in MODELS.items() if model.shape.of_cases(True, False)]


@pytest.mark.parametrize("model", WITH_ROWS)
def test_every_model_with_rows_of_cases_explains_every_case(
    engine: Engine, tmp_path: Path, model: str
) -> None:
    """Whoever is named as an end has it, and there is nobody beyond: against the catalog."""
    first = [replace(r, age="" if r.caseid % 7 == 0 else r.age) for r in crowd(60)]
    quarters = {"2011Q3": first, "2011Q4": [next_version(r) for r in first[:30]] + crowd(30, 200)}
    options: dict[str, Any] = {"l": 2} if model == "l-diversity" else {"k": 3}
    if "theta" in MODELS[model].claimed_bounds.guaranteed:
        options["theta"] = "1/2"
    if model == "ppms-alpha":
        options |= {"assume_md": "all", "alpha": "9/10"}
    options |= {"on_infeasible": "withhold"}
    later = {"2012Q1": crowd(30, 300)}  # who stops is known from the quarter after
    for quarter, reports in (quarters | later).items():
        engine.ingest([write_quarter(tmp_path, quarter, reports)], allow_incomplete=True)
    for quarter in quarters:
        made = engine.release(quarter, model=model, seed=1, allow_linkable=True, **options)
    values = {
        (no, position): (low, high)
        for no, position, low, high in engine.sql(
            "SELECT case_no, position, low, high FROM srsql.case_qid WHERE release_id = ?",
            [made.release_id],
        )
    }
    members: dict[int, dict[str, int]] = defaultdict(dict)
    for no, case, group in engine.sql(
        "SELECT case_no, case_id, group_id FROM srsql.member WHERE release_id = ?",
        [made.release_id],
    ):
        members[group][case] = no
    asked = sorted({case for group in members.values() for case in group})[::7]
    for case in asked:
        found = engine.explain("2011Q4", case)
        assert found.outcome == "released"
        assert {group.group for group in found.groups} == {
            group for group, cases in members.items() if case in cases
        }
        for size in found.groups:
            assert size.cases == len(members[size.group])
        for part in found.parts:
            if not isinstance(part.region, dict):
                continue
            position = ["age", "wt", "sex"].index(part.attribute)
            if part.why.startswith("drawn"):
                assert not part.low_by
                continue
            assert part.low_by
            assert part.high_by
            for end, names, place in (("low", part.low_by, 0), ("high", part.high_by, 1)):
                for name in names:
                    if "its region in" not in name:
                        who = case if name == "this case" else name.removeprefix("case ")
                        own = values[members[part.group][who], position][place]
                        assert own == part.region[end]


def test_the_command_prints_what_a_steward_reads(engine: Engine, tmp_path: Path) -> None:
    loaded(engine, tmp_path, TWO)
    engine.close()
    asked = ("explain", "--case", "1", "--quarter", "2011Q4", "--db", tmp_path / "w.duckdb")
    answer = srsql(*asked)
    assert (answer.code, answer.err) == (0, "")
    first, *_ = answer.out.splitlines()
    assert first == (
        "2011Q4, series main (ms): case 1 is released, new in it; for the steward, not for "
        "publication"
    )
    assert "30 to 33" in answer.out
    assert "every group needs 3: k is 3" in answer.out
    assert "ACNE, held by 1 of 3, threshold 1/2: 2 are needed for it" in answer.out
    assert "cannot be told: why the group has these members" in answer.out
    for value in ("31", "72"):  # of case 2, which is no end
        assert value not in answer.out
    assert srsql(*asked, "--json").json["parts"][0]["attribute"] == "age"
