-- Which counts of pairs are told in count tables. Inputs, keys and cells are those of
-- terms/told_strata.sql.

-- What:    how many units of each leaf hold both items of a pair: pairs of told items that at least
--          k units hold, or whose attributes have one term a unit.
-- Inputs:  known_items: known_cells of items.
-- Outputs: key_no (2^31 x item_no + other_no), leaf, units.
CREATE OR REPLACE MACRO srsql.pair_leaves(holds, items, kinds, unit_leaf, known_items, k) AS TABLE
WITH
told AS MATERIALIZED (
    SELECT DISTINCT i.item_no, i.attribute, i.group_no
    FROM query_table(known_items) AS n
    INNER JOIN query_table(items) AS i ON n.key_no = i.item_no
),

held AS MATERIALIZED (
    SELECT h.unit, h.item_no, t.attribute
    FROM query_table(holds) AS h
    INNER JOIN told AS t ON h.item_no = t.item_no
),

-- Materialized, so that a unit's items of one kind alone meet, and not all of them.
first_held AS MATERIALIZED (
    SELECT h.unit, h.item_no, d.other, u.leaf
    FROM held AS h
    INNER JOIN query_table(kinds) AS d ON h.attribute = d.attribute
    INNER JOIN query_table(unit_leaf) AS u ON h.unit = u.unit
),

counted AS MATERIALIZED (
    SELECT p.key_no, p.leaf, count(*) AS units
    FROM (
        SELECT (a.item_no::BIGINT << 31) | b.item_no::BIGINT AS key_no, a.leaf
        FROM first_held AS a
        INNER JOIN held AS b ON a.unit = b.unit AND a.other = b.attribute
    ) AS p
    GROUP BY p.key_no, p.leaf
),

sums AS (
    SELECT c.key_no, sum(c.units) AS units FROM counted AS c GROUP BY c.key_no
),

grouped AS (
    SELECT t.item_no
    FROM told AS t
    WHERE t.group_no IN (SELECT i.group_no FROM query_table(items) AS i WHERE i.rest)
),

frequent AS MATERIALIZED (
    SELECT s.key_no
    FROM sums AS s
    WHERE
        s.units >= k
        OR srsql.pair_item(s.key_no) IN (SELECT g.item_no FROM grouped AS g)
        OR srsql.pair_other(s.key_no) IN (SELECT g.item_no FROM grouped AS g)
)

SELECT c.key_no, c.leaf, c.units
FROM counted AS c
SEMI JOIN frequent AS f ON c.key_no = f.key_no;

-- What:    the first of the two items of the number of a pair.
CREATE OR REPLACE MACRO srsql.pair_item(key_no) AS key_no >> 31;
-- What:    the second of them.
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

-- The known item and the sensitive one, both ways round: of most pairs neither is sensitive.
asked AS MATERIALIZED (
    SELECT p.key_no, p.group_no, p.node, p.units, p.known_no, i.theta_num, i.theta_den
    FROM (
        SELECT o.*, srsql.pair_item(o.key_no) AS known_no, srsql.pair_other(o.key_no) AS last_no
        FROM query_table(known_pairs) AS o
        UNION ALL
        SELECT o.*, srsql.pair_other(o.key_no) AS known_no, srsql.pair_item(o.key_no) AS last_no
        FROM query_table(known_pairs) AS o
    ) AS p
    INNER JOIN query_table(items) AS i ON p.last_no = i.item_no
    SEMI JOIN parents AS a ON p.node = a.node
    WHERE p.told AND i.theta_num < i.theta_den
),

below AS MATERIALIZED (
    SELECT s.parent, s.node AS child, i.node AS leaf
    FROM query_table(strata) AS s
    INNER JOIN query_table(within) AS i ON s.node = i.within
    WHERE s.parent IS NOT NULL
),

-- Of each leaf of P that has both items, and the child of P that it lies in. Told strata of a pair
-- are disjoint: a leaf lies in one.
first_ends AS MATERIALIZED (
    SELECT t.key_no, w.child, x.leaf, x.units
    FROM (SELECT DISTINCT a.key_no, a.node FROM asked AS a) AS t
    INNER JOIN query_table(item_leaves) AS x ON srsql.pair_item(t.key_no) = x.key_no
    INNER JOIN below AS w ON t.node = w.parent AND x.leaf = w.leaf
),

ends AS MATERIALIZED (
    SELECT
        x.key_no,
        x.child,
        x.leaf,
        least(x.units, y.units) AS room,
        greatest(0, x.units + y.units - u.units) AS overlap
    FROM first_ends AS x
    INNER JOIN query_table(item_leaves) AS y
        ON srsql.pair_other(x.key_no) = y.key_no AND x.leaf = y.leaf
    INNER JOIN query_table(unit_leaves) AS u ON x.leaf = u.leaf
),

halves AS MATERIALIZED (
    SELECT
        e.key_no,
        s.parent AS node,
        e.child,
        sum(e.room)::BIGINT AS room,
        sum(e.overlap)::BIGINT AS overlap
    FROM ends AS e
    INNER JOIN query_table(strata) AS s ON e.child = s.node
    GROUP BY e.key_no, s.parent, e.child
),

wholes AS MATERIALIZED (
    SELECT h.key_no, h.node, sum(h.room)::BIGINT AS room, sum(h.overlap)::BIGINT AS overlap
    FROM halves AS h
    GROUP BY h.key_no, h.node
),

parts AS MATERIALIZED (
    SELECT
        c.*,
        p.room - c.room AS beside_room,
        p.overlap - c.overlap AS beside_overlap
    FROM halves AS c
    INNER JOIN wholes AS p ON c.key_no = p.key_no AND c.node = p.node
),

-- One may hold both in a child where nobody must and the rest of P has a place for all the others:
-- that is within the threshold of every told stratum, which has k holders.
children AS MATERIALIZED (
    SELECT
        a.group_no,
        a.key_no,
        a.known_no,
        a.theta_num,
        a.theta_den,
        a.units,
        c.child,
        c.room,
        greatest(a.units - c.beside_room, c.overlap) AS least_here,
        least(c.room, a.units - c.beside_overlap) AS most_here
    FROM asked AS a
    INNER JOIN parts AS c ON a.key_no = c.key_no AND a.node = c.node
    WHERE
        a.units - c.beside_room > 1
        OR c.overlap + c.beside_overlap > 0
        OR a.theta_den > k * a.theta_num
),

sums AS MATERIALIZED (
    SELECT
        e.key_no,
        w.within AS node,
        sum(e.room)::BIGINT AS room,
        sum(e.overlap)::BIGINT AS overlap
    FROM ends AS e
    INNER JOIN query_table(within) AS w ON e.leaf = w.node
    WHERE e.key_no IN (SELECT c.key_no FROM children AS c)
    GROUP BY e.key_no, w.within
),

-- With the told strata of the known item. One table after the other: of its key alone every child
-- would meet every stratum.
unsplit AS MATERIALIZED (
    SELECT
        c.*,
        CASE
            WHEN greatest(c.least_here, 1) < k THEN greatest(c.least_here, 1)
            ELSE greatest(c.least_here, c.units - k + 1)
        END AS here,
        h.node,
        h.units AS holders
    FROM children AS c
    INNER JOIN query_table(within) AS w ON c.child = w.within
    INNER JOIN query_table(known_items) AS h
        ON c.known_no = h.key_no AND w.node = h.node AND h.told
)

SELECT DISTINCT c.group_no
FROM unsplit AS c
INNER JOIN sums AS s ON c.key_no = s.key_no AND c.node = s.node
WHERE
    s.room > 0 AND NOT (
        c.here <= c.most_here
        AND (c.here < k OR c.here < c.units)
        AND greatest(s.overlap, c.here - (c.room - s.room))::HUGEINT * c.theta_den
        <= c.holders::HUGEINT * c.theta_num
    );

-- What:    two partners of a sensitive item whose counts sum up to more than its own, at a stratum
--          where all are known: so many units at least hold all three.
-- Inputs:  known_pairs: known_cells of pairs, without those of forced_pairs; known_items.
-- Outputs: sensitive_no, group_no, other_group_no (those of the two pairs), item_no, other_no (the
--          partners), node, units.
CREATE OR REPLACE MACRO srsql.bridges(known_pairs, known_items, items) AS TABLE
WITH
partners AS (
    SELECT
        srsql.pair_item(p.key_no) AS partner_no,
        srsql.pair_other(p.key_no) AS sensitive_no,
        p.group_no,
        p.node,
        p.units
    FROM query_table(known_pairs) AS p
    UNION ALL
    SELECT
        srsql.pair_other(p.key_no) AS partner_no,
        srsql.pair_item(p.key_no) AS sensitive_no,
        p.group_no,
        p.node,
        p.units
    FROM query_table(known_pairs) AS p
),

held AS (
    SELECT p.*, s.units AS holders
    FROM partners AS p
    INNER JOIN query_table(items) AS i ON p.sensitive_no = i.item_no
    INNER JOIN query_table(known_items) AS s ON p.sensitive_no = s.key_no AND p.node = s.node
    WHERE i.theta_num < i.theta_den
)

-- More than the sensitive item has: so one of the two has more than half of it.
SELECT
    g.sensitive_no,
    g.group_no,
    h.group_no AS other_group_no,
    least(g.partner_no, h.partner_no) AS item_no,
    greatest(g.partner_no, h.partner_no) AS other_no,
    g.node,
    g.units + h.units - g.holders AS units
FROM held AS g
INNER JOIN held AS h ON g.sensitive_no = h.sensitive_no AND g.node = h.node
WHERE
    2 * g.units > g.holders
    AND g.partner_no <> h.partner_no
    AND g.units + h.units > g.holders;

-- What:    rule G3: pairs that are not told, because beside a larger pair that is told, of a second
--          partner of their sensitive item, they would force it on more of those who hold both
--          partners than its threshold allows.
-- Inputs:  met: bridges; known_pairs; holds; unit_leaf; items; within.
-- Outputs: group_no.
-- How:     in each round those are told that no larger one bars, and those go that they bar. One of
--          two such partners has more than half of the holders of the sensitive item, and of these
--          partners it has at most twice as many as its holders have items.
CREATE OR REPLACE MACRO srsql.bridged_pairs(
    met, known_pairs, holds, unit_leaf, items, within
) AS TABLE
WITH RECURSIVE
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
),

sizes AS (
    SELECT p.group_no, sum(p.units) AS units
    FROM query_table(known_pairs) AS p
    WHERE p.told
    GROUP BY p.group_no
),

-- Of two groups one is the larger wherever their pairs meet: no round is without a largest one.
barred AS MATERIALIZED (
    SELECT DISTINCT
        CASE
            WHEN (a.units, a.group_no) > (b.units, b.group_no) THEN a.group_no
            ELSE b.group_no
        END AS larger_no,
        CASE
            WHEN (a.units, a.group_no) > (b.units, b.group_no) THEN b.group_no
            ELSE a.group_no
        END AS smaller_no
    FROM query_table(met) AS m
    LEFT JOIN counted AS c
        ON m.item_no = c.item_no AND m.other_no = c.other_no AND m.node = c.node
    INNER JOIN query_table(items) AS s ON m.sensitive_no = s.item_no
    INNER JOIN sizes AS a ON m.group_no = a.group_no
    INNER JOIN sizes AS b ON m.other_group_no = b.group_no
    WHERE m.units::HUGEINT * s.theta_den > coalesce(c.units, 0)::HUGEINT * s.theta_num
),

rounds AS (
    SELECT
        b.larger_no,
        b.smaller_no,
        b.larger_no NOT IN (
            SELECT x.smaller_no FROM barred AS x WHERE x.larger_no <> x.smaller_no
        ) AS told
    FROM barred AS b
    UNION ALL
    (
        WITH
        gone AS (
            SELECT r.smaller_no AS group_no FROM rounds AS r WHERE r.told
        ),

        open AS (
            SELECT r.larger_no, r.smaller_no
            FROM rounds AS r
            ANTI JOIN gone AS g ON r.larger_no = g.group_no
            ANTI JOIN gone AS h ON r.smaller_no = h.group_no
        )

        SELECT
            o.larger_no,
            o.smaller_no,
            o.larger_no NOT IN (
                SELECT x.smaller_no FROM open AS x WHERE x.larger_no <> x.smaller_no
            ) AS told
        FROM open AS o
    )
)

SELECT DISTINCT r.smaller_no AS group_no FROM rounds AS r WHERE r.told;
