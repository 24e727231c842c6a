-- The checks on several artifacts of one series together. Each returns how many things it looked
-- at, and where it fails, in words. Both bounds hold for the union of the groups with one region.
-- Backward and forward attacks exclude a case by a region of it that does not cover the target; if
-- every later region of a case covers its first one, no new case is excluded.
-- Source: SPEC section 16; Huang 2021, Definition 4: k new cases that no attack excludes in every
-- group, and sigma_s <= max(k, |new|) theta_s.
-- Of those who stay (stay k, stay theta): whoever was new in the earlier of two quarters is left by
-- every other attack, so that a class or cohort of which anybody is left keeps all its new ones.

-- name: carried
-- Of each artifact: its number, its cases, how many of them are in one of an earlier quarter, and
-- in the one just before it, where that is of the same quarter ($quarters, by number), else NULL.
WITH
shown AS MATERIALIZED (
    SELECT DISTINCT c.artifact, c.case_id, $quarters[c.artifact + 1] AS quarter
    FROM temp.main.srsql_case_region AS c
),

since AS (
    SELECT
        s.artifact,
        s.quarter,
        min(s.quarter) OVER (PARTITION BY s.case_id) AS first_quarter,
        b.case_id IS NOT NULL AS is_before
    FROM shown AS s
    LEFT JOIN shown AS b
        ON s.case_id = b.case_id AND s.artifact = b.artifact + 1 AND s.quarter = b.quarter
)

SELECT
    s.artifact,
    count(*) AS cases,
    count(*) FILTER (WHERE s.first_quarter < s.quarter) AS carried,
    CASE
        WHEN s.artifact > 0 AND s.quarter = $quarters[s.artifact]
            THEN count(*) FILTER (WHERE s.is_before)
    END AS in_version_before
FROM since AS s
GROUP BY s.artifact, s.quarter
ORDER BY s.artifact;

-- name: new_k
-- At least k cases of every region are in no earlier release.
WITH faults AS (
    SELECT
        n.quarter || ' region ' || n.region || ' has ' || n.cases || ' new case(s), k is ' || n.k
            AS place
    FROM temp.main.srsql_new_cases AS n
    WHERE n.cases < n.k
)

SELECT
    (SELECT count(*) FROM temp.main.srsql_new_cases) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: new_theta
-- Thresholds hold among the cases that are in no earlier release; a threshold of 1 bounds nothing.
WITH
claims AS (
    SELECT DISTINCT n.artifact FROM temp.main.srsql_new_cases AS n
),

value_counts AS MATERIALIZED (
    SELECT
        s.artifact,
        s.region,
        v.value,
        count(*) AS cases
    FROM temp.main.srsql_case_region AS s
    INNER JOIN claims AS c ON s.artifact = c.artifact
    INNER JOIN temp.main.srsql_case_value AS v
        ON s.artifact = v.artifact AND s.case_id = v.case_id
    GROUP BY s.artifact, s.region, v.value
),

faults AS (
    SELECT
        n.quarter || ' region ' || h.region || ': ' || h.cases || ' cases hold '
        || h.value || ', ' || n.cases || ' are new, its threshold is ' || t.theta_num || '/'
        || t.theta_den AS place
    FROM value_counts AS h
    INNER JOIN temp.main.srsql_new_cases AS n ON h.artifact = n.artifact AND h.region = n.region
    INNER JOIN temp.main.srsql_value_threshold AS t
        ON h.artifact = t.artifact AND h.value = t.value
    WHERE
        t.theta_num < t.theta_den
        AND h.cases::HUGEINT * t.theta_den > t.theta_num::HUGEINT * greatest(n.cases, n.k)
)

SELECT
    (SELECT count(*) FROM value_counts) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: cover
-- A later region of a case covers its first one. The hierarchies are $attributes, $nodes and
-- $ancestors, side by side; every node is its own ancestor.
WITH
claims AS (
    SELECT DISTINCT n.artifact, n.quarter FROM temp.main.srsql_new_cases AS n
),

node_ancestors AS MATERIALIZED (
    SELECT
        unnest($attributes::VARCHAR[]) AS attribute,
        unnest($nodes::VARCHAR[]) AS node,
        unnest($ancestors::VARCHAR[]) AS ancestor
),

later_regions AS MATERIALIZED (
    SELECT
        s.case_id,
        c.quarter,
        s.artifact,
        s.region,
        f.artifact AS first_artifact,
        b.region AS first_region
    FROM temp.main.srsql_case_region AS s
    INNER JOIN claims AS c ON s.artifact = c.artifact
    INNER JOIN temp.main.srsql_first_artifact AS f
        ON s.case_id = f.case_id AND s.artifact > f.artifact
    INNER JOIN temp.main.srsql_case_region AS b
        ON f.case_id = b.case_id AND f.artifact = b.artifact
),

faults AS (
    SELECT
        a.quarter || ' case ' || a.case_id || ': ' || late.attribute
        || ' does not cover its first region, ' || a.first_region AS place
    FROM later_regions AS a
    INNER JOIN temp.main.srsql_series_region AS late
        ON a.artifact = late.artifact AND a.region = late.region
    INNER JOIN temp.main.srsql_series_region AS early
        ON
            a.first_artifact = early.artifact
            AND a.first_region = early.region
            AND late.attribute = early.attribute
    LEFT JOIN node_ancestors AS u
        ON late.attribute = u.attribute AND early.node = u.node AND late.node = u.ancestor
    WHERE CASE
        WHEN late.node IS NOT NULL THEN u.node IS NULL
        WHEN late.low IS NULL THEN false
        ELSE early.low IS NULL OR early.low < late.low OR early.high > late.high
    END
)

SELECT
    (SELECT count(*) FROM later_regions) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: stay_k
-- The cases of a region who are in the next quarter, and those who are not, have k that are new
-- among them; those of a region who had one region in the quarter before have k who were new there.
WITH
classes AS (
    SELECT DISTINCT s.quarter, s.k, s.artifact, s.before_artifact, s.region, s.beside, s.new_cases
    FROM temp.main.srsql_stay_class AS s
),

faults AS (
    SELECT
        c.quarter || ' region ' || c.region || ': of those ' || c.beside || ' ' || c.new_cases
        || ' case(s) were new, k is ' || c.k AS place
    FROM classes AS c
    WHERE c.new_cases < c.k
)

SELECT
    (SELECT count(*) FROM classes) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;

-- name: stay_theta
-- Of each of these classes and cohorts no more hold a value than its threshold allows of those who
-- were new; a threshold of 1 bounds nothing.
WITH
value_counts AS MATERIALIZED (
    SELECT
        s.quarter,
        s.k,
        s.artifact,
        s.before_artifact,
        s.region,
        s.beside,
        s.new_cases,
        v.value,
        count(*) AS cases
    FROM temp.main.srsql_stay_class AS s
    INNER JOIN temp.main.srsql_case_value AS v
        ON s.artifact = v.artifact AND s.case_id = v.case_id
    GROUP BY
        s.quarter, s.k, s.artifact, s.before_artifact, s.region, s.beside, s.new_cases, v.value
),

faults AS (
    SELECT
        h.quarter || ' region ' || h.region || ': of those ' || h.beside || ' ' || h.cases
        || ' cases hold ' || h.value || ', ' || h.new_cases || ' were new, its threshold is '
        || t.theta_num || '/' || t.theta_den AS place
    FROM value_counts AS h
    INNER JOIN temp.main.srsql_value_threshold AS t
        ON h.artifact = t.artifact AND h.value = t.value
    WHERE
        t.theta_num < t.theta_den
        AND h.cases::HUGEINT * t.theta_den > t.theta_num::HUGEINT * greatest(h.new_cases, h.k)
)

SELECT
    (SELECT count(*) FROM value_counts) AS total,
    (SELECT list(f.place ORDER BY f.place) FROM faults AS f) AS places;
