-- Step: what an attacker knows of a series as a whole: the region of every group as a box, and of
--   every case that is in several releases the boxes that its earlier and its later regions cover.
--   $release_ids are its releases in the order of quarter and number, $quarters their quarters,
--   counted, and $reported says which of them are audited.
-- Reads: srsql.member, srsql.region
-- Writes: audit_region(release_id, group_id, box), audit_history(release_id, case_no, old,
--   in_next_quarter, in_previous_quarter, earlier, later, bounds_all, bounds_earliest)
-- Source: Huang 2021, Definitions 1 to 4; SPEC section 9.

CREATE OR REPLACE TEMP TABLE srsql_audit_region AS
WITH
series_release AS MATERIALIZED (
    SELECT unnest($release_ids::INTEGER[]) AS release_id
),

positions AS MATERIALIZED (
    SELECT a.* FROM srsql.box_positions('series_release') AS a
),

groups AS (
    SELECT DISTINCT m.release_id, m.group_id
    FROM srsql.member AS m
    SEMI JOIN series_release AS r ON m.release_id = r.release_id
)

SELECT
    g.release_id,
    g.group_id,
    flatten(
        list(srsql.box_part(e.low, e.high, a.root_low, a.root_high) ORDER BY a.position)
    ) AS box
FROM groups AS g
INNER JOIN positions AS a ON g.release_id = a.release_id
LEFT JOIN srsql.region AS e
    ON
        g.release_id = e.release_id
        AND g.group_id = e.group_id
        AND a.position = e.position
GROUP BY g.release_id, g.group_id;

CREATE OR REPLACE TEMP TABLE srsql_audit_history AS
WITH series_release AS MATERIALIZED (
    SELECT
        unnest($release_ids::INTEGER[]) AS release_id,
        generate_subscripts($release_ids::INTEGER[], 1) AS seq,
        unnest($quarters::INTEGER[]) AS quarter_no,
        unnest($reported::BOOLEAN[]) AS reported
)

SELECT h.* FROM srsql.case_history('series_release', 'temp.main.srsql_audit_region') AS h;
