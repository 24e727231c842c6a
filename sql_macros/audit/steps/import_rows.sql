-- Step: makes cases, groups and their terms of the rows of somebody else's table, and counts each
--   case's values of every sensitive attribute ($attributes).
-- Reads: foreign_row(line, case_id, group_label), foreign_box(line, position, low, high),
--   foreign_value(line, attribute, term)
-- Writes: foreign_case(case_no, case_id, reports, line), foreign_place(line, case_no, case_id,
--   group_label, ends, key, case_line, group_line), foreign_group(key, line, group_id),
--   foreign_term(case_no, attribute, term), foreign_count(attribute, case_no, n)
-- Source: SPEC section 2 (super-record, group), section 9; Huang 2021, Definition 6 (the number of
--   values that makes an ss case).

-- Cases in the order of their ids: numeric where ids are numbers; line is the first one of a case.
CREATE OR REPLACE TEMP TABLE srsql_foreign_case AS
SELECT
    (row_number() OVER (
        ORDER BY try_cast(r.case_id AS HUGEINT) NULLS LAST, r.case_id
    ) - 1)::INTEGER AS case_no,
    r.case_id,
    count(*)::INTEGER AS reports,
    min(r.line) AS line
FROM temp.main.srsql_foreign_row AS r
GROUP BY r.case_id;

-- Every row with its case and its whole region; key is its group: the label that the file gives it,
-- else the region.
CREATE OR REPLACE TEMP TABLE srsql_foreign_place AS
WITH regions AS (
    SELECT
        b.line,
        list(struct_pack(low := b.low, high := b.high) ORDER BY b.position)::VARCHAR AS ends
    FROM temp.main.srsql_foreign_box AS b
    GROUP BY b.line
)

SELECT
    r.line,
    c.case_no,
    c.case_id,
    r.group_label,
    g.ends,
    coalesce(r.group_label, g.ends) AS key,
    min(r.line) OVER (PARTITION BY c.case_no) AS case_line,
    min(r.line) OVER (PARTITION BY coalesce(r.group_label, g.ends)) AS group_line
FROM temp.main.srsql_foreign_row AS r
INNER JOIN temp.main.srsql_foreign_case AS c ON r.case_id = c.case_id
INNER JOIN regions AS g ON r.line = g.line;

-- Groups keep their numbers where the labels are integers; others are numbered from 1, in the order
-- of their labels, or of their first cases where there are no labels.
CREATE OR REPLACE TEMP TABLE srsql_foreign_group AS
WITH listed AS (
    SELECT
        p.key,
        min(p.group_label) AS label,
        min(p.case_no) AS first_case,
        min(p.group_line) AS line
    FROM temp.main.srsql_foreign_place AS p
    GROUP BY p.key
),

numbers AS (
    SELECT count(DISTINCT try_cast(l.label AS INTEGER)) = count(*) AS numeric FROM listed AS l
)

SELECT
    l.key,
    l.line,
    CASE
        WHEN n.numeric THEN try_cast(l.label AS INTEGER)
        ELSE row_number() OVER (ORDER BY l.label, l.first_case)
    END::INTEGER AS group_id
FROM listed AS l
CROSS JOIN numbers AS n;

CREATE OR REPLACE TEMP TABLE srsql_foreign_term AS
SELECT DISTINCT
    c.case_no,
    v.attribute,
    v.term
FROM temp.main.srsql_foreign_value AS v
INNER JOIN temp.main.srsql_foreign_row AS r ON v.line = r.line
INNER JOIN temp.main.srsql_foreign_case AS c ON r.case_id = c.case_id;

CREATE OR REPLACE TEMP TABLE srsql_foreign_count AS
WITH sensitive AS (
    SELECT unnest($attributes::VARCHAR[]) AS attribute
)

SELECT
    s.attribute,
    c.case_no,
    count(t.term) AS n
FROM temp.main.srsql_foreign_case AS c
CROSS JOIN sensitive AS s
LEFT JOIN temp.main.srsql_foreign_term AS t
    ON c.case_no = t.case_no AND s.attribute = t.attribute
GROUP BY s.attribute, c.case_no;
