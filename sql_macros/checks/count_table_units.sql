-- The check of count tables of the units that they count. Nothing here is used to make them. Inputs
-- are those of checks/count_tables.sql.

-- What:    every told count is that of the units, and the strata of a key have all who hold it: a
--          told key leaves nobody out. Of an attribute with one term a unit all is told or nothing.
-- Inputs:  single(attribute): such attributes.
-- Source:  rules R1, R2 and R3.
CREATE OR REPLACE MACRO srsql.check_count_truth(
    case_count, item_count, pair_count, tree, counted, held, single, release_id
) AS TABLE
WITH
paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

nobody AS (
    SELECT NULL::VARCHAR AS attribute, NULL::VARCHAR AS term WHERE false
),

-- Numbers in the order of attributes: of a pair the lesser one comes first.
items AS MATERIALIZED (
    SELECT
        (row_number() OVER (ORDER BY n.attribute, n.term))::INTEGER AS item_no,
        (dense_rank() OVER (ORDER BY n.attribute))::INTEGER AS attribute_no,
        n.attribute,
        n.term,
        n.attribute IN (SELECT s.attribute FROM query_table(single) AS s) AS single
    FROM srsql.count_names(item_count, pair_count, 'nobody') AS n
),

-- Keys by their numbers; 0 is no item.
cells AS MATERIALIZED (
    SELECT 0 AS item_no, 0 AS other_no, c.stratum, c.cases FROM query_table(case_count) AS c
    UNION ALL
    SELECT n.item_no, 0 AS other_no, i.stratum, i.cases
    FROM query_table(item_count) AS i
    INNER JOIN items AS n
        ON i.attribute IS NOT DISTINCT FROM n.attribute AND i.term IS NOT DISTINCT FROM n.term
    UNION ALL
    SELECT
        least(a.item_no, b.item_no) AS item_no,
        greatest(a.item_no, b.item_no) AS other_no,
        p.stratum,
        p.cases
    FROM query_table(pair_count) AS p
    INNER JOIN items AS a
        ON p.attribute IS NOT DISTINCT FROM a.attribute AND p.term IS NOT DISTINCT FROM a.term
    INNER JOIN items AS b
        ON
            p.other_attribute IS NOT DISTINCT FROM b.attribute
            AND p.other_term IS NOT DISTINCT FROM b.term
),

told AS MATERIALIZED (
    SELECT c.item_no, c.other_no, sum(c.cases) AS cases
    FROM cells AS c
    GROUP BY c.item_no, c.other_no
),

leaves AS MATERIALIZED (
    SELECT t.stratum, (row_number() OVER ())::INTEGER AS leaf_no
    FROM query_table(tree) AS t
),

placed AS MATERIALIZED (
    SELECT c.unit, l.leaf_no
    FROM query_table(counted) AS c
    INNER JOIN leaves AS l ON c.stratum = l.stratum
),

with_term AS MATERIALIZED (
    SELECT h.unit, i.item_no, i.attribute_no
    FROM query_table(held) AS h
    INNER JOIN items AS i ON h.attribute = i.attribute AND h.term = i.term
),

-- Who holds no told term of an attribute with one term a unit holds the rest of it.
holding AS MATERIALIZED (
    SELECT h.unit, p.leaf_no, h.item_no, h.attribute_no
    FROM with_term AS h
    INNER JOIN placed AS p ON h.unit = p.unit
    UNION ALL
    SELECT p.unit, p.leaf_no, i.item_no, i.attribute_no
    FROM placed AS p
    CROSS JOIN items AS i
    WHERE
        i.term IS NULL AND i.single AND NOT EXISTS (
            SELECT 1
            FROM with_term AS h
            WHERE p.unit = h.unit AND i.attribute_no = h.attribute_no
        )
),

both_kinds AS (
    SELECT DISTINCT a.attribute_no, b.attribute_no AS other
    FROM told AS t
    INNER JOIN items AS a ON t.item_no = a.item_no
    INNER JOIN items AS b ON t.other_no = b.item_no
),

-- One kind of two items after the other: all items of a unit would meet all.
first_held AS MATERIALIZED (
    SELECT h.unit, h.leaf_no, h.item_no, d.other
    FROM holding AS h
    INNER JOIN both_kinds AS d ON h.attribute_no = d.attribute_no
),

holders AS (
    SELECT 0 AS item_no, 0 AS other_no, p.leaf_no FROM placed AS p
    UNION ALL
    SELECT h.item_no, 0 AS other_no, h.leaf_no FROM holding AS h
    UNION ALL
    SELECT a.item_no, b.item_no AS other_no, a.leaf_no
    FROM first_held AS a
    INNER JOIN holding AS b ON a.unit = b.unit AND a.other = b.attribute_no
    SEMI JOIN told AS t ON a.item_no = t.item_no AND b.item_no = t.other_no
),

leaf_counts AS MATERIALIZED (
    SELECT h.item_no, h.other_no, h.leaf_no, count(*) AS cases
    FROM holders AS h
    GROUP BY h.item_no, h.other_no, h.leaf_no
),

above AS MATERIALIZED (
    SELECT l.leaf_no, p.ancestor, t.parent IS NULL AS is_root
    FROM leaves AS l
    INNER JOIN paths AS p ON l.stratum = p.stratum
    INNER JOIN query_table(tree) AS t ON p.ancestor = t.stratum
),

told_strata AS (
    SELECT DISTINCT c.item_no, c.other_no, c.stratum FROM cells AS c
),

-- Of all strata of the tree those that are told of a key.
recounted AS (
    SELECT c.item_no, c.other_no, c.stratum, sum(l.cases) AS cases
    FROM leaf_counts AS l
    INNER JOIN above AS p ON l.leaf_no = p.leaf_no
    INNER JOIN told_strata AS c
        ON l.item_no = c.item_no AND l.other_no = c.other_no AND p.ancestor = c.stratum
    GROUP BY c.item_no, c.other_no, c.stratum
),

wholes AS (
    SELECT l.item_no, l.other_no, p.ancestor AS stratum, sum(l.cases) AS cases
    FROM leaf_counts AS l
    INNER JOIN above AS p ON l.leaf_no = p.leaf_no AND p.is_root
    GROUP BY l.item_no, l.other_no, p.ancestor
),

-- All the cells of a key of which an item has one term a unit sum up to the key without it.
parts AS (
    SELECT k.kept_no, i.attribute_no, sum(k.cases) AS cases
    FROM (
        SELECT t.item_no AS left_no, t.other_no AS kept_no, t.cases FROM told AS t
        UNION ALL
        SELECT t.other_no AS left_no, t.item_no AS kept_no, t.cases FROM told AS t
    ) AS k
    INNER JOIN items AS i ON k.left_no = i.item_no
    WHERE i.single
    GROUP BY k.kept_no, i.attribute_no
),

fault AS (
    SELECT c.item_no, c.other_no, c.stratum
    FROM cells AS c
    LEFT JOIN recounted AS r
        ON c.item_no = r.item_no AND c.other_no = r.other_no AND c.stratum = r.stratum
    WHERE r.cases IS DISTINCT FROM c.cases
    UNION
    SELECT t.item_no, t.other_no, NULL AS stratum
    FROM told AS t
    LEFT JOIN wholes AS w ON t.item_no = w.item_no AND t.other_no = w.other_no
    WHERE t.cases IS DISTINCT FROM w.cases
    UNION
    SELECT p.kept_no AS item_no, -p.attribute_no AS other_no, NULL AS stratum
    FROM parts AS p
    LEFT JOIN told AS t ON p.kept_no = t.item_no AND t.other_no = 0
    WHERE p.cases IS DISTINCT FROM t.cases
)

SELECT
    unnest(srsql.check_row(release_id, 'check_count_truth', 'told count', f.violating, f.total, 0))
FROM (
    SELECT
        (SELECT count(*) FROM fault) AS violating,
        (SELECT count(*) FROM cells) AS total
) AS f;

-- What:    the items that are published or held, by number: no join compares names more than once.
-- Outputs: item_no, attribute, term.
CREATE OR REPLACE MACRO srsql.count_names(item_count, pair_count, held) AS TABLE
SELECT row_number() OVER () AS item_no, n.attribute, n.term
FROM (
    SELECT h.attribute, h.term FROM query_table(held) AS h
    UNION
    SELECT i.attribute, i.term FROM query_table(item_count) AS i
    UNION
    SELECT p.attribute, p.term FROM query_table(pair_count) AS p
    UNION
    SELECT p.other_attribute AS attribute, p.other_term AS term
    FROM query_table(pair_count) AS p
) AS n;

-- What:    how many of the units of each told stratum of all units hold an item.
-- Inputs:  as above, and names: count_names; no item is told of a finer stratum.
-- Outputs: leaf, item_no, cases, units (of the stratum).
CREATE OR REPLACE MACRO srsql.count_leaves(case_count, paths, counted, held, names) AS TABLE
WITH
placed AS MATERIALIZED (
    SELECT c.unit, p.ancestor AS leaf
    FROM query_table(counted) AS c
    INNER JOIN query_table(paths) AS p ON c.stratum = p.stratum
    WHERE p.ancestor IN (SELECT n.stratum FROM query_table(case_count) AS n)
),

sizes AS (
    SELECT p.leaf, count(*) AS units FROM placed AS p GROUP BY p.leaf
),

holders AS (
    SELECT p.leaf, h.attribute, h.term, count(*) AS cases
    FROM placed AS p
    INNER JOIN query_table(held) AS h ON p.unit = h.unit
    GROUP BY p.leaf, h.attribute, h.term
)

SELECT h.leaf, n.item_no, h.cases, s.units
FROM holders AS h
INNER JOIN sizes AS s ON h.leaf = s.leaf
INNER JOIN query_table(names) AS n
    ON h.attribute = n.attribute AND h.term IS NOT DISTINCT FROM n.term;

-- What:    what is told of two items leaves a data set that is published alike and in which the
--          holders of one of them in a told stratum keep to the other's threshold: one in which as
--          few as possible have both, where the pair is not told (G1); where it is told of a wider
--          stratum, one in which 1 to k - 1 have both in a part of that, so that it is not told of
--          the parts (G2). Where the sensitive item is told of the same stratum, too, its bearers
--          may also lie in other leaves, 1 to k - 1 of them in a part, so that it is not told of
--          the parts. Every such number is tried.
-- Inputs:  kinds(attribute, other): the attributes whose pairs are counted; held: with the items
--          "none of the terms that are told" of attributes with one term a unit, and without the
--          terms that are not.
-- Source:  rules G1 and G2; claim (b).
CREATE OR REPLACE MACRO srsql.check_count_ways_out(
    case_count, item_count, pair_count, tree, thresholds, counted, held, kinds, k, release_id
) AS TABLE
WITH
names AS MATERIALIZED (
    SELECT n.item_no, n.attribute, n.term
    FROM srsql.count_names(item_count, pair_count, held) AS n
),

paths AS MATERIALIZED (
    SELECT p.stratum, p.ancestor FROM srsql.count_paths(tree) AS p
),

leaves AS MATERIALIZED (
    SELECT l.leaf, l.item_no, l.cases, l.units
    FROM srsql.count_leaves(case_count, 'paths', counted, held, 'names') AS l
),

item_cells AS MATERIALIZED (
    SELECT n.item_no, i.stratum, i.cases
    FROM query_table(item_count) AS i
    INNER JOIN names AS n ON i.attribute = n.attribute AND i.term IS NOT DISTINCT FROM n.term
),

pair_cells AS MATERIALIZED (
    SELECT
        least(a.item_no, b.item_no) AS item_no,
        greatest(a.item_no, b.item_no) AS other_no,
        p.stratum,
        p.cases
    FROM query_table(pair_count) AS p
    INNER JOIN names AS a ON p.attribute = a.attribute AND p.term IS NOT DISTINCT FROM a.term
    INNER JOIN names AS b
        ON p.other_attribute = b.attribute AND p.other_term IS NOT DISTINCT FROM b.term
),

bounded AS MATERIALIZED (
    SELECT n.item_no, h.theta_num, h.theta_den
    FROM query_table(thresholds) AS h
    INNER JOIN names AS n ON h.attribute = n.attribute AND h.term IS NOT DISTINCT FROM n.term
    WHERE h.theta_num < h.theta_den
),

root AS (
    SELECT t.stratum FROM query_table(tree) AS t WHERE t.parent IS NULL
),

totals AS MATERIALIZED (
    SELECT l.item_no, sum(l.cases)::BIGINT AS cases FROM leaves AS l GROUP BY l.item_no
),

everyone AS (
    SELECT count(*) AS units FROM query_table(counted)
),

sensitive_leaves AS MATERIALIZED (
    SELECT l.leaf, l.item_no, n.attribute, l.cases, h.theta_num, h.theta_den
    FROM totals AS t
    CROSS JOIN everyone AS e
    INNER JOIN bounded AS h ON t.item_no = h.item_no
    INNER JOIN leaves AS l ON t.item_no = l.item_no
    INNER JOIN names AS n ON t.item_no = n.item_no
    WHERE
        t.cases >= k
        AND (t.cases = e.units OR e.units - t.cases >= k)
        AND t.cases::HUGEINT * h.theta_den <= e.units::HUGEINT * h.theta_num
),

greatest_cases AS (
    SELECT s.leaf, max(s.cases) AS cases FROM sensitive_leaves AS s GROUP BY s.leaf
),

-- What is told and as frequent as this meets some sensitive item at least.
frequent AS MATERIALIZED (
    SELECT l.leaf, l.item_no, n.attribute, l.cases, l.units
    FROM leaves AS l
    INNER JOIN greatest_cases AS g ON l.leaf = g.leaf
    INNER JOIN names AS n ON l.item_no = n.item_no
    WHERE
        l.cases + g.cases > l.units AND l.item_no IN (SELECT i.item_no FROM item_cells AS i)
),

both_kinds AS (
    SELECT d.attribute, d.other FROM query_table(kinds) AS d
    UNION
    SELECT d.other AS attribute, d.attribute AS other FROM query_table(kinds) AS d
),

-- What the leaves force on a told item and a sensitive one, of a stratum that tells the item, or of
-- all strata together.
forced_units AS MATERIALIZED (
    SELECT
        x.item_no,
        p.ancestor AS stratum,
        y.item_no AS other_no,
        sum(x.cases + y.cases - x.units) AS forced,
        any_value(y.theta_num) AS theta_num,
        any_value(y.theta_den) AS theta_den
    FROM frequent AS x
    INNER JOIN both_kinds AS d ON x.attribute = d.attribute
    INNER JOIN sensitive_leaves AS y ON x.leaf = y.leaf AND d.other = y.attribute
    INNER JOIN paths AS p ON x.leaf = p.stratum
    WHERE x.cases + y.cases > x.units
    GROUP BY x.item_no, p.ancestor, y.item_no
),

holders AS (
    SELECT c.item_no, c.stratum, c.cases FROM item_cells AS c
    UNION
    SELECT t.item_no, o.stratum, t.cases FROM totals AS t CROSS JOIN root AS o
),

crowded AS (
    SELECT DISTINCT o.item_no, o.stratum
    FROM forced_units AS o
    INNER JOIN holders AS n ON o.item_no = n.item_no AND o.stratum = n.stratum
    WHERE o.forced >= k OR o.forced::HUGEINT * o.theta_den > n.cases::HUGEINT * o.theta_num
),

pairs AS MATERIALIZED (
    SELECT p.item_no, p.other_no, (row_number() OVER ())::INTEGER AS pair_no
    FROM (SELECT DISTINCT c.item_no, c.other_no FROM pair_cells AS c) AS p
),

strata AS MATERIALIZED (
    SELECT t.stratum, t.parent, (row_number() OVER ())::INTEGER AS stratum_no
    FROM query_table(tree) AS t
),

inside AS MATERIALIZED (
    SELECT p.stratum, i.stratum_no, a.stratum_no AS ancestor_no
    FROM paths AS p
    INNER JOIN strata AS i ON p.stratum = i.stratum
    INNER JOIN strata AS a ON p.ancestor = a.stratum
),

-- The known item of a pair and the sensitive one, both ways round, in each part of the stratum.
asked AS MATERIALIZED (
    SELECT
        u.pair_no,
        w.stratum_no,
        c.cases,
        c.known_no,
        h.theta_num,
        h.theta_den,
        t.stratum_no AS child_no
    FROM (
        SELECT p.*, p.item_no AS known_no, p.other_no AS last_no FROM pair_cells AS p
        UNION ALL
        SELECT p.*, p.other_no AS known_no, p.item_no AS last_no FROM pair_cells AS p
    ) AS c
    INNER JOIN bounded AS h ON c.last_no = h.item_no
    INNER JOIN strata AS t ON c.stratum = t.parent
    INNER JOIN strata AS w ON c.stratum = w.stratum
    INNER JOIN pairs AS u ON c.item_no = u.item_no AND c.other_no = u.other_no
),

-- One item after the other: by their leaves alone every two items would meet.
one_item AS MATERIALIZED (
    SELECT u.pair_no, u.other_no, x.leaf, x.cases, x.units
    FROM (SELECT DISTINCT a.pair_no FROM asked AS a) AS d
    INNER JOIN pairs AS u ON d.pair_no = u.pair_no
    INNER JOIN leaves AS x ON u.item_no = x.item_no
),

both_items AS MATERIALIZED (
    SELECT
        x.pair_no,
        x.leaf,
        greatest(0, x.cases + y.cases - x.units) AS least,
        least(x.cases, y.cases) AS most
    FROM one_item AS x
    INNER JOIN leaves AS y ON x.other_no = y.item_no AND x.leaf = y.leaf
),

ends AS MATERIALIZED (
    SELECT
        b.pair_no,
        p.ancestor_no AS stratum_no,
        sum(b.least)::BIGINT AS least,
        sum(b.most)::BIGINT AS most
    FROM both_items AS b
    INNER JOIN inside AS p ON b.leaf = p.stratum
    GROUP BY b.pair_no, p.ancestor_no
),

-- One condition of all parts after the other: by one of them alone all would meet.
parts AS MATERIALIZED (
    SELECT a.*, w.least AS whole_least, w.most AS whole_most
    FROM asked AS a
    INNER JOIN ends AS w ON a.pair_no = w.pair_no AND a.stratum_no = w.stratum_no
),

ended AS MATERIALIZED (
    SELECT a.*, e.least AS child_least, e.most AS child_most
    FROM parts AS a
    INNER JOIN ends AS e ON a.pair_no = e.pair_no AND a.child_no = e.stratum_no
),

inner_cells AS MATERIALIZED (
    SELECT n.item_no, n.cases, p.stratum_no, p.ancestor_no
    FROM item_cells AS n
    INNER JOIN inside AS p ON n.stratum = p.stratum
),

told_inside AS MATERIALIZED (
    SELECT a.*, n.stratum_no AS inner_no, n.cases AS holders
    FROM ended AS a
    INNER JOIN inner_cells AS n ON a.known_no = n.item_no AND a.child_no = n.ancestor_no
),

tried AS (
    SELECT
        a.pair_no,
        a.stratum_no,
        a.cases,
        a.holders,
        a.theta_num,
        a.theta_den,
        a.child_least,
        a.child_most,
        a.whole_least - a.child_least AS rest_least,
        a.whole_most - a.child_most AS rest_most,
        s.least AS inner_least,
        a.child_most - s.most AS beside_most,
        list_concat(range(1, k), range(greatest(1, a.cases - k + 1), a.cases)) AS numbers
    FROM told_inside AS a
    INNER JOIN ends AS s ON a.pair_no = s.pair_no AND a.inner_no = s.stratum_no
    WHERE s.most > 0
),

stuck AS MATERIALIZED (
    SELECT DISTINCT t.pair_no, t.stratum_no
    FROM tried AS t
    WHERE
        len(list_filter(
            t.numbers,
            LAMBDA here:
                here BETWEEN t.child_least AND t.child_most
                AND t.cases - here BETWEEN t.rest_least AND t.rest_most
                AND greatest(t.inner_least, here - t.beside_most)::HUGEINT * t.theta_den
                <= t.holders::HUGEINT * t.theta_num
        )) = 0
),

by_leaves AS MATERIALIZED (
    SELECT u.item_no, u.other_no, w.stratum, c.cases
    FROM stuck AS o
    INNER JOIN pairs AS u ON o.pair_no = u.pair_no
    INNER JOIN strata AS w ON o.stratum_no = w.stratum_no
    INNER JOIN pair_cells AS c
        ON u.item_no = c.item_no AND u.other_no = c.other_no AND w.stratum = c.stratum
),

forced AS (
    SELECT f.item_no, f.other_no, f.stratum
    FROM srsql.counts_without_place(
        'by_leaves', 'item_cells', case_count, 'paths', tree, 'bounded', 'leaves', 'forced_units',
        'names', k
    ) AS f
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_count_ways_out', 'told count', f.violating, f.total, k
    ))
FROM (
    SELECT
        (SELECT count(*) FROM crowded) + (SELECT count(*) FROM forced) AS violating,
        (SELECT count(*) FROM query_table(case_count))
        + (SELECT count(*) FROM query_table(item_count))
        + (SELECT count(*) FROM query_table(pair_count)) AS total
) AS f;
