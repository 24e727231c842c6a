-- Step: the artifact that a case is in first, and how many cases of each region are new, in the
--   artifacts that claim to withstand attacks by joining and whose earlier releases are all given:
--   $artifacts, with their $quarters and $ks beside them. $every_quarter: of all artifacts, in
--   their order from 0 on. A case is in a quarter if any version of it has the case, and new in one
--   if it is in no earlier quarter.
-- Reads: case_region(artifact, region, case_id)
-- Writes: first_artifact(case_id, artifact), new_cases(artifact, quarter, k, region, cases)
-- Source: SPEC section 16; Huang 2021, Definition 4 (k new cases in every group).

CREATE OR REPLACE TEMP TABLE srsql_first_artifact AS
SELECT s.case_id, min(s.artifact) AS artifact
FROM temp.main.srsql_case_region AS s
GROUP BY s.case_id;

CREATE OR REPLACE TEMP TABLE srsql_new_cases AS
WITH claims AS (
    SELECT
        unnest($artifacts::INTEGER[]) AS artifact,
        unnest($quarters::VARCHAR[]) AS quarter,
        unnest($ks::BIGINT[]) AS k
)

SELECT
    s.artifact,
    c.quarter,
    c.k,
    s.region,
    count(*) FILTER (
        WHERE list_extract($every_quarter::VARCHAR[], f.artifact + 1) = c.quarter
    ) AS cases
FROM temp.main.srsql_case_region AS s
INNER JOIN claims AS c ON s.artifact = c.artifact
INNER JOIN temp.main.srsql_first_artifact AS f ON s.case_id = f.case_id
GROUP BY s.artifact, c.quarter, c.k, s.region;
