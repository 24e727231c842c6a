-- Step: puts the groups of several sets of quasi-identifiers together. A case is in one group of
--   each set; cases that share all of them are a group of the release, and its region shows at each
--   position the hull of the group of the set that the position belongs to ($owners: number of the
--   set, by position; 0: blocks, which hold what several sets share). What is no longer needed is
--   as it was before.
-- Reads: set_grouped(set_no, case_no, group_no, pattern), set_profile(case_no, pattern, known,
--   carrier, kind), set_bounded(case_no, position, low, high), set_withheld(case_no, reason), node
-- Writes: grouped(case_no, group_no, pattern), region(group_no, position, low, high),
--   profile(case_no, pattern, known, carrier, kind), bounded(case_no, position, low, high),
--   role(case_no, known), withheld(case_no, reason)
-- Source: docs/models.md (several sets of quasi-identifiers).

CREATE OR REPLACE TEMP TABLE srsql_withheld AS
SELECT w.case_no, w.reason FROM temp.main.srsql_set_withheld AS w;

CREATE OR REPLACE TEMP TABLE srsql_profile AS
SELECT p.* FROM temp.main.srsql_set_profile AS p
ANTI JOIN temp.main.srsql_withheld AS w ON p.case_no = w.case_no;

CREATE OR REPLACE TEMP TABLE srsql_bounded AS
SELECT b.* FROM temp.main.srsql_set_bounded AS b;

UPDATE temp.main.srsql_role AS r
SET known = k.known
FROM srsql.known_qids('temp.main.srsql_bounded') AS k
WHERE r.case_no = k.case_no;

CREATE OR REPLACE TEMP TABLE srsql_grouped AS
WITH placed AS (
    SELECT
        g.case_no,
        list(g.group_no ORDER BY g.set_no) AS group_nos,
        bit_or(g.pattern)::INTEGER AS pattern
    FROM temp.main.srsql_set_grouped AS g
    GROUP BY g.case_no
)

SELECT
    p.case_no,
    (dense_rank() OVER (ORDER BY p.group_nos) - 1)::INTEGER AS group_no,
    p.pattern
FROM placed AS p;

CREATE OR REPLACE TEMP TABLE srsql_region AS
WITH
-- every group of every set has a number of its own
numbered AS MATERIALIZED (
    SELECT
        g.case_no,
        g.set_no,
        (dense_rank() OVER (ORDER BY g.set_no, g.group_no))::INTEGER AS group_no,
        g.pattern
    FROM temp.main.srsql_set_grouped AS g
),

hull AS MATERIALIZED (
    SELECT h.group_no, h.position, h.low, h.high
    FROM srsql.group_hull('numbered', 'temp.main.srsql_bounded') AS h
),

enclosed AS MATERIALIZED (
    SELECT e.group_no, e.position, e.low, e.high
    FROM srsql.enclosing_node('hull', 'temp.main.srsql_node') AS e
),

owners AS (
    SELECT
        unnest($owners::INTEGER[]) AS set_no,
        generate_subscripts($owners::INTEGER[], 1) - 1 AS position
),

parts AS (
    SELECT DISTINCT g.group_no, n.set_no, n.group_no AS part_no
    FROM temp.main.srsql_grouped AS g
    INNER JOIN numbered AS n ON g.case_no = n.case_no
)

SELECT p.group_no, e.position, e.low, e.high
FROM parts AS p
INNER JOIN owners AS o ON p.set_no = o.set_no
INNER JOIN enclosed AS e ON p.part_no = e.group_no AND o.position = e.position;
