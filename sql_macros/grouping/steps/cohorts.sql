-- Step: the cohorts of the release just before the release $release_id: the cases of each of its
--   groups who went on, and that share a group of this release or are all withheld.
-- Reads: case(case_no, case_id), srsql.exposed_release, srsql.release, srsql.defended_attack,
--   srsql.member, srsql.case_flag
-- Writes: cohort(unit_no, group_id, cases, new_cases), cohort_case(unit_no, case_no)
-- Source: docs/decisions.md, D287 (rule 3).

-- A correction takes whole groups out, so the first version of that quarter has all groups of it.
CREATE OR REPLACE TEMP TABLE srsql_cohort AS
WITH
earlier AS MATERIALIZED (
    SELECT r.release_id, r.quarter, own.quarter AS own_quarter
    FROM srsql.exposed_release AS r
    INNER JOIN srsql.release AS own ON own.release_id = $release_id
    WHERE
        r.dataset = own.dataset
        AND r.series = own.series
        AND r.quarter < own.quarter
),

latest AS MATERIALIZED (
    SELECT e.release_id, e.quarter
    FROM earlier AS e
    INNER JOIN srsql.defended_attack AS p
        ON e.release_id = p.release_id AND list_contains(p.attacks, 'p')
    WHERE
        e.quarter = (SELECT max(l.quarter) FROM earlier AS l)
        AND srsql.follows_on(e.quarter, e.own_quarter)
    QUALIFY e.release_id = min(e.release_id) OVER ()
),

own_case AS MATERIALIZED (
    SELECT c.case_no, c.case_id FROM temp.main.srsql_case AS c
),

group_member AS MATERIALIZED (
    SELECT m.group_id, m.case_no, m.case_id
    FROM srsql.member AS m
    SEMI JOIN latest AS l ON m.release_id = l.release_id
),

flag AS MATERIALIZED (
    SELECT f.case_no, f.is_md
    FROM srsql.case_flag AS f
    SEMI JOIN latest AS l ON f.release_id = l.release_id
),

past AS MATERIALIZED (
    SELECT DISTINCT m.case_id
    FROM srsql.member AS m
    INNER JOIN earlier AS e ON m.release_id = e.release_id
    WHERE e.quarter < (SELECT l.quarter FROM latest AS l)
)

SELECT
    row_number() OVER (ORDER BY c.group_id)::INTEGER AS unit_no,
    c.group_id,
    c.cases,
    c.new_cases,
    c.case_nos
FROM srsql.cohorts('own_case', 'group_member', 'flag', 'past') AS c;

CREATE OR REPLACE TEMP TABLE srsql_cohort_case AS
SELECT u.unit_no, unnest(u.case_nos)::INTEGER AS case_no
FROM temp.main.srsql_cohort AS u;
