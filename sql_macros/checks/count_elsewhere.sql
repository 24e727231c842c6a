-- Where the bearers of a sensitive item can lie that is told of the same stratum as a pair with it.
-- Nothing here is used to make count tables. Inputs are those of srsql.check_count_ways_out.

-- What:    told pairs that have no way out by what the leaves hold, and none either by bearers of
--          the sensitive item in other leaves: 1 to k - 1 of them in a part of the stratum, no leaf
--          in which somebody must hold both, and the threshold kept by the known item's holders.
--          Every number of them is tried.
-- Inputs:  stuck(item_no, other_no, stratum, cases): the pairs; item_cells(item_no, stratum,
--          cases); paths: count_paths; bounded(item_no, theta_num, theta_den); leaves:
--          count_leaves; forced_units(item_no, stratum, other_no, forced, theta_num, theta_den):
--          who must hold two items by their leaves; names: count_names.
-- Outputs: item_no, other_no, stratum.
-- Source:  rule G2; claim (b).
CREATE OR REPLACE MACRO srsql.counts_without_place(
    stuck, item_cells, case_count, paths, tree, bounded, leaves, forced_units, names, k
) AS TABLE
WITH
-- Items of attributes with one term a unit, and those that leaves crowd in any stratum, stay where
-- they are.
sums AS MATERIALIZED (
    SELECT l.item_no, p.ancestor AS stratum, sum(l.cases) AS cases
    FROM query_table(leaves) AS l
    INNER JOIN query_table(paths) AS p ON l.leaf = p.stratum
    GROUP BY l.item_no, p.ancestor
),

fixed AS (
    SELECT o.item_no
    FROM query_table(forced_units) AS o
    INNER JOIN sums AS n ON o.item_no = n.item_no AND o.stratum = n.stratum
    WHERE o.forced >= k OR o.forced::HUGEINT * o.theta_den > n.cases::HUGEINT * o.theta_num
    UNION
    SELECT n.item_no FROM query_table(names) AS n
    WHERE n.attribute IN (SELECT m.attribute FROM query_table(names) AS m WHERE m.term IS NULL)
),

-- The known item of a pair and the sensitive one, both ways round, in each part of the stratum.
asked AS (
    SELECT b.*, h.theta_num, h.theta_den, t.stratum AS child
    FROM (
        SELECT s.*, s.item_no AS known_no, s.other_no AS last_no FROM query_table(stuck) AS s
        UNION ALL
        SELECT s.*, s.other_no AS known_no, s.item_no AS last_no FROM query_table(stuck) AS s
    ) AS b
    INNER JOIN query_table(bounded) AS h ON b.last_no = h.item_no
    INNER JOIN query_table(tree) AS t ON b.stratum = t.parent
),

questions AS MATERIALIZED (
    SELECT
        a.*,
        n.stratum AS inner_stratum,
        n.cases AS holders,
        c.cases AS bearers,
        a.known_no IN (SELECT f.item_no FROM fixed AS f)
        OR c.item_no IS NULL
        OR c.item_no IN (SELECT f.item_no FROM fixed AS f) AS never
    FROM asked AS a
    INNER JOIN query_table(item_cells) AS n ON a.known_no = n.item_no
    INNER JOIN query_table(paths) AS p ON n.stratum = p.stratum AND a.child = p.ancestor
    LEFT JOIN query_table(item_cells) AS c ON a.last_no = c.item_no AND a.stratum = c.stratum
),

-- Of a leaf: whether it lies in the asked stratum, else in the child, or else in the rest.
spots AS (
    SELECT
        q.item_no,
        q.other_no,
        q.stratum,
        q.known_no,
        q.child,
        q.inner_stratum,
        u.stratum AS leaf,
        CASE
            WHEN bool_or(p.ancestor = q.inner_stratum) THEN 'inside'
            WHEN bool_or(p.ancestor = q.child) THEN 'beside'
            ELSE 'rest'
        END AS spot,
        any_value(u.cases) - coalesce(any_value(x.cases), 0) AS free,
        coalesce(any_value(x.cases), 0) AS held
    FROM questions AS q
    INNER JOIN query_table(paths) AS w ON q.stratum = w.ancestor
    INNER JOIN query_table(case_count) AS u ON w.stratum = u.stratum
    INNER JOIN query_table(paths) AS p ON u.stratum = p.stratum
    LEFT JOIN query_table(leaves) AS x ON q.known_no = x.item_no AND u.stratum = x.leaf
    GROUP BY ALL
),

spaces AS (
    SELECT
        s.item_no,
        s.other_no,
        s.stratum,
        s.known_no,
        s.child,
        s.inner_stratum,
        coalesce(sum(s.free) FILTER (WHERE s.spot <> 'rest'), 0) AS child_free,
        coalesce(sum(s.free) FILTER (WHERE s.spot = 'rest'), 0) AS rest_free,
        coalesce(sum(least(s.free, s.held)) FILTER (WHERE s.spot = 'inside'), 0) AS inside,
        coalesce(sum(least(s.free, s.held)) FILTER (WHERE s.spot = 'beside'), 0) AS beside,
        coalesce(sum(least(s.free, s.held)) FILTER (WHERE s.spot = 'rest'), 0) AS rest
    FROM spots AS s
    GROUP BY ALL
),

-- How many bear the other item in the child, and how many of them hold both: every number is tried.
moved AS (
    SELECT
        q.item_no,
        q.other_no,
        q.stratum,
        q.never,
        len(list_filter(
            range(1, q.bearers),
            LAMBDA here:
                (here < k OR q.bearers - here < k)
                AND here <= z.child_free
                AND q.bearers - here <= z.rest_free
                AND len(list_filter(
                    range(0, q.cases + 1),
                    LAMBDA joint:
                        joint <= least(here, z.inside + z.beside)
                        AND q.cases - joint <= least(q.bearers - here, z.rest)
                        AND (joint - z.beside)::HUGEINT * q.theta_den
                        <= q.holders::HUGEINT * q.theta_num
                )) > 0
        )) > 0 AS leaves_a_way
    FROM questions AS q
    INNER JOIN spaces AS z
        ON
            q.item_no = z.item_no
            AND q.other_no = z.other_no
            AND q.stratum = z.stratum
            AND q.known_no = z.known_no
            AND q.child = z.child
            AND q.inner_stratum = z.inner_stratum
)

SELECT DISTINCT m.item_no, m.other_no, m.stratum
FROM moved AS m
WHERE m.never OR NOT coalesce(m.leaves_a_way, false);
