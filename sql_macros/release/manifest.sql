-- What: the thresholds that the public is told of, of values that rows show: by the policy,
--       whatever patients ask for of their own.
-- Inputs: of_release: a release id.
-- Outputs: term, theta_num, theta_den.
CREATE OR REPLACE MACRO srsql.told_thresholds(of_release) AS TABLE
SELECT
    t.term,
    coalesce(a.theta_num, t.theta_num) AS theta_num,
    coalesce(a.theta_den, t.theta_den) AS theta_den
FROM srsql.threshold AS t
LEFT JOIN srsql.asked_threshold AS a ON t.release_id = a.release_id AND t.term = a.term
WHERE t.release_id = of_release AND t.released;

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
    FROM srsql.told_thresholds(of_release) AS t
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
