-- Step: what an attacker knows of a series as a whole: the region of every group that is looked at
--   as a box, and of every case that is in several releases the boxes that its earlier and its
--   later regions cover. $release_ids are its releases in the order of quarter and number,
--   $quarters their quarters, counted, and $reported says which of them are audited whole; of
--   those of which some groups alone are audited, audit_part has these. $known: positions of the
--   quasi-identifiers that the attacker knows; NULL: all.
-- Reads: audit_appearance(case_key, release_id, case_no, group_id), audit_part(release_id,
--   group_id), srsql.member
-- Writes: audit_region(release_id, group_id, box), audit_history(release_id, case_no, old,
--   in_next_quarter, in_previous_quarter, earlier, later, bounds_all, bounds_earliest)
-- Source: Huang 2021, Definitions 1 to 4; SPEC section 9.

CREATE OR REPLACE TEMP TABLE srsql_audit_region AS
WITH
reported_release AS (
    SELECT r.release_id
    FROM (
        SELECT
            unnest($release_ids::INTEGER[]) AS release_id,
            unnest($reported::BOOLEAN[]) AS reported
    ) AS r
    WHERE r.reported
),

looked_at AS (
    SELECT m.release_id, m.group_id
    FROM srsql.member AS m
    SEMI JOIN reported_release AS r ON m.release_id = r.release_id
    UNION ALL
    SELECT a.release_id, a.group_id FROM temp.main.srsql_audit_appearance AS a
    UNION ALL
    SELECT p.release_id, p.group_id FROM temp.main.srsql_audit_part AS p
)

SELECT b.release_id, b.group_id, b.box FROM srsql.region_boxes('looked_at', $known::INTEGER[]) AS b;

CREATE OR REPLACE TEMP TABLE srsql_audit_history AS
WITH series_release AS MATERIALIZED (
    SELECT
        r.release_id,
        r.seq,
        r.quarter_no,
        r.reported
        OR r.release_id IN (SELECT p.release_id FROM temp.main.srsql_audit_part AS p) AS reported
    FROM (
        SELECT
            unnest($release_ids::INTEGER[]) AS release_id,
            generate_subscripts($release_ids::INTEGER[], 1) AS seq,
            unnest($quarters::INTEGER[]) AS quarter_no,
            unnest($reported::BOOLEAN[]) AS reported
    ) AS r
)

SELECT h.*
FROM srsql.case_history(
    'series_release', 'temp.main.srsql_audit_appearance', 'temp.main.srsql_audit_region'
) AS h;
