-- Step: which groups of the other releases of a series ($release_ids) hold a case of a new one
--   ($release_id), and whether its region there covers the group's.
-- Reads: srsql.member
-- Writes: audit_shared(release_id, group_id, covered)
-- Source: Huang 2021, Definitions 1 and 2; SPEC section 9 (what a release can change).

CREATE OR REPLACE TEMP TABLE srsql_audit_shared AS
WITH
series_release AS MATERIALIZED (
    SELECT unnest($release_ids::INTEGER[]) AS release_id
),

own AS MATERIALIZED (
    SELECT m.case_id, m.group_id
    FROM srsql.member AS m
    WHERE m.release_id = $release_id::INTEGER
),

shared AS MATERIALIZED (
    SELECT DISTINCT m.release_id, m.group_id, o.group_id AS own_group_id
    FROM srsql.member AS m
    INNER JOIN own AS o ON m.case_id = o.case_id
    WHERE
        m.release_id IN (SELECT r.release_id FROM series_release AS r)
        AND m.release_id <> $release_id::INTEGER
),

either AS (
    SELECT s.release_id, s.group_id FROM shared AS s
    UNION ALL
    SELECT $release_id::INTEGER AS release_id, s.own_group_id AS group_id FROM shared AS s
),

boxes AS MATERIALIZED (
    SELECT b.* FROM srsql.region_boxes('either', NULL::INTEGER[]) AS b
)

SELECT
    s.release_id,
    s.group_id,
    bool_and(srsql.covers(o.box, b.box)) AS covered
FROM shared AS s
INNER JOIN boxes AS b ON s.release_id = b.release_id AND s.group_id = b.group_id
INNER JOIN boxes AS o ON s.own_group_id = o.group_id AND $release_id::INTEGER = o.release_id
GROUP BY s.release_id, s.group_id;
