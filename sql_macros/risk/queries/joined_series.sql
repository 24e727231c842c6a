-- The series of a warehouse as one attacker has them.

-- name: releases
-- Every release of a dataset that is or was out, of our own making, by quarter; $quarter: of one.
SELECT
    e.quarter,
    e.release_id,
    e.series,
    e.status,
    e.model,
    e.k
FROM srsql.exposed_release AS e
WHERE
    e.dataset = $dataset
    AND e.model <> 'imported'
    AND ($quarter::VARCHAR IS NULL OR e.quarter = $quarter)
ORDER BY e.quarter, e.series, e.release_id;

-- name: imported
-- Series of a dataset that are somebody else's, which have no rows to join.
SELECT DISTINCT e.series
FROM srsql.exposed_release AS e
WHERE e.dataset = $dataset AND e.model = 'imported'
ORDER BY e.series;

-- name: add_versions
-- Rows of two versions of one series link by the id that they are published under.
INSERT INTO temp.main.srsql_link_between
SELECT a.release_id, a.case_no, b.release_id AS other_id, b.case_no AS counterpart
FROM temp.main.srsql_link_joined AS a
INNER JOIN temp.main.srsql_link_joined AS b ON a.case_id = b.case_id
WHERE a.release_id IN ($first, $second) AND b.release_id IN ($first, $second)
AND a.release_id <> b.release_id;

-- name: add_pairs
-- Rows of two series link one to one; see risk/linkability.sql.
INSERT INTO temp.main.srsql_link_between
SELECT $first, p.case_no, $second, p.counterpart FROM temp.main.srsql_link_pair AS p
UNION ALL
SELECT $second, p.counterpart, $first, p.case_no FROM temp.main.srsql_link_pair AS p;

-- name: join_boxes
-- What all releases of the quarter tell of each row together.
CREATE OR REPLACE TEMP TABLE srsql_link_common AS
SELECT b.*
FROM srsql.joined_boxes('temp.main.srsql_link_joined', 'temp.main.srsql_link_between') AS b;

-- name: linked
-- Rows of release $release_id that link to some other one.
SELECT count_if(b.links > 0)
FROM temp.main.srsql_link_common AS b
WHERE b.release_id = $release_id;

-- name: few_candidates
-- Cases of release $release_id with fewer than $k candidates, by scope: joined, and by its own
-- regions alone.
WITH
asks AS MATERIALIZED (
    SELECT row_number() OVER () AS ask_no, t.own_box, t.box, count(*) AS cases
    FROM temp.main.srsql_link_target AS t
    GROUP BY t.own_box, t.box
),

regions AS MATERIALIZED (
    SELECT c.box AS own_box, b.box
    FROM temp.main.srsql_link_joined AS c
    INNER JOIN temp.main.srsql_link_common AS b
        ON c.release_id = b.release_id AND c.case_no = b.case_no
    WHERE c.release_id = $release_id
),

own_regions AS (SELECT r.own_box, r.own_box AS box FROM regions AS r),

match_joined AS MATERIALIZED (
    SELECT c.* FROM srsql.candidate_counts('asks', 'regions') AS c
),

match_alone AS MATERIALIZED (
    SELECT c.* FROM srsql.candidate_counts('asks', 'own_regions') AS c
),

group_joined AS MATERIALIZED (
    SELECT c.* FROM srsql.group_candidate_counts('asks', 'regions') AS c
),

group_alone AS MATERIALIZED (
    SELECT c.* FROM srsql.group_candidate_counts('asks', 'own_regions') AS c
)

SELECT m.*
FROM srsql.too_few_candidates($release_id, 'group, joined', 'asks', 'group_joined', $k) AS m
UNION ALL
SELECT m.*
FROM srsql.too_few_candidates($release_id, 'group, alone', 'asks', 'group_alone', $k) AS m
UNION ALL
SELECT m.*
FROM srsql.too_few_candidates($release_id, 'match, joined', 'asks', 'match_joined', $k) AS m
UNION ALL
SELECT m.*
FROM srsql.too_few_candidates($release_id, 'match, alone', 'asks', 'match_alone', $k) AS m;
