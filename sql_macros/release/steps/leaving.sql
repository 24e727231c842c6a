-- Step: who has left a release ($release_id) since it was made, and which of its cases a new
--   version keeps: those of groups that nobody has left; with $keep_remainder also what is left of
--   a group that keeps k carriers, theta and alpha without them. A case of which the quarter has no
--   report, or another number of reports, has left although nothing in the catalog says so. reason
--   is NULL of who has not left.
-- Reads: raw_case(case_id, reports), srsql.release, srsql.member, srsql.withdrawn_member,
--   srsql.case_flag, srsql.case_term, srsql.threshold, srsql.defended_attack
-- Writes: corrected_case(case_no, case_id, group_id, reason, kept)
-- Source: SPEC section 5 (a correction takes whole groups out); Lin 2016, Definition 3, and Huang
--   2021, Definitions 4 and 7 (what a group keeps).

CREATE OR REPLACE TEMP TABLE srsql_corrected_case AS
WITH
told AS (
    SELECT w.case_no, w.reason
    FROM srsql.withdrawn_member AS w
    WHERE w.release_id = $release_id::INTEGER
),

judged AS MATERIALIZED (
    SELECT
        m.case_no,
        m.case_id,
        m.group_id,
        CASE
            WHEN t.case_no IS NOT NULL THEN t.reason
            WHEN r.case_id IS NULL THEN 'absent'
            WHEN r.reports <> m.reports THEN 'changed'
        END AS reason
    FROM srsql.member AS m
    LEFT JOIN told AS t ON m.case_no = t.case_no
    LEFT JOIN temp.main.srsql_raw_case AS r ON m.case_id = r.case_id
    WHERE m.release_id = $release_id::INTEGER
),

remaining AS (
    SELECT j.case_no, j.group_id FROM judged AS j WHERE j.reason IS NULL
),

touched AS MATERIALIZED (
    SELECT DISTINCT j.group_id FROM judged AS j WHERE j.reason IS NOT NULL
),

crowd AS MATERIALIZED (
    SELECT
        r.group_id,
        own.k,
        own.weight_scale,
        greatest(own.k, count(*) FILTER (WHERE f.carrier)) AS bound,
        count(*) FILTER (WHERE f.carrier) AS carriers,
        count(*) FILTER (WHERE f.is_ss) AS ss
    FROM remaining AS r
    INNER JOIN srsql.case_flag AS f
        ON r.case_no = f.case_no AND f.release_id = $release_id::INTEGER
    INNER JOIN srsql.release AS own ON own.release_id = $release_id::INTEGER
    GROUP BY r.group_id, own.k, own.weight_scale
),

held AS (
    SELECT r.group_id, c.term_no, sum(c.weight)::HUGEINT AS weight
    FROM remaining AS r
    SEMI JOIN touched AS t ON r.group_id = t.group_id
    INNER JOIN srsql.case_term AS c
        ON r.case_no = c.case_no AND c.release_id = $release_id::INTEGER
    GROUP BY r.group_id, c.term_no
),

broken AS MATERIALIZED (
    SELECT c.group_id FROM crowd AS c WHERE c.carriers < c.k
    UNION
    SELECT h.group_id
    FROM held AS h
    INNER JOIN crowd AS c ON h.group_id = c.group_id
    INNER JOIN srsql.threshold AS q
        ON h.term_no = q.term_no AND q.release_id = $release_id::INTEGER
    WHERE
        q.theta_num < q.theta_den
        AND srsql.exceeds(h.weight, q.theta_num, q.theta_den, c.bound, c.weight_scale)
    UNION
    SELECT c.group_id
    FROM crowd AS c
    INNER JOIN srsql.defended_attack AS d ON d.release_id = $release_id::INTEGER
    WHERE d.alpha_den IS NOT NULL AND c.ss * d.alpha_den > d.alpha_num * c.bound
)

SELECT
    j.*,
    j.reason IS NULL
    AND (
        j.group_id NOT IN (SELECT t.group_id FROM touched AS t)
        OR ($keep_remainder::BOOLEAN AND j.group_id NOT IN (SELECT b.group_id FROM broken AS b))
    ) AS kept
FROM judged AS j;
