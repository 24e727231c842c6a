-- What:    of the cases of every region of the release just before, those who are in this one are
--          none or have k that were new there, and so have those who are not; in every region here
--          those of one region there are none or have k that were new there, and hold no value
--          beyond its threshold of these. Groups with one region add up, and so do their bounds.
-- Inputs:  rows_of(region, case_id), values_of(case_id, term), thresholds_of(term, theta_num,
--          theta_den): of this release; before_of(region, case_id): of the one just before, without
--          a row where there is none; older_of(case_id): of those before that; at_least: k here;
--          at_least_before: k there; release_id.
-- Outputs: three uniform rows: classes, cohorts, values of cohorts.
-- Source:  docs/decisions.md, D287 (rules 2 and 3).
CREATE OR REPLACE MACRO srsql.check_cohorts(
    rows_of, values_of, thresholds_of, before_of, older_of, at_least, at_least_before, release_id
) AS TABLE
WITH
here AS MATERIALIZED (
    SELECT DISTINCT r.region, r.case_id FROM query_table(rows_of) AS r
),

older AS MATERIALIZED (
    SELECT DISTINCT o.case_id FROM query_table(older_of) AS o
),

there AS MATERIALIZED (
    SELECT DISTINCT
        b.region,
        b.case_id,
        h.region AS region_here,
        o.case_id IS NULL AS was_new
    FROM query_table(before_of) AS b
    LEFT JOIN here AS h ON b.case_id = h.case_id
    LEFT JOIN older AS o ON b.case_id = o.case_id
),

classes AS (
    SELECT t.region, count(*) FILTER (WHERE t.was_new) AS new_cases
    FROM there AS t
    GROUP BY t.region, t.region_here IS NULL
),

cohorts AS MATERIALIZED (
    SELECT t.region, t.region_here, count(*) FILTER (WHERE t.was_new) AS new_cases
    FROM there AS t
    WHERE t.region_here IS NOT NULL
    GROUP BY t.region, t.region_here
),

loads AS (
    SELECT t.region, t.region_here, v.term, count(DISTINCT t.case_id) AS cases
    FROM there AS t
    INNER JOIN query_table(values_of) AS v ON t.case_id = v.case_id
    WHERE t.region_here IS NOT NULL
    GROUP BY t.region, t.region_here, v.term
),

figures AS (
    SELECT
        'classes of the release before' AS scope,
        count(*) FILTER (WHERE c.new_cases < at_least_before) AS violating,
        count(*) AS total
    FROM classes AS c
    UNION ALL
    SELECT
        'cohorts',
        count(*) FILTER (WHERE c.new_cases < at_least),
        count(*)
    FROM cohorts AS c
    UNION ALL
    SELECT
        'values of cohorts',
        count(*) FILTER (
            WHERE
            q.theta_num IS NULL
            OR l.cases::HUGEINT * q.theta_den > q.theta_num::HUGEINT * c.new_cases
            AND q.theta_num < q.theta_den
        ),
        count(*)
    FROM loads AS l
    INNER JOIN cohorts AS c ON l.region = c.region AND l.region_here = c.region_here
    LEFT JOIN query_table(thresholds_of) AS q ON l.term = q.term
)

SELECT
    unnest(srsql.check_row(
        release_id, 'check_cohorts', f.scope, f.violating, f.total, at_least
    ))
FROM figures AS f;
