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

-- name: group_ahead
-- The same of several patterns at a time, before it is known whether others give their cases to
-- one of them.
CREATE OR REPLACE TEMP TABLE srsql_ahead AS
WITH problems AS MATERIALIZED (
    SELECT unnest($problems, recursive := true)
)

SELECT g.pattern, g.case_no, g.group_no
FROM srsql.group_patterns(
    'temp.main.srsql_profile',
    'temp.main.srsql_bounded',
    'temp.main.srsql_case_term',
    'temp.main.srsql_attribute',
    'temp.main.srsql_theta',
    'problems',
    $weight_scale,
    $leftovers,
    $rules
) AS g;

-- name: take_ahead
-- Takes what became of one of them; groups are numbered on.
INSERT INTO temp.main.srsql_grouped
WITH numbered AS (
    SELECT coalesce(max(g.group_no) + 1, 0) AS start FROM temp.main.srsql_grouped AS g
)

SELECT
    a.case_no,
    CASE WHEN a.group_no < 0 THEN -1 ELSE a.group_no + n.start END AS group_no,
    $pattern AS pattern
FROM temp.main.srsql_ahead AS a
CROSS JOIN numbered AS n
WHERE a.pattern = $pattern
ORDER BY a.case_no;

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

-- name: refine_groups
-- Groups of all patterns are refined, and cases that were withheld for $reasons are placed. A group
-- shows the QIDs that all its members can be grouped by.
CREATE OR REPLACE TEMP TABLE srsql_grouped AS
WITH
placed AS MATERIALIZED (
    SELECT c.case_no, c.known, c.carrier, c.kind, c.group_no
    FROM srsql.cases_to_refine(
        'temp.main.srsql_role',
        'temp.main.srsql_grouped',
        'temp.main.srsql_withheld',
        $reasons
    ) AS c
),

thresholds AS MATERIALIZED (
    SELECT q.term_no, q.theta_num, q.theta_den, 0 AS attribute_no
    FROM temp.main.srsql_theta AS q
)

SELECT f.case_no, f.group_no, f.pattern
FROM srsql.refine_groups(
    'placed',
    'temp.main.srsql_bounded',
    'temp.main.srsql_case_term',
    'temp.main.srsql_attribute',
    'thresholds',
    $weight_scale,
    $k,
    $rules
) AS f
WHERE f.group_no >= 0;

-- name: refine_partition
-- The same of groups that keep l values of each sensitive attribute (l-diversity): what is bounded
-- there are not the shares of values, but how many there are.
CREATE OR REPLACE TEMP TABLE srsql_grouped AS
WITH
placed AS MATERIALIZED (
    SELECT c.case_no, c.known, c.carrier, c.kind, c.group_no
    FROM srsql.cases_to_refine(
        'temp.main.srsql_role',
        'temp.main.srsql_grouped',
        'temp.main.srsql_withheld',
        $reasons
    ) AS c
),

held AS MATERIALIZED (
    SELECT v.case_no, v.value_no AS term_no, 1::BIGINT AS weight
    FROM temp.main.srsql_value AS v
),

thresholds AS MATERIALIZED (
    SELECT DISTINCT v.value_no AS term_no, 1 AS theta_num, 1 AS theta_den, v.attribute_no
    FROM temp.main.srsql_value AS v
)

SELECT f.case_no, f.group_no, f.pattern
FROM srsql.refine_groups(
    'placed',
    'temp.main.srsql_bounded',
    'held',
    'temp.main.srsql_attribute',
    'thresholds',
    $weight_scale,
    $k,
    $rules
) AS f
WHERE f.group_no >= 0;

-- name: drop_placed
-- What has a group is not withheld.
DELETE FROM temp.main.srsql_withheld AS w
WHERE w.case_no IN (SELECT g.case_no FROM temp.main.srsql_grouped AS g);
