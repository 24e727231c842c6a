"""Lin 2016, Examples 1 and 2, on the oracle and through the kernel.

Errata: the paper computes r7 (weight 80) with 85 and subtracts 1.4 instead of 1 from every IL;
the true ΔIL are 5.25, 8.25 and 0.5.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracles import ms

from srsql.udfs.grouping.greedy import ms_group
from srsql.udfs.grouping_problem import Attributes, Cases

# Fig. 1 and Fig. 2 in preorder: the MeSH age groups with Child as a leaf (height 2), and sex.
AGE = {
    "Any": None,
    "Non-adult": "Any",
    "Infant": "Non-adult",
    "Child": "Non-adult",
    "Adolescent": "Non-adult",
    "Grown-up": "Any",
    "Young Adult": "Grown-up",
    "Adult": "Grown-up",
    "Middle Aged": "Grown-up",
    "Aged": "Grown-up",
    "Aged 80 and over": "Grown-up",
}
SEX = {"Any": None, "Male": "Any", "Female": "Any"}
WEIGHT_SPAN = 100
K, THETA = 5, Fraction(3, 5)

# Table 4: sex, age, weight, indications.
TABLE_4 = {
    "r1": ("Male", "Young Adult", (50, 75), (1,)),
    "r2": ("Male", "Young Adult", (50, 75), (2, 3, 4)),
    "r3": ("Male", "Young Adult", (50, 75), (2, 3)),
    "r4": ("Male", "Young Adult", (50, 75), (2,)),
    "r5": ("Male", "Adolescent", (50, 50), (1,)),
    "r6": ("Female", "Adult", (40, 40), (3, 4)),
    "r7": ("Male", "Young Adult", (80, 80), (2, 3)),
}

# Table 3: the drugs of every case of the two released groups, and the external knowledge.
TABLE_3_GROUPS = {
    "USA": [{"Paracetamol"}, {"Intron A", "Antacid"}],
    "UK": [{"Paracetamol"}, {"Antacid"}],
}
TABLE_3_EXTERNAL = {
    "Asprin": ["Flu", "Headache", "Fever"],
    "Intron A": ["Hepatitis B", "Hepatitis C", "Leukemia", "Melanoma"],
    "Paracetamol": ["Headache", "Fever"],
    "Antacid": ["Stomachache", "GERD"],
}


def tree(nodes: dict[str, str | None]) -> ms.Categorical:
    number = {label: node for node, label in enumerate(nodes)}
    return ms.Categorical(tuple(parent and number[parent] for parent in nodes.values()))


ATTRIBUTES = (tree(SEX), tree(AGE), ms.Numeric(WEIGHT_SPAN))
RECORDS = {
    case: ms.Record(
        (list(SEX).index(sex), list(AGE).index(age), weight),
        dict.fromkeys(indications, Fraction(1)),
    )
    for case, (sex, age, weight, indications) in TABLE_4.items()
}
GROUP = [RECORDS[case] for case in ("r1", "r2", "r3", "r4")]
THETAS = dict.fromkeys((1, 2, 3, 4), THETA)


def test_information_loss_of_the_known_group_is_1() -> None:
    assert ms.information_loss(GROUP, ATTRIBUTES) == 1


@pytest.mark.parametrize(
    ("case", "loss", "increase"),
    [("r5", 6.25, 5.25), ("r6", 9.25, 8.25), ("r7", 1.5, 0.5)],
)
def test_information_loss_with_each_isolated_record(
    case: str, loss: float, increase: float
) -> None:
    assert ms.information_loss([*GROUP, RECORDS[case]], ATTRIBUTES) == Fraction(loss)
    assert ms.delta_il(GROUP, RECORDS[case], ATTRIBUTES) == Fraction(increase)


def test_five_times_three_fifths_allows_three_records() -> None:
    assert ms.eta(5, K, THETA) == 3


@pytest.mark.parametrize(
    ("case", "risk"), [("r5", Fraction(3, 2)), ("r6", Fraction(7, 2)), ("r7", None)]
)
def test_privacy_risk_of_each_isolated_record(case: str, risk: Fraction | None) -> None:
    assert ms.privacy_risk(GROUP, RECORDS[case], K, THETAS) == risk


def test_best_record_is_r5() -> None:
    gains = {
        case: ms.gain(GROUP, RECORDS[case], ATTRIBUTES, K, THETAS) for case in ("r5", "r6", "r7")
    }
    finite = {case: gain for case, gain in gains.items() if gain is not None}
    assert min(finite, key=lambda case: finite[case]) == "r5"
    assert finite["r5"].refined == Fraction("7.875")
    assert "r7" not in finite


def test_oracle_groups_r1_to_r5_and_the_leftovers_join() -> None:
    assert ms.group(list(RECORDS.values())[:5], ATTRIBUTES, K, THETAS, 0) == [0] * 5
    assert ms.group(list(RECORDS.values()), ATTRIBUTES, K, THETAS, 0) == [0] * 7


def test_oracle_builds_the_group_of_example_2_from_r1() -> None:
    groups, rest = ms._build_groups(list(RECORDS.values()), ATTRIBUTES, K, THETAS, 0, Fraction(1))
    assert (sorted(groups[0]), rest) == ([0, 1, 2, 3, 4], [5, 6])


KERNEL_ATTRIBUTES = Attributes(
    span=np.array([0, 0, WEIGHT_SPAN]),
    tree_start=np.array([0, 3, 14, 14]),
    parent=np.array([-1, 0, 0, -1, 0, 1, 1, 1, 0, 5, 5, 5, 5, 5]),
    last=np.array([2, 1, 2, 10, 4, 2, 3, 4, 10, 6, 7, 8, 9, 10]),
    height=np.array([1, 0, 0, 2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
)


def kernel(records: list[ms.Record]) -> list[int]:
    """Every categorical value of Table 4 is a leaf: its interval is the node alone."""
    boxes = [[(v, v) if isinstance(v, int) else v for v in r.values] for r in records]
    terms = [sorted(value - 1 for value in r.sensitive) for r in records]
    cases = Cases(
        low=np.array([[low for low, _ in box] for box in boxes]),
        high=np.array([[high for _, high in box] for box in boxes]),
        offsets=np.cumsum([0, *map(len, terms)]),
        terms=np.array([t for case in terms for t in case], dtype=np.int32),
        weights=np.ones(sum(map(len, terms)), dtype=np.int64),
        weight_scale=1,
    )
    return ms_group(cases, KERNEL_ATTRIBUTES, np.full(4, 3), np.full(4, 5), K, 0).tolist()


def test_kernel_groups_r1_to_r5_and_the_leftovers_join() -> None:
    assert kernel(list(RECORDS.values())[:5]) == [0] * 5
    assert kernel(list(RECORDS.values())) == [0] * 7


def test_kernel_forms_exactly_r1_to_r5_where_the_others_can_form_a_group() -> None:
    """Four more cases like r6, without indications, cost 8.25: still more than r5 at 7.875."""
    like_r6 = ms.Record(RECORDS["r6"].values, {})
    records = [*RECORDS.values(), *[like_r6] * 4]
    # r7 stays alone; I2 is full in the first group (σ = 3 = η), so it joins the second.
    assert ms.group(records, ATTRIBUTES, K, THETAS, 0) == [0] * 5 + [1] * 6
    assert kernel(records) == [0] * 5 + [1] * 6


@pytest.mark.parametrize("group", TABLE_3_GROUPS.values(), ids=list(TABLE_3_GROUPS))
def test_every_confidence_of_table_3_is_below_two_fifths(group: list[set[str]]) -> None:
    inferred = [ms.inferred(drugs, TABLE_3_EXTERNAL) for drugs in group]
    diseases = sorted({disease for case in inferred for disease in case})
    assert diseases
    for disease in diseases:
        records = [ms.Record((), case) for case in inferred]
        assert ms.confidence(records, disease) < Fraction(2, 5)


def test_confidence_of_headache_in_the_uk_group_is_a_quarter() -> None:
    records = [ms.Record((), ms.inferred(d, TABLE_3_EXTERNAL)) for d in TABLE_3_GROUPS["UK"]]
    assert ms.confidence(records, "Headache") == Fraction(1, 4)
