"""Counts of strata, items and pairs that gave an item away under rules that were almost these."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from oracles.count_tables import (
    NOTHING,
    Item,
    Key,
    Node,
    Rules,
    Told,
    Tree,
    Unit,
    extremes,
    least_shares,
    tell,
)
from support.count_tables import told_by_macro, without_empty
from support.sql import Sql

DRUG, OTHER, REACTION, OUTCOME = ("drug", "x"), ("drug", "y"), ("reac", "s"), ("outc", "H")
DEATH = ("outc", "D")
KINDS = frozenset(
    frozenset(kind) for kind in (("drug", "reac"), ("drug", "outc"), ("outc", "reac"))
)
THETA = Fraction(2, 5)
RULES = Rules(5, {REACTION: THETA}, KINDS)
PAIR = frozenset({DRUG, REACTION})
ONE = Tree({})
SEXES = Tree({"all": ("F", "M")})
TWO_SPLITS = Tree({"all": ("F", "not F"), "not F": ("M", "U")})
Counted = list[tuple[Node, tuple[Item, ...], int]]


def units(*counts: tuple[Node, tuple[Item, ...], int]) -> list[Unit]:
    """So many units of each leaf with exactly these items."""
    return [(leaf, frozenset(items)) for leaf, items, count in counts for _ in range(count)]


def told(sql: Sql, made: list[Unit], tree: Tree, rules: Rules = RULES) -> Told:
    """What the macro tells, which is what the oracle does."""
    found = told_by_macro(sql, made, tree, rules)
    assert found == without_empty(tell(made, tree, rules))
    return found


def fewest(found: Told, tree: Tree, keys: list[Key], node: Node, key: Key, made: list[Unit]) -> int:
    return extremes(found, tree, keys, node, key, len(made))[0]


def around(*items: Item) -> list[Key]:
    """The keys of claim (b) or (c): of nothing, of each item, and of each two."""
    keys = [NOTHING, *(frozenset({item}) for item in items)]
    return keys + [frozenset({a, b}) for a in items for b in items if a < b]


def test_a_count_that_theta_hides_does_not_follow_from_the_rest(sql: Any) -> None:
    made = units(
        ("F", (DRUG, REACTION), 7),
        ("F", (DRUG,), 3),
        ("F", (REACTION,), 3),
        ("F", (), 87),
        ("M", (DRUG, REACTION), 5),
        ("M", (DRUG,), 15),
        ("M", (REACTION,), 5),
        ("M", (), 75),
    )
    found = told(sql, made, SEXES)
    assert found[frozenset({DRUG})] == {"F": 10, "M": 20}
    assert found[PAIR] == {"all": 12}  # M alone would tell F: 7 of 10
    assert fewest(found, SEXES, around(DRUG, REACTION), "F", PAIR, made) <= 4


def test_a_pair_is_not_told_where_a_stratum_has_all_of_the_sensitive_item(sql: Any) -> None:
    made = units(
        ("F", (DRUG, REACTION), 12),
        ("F", (DRUG,), 8),
        ("F", (REACTION,), 28),
        ("F", (), 100),
        ("M", (DRUG,), 10),
        ("M", (), 100),
    )
    found = told(sql, made, SEXES)
    assert found[frozenset({REACTION})] == {"F": 40}
    assert found[frozenset({DRUG})] == {"F": 20, "M": 10}
    assert PAIR not in found  # 12 of all 30 would be 12 of the 20 women


def test_a_base_rate_does_not_follow_from_the_other_stratum(sql: Any) -> None:
    made = units(("F", (REACTION,), 6), ("F", (), 6), ("M", (REACTION,), 5), ("M", (), 20))
    found = told(sql, made, SEXES)
    assert found[NOTHING] == {"F": 12, "M": 25}
    assert found[frozenset({REACTION})] == {"all": 11}
    assert fewest(found, SEXES, around(REACTION), "F", frozenset({REACTION}), made) <= 4


def test_no_part_is_hidden_by_its_order_among_the_others(sql: Any) -> None:
    tree = Tree({"all": ("a", "b", "c")})
    made = units(
        *((leaf, (DRUG, REACTION), n) for leaf, n in (("a", 7), ("b", 5), ("c", 6))),
        *((leaf, (DRUG,), n) for leaf, n in (("a", 3), ("b", 195), ("c", 94))),
        *((leaf, (REACTION,), 10) for leaf in "abc"),
        *((leaf, (), 300) for leaf in "abc"),
    )
    found = told(sql, made, tree)
    assert found[PAIR] == {"all": 18}
    assert fewest(found, tree, around(DRUG, REACTION), "a", PAIR, made) <= 4


@pytest.mark.parametrize(
    ("name", "both", "pairs", "lone", "sensitive"),
    [
        ("through a reaction that most holders of either have", 6, 2, 92, 10),
        ("though the joint count is below k", 4, 3, 40, 11),
    ],
)
def test_two_partners_do_not_force_their_item_on_those_who_have_both(
    sql: Any, name: str, both: int, pairs: int, lone: int, sensitive: int
) -> None:
    triple = both if name.startswith("through") else 3
    made = units(
        ("all", (DRUG, OUTCOME, REACTION), triple),
        ("all", (DRUG, OUTCOME), both - triple),
        ("all", (DRUG, REACTION), pairs if name.startswith("through") else 4),
        ("all", (OUTCOME, REACTION), pairs if name.startswith("through") else 4),
        ("all", (DRUG,), lone),
        ("all", (OUTCOME,), lone),
        ("all", (), 300),
    )
    held = sum(REACTION in items for _, items in made)
    assert held == sensitive
    without = tell(made, ONE, Rules(5, RULES.theta, KINDS, bridges=False))
    three = frozenset({DRUG, OUTCOME, REACTION})
    assert {PAIR, frozenset({OUTCOME, REACTION})} <= without.keys()
    forced = fewest(without, ONE, around(DRUG, OUTCOME, REACTION), "all", three, made)
    assert forced > 2 * both / 5
    found = told(sql, made, ONE)
    assert len({PAIR, frozenset({OUTCOME, REACTION})} & found.keys()) == 1
    assert fewest(found, ONE, around(DRUG, OUTCOME, REACTION), "all", three, made) <= 2 * both / 5


def test_two_drugs_do_not_force_a_reaction_though_no_pair_of_drugs_is_told(sql: Any) -> None:
    made = units(
        ("all", (DRUG, OTHER, REACTION), 8),
        ("all", (DRUG, OTHER), 2),
        ("all", (DRUG, REACTION), 12),
        ("all", (DRUG,), 33),
        ("all", (OTHER, REACTION), 12),
        ("all", (OTHER,), 33),
        ("all", (), 120),
    )
    found = told(sql, made, ONE)
    assert len({PAIR, frozenset({OTHER, REACTION})} & found.keys()) == 1


def test_a_pair_that_is_not_told_bars_no_smaller_one(sql: Any) -> None:
    """Rule G3: x bars y, and y would bar z; from the largest down x and z are told, and kept apart.

    Of 20 with s 14 have x, 12 y and 11 z. Many have x and z, few y beside one of them.
    """
    third = ("drug", "z")
    made = units(
        ("all", (DRUG, third, REACTION), 8),
        ("all", (DRUG, OTHER, third, REACTION), 3),
        ("all", (DRUG, OTHER, REACTION), 3),
        ("all", (OTHER, REACTION), 6),
        ("all", (DRUG, third), 10),
        ("all", (DRUG,), 20),
        ("all", (OTHER,), 30),
        ("all", (third,), 15),
        ("all", (), 100),
    )
    pairs = [frozenset({item, REACTION}) for item in (DRUG, OTHER, third)]
    without = tell(made, ONE, Rules(5, RULES.theta, KINDS, bridges=False))
    assert [without[pair]["all"] for pair in pairs] == [14, 12, 11]
    found = told(sql, made, ONE)
    assert [pair in found for pair in pairs] == [True, False, True]
    for one, other, joint, kept in (
        (DRUG, OTHER, 6, False),
        (OTHER, third, 3, False),
        (DRUG, third, 21, True),
    ):
        keys, three = around(one, other, REACTION), frozenset({one, other, REACTION})
        assert (fewest(without, ONE, keys, "all", three, made) <= THETA * joint) == kept
        assert fewest(found, ONE, keys, "all", three, made) <= THETA * joint


def test_of_an_attribute_with_one_term_a_unit_all_is_told_or_nothing(sql: Any) -> None:
    rules = Rules(5, {DEATH: THETA}, KINDS, single=frozenset({"outc"}))
    rest = ("outc", None)
    made = units(
        ("all", (DRUG, OUTCOME), 6),
        ("all", (DRUG, DEATH), 14),
        ("all", (OTHER, OUTCOME), 16),
        ("all", (OTHER, DEATH), 6),
        ("all", (OTHER,), 8),
        ("all", (OTHER, ("outc", "rare")), 2),
        ("all", (OUTCOME,), 50),
    )
    found = told(sql, made, ONE, rules)
    assert found[frozenset({rest})] == {"all": 10}  # 8 and the 2 of a rare one
    assert frozenset({DRUG, OUTCOME}) not in found  # all 20 less these 6 are 14 deaths
    assert found[frozenset({OTHER, OUTCOME})] == {"all": 16}
    assert found[frozenset({OTHER, DEATH})] == {"all": 6}
    assert found[frozenset({OTHER, rest})] == {"all": 10}


def test_an_item_that_all_but_a_few_hold_is_not_told(sql: Any) -> None:
    made = units(("all", (DRUG, REACTION), 4), ("all", (DRUG,), 7), ("all", (REACTION,), 1))
    assert told(sql, made, ONE) == {NOTHING: {"all": 12}}


def test_a_stratum_in_which_one_does_not_hold_the_item_does_not_tell_it(sql: Any) -> None:
    made = units(
        ("F", (DRUG,), 5), ("F", (), 1), ("M", (DRUG,), 6), ("M", (), 9), ("M", (OUTCOME,), 7)
    )
    assert told(sql, made, SEXES)[frozenset({DRUG})] == {"all": 11}


def test_a_threshold_of_one_lets_a_certain_item_be_told(sql: Any) -> None:
    made = units(("all", (DRUG, REACTION), 9), ("all", (), 20))
    assert told(sql, made, ONE, Rules(5, {}, KINDS))[PAIR] == {"all": 9}


def test_an_untold_pair_would_say_as_much_where_both_items_are_frequent(sql: Any) -> None:
    """Rule G1: of 16 units 13 have x and 6 have s, so 3 or more have both, and k = 3.

    Were both told, a reader of the rules would conclude from the untold pair that more than 0.4 of
    the 13 have s: 3, 4 or 5 would have been told.
    """
    made = units(("all", (DRUG, REACTION), 6), ("all", (DRUG,), 7), ("all", (), 3))
    found = told(sql, made, ONE, Rules(3, RULES.theta, KINDS))
    assert frozenset({DRUG}) not in found
    assert found[frozenset({REACTION})] == {"all": 6}


def test_a_told_pair_leaves_a_way_out_where_the_sensitive_item_is_told_of_all_only(
    sql: Any,
) -> None:
    """Rule G2 by what the finest strata hold, and not by what is told of them.

    n(F, x) = 3, n(M, x) = 8, s is told of all 4 and so is the pair, k = 3. By what is told, none to
    3 women may have s; but 0 and 4 would have been told by sex, and 1 or 3 not at all.
    """
    made = units(
        ("F", (DRUG, REACTION), 2),
        ("F", (DRUG,), 1),
        ("F", (), 5),
        ("M", (DRUG, REACTION), 2),
        ("M", (DRUG,), 6),
    )
    found = told(sql, made, SEXES, Rules(3, RULES.theta, KINDS))
    assert found[frozenset({REACTION})] == {"all": 4}
    assert PAIR not in found


def test_a_pair_is_told_where_its_sensitive_item_may_lie_in_another_stratum(sql: Any) -> None:
    """Rule G2 by told counts: 2 men have s, so it is told of all 13 alone, and not by sex.

    All 11 with both are women: 9 of 20 or more, by what women and men have. But 4 of the 13 may as
    well be women and 9 men, so that 4 women and 7 men have both.
    """
    made = units(
        ("F", (DRUG, REACTION), 11),
        ("F", (DRUG,), 9),
        ("F", (), 60),
        ("M", (REACTION,), 2),
        ("M", (DRUG,), 20),
        ("M", (), 60),
    )
    found = told(sql, made, SEXES)
    assert found[frozenset({DRUG})] == {"F": 20, "M": 20}
    assert found[frozenset({REACTION})] == {"all": 13}
    assert found[PAIR] == {"all": 11}
    assert fewest(found, SEXES, around(DRUG, REACTION), "F", PAIR, made) <= THETA * 20


def test_nor_does_a_pair_that_one_sex_has_alone_say_where_its_item_is(sql: Any) -> None:
    """x is of women alone, s of both: that 8 have both does not say how many men have s."""
    made = units(
        ("F", (DRUG, REACTION), 8),
        ("F", (DRUG,), 12),
        ("F", (REACTION,), 2),
        ("F", (), 40),
        ("M", (REACTION,), 2),
        ("M", (), 60),
    )
    found = told(sql, made, SEXES)
    assert found[frozenset({DRUG})] == {"F": 20}
    assert found[PAIR] == {"all": 8}


@pytest.mark.parametrize(
    ("name", "women", "men"),
    [
        ("too few of the other sex have x", 60, 15),
        ("all of the other sex have x, so that s there would force both", 30, 0),
    ],
)
def test_a_pair_is_not_told_where_its_item_can_lie_nowhere_else(
    sql: Any, name: str, women: int, men: int
) -> None:
    few = units(
        ("F", (DRUG, REACTION), 28),
        ("F", (DRUG,), women - 28),
        ("F", (), 40),
        ("M", (DRUG, REACTION), 2),
        ("M", (DRUG,), men - 2),
        ("M", (), 90),
    )
    full = units(
        ("F", (DRUG, REACTION), 13),
        ("F", (DRUG,), 17),
        ("F", (REACTION,), 20),
        ("F", (), 40),
        ("M", (DRUG, REACTION), 2),
        ("M", (DRUG,), 18),
    )
    made = full if men == 0 else few
    found = told(sql, made, SEXES)
    assert frozenset({DRUG}) in found
    assert PAIR not in found


HALF_AND_MORE = Fraction(3, 4)


@pytest.mark.parametrize(("one", "other"), [(OUTCOME, REACTION), (REACTION, OUTCOME)])
def test_both_items_of_a_pair_need_a_way_out_if_both_are_sensitive(
    sql: Any, one: Item, other: Item
) -> None:
    """Rule G2, both ways round: of 8 women 3 and 5 have either, of 12 men 7 and 5; 7 have both.

    At most 3 women have both, so 4 or 5 men have: of the 7 that is fine, of the 5 it is too many.
    """
    made = units(
        ("F", (one, other), 3),
        ("F", (other,), 2),
        ("F", (), 3),
        ("M", (one, other), 4),
        ("M", (one,), 3),
        ("M", (other,), 1),
        ("M", (), 4),
    )
    pair = frozenset({one, other})
    thresholds = {one: HALF_AND_MORE, other: HALF_AND_MORE}
    found = told(sql, made, SEXES, Rules(3, thresholds, KINDS))
    assert found == {
        NOTHING: {"F": 8, "M": 12},
        frozenset({one}): {"F": 3, "M": 7},
        frozenset({other}): {"F": 5, "M": 5},
    }
    for sensitive, known in ((one, 5), (other, 7)):
        lone = told(sql, made, SEXES, Rules(3, {sensitive: HALF_AND_MORE}, KINDS))
        assert (pair in lone) == (known == 7)  # those 7 alone would have a way out
    with_pair = found | {pair: {"all": 7}}
    least = fewest(with_pair, SEXES, around(*sorted(pair)), "M", pair, made)
    assert HALF_AND_MORE * 5 < least <= HALF_AND_MORE * 7


def test_strata_of_two_trees_are_not_told_of_one_key(sql: Any) -> None:
    """By sex and by age each share is within theta, and both together force 5 of 10 old women."""
    ages = {"F": ("F old", "F young"), "M": ("M old", "M young")}
    tree = Tree({"all": ("F", "M"), **ages})
    made = units(
        *((leaf, (REACTION,), 5) for leaf in ("F old", "F young", "M old")),
        ("F old", (), 5),
        *((leaf, (), 15) for leaf in ("F young", "M old")),
        ("M young", (), 20),
    )
    lone = frozenset({REACTION})
    found = told(sql, made, tree)
    assert found[lone] == {"F": 10, "M old": 5}
    both = Tree(tree.children | {age: (f"F {age}", f"M {age}") for age in ("old", "young")})
    margins = {NOTHING: found[NOTHING], lone: {"F": 10, "M": 5, "old": 10, "young": 5}}
    assert fewest(margins, both, around(REACTION), "F old", lone, made) == 5 > THETA * 10
    assert fewest(found, tree, around(REACTION), "F old", lone, made) == 0


def test_what_is_unknown_is_a_stratum_like_any_other(sql: Any) -> None:
    """20 = 10 + 8 + 2: without those of unknown sex the 2 of them would be told."""
    made = units(
        ("F", (DRUG,), 10), ("M", (DRUG,), 8), ("U", (DRUG,), 2), *((s, (), 30) for s in "FMU")
    )
    assert told(sql, made, TWO_SPLITS)[frozenset({DRUG})] == {"F": 10, "not F": 10}


def test_who_may_be_of_unknown_sex_is_within_theta_as_well(sql: Any) -> None:
    """Shares within theta in a stratum and in "unknown" are so in both together."""
    made = units(
        *((leaf, (DRUG, REACTION), n) for leaf, n in (("F", 8), ("M", 6), ("U", 5))),
        *((leaf, (DRUG,), n) for leaf, n in (("F", 12), ("M", 10), ("U", 8))),
        *((leaf, (REACTION,), 12) for leaf in "FMU"),
        *((leaf, (), 60) for leaf in "FMU"),
    )
    found = told(sql, made, TWO_SPLITS)
    assert found[PAIR] == {"F": 8, "M": 6, "U": 5}
    for strata in ("FU", "MU", "FM", "FMU"):
        pairs, holders = (sum(found[key][s] for s in strata) for key in (PAIR, frozenset({DRUG})))
        assert pairs <= THETA * holders


def test_only_attributes_with_a_threshold_are_targets(sql: Any) -> None:
    """All who have the reaction may have had the drug, unless the drug has a threshold, too."""
    made = units(
        ("all", (DRUG, REACTION), 12), ("all", (DRUG,), 28), ("all", (OTHER,), 60), ("all", (), 20)
    )
    assert told(sql, made, ONE)[PAIR] == told(sql, made, ONE)[frozenset({REACTION})] == {"all": 12}
    listed = Rules(5, {REACTION: THETA, DRUG: THETA}, KINDS)
    assert PAIR not in told(sql, made, ONE, listed)


def test_tiny_data_do_not_pin_a_few_who_have_both(sql: Any) -> None:
    """3 of 5 women have one item and 4 the other: 2 or 3 have both, and 3 would have been told."""
    made = units(
        ("F", (DRUG, OUTCOME), 2),
        ("F", (DRUG,), 1),
        ("F", (OUTCOME,), 2),
        ("M", (DRUG, OUTCOME), 1),
        ("M", (DRUG,), 2),
        ("M", (OUTCOME,), 1),
        ("M", (), 3),
    )
    both = frozenset({DRUG, OUTCOME})
    found = told(sql, made, SEXES, Rules(3, RULES.theta, KINDS))
    assert found == {
        NOTHING: {"F": 5, "M": 7},
        frozenset({DRUG}): {"all": 6},
        frozenset({OUTCOME}): {"all": 6},
        both: {"all": 3},
    }
    by_sex = found | {frozenset({DRUG}): {"F": 3, "M": 3}, frozenset({OUTCOME}): {"F": 4, "M": 2}}
    keys = around(DRUG, OUTCOME)
    assert fewest(by_sex, SEXES, keys, "F", both, made) == 2
    assert extremes(found, SEXES, keys, "F", both, len(made)) == (0, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "theta", "sizes", "tree"),
    [
        (3, THETA, {"F": 6, "M": 6}, SEXES),
        (3, THETA, {"F": 2, "M": 9}, SEXES),
        (3, THETA, {"F": 3, "M": 5, "U": 2}, TWO_SPLITS),
        *(
            pytest.param(*larger, marks=pytest.mark.thorough)
            for larger in (
                (3, THETA, {"F": 8, "M": 5}, SEXES),
                (2, Fraction(1, 2), {"F": 4, "M": 3, "U": 3}, TWO_SPLITS),
                (3, THETA, {"a": 3, "b": 3, "c": 4}, Tree({"all": ("a", "b", "c")})),
                (3, THETA, {"F": 9, "M": 9}, SEXES),
            )
        ),
        (2, Fraction(1, 2), {"F": 6, "M": 6}, SEXES),
    ],
)
@pytest.mark.parametrize("outcome", [None, Fraction(1, 2)])
def test_no_data_set_of_two_items_forces_more_than_theta_on_who_knows_the_rules(
    k: int, theta: Fraction, sizes: dict[Node, int], tree: Tree, outcome: Fraction | None
) -> None:
    """Claim (b), for every data set of these strata: what looks alike has one within theta."""
    thresholds = {REACTION: theta} | ({OUTCOME: outcome} if outcome else {})
    shares = least_shares(sizes, tree, Rules(k, thresholds, KINDS), OUTCOME, REACTION)
    assert shares
    for (known, sensitive, node), share in shares.items():
        assert share <= thresholds[sensitive], (known, sensitive, node)


@pytest.mark.slow
@pytest.mark.parametrize("sensitive", [REACTION, OUTCOME])
def test_nor_does_an_attribute_with_one_term_a_unit(sensitive: Item) -> None:
    rules = Rules(3, {sensitive: THETA}, KINDS, single=frozenset({"outc"}))
    shares = least_shares({"F": 6, "M": 5}, SEXES, rules, OUTCOME, REACTION)
    assert {share[1] for share in shares} == {sensitive}
    assert max(shares.values()) <= THETA
