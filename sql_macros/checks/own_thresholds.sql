-- What:    nobody concludes of a case with a threshold of its own, with more than that probability,
--          that it has any value that it shows: of each region and value, the cases that show it
--          are at most so many of those that carry the bounds. And no value of such a case has a
--          higher threshold in the catalog, by which audits judge what attacks on a series leave.
-- Inputs:  rows_of(region, case_id, carries), values_of(case_id, term): off the released views;
--          own_of(case_id, own): of released cases, as their reports have it, a double.
-- Outputs: two uniform rows. A text that is no number counts as 0.
-- Source:  Huang 2021, PPMS-bounding (2), with theta_P in the place of theta_j, and section 7.
CREATE OR REPLACE MACRO srsql.check_own_theta(rows_of, values_of, own_of, of_release) AS TABLE
WITH
placed AS (SELECT DISTINCT r.region, r.case_id, r.carries FROM query_table(rows_of) AS r),

crowd AS (
    SELECT p.region, count(*) FILTER (WHERE p.carries) AS cases
    FROM placed AS p GROUP BY p.region
),

own AS (
    SELECT o.case_id, min(coalesce(o.own, 0)) AS own
    FROM query_table(own_of) AS o
    GROUP BY o.case_id
),

shown AS (SELECT DISTINCT v.case_id, v.term FROM query_table(values_of) AS v),

held AS (
    SELECT
        p.region,
        s.term,
        count(*) AS cases,
        min(o.own) AS own
    FROM placed AS p
    INNER JOIN shown AS s ON p.case_id = s.case_id
    LEFT JOIN own AS o ON p.case_id = o.case_id
    GROUP BY p.region, s.term
    HAVING min(o.own) IS NOT NULL
),

kept AS (
    SELECT h.cases <= h.own * c.cases + 1e-09 AS is_kept
    FROM held AS h
    INNER JOIN crowd AS c ON h.region = c.region
),

catalogued AS (
    SELECT
        s.term,
        coalesce(min(o.own) >= any_value(t.theta_num / t.theta_den) - 1e-12, false) AS is_kept
    FROM own AS o
    INNER JOIN shown AS s ON o.case_id = s.case_id
    LEFT JOIN srsql.threshold AS t ON t.release_id = of_release AND s.term = t.term
    GROUP BY s.term
)

SELECT
    unnest(srsql.check_row(
        of_release, 'check_own_theta', 'value of a region', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE NOT k.is_kept) AS violating, count(*) AS total FROM kept AS k
) AS f
UNION ALL
SELECT
    unnest(srsql.check_row(
        of_release, 'check_own_theta', 'threshold of a value', f.violating, f.total, 0
    ))
FROM (
    SELECT count(*) FILTER (WHERE NOT c.is_kept) AS violating, count(*) AS total
    FROM catalogued AS c
) AS f;
