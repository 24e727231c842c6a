-- Step: numbers the terms that are released apart from records and the cases that have one, and
--   makes the basket of each. repeated: terms that some case holds more than once, each time under
--   the number of the first one. Within QID-groups, a group in which fewer than least cases have a
--   term is small: its terms are told of the group as a whole, so it has no basket here.
-- Parameters: grouped (clusters lie inside QID-groups), least (records that a cluster needs).
-- Reads: case_item
-- Writes: basket_term, repeated, basket_case, basket, part
-- Source: Loukides 2014, section 3; SPEC section 11.

CREATE OR REPLACE TEMP TABLE srsql_basket_term AS
SELECT (row_number() OVER (ORDER BY d.item) - 1)::INTEGER AS term_no, d.item AS term
FROM (SELECT DISTINCT i.item FROM temp.main.srsql_case_item AS i) AS d;

CREATE OR REPLACE TEMP TABLE srsql_repeated AS
SELECT DISTINCT t.term_no, b.term_no AS base_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term
INNER JOIN temp.main.srsql_basket_term AS b ON i.base = b.term
WHERE i.base IN (SELECT m.base FROM temp.main.srsql_case_item AS m WHERE m.item <> m.base);

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
