-- Step: the same of some cases alone: those of the releases that are audited whole ($reported, of
--   $release_ids) and of the groups that are audited of others. The catalog is gone through once,
--   whatever the number of releases.
-- Reads: audit_part(release_id, group_id), srsql.member
-- Writes: audit_appearance(case_key, release_id, case_no, group_id)
-- Source: Huang 2021, Definitions 1 and 2.

CREATE OR REPLACE TEMP TABLE srsql_audit_appearance AS
WITH
series_release AS MATERIALIZED (
    SELECT
        unnest($release_ids::INTEGER[]) AS release_id,
        unnest($reported::BOOLEAN[]) AS reported
),

asked AS MATERIALIZED (
    SELECT m.case_id
    FROM srsql.member AS m
    INNER JOIN series_release AS r ON m.release_id = r.release_id AND r.reported
    UNION
    SELECT m.case_id
    FROM srsql.member AS m
    SEMI JOIN temp.main.srsql_audit_part AS p
        ON m.release_id = p.release_id AND m.group_id = p.group_id
),

seen AS MATERIALIZED (
    SELECT m.case_id, m.release_id, m.case_no, m.group_id
    FROM srsql.member AS m
    SEMI JOIN series_release AS r ON m.release_id = r.release_id
    SEMI JOIN asked AS a ON m.case_id = a.case_id
),

followed AS (
    SELECT s.case_id, row_number() OVER () AS case_key
    FROM seen AS s
    GROUP BY s.case_id
    HAVING count(*) > 1
)

SELECT f.case_key, s.release_id, s.case_no, s.group_id
FROM seen AS s
INNER JOIN followed AS f ON s.case_id = f.case_id;
