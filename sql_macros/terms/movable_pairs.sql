-- Pairs whose sensitive item is told of a wide stratum only, and can lie elsewhere in it. Inputs
-- are those of terms/told_pairs.sql.

-- What:    rule G2 by told counts alone: pairs told at a stratum P, of which the sensitive item is
--          told too, so that nobody knows in which parts of P its holders are. For every told
--          stratum S of the other item in a child C of P they can be put into the leaves so that
--          theta_s is kept in S, no leaf must hold both, and C or the rest of P has 1 to k - 1 of
--          them: the item stays unsplit, and the pair with it.
-- Inputs:  pairs: those of known_cells that are asked for; crowded: crowded_items.
-- Outputs: group_no, of pairs of items that G1 bars from no stratum and of which a unit may have
--          several: their counts by leaf change nothing else that is told.
CREATE OR REPLACE MACRO srsql.movable_pairs(
    pairs, known_items, item_leaves, unit_leaves, strata, within, items, crowded, k
) AS TABLE
WITH
told AS (
    SELECT
        p.key_no,
        p.group_no,
        p.node,
        p.units,
        srsql.pair_item(p.key_no) AS item_no,
        srsql.pair_other(p.key_no) AS other_no
    FROM query_table(pairs) AS p
    WHERE p.told
),

asked AS (
    SELECT t.*, t.item_no AS known_no, t.other_no AS last_no FROM told AS t
    UNION ALL
    SELECT t.*, t.other_no AS known_no, t.item_no AS last_no FROM told AS t
),

-- Each told stratum of the known item in a child of P, with the holders of the other one at P.
parts AS MATERIALIZED (
    SELECT
        a.group_no,
        a.known_no,
        a.node,
        s.node AS child,
        h.node AS inner_node,
        a.units,
        o.units AS holders,
        h.units::HUGEINT * i.theta_num // i.theta_den AS allowed
    FROM asked AS a
    INNER JOIN query_table(items) AS i ON a.last_no = i.item_no
    INNER JOIN query_table(strata) AS s ON a.node = s.parent
    INNER JOIN query_table(within) AS w ON s.node = w.within
    INNER JOIN query_table(known_items) AS h ON a.known_no = h.key_no AND w.node = h.node AND h.told
    LEFT JOIN query_table(known_items) AS o ON a.last_no = o.key_no AND a.node = o.node AND o.told
    WHERE i.theta_num < i.theta_den
),

-- Of each leaf: who may hold the other item where no leaf must hold both, and who of them may hold
-- both.
leaves AS (
    SELECT
        k.known_no,
        u.leaf,
        u.units - coalesce(x.units, 0) AS free,
        least(u.units - coalesce(x.units, 0), coalesce(x.units, 0)) AS room
    FROM (SELECT DISTINCT p.known_no FROM parts AS p) AS k
    CROSS JOIN query_table(unit_leaves) AS u
    LEFT JOIN query_table(item_leaves) AS x ON k.known_no = x.key_no AND u.leaf = x.leaf
),

sums AS MATERIALIZED (
    SELECT
        l.known_no,
        w.within AS node,
        sum(l.free)::BIGINT AS free,
        sum(l.room)::BIGINT AS room
    FROM leaves AS l
    INNER JOIN query_table(within) AS w ON l.leaf = w.node
    GROUP BY l.known_no, w.within
),

tried AS (
    SELECT
        p.*,
        c.free AS child_free,
        c.room AS child_room,
        a.free - c.free AS rest_free,
        a.room - c.room AS rest_room,
        c.room - s.room AS beside_room,
        list_concat(
            range(1, least(k, p.holders)), range(greatest(1, p.holders - k + 1), p.holders)
        ) AS numbers
    FROM parts AS p
    INNER JOIN sums AS a ON p.known_no = a.known_no AND p.node = a.node
    INNER JOIN sums AS c ON p.known_no = c.known_no AND p.child = c.node
    INNER JOIN sums AS s ON p.known_no = s.known_no AND p.inner_node = s.node
),

-- With so many of the other item in the child, as few as can be of them hold both.
stuck AS (
    SELECT t.group_no
    FROM tried AS t
    WHERE
        t.holders IS NULL OR len(list_filter(
            t.numbers,
            LAMBDA here:
                here <= t.child_free
                AND t.holders - here <= t.rest_free
                AND t.units - least(t.rest_room, t.holders - here) <= least(here, t.child_room)
                AND t.units - least(t.rest_room, t.holders - here) - t.beside_room <= t.allowed
        )) = 0
),

closed AS (
    SELECT i.group_no FROM query_table(items) AS i WHERE i.rest
)

SELECT t.group_no
FROM told AS t
INNER JOIN query_table(items) AS i ON t.item_no = i.item_no
INNER JOIN query_table(items) AS o ON t.other_no = o.item_no
WHERE
    t.group_no NOT IN (SELECT s.group_no FROM stuck AS s)
    AND i.group_no NOT IN (SELECT c.group_no FROM closed AS c)
    AND o.group_no NOT IN (SELECT c.group_no FROM closed AS c)
    AND t.item_no NOT IN (SELECT c.item_no FROM query_table(crowded) AS c)
    AND t.other_no NOT IN (SELECT c.item_no FROM query_table(crowded) AS c)
GROUP BY t.group_no;
