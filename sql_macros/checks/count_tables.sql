-- The check of count tables after the fact. Nothing here is used to make them. Inputs are tables:
--   case_count(stratum, cases), item_count(stratum, attribute, term, cases), pair_count(stratum,
--     attribute, term, other_attribute, other_term, cases): what is published, terms by their keys;
--   tree(stratum, parent): the strata; the root has no parent;
--   thresholds(attribute, term, theta_num, theta_den): an item without one is not sensitive;
--   counted(unit, stratum), held(unit, attribute, term): whom the tables count, in leaves of the
--     tree, and what they hold; a term of NULL is "none of the terms that are told".
-- A key is the list of its items, each STRUCT(attribute, term); [] is that of all units.
-- Every check returns the uniform row. Its source is SPEC section 19 and decision 39.

-- What:    every stratum with all that lie in it, by the path from the root.
-- Outputs: stratum, ancestor (itself, too).
CREATE OR REPLACE MACRO srsql.count_paths(tree) AS TABLE
WITH RECURSIVE
paths AS (
    SELECT t.stratum, [t.stratum] AS path FROM query_table(tree) AS t WHERE t.parent IS NULL
    UNION ALL
    SELECT t.stratum, list_append(p.path, t.stratum) AS path
    FROM paths AS p
    INNER JOIN query_table(tree) AS t ON p.stratum = t.parent
)

SELECT p.stratum, unnest(p.path) AS ancestor FROM paths AS p;

-- What:    the published cells of all keys.
-- Outputs: key, stratum, cases.
CREATE OR REPLACE MACRO srsql.count_cells(case_count, item_count, pair_count) AS TABLE
SELECT
    []::STRUCT(attribute VARCHAR, term VARCHAR)[] AS key, -- noqa: RF04
    c.stratum,
    c.cases
FROM query_table(case_count) AS c
UNION ALL
SELECT [struct_pack(attribute := i.attribute, term := i.term)] AS key, i.stratum, i.cases
FROM query_table(item_count) AS i
UNION ALL
SELECT
    list_sort([
        struct_pack(attribute := p.attribute, term := p.term),
        struct_pack(attribute := p.other_attribute, term := p.other_term)
    ]) AS key,
    p.stratum,
    p.cases
FROM query_table(pair_count) AS p;

-- What:    what is known of a key at a stratum: the sum of its cells there, one of which it has.
-- Inputs:  cells: count_cells; paths: count_paths.
-- Outputs: key, stratum, cases, told (by one cell of its own).
CREATE OR REPLACE MACRO srsql.count_sums(cells, paths) AS TABLE
SELECT
    c.key,
    p.ancestor AS stratum,
    sum(c.cases)::BIGINT AS cases,
    bool_or(p.ancestor = c.stratum) AS told
FROM query_table(cells) AS c
INNER JOIN query_table(paths) AS p ON c.stratum = p.stratum
GROUP BY c.key, p.ancestor;

-- What:    the strata of a key are disjoint, and each of its cells has k or more: so does every
--          difference of what is told of one key. No cell is told twice, or of no stratum.
-- Source:  rules R2 and R5; claim (a).
CREATE OR REPLACE MACRO srsql.check_count_cells(
    case_count, item_count, pair_count, tree, k, release_id
) AS TABLE
WITH
cells AS MATERIALIZED (
    SELECT c.key, c.stratum, c.cases
    FROM srsql.count_cells(case_count, item_count, pair_count) AS c
),

paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

fault AS (
    SELECT c.key, c.stratum FROM cells AS c WHERE c.cases IS NULL OR c.cases < k
    UNION
    SELECT c.key, c.stratum FROM cells AS c ANTI JOIN paths AS p ON c.stratum = p.stratum
    UNION
    SELECT c.key, c.stratum FROM cells AS c GROUP BY c.key, c.stratum HAVING count(*) > 1
    UNION
    SELECT c.key, c.stratum
    FROM cells AS c
    INNER JOIN paths AS p ON c.stratum = p.stratum AND p.stratum <> p.ancestor
    INNER JOIN cells AS a ON c.key = a.key AND p.ancestor = a.stratum
)

SELECT
    unnest(srsql.check_row(release_id, 'check_count_cells', 'told count', f.violating, f.total, k))
FROM (
    SELECT
        (SELECT count(*) FROM fault) AS violating,
        (SELECT count(*) FROM cells) AS total
) AS f;

-- What:    an item is told where all units are known, and none or k and more do not hold it; a pair
--          where both its items are known; and no told item or pair breaks a threshold.
-- Source:  rule R2.
CREATE OR REPLACE MACRO srsql.check_count_theta(
    case_count, item_count, pair_count, tree, thresholds, k, release_id
) AS TABLE
WITH
cells AS MATERIALIZED (
    SELECT c.key, c.stratum, c.cases
    FROM srsql.count_cells(case_count, item_count, pair_count) AS c
),

paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

sums AS MATERIALIZED (
    SELECT s.key, s.stratum, s.cases FROM srsql.count_sums('cells', 'paths') AS s
),

opened AS (
    SELECT c.key, c.stratum, c.cases, unnest(c.key) AS item FROM cells AS c
),

-- Each cell with each of its items left out.
asked AS (
    SELECT
        o.key,
        o.stratum,
        o.cases,
        o.item,
        list_filter(o.key, LAMBDA x: x IS DISTINCT FROM o.item) AS others
    FROM opened AS o
),

judged AS (
    SELECT
        a.key,
        a.stratum,
        s.cases IS NULL
        OR a.cases > s.cases
        OR (len(a.key) = 1 AND s.cases - a.cases BETWEEN 1 AND k - 1)
        OR a.cases::HUGEINT * coalesce(t.theta_den, 1)
        > s.cases::HUGEINT * coalesce(t.theta_num, 1) AS breached
    FROM asked AS a
    LEFT JOIN sums AS s ON a.others = s.key AND a.stratum = s.stratum
    LEFT JOIN query_table(thresholds) AS t
        ON
            a.item.attribute IS NOT DISTINCT FROM t.attribute
            AND a.item.term IS NOT DISTINCT FROM t.term
),

verdict AS (
    SELECT j.key, j.stratum, bool_or(j.breached) AS breached
    FROM judged AS j
    GROUP BY j.key, j.stratum
)

SELECT
    unnest(srsql.check_row(
        release_id,
        'check_count_theta',
        'told count',
        count(*) FILTER (WHERE v.breached),
        count(*),
        k
    ))
FROM verdict AS v;

-- What:    two told partners of a sensitive item force it on no more of those who hold both than
--          its threshold allows. Where the joint count is told that is shown; else only that the
--          two have no more than the item has, so that nothing is forced, and the rest is told as
--          what cannot be shown.
-- Outputs: a check of what is shown; a metric of what cannot be.
-- Source:  rule G3; claim (c).
CREATE OR REPLACE MACRO srsql.check_count_bridges(
    case_count, item_count, pair_count, tree, thresholds, release_id
) AS TABLE
WITH
cells AS MATERIALIZED (
    SELECT c.key, c.stratum, c.cases
    FROM srsql.count_cells(case_count, item_count, pair_count) AS c
),

paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

sums AS MATERIALIZED (
    SELECT s.key, s.stratum, s.cases FROM srsql.count_sums('cells', 'paths') AS s
),

opened AS (
    SELECT s.key, s.stratum, s.cases, unnest(s.key) AS item FROM sums AS s WHERE len(s.key) = 2
),

partners AS MATERIALIZED (
    SELECT
        o.stratum,
        o.cases,
        o.item AS sensitive,
        list_filter(o.key, LAMBDA x: x IS DISTINCT FROM o.item)[1] AS partner,
        t.theta_num,
        t.theta_den,
        h.cases AS holders
    FROM opened AS o
    INNER JOIN query_table(thresholds) AS t
        ON o.item.attribute = t.attribute AND o.item.term IS NOT DISTINCT FROM t.term
    INNER JOIN sums AS h ON [o.item] = h.key AND o.stratum = h.stratum
    WHERE t.theta_num < t.theta_den
),

met AS (
    SELECT
        a.cases + b.cases - a.holders AS forced,
        a.theta_num,
        a.theta_den,
        j.cases AS joint
    FROM partners AS a
    INNER JOIN partners AS b
        ON a.sensitive = b.sensitive AND a.stratum = b.stratum AND a.partner < b.partner
    LEFT JOIN sums AS j ON [a.partner, b.partner] = j.key AND a.stratum = j.stratum
    WHERE greatest(a.cases, b.cases) * 2 > a.holders AND a.cases + b.cases > a.holders
)

SELECT
    unnest(srsql.check_row(
        release_id,
        'check_count_bridges',
        'two told partners',
        count(*) FILTER (WHERE m.forced::HUGEINT * m.theta_den > m.joint::HUGEINT * m.theta_num),
        count(*) FILTER (WHERE m.joint IS NOT NULL),
        0
    ))
FROM met AS m
UNION ALL
SELECT
    unnest(srsql.metric_row(
        release_id,
        'count_bridges_not_shown',
        'two told partners',
        count(*) FILTER (WHERE m.joint IS NULL),
        count(*)
    ))
FROM met AS m;
