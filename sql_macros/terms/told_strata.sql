-- Count tables: how many units of a stratum hold an item, or two items, and in which strata a count
-- is told.
-- Parameters that name tables take their names:
--   strata(node, parent): the tree of strata; the root has no parent, a node two children or none;
--   unit_leaf(unit, leaf): whom the tables count, in the leaves of the strata;
--   holds(unit, item_no), distinct: what a unit holds, by number; items(item_no, group_no,
--     attribute, rest, theta_num, theta_den): a threshold of 1 is none. Items of an attribute of
--     which a unit has at most one term have one group_no, and one item more (rest), which no unit
--     holds yet; any other item has its own number. item_no and group_no are below 2^31;
--   kinds(attribute, other): the attributes whose pairs are counted, each once.
-- A key is an item or a pair of items; its cells are its counts by stratum. A cell is known where
-- the key is told at the stratum or finer. Cells of 0 have no row.
-- Source: SPEC section 19; terms/count_tables.sql has the claim, the rules G1 to G3 and the proof.

-- What:    each stratum, and every stratum that it lies in.
-- Outputs: node, within (itself or an ancestor).
CREATE OR REPLACE MACRO srsql.strata_within(strata) AS TABLE
WITH RECURSIVE
above AS (
    SELECT s.node, s.node AS within FROM query_table(strata) AS s
    UNION ALL
    SELECT a.node, s.parent AS within
    FROM above AS a
    INNER JOIN query_table(strata) AS s ON a.within = s.node
    WHERE s.parent IS NOT NULL
)

SELECT a.node, a.within FROM above AS a;

-- What:    rule R3: of an attribute with one term a unit, terms that cannot be told of all units
--          are one item, "other or none", which every unit without another holds.
-- Inputs:  k: units that a count needs.
-- Outputs: unit, item_no.
CREATE OR REPLACE MACRO srsql.holds_with_rest(holds, items, unit_leaf, k) AS TABLE
WITH
all_units AS (
    SELECT count(*) AS units FROM query_table(unit_leaf)
),

grouped AS (
    SELECT i.group_no FROM query_table(items) AS i WHERE i.rest
),

kept AS (
    SELECT i.item_no, any_value(i.group_no) AS group_no
    FROM query_table(holds) AS h
    INNER JOIN query_table(items) AS i ON h.item_no = i.item_no
    CROSS JOIN all_units AS a
    WHERE i.group_no IN (SELECT g.group_no FROM grouped AS g)
    GROUP BY i.item_no
    HAVING
        count(*) >= k
        AND (count(*) = any_value(a.units) OR any_value(a.units) - count(*) >= k)
        AND count(*)::HUGEINT * any_value(i.theta_den)
        <= any_value(a.units)::HUGEINT * any_value(i.theta_num)
),

held AS (
    SELECT h.unit, h.item_no, k.group_no
    FROM query_table(holds) AS h
    INNER JOIN kept AS k ON h.item_no = k.item_no
)

SELECT h.unit, h.item_no
FROM query_table(holds) AS h
INNER JOIN query_table(items) AS i ON h.item_no = i.item_no
WHERE i.group_no NOT IN (SELECT g.group_no FROM grouped AS g)
UNION ALL
SELECT h.unit, h.item_no FROM held AS h
UNION ALL
SELECT u.unit, i.item_no
FROM query_table(unit_leaf) AS u
CROSS JOIN query_table(items) AS i
WHERE
    i.rest AND NOT EXISTS (
        SELECT 1 FROM held AS h WHERE h.unit = u.unit AND h.group_no = i.group_no
    );

-- What:    sums over the leaves that lie in a stratum.
-- Inputs:  leaves(key_no, leaf, units); within: strata_within.
-- Outputs: key_no, node, units.
CREATE OR REPLACE MACRO srsql.stratum_counts(leaves, within) AS TABLE
SELECT l.key_no, w.within AS node, sum(l.units)::BIGINT AS units
FROM query_table(leaves) AS l
INNER JOIN query_table(within) AS w ON l.leaf = w.node
GROUP BY l.key_no, w.within;

-- What:    rule R2: all keys of a group are told at the root if every one passes there; a told
--          stratum is replaced by its children if every key is empty or passes in every one.
-- Inputs:  cells(key_no, group_no, node, units, passes); strata; within.
-- Outputs: key_no, group_no, node, units, told; of known cells alone, and sums of told ones are not
--          told.
CREATE OR REPLACE MACRO srsql.known_cells(cells, strata, within) AS TABLE
WITH
placed AS MATERIALIZED (
    SELECT c.key_no, c.group_no, c.node, c.units, c.passes, s.parent
    FROM query_table(cells) AS c
    INNER JOIN query_table(strata) AS s ON c.node = s.node
),

-- A parent whose children all pass is split; NULL stands for what the root would be a child of.
split AS MATERIALIZED (
    SELECT p.group_no, p.parent
    FROM placed AS p
    GROUP BY p.group_no, p.parent
    HAVING bool_and(p.passes)
),

-- What is known is a part of something that is split: that leaves few to look further up from.
parts AS (
    SELECT p.key_no, p.group_no, p.node, p.units, p.parent
    FROM placed AS p
    SEMI JOIN split AS x ON p.group_no = x.group_no AND p.parent IS NOT DISTINCT FROM x.parent
),

-- A stratum is known if the root passes and everything above it is split.
reached AS (
    SELECT p.group_no, w.node, w.within
    FROM (SELECT DISTINCT q.group_no, q.node FROM parts AS q) AS p
    INNER JOIN query_table(within) AS w ON p.node = w.node
),

known AS (
    SELECT r.group_no, r.node
    FROM reached AS r
    INNER JOIN query_table(strata) AS s ON r.within = s.node
    LEFT JOIN split AS x ON r.group_no = x.group_no AND s.parent IS NOT DISTINCT FROM x.parent
    GROUP BY r.group_no, r.node
    HAVING bool_and(x.group_no IS NOT NULL)
)

SELECT
    p.key_no,
    p.group_no,
    p.node,
    p.units,
    x.group_no IS NULL AS told
FROM parts AS p
INNER JOIN known AS n ON p.group_no = n.group_no AND p.node = n.node
LEFT JOIN split AS x ON p.group_no = x.group_no AND p.node = x.parent;

-- What:    items that pass R2 at a stratum as far as they alone decide: at least k units hold it,
--          none or at least k do not, and no more than its threshold allows.
-- Inputs:  item_nodes, unit_nodes: stratum_counts of items and of all units (key_no 0).
-- Outputs: item_no, node, units, passes.
CREATE OR REPLACE MACRO srsql.lone_items(item_nodes, unit_nodes, items, k) AS TABLE
SELECT
    n.key_no AS item_no,
    n.node,
    n.units,
    n.units >= k
    AND (u.units = n.units OR u.units - n.units >= k)
    AND n.units::HUGEINT * i.theta_den <= u.units::HUGEINT * i.theta_num AS passes
FROM query_table(item_nodes) AS n
INNER JOIN query_table(unit_nodes) AS u ON n.node = u.node
INNER JOIN query_table(items) AS i ON n.key_no = i.item_no;

-- What:    rule G1: strata in which an item and a sensitive item of a counted kind are so frequent
--          that k or more units must hold both, or more of the item's holders than theta allows.
--          Then even a pair that is not told would be known to be more than its threshold.
-- Inputs:  item_leaves(key_no, leaf, units), unit_leaves: counts by leaf; lone: lone_items.
-- Outputs: item_no, node.
CREATE OR REPLACE MACRO srsql.crowded_items(
    item_leaves, unit_leaves, within, lone, items, kinds, k
) AS TABLE
WITH
both_ways AS (
    SELECT d.attribute, d.other FROM query_table(kinds) AS d
    UNION
    SELECT d.other AS attribute, d.attribute AS other FROM query_table(kinds) AS d
),

roots AS (
    SELECT w.within AS node FROM query_table(within) AS w
    GROUP BY w.within
    HAVING count(*) = (SELECT count(DISTINCT v.node) FROM query_table(within) AS v)
),

sensitive AS (
    SELECT l.leaf, l.units, i.item_no, i.attribute, i.theta_num, i.theta_den
    FROM query_table(item_leaves) AS l
    INNER JOIN query_table(items) AS i ON l.key_no = i.item_no
    WHERE
        i.theta_num < i.theta_den AND i.item_no IN (
            SELECT o.item_no
            FROM query_table(lone) AS o
            INNER JOIN roots AS r ON o.node = r.node
            WHERE o.passes
        )
),

greatest AS (
    SELECT s.leaf, max(s.units) AS units FROM sensitive AS s GROUP BY s.leaf
),

frequent AS (
    SELECT l.key_no AS item_no, l.leaf, l.units, i.attribute, u.units AS leaf_units
    FROM query_table(item_leaves) AS l
    INNER JOIN query_table(unit_leaves) AS u ON l.leaf = u.leaf
    INNER JOIN greatest AS g ON l.leaf = g.leaf
    INNER JOIN query_table(items) AS i ON l.key_no = i.item_no
    WHERE l.units + g.units > u.units
),

forced AS (
    SELECT
        f.item_no,
        s.item_no AS other_no,
        w.within AS node,
        any_value(s.theta_num) AS theta_num,
        any_value(s.theta_den) AS theta_den,
        sum(f.units + s.units - f.leaf_units) AS units
    FROM frequent AS f
    INNER JOIN both_ways AS d ON f.attribute = d.attribute
    INNER JOIN sensitive AS s ON f.leaf = s.leaf AND d.other = s.attribute
    INNER JOIN query_table(within) AS w ON f.leaf = w.node
    WHERE f.units + s.units > f.leaf_units
    GROUP BY f.item_no, s.item_no, w.within
)

SELECT DISTINCT f.item_no, f.node
FROM forced AS f
INNER JOIN query_table(lone) AS o ON f.item_no = o.item_no AND f.node = o.node
WHERE
    f.units >= k
    OR f.units::HUGEINT * f.theta_den > o.units::HUGEINT * f.theta_num;

-- What:    the cells of items, with whether they pass R2 and G1.
-- Inputs:  lone; crowded: crowded_items.
-- Outputs: key_no (the item), group_no, node, units, passes.
CREATE OR REPLACE MACRO srsql.item_cells(lone, crowded, items) AS TABLE
SELECT
    o.item_no AS key_no,
    i.group_no,
    o.node,
    o.units,
    o.passes AND c.node IS NULL AS passes
FROM query_table(lone) AS o
INNER JOIN query_table(items) AS i ON o.item_no = i.item_no
LEFT JOIN query_table(crowded) AS c ON o.item_no = c.item_no AND o.node = c.node;
