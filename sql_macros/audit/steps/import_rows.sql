-- Step: makes cases, groups and their terms of the rows of somebody else's table.
-- Reads: foreign_row(line, case_id, group_label), foreign_box(line, position, low, high),
--   foreign_value(line, attribute, term)
-- Writes: foreign_place(line, case_no, case_id, reports, case_line, group_label, ends, key,
--   group_line, group_id), foreign_term(case_no, attribute, term)
-- Source: SPEC section 2 (super-record, group), section 9.

-- Every row with its case and its whole region; key is its group: the label that the file gives it,
-- else the region. case_line, group_line: the first rows of both.
CREATE OR REPLACE TEMP TABLE srsql_foreign_place AS
WITH
-- In the order of their ids: numeric where ids are numbers.
cases AS (
    SELECT
        (row_number() OVER (
            ORDER BY try_cast(r.case_id AS HUGEINT) NULLS LAST, r.case_id
        ) - 1)::INTEGER AS case_no,
        r.case_id,
        count(*)::INTEGER AS reports,
        min(r.line) AS line
    FROM temp.main.srsql_foreign_row AS r
    GROUP BY r.case_id
),

regions AS (
    SELECT
        b.line,
        list(struct_pack(low := b.low, high := b.high) ORDER BY b.position)::VARCHAR AS ends
    FROM temp.main.srsql_foreign_box AS b
    GROUP BY b.line
),

places AS MATERIALIZED (
    SELECT
        r.line,
        c.case_no,
        c.case_id,
        c.reports,
        c.line AS case_line,
        r.group_label,
        g.ends,
        coalesce(r.group_label, g.ends) AS key,
        min(r.line) OVER (PARTITION BY coalesce(r.group_label, g.ends)) AS group_line
    FROM temp.main.srsql_foreign_row AS r
    INNER JOIN cases AS c ON r.case_id = c.case_id
    INNER JOIN regions AS g ON r.line = g.line
),

listed AS MATERIALIZED (
    SELECT
        p.key,
        min(p.group_label) AS label,
        min(p.case_no) AS first_case
    FROM places AS p
    GROUP BY p.key
),

numbers AS (
    SELECT count(DISTINCT try_cast(l.label AS INTEGER)) = count(*) AS numeric FROM listed AS l
),

-- Groups keep their numbers where the labels are integers; others are numbered from 1, in the order
-- of their labels, or of their first cases where there are no labels.
groups AS (
    SELECT
        l.key,
        CASE
            WHEN n.numeric THEN try_cast(l.label AS INTEGER)
            ELSE row_number() OVER (ORDER BY l.label, l.first_case)
        END::INTEGER AS group_id
    FROM listed AS l
    CROSS JOIN numbers AS n
)

SELECT p.*, g.group_id
FROM places AS p
INNER JOIN groups AS g ON p.key = g.key;

CREATE OR REPLACE TEMP TABLE srsql_foreign_term AS
SELECT DISTINCT
    p.case_no,
    v.attribute,
    v.term
FROM temp.main.srsql_foreign_value AS v
INNER JOIN temp.main.srsql_foreign_place AS p ON v.line = p.line;
