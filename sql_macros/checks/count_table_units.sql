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

item_numbers AS MATERIALIZED (
    SELECT d.item, row_number() OVER () AS item_no
    FROM (SELECT DISTINCT unnest(c.key) AS item FROM cells AS c) AS d
),

named AS MATERIALIZED (
    SELECT d.key, row_number() OVER () AS key_no, a.item_no, b.item_no AS other_no
    FROM (SELECT DISTINCT c.key FROM cells AS c) AS d
    LEFT JOIN item_numbers AS a ON d.key[1] = a.item
    LEFT JOIN item_numbers AS b ON d.key[2] = b.item
),

numbered AS MATERIALIZED (
    SELECT h.unit, i.item_no
    FROM holding AS h
    INNER JOIN item_numbers AS i ON h.item = i.item
),

holders AS (
    SELECT k.key_no, c.unit
    FROM named AS k
    INNER JOIN query_table(counted) AS c ON k.item_no IS NULL
    UNION ALL
    SELECT k.key_no, a.unit
    FROM named AS k
    INNER JOIN numbered AS a ON k.item_no = a.item_no
    WHERE k.other_no IS NULL
    UNION ALL
    SELECT k.key_no, a.unit
    FROM named AS k
    INNER JOIN numbered AS a ON k.item_no = a.item_no
    INNER JOIN numbered AS b ON k.other_no = b.item_no AND a.unit = b.unit
),

leaf_counts AS MATERIALIZED (
    SELECT h.key_no, c.stratum, count(*) AS cases
    FROM holders AS h
    INNER JOIN query_table(counted) AS c ON h.unit = c.unit
    GROUP BY h.key_no, c.stratum
),

recounted AS MATERIALIZED (
    SELECT any_value(k.key) AS key, p.ancestor AS stratum, sum(l.cases) AS cases
    FROM leaf_counts AS l
    INNER JOIN paths AS p ON l.stratum = p.stratum
    INNER JOIN named AS k ON l.key_no = k.key_no
    GROUP BY l.key_no, p.ancestor
),

opened AS (
    SELECT c.key, c.cases, unnest(c.key) AS item FROM cells AS c
),

-- All the cells of a key of which an item has one term a unit sum up to the key without it.
parts AS (
    SELECT
        list_filter(o.key, LAMBDA x: x IS DISTINCT FROM o.item) AS others,
        o.item.attribute AS attribute,
        sum(o.cases) AS cases
    FROM opened AS o
    WHERE o.item.attribute IN (SELECT s.attribute FROM query_table(single) AS s)
    GROUP BY ALL
),

wholes AS (
    SELECT r.key, r.cases
    FROM recounted AS r
    INNER JOIN root AS o ON r.stratum = o.stratum
),

told AS (
    SELECT c.key, sum(c.cases) AS cases FROM cells AS c GROUP BY c.key
),

fault AS (
    SELECT c.key, c.stratum
    FROM cells AS c
    LEFT JOIN recounted AS r ON c.key = r.key AND c.stratum = r.stratum
    WHERE r.cases IS DISTINCT FROM c.cases
    UNION
    SELECT t.key, NULL AS stratum
    FROM told AS t
    LEFT JOIN wholes AS w ON t.key = w.key
    WHERE t.cases IS DISTINCT FROM w.cases
    UNION
    SELECT p.others AS key, p.attribute AS stratum
    FROM parts AS p
    LEFT JOIN told AS t ON p.others = t.key
    WHERE p.cases IS DISTINCT FROM t.cases
)

SELECT
    unnest(srsql.check_row(release_id, 'check_count_truth', 'told count', f.violating, f.total, 0))
FROM (
    SELECT
        (SELECT count(*) FROM fault) AS violating,
        (SELECT count(*) FROM cells) AS total
) AS f;

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

sensitive_leaves AS MATERIALIZED (
    SELECT l.leaf, l.item, l.cases, s.theta_num, s.theta_den
    FROM leaves AS l
    INNER JOIN sensitive AS s ON l.item = s.item
),

greatest_cases AS (
    SELECT s.leaf, max(s.cases) AS cases FROM sensitive_leaves AS s GROUP BY s.leaf
),

-- What is as frequent as this meets some sensitive item at least.
frequent AS MATERIALIZED (
    SELECT l.leaf, l.item, l.cases, l.units
    FROM leaves AS l
    INNER JOIN greatest_cases AS g ON l.leaf = g.leaf
    WHERE l.cases + g.cases > l.units
),

-- What the leaves force on a told item and a sensitive one, of a stratum that tells the item, or of
-- all strata together.
forced_units AS (
    SELECT
        i.key,
        p.ancestor AS stratum,
        y.item AS other,
        sum(x.cases + y.cases - x.units) AS forced,
        any_value(y.theta_num) AS theta_num,
        any_value(y.theta_den) AS theta_den
    FROM (SELECT DISTINCT c.key FROM cells AS c WHERE len(c.key) = 1) AS i
    INNER JOIN frequent AS x ON i.key[1] = x.item
    INNER JOIN sensitive_leaves AS y ON x.leaf = y.leaf AND x.cases + y.cases > x.units
    INNER JOIN query_table(kinds) AS d
        ON
            (x.item.attribute = d.attribute AND y.item.attribute = d.other)
            OR (x.item.attribute = d.other AND y.item.attribute = d.attribute)
    INNER JOIN paths AS p ON x.leaf = p.stratum
    GROUP BY i.key, p.ancestor, y.item
),

holders AS (
    SELECT c.key, c.stratum, c.cases FROM cells AS c
    UNION
    SELECT [t.item] AS key, o.stratum, t.cases FROM totals AS t CROSS JOIN root AS o
),

crowded AS (
    SELECT DISTINCT o.key, o.stratum
    FROM forced_units AS o
    INNER JOIN holders AS n ON o.key = n.key AND o.stratum = n.stratum
    WHERE o.forced >= k OR o.forced::HUGEINT * o.theta_den > n.cases::HUGEINT * o.theta_num
),

opened AS (
    SELECT c.key, c.stratum, c.cases, unnest(c.key) AS item FROM cells AS c WHERE len(c.key) = 2
),

numbered AS MATERIALIZED (
    SELECT d.key, row_number() OVER () AS key_no
    FROM (SELECT DISTINCT c.key FROM cells AS c WHERE len(c.key) = 2) AS d
),

ends AS MATERIALIZED (
    SELECT
        c.key_no,
        p.ancestor AS stratum,
        sum(greatest(0, x.cases + y.cases - x.units))::BIGINT AS least,
        sum(least(x.cases, y.cases))::BIGINT AS most
    FROM numbered AS c
    INNER JOIN leaves AS x ON c.key[1] = x.item
    INNER JOIN leaves AS y ON c.key[2] = y.item AND x.leaf = y.leaf
    INNER JOIN paths AS p ON x.leaf = p.stratum
    GROUP BY c.key_no, p.ancestor
),

asked AS MATERIALIZED (
    SELECT
        q.key_no,
        c.stratum,
        c.cases,
        t.stratum AS child,
        n.stratum AS inner_stratum,
        c.key[1] = c.item AS known,
        n.cases AS holders,
        h.theta_num,
        h.theta_den,
        w.least AS all_least,
        w.most AS all_most,
        e.least AS child_least,
        e.most AS child_most,
        s.least AS inner_least,
        s.most AS inner_most
    FROM opened AS c
    INNER JOIN query_table(thresholds) AS h
        ON c.item.attribute = h.attribute AND c.item.term IS NOT DISTINCT FROM h.term
    INNER JOIN query_table(tree) AS t ON c.stratum = t.parent
    INNER JOIN cells AS n ON list_filter(c.key, LAMBDA x: x IS DISTINCT FROM c.item) = n.key
    INNER JOIN paths AS p ON n.stratum = p.stratum AND t.stratum = p.ancestor
    INNER JOIN numbered AS q ON c.key = q.key
    INNER JOIN ends AS w ON q.key_no = w.key_no AND c.stratum = w.stratum
    INNER JOIN ends AS e ON q.key_no = e.key_no AND t.stratum = e.stratum
    INNER JOIN ends AS s ON q.key_no = s.key_no AND n.stratum = s.stratum
    WHERE h.theta_num < h.theta_den AND s.most > 0
),

tried AS (
    SELECT a.*, unnest(list_distinct(list_concat(
        range(1, k), range(greatest(1, a.cases - k + 1), a.cases)
    ))) AS here
    FROM asked AS a
),

way_out AS (
    SELECT DISTINCT t.key_no, t.known, t.stratum, t.child, t.inner_stratum
    FROM tried AS t
    WHERE
        t.here BETWEEN t.child_least AND t.child_most
        AND t.cases - t.here BETWEEN t.all_least - t.child_least AND t.all_most - t.child_most
        AND greatest(t.inner_least, t.here - (t.child_most - t.inner_most))::HUGEINT * t.theta_den
        <= t.holders::HUGEINT * t.theta_num
),

forced AS (
    SELECT DISTINCT a.key_no, a.stratum
    FROM asked AS a
    ANTI JOIN way_out AS o
        ON
            a.key_no = o.key_no AND a.stratum = o.stratum AND a.child = o.child
            AND a.inner_stratum = o.inner_stratum AND a.known = o.known
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_count_ways_out', 'told count', f.violating, f.total, k
    ))
FROM (
    SELECT
        (SELECT count(*) FROM crowded) + (SELECT count(*) FROM forced) AS violating,
        (SELECT count(*) FROM cells) AS total
) AS f;
