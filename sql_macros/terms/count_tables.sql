-- Count tables in one statement. Inputs, keys and cells are those of terms/told_strata.sql.

-- What:    the told counts of all units, of items and of pairs of items, by rules R2, R3, G1, G2
--          and G3: each key has disjoint strata, which have all of its units.
-- Inputs:  k: units that a told count has; 1 / theta or more for every threshold below 1.
-- Outputs: item_no (NULL: all units), other_no (NULL: of an item alone), node, units.
CREATE OR REPLACE MACRO srsql.count_tables(strata, unit_leaf, holds, items, kinds, k) AS TABLE
WITH
within AS MATERIALIZED (
    SELECT w.node, w.within FROM srsql.strata_within(strata) AS w
),

all_leaves AS MATERIALIZED (
    SELECT 0::BIGINT AS key_no, u.leaf, count(*) AS units
    FROM query_table(unit_leaf) AS u
    GROUP BY u.leaf
),

unit_nodes AS MATERIALIZED (
    SELECT c.key_no, c.node, c.units FROM srsql.stratum_counts('all_leaves', 'within') AS c
),

unit_cells AS MATERIALIZED (
    SELECT u.key_no, 0 AS group_no, u.node, u.units, u.units >= k AS passes FROM unit_nodes AS u
),

known_units AS MATERIALIZED (
    SELECT n.key_no, n.node, n.units, n.told
    FROM srsql.known_cells('unit_cells', strata, 'within') AS n
),

-- No item is told of a stratum of which the units are not: strata below those count as one leaf.
placed AS MATERIALIZED (
    SELECT u.unit, n.node AS leaf
    FROM query_table(unit_leaf) AS u
    INNER JOIN within AS w ON u.leaf = w.node
    INNER JOIN known_units AS n ON w.within = n.node AND n.told
),

unit_leaves AS MATERIALIZED (
    SELECT 0::BIGINT AS key_no, p.leaf, count(*) AS units
    FROM placed AS p
    GROUP BY p.leaf
),

held AS MATERIALIZED (
    SELECT h.unit, h.item_no FROM srsql.holds_with_rest(holds, items, 'placed', k) AS h
),

item_leaves AS MATERIALIZED (
    SELECT h.item_no::BIGINT AS key_no, u.leaf, count(*) AS units
    FROM held AS h
    INNER JOIN placed AS u ON h.unit = u.unit
    GROUP BY h.item_no, u.leaf
),

item_nodes AS MATERIALIZED (
    SELECT c.key_no, c.node, c.units FROM srsql.stratum_counts('item_leaves', 'within') AS c
),

lone AS MATERIALIZED (
    SELECT o.item_no, o.node, o.units, o.passes
    FROM srsql.lone_items('item_nodes', 'unit_nodes', items, k) AS o
),

crowded AS MATERIALIZED (
    SELECT c.item_no, c.node
    FROM srsql.crowded_items(
        'item_leaves', 'unit_leaves', 'within', 'lone', items, kinds, k
    ) AS c
),

item_cells AS MATERIALIZED (
    SELECT c.key_no, c.group_no, c.node, c.units, c.passes
    FROM srsql.item_cells('lone', 'crowded', items) AS c
),

known_items AS MATERIALIZED (
    SELECT n.key_no, n.node, n.units, n.told
    FROM srsql.known_cells('item_cells', strata, 'within') AS n
),

pair_leaves AS MATERIALIZED (
    SELECT p.key_no, p.leaf, p.units
    FROM srsql.pair_leaves('held', items, kinds, 'placed', 'known_items', k) AS p
),

pair_nodes AS MATERIALIZED (
    SELECT c.key_no, c.node, c.units FROM srsql.stratum_counts('pair_leaves', 'within') AS c
),

pair_cells AS MATERIALIZED (
    SELECT c.key_no, c.group_no, c.node, c.units, c.passes
    FROM srsql.pair_cells('pair_nodes', 'known_items', items, k) AS c
),

fitting_pairs AS MATERIALIZED (
    SELECT n.key_no, n.group_no, n.node, n.units, n.told
    FROM srsql.known_cells('pair_cells', strata, 'within') AS n
),

forced AS MATERIALIZED (
    SELECT f.group_no
    FROM srsql.forced_pairs(
        'fitting_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, 'within', items, k
    ) AS f
),

-- What cannot be told of the finest strata may still be told of all units.
coarse_pairs AS MATERIALIZED (
    SELECT p.key_no, p.group_no, p.node, p.units, true AS told
    FROM fitting_pairs AS p
    INNER JOIN forced AS f ON p.group_no = f.group_no
    INNER JOIN query_table(strata) AS s ON p.node = s.node
    WHERE s.parent IS NULL
),

forced_still AS MATERIALIZED (
    SELECT f.group_no
    FROM srsql.forced_pairs(
        'coarse_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, 'within', items, k
    ) AS f
),

free_pairs AS MATERIALIZED (
    SELECT p.key_no, p.group_no, p.node, p.units, p.told
    FROM fitting_pairs AS p
    ANTI JOIN forced AS f ON p.group_no = f.group_no
    UNION ALL
    SELECT p.key_no, p.group_no, p.node, p.units, p.told
    FROM coarse_pairs AS p
    ANTI JOIN forced_still AS f ON p.group_no = f.group_no
),

met AS MATERIALIZED (
    SELECT b.sensitive_no, b.smaller, b.item_no, b.other_no, b.node, b.units
    FROM srsql.bridges('free_pairs', 'known_items', items, 'within') AS b
),

bridged AS MATERIALIZED (
    SELECT b.group_no FROM srsql.bridged_pairs('met', 'held', 'placed', items, 'within') AS b
)

SELECT NULL::BIGINT AS item_no, NULL::BIGINT AS other_no, u.node, u.units
FROM known_units AS u
WHERE u.told
UNION ALL
SELECT i.key_no AS item_no, NULL::BIGINT AS other_no, i.node, i.units
FROM known_items AS i
WHERE i.told
UNION ALL
SELECT
    srsql.pair_item(p.key_no) AS item_no,
    srsql.pair_other(p.key_no) AS other_no,
    p.node,
    p.units
FROM free_pairs AS p
ANTI JOIN bridged AS b ON p.group_no = b.group_no
WHERE p.told;
