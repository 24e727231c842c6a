-- The threshold theta of every term of temp.main.srsql_term (SPEC section 6).

-- name: by_frequency
-- By the rank of its number of cases (Lin 2016, "frequency-based strategy").
CREATE OR REPLACE TEMP TABLE srsql_theta AS
SELECT
    t.term_no::INTEGER AS term_no,
    t.theta_num::BIGINT AS theta_num,
    t.theta_den::BIGINT AS theta_den
FROM srsql.theta_frequency('temp.main.srsql_term') AS t;

-- name: by_value
-- As listed ($terms, normalized, $nums, $dens; of a term that is listed twice, the lower one), else
-- $num / $den.
CREATE OR REPLACE TEMP TABLE srsql_theta AS
WITH levels AS (
    SELECT
        v.term,
        arg_min(v.num, v.num / v.den) AS num,
        arg_min(v.den, v.num / v.den) AS den
    FROM (
        SELECT
            unnest($terms::VARCHAR[]) AS term,
            unnest($nums::BIGINT[]) AS num,
            unnest($dens::BIGINT[]) AS den
    ) AS v
    GROUP BY v.term
)

SELECT
    t.term_no::INTEGER AS term_no,
    coalesce(l.num, $num)::BIGINT AS theta_num,
    coalesce(l.den, $den)::BIGINT AS theta_den
FROM temp.main.srsql_term AS t
LEFT JOIN levels AS l ON t.term = l.term;
