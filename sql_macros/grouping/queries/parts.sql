-- The cases of a missingness pattern ($pattern, a bit mask of QIDs) are grouped part by part. What
-- goes to whoever carries a part is one row; there the table is called srsql_part_row.

-- name: none
-- No pattern is cut yet; part 0 is of all cases whose pattern is not.
CREATE OR REPLACE TEMP TABLE srsql_part (case_no INTEGER NOT NULL, part INTEGER NOT NULL);

-- name: forget
-- What the pattern was cut into before it took cases of another one, or gave its own to one.
DELETE FROM temp.main.srsql_part AS s
WHERE s.case_no IN (
    SELECT p.case_no FROM temp.main.srsql_profile AS p WHERE p.pattern = $pattern
);

-- name: cut
-- Cuts the pattern into $most parts at most, if it can be cut at all; parts are numbered on.
INSERT INTO temp.main.srsql_part
WITH
found AS MATERIALIZED (
    SELECT c.case_no, c.part
    FROM srsql.parts_of(
        'temp.main.srsql_profile',
        'temp.main.srsql_bounded',
        'temp.main.srsql_attribute',
        $pattern,
        $most::INTEGER,
        $at_least
    ) AS c
)

SELECT
    f.case_no,
    f.part + 1 + (SELECT coalesce(max(s.part), 0) FROM temp.main.srsql_part AS s) AS part
FROM found AS f
WHERE (SELECT count(DISTINCT c.part) FROM found AS c) > 1;

-- name: is_cut
-- Whether it could be, and into how many.
SELECT count(DISTINCT s.part)
FROM temp.main.srsql_part AS s
SEMI JOIN temp.main.srsql_profile AS p ON s.case_no = p.case_no AND p.pattern = $pattern;

-- name: part_cases
-- The cases of its parts, part by part, in no group yet.
WITH members AS MATERIALIZED (
    SELECT s.part, p.case_no, p.pattern AS known, p.carrier, p.kind, -1 AS group_no
    FROM temp.main.srsql_profile AS p
    INNER JOIN temp.main.srsql_part AS s ON p.case_no = s.case_no
    WHERE p.pattern = $pattern
)

SELECT r.part, r.cases, r.boxes, r.terms
FROM srsql.part_rows('members', 'temp.main.srsql_bounded', 'temp.main.srsql_case_term') AS r
ORDER BY r.part;

-- name: group_part
-- Where a part is carried: its groups, by the greedy clustering.
WITH
profiles AS MATERIALIZED (
    SELECT c.one.case_no, c.one.known AS pattern, c.one.carrier, c.one.kind
    FROM (
        SELECT unnest(p.cases) AS one FROM temp.main.srsql_part_row AS p
    ) AS c
),

boxes AS MATERIALIZED (
    SELECT unnest(p.boxes, recursive := true) FROM temp.main.srsql_part_row AS p
),

held AS MATERIALIZED (
    SELECT unnest(p.terms, recursive := true) FROM temp.main.srsql_part_row AS p
)

SELECT t.part, g.case_no, g.group_no, $pattern::INTEGER AS pattern
FROM srsql.group_cases(
    'profiles',
    'boxes',
    'held',
    'temp.main.srsql_attribute',
    'temp.main.srsql_theta',
    $pattern,
    $weight_scale,
    $k,
    (SELECT $draw::BIGINT + p.part FROM temp.main.srsql_part_row AS p),
    $leftovers,
    $rules
) AS g
CROSS JOIN temp.main.srsql_part_row AS t;

-- name: take_groups
-- What came back of all parts: groups are numbered on, part by part.
INSERT INTO temp.main.srsql_grouped
WITH
numbered AS (
    SELECT coalesce(max(g.group_no) + 1, 0) AS start FROM temp.main.srsql_grouped AS g
),

groups AS (
    SELECT
        c.part,
        c.group_no,
        row_number() OVER (ORDER BY c.part, c.group_no) - 1 AS place
    FROM temp.main.srsql_carried AS c
    WHERE c.group_no >= 0
    GROUP BY c.part, c.group_no
)

SELECT c.case_no, coalesce(g.place + n.start, -1)::INTEGER AS group_no, c.pattern
FROM temp.main.srsql_carried AS c
CROSS JOIN numbered AS n
LEFT JOIN groups AS g ON c.part = g.part AND c.group_no = g.group_no
ORDER BY c.part, c.case_no;

-- name: leftovers
-- How many cases of the pattern no group of their part could take.
SELECT count(*) FROM temp.main.srsql_grouped AS g
WHERE g.pattern = $pattern AND g.group_no < 0;

-- name: leave_parts
-- These are of no part any more.
DELETE FROM temp.main.srsql_part AS s
WHERE s.case_no IN (
    SELECT g.case_no FROM temp.main.srsql_grouped AS g
    WHERE g.pattern = $pattern AND g.group_no < 0
);

-- name: second_round
-- They join groups of all parts (Lin 2016, Algorithm 2); where no part has a group, the pattern is
-- grouped as if it were not cut.
CREATE OR REPLACE TEMP TABLE srsql_grouped AS
WITH
standing AS MATERIALIZED (
    SELECT g.case_no, g.group_no FROM temp.main.srsql_grouped AS g WHERE g.pattern = $pattern
),

others AS MATERIALIZED (
    SELECT g.case_no, g.group_no, g.pattern
    FROM temp.main.srsql_grouped AS g
    WHERE g.pattern <> $pattern
),

numbered AS (
    SELECT coalesce(max(o.group_no) + 1, 0) AS start FROM others AS o
)

SELECT o.case_no, o.group_no, o.pattern
FROM others AS o
UNION ALL
SELECT
    g.case_no,
    CASE WHEN g.group_no < 0 THEN -1 ELSE g.group_no + n.start END AS group_no,
    $pattern::INTEGER AS pattern
FROM srsql.group_onto(
    'temp.main.srsql_profile',
    'standing',
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

-- name: withheld
-- How many cases are withheld.
SELECT count(*) FROM temp.main.srsql_withheld;

-- name: group_cases
-- The cases of all groups, by the part that the group is of (0: its pattern was not cut).
WITH
part_of AS (
    SELECT g.group_no, coalesce(max(s.part), 0) AS part
    FROM temp.main.srsql_grouped AS g
    LEFT JOIN temp.main.srsql_part AS s ON g.case_no = s.case_no
    GROUP BY g.group_no
),

members AS MATERIALIZED (
    SELECT o.part, g.case_no, r.known, r.carrier, r.kind, g.group_no
    FROM temp.main.srsql_grouped AS g
    INNER JOIN part_of AS o ON g.group_no = o.group_no
    INNER JOIN temp.main.srsql_role AS r ON g.case_no = r.case_no
)

SELECT r.part, r.cases, r.boxes, r.terms
FROM srsql.part_rows('members', 'temp.main.srsql_bounded', 'temp.main.srsql_case_term') AS r
ORDER BY r.part;

-- name: refine_part
-- Where a part is carried: its groups, refined.
WITH
placed AS MATERIALIZED (
    SELECT
        c.one.case_no,
        c.one.known,
        c.one.carrier,
        c.one.kind,
        dense_rank() OVER (ORDER BY c.one.group_no) - 1 AS group_no
    FROM (
        SELECT unnest(p.cases) AS one FROM temp.main.srsql_part_row AS p
    ) AS c
),

boxes AS MATERIALIZED (
    SELECT unnest(p.boxes, recursive := true) FROM temp.main.srsql_part_row AS p
),

held AS MATERIALIZED (
    SELECT unnest(p.terms, recursive := true) FROM temp.main.srsql_part_row AS p
),

thresholds AS MATERIALIZED (
    SELECT q.term_no, q.theta_num, q.theta_den, 0 AS attribute_no FROM temp.main.srsql_theta AS q
)

SELECT t.part, f.case_no, f.group_no, f.pattern
FROM srsql.refine_groups(
    'placed',
    'boxes',
    'held',
    'temp.main.srsql_attribute',
    'thresholds',
    $weight_scale,
    $k,
    $rules
) AS f
CROSS JOIN temp.main.srsql_part_row AS t;

-- name: drop_groups
-- Refined groups take the place of those that there were.
DELETE FROM temp.main.srsql_grouped;
