-- The checks on the rows of one artifact. Each returns how many things it looked at, and where it
-- fails, in words. They run on a connection of their own that knows no warehouse, and share nothing
-- with what makes or checks a release.
-- Source: SPEC section 16; Lin 2016, Definition 3.

-- name: ids
-- A report has one row and a case id, and its child rows name it with its case.
WITH faults AS (
    SELECT
        'report ' || coalesce(r.report_id::VARCHAR, 'without id') || ' has '
        || count(*) || ' row(s), ' || count(r.case_id) || ' with a case id' AS place
    FROM temp.main.srsql_report_row AS r
    GROUP BY r.report_id
    HAVING count(*) > 1 OR r.report_id IS NULL OR count(r.case_id) < count(*)
    UNION ALL
    SELECT
        c.table_name || ' row ' || (c.position + 1) || ': report '
        || coalesce(c.report_id::VARCHAR, 'NULL') || ' of case '
        || coalesce(c.case_id::VARCHAR, 'NULL') || ' is not in the report table' AS place
    FROM temp.main.srsql_child_row AS c
    ANTI JOIN temp.main.srsql_report_row AS r
        ON c.report_id = r.report_id AND c.case_id = r.case_id
)

SELECT
    (SELECT count(*) FROM temp.main.srsql_report_row)
    + (SELECT count(*) FROM temp.main.srsql_child_row) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: order
-- Rows stand in the order of their ids, so that their place tells nothing (no group).
WITH
placed AS (
    SELECT 'reports' AS table_name, r.position, r.report_id FROM temp.main.srsql_report_row AS r
    UNION ALL
    SELECT c.table_name, c.position, c.report_id FROM temp.main.srsql_child_row AS c
),

neighbours AS (
    SELECT
        p.table_name,
        p.position,
        p.report_id,
        lag(p.report_id) OVER (PARTITION BY p.table_name ORDER BY p.position) AS before
    FROM placed AS p
),

faults AS (
    SELECT
        n.table_name || ' row ' || (n.position + 1) || ': report '
        || n.report_id::VARCHAR || ' stands after ' || n.before::VARCHAR AS place
    FROM neighbours AS n
    WHERE n.report_id < n.before
)

SELECT
    (SELECT count(*) FROM placed) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: period
-- Every report belongs to the quarter of the artifact.
WITH faults AS (
    SELECT
        'report ' || r.report_id::VARCHAR || ' is of ' || coalesce(r.period, 'NULL') AS place
    FROM temp.main.srsql_report_row AS r
    WHERE r.period IS DISTINCT FROM $quarter::VARCHAR
)

SELECT
    (SELECT count(*) FROM temp.main.srsql_report_row) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: counts
-- There are as many cases and reports as the manifest says.
WITH
sizes AS (
    SELECT
        'reports' AS what,
        (SELECT count(*) FROM temp.main.srsql_report_row) AS found,
        $reports::BIGINT AS claimed
    UNION ALL
    SELECT
        'cases' AS what,
        (SELECT count(DISTINCT r.case_id) FROM temp.main.srsql_report_row AS r) AS found,
        $cases::BIGINT AS claimed
),

faults AS (
    SELECT
        s.what || ': ' || s.found || ' in the rows, ' || s.claimed || ' in the manifest' AS place
    FROM sizes AS s
    WHERE s.found <> s.claimed
)

SELECT
    2 AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: one_region
-- All reports of a case are released with the same region (super-records).
WITH faults AS (
    SELECT 'case ' || p.case_id || ' has ' || count(*) || ' regions' AS place
    FROM temp.main.srsql_case_region AS p
    GROUP BY p.case_id
    HAVING count(*) > 1
)

SELECT
    (SELECT count(DISTINCT p.case_id) FROM temp.main.srsql_case_region AS p) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: create_region_size
-- How many cases share each published region.
CREATE OR REPLACE TEMP TABLE srsql_region_size AS
SELECT
    p.region,
    count(*) AS cases,
    row_number() OVER (ORDER BY p.region) AS region_no
FROM temp.main.srsql_case_region AS p
GROUP BY p.region;

-- name: k
-- At least k distinct cases share every published region (Lin 2016, Definition 3 (1)).
WITH faults AS (
    SELECT
        'region ' || c.region || ' is shared by ' || c.cases || ' case(s), k is ' || $k::BIGINT
            AS place
    FROM temp.main.srsql_region_size AS c
    WHERE c.cases < $k::BIGINT
)

SELECT
    (SELECT count(*) FROM temp.main.srsql_region_size) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: union_candidates
-- How many cases there are, how many share their region with fewer than k, and how many with
-- nobody.
SELECT
    coalesce(sum(c.cases), 0) AS cases,
    coalesce(sum(c.cases) FILTER (WHERE c.cases < $k::BIGINT), 0) AS below_k,
    count(*) FILTER (WHERE c.cases = 1) AS alone
FROM temp.main.srsql_region_size AS c;

-- name: least_group
-- The smallest group that can hold every value with a threshold: the most that one of them needs.
SELECT max((t.theta_den + t.theta_num - 1) // t.theta_num)
FROM temp.main.srsql_value_threshold AS t
WHERE t.theta_num > 0;

-- name: held_items
-- Of shown_item(case_id, attribute, term): how many cases have an item; and how many of them hold
-- one that nobody else holds, or fewer than $k do, in the whole release and in their region.
WITH
held AS (
    SELECT
        s.case_id,
        count(*) OVER (PARTITION BY s.attribute, s.term) AS holders,
        count(*) OVER (PARTITION BY s.attribute, s.term, c.region) AS holders_there
    FROM shown_item AS s
    INNER JOIN temp.main.srsql_case_region AS c ON s.case_id = c.case_id
),

least AS (
    SELECT
        h.case_id,
        min(h.holders) AS holders,
        min(h.holders_there) AS holders_there
    FROM held AS h
    GROUP BY h.case_id
)

SELECT
    count(*) AS cases,
    count(*) FILTER (WHERE l.holders = 1) AS alone,
    count(*) FILTER (WHERE l.holders < $k::BIGINT) AS below_k,
    count(*) FILTER (WHERE l.holders_there = 1) AS alone_there,
    count(*) FILTER (WHERE l.holders_there < $k::BIGINT) AS below_k_there
FROM least AS l;

-- name: create_set_region
-- What rows show of sets of quasi-identifiers that are protected each by itself.
CREATE TEMP TABLE IF NOT EXISTS srsql_set_region (
    artifact INTEGER, region VARCHAR, case_id VARCHAR, set_name VARCHAR
);

-- name: regions_of_set
-- Has regions be what rows show of the set $set_name.
CREATE OR REPLACE TEMP TABLE srsql_case_region AS
SELECT s.artifact, s.region, s.case_id
FROM temp.main.srsql_set_region AS s
WHERE s.set_name = $set_name;

-- name: theta
-- No value is held by a larger share of a region's cases than its threshold (Lin 2016,
-- Definition 3 (2)); a value without a threshold is a breach.
WITH
value_counts AS MATERIALIZED (
    SELECT
        c.region_no,
        v.value,
        count(*) AS cases
    FROM temp.main.srsql_case_region AS p
    INNER JOIN temp.main.srsql_region_size AS c ON p.region = c.region
    INNER JOIN temp.main.srsql_case_value AS v ON p.case_id = v.case_id
    GROUP BY c.region_no, v.value
),

faults AS (
    SELECT
        'region ' || c.region || ': ' || h.cases || ' of ' || c.cases || ' cases hold '
        || h.value || coalesce(
            ', its threshold is ' || t.theta_num || '/' || t.theta_den, ', which has no threshold'
        ) AS place
    FROM value_counts AS h
    INNER JOIN temp.main.srsql_region_size AS c ON h.region_no = c.region_no
    LEFT JOIN temp.main.srsql_value_threshold AS t ON h.value = t.value
    WHERE t.value IS NULL OR h.cases::HUGEINT * t.theta_den > t.theta_num::HUGEINT * c.cases
)

SELECT
    (SELECT count(*) FROM value_counts) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: thresholds
-- Thresholds are only of values that a row shows, each once, between 0 and 1.
WITH faults AS (
    SELECT t.value || ' is in no row' AS place
    FROM temp.main.srsql_value_threshold AS t
    ANTI JOIN temp.main.srsql_case_value AS v ON t.value = v.value
    UNION ALL
    SELECT
        t.value || ' has the threshold ' || min(t.theta_num) || '/'
        || min(t.theta_den) || ', ' || count(*) || ' time(s)' AS place
    FROM temp.main.srsql_value_threshold AS t
    GROUP BY t.value
    HAVING
        count(*) > 1
        OR min(t.theta_num) < 0
        OR min(t.theta_den) < 1
        OR min(t.theta_num) > min(t.theta_den)
)

SELECT
    (SELECT count(*) FROM temp.main.srsql_value_threshold) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: spelling_cases
-- Every spelling of a released value that has a key, without white space at its ends, with the key
-- and how many cases have it; of each key the commonest first, of several the first.
WITH spelled AS (
    SELECT
        k.key,
        h.case_id,
        regexp_replace(regexp_replace(
            h.spelling, '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+', ''
        ), '[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$', '') AS spelling
    FROM temp.main.srsql_sensitive_cell AS h
    INNER JOIN temp.main.srsql_term_spelling AS k ON h.spelling = k.spelling
    WHERE k.key IS NOT NULL
)

SELECT s.key, s.spelling, count(DISTINCT s.case_id) AS cases
FROM spelled AS s
GROUP BY s.key, s.spelling
ORDER BY s.key ASC, cases DESC, s.spelling ASC;

-- name: value_cases
-- Every released value with its threshold, and how many cases hold it.
SELECT
    t.value,
    t.theta_num,
    t.theta_den,
    count(*) AS cases
FROM temp.main.srsql_value_threshold AS t
INNER JOIN temp.main.srsql_case_value AS v ON t.value = v.value
WHERE t.theta_den > 0
GROUP BY t.value, t.theta_num, t.theta_den
ORDER BY t.value;
