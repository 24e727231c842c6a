-- What: the figures of the public manifest: released and withheld counts (no DP model), and the
--       thresholds of released values only.
-- Inputs: of_release: a release id.
-- Outputs: one row.
-- Source: SPEC section 5.
CREATE OR REPLACE MACRO srsql.public_counts(of_release) AS TABLE
WITH
kept AS (
    SELECT count(DISTINCT m.case_id) AS cases, coalesce(sum(m.reports), 0)::BIGINT AS reports
    FROM srsql.member AS m WHERE m.release_id = of_release
),

gone AS (
    SELECT count(DISTINCT w.case_id) AS cases, coalesce(sum(w.reports), 0)::BIGINT AS reports
    FROM srsql.withheld AS w WHERE w.release_id = of_release
),

theta AS (
    SELECT coalesce(list(
        struct_pack(value := t.term, theta := t.theta_num / t.theta_den) ORDER BY t.term
    ), []) AS thresholds
    FROM srsql.threshold AS t WHERE t.release_id = of_release AND t.released
)

SELECT
    k.cases AS released_cases,
    k.reports AS released_reports,
    g.cases AS withheld_cases,
    g.reports AS withheld_reports,
    t.thresholds
FROM kept AS k
CROSS JOIN gone AS g
CROSS JOIN theta AS t;
