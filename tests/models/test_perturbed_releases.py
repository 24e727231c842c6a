"""Series of perturbed releases: what their rows show, against the raw reports."""

from __future__ import annotations

import hashlib
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from oracles import dp, ms, ppms
from oracles.trees import Tree
from support.perturbed_world import AGES, QUARTERS, RANGES, SEXES, K, Originals, leaf_of, series
from support.quarters import Report, write_quarter
from support.released import rows

from srsql.engine.api.engine import Engine

pytestmark = pytest.mark.thorough
MODELS = ("ppms-dp-num", "ppms-dp-all", "msdp-num", "msdp-all")
THETA = Fraction(1, 2)
DEFAULTS: dict[str, Any] = {
    "k": K, "theta": str(THETA), "on_infeasible": "withhold", "seed": 3, "ids": "original"
}  # fmt: skip
WORLD = series(5)


@dataclass(frozen=True)
class Made:
    """A series in a warehouse, and its originals."""

    engine: Engine
    model: str
    originals: dict[str, Originals]

    def ids(self) -> dict[str, int]:
        return dict(
            self.engine.sql("SELECT r.quarter, r.release_id FROM srsql.release AS r ORDER BY 1")
        )

    def shown(self, quarter: str) -> dict[int, dict[str, Any]]:
        """Case -> its released row; all reports of it show the same."""
        found: dict[int, dict[str, Any]] = {}
        for row in rows(self.engine.con, f'SELECT * FROM "release_{quarter.lower()}".demo'):
            row.pop("primaryid")
            assert found.setdefault(row["caseid"], row) == row
        return found

    def groups(self, quarter: str) -> dict[int, set[int]]:
        """Internal group -> its cases."""
        found: dict[int, set[int]] = defaultdict(set)
        for group, case in self.engine.sql(
            "SELECT m.group_id, m.case_id FROM srsql.member AS m WHERE m.release_id = ?",
            [self.ids()[quarter]],
        ):
            found[group].add(int(case))
        return found

    def given_up(self, quarter: str) -> set[tuple[int, int]]:
        """(case, position) of known values that were released as missing."""
        return {
            (int(case), position)
            for case, position in self.engine.sql(
                "SELECT m.case_id, q.position FROM srsql.case_qid AS q INNER JOIN srsql.member AS m"
                " ON q.release_id = m.release_id AND q.case_no = m.case_no "
                "WHERE q.given_up AND q.release_id = ?",
                [self.ids()[quarter]],
            )
        }

    def old(self, quarter: str) -> set[int]:
        """Cases that an earlier release shows."""
        if self.model.startswith("msdp"):
            return set()
        return {c for q in QUARTERS if q < quarter for c in self.shown(q)}


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    with Engine(folder / "w.duckdb") as engine:
        engine.ingest(
            [write_quarter(folder, q, r) for q, r in WORLD.items()], allow_incomplete=True
        )
    return folder / "w.duckdb"


@pytest.fixture(
    scope="module",
    params=[(m, c) for m, c in zip(MODELS, ("sound", "paper", "paper", "sound"), strict=True)],
    ids=lambda p: "-".join(p),
)
def made(
    request: pytest.FixtureRequest, ingested: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Made]:
    model, calibration = request.param
    db = shutil.copy(ingested, tmp_path_factory.mktemp("made") / "w.duckdb")
    with Engine(db) as engine:
        for quarter in QUARTERS:
            engine.release(quarter, model=model, calibration=calibration, epsilon="2", **DEFAULTS)
        yield Made(engine, model, {q: Originals(reports) for q, reports in WORLD.items()})


def test_internal_groups_keep_k_and_theta_of_the_cases_that_carry_them(made: Made) -> None:
    for quarter in QUARTERS:
        old, raw = made.old(quarter), made.originals[quarter]
        groups = made.groups(quarter)
        assert groups
        for cases in groups.values():
            carriers = cases - old
            assert len(carriers) >= K
            for term in {t for c in cases for t in raw.terms[c]}:
                held = sum(term in raw.terms[c] for c in cases)
                assert held <= THETA * len(carriers)


def test_numbers_are_single_values_of_the_domain_and_missing_ones_stay_missing(
    made: Made,
) -> None:
    for quarter in QUARTERS:
        lost, raw = made.given_up(quarter), made.originals[quarter]
        for case, row in made.shown(quarter).items():
            assert row["wt_low"] == row["wt_high"]
            if not raw.wt[case] or (case, 1) in lost:
                assert row["wt_low"] is None
            else:
                assert 0 <= row["wt_low"] <= 400


def test_categories_are_nodes_of_their_trees(made: Made) -> None:
    for quarter in QUARTERS:
        lost, raw = made.given_up(quarter), made.originals[quarter]
        for case, row in made.shown(quarter).items():
            assert row["sex"] in SEXES.above
            if raw.age[case] is None or (case, 0) in lost:
                assert (row["age_low"], row["age_high"]) == (None, None)
            else:
                assert (row["age_low"], row["age_high"]) in RANGES


def node(row: dict[str, Any]) -> str | None:
    ends = row["age_low"], row["age_high"]
    return None if ends == (None, None) else RANGES[ends]


def test_num_models_show_the_groups_common_category_over_members_and_earlier_releases(
    made: Made,
) -> None:
    if not made.model.endswith("num"):
        pytest.skip("the other models choose categories at random")
    for quarter in QUARTERS:
        raw, shown, lost = made.originals[quarter], made.shown(quarter), made.given_up(quarter)
        for cases in made.groups(quarter).values():
            released = {(node(shown[c]), shown[c]["sex"]) for c in cases}
            assert len(released) == 1
            age, sex = released.pop()
            before = [
                made.shown(q)[c]
                for q in QUARTERS
                if q < quarter and made.model.startswith("ppms")
                for c in cases
                if c in made.shown(q)
            ]
            if age is not None:
                members = [raw.age[c] for c in cases]
                earlier = [node(row) for row in before]
                assert None not in members
                assert None not in earlier
                assert age == dp.covering(AGES, members, earlier)  # type: ignore[arg-type]
            if all(raw.sex[c] is not None and (c, 2) not in lost for c in cases):
                assert sex == dp.covering(
                    SEXES, [raw.sex[c] or "" for c in cases], [row["sex"] for row in before]
                )


def test_no_two_groups_could_still_be_merged(made: Made) -> None:
    """Groups of one missingness pattern have different generalized categories."""
    for quarter in QUARTERS:
        raw, shown, lost = made.originals[quarter], made.shown(quarter), made.given_up(quarter)
        keys = []
        for cases in made.groups(quarter).values():
            first = min(cases)
            known = tuple(
                value is not None and value != [] and (first, p) not in lost
                for p, value in enumerate((raw.age[first], raw.wt[first], raw.sex[first]))
            )
            if made.model.endswith("num"):
                virtual: Any = (node(shown[first]), shown[first]["sex"])
            else:
                virtual = tuple(
                    tree.meeting([values[c] or "" for c in cases]) if there else None
                    for tree, values, there in (
                        (AGES, raw.age, known[0]), (SEXES, raw.sex, known[2]),
                    )
                )  # fmt: skip
            keys.append((known, virtual))
        assert len(keys) == len(set(keys))


def test_the_catalog_keeps_one_value_per_perturbed_attribute_and_the_ledger_charges_it(
    made: Made,
) -> None:
    perturbed = [1] if made.model.endswith("num") else [0, 1, 2]
    for quarter, release_id in made.ids().items():
        found = made.engine.sql(
            "SELECT m.case_id, v.position, v.low, v.high FROM srsql.perturbed AS v INNER JOIN"
            " srsql.member AS m ON v.release_id = m.release_id AND v.case_no = m.case_no "
            "WHERE v.release_id = ?",
            [release_id],
        )
        shown = made.shown(quarter)
        assert sorted((int(c), p) for c, p, _, _ in found) == sorted(
            (c, p) for c in shown for p in perturbed
        )
        for case, position, low, high in found:
            if position == 1:
                assert (low, high) == (shown[int(case)]["wt_low"], shown[int(case)]["wt_high"])
        drawn = sum(low is not None for _, _, low, _ in found)
        charged = made.engine.sql(
            "SELECT count(*), min(s.epsilon_num), max(s.epsilon_den) FROM srsql.budget_ledger AS s "
            "WHERE s.release_id = ?",
            [release_id],
        )
        sound = made.model in ("ppms-dp-num", "msdp-all")
        share = Fraction(2, len(perturbed) if sound else 1)
        assert charged == [(drawn, share.numerator, share.denominator)]


def test_an_audit_reports_attacks_but_judges_by_the_internal_groups(made: Made) -> None:
    found = made.engine.audit()
    assert found.safe
    for row in found.releases:
        assert row.internal == 0
        assert row.perturbed == (("wt",) if made.model.endswith("num") else ("age", "wt", "sex"))
        assert set(row.attacks) == {"b", "f", "l"}
        assert row.outside == 0
    assert all(group.qid["wt"] is None for group in found.evidence)
    stricter = made.engine.audit(k=K + 1000)
    assert not stricter.safe
    assert all(row.internal for row in stricter.releases)


def test_an_attacker_is_played_with_ages_as_categories(made: Made) -> None:
    played = made.engine.attack(QUARTERS[1], {"age": "30", "sex": "M"})
    assert played.known["age"] == "Adult"
    expected = set()
    for case, row in made.shown(QUARTERS[1]).items():
        if made.model.endswith("all"):
            expected.add(str(case))  # what is drawn rules nobody out
        elif row["sex"] in ("M", "Any") and (
            row["age_low"] is None or row["age_low"] <= 25 <= 44 <= row["age_high"]
        ):
            expected.add(str(case))
    assert {c.case_id for c in played.candidates} == expected


def test_metrics_leave_out_what_does_not_apply(made: Made) -> None:
    names = {row.measure for row in made.engine.metrics(QUARTERS[0])}
    assert "dr" in names
    assert not names & {"nil", "il_per_group"}


def test_groups_are_those_of_the_unoptimized_grouping_merged(tmp_path: Path) -> None:
    """NCC grouping by the oracle on the originals, then merging by equal generalized categories."""
    people = [
        Report(n, n, age=str(3 + 11 * n % 80), sex="MF"[n % 2], wt=str(50 + 7 * n % 40),
               pt=(f"T {n % 9}",))
        for n in range(1, 31)
    ]  # fmt: skip
    with Engine(tmp_path / "w.duckdb") as engine:
        engine.ingest([write_quarter(tmp_path, "2011Q1", people)], allow_incomplete=True)
        engine.release("2011Q1", model="msdp-all", refine="off", **DEFAULTS)
        found: dict[int, list[int]] = defaultdict(list)
        for group, case in engine.sql(
            "SELECT m.group_id, m.case_id::INTEGER FROM srsql.member AS m ORDER BY m.case_no"
        ):
            found[group].append(case)
    order = list(preorder(AGES))
    attributes: list[ms.Attribute] = [
        ms.Categorical(tuple(order.index(AGES.above[v]) if AGES.above[v] else None for v in order)),
        ms.Numeric(400),
        ms.Categorical((None, 0, 0)),
    ]
    cases = [
        ppms.Case(
            ms.Record(
                (
                    order.index(leaf_of(int(r.age))), (int(r.wt), int(r.wt)),
                    1 + "MF".index(r.sex),
                ),
                {r.pt[0].lower(): Fraction(1)},
            )
        )
        for r in people
    ]  # fmt: skip
    thetas: dict[Any, Fraction] = {r.pt[0].lower(): THETA for r in people}
    digest = hashlib.sha256(f"{DEFAULTS['seed']}/faers/2011Q1/7".encode()).digest()
    first = int.from_bytes(digest[:7]) % len(cases)
    problem = ppms.Problem(cases, attributes, K, thetas, ppms.Model(core_only=True))
    members: dict[int, list[int]] = defaultdict(list)
    for number, group in enumerate(ppms.group(problem, first)):
        members[group].append(number + 1)
    assert -1 not in members
    groups = [members[g] for g in range(len(members))]
    by_id = {r.caseid: r for r in people}
    keys = [
        (
            AGES.meeting([leaf_of(int(by_id[c].age)) for c in cases_of]),
            SEXES.meeting([by_id[c].sex for c in cases_of]),
        )
        for cases_of in groups
    ]
    assert [found[g] for g in range(len(found))] == dp.merged(groups, keys)


def preorder(tree: Tree) -> Iterator[str]:
    """The nodes, each before those below it, siblings in the order of the file."""
    stack = [tree.root]
    while stack:
        node_of = stack.pop()
        yield node_of
        stack.extend(reversed(tree.below(node_of)))
