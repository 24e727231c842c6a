-- Count tables: how many units of a stratum hold an item, or two items, and which counts are told.
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
-- Source: SPEC section 19; decision 39 has the rules G1 and G2 as they are here, with their proof.

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
placed AS (
    SELECT c.key_no, c.group_no, c.node, c.units, c.passes, s.parent
    FROM query_table(cells) AS c
    INNER JOIN query_table(strata) AS s ON c.node = s.node
),

-- A parent whose children all pass is split; NULL stands for what the root would be a child of.
split AS (
    SELECT p.group_no, p.parent
    FROM placed AS p
    GROUP BY p.group_no, p.parent
    HAVING bool_and(p.passes)
),

-- A stratum is known if the root passes and everything above it is split.
reached AS (
    SELECT p.group_no, w.node, w.within
    FROM (SELECT DISTINCT q.group_no, q.node FROM placed AS q) AS p
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
FROM placed AS p
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

-- What:    how many units of each leaf hold both items of a pair: pairs of told items that at least
--          k units hold, or whose attributes have one term a unit.
-- Inputs:  known_items: known_cells of items.
-- Outputs: key_no (2^31 x item_no + other_no), leaf, units.
CREATE OR REPLACE MACRO srsql.pair_leaves(holds, items, kinds, unit_leaf, known_items, k) AS TABLE
WITH
told AS (
    SELECT DISTINCT n.key_no AS item_no FROM query_table(known_items) AS n
),

held AS (
    SELECT h.unit, h.item_no, i.attribute, i.group_no
    FROM query_table(holds) AS h
    INNER JOIN told AS t ON h.item_no = t.item_no
    INNER JOIN query_table(items) AS i ON h.item_no = i.item_no
),

grouped AS (
    SELECT i.group_no FROM query_table(items) AS i WHERE i.rest
),

-- Materialized, so that a unit's items of one kind alone meet, and not all of them.
first_held AS MATERIALIZED (
    SELECT h.unit, h.item_no, d.other, u.leaf
    FROM held AS h
    INNER JOIN query_table(kinds) AS d ON h.attribute = d.attribute
    INNER JOIN query_table(unit_leaf) AS u ON h.unit = u.unit
),

counted AS MATERIALIZED (
    SELECT a.item_no, b.item_no AS other_no, a.leaf, count(*) AS units
    FROM first_held AS a
    INNER JOIN held AS b ON a.unit = b.unit AND a.other = b.attribute
    GROUP BY a.item_no, b.item_no, a.leaf
),

frequent AS (
    SELECT c.item_no, c.other_no
    FROM counted AS c
    INNER JOIN query_table(items) AS i ON c.item_no = i.item_no
    INNER JOIN query_table(items) AS o ON c.other_no = o.item_no
    GROUP BY c.item_no, c.other_no
    HAVING
        sum(c.units) >= k
        OR any_value(i.group_no) IN (SELECT g.group_no FROM grouped AS g)
        OR any_value(o.group_no) IN (SELECT g.group_no FROM grouped AS g)
)

SELECT (c.item_no::BIGINT << 31) | c.other_no::BIGINT AS key_no, c.leaf, c.units
FROM counted AS c
INNER JOIN frequent AS f ON c.item_no = f.item_no AND c.other_no = f.other_no;

-- What:    the items of the number of a pair.
CREATE OR REPLACE MACRO srsql.pair_item(key_no) AS key_no >> 31;
CREATE OR REPLACE MACRO srsql.pair_other(key_no) AS key_no & 2147483647;

-- What:    the cells of pairs, with whether they pass R2: at least k units, both items known at the
--          stratum, and neither item held by more of the other's holders than its threshold allows.
-- Inputs:  pair_nodes: stratum_counts of pair_leaves; known_items.
-- Outputs: key_no, group_no, node, units, passes.
CREATE OR REPLACE MACRO srsql.pair_cells(pair_nodes, known_items, items, k) AS TABLE
SELECT
    p.key_no,
    (i.group_no::BIGINT << 31) | o.group_no::BIGINT AS group_no,
    p.node,
    p.units,
    p.units >= k
    AND coalesce(p.units::HUGEINT * i.theta_den <= b.units::HUGEINT * i.theta_num, false)
    AND coalesce(p.units::HUGEINT * o.theta_den <= a.units::HUGEINT * o.theta_num, false) AS passes
FROM query_table(pair_nodes) AS p
INNER JOIN query_table(items) AS i ON srsql.pair_item(p.key_no) = i.item_no
INNER JOIN query_table(items) AS o ON srsql.pair_other(p.key_no) = o.item_no
LEFT JOIN query_table(known_items) AS a ON i.item_no = a.key_no AND p.node = a.node
LEFT JOIN query_table(known_items) AS b ON o.item_no = b.key_no AND p.node = b.node;

-- What:    rule G2: pairs told at a stratum P and not in its children, such that the counts of the
--          leaves leave no data set in which the holders of one item in a told stratum S, within a
--          child C of P, keep to the other's threshold, and P is not split all the same.
-- Inputs:  known_pairs, known_items: known_cells; item_leaves, unit_leaves: counts by leaf.
-- Outputs: group_no.
-- How:     with each leaf's holders of either item as they are, between overlap and room of a
--          stratum's units hold both. P is not split if 1 to k - 1 units of C hold both, or 1 to
--          k - 1 of the rest of P; at the least such number as few as possible of them are in S.
CREATE OR REPLACE MACRO srsql.forced_pairs(
    known_pairs, known_items, item_leaves, unit_leaves, strata, within, items, k
) AS TABLE
WITH
parents AS (
    SELECT DISTINCT s.parent AS node FROM query_table(strata) AS s WHERE s.parent IS NOT NULL
),

told AS (
    SELECT
        p.key_no,
        p.group_no,
        p.node,
        p.units,
        srsql.pair_item(p.key_no) AS item_no,
        srsql.pair_other(p.key_no) AS other_no
    FROM query_table(known_pairs) AS p
    INNER JOIN parents AS a ON p.node = a.node
    WHERE p.told
),

-- Of each leaf of P that has both items. The key of a pair is told at several strata, so a leaf lies
-- in one of them.
ends AS (
    SELECT
        t.key_no,
        w.node AS leaf,
        least(x.units, y.units) AS room,
        greatest(0, x.units + y.units - u.units) AS overlap
    FROM told AS t
    INNER JOIN query_table(within) AS w ON t.node = w.within
    INNER JOIN query_table(item_leaves) AS x ON t.item_no = x.key_no AND w.node = x.leaf
    INNER JOIN query_table(item_leaves) AS y ON t.other_no = y.key_no AND w.node = y.leaf
    INNER JOIN query_table(unit_leaves) AS u ON w.node = u.leaf
),

sums AS (
    SELECT
        e.key_no,
        w.within AS node,
        sum(e.room)::BIGINT AS room,
        sum(e.overlap)::BIGINT AS overlap
    FROM ends AS e
    INNER JOIN query_table(within) AS w ON e.leaf = w.node
    GROUP BY e.key_no, w.within
),

-- The known item and the sensitive one, both ways round.
asked AS (
    SELECT t.*, t.item_no AS known_no, i.theta_num, i.theta_den
    FROM told AS t
    INNER JOIN query_table(items) AS i ON t.other_no = i.item_no
    WHERE i.theta_num < i.theta_den
    UNION ALL
    SELECT t.*, t.other_no AS known_no, i.theta_num, i.theta_den
    FROM told AS t
    INNER JOIN query_table(items) AS i ON t.item_no = i.item_no
    WHERE i.theta_num < i.theta_den
),

children AS (
    SELECT
        a.group_no,
        a.key_no,
        a.known_no,
        a.theta_num,
        a.theta_den,
        a.units,
        s.node AS child,
        c.room,
        greatest(a.units - (p.room - c.room), c.overlap) AS least_here,
        least(c.room, a.units - (p.overlap - c.overlap)) AS most_here
    FROM asked AS a
    INNER JOIN query_table(strata) AS s ON a.node = s.parent
    INNER JOIN sums AS p ON a.key_no = p.key_no AND a.node = p.node
    INNER JOIN sums AS c ON a.key_no = c.key_no AND s.node = c.node
),

unsplit AS (
    SELECT
        c.*,
        CASE
            WHEN greatest(c.least_here, 1) < k THEN greatest(c.least_here, 1)
            ELSE greatest(c.least_here, c.units - k + 1)
        END AS here
    FROM children AS c
)

SELECT DISTINCT c.group_no
FROM unsplit AS c
INNER JOIN query_table(within) AS w ON c.child = w.within
INNER JOIN query_table(known_items) AS h ON c.known_no = h.key_no AND w.node = h.node AND h.told
INNER JOIN sums AS s ON c.key_no = s.key_no AND h.node = s.node
WHERE
    s.room > 0 AND NOT (
        c.here <= c.most_here
        AND (c.here < k OR c.here < c.units)
        AND greatest(s.overlap, c.here - (c.room - s.room))::HUGEINT * c.theta_den
        <= h.units::HUGEINT * c.theta_num
    );

-- What:    two partners of a sensitive item whose counts sum up to more than its own, at a stratum
--          where all are known: so many units at least hold all three.
-- Inputs:  known_pairs: known_cells of pairs, without those of forced_pairs; known_items.
-- Outputs: sensitive_no, smaller (key_no of the pair of fewer units, the lesser partner of equal
--          ones), item_no, other_no (the partners, item_no the lesser number), node, units.
CREATE OR REPLACE MACRO srsql.bridges(known_pairs, known_items, items, within) AS TABLE
WITH
roots AS (
    SELECT w.within AS node FROM query_table(within) AS w
    GROUP BY w.within
    HAVING count(*) = (SELECT count(DISTINCT v.node) FROM query_table(within) AS v)
),

partners AS (
    SELECT
        srsql.pair_item(p.key_no) AS partner_no,
        srsql.pair_other(p.key_no) AS sensitive_no,
        p.key_no,
        p.node,
        p.units
    FROM query_table(known_pairs) AS p
    UNION ALL
    SELECT
        srsql.pair_other(p.key_no) AS partner_no,
        srsql.pair_item(p.key_no) AS sensitive_no,
        p.key_no,
        p.node,
        p.units
    FROM query_table(known_pairs) AS p
),

held AS (
    SELECT p.*, s.units AS holders, r.units AS ranked
    FROM partners AS p
    INNER JOIN query_table(items) AS i ON p.sensitive_no = i.item_no
    INNER JOIN query_table(known_items) AS s ON p.sensitive_no = s.key_no AND p.node = s.node
    INNER JOIN query_table(known_pairs) AS r ON p.key_no = r.key_no
    INNER JOIN roots AS o ON r.node = o.node
    WHERE i.theta_num < i.theta_den
),

-- More than the sensitive item has: so one of the two has more than half of it.
met AS (
    SELECT
        g.sensitive_no,
        g.node,
        g.units + h.units - g.holders AS units,
        CASE
            WHEN (g.ranked, g.partner_no) < (h.ranked, h.partner_no) THEN g.key_no
            ELSE h.key_no
        END AS smaller,
        least(g.partner_no, h.partner_no) AS item_no,
        greatest(g.partner_no, h.partner_no) AS other_no
    FROM held AS g
    INNER JOIN held AS h ON g.sensitive_no = h.sensitive_no AND g.node = h.node
    WHERE
        2 * g.units > g.holders
        AND g.partner_no <> h.partner_no
        AND g.units + h.units > g.holders
)

SELECT DISTINCT m.sensitive_no, m.smaller, m.item_no, m.other_no, m.node, m.units
FROM met AS m;

-- What:    rule G3: pairs that are not told, because a second partner of their sensitive item would
--          force it on more of those who hold both partners than its threshold allows.
-- Inputs:  met: bridges; holds; unit_leaf; items; within.
-- Outputs: group_no.
CREATE OR REPLACE MACRO srsql.bridged_pairs(met, holds, unit_leaf, items, within) AS TABLE
WITH
wanted AS (
    SELECT DISTINCT m.item_no, m.other_no, m.node FROM query_table(met) AS m
),

counted AS (
    SELECT w.item_no, w.other_no, w.node, count(*) AS units
    FROM wanted AS w
    INNER JOIN query_table(holds) AS a ON w.item_no = a.item_no
    INNER JOIN query_table(holds) AS b ON w.other_no = b.item_no AND a.unit = b.unit
    INNER JOIN query_table(unit_leaf) AS u ON a.unit = u.unit
    INNER JOIN query_table(within) AS i ON u.leaf = i.node AND w.node = i.within
    GROUP BY w.item_no, w.other_no, w.node
)

SELECT DISTINCT (a.group_no::BIGINT << 31) | b.group_no::BIGINT AS group_no
FROM query_table(met) AS m
LEFT JOIN counted AS c
    ON m.item_no = c.item_no AND m.other_no = c.other_no AND m.node = c.node
INNER JOIN query_table(items) AS s ON m.sensitive_no = s.item_no
INNER JOIN query_table(items) AS a ON srsql.pair_item(m.smaller) = a.item_no
INNER JOIN query_table(items) AS b ON srsql.pair_other(m.smaller) = b.item_no
WHERE m.units::HUGEINT * s.theta_den > coalesce(c.units, 0)::HUGEINT * s.theta_num;

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
