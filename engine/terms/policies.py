"""Utility policies (Loukides 2014, section 6.1): disjoint sets of terms that studies count by.

A policy comes from a file, from a hierarchy of terms (by level, or by similarity) or from the
itemsets that are frequent in the data.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from tomllib import TOMLDecodeError

from srsql.engine.catalog.datasets import term_keys
from srsql.engine.catalog.released_terms import put_originals
from srsql.engine.errors import PolicyError
from srsql.engine.store.statements import literal, query
from srsql.engine.store.warehouse import Warehouse
from srsql.engine.terms.itemsets import Itemset, frequent_itemsets
from srsql.schemas.dictionary import DictionaryError, nodes_on_level, spelling
from srsql.schemas.hierarchy import Hierarchy, HierarchyError, load_hierarchy
from srsql.schemas.outside import open_text
from srsql.schemas.vocabularies import SHIPPED, load_dictionary

TERMS = "temp.main.srsql_basket_term"
WAYS = (
    "a CSV file (constraint, term), level:N[:FILE], sim:N[:FILE], level:NAME:DICTIONARY or "
    "sup:PERCENT"
)


@dataclass(frozen=True)
class UtilityPolicy:
    """Constraints by name, in order; each is a set of terms, and no two share one.

    Terms are compared in upper case without white space at their ends; those that a dictionary
    calls by a name (``spelled``), by what their spellings have in common.

    Raises:
        PolicyError: a constraint is empty or unnamed, or a term is empty or in two constraints.
    """

    name: str
    constraints: Mapping[str, tuple[str, ...]]
    spelled: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no policy."""
        owner: dict[str, str] = {}
        for label, terms in self.constraints.items():
            if not label.strip():
                raise PolicyError(f"policy {self.name}: a constraint has no name: give it one")
            if not terms:
                raise PolicyError(f"policy {self.name}: constraint {label!r} has no term")
            for term in terms:
                key = spelling(term) if self.spelled else term.strip().upper()
                if not key:
                    raise PolicyError(f"policy {self.name}: constraint {label!r} has an empty term")
                if owner.setdefault(key, label) != label:
                    raise PolicyError(
                        f"policy {self.name}: term {term!r} is in the constraints {owner[key]!r} "
                        f"and {label!r}: constraints are disjoint, keep it in one"
                    )

    def in_spellings_of(self, terms: Iterable[str]) -> UtilityPolicy:
        """Where terms are compared by spelling: the policy with those of ``terms`` added that are
        spellings of its own, so that they are compared as they are from then on.
        """
        if not self.spelled:
            return self
        found: dict[str, list[str]] = {}
        for term in sorted(terms):
            found.setdefault(spelling(term), []).append(term)
        constraints = {}
        for label, members in self.constraints.items():
            listed = {term.strip().upper(): term for term in members}
            for term in members:
                for each in found.get(spelling(term), ()):
                    listed.setdefault(each.strip().upper(), each)
            constraints[label] = tuple(listed.values())
        return replace(self, constraints=constraints, spelled=False)


def load_policy(path: Path) -> UtilityPolicy:
    """Read a CSV with the columns ``constraint`` and ``term``, one term a row.

    Raises:
        PolicyError: the file cannot be read, lacks a column, has a row with an empty field, or
            no row, or a term in two constraints.
    """
    try:
        with open_text(path) as file:
            reader = csv.DictReader(file)
            if not {"constraint", "term"} <= set(reader.fieldnames or ()):
                raise PolicyError(f"{path}: the header must name the columns constraint and term")
            found: dict[str, dict[str, None]] = {}
            for row in reader:
                label, term = (row["constraint"] or "").strip(), (row["term"] or "").strip()
                if not label or not term:
                    raise PolicyError(f"{path}: line {reader.line_num} has an empty field")
                found.setdefault(label, {})[term] = None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PolicyError(f"{path}: cannot be read: {error}") from None
    if not found:
        raise PolicyError(f"{path}: no constraint in it")
    return UtilityPolicy(path.name, {label: tuple(terms) for label, terms in found.items()})


def load_tree(path: Path | None) -> Hierarchy:
    """Read a hierarchy of terms from CSV (``node,parent``) or TOML, for the policies below.

    Args:
        path: of the file; None: that which ships.

    Raises:
        PolicyError: the file cannot be read, or is no hierarchy with one root.
    """
    if path is None:
        return load_hierarchy(resources.files("srsql.schemas.hierarchies") / SHIPPED)
    try:
        return load_hierarchy(path)
    except (HierarchyError, OSError, UnicodeDecodeError, csv.Error, TOMLDecodeError) as error:
        raise PolicyError(f"{path}: {error}") from None


def hierarchy_policy(hierarchy: Hierarchy, level: int) -> UtilityPolicy:
    """A constraint for each common ancestor of the level, of all terms under it and its own label.

    The ancestor of a term is the highest node, other than the root, of which no path down to a leaf
    is longer than ``level``: for ICD-9, the 3-digit code, section, chapter (1, 2, 3). A leaf that
    hangs on a node too high for that is in no constraint.

    Raises:
        PolicyError: the level is below 1, or leaves no constraint.
    """
    if level < 1:
        raise PolicyError(f"a hierarchy-based policy of level {level}: levels count from 1")
    tops = nodes_on_level(hierarchy, level)
    if not tops:
        raise PolicyError(f"level {level}: the hierarchy has no inner node there except its root")
    return UtilityPolicy(
        f"level {level}",
        {hierarchy.labels[n]: tuple(hierarchy.labels[n : hierarchy.last[n] + 1]) for n in tops},
    )


def dictionary_policy(path: Path, level: str) -> UtilityPolicy:
    """A constraint for each name on a level of a dictionary, of all terms that are called so.

    Raises:
        PolicyError: the dictionary cannot be read or has no such level, or a term has two names.
    """
    try:
        dictionary = load_dictionary(path)
        name = dictionary.level(level)
    except DictionaryError as error:
        raise PolicyError(str(error)) from None
    return UtilityPolicy(f"level {name}", dictionary.members(name), spelled=True)


def similarity_policy(hierarchy: Hierarchy, size: int) -> UtilityPolicy:
    """Constraints of exactly ``size`` terms each, siblings in the order of the hierarchy ("sim").

    Each inner node groups its leaf children; what is left over, fewer than ``size``, goes up to be
    grouped with the next relatives, and at the root it stays without a constraint. (No family has
    100 children at the lowest level: the paper's sim 100 needs the way up.)

    Raises:
        PolicyError: the size is below 2, or no constraint of it can be made.
    """
    if size < 2:
        raise PolicyError(f"a similarity-based policy of size {size}: a constraint needs 2 terms")
    waiting: list[list[int]] = [[] for _ in hierarchy.labels]
    groups: list[list[int]] = []
    for node in range(len(hierarchy.labels) - 1, 0, -1):
        if hierarchy.height[node] == 0:
            waiting[node] = [node]
        pool = sorted(waiting[node])
        while len(pool) >= size:
            groups.append(pool[:size])
            pool = pool[size:]
        waiting[hierarchy.parent[node]].extend(pool)
    if not groups:
        raise PolicyError(f"sim {size}: no node below the root has {size} leaves: take fewer")
    groups.sort()
    return UtilityPolicy(
        f"sim {size}",
        {f"sim {i}": tuple(hierarchy.labels[n] for n in g) for i, g in enumerate(groups, 1)},
    )


def frequency_policy(itemsets: Iterable[Itemset], percent: str) -> UtilityPolicy:
    """Disjoint constraints of frequent itemsets ("sup").

    Frequent itemsets overlap, constraints must not: the longest itemset becomes the first
    constraint, then always the longest that is disjoint from all that were taken (ties: held by
    more records, then in the order of the terms). Every subset of a frequent itemset is frequent,
    so every frequent term ends in exactly one constraint.

    Raises:
        PolicyError: there is no itemset.
    """
    taken: set[str] = set()
    chosen: list[Itemset] = []
    for itemset in sorted(itemsets, key=lambda i: (-len(i.terms), -i.records, i.terms)):
        if taken.isdisjoint(itemset.terms):
            taken.update(itemset.terms)
            chosen.append(itemset)
    if not chosen:
        raise PolicyError(f"sup {percent}: no term has this support: take a lower one")
    return UtilityPolicy(
        f"sup {percent}", {f"sup {n}": itemset.terms for n, itemset in enumerate(chosen, 1)}
    )


def put_policy(warehouse: Warehouse, policy: UtilityPolicy, terms: str = TERMS) -> dict[int, str]:
    """Make ``temp.main.srsql_policy_term(set_no, term)``: the policy in the terms of the data.

    Args:
        warehouse: in which the terms are.
        policy: its constraints are numbered from 0; those without a term in the data fall away.
        terms: name of a table with the column ``term``, distinct.

    Returns:
        Number -> name of each constraint that is left.
    """
    rows = [
        (number, term)
        for number, members in enumerate(policy.constraints.values())
        for term in members
    ]
    given = {
        "constraints": [number for number, _ in rows],
        "members": [term for _, term in rows],
    }
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_policy_term AS "
        f"WITH given_policy AS MATERIALIZED ({query('terms/policies', 'policy')}) "
        f"SELECT p.set_no, p.term FROM srsql.policy_terms('given_policy', {literal(terms)}) AS p",
        given,
    )
    left = warehouse.rows(query("terms/policies", "constraints_left"))
    labels = list(policy.constraints)
    return {number: labels[number] for (number,) in left}


def put_constraints(warehouse: Warehouse, policy: UtilityPolicy, terms: str = TERMS) -> int:
    """Make ``temp.main.srsql_constraint(term_no, constraint_no)`` of the policy for the kernels.

    Args:
        warehouse: in which the terms are.
        policy: constraint_no is the place in it, from 0.
        terms: name of a table ``(term_no, term)``.

    Returns:
        The number of constraints that have a term in the data.
    """
    left = put_policy(warehouse, policy, terms)
    warehouse.run(
        "CREATE OR REPLACE TEMP TABLE srsql_constraint AS "
        "SELECT t.term_no::INTEGER AS term_no, p.set_no::INTEGER AS constraint_no "
        f"FROM temp.main.srsql_policy_term AS p INNER JOIN {terms} AS t ON p.term = t.term"
    )
    return len(left)


@dataclass(frozen=True)
class PolicyChoice:
    """One utility policy, or where in the data it comes from."""

    name: str
    """For the manifests; never a path."""
    fixed: UtilityPolicy | None = None
    percent: str | None = None
    """Minimum support of the itemsets that become constraints, in percent of the records."""

    def find(self, warehouse: Warehouse) -> UtilityPolicy:
        """The policy itself; of itemsets, those of the quarter's baskets."""
        if self.fixed is not None:
            return self.fixed
        percent = self.percent or ""
        originals = put_originals(warehouse, terms=TERMS)
        return frequency_policy(frequent_itemsets(warehouse, originals, percent), percent)


def parse_policy(text: str) -> PolicyChoice:
    """``FILE``, ``level:N:FILE``, ``sim:N:FILE``, ``level:NAME:DICTIONARY`` or ``sup:PERCENT``.

    Without a file, ``level:N`` and ``sim:N`` are over the hierarchy that ships.

    Raises:
        PolicyError: it is none of them, or the file is wrong.
    """
    kind, _, rest = text.partition(":")
    if kind == "sup":
        return PolicyChoice(text, percent=rest)
    if kind in ("level", "sim"):
        number, named, file = rest.partition(":")
        if kind == "level" and number and file and not number.isdecimal():
            return PolicyChoice(f"level:{number}", dictionary_policy(Path(file), number))
        if not number.isdecimal() or bool(named) != bool(file):
            raise PolicyError(f"--policy {text!r}: give {WAYS}")
        make = hierarchy_policy if kind == "level" else similarity_policy
        made = make(load_tree(Path(file) if file else None), int(number))
        return PolicyChoice(f"{kind}:{number}", made)
    policy = load_policy(Path(text))
    return PolicyChoice(f"file of {len(policy.constraints)} constraints", policy)


def _by_keys(warehouse: Warehouse, policy: UtilityPolicy, term_key: int) -> UtilityPolicy:
    """The policy with the keys of its terms in their place."""
    constraints = {
        label: tuple(key for key in term_keys(warehouse, terms, term_key) if key)
        for label, terms in policy.constraints.items()
    }
    return replace(policy, constraints=constraints)


def put_chosen(
    warehouse: Warehouse, choice: PolicyChoice | None, release_id: int, term_key: int
) -> None:
    """Fill ``srsql_constraint`` for the kernels, and the catalog; without a choice it is empty.

    ``term_key``: the version of the key that the terms of the data are.

    Raises:
        PolicyError: two constraints have one term, whatever its spellings.
    """
    policy = choice.find(warehouse) if choice else UtilityPolicy("none", {})
    if policy.spelled:
        policy = policy.in_spellings_of(
            term for (term,) in warehouse.rows(f"SELECT t.term FROM {TERMS} AS t")
        )
    if term_key:
        policy = _by_keys(warehouse, policy, term_key)
    put_constraints(warehouse, policy, TERMS)
    pairs = [(name, term) for name, terms in policy.constraints.items() for term in terms]
    warehouse.run(
        query("terms/policies", "keep_constraints"),
        {
            "release": release_id,
            "names": [name for name, _ in pairs],
            "terms": [term for _, term in pairs],
        },
    )
