-- The cases of one missingness pattern ($pattern, a bit mask of QIDs) become groups.

-- name: sizes
-- Every pattern that has cases, and how many.
SELECT p.pattern, count(*) AS cases
FROM temp.main.srsql_profile AS p
GROUP BY p.pattern;

-- name: carriers
-- How many of its cases carry the bounds.
SELECT count(*) FROM temp.main.srsql_profile AS p WHERE p.pattern = $pattern AND p.carrier;

-- name: group_cases
-- Greedy clustering (Lin 2016, Algorithms 1 and 2; Huang 2021, procedures 1 to 3). Groups are
-- numbered on; a case that none could take is in group -1 until it is withheld.
INSERT INTO temp.main.srsql_grouped
WITH numbered AS (
    SELECT coalesce(max(g.group_no) + 1, 0) AS start FROM temp.main.srsql_grouped AS g
)

SELECT
    g.case_no,
    CASE WHEN g.group_no < 0 THEN -1 ELSE g.group_no + n.start END AS group_no,
    $pattern AS pattern
FROM srsql.group_cases(
    'temp.main.srsql_profile',
    'temp.main.srsql_bounded',
    'temp.main.srsql_case_term',
    'temp.main.srsql_attribute',
    'temp.main.srsql_theta',
    $pattern,
    $weight_scale,
    $k,
    $draw,
    $leftovers,
    $rules
) AS g
CROSS JOIN numbered AS n;

-- name: partition_cases
-- Partitioning from the top down until no part could be split and keep $least values of each of
-- $attributes (Gal et al. 2008); numbered as above.
INSERT INTO temp.main.srsql_grouped
WITH
kinds AS MATERIALIZED (
    SELECT DISTINCT v.value_no, v.attribute_no FROM temp.main.srsql_value AS v
),

sensitive AS MATERIALIZED (
    SELECT unnest(range($attributes)) AS attribute_no
),

numbered AS (
    SELECT coalesce(max(g.group_no) + 1, 0) AS start FROM temp.main.srsql_grouped AS g
)

SELECT
    g.case_no,
    CASE WHEN g.group_no < 0 THEN -1 ELSE g.group_no + n.start END AS group_no,
    $pattern AS pattern
FROM srsql.partition_cases(
    'temp.main.srsql_profile',
    'temp.main.srsql_bounded',
    'temp.main.srsql_value',
    'kinds',
    'sensitive',
    'temp.main.srsql_attribute',
    $pattern,
    $least
) AS g
CROSS JOIN numbered AS n;

-- name: has_groups
-- Whether the pattern could be grouped at all.
SELECT count(*) > 0
FROM temp.main.srsql_grouped AS g
WHERE g.pattern = $pattern AND g.group_no >= 0;

-- name: withhold_unplaced
-- Withholds what no group could take.
INSERT INTO temp.main.srsql_withheld
SELECT g.case_no, 'no_group_fits'
FROM temp.main.srsql_grouped AS g
WHERE g.group_no < 0;

-- name: drop_unplaced
-- What no group could take is in none.
DELETE FROM temp.main.srsql_grouped WHERE group_no < 0;

-- name: move
-- All its cases go to the pattern $target.
UPDATE temp.main.srsql_profile SET pattern = $target WHERE pattern = $pattern;

-- name: withhold
-- All its cases are withheld, for $reason.
INSERT INTO temp.main.srsql_withheld
SELECT p.case_no, $reason
FROM temp.main.srsql_profile AS p
WHERE p.pattern = $pattern;

-- name: drop_pattern
-- None of its cases is to be grouped any more.
DELETE FROM temp.main.srsql_profile WHERE pattern = $pattern;

-- name: one_group
-- All cases in one group under no QID, if they are $k at least.
INSERT INTO temp.main.srsql_grouped
SELECT p.case_no, 0, 0
FROM temp.main.srsql_profile AS p
WHERE (SELECT count(*) FROM temp.main.srsql_profile) >= $k;
