-- Count tables read by themselves: nothing but what is published is looked at. Inputs are tables:
--   case_count(stratum, cases), item_count(stratum, attribute, term, cases), pair_count(stratum,
--     attribute, term, other_attribute, other_term, cases): terms by their keys, no cell of 0;
--   tree(stratum, parent): the strata; the root has no parent.
-- Every key of which a cell is published has all its units in its cells, and no unit in two.

-- What:    the strata that lie in each stratum, itself too.
-- Outputs: stratum, inner_stratum.
CREATE OR REPLACE MACRO srsql.nested_strata(tree) AS TABLE
WITH RECURSIVE
down AS (
    SELECT t.stratum, t.stratum AS inner_stratum FROM query_table(tree) AS t
    UNION ALL
    SELECT d.stratum, t.stratum AS inner_stratum
    FROM down AS d
    INNER JOIN query_table(tree) AS t ON d.inner_stratum = t.parent
)

SELECT d.stratum, d.inner_stratum FROM down AS d;

-- What:    how many units of a stratum hold nothing asked for, an item, or both of two items.
-- Inputs:  asked(ask, stratum, attribute, term, other_attribute, other_term): ask numbers the
--          questions; NULL attributes ask for all units, or for one item alone.
-- Outputs: ask, lower, upper, exact. A count is exact where it is told, or the sum of told ones.
--          Else it is 0 to the least told count that it is part of: of a wider stratum, of one of
--          the two items, or of all units; and unknown (NULL) where there is none.
-- Source:  SPEC section 19, rule R5: what is not told has these bounds for whatever reason.
CREATE OR REPLACE MACRO srsql.count_table_bounds(
    case_count, item_count, pair_count, tree, asked
) AS TABLE
WITH
nested AS MATERIALIZED (
    SELECT n.stratum, n.inner_stratum FROM srsql.nested_strata(tree) AS n
),

cells AS MATERIALIZED (
    SELECT []::VARCHAR[] AS name, c.stratum, c.cases FROM query_table(case_count) AS c
    UNION ALL
    SELECT [i.attribute, i.term] AS name, i.stratum, i.cases
    FROM query_table(item_count) AS i
    UNION ALL
    SELECT
        CASE
            WHEN p.attribute < p.other_attribute
                THEN [p.attribute, p.term, p.other_attribute, p.other_term]
            ELSE [p.other_attribute, p.other_term, p.attribute, p.term]
        END AS name,
        p.stratum,
        p.cases
    FROM query_table(pair_count) AS p
),

names AS (
    SELECT DISTINCT c.name FROM cells AS c
),

questions AS (
    SELECT
        a.ask,
        a.stratum,
        [a.attribute, a.term] AS item,
        [a.other_attribute, a.other_term] AS other,
        CASE
            WHEN a.attribute IS NULL THEN []::VARCHAR[]
            WHEN a.other_attribute IS NULL THEN [a.attribute, a.term]
            WHEN a.attribute < a.other_attribute
                THEN [a.attribute, a.term, a.other_attribute, a.other_term]
            ELSE [a.other_attribute, a.other_term, a.attribute, a.term]
        END AS name
    FROM query_table(asked) AS a
),

-- What each question is part of: itself, either item alone, and all units.
named AS (
    SELECT
        q.ask,
        q.stratum,
        q.name AS whole,
        unnest(list_distinct([[]::VARCHAR[], q.item, q.other, q.name])) AS name
    FROM questions AS q
),

parts AS (
    SELECT n.ask, n.stratum, n.name, n.name = n.whole AS whole
    FROM named AS n
    WHERE len(n.name) = 0 OR n.name[1] IS NOT NULL
),

-- Of a told key: the sum of the cells inside, unless one cell is wider than the stratum.
inside AS (
    SELECT p.ask, p.name, sum(c.cases)::BIGINT AS cases
    FROM parts AS p
    INNER JOIN nested AS n ON p.stratum = n.stratum
    INNER JOIN cells AS c ON p.name = c.name AND n.inner_stratum = c.stratum
    GROUP BY p.ask, p.name
),

wider AS (
    SELECT p.ask, p.name, min(c.cases)::BIGINT AS cases
    FROM parts AS p
    INNER JOIN nested AS n ON p.stratum = n.inner_stratum AND p.stratum <> n.stratum
    INNER JOIN cells AS c ON p.name = c.name AND n.stratum = c.stratum
    GROUP BY p.ask, p.name
),

limits AS (
    SELECT
        p.ask,
        p.whole AND t.name IS NOT NULL AND w.cases IS NULL AS exact,
        CASE WHEN t.name IS NOT NULL THEN coalesce(w.cases, i.cases, 0) END AS cases
    FROM parts AS p
    LEFT JOIN names AS t ON p.name = t.name
    LEFT JOIN inside AS i ON p.ask = i.ask AND p.name = i.name
    LEFT JOIN wider AS w ON p.ask = w.ask AND p.name = w.name
)

SELECT
    l.ask,
    CASE
        WHEN bool_or(l.exact) THEN max(l.cases) FILTER (WHERE l.exact)
        ELSE 0
    END::BIGINT AS lower,
    CASE
        WHEN bool_or(l.exact) THEN max(l.cases) FILTER (WHERE l.exact)
        ELSE min(l.cases)
    END::BIGINT AS upper,
    bool_or(l.exact) AS exact
FROM limits AS l
GROUP BY l.ask;

-- What:    the 2 x 2 table of every told pair in a stratum in which it is known, by two attributes:
--          a (both), b (the first alone), c (the second alone), d (neither), as
--          srsql.signal_measures takes it. All four are exact.
-- Inputs:  of_drug, of_reaction: attributes; in_stratum: a stratum of the tree.
-- Outputs: drug, reaction, a, b, c, d. Others are undecided. A prior of EBGM would be biased.
-- Source:  SPEC section 14 and rule R2: a pair is told only where its items and all units are.
CREATE OR REPLACE MACRO srsql.count_table_pairs(
    case_count, item_count, pair_count, tree, of_drug, of_reaction, in_stratum
) AS TABLE
WITH
inside AS MATERIALIZED (
    SELECT n.inner_stratum AS stratum
    FROM srsql.nested_strata(tree) AS n
    WHERE n.stratum = in_stratum
),

units AS (
    SELECT sum(c.cases)::BIGINT AS n
    FROM query_table(case_count) AS c
    INNER JOIN inside AS i ON c.stratum = i.stratum
),

items AS MATERIALIZED (
    SELECT c.attribute, c.term, sum(c.cases)::BIGINT AS n
    FROM query_table(item_count) AS c
    INNER JOIN inside AS i ON c.stratum = i.stratum
    GROUP BY c.attribute, c.term
),

pairs AS (
    SELECT
        CASE WHEN p.attribute = of_drug THEN p.term ELSE p.other_term END AS drug,
        CASE WHEN p.attribute = of_drug THEN p.other_term ELSE p.term END AS reaction,
        sum(p.cases)::BIGINT AS a
    FROM query_table(pair_count) AS p
    INNER JOIN inside AS i ON p.stratum = i.stratum
    WHERE
        (p.attribute = of_drug AND p.other_attribute = of_reaction)
        OR (p.attribute = of_reaction AND p.other_attribute = of_drug)
    GROUP BY ALL
)

SELECT
    p.drug,
    p.reaction,
    p.a,
    d.n - p.a AS b,
    r.n - p.a AS c,
    u.n - d.n - r.n + p.a AS d
FROM pairs AS p
INNER JOIN items AS d ON p.drug = d.term AND d.attribute = of_drug
INNER JOIN items AS r ON p.reaction = r.term AND r.attribute = of_reaction
CROSS JOIN units AS u;

-- What:    the cells of 2 x 2 tables by the bounds of what is known of their margins.
-- Inputs:  margins(..., n_low, n_high, d_low, d_high, r_low, r_high, a_low, a_high): of all units,
--          of those with the drug, with the reaction, and with both.
-- Outputs: the other columns of margins, and the cells as srsql.contingency has them.
-- Source:  SPEC section 19, rule R5.
CREATE OR REPLACE MACRO srsql_internal.cells_of_margins(margins) AS TABLE
WITH ends AS (
    SELECT
        m.* EXCLUDE (n_low, n_high, d_low, d_high, r_low, r_high, a_low, a_high),
        m.a_low AS a_lower,
        m.a_high AS a_upper,
        greatest(0, m.d_low - m.a_high) AS b_lower,
        m.d_high - m.a_low AS b_upper,
        greatest(0, m.r_low - m.a_high) AS c_lower,
        m.r_high - m.a_low AS c_upper,
        greatest(0, m.n_low - m.d_high - m.r_high + m.a_low) AS d_lower,
        greatest(0, m.n_high - m.d_low - m.r_low + least(m.a_high, m.d_low, m.r_low)) AS d_upper
    FROM query_table(margins) AS m
)

SELECT
    e.* EXCLUDE (
        a_lower, a_upper, b_lower, b_upper, c_lower, c_upper, d_lower, d_upper
    ),
    (e.a_lower + e.a_upper) / 2 AS a,
    (e.b_lower + e.b_upper) / 2 AS b,
    (e.c_lower + e.c_upper) / 2 AS c,
    (e.d_lower + e.d_upper) / 2 AS d,
    e.a_lower,
    e.b_lower,
    e.c_lower,
    e.d_lower,
    e.a_upper,
    e.b_upper,
    e.c_upper,
    e.d_upper,
    e.a_lower AS a_known,
    e.b_lower AS b_known,
    e.c_lower AS c_known,
    e.d_lower AS d_known
FROM ends AS e;

-- What:    the 2 x 2 table of each wanted pair under a condition, from told counts: exact where all
--          of them are told of strata that surely meet it, and else with the bounds of rule R5.
-- Inputs:  cells(drug, reaction, stratum, cases): told counts; a drug or reaction of NULL is any;
--          weights(stratum, surely, maybe): whether all cases of a stratum meet the condition, and
--          whether some may; pairs(drug, reaction).
-- Outputs: drug, reaction, and the cells as srsql.contingency_by_stratum has them.
-- Source:  SPEC section 19, rule R5.
CREATE OR REPLACE MACRO srsql.count_contingency(cells, weights, pairs) AS TABLE
WITH
told AS MATERIALIZED (
    SELECT
        c.drug,
        c.reaction,
        coalesce(sum(c.cases) FILTER (WHERE l.surely), 0)::BIGINT AS low,
        coalesce(sum(c.cases) FILTER (WHERE l.maybe), 0)::BIGINT AS high
    FROM query_table(cells) AS c
    INNER JOIN query_table(weights) AS l ON c.stratum = l.stratum
    GROUP BY c.drug, c.reaction
),

units AS (
    SELECT coalesce(max(t.low), 0) AS low, coalesce(max(t.high), 0) AS high
    FROM told AS t
    WHERE t.drug IS NULL AND t.reaction IS NULL
),

margins AS (
    SELECT
        p.drug,
        p.reaction,
        u.low AS n_low,
        u.high AS n_high,
        coalesce(d.low, 0) AS d_low,
        coalesce(d.high, u.high) AS d_high,
        coalesce(r.low, 0) AS r_low,
        coalesce(r.high, u.high) AS r_high,
        coalesce(b.low, 0) AS a_low,
        least(
            coalesce(b.high, u.high), coalesce(d.high, u.high), coalesce(r.high, u.high)
        ) AS a_high
    FROM (SELECT DISTINCT w.drug, w.reaction FROM query_table(pairs) AS w) AS p
    CROSS JOIN units AS u
    LEFT JOIN told AS d ON p.drug = d.drug AND d.reaction IS NULL
    LEFT JOIN told AS r ON p.reaction = r.reaction AND r.drug IS NULL
    LEFT JOIN told AS b ON p.drug = b.drug AND p.reaction = b.reaction
)

FROM srsql_internal.cells_of_margins('margins');
