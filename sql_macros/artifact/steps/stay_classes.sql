-- Step: who stays and who does not, of the artifacts that claim to withstand that it is known. Two
--   windows are looked at. Of artifact $class_artifacts, beside the quarter after it
--   ($next_quarters, by any version of it): the cases of a region who are in it, and those who are
--   not. Of artifact $cohort_artifacts, beside one of the quarter before it ($before_artifacts):
--   the cases of a region who had one region there. k is $class_ks and $cohort_ks;
--   $every_quarter: of all artifacts, in their order from 0 on. A case was new in the earlier
--   quarter of the two if no quarter before that has it. A class or cohort is what agrees in all
--   but the case; beside says in words which one of the region it is, new_cases how many of it
--   were new.
-- Parameters: class_artifacts, class_ks, next_quarters, cohort_artifacts, cohort_ks,
--   before_artifacts, every_quarter
-- Reads: case_region(artifact, region, case_id), first_artifact(case_id, artifact)
-- Writes: stay_class(artifact, quarter, k, before_artifact, region, beside, case_id, new_cases)
-- Source: SPEC section 9, P; docs/decisions.md, D287 (rules 2 and 3), of what is released.

CREATE OR REPLACE TEMP TABLE srsql_stay_class AS
WITH
placed AS (
    SELECT
        s.artifact,
        list_extract($every_quarter::VARCHAR[], s.artifact + 1) AS quarter,
        s.region,
        s.case_id,
        list_extract($every_quarter::VARCHAR[], f.artifact + 1) AS first_quarter
    FROM temp.main.srsql_case_region AS s
    INNER JOIN temp.main.srsql_first_artifact AS f ON s.case_id = f.case_id
),

present AS (
    SELECT DISTINCT p.quarter, p.case_id FROM placed AS p
),

class_windows AS (
    SELECT
        unnest($class_artifacts::INTEGER[]) AS artifact,
        unnest($class_ks::BIGINT[]) AS k,
        unnest($next_quarters::VARCHAR[]) AS next_quarter
),

cohort_windows AS (
    SELECT
        unnest($cohort_artifacts::INTEGER[]) AS artifact,
        unnest($cohort_ks::BIGINT[]) AS k,
        unnest($before_artifacts::INTEGER[]) AS before_artifact
),

members AS (
    SELECT
        p.artifact,
        p.quarter,
        w.k,
        NULL::INTEGER AS before_artifact,
        p.region,
        CASE WHEN n.case_id IS NULL THEN 'not in ' ELSE 'in ' END || w.next_quarter AS beside,
        p.case_id,
        p.first_quarter = p.quarter AS was_new
    FROM placed AS p
    INNER JOIN class_windows AS w ON p.artifact = w.artifact
    LEFT JOIN present AS n ON p.case_id = n.case_id AND w.next_quarter = n.quarter
    UNION ALL
    SELECT
        p.artifact,
        p.quarter,
        w.k,
        w.before_artifact,
        p.region,
        'from ' || b.quarter || ' region ' || b.region AS beside,
        p.case_id,
        b.first_quarter = b.quarter AS was_new
    FROM placed AS p
    INNER JOIN cohort_windows AS w ON p.artifact = w.artifact
    INNER JOIN placed AS b ON w.before_artifact = b.artifact AND p.case_id = b.case_id
)

SELECT
    m.artifact,
    m.quarter,
    m.k,
    m.before_artifact,
    m.region,
    m.beside,
    m.case_id,
    count(*) FILTER (WHERE m.was_new) OVER (
        PARTITION BY m.artifact, m.before_artifact, m.region, m.beside
    ) AS new_cases
FROM members AS m;
