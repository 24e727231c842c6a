-- Which of the cases of temp.main.srsql_profile can be released at all (SPEC section 6). Values and
-- their bounds are in temp.main.srsql_case_term and temp.main.srsql_theta, or in the tables that
-- stand in their places; $pattern: of one missingness pattern alone, NULL: of all.

-- name: infeasible_values
-- Each value that no grouping could keep below its bound: its text ($symptoms for the share of
-- cases with substantially many), cases that hold it, cases that carry the bound, frequency, bound.
WITH present AS MATERIALIZED (
    SELECT p.case_no, p.carrier
    FROM temp.main.srsql_profile AS p
    WHERE $pattern::INTEGER IS NULL OR p.pattern = $pattern::INTEGER
)

SELECT
    coalesce(t.spelling, $symptoms) AS value,
    i.cases,
    i.total,
    i.weight / (i.total * $weight_scale) AS frequency,
    q.theta_num / q.theta_den AS theta
FROM srsql.infeasible(
    'temp.main.srsql_case_term', 'temp.main.srsql_theta', 'present', $weight_scale
) AS i
LEFT JOIN temp.main.srsql_term AS t ON i.term_no = t.term_no
INNER JOIN temp.main.srsql_theta AS q ON i.term_no = q.term_no
ORDER BY i.weight / i.total DESC, t.spelling;

-- name: withhold_surplus
-- Withholds, for $reason, the cases without which every bound can be met.
INSERT INTO temp.main.srsql_withheld
WITH present AS MATERIALIZED (
    SELECT p.case_no, p.carrier
    FROM temp.main.srsql_profile AS p
    WHERE $pattern::INTEGER IS NULL OR p.pattern = $pattern::INTEGER
)

SELECT w.case_no, $reason
FROM srsql.withhold_infeasible(
    'present', 'temp.main.srsql_case_term', 'temp.main.srsql_theta', $weight_scale
) AS w;

-- name: move_surplus
-- Moves these cases to the pattern $target.
WITH present AS MATERIALIZED (
    SELECT p.case_no, p.carrier
    FROM temp.main.srsql_profile AS p
    WHERE $pattern::INTEGER IS NULL OR p.pattern = $pattern::INTEGER
)

UPDATE temp.main.srsql_profile
SET pattern = $target
WHERE case_no IN (
    SELECT w.case_no
    FROM srsql.withhold_infeasible(
        'present', 'temp.main.srsql_case_term', 'temp.main.srsql_theta', $weight_scale
    ) AS w
);

-- name: drop_withheld
-- Takes withheld cases out of the profiles.
DELETE FROM temp.main.srsql_profile AS p
WHERE p.case_no IN (SELECT w.case_no FROM temp.main.srsql_withheld AS w);

-- name: withhold_incomplete
-- Withholds the cases that lack a QID; $complete is the pattern of those that lack none.
INSERT INTO temp.main.srsql_withheld
SELECT p.case_no, 'missing_qid'
FROM temp.main.srsql_profile AS p
WHERE p.known <> $complete;

-- name: withhold_uninformative
-- Withholds the cases that hold no value that could be shown.
INSERT INTO temp.main.srsql_withheld
SELECT p.case_no, 'no_informative_value'
FROM temp.main.srsql_profile AS p
ANTI JOIN temp.main.srsql_held_value AS h ON p.case_no = h.case_no;

-- name: withhold_all
-- Withholds every case that is still to be grouped, for $reason.
INSERT INTO temp.main.srsql_withheld
SELECT p.case_no, $reason
FROM temp.main.srsql_profile AS p;

-- name: least_group
-- The smallest group that can hold each value that somebody holds: k theta >= 1.
SELECT max((q.theta_den + q.theta_num - 1) // q.theta_num)
FROM temp.main.srsql_theta AS q
WHERE
    q.theta_num > 0
    AND q.term_no IN (
        SELECT t.term_no
        FROM temp.main.srsql_case_term AS t
        SEMI JOIN temp.main.srsql_profile AS p ON t.case_no = p.case_no
    );

-- name: carriers
-- How many cases that are still to be grouped carry the bounds, and whether all do.
SELECT count(*) FILTER (WHERE p.carrier) AS carriers, bool_and(p.carrier) AS everybody
FROM temp.main.srsql_profile AS p;

-- name: outcome
-- Cases that are in groups, and cases that no group could take.
SELECT
    (SELECT count(*) FROM temp.main.srsql_grouped) AS grouped,
    (
        SELECT count(*) FROM temp.main.srsql_withheld AS w WHERE w.reason = 'no_group_fits'
    ) AS unplaced;

-- name: reasons
-- Why cases were withheld, the most frequent reason first.
SELECT w.reason, count(*) AS cases
FROM temp.main.srsql_withheld AS w
GROUP BY w.reason
UNION ALL
SELECT 'deleted' AS reason, count(DISTINCT d.case_id) AS cases
FROM temp.main.srsql_deleted AS d
ORDER BY cases DESC, reason ASC;
