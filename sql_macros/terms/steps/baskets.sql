-- Step of a release: from the terms of the released cases to the baskets that are disassociated
-- (SPEC section 11; Loukides 2014, section 3). Composed before it from the dataset schema:
-- srsql_report_item(report_id, attribute, term, times). Reads srsql_grouped(case_no, group_no),
-- srsql_case_report(case_no, report_id), srsql_basket_rule(prefixed, repeated, grouped, least):
-- attributes
-- are told in the term; a term told n times is n terms; clusters lie inside QID-groups; and least:
-- records that a cluster needs.

-- The terms of each released case: over all its reports, each as often as one report tells it.
CREATE OR REPLACE TEMP TABLE srsql_case_item AS
WITH
told AS (
    SELECT
        g.case_no,
        g.group_no,
        i.attribute,
        i.term,
        max(CASE WHEN $repeated::BOOLEAN THEN i.times ELSE 1 END) AS times
    FROM temp.main.srsql_report_item AS i
    INNER JOIN temp.main.srsql_case_report AS c ON i.report_id = c.report_id
    INNER JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no
    GROUP BY g.case_no, g.group_no, i.attribute, i.term
),

occurrences AS (
    SELECT t.case_no, t.group_no, t.attribute, t.term, unnest(range(1, t.times + 1)) AS nth
    FROM told AS t
)

SELECT DISTINCT
    o.case_no,
    o.term,
    CASE WHEN $grouped::BOOLEAN THEN o.group_no ELSE 0 END AS part,
    CASE WHEN $prefixed::BOOLEAN THEN o.attribute || ':' ELSE '' END || o.term AS base,
    CASE WHEN $prefixed::BOOLEAN THEN o.attribute || ':' ELSE '' END
    || o.term
    || CASE WHEN o.nth > 1 THEN ' (' || o.nth::VARCHAR || ')' ELSE '' END AS item
FROM occurrences AS o;

CREATE OR REPLACE TEMP TABLE srsql_basket_term AS
SELECT (row_number() OVER (ORDER BY d.item) - 1)::INTEGER AS term_no, d.item AS term
FROM (SELECT DISTINCT i.item FROM temp.main.srsql_case_item AS i) AS d;

-- Terms that some case holds more than once, each time under the number of the first one.
CREATE OR REPLACE TEMP TABLE srsql_repeated AS
SELECT DISTINCT t.term_no, b.term_no AS base_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
INNER JOIN temp.main.srsql_basket_term AS b ON i.base = b.term
WHERE i.base IN (SELECT m.base FROM temp.main.srsql_case_item AS m WHERE m.item <> m.base);

-- Cases that have a term; the others have nothing to be told from. Within QID-groups, a group in
-- which fewer than ``least`` cases have one is small: its terms are told of the group as a whole.
CREATE OR REPLACE TEMP TABLE srsql_basket_case AS
WITH
cases AS (
    SELECT DISTINCT i.case_no, i.part FROM temp.main.srsql_case_item AS i
),

sized AS (
    SELECT
        c.case_no,
        c.part,
        $grouped::BOOLEAN AND count(*) OVER (PARTITION BY c.part) < $least::BIGINT AS small
    FROM cases AS c
)

SELECT
    (row_number() OVER (ORDER BY s.small, s.case_no) - 1)::INTEGER AS record_no,
    s.case_no,
    (dense_rank() OVER (ORDER BY s.small, s.part) - 1)::INTEGER AS part_no,
    s.part,
    s.small
FROM sized AS s;

CREATE OR REPLACE TEMP TABLE srsql_basket AS
SELECT DISTINCT c.record_no, t.term_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_case AS c ON i.case_no = c.case_no
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
WHERE NOT c.small;

CREATE OR REPLACE TEMP TABLE srsql_part AS
SELECT c.record_no, c.part_no FROM temp.main.srsql_basket_case AS c WHERE NOT c.small;
