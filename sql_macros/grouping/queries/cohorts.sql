-- Grouping those who stay (model ppms-stay): units of cases that share a group or are withheld.

-- name: withhold_cohorts
-- Withholds the cohorts that cannot be released as a whole: of which somebody is missing, or that
-- have fewer than $k new cases, or more of a value than theta. Why a case is withheld of which
-- another one is missing follows from that: 'cohort_incomplete'.
INSERT INTO temp.main.srsql_withheld
WITH
own_cohort AS MATERIALIZED (
    SELECT u.unit_no, u.cases, u.new_cases FROM temp.main.srsql_cohort AS u
),

present AS MATERIALIZED (
    SELECT c.unit_no, c.case_no
    FROM temp.main.srsql_cohort_case AS c
    SEMI JOIN temp.main.srsql_profile AS p ON c.case_no = p.case_no
),

found AS (
    SELECT p.unit_no, count(*) AS cases FROM present AS p GROUP BY p.unit_no
),

beyond AS MATERIALIZED (
    SELECT b.unit_no
    FROM srsql.cohorts_beyond_theta(
        'present', 'own_cohort', 'temp.main.srsql_case_term', 'temp.main.srsql_theta', $k,
        $weight_scale
    ) AS b
)

SELECT
    p.case_no,
    CASE
        WHEN f.cases < o.cases THEN 'cohort_incomplete'
        WHEN o.new_cases < $k THEN 'cohort_too_small'
        ELSE 'cohort_beyond_theta'
    END AS reason
FROM present AS p
INNER JOIN own_cohort AS o ON p.unit_no = o.unit_no
INNER JOIN found AS f ON p.unit_no = f.unit_no
LEFT JOIN beyond AS b ON p.unit_no = b.unit_no
WHERE f.cases < o.cases OR o.new_cases < $k OR b.unit_no IS NOT NULL;

-- name: create_staying
-- Every case that is still to be grouped, with its unit: its cohort, or itself. group_no: -1, none.
CREATE OR REPLACE TEMP TABLE srsql_staying AS
SELECT
    p.case_no,
    p.pattern AS known,
    NOT r.is_md AS goes_on,
    r.is_new,
    coalesce(
        c.unit_no,
        p.case_no + 1 + coalesce((SELECT max(u.unit_no) FROM temp.main.srsql_cohort_case AS u), 0)
    )::INTEGER AS unit_no,
    c.unit_no IS NOT NULL AS in_cohort,
    coalesce(bool_or(c.unit_no IS NOT NULL AND NOT r.is_md) OVER (PARTITION BY c.unit_no), false)
    AND c.unit_no IS NOT NULL AS with_goers,
    -1 AS group_no
FROM temp.main.srsql_profile AS p
INNER JOIN temp.main.srsql_role AS r ON p.case_no = r.case_no
LEFT JOIN temp.main.srsql_cohort_case AS c ON p.case_no = c.case_no;

-- name: open_groups
-- Groups around the cohorts of which somebody goes on, opened with new cases.
CREATE OR REPLACE TEMP TABLE srsql_staying AS
WITH
placed AS MATERIALIZED (
    SELECT s.case_no, s.known, s.goes_on, s.is_new, s.unit_no, s.group_no, s.is_new AS free
    FROM temp.main.srsql_staying AS s
    WHERE s.with_goers OR s.is_new
),

found AS MATERIALIZED (
    SELECT u.case_no, u.group_no
    FROM srsql.place_units(
        'placed', 'temp.main.srsql_bounded', 'temp.main.srsql_case_term',
        'temp.main.srsql_attribute', 'temp.main.srsql_theta', $weight_scale, $k
    ) AS u
)

SELECT s.* REPLACE (coalesce(f.group_no, s.group_no) AS group_no)
FROM temp.main.srsql_staying AS s
LEFT JOIN found AS f ON s.case_no = f.case_no;

-- name: lay_out_class
-- The profiles of the cases by themselves that have no group and ($goes_on) go on or stop.
CREATE OR REPLACE TEMP TABLE srsql_profile AS
SELECT p.case_no, p.pattern, p.known, p.carrier, p.kind
FROM temp.main.srsql_stay_profile AS p
INNER JOIN temp.main.srsql_staying AS s ON p.case_no = s.case_no
WHERE s.group_no < 0 AND NOT s.in_cohort AND s.goes_on = $goes_on;

-- name: take_class
-- Takes the groups of one class in; a group shows the QIDs of its pattern.
CREATE OR REPLACE TEMP TABLE srsql_staying AS
WITH numbered AS (
    SELECT coalesce(max(s.group_no) + 1, 0) AS start FROM temp.main.srsql_staying AS s
)

SELECT s.* REPLACE (
    coalesce(g.group_no + n.start, s.group_no) AS group_no,
    coalesce(g.pattern, s.known) AS known
)
FROM temp.main.srsql_staying AS s
LEFT JOIN temp.main.srsql_grouped AS g ON s.case_no = g.case_no
CROSS JOIN numbered AS n;

-- name: join_groups
-- The units that have no group yet join those that there are.
CREATE OR REPLACE TEMP TABLE srsql_staying AS
WITH
placed AS MATERIALIZED (
    SELECT s.case_no, s.known, s.goes_on, s.is_new, s.unit_no, s.group_no, false AS free
    FROM temp.main.srsql_staying AS s
),

found AS MATERIALIZED (
    SELECT u.case_no, u.group_no
    FROM srsql.place_units(
        'placed', 'temp.main.srsql_bounded', 'temp.main.srsql_case_term',
        'temp.main.srsql_attribute', 'temp.main.srsql_theta', $weight_scale, $k
    ) AS u
)

SELECT s.* REPLACE (f.group_no AS group_no)
FROM temp.main.srsql_staying AS s
INNER JOIN found AS f ON s.case_no = f.case_no;

-- name: group
-- The groups; each shows the QIDs that all its cases can be grouped by.
INSERT INTO temp.main.srsql_grouped
SELECT
    s.case_no,
    s.group_no,
    bit_and(s.known) OVER (PARTITION BY s.group_no)::INTEGER AS pattern
FROM temp.main.srsql_staying AS s
WHERE s.group_no >= 0;

-- name: withhold
-- Withholds what has no group; of those who go on in a quarter that has fewer than $k new ones of
-- them, since no group can hold any.
INSERT INTO temp.main.srsql_withheld
WITH going AS (
    SELECT count(*) AS cases
    FROM temp.main.srsql_staying AS s
    WHERE s.goes_on AND s.is_new
)

SELECT
    s.case_no,
    CASE
        WHEN (s.goes_on OR s.with_goers) AND n.cases < $k THEN 'too_few_who_go_on'
        WHEN s.in_cohort THEN 'no_group_for_cohort'
        ELSE 'no_group_fits'
    END AS reason
FROM temp.main.srsql_staying AS s
CROSS JOIN going AS n
WHERE s.group_no < 0;
