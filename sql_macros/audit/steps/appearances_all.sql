-- Step: where the cases of a series are that are in several of its releases ($release_ids); what an
--   audit of all of them begins with.
-- Reads: srsql.member
-- Writes: audit_appearance(case_key, release_id, case_no, group_id)
-- Source: Huang 2021, Definitions 1 and 2.

CREATE OR REPLACE TEMP TABLE srsql_audit_appearance AS
WITH
series_release AS MATERIALIZED (
    SELECT unnest($release_ids::INTEGER[]) AS release_id
),

followed AS (
    SELECT m.case_id, row_number() OVER () AS case_key
    FROM srsql.member AS m
    INNER JOIN series_release AS r ON m.release_id = r.release_id
    GROUP BY m.case_id
    HAVING count(*) > 1
)

SELECT f.case_key, m.release_id, m.case_no, m.group_id
FROM srsql.member AS m
INNER JOIN series_release AS r ON m.release_id = r.release_id
INNER JOIN followed AS f ON m.case_id = f.case_id;
