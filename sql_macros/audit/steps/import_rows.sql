-- Step of an import: from the rows of somebody else's table to cases, groups and faults. Reads
-- srsql_foreign_row(line, case_id, group_label), srsql_foreign_box(line, position, low, high),
-- srsql_foreign_value(line, attribute, term), srsql_sensitive(attribute).

-- Cases in case-id order: numeric where ids are numbers; line is the first one of a case.
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

-- Every row with its case and its whole region; key tells its group: the label that the file gives
-- it, else the region.
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

CREATE OR REPLACE TEMP TABLE srsql_foreign_fault AS
SELECT
    p.line,
    CASE
        WHEN p.ends <> f.ends
            THEN concat('case ', p.case_id, ' is in two regions (the other in line ', f.line, ')')
        WHEN p.key <> f.key
            THEN concat('case ', p.case_id, ' is in two groups (the other in line ', f.line, ')')
        ELSE
            concat('group ', p.group_label, ' has two regions (the other in line ', g.line, ')')
    END AS fault
FROM temp.main.srsql_foreign_place AS p
INNER JOIN temp.main.srsql_foreign_place AS f ON p.case_line = f.line
INNER JOIN temp.main.srsql_foreign_place AS g ON p.group_line = g.line
WHERE p.ends <> f.ends OR p.key <> f.key OR p.ends <> g.ends;

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
    SELECT count(DISTINCT try_cast(l.label AS INTEGER)) = count(*) AS keep FROM listed AS l
)

SELECT
    l.key,
    l.line,
    CASE
        WHEN n.keep THEN try_cast(l.label AS INTEGER)
        ELSE row_number() OVER (ORDER BY l.label, l.first_case)
    END::INTEGER AS group_id
FROM listed AS l
CROSS JOIN numbers AS n;

CREATE OR REPLACE TEMP TABLE srsql_foreign_term AS
SELECT DISTINCT c.case_no, v.attribute, v.term
FROM temp.main.srsql_foreign_value AS v
INNER JOIN temp.main.srsql_foreign_row AS r ON v.line = r.line
INNER JOIN temp.main.srsql_foreign_case AS c ON r.case_id = c.case_id;

-- How many values of each attribute a case has: what makes an ss case.
CREATE OR REPLACE TEMP TABLE srsql_foreign_count AS
SELECT s.attribute, c.case_no, count(t.term) AS n
FROM temp.main.srsql_foreign_case AS c
CROSS JOIN temp.main.srsql_sensitive AS s
LEFT JOIN temp.main.srsql_foreign_term AS t
    ON c.case_no = t.case_no AND s.attribute = t.attribute
GROUP BY s.attribute, c.case_no;
