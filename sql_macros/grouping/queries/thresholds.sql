-- The threshold theta of every term of temp.main.srsql_term (SPEC section 6).

-- name: by_frequency
-- By the rank of its number of cases (Lin 2016, "frequency-based strategy").
CREATE OR REPLACE TEMP TABLE srsql_theta AS
SELECT
    t.term_no::INTEGER AS term_no,
    t.theta_num::BIGINT AS theta_num,
    t.theta_den::BIGINT AS theta_den
FROM srsql.theta_frequency('temp.main.srsql_term') AS t;

-- name: by_both_frequencies
-- The same by the stricter of two ranks: of the term among terms, and of its commonest spelling
-- among spellings (SPEC section 2).
CREATE OR REPLACE TEMP TABLE srsql_theta AS
WITH commonest AS (
    SELECT
        s.of_term,
        f.theta_num,
        f.theta_den,
        row_number() OVER (PARTITION BY s.of_term ORDER BY s.cases DESC, s.term ASC) AS place
    FROM temp.main.srsql_spelling AS s
    INNER JOIN srsql.theta_frequency('temp.main.srsql_spelling') AS f ON s.term_no = f.term_no
),

strict AS (
    SELECT t.term_no, t.theta_num, t.theta_den
    FROM srsql.theta_frequency('temp.main.srsql_term') AS t
    UNION ALL
    SELECT c.of_term, c.theta_num, c.theta_den FROM commonest AS c WHERE c.place = 1
)

SELECT
    s.term_no::INTEGER AS term_no,
    arg_min(s.theta_num, s.theta_num / s.theta_den)::BIGINT AS theta_num,
    arg_min(s.theta_den, s.theta_num / s.theta_den)::BIGINT AS theta_den
FROM strict AS s
GROUP BY s.term_no;

-- name: by_value
-- As listed ($terms, normalized, $nums, $dens) or as called on a level of a dictionary ($called,
-- normalized, of which every spelling counts, $called_nums, $called_dens); of several thresholds
-- the lowest one, without one $num / $den.
CREATE OR REPLACE TEMP TABLE srsql_theta AS
WITH listed AS (
    SELECT
        unnest($terms::VARCHAR[]) AS term,
        unnest($nums::BIGINT[]) AS num,
        unnest($dens::BIGINT[]) AS den
),

called AS (
    SELECT
        unnest($called::VARCHAR[]) AS term,
        unnest($called_nums::BIGINT[]) AS num,
        unnest($called_dens::BIGINT[]) AS den
),

found AS (
    SELECT t.term_no, l.num, l.den
    FROM temp.main.srsql_term AS t
    INNER JOIN listed AS l ON t.term = l.term
    UNION ALL
    SELECT t.term_no, c.num, c.den
    FROM temp.main.srsql_term AS t
    INNER JOIN called AS c ON srsql.term_spelling(t.term) = srsql.term_spelling(c.term)
),

lowest AS (
    SELECT
        f.term_no,
        arg_min(f.num, f.num / f.den) AS num,
        arg_min(f.den, f.num / f.den) AS den
    FROM found AS f
    GROUP BY f.term_no
)

SELECT
    t.term_no::INTEGER AS term_no,
    coalesce(l.num, $num)::BIGINT AS theta_num,
    coalesce(l.den, $den)::BIGINT AS theta_den
FROM temp.main.srsql_term AS t
LEFT JOIN lowest AS l ON t.term_no = l.term_no;

-- name: occurring
-- How many terms are spelled like one of $called (normalized).
WITH called AS (SELECT unnest($called::VARCHAR[]) AS term)

SELECT count(*)
FROM temp.main.srsql_term AS t
SEMI JOIN called AS c
    ON srsql.term_spelling(t.term) = srsql.term_spelling(c.term);
