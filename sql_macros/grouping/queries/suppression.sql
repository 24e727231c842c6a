-- Sensitive values that are suppressed so that cases can stay (see srsql.suppress_surplus). Values
-- and their bounds are in temp.main.srsql_case_term and temp.main.srsql_theta, or in the tables
-- that stand in their places, in which a value weighs $factor times as much.

-- name: suppress_surplus
-- Suppresses what no grouping of a pattern ($pattern, NULL: of all cases) could keep below its
-- bound, as far as cases may lose it.
INSERT INTO temp.main.srsql_suppressed
WITH
present AS MATERIALIZED (
    SELECT p.case_no, p.carrier
    FROM temp.main.srsql_profile AS p
    WHERE $pattern::INTEGER IS NULL OR p.pattern = $pattern::INTEGER
),

excess AS MATERIALIZED (
    SELECT
        i.term_no,
        (
            i.weight
            - q.theta_num::HUGEINT * i.total * $weight_scale::HUGEINT // q.theta_den
        )::BIGINT AS excess
    FROM srsql.infeasible(
        'temp.main.srsql_case_term', 'temp.main.srsql_theta', 'present', $weight_scale
    ) AS i
    INNER JOIN temp.main.srsql_theta AS q ON i.term_no = q.term_no
),

may_lose AS MATERIALIZED (
    SELECT l.case_no, l.term_no, l.freed * $factor::BIGINT AS freed
    FROM temp.main.srsql_losable AS l
    SEMI JOIN present AS p ON l.case_no = p.case_no
    ANTI JOIN temp.main.srsql_suppressed AS s ON l.case_no = s.case_no AND l.term_no = s.term_no
),

slot AS MATERIALIZED (
    SELECT t.case_no, t.term_no, t.slot_no
    FROM temp.main.srsql_slot AS t
    ANTI JOIN temp.main.srsql_suppressed AS s ON t.case_no = s.case_no AND t.term_no = s.term_no
)

SELECT s.case_no, s.term_no
FROM srsql.suppress_surplus('excess', 'may_lose', 'slot', $draw) AS s;

-- name: suppress_leftovers
-- Lets cases that were withheld for $reasons join groups of a pattern ($pattern) whose QIDs they
-- know, for the least number of suppressed values; in srsql_placed until they are taken in.
CREATE OR REPLACE TEMP TABLE srsql_placed AS
WITH
waiting AS (
    SELECT DISTINCT w.case_no
    FROM temp.main.srsql_withheld AS w
    INNER JOIN srsql.known_qids('temp.main.srsql_bounded') AS b ON w.case_no = b.case_no
    WHERE
        list_contains($reasons::VARCHAR[], w.reason)
        AND b.known & $pattern::INTEGER = $pattern::INTEGER
),

member AS MATERIALIZED (
    SELECT r.case_no, r.carrier, r.kind, coalesce(g.group_no, -1) AS group_no
    FROM temp.main.srsql_role AS r
    LEFT JOIN temp.main.srsql_grouped AS g
        ON r.case_no = g.case_no AND g.pattern = $pattern::INTEGER
    LEFT JOIN waiting AS w ON r.case_no = w.case_no
    WHERE g.case_no IS NOT NULL OR w.case_no IS NOT NULL
),

may_lose AS MATERIALIZED (
    SELECT l.case_no, l.term_no, l.freed
    FROM temp.main.srsql_losable AS l
    ANTI JOIN temp.main.srsql_suppressed AS s ON l.case_no = s.case_no AND l.term_no = s.term_no
),

slot AS MATERIALIZED (
    SELECT t.case_no, t.term_no, t.slot_no
    FROM temp.main.srsql_slot AS t
    ANTI JOIN temp.main.srsql_suppressed AS s ON t.case_no = s.case_no AND t.term_no = s.term_no
)

SELECT s.case_no, s.group_no, s.term_no
FROM srsql.suppress_leftovers(
    'member',
    'temp.main.srsql_bounded',
    'temp.main.srsql_case_term',
    'temp.main.srsql_attribute',
    'temp.main.srsql_theta',
    'may_lose',
    'slot',
    $pattern,
    $weight_scale,
    $k,
    $draw,
    $rules
) AS s;

-- name: waiting
-- How many cases are withheld for $reasons.
SELECT count(*) FROM temp.main.srsql_withheld AS w
WHERE list_contains($reasons::VARCHAR[], w.reason);

-- name: patterns
-- The patterns that have groups, most QIDs first.
SELECT DISTINCT g.pattern, bit_count(g.pattern) AS qids
FROM temp.main.srsql_grouped AS g
ORDER BY qids DESC, g.pattern ASC;

-- name: join_groups
-- Those that were placed join their groups of the pattern.
INSERT INTO temp.main.srsql_grouped
SELECT p.case_no, p.group_no, $pattern::INTEGER
FROM temp.main.srsql_placed AS p
WHERE p.group_no >= 0;

-- name: not_withheld
-- Those that were placed are not withheld any more.
DELETE FROM temp.main.srsql_withheld AS w
WHERE w.case_no IN (SELECT p.case_no FROM temp.main.srsql_placed AS p WHERE p.group_no >= 0);

-- name: keep_suppressed
-- What was suppressed for them.
INSERT INTO temp.main.srsql_suppressed
SELECT p.case_no, p.term_no
FROM temp.main.srsql_placed AS p
WHERE p.term_no >= 0;

-- name: drop_values
-- What is suppressed of a case and not suggested by its drugs counts no more.
DELETE FROM temp.main.srsql_case_term AS b
WHERE
    EXISTS (
        SELECT 1 FROM temp.main.srsql_suppressed AS s
        WHERE s.case_no = b.case_no AND s.term_no = b.term_no
    )
    AND NOT EXISTS (
        SELECT 1 FROM temp.main.srsql_suggested AS e
        WHERE e.case_no = b.case_no AND e.term_no = b.term_no
    );

-- name: weigh_values
-- What its drugs suggest counts as that.
UPDATE temp.main.srsql_case_term AS b
SET weight = e.weight * $factor::BIGINT
FROM temp.main.srsql_suggested AS e
SEMI JOIN temp.main.srsql_suppressed AS s ON e.case_no = s.case_no AND e.term_no = s.term_no
WHERE b.case_no = e.case_no AND b.term_no = e.term_no;

-- name: hide_values
-- No row shows it.
UPDATE temp.main.srsql_case_term AS b
SET direct = false, shown = false
FROM temp.main.srsql_suppressed AS s
WHERE b.case_no = s.case_no AND b.term_no = s.term_no;

-- name: suppresses
-- Whether anything is suppressed.
SELECT count(*) > 0 FROM temp.main.srsql_suppressed;

-- name: hidden
-- Which terms are left out of which reports: every report of a case.
CREATE OR REPLACE TEMP TABLE srsql_hidden AS
SELECT c.report_id, t.term
FROM temp.main.srsql_suppressed AS s
INNER JOIN temp.main.srsql_grouped AS g ON s.case_no = g.case_no
INNER JOIN temp.main.srsql_case_report AS c ON s.case_no = c.case_no
INNER JOIN temp.main.srsql_term AS t ON s.term_no = t.term_no;
