-- Count tables in one statement. Inputs, keys and cells are those of terms/told_strata.sql.
--
-- The claim. (a) Every told count, and every difference of told counts of one key, is 0 or at
-- least k. (b) For sensitive s with theta_s < 1, x an item or nothing, and S where n(S, x) is
-- told: some data set that agrees with the told cells of nothing, x, s and {x, s}, and that would
-- have been published in this way, has at most theta_s of the holders of x in S holding s. (c) For
-- two known items x and y at one node at which the pairs of both with s are told: some data set
-- that agrees with the cells within {x, y, s} there does. Not claimed: probabilities, theta = 1,
-- attributes without theta as targets, absent items, the joint use of cells of further items,
-- audiences who add other data.
--
-- The rules beside R2 and R3. A leaf l is a finest stratum of which all units are told. In it
-- overlap = max(0, n(l, x) + n(l, s) - n(l)) units at least hold both, and room = min(n(l, x),
-- n(l, s)) at most; of a stratum they are summed.
--   G1: x passes in S only if for every s of a paired attribute that passes for all units by
--     itself overlap(S) <= k - 1 and overlap(S) <= theta_s n(S, x).
--   G2: a pair told of T units at P and not in its children is told there only if for every told
--     stratum S of x in a child C of P some number c of those who hold both can lie in C, by
--     overlap and room of C and of the rest of P, with 1 <= c <= k - 1 or 1 <= T - c <= k - 1, and
--     max(overlap(S), c - room(C) + room(S)) <= theta_s n(S, x). Else the root alone, under G2,
--     else nothing is told.
--   G3: for two told partners x, y of s: n(x, s) + n(y, s) - n(s) <= theta_s n(x, y). From the
--     largest pair down, a pair is told if it keeps this beside all that are told before it.
--
-- Proof of (a): told strata of a key are disjoint and have all its units, so that a difference of
-- unions of them is a union. Of (b), with what the leaves hold of x and of s as it is, so that
-- what is told of nothing, x and s stays, and G1 with it (but in 4b); any number between overlap
-- and room can hold both in a leaf.
--   1. s does not pass for all units by itself: nobody has s, and nothing else that is asked
--      changes.
--   2. The pair is not told: each leaf has its overlap, or one unit in all where that is 0; by G1
--      at most k - 1 hold both, so that it is not told, and at most theta_s of x in S (k theta_s
--      >= 1).
--   3. It is told in S or finer: the truth, by R2; of unions, sum a / sum b <= max a / b.
--   4. It is told at P above S: c of G2 in C, as few as can be of these in S, T - c in the rest of
--      P. P stays unsplit, since a child of it has 1 to k - 1, and all that G2 asks stays; so it
--      does where the root alone is told.
--   4b. G2 holds by the place of s alone: x stays as it is, s_C and n(P, s) - s_C are placed as it
--      says, and other items are gone. s stays unsplit, as one child has 1 to k - 1, and so does
--      the pair, since s is told of no part of P; nothing overlaps in P, so that G1 bars nothing as
--      before, and what G2 asks is of told counts and of x, which are the same.
--   5. Of x = nothing: in C one, or as many as the rest of P has no place for, and as few as can
--      be of these in S. n(P, s) <= theta_s n(P), so S keeps theta_s; and C has one, or the rest
--      of P is full and breaks theta_s: P stays unsplit.
-- Of (c): with all pairs fixed n(x, y, s) takes every whole number from the greatest of 0, n(x, s)
-- + n(y, s) - n(s), n(x, s) + n(x, y) - n(x) and n(y, s) + n(x, y) - n(y). The last two are at
-- most theta_s n(x, y) by R2, the second by G3. Where (x, y) is not told its true count will do.
-- (Claim b is of readers of R1 to R3, G1 and G2; what G3 leaves out is an untold pair, as in 2.)

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

stuck AS MATERIALIZED (
    SELECT f.group_no
    FROM srsql.forced_pairs(
        'fitting_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, 'within', items, k
    ) AS f
),

stuck_pairs AS MATERIALIZED (
    SELECT p.key_no, p.group_no, p.node, p.units, p.told
    FROM fitting_pairs AS p
    SEMI JOIN stuck AS s ON p.group_no = s.group_no
),

forced AS MATERIALIZED (
    SELECT s.group_no
    FROM stuck AS s
    ANTI JOIN srsql.movable_pairs(
        'stuck_pairs', 'known_items', 'item_leaves', 'unit_leaves', strata, 'within', items,
        'crowded', k
    ) AS m ON s.group_no = m.group_no
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
    SELECT
        b.sensitive_no,
        b.group_no,
        b.other_group_no,
        b.item_no,
        b.other_no,
        b.node,
        b.units
    FROM srsql.bridges('free_pairs', 'known_items', items) AS b
),

bridged AS MATERIALIZED (
    SELECT b.group_no
    FROM srsql.bridged_pairs('met', 'free_pairs', 'held', 'placed', items, 'within') AS b
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
