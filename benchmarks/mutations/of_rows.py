"""Mutations of what makes rows: groups, regions, history, thresholds, suppression, persons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any

import pyarrow as pa

from benchmarks.mutations.records import Attribute, Kernel, Mutation, Text

PATTERNS = "grouping/queries/patterns.sql"
HISTORY = "grouping/steps/history.sql"
CATALOG = "release/steps/catalog.sql"
MANIFEST = "release/manifest.sql"
WAIT = "release/queries/waiting.sql"
STAGES = "release.stages"
"""Module of the life of a release."""


def less(by: int) -> Callable[[Any], Any]:
    """The number that a function gives, less so much."""
    return lambda function: lambda *given, **named: function(*given, **named) - by


def doubled(function: Any) -> Any:
    """``apply_theta`` by a policy with thresholds twice as high."""

    def apply(warehouse: Any, policy: Any, term_key: int, **named: Any) -> None:
        def twice(theta: Fraction) -> Fraction:
            return min(Fraction(1), 2 * theta)

        raised = replace(
            policy,
            default=None if policy.default is None else twice(policy.default),
            values={value: twice(theta) for value, theta in policy.values.items()},
        )
        function(warehouse, raised, term_key, **named)

    return apply


def doubled_after(function: Any) -> Any:
    """``_add_thresholds`` that doubles what it added."""

    def add(current: Any, *given: Any) -> None:
        function(current, *given)
        current.warehouse.run(
            "UPDATE srsql.threshold SET theta_num = least(theta_den, 2 * theta_num) "
            "WHERE release_id = ?",
            [current.release_id],
        )

    return add


def loosened(place: int) -> Callable[[Any], Any]:
    """A kernel that is given thresholds of 1, in the place of its list of them."""

    def make(function: Any) -> Any:
        @wraps(function)  # DuckDB counts its parameters
        def kernel(*given: Any) -> Any:
            columns = list(given)
            rows = [
                [each | {"num": 1, "den": 1} for each in row] for row in given[place].to_pylist()
            ]
            columns[place] = pa.chunked_array([pa.array(rows, given[place].type)])
            return function(*columns)

        return kernel

    return make


def told(**changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The facts of a method, with some of them changed."""

    def make(function: Any) -> Any:
        def facts(*given: Any, **named: Any) -> Any:
            found = dict(function(*given, **named))
            return found | {name: change(found[name]) for name, change in changes.items()}

        return facts

    return make


def _of(family: str, world: str, name: str, does: str, *ways: Any) -> Mutation:
    return Mutation(name, family, does, world, ways)


def _text(file: str, old: str, new: str) -> Text:
    return Text(file, old, new)


BOUNDS = [
    _of("bounds", "one quarter", "groups of k - 1", "grows groups to k - 1",
        Attribute(f"engine.{STAGES}.cases:k_effective", less(1))),
    _of("bounds", "by frequency", "effective k - 1", "keeps that groups had one case fewer than "
        "the least threshold needs",
        Attribute(f"engine.{STAGES}.tables:set_figures",
                  lambda function: lambda current, model, k, scale: function(
                      current, model, k - 1, scale))),
    _of("bounds", "terms", "effective k - 1 of terms", "says that groups had one case fewer",
        Attribute(f"engine.{STAGES}.cases:k_effective", less(1))),
    _of("bounds", "often", "thresholds are not bounds", "groups whatever the thresholds",
        Kernel("srsql_group_cases", loosened(5)), Kernel("srsql_group_patterns", loosened(4))),
    _of("bounds", "one quarter", "an attribute is not bounded", "bounds no indication",
        _text("grouping/steps/cases.sql", "    WHERE v.sensitive\n),\n\ndistinct_value",
              "    WHERE v.sensitive AND v.attribute <> 'indi_pt'\n),\n\ndistinct_value")),
    _of("bounds", "one quarter", "regions begin too late", "publishes regions without their least "
        "value", _text("grouping/steps/regions.sql",
                       "SELECT e.group_no, e.position, e.low, e.high",
                       "SELECT e.group_no, e.position, least(e.low + 1, e.high) AS low, e.high")),
    _of("bounds", "l values", "one value fewer", "takes l - 1 values of an attribute for l",
        _text(PATTERNS, "    $pattern,\n    $least\n", "    $pattern,\n    $least - 1\n")),
    _of("bounds", "alpha share", "any share", "bounds no share of reports",
        Attribute("engine.models.comparators:bound_by_share",
                  lambda function: lambda warehouse, share: function(warehouse, None))),
    _of("bounds", "one level vector", "classes of k - 1", "takes a node with classes of k - 1",
        Attribute("engine.models.lattice:k_anonymous",
                  lambda function: lambda warehouse, dimensions, k: function(
                      warehouse, dimensions, k // 2))),
]  # fmt: skip

THRESHOLDS = [
    _of("thresholds", "one quarter", "theta doubled", "applies twice the threshold",
        Attribute(f"engine.{STAGES}.cases:apply_theta", doubled)),
    _of("thresholds", "terms", "theta of terms doubled", "keeps twice the threshold of terms",
        Attribute(f"engine.{STAGES}.cases:apply_theta", doubled)),
    _of("thresholds", "by frequency", "half of the values are common", "leaves the more frequent "
        "half of the values without a threshold",
        _text("grouping/thresholds.sql", "WHEN r.place <= r.total // 10 THEN 1\n        WHEN",
              "WHEN r.place <= r.total // 2 THEN 1\n        WHEN"),
        _text("grouping/thresholds.sql", "WHEN r.place <= r.total // 10 THEN 1\n        ELSE 5",
              "WHEN r.place <= r.total // 2 THEN 1\n        ELSE 5")),
    _of("thresholds", "by frequency", "rare values are usual", "gives rare values 2/5, not 1/5",
        _text("grouping/thresholds.sql", "WHEN r.place > r.total - (r.total + 9) // 10 THEN 1",
              "WHEN r.place > r.total - (r.total + 9) // 10 THEN 2")),
    _of("thresholds", "by level", "listed thresholds are ignored", "gives every value the default",
        _text("grouping/queries/thresholds.sql", "coalesce(l.num, $num)::BIGINT AS theta_num",
              "$num::BIGINT AS theta_num"),
        _text("grouping/queries/thresholds.sql", "coalesce(l.den, $den)::BIGINT AS theta_den",
              "$den::BIGINT AS theta_den")),
    _of("thresholds", "one quarter", "the catalog has lower ones", "stores thresholds of half the "
        "value that it kept",
        _text(CATALOG, "t.term_no, t.term, q.theta_num, q.theta_den, t.cases",
              "t.term_no, t.term, q.theta_num, 2 * q.theta_den, t.cases")),
]  # fmt: skip

COVERS = [
    _of("covers", "series", "nothing is covered", "covers no earlier region",
        _text(HISTORY, "WHERE a.earlier AND ($cover = 'all' OR ($cover = 'earliest' AND a.turn = "
              "1))", "WHERE a.earlier AND $cover = 'never'")),
    _of("covers", "series", "the second region is covered", "covers the second region of a case",
        _text(HISTORY, "($cover = 'earliest' AND a.turn = 1)",
              "($cover = 'earliest' AND a.turn = 2)")),
    _of("covers", "all covered", "missing values are forgotten", "covers the known values alone of "
        "regions in which one was missing",
        _text(HISTORY, "CASE WHEN b.low IS NOT NULL AND count(g.low) = count(*) THEN least",
              "CASE WHEN b.low IS NOT NULL THEN least"),
        _text(HISTORY, "WHEN b.low IS NOT NULL AND count(g.low) = count(*) THEN greatest",
              "WHEN b.low IS NOT NULL THEN greatest")),
    _of("covers", "noise over quarters", "categories cover nothing", "covers no earlier category",
        _text(HISTORY, "WHERE a.earlier AND $cover = 'later'", "WHERE a.earlier AND false")),
]  # fmt: skip

EXCLUSION = [
    _of("exclusion sets", "series", "old cases count", "counts old cases towards k and theta",
        _text(HISTORY, "OR (f.is_new AND (NOT $stopping_carries", "OR (true AND (NOT "
              "$stopping_carries")),
    _of("exclusion sets", "series", "nobody is old", "takes every case for a new one",
        _text(HISTORY, "bool_or(a.before) AS is_old", "false AS is_old")),
    _of("exclusion sets", "series", "the catalog has no old case", "stores every case as new, "
        "whatever it counted",
        _text(CATALOG, "    c.reports,\n    r.is_new\nFROM", "    c.reports,\n    true\nFROM"),
        _text(HISTORY, "OR (f.is_new AND (NOT $stopping_carries", "OR (true AND (NOT "
              "$stopping_carries")),
    _of("exclusion sets", "alpha", "any symptoms", "bounds no share of cases with many symptoms",
        Attribute("engine.models.bounding:PpmsAlpha.symptoms_limit",
                  lambda limit: property(lambda self: Fraction(1)))),
    _of("exclusion sets", "alpha", "nobody has many symptoms", "finds no case with many symptoms",
        _text(HISTORY, "s.case_id IS NOT NULL AS is_ss", "false AS is_ss")),
    _of("exclusion sets", "alpha", "all stop", "counts every case as stopping",
        _text(HISTORY, "WHEN 'next' THEN n.case_id IS NULL", "WHEN 'next' THEN true")),
    _of("exclusion sets", "stay", "cohorts are torn", "groups as if nobody stayed",
        Attribute("engine.models.bounding:PpmsStay.group",
                  lambda function: lambda self, grouping: self._group(grouping, 1))),
]  # fmt: skip


SUPPRESSION = [
    _of("suppression", "suppressed", "what is suppressed is shown", "shows what it suppressed",
        Attribute("engine.release.views:list_hidden", lambda function: lambda warehouse: False)),
    _of("suppression", "suppressed", "the catalog forgets", "stores nothing that it suppressed",
        _text(CATALOG, "SEMI JOIN temp.main.srsql_grouped AS g ON s.case_no = g.case_no\nORDER BY "
              "s.case_no, s.term_no;",
              "SEMI JOIN temp.main.srsql_grouped AS g ON s.case_no = g.case_no AND false\nORDER BY "
              "s.case_no, s.term_no;")),
    _of("suppression", "suppressed", "it comes back", "shows in the next quarter what it "
        "suppressed in this one",
        _text("grouping/steps/suppressed.sql", "WHERE own.release_id = $release_id::INTEGER AND "
              "r.release_id <> own.release_id", "WHERE own.release_id = $release_id::INTEGER AND "
              "r.release_id > own.release_id")),
    _of("suppression", "suppressed", "nothing was suppressed", "tells that no value is suppressed",
        Attribute(f"engine.{STAGES}.published:suppression_facts",
                  told(suppressed_cases_per_10000=lambda _: 0,
                       suppressed_one_value_per_10000=lambda _: 0))),
    _of("suppression", "suppressed", "the last value goes", "suppresses the only value of a "
        "report", _text("grouping/steps/losable.sql", "    WHERE v.sensitive AND v.shown\n)",
                        "    WHERE v.sensitive AND v.shown AND false\n)"),
        _text("grouping/steps/suppressed.sql", "HAVING bool_and(v.suppressed)",
              "HAVING bool_and(v.suppressed) AND false")),
]  # fmt: skip

PERSONS = [
    _of("persons", "persons", "a person is several", "counts suspected cases as several persons",
        _text("grouping/steps/persons.sql", "ON o.case_id::VARCHAR = p.case_id\n)\n",
              "ON o.case_id::VARCHAR = p.case_id AND false\n)\n")),
    _of("persons", "persons", "only sure pairs", "takes a higher match probability",
        Attribute("engine.grouping.persons:Persons.number",
                  lambda function: lambda unit, release: function(
                      replace(unit, match=Fraction(99, 100)), release))),
    _of("persons", "persons", "nobody is a person of two cases", "stores no suspected duplicate "
        "among those that it counted",
        _text("grouping/steps/persons.sql", "SEMI JOIN here AS h ON p.unit = h.unit",
              "SEMI JOIN here AS h ON p.unit = h.unit AND false"),
        _text("grouping/steps/persons.sql", "ON o.case_id::VARCHAR = p.case_id\n)\n",
              "ON o.case_id::VARCHAR = p.case_id AND false\n)\n")),
]  # fmt: skip

WAITING = [
    _of("waiting", "waiting", "cases wait for ever", "has cases wait longer than they may",
        _text(WAIT, "OR srsql.periods_apart(t.since, o.quarter, o.periods) < $max_delay",
              "OR srsql.periods_apart(t.since, o.quarter, o.periods) < 99 + $max_delay")),
    _of("waiting", "waiting twice", "waiting begins anew", "says that cases wait since now",
        _text(WAIT, "SELECT $release_id, w.case_id, coalesce(t.since, o.quarter) AS since",
              "SELECT $release_id, w.case_id, o.quarter AS since")),
    _of("waiting", "waiting", "those released wait", "has a case wait that it released",
        _text(WAIT, "    AND w.reason IN (SELECT unnest($reasons::VARCHAR[]))\n    AND (\n        "
              "t.since IS NULL",
              "    AND w.reason IN (SELECT unnest($reasons::VARCHAR[]))\n    AND (\n        "
              "w.reason = 'none' OR t.since IS NULL"),
        _text(WAIT, "ORDER BY w.case_id;\n\n-- name: keep_taken",
              "UNION ALL SELECT $release_id, min(m.case_id), min(r.quarter) FROM srsql.member AS m "
              "INNER JOIN srsql.release AS r ON r.release_id = m.release_id WHERE m.release_id = "
              "$release_id AND m.is_new HAVING count(*) > 0;\n\n-- name: keep_taken")),
    _of("waiting", "waiting", "fewer wait than do", "tells that nobody waits",
        Attribute("engine.release.features.hold_back:_counts", lambda function: lambda *given: [])),
]  # fmt: skip

KNOWLEDGE = [
    _of("knowledge (E)", "knowledge", "drugs tell nothing", "counts nothing that drugs tell",
        _text("grouping/steps/cases.sql", "w.word_no, i.weight, false, false",
              "w.word_no, i.weight // 1000000000, false, false")),
    _of("knowledge (E)", "knowledge", "knowledge is not kept", "keeps none of the knowledge that "
        "was given", _text("grouping/queries/cases.sql",
                           "WHERE e.drug_key IS NOT NULL AND e.disease_key IS NOT NULL",
                           "WHERE e.drug_key IS NOT NULL AND e.disease_key IS NULL")),
    _of("knowledge (E)", "knowledge", "half of the knowledge", "keeps the first pair alone of the "
        "knowledge that was given",
        _text("grouping/queries/cases.sql",
              "WHERE e.drug_key IS NOT NULL AND e.disease_key IS NOT NULL\nORDER BY e.drug, "
              "e.disease;", "WHERE e.drug_key IS NOT NULL AND e.disease_key IS NOT NULL\nORDER BY "
              "e.drug, e.disease LIMIT 1;")),
]  # fmt: skip

CORRECTIONS = [
    _of("corrections", "corrected", "a correction doubles theta", "doubles thresholds as it "
        "corrects", Attribute("engine.steward.correct:_add_thresholds", doubled_after)),
    _of("corrections", "corrected", "a correction lowers k", "keeps a lower k in a correction",
        _text("release/queries/correct.sql", "'released' AS status,",
              "'released' AS status, r.k - 1 AS k,")),
    _of("corrections", "corrected", "who left stays", "leaves the rows of who left",
        _text("release/steps/leaving.sql", "WHEN t.case_no IS NOT NULL THEN t.reason",
              "WHEN t.case_no IS NOT NULL AND false THEN t.reason")),
    _of("corrections", "corrected", "a group stays in part", "leaves the remainder of groups, "
        "whatever is left of them",
        _text("release/steps/leaving.sql", "OR ($keep_remainder::BOOLEAN AND j.group_id NOT IN "
              "(SELECT b.group_id FROM broken AS b))", "OR true")),
]  # fmt: skip

MANIFESTS = [
    _of("manifests", "one quarter", "one case more", "tells one case more than it released",
        _text(MANIFEST, "SELECT count(DISTINCT m.case_id) AS cases",
              "SELECT count(DISTINCT m.case_id) + 1 AS cases")),
    _of("manifests", "some withheld", "nobody is withheld", "tells that no case was withheld",
        _text(MANIFEST, "SELECT count(DISTINCT w.case_id) AS cases",
              "SELECT 0 * count(DISTINCT w.case_id) AS cases")),
    _of("manifests", "some withheld", "thresholds of the withheld", "tells thresholds of values "
        "that no released row shows",
        _text(MANIFEST, "WHERE t.release_id = of_release AND t.released",
              "WHERE t.release_id = of_release")),
    _of("manifests", "one quarter", "a higher k", "tells a higher k than it kept",
        Attribute("engine.release.manifest:Parameters.public", told(k=lambda k: k + 1))),
    _of("manifests", "one quarter", "more attacks", "tells that it withstands attacks that its "
        "model does not", Attribute("engine.release.manifest:Parameters.public",
                                    told(attacks=lambda _: "b,f,l"))),
    _of("manifests", "by frequency", "a lower effective k", "tells a lower effective k",
        Attribute(f"engine.{STAGES}.published:shown_k", less(1))),
    _of("manifests", "one quarter", "a lower theta", "tells a lower threshold than it kept",
        Attribute("engine.release.manifest:Parameters.public", told(theta=lambda _: "1/4"))),
    _of("manifests", "noise on numbers", "a lower epsilon", "tells half the epsilon that it spent",
        Attribute("engine.release.manifest:Parameters.public", told(epsilon=lambda _: "1/2"))),
]  # fmt: skip

OF_ROWS = [
    *BOUNDS, *THRESHOLDS, *COVERS, *EXCLUSION, *SUPPRESSION, *PERSONS, *WAITING, *KNOWLEDGE,
    *CORRECTIONS, *MANIFESTS,
]  # fmt: skip
