"""The macros that compare two versions of a quarter, against plain Python over the same catalog."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.examples import REPEATABLE

FRACTIONS = st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)])
ATTACKS = ("b", "f", "l", "md", "ss")
TABLES = (
    "release", "claim", "threshold", "defended_attack", "perturbation", "attribute",
    "external_knowledge", "disassociated", "member",
)  # fmt: skip


@dataclass(frozen=True)
class Version:
    """What the catalog says of one version."""

    k: int
    claims: dict[str, Fraction]
    thresholds: dict[str, Fraction]
    attacks: frozenset[str]
    alpha: Fraction | None
    noises: dict[int, tuple[Fraction, str, str]]
    """Position -> epsilon, calibration, noise."""
    knowledge: frozenset[tuple[str, str]]
    terms: dict[str, tuple[int, int, bool]]
    """Attribute -> m, l, repeated."""

    @property
    def bounds(self) -> dict[str, Fraction]:
        return self.claims or {"k": Fraction(self.k), "theta": Fraction(1)}


VERSIONS = st.builds(
    Version,
    k=st.integers(2, 4),
    claims=st.dictionaries(st.sampled_from(["k", "alpha", "reports", "values"]), FRACTIONS),
    thresholds=st.dictionaries(st.sampled_from(["A", "B", "C"]), FRACTIONS),
    attacks=st.frozensets(st.sampled_from(ATTACKS)),
    alpha=st.none() | FRACTIONS,
    noises=st.dictionaries(
        st.integers(0, 1),
        st.tuples(
            FRACTIONS, st.sampled_from(["paper", "sound"]), st.sampled_from(["secure", "seeded"])
        ),
    ),
    knowledge=st.frozensets(st.sampled_from([("d", "x"), ("d", "y")])),
    terms=st.dictionaries(
        st.sampled_from(["pt", "indi_pt"]),
        st.tuples(st.integers(1, 2), st.integers(1, 2), st.booleans()),
    ),
)


def store(sql: Any, number: int, version: Version) -> None:
    def insert(table: str, rows: list[tuple[Any, ...]]) -> None:
        sql.insert(f"srsql.{table}", [(number, *row) for row in rows])

    insert("release", [("d", "main", "2011Q4", "ms", "released", version.k, version.k, 1, "s", 1,
                        "{}")])  # fmt: skip
    insert("claim", [(c, b.numerator, b.denominator) for c, b in version.claims.items()])
    insert("threshold", [
        (n, term, theta.numerator, theta.denominator, 1, True)
        for n, (term, theta) in enumerate(sorted(version.thresholds.items()))
    ])  # fmt: skip
    alpha = version.alpha
    insert("defended_attack", [(sorted(version.attacks), alpha and alpha.numerator,
                                alpha and alpha.denominator)])  # fmt: skip
    insert("attribute", [(q, f"q{q}", "numeric", 1) for q in (0, 1)])
    insert("perturbation", [
        (q, "laplace", calibration, noise, epsilon.numerator, epsilon.denominator)
        for q, (epsilon, calibration, noise) in version.noises.items()
    ])  # fmt: skip
    insert("external_knowledge", [
        (drug.upper(), disease.upper(), drug, disease)
        for drug, disease in sorted(version.knowledge)
    ])  # fmt: skip
    insert("disassociated", [
        (n, name, m, diversity, repeated, True, "chunks")
        for n, (name, (m, diversity, repeated)) in enumerate(version.terms.items())
    ])  # fmt: skip


def weaker(new: Version, old: Version) -> set[tuple[str, str]]:
    """Names, and of what, that the new version promises less of."""
    found: set[tuple[str, str]] = set()
    for name, bound in old.bounds.items():
        now = new.bounds.get(name)
        if now is None or (now > bound if name == "alpha" else now < bound):
            found.add((name, ""))
    if "theta" in old.bounds:
        for term, theta in old.thresholds.items():
            if new.thresholds.get(term, theta) > theta:
                found.add(("theta", term))
    found |= {("attack", attack) for attack in old.attacks - new.attacks}
    if old.alpha is not None and (new.alpha is None or new.alpha > old.alpha):
        found.add(("alpha", ""))
    for q, (epsilon, calibration, noise) in old.noises.items():
        now_epsilon, now_calibration, now_noise = new.noises.get(q, (None, calibration, noise))
        if now_epsilon is None or now_epsilon > epsilon:
            found.add(("epsilon", f"q{q}"))
        if (calibration, now_calibration) == ("sound", "paper") or (noise, now_noise) == (
            "secure",
            "seeded",
        ):
            found.add(("noise", f"q{q}"))
    if old.knowledge - new.knowledge:
        found.add(("knowledge", ""))
    for name, (m, diversity, repeated) in old.terms.items():
        if name not in new.terms:
            found.add(("terms", name))
            continue
        now_m, now_diversity, now_repeated = new.terms[name]
        found |= {("m", name)} if now_m < m else set()
        found |= {("l", name)} if now_diversity < diversity else set()
        found |= {("repeated terms", name)} if repeated and not now_repeated else set()
    return found


def emptied(sql: Any) -> None:
    for table in TABLES:
        sql.con.execute(f"DELETE FROM srsql.{table}")


@pytest.mark.slow
@REPEATABLE
@given(new=VERSIONS, old=VERSIONS)
def test_what_is_weaker_is_what_plain_python_finds_weaker(
    sql: Any, new: Version, old: Version
) -> None:
    emptied(sql)
    store(sql, 1, old)
    store(sql, 2, new)
    rows = sql.rows("FROM srsql.weaker_terms(2, 1)")
    assert {(name, of_what) for name, of_what, *_ in rows} == weaker(new, old)
    assert sql.rows("FROM srsql.weaker_terms(1, 1)") == []
    bounds = {name: Fraction(n, d) for name, n, d in sql.rows("FROM srsql.kept_bounds(2)")}
    assert bounds == new.bounds


def test_what_was_and_what_is_are_told_as_exact_fractions(sql: Any) -> None:
    emptied(sql)
    plain = Version(3, {}, {"A": Fraction(1, 3)}, frozenset(), None, {}, frozenset(), {})
    store(sql, 1, plain)
    store(sql, 2, Version(2, {}, {"A": Fraction(1, 2)}, frozenset(), None, {}, frozenset(), {}))
    rows = sql.rows("FROM srsql.weaker_terms(2, 1) ORDER BY ALL")
    assert rows == [("k", "", "3", "2"), ("theta", "A", "1/3", "1/2")]
    texts = sql.rows("SELECT srsql.fraction_text(6, 4), srsql.fraction_text(6, 3)")
    assert texts == [("3/2", "2")]


@REPEATABLE
@given(
    groups=st.lists(st.integers(0, 2), max_size=8),
    kept=st.frozensets(st.integers(0, 7)),
)
def test_a_group_is_broken_that_lost_some_cases_but_not_all(
    sql: Any, groups: list[int], kept: frozenset[int]
) -> None:
    emptied(sql)
    members = [(n, str(n), group, 1, True) for n, group in enumerate(groups)]
    sql.insert("srsql.member", [(1, *m) for m in members])
    sql.insert("srsql.member", [(2, n, case, 9, 1, True) for n, case, *_ in members if n in kept])
    of = {g: {n for n, group in enumerate(groups) if group == g} for g in set(groups)}
    assert sorted(sql.rows("FROM srsql.broken_groups(2, 1)")) == sorted(
        (g, len(cases), len(cases & kept))
        for g, cases in of.items()
        if cases & kept and cases - kept
    )
