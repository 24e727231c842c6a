-- Thresholds of patients of their own: temp.main.srsql_own_text(case_id, text) has what their
-- reports say, of this period and of earlier ones (see engine/grouping/own_thresholds.py).

-- name: unread
-- How many reports of the cases have a text that is no threshold.
SELECT count(*)
FROM temp.main.srsql_own_text AS o
SEMI JOIN temp.main.srsql_case AS c ON o.case_id = c.case_id::VARCHAR
WHERE srsql.own_fraction(o.text) IS NULL;

-- name: fill
-- The strictest threshold that reports of a case ask for.
CREATE OR REPLACE TEMP TABLE srsql_own_theta AS
WITH asked AS (
    SELECT c.case_no, srsql.own_fraction(o.text) AS theta
    FROM temp.main.srsql_own_text AS o
    INNER JOIN temp.main.srsql_case AS c ON o.case_id = c.case_id::VARCHAR
)

SELECT
    a.case_no,
    arg_min(a.theta.num, a.theta.num / a.theta.den)::BIGINT AS theta_num,
    arg_min(a.theta.den, a.theta.num / a.theta.den)::BIGINT AS theta_den
FROM asked AS a
GROUP BY a.case_no;

-- name: withhold_unkept
-- Withholds the cases whose own threshold no value of theirs can have: groups of the k that other
-- thresholds ask for are too small for it ($k: of the model), or one of their values is more
-- frequent than half of it in some pattern, and all groups there would pay for it. Counted as if
-- all cases with own thresholds were missing among those that carry the bounds, so that whatever
-- stays can be kept. $weight_scale: weight of a certain value.
INSERT INTO temp.main.srsql_withheld
WITH
stricter AS MATERIALIZED (
    SELECT h.case_no, h.term_no, o.theta_num, o.theta_den
    FROM temp.main.srsql_own_theta AS o
    INNER JOIN temp.main.srsql_profile AS p ON o.case_no = p.case_no
    INNER JOIN temp.main.srsql_case_term AS h ON o.case_no = h.case_no
    INNER JOIN temp.main.srsql_theta AS q ON h.term_no = q.term_no
    WHERE o.theta_num::HUGEINT * q.theta_den < q.theta_num::HUGEINT * o.theta_den
),

grown AS (
    SELECT greatest($k::BIGINT, max((q.theta_den + q.theta_num - 1) // q.theta_num)) AS k
    FROM temp.main.srsql_theta AS q
    WHERE
        q.theta_num > 0
        AND q.term_no IN (
            SELECT h.term_no
            FROM temp.main.srsql_case_term AS h
            SEMI JOIN temp.main.srsql_profile AS p ON h.case_no = p.case_no
        )
),

crowd AS (
    SELECT
        p.pattern,
        count(*) FILTER (
            WHERE p.carrier AND p.case_no NOT IN (SELECT s.case_no FROM stricter AS s)
        ) AS carriers
    FROM temp.main.srsql_profile AS p
    GROUP BY p.pattern
),

frequent AS (
    SELECT p.pattern, h.term_no, sum(h.weight) AS weight
    FROM temp.main.srsql_profile AS p
    INNER JOIN temp.main.srsql_case_term AS h ON p.case_no = h.case_no
    WHERE h.term_no IN (SELECT s.term_no FROM stricter AS s)
    GROUP BY p.pattern, h.term_no
)

SELECT DISTINCT s.case_no, 'own_threshold' AS reason
FROM stricter AS s
CROSS JOIN grown AS g
WHERE
    s.theta_num::HUGEINT * g.k < s.theta_den
    OR EXISTS (
        SELECT 1
        FROM frequent AS f
        INNER JOIN crowd AS c ON f.pattern = c.pattern
        WHERE
            f.term_no = s.term_no
            AND 2 * f.weight::HUGEINT * s.theta_den
            > s.theta_num::HUGEINT * c.carriers * $weight_scale::BIGINT
    );

-- name: leave_unkept
-- Who is withheld is not grouped.
DELETE FROM temp.main.srsql_profile
WHERE case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);

-- name: lowered
-- What every value had by the policy, of those that a case asks less for.
CREATE OR REPLACE TEMP TABLE srsql_asked_theta AS
SELECT
    q.term_no,
    q.theta_num,
    q.theta_den,
    arg_min(o.theta_num, o.theta_num / o.theta_den) AS own_num,
    arg_min(o.theta_den, o.theta_num / o.theta_den) AS own_den
FROM temp.main.srsql_own_theta AS o
SEMI JOIN temp.main.srsql_profile AS p ON o.case_no = p.case_no
INNER JOIN temp.main.srsql_case_term AS h ON o.case_no = h.case_no
INNER JOIN temp.main.srsql_theta AS q ON h.term_no = q.term_no
WHERE o.theta_num::HUGEINT * q.theta_den < q.theta_num::HUGEINT * o.theta_den
GROUP BY q.term_no, q.theta_num, q.theta_den;

-- name: lower
-- Every such value has the strictest of them.
UPDATE temp.main.srsql_theta AS q
SET theta_num = a.own_num, theta_den = a.own_den
FROM temp.main.srsql_asked_theta AS a
WHERE q.term_no = a.term_no;

-- name: keep
-- What the public is told of these values: their thresholds by the policy.
INSERT INTO srsql.asked_threshold
SELECT $release_id, t.term, a.theta_num, a.theta_den
FROM temp.main.srsql_asked_theta AS a
INNER JOIN temp.main.srsql_term AS t ON a.term_no = t.term_no
ORDER BY t.term;
