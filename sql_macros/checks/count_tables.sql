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
    unnest(srsql.check_row(release_id, 'check_count_cells', 'told count', f.n, t.n, k))
FROM (SELECT count(*) AS n FROM fault) AS f
CROSS JOIN (SELECT count(*) AS n FROM cells) AS t;

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

-- Each cell with each of its items left out.
asked AS (
    SELECT
        c.key,
        c.stratum,
        c.cases,
        i.item,
        list_filter(c.key, LAMBDA x: x IS DISTINCT FROM i.item) AS others
    FROM cells AS c
    CROSS JOIN (SELECT unnest(c.key) AS item) AS i
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

partners AS MATERIALIZED (
    SELECT
        s.stratum,
        s.cases,
        i.item AS sensitive,
        list_filter(s.key, LAMBDA x: x IS DISTINCT FROM i.item)[1] AS partner,
        t.theta_num,
        t.theta_den,
        h.cases AS holders
    FROM sums AS s
    CROSS JOIN (SELECT unnest(s.key) AS item) AS i
    INNER JOIN query_table(thresholds) AS t
        ON i.item.attribute = t.attribute AND i.item.term IS NOT DISTINCT FROM t.term
    INNER JOIN sums AS h ON h.key = [i.item] AND s.stratum = h.stratum -- noqa: ST09
    WHERE len(s.key) = 2 AND t.theta_num < t.theta_den
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
    LEFT JOIN sums AS j ON j.key = [a.partner, b.partner] AND a.stratum = j.stratum -- noqa: ST09
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

-- What:    every told count is that of the units, and the strata of a key have all who hold it: a
--          told key leaves nobody out. Of an attribute with one term a unit all is told or nothing.
-- Inputs:  single(attribute): such attributes.
-- Source:  rules R1, R2 and R3.
CREATE OR REPLACE MACRO srsql.check_count_truth(
    case_count, item_count, pair_count, tree, counted, held, single, release_id
) AS TABLE
WITH
cells AS MATERIALIZED (
    SELECT c.key, c.stratum, c.cases
    FROM srsql.count_cells(case_count, item_count, pair_count) AS c
),

paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

root AS (
    SELECT t.stratum FROM query_table(tree) AS t WHERE t.parent IS NULL
),

items AS (
    SELECT DISTINCT i.attribute, i.term FROM query_table(item_count) AS i
),

-- Who holds no told term of an attribute with one term a unit holds the rest of it.
holding AS MATERIALIZED (
    SELECT h.unit, struct_pack(attribute := h.attribute, term := h.term) AS item
    FROM query_table(held) AS h
    UNION ALL
    SELECT c.unit, struct_pack(attribute := s.attribute, term := NULL::VARCHAR) AS item
    FROM query_table(counted) AS c
    CROSS JOIN query_table(single) AS s
    WHERE NOT EXISTS (
        SELECT 1
        FROM query_table(held) AS h
        INNER JOIN items AS i ON h.attribute = i.attribute AND h.term = i.term
        WHERE c.unit = h.unit AND s.attribute = h.attribute
    )
),

holders AS MATERIALIZED (
    SELECT k.key, c.unit
    FROM (SELECT DISTINCT q.key FROM cells AS q WHERE len(q.key) = 0) AS k
    CROSS JOIN query_table(counted) AS c
    UNION ALL
    SELECT k.key, a.unit
    FROM (SELECT DISTINCT q.key FROM cells AS q WHERE len(q.key) > 0) AS k
    INNER JOIN holding AS a ON k.key[1] = a.item
    LEFT JOIN holding AS b ON k.key[2] = b.item AND a.unit = b.unit
    WHERE len(k.key) = 1 OR b.unit IS NOT NULL
),

recounted AS MATERIALIZED (
    SELECT h.key, p.ancestor AS stratum, count(*) AS cases
    FROM holders AS h
    INNER JOIN query_table(counted) AS c ON h.unit = c.unit
    INNER JOIN paths AS p ON c.stratum = p.stratum
    GROUP BY h.key, p.ancestor
),

-- All the cells of a key whose last item has one term a unit sum up to the key without it.
parts AS (
    SELECT
        list_filter(c.key, LAMBDA x: x IS DISTINCT FROM i.item) AS others,
        i.item.attribute AS attribute,
        sum(c.cases) AS cases
    FROM cells AS c
    CROSS JOIN (SELECT unnest(c.key) AS item) AS i
    WHERE i.item.attribute IN (SELECT s.attribute FROM query_table(single) AS s)
    GROUP BY ALL
),

fault AS (
    SELECT c.key, c.stratum
    FROM cells AS c
    LEFT JOIN recounted AS r ON c.key = r.key AND c.stratum = r.stratum
    WHERE r.cases IS DISTINCT FROM c.cases
    UNION
    SELECT c.key, NULL AS stratum
    FROM cells AS c
    LEFT JOIN (
        SELECT r.key, r.cases FROM recounted AS r
        INNER JOIN root AS o ON r.stratum = o.stratum
    ) AS a ON c.key = a.key
    GROUP BY c.key
    HAVING sum(c.cases) IS DISTINCT FROM any_value(a.cases)
    UNION
    SELECT p.others AS key, p.attribute AS stratum
    FROM parts AS p
    LEFT JOIN (
        SELECT c.key, sum(c.cases) AS cases FROM cells AS c GROUP BY c.key
    ) AS w ON p.others = w.key
    WHERE w.cases IS DISTINCT FROM p.cases
)

SELECT
    unnest(srsql.check_row(release_id, 'check_count_truth', 'told count', f.n, t.n, 0))
FROM (SELECT count(*) AS n FROM fault) AS f
CROSS JOIN (SELECT count(*) AS n FROM cells) AS t;

-- What:    how many of the units of each told stratum of all units hold an item.
-- Inputs:  as above; no item is told of a finer stratum.
-- Outputs: leaf, item, cases, units (of the stratum).
CREATE OR REPLACE MACRO srsql.count_leaves(case_count, paths, counted, held) AS TABLE
WITH
placed AS MATERIALIZED (
    SELECT c.unit, p.ancestor AS leaf
    FROM query_table(counted) AS c
    INNER JOIN query_table(paths) AS p ON c.stratum = p.stratum
    WHERE p.ancestor IN (SELECT n.stratum FROM query_table(case_count) AS n)
),

sizes AS (
    SELECT p.leaf, count(*) AS units FROM placed AS p GROUP BY p.leaf
)

SELECT
    p.leaf,
    struct_pack(attribute := h.attribute, term := h.term) AS item,
    count(*) AS cases,
    any_value(s.units) AS units
FROM placed AS p
INNER JOIN query_table(held) AS h ON p.unit = h.unit
INNER JOIN sizes AS s ON p.leaf = s.leaf
GROUP BY p.leaf, h.attribute, h.term;

-- What:    what is told of two items leaves a data set that is published alike and in which the
--          holders of one of them in a told stratum keep to the other's threshold: one in which as
--          few as possible have both, where the pair is not told (G1); where it is told of a wider
--          stratum, one in which 1 to k - 1 have both in a part of that, so that it is not told of
--          the parts (G2). Every such number is tried.
-- Inputs:  kinds(attribute, other): the attributes whose pairs are counted; held: with the items
--          "none of the terms that are told" of attributes with one term a unit, and without the
--          terms that are not.
-- Source:  rules G1 and G2; claim (b).
CREATE OR REPLACE MACRO srsql.check_count_ways_out(
    case_count, item_count, pair_count, tree, thresholds, counted, held, kinds, k, release_id
) AS TABLE
WITH
cells AS MATERIALIZED (
    SELECT c.key, c.stratum, c.cases
    FROM srsql.count_cells(case_count, item_count, pair_count) AS c
),

paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

leaves AS MATERIALIZED (
    SELECT l.leaf, l.item, l.cases, l.units
    FROM srsql.count_leaves(case_count, 'paths', counted, held) AS l
),

root AS (
    SELECT t.stratum FROM query_table(tree) AS t WHERE t.parent IS NULL
),

totals AS (
    SELECT l.item, sum(l.cases)::BIGINT AS cases FROM leaves AS l GROUP BY l.item
),

everyone AS (
    SELECT count(*) AS units FROM query_table(counted)
),

sensitive AS MATERIALIZED (
    SELECT t.item, h.theta_num, h.theta_den
    FROM totals AS t
    CROSS JOIN everyone AS e
    INNER JOIN query_table(thresholds) AS h
        ON t.item.attribute = h.attribute AND t.item.term IS NOT DISTINCT FROM h.term
    WHERE
        h.theta_num < h.theta_den
        AND t.cases >= k
        AND (t.cases = e.units OR e.units - t.cases >= k)
        AND t.cases::HUGEINT * h.theta_den <= e.units::HUGEINT * h.theta_num
),

-- What the leaves force on a told item and a sensitive one, of a stratum that tells the item, or of
-- all strata together.
crowded AS (
    SELECT DISTINCT c.key, c.stratum
    FROM (
        SELECT
            i.key,
            p.ancestor AS stratum,
            s.item AS other,
            sum(x.cases + y.cases - x.units) AS forced,
            any_value(s.theta_num) AS theta_num,
            any_value(s.theta_den) AS theta_den
        FROM (SELECT DISTINCT q.key FROM cells AS q WHERE len(q.key) = 1) AS i
        INNER JOIN leaves AS x ON i.key[1] = x.item
        INNER JOIN leaves AS y ON x.leaf = y.leaf AND x.cases + y.cases > x.units
        INNER JOIN sensitive AS s ON y.item = s.item
        INNER JOIN query_table(kinds) AS d
            ON
                (x.item.attribute = d.attribute AND y.item.attribute = d.other)
                OR (x.item.attribute = d.other AND y.item.attribute = d.attribute)
        INNER JOIN paths AS p ON x.leaf = p.stratum
        GROUP BY i.key, p.ancestor, s.item
    ) AS c
    INNER JOIN (
        SELECT q.key, q.stratum, q.cases FROM cells AS q
        UNION
        SELECT [t.item] AS key, o.stratum, t.cases FROM totals AS t CROSS JOIN root AS o
    ) AS n ON c.key = n.key AND c.stratum = n.stratum
    WHERE c.forced >= k OR c.forced::HUGEINT * c.theta_den > n.cases::HUGEINT * c.theta_num
),

ends AS MATERIALIZED (
    SELECT
        c.key,
        p.ancestor AS stratum,
        sum(greatest(0, x.cases + y.cases - x.units))::BIGINT AS least,
        sum(least(x.cases, y.cases))::BIGINT AS most
    FROM (SELECT DISTINCT q.key FROM cells AS q WHERE len(q.key) = 2) AS c
    INNER JOIN leaves AS x ON c.key[1] = x.item
    INNER JOIN leaves AS y ON c.key[2] = y.item AND x.leaf = y.leaf
    INNER JOIN paths AS p ON x.leaf = p.stratum
    GROUP BY c.key, p.ancestor
),

asked AS MATERIALIZED (
    SELECT
        c.key,
        c.stratum,
        c.cases,
        t.stratum AS child,
        n.stratum AS inner_stratum,
        n.cases AS holders,
        h.theta_num,
        h.theta_den,
        w.least AS all_least,
        w.most AS all_most,
        e.least AS child_least,
        e.most AS child_most,
        s.least AS inner_least,
        s.most AS inner_most
    FROM cells AS c
    CROSS JOIN (SELECT unnest(c.key) AS item) AS i
    INNER JOIN query_table(thresholds) AS h
        ON i.item.attribute = h.attribute AND i.item.term IS NOT DISTINCT FROM h.term
    INNER JOIN query_table(tree) AS t ON c.stratum = t.parent
    INNER JOIN cells AS n ON n.key = list_filter(c.key, LAMBDA x: x IS DISTINCT FROM i.item)
    INNER JOIN paths AS p ON n.stratum = p.stratum AND t.stratum = p.ancestor
    INNER JOIN ends AS w ON c.key = w.key AND c.stratum = w.stratum
    INNER JOIN ends AS e ON c.key = e.key AND t.stratum = e.stratum
    INNER JOIN ends AS s ON c.key = s.key AND n.stratum = s.stratum
    WHERE len(c.key) = 2 AND h.theta_num < h.theta_den AND s.most > 0
),

tried AS (
    SELECT a.*, unnest(list_distinct(list_concat(
        range(1, k), range(greatest(1, a.cases - k + 1), a.cases)
    ))) AS here
    FROM asked AS a
),

way_out AS (
    SELECT DISTINCT t.key, t.stratum, t.child, t.inner_stratum
    FROM tried AS t
    WHERE
        t.here BETWEEN t.child_least AND t.child_most
        AND t.cases - t.here BETWEEN t.all_least - t.child_least AND t.all_most - t.child_most
        AND greatest(t.inner_least, t.here - (t.child_most - t.inner_most))::HUGEINT * t.theta_den
        <= t.holders::HUGEINT * t.theta_num
),

forced AS (
    SELECT DISTINCT a.key, a.stratum
    FROM asked AS a
    ANTI JOIN way_out AS o
        ON
            a.key = o.key AND a.stratum = o.stratum AND a.child = o.child
            AND a.inner_stratum = o.inner_stratum
)

SELECT
    unnest(srsql.check_row(release_id, 'check_count_ways_out', 'told count', f.n, t.n, k))
FROM (
    SELECT (SELECT count(*) FROM crowded) + (SELECT count(*) FROM forced) AS n
) AS f
CROSS JOIN (SELECT count(*) AS n FROM cells) AS t;
