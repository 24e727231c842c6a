-- Step: numbers the terms and all grouped cases, and makes the basket of each case, where whole
--   rows are taken apart: a case without a term is a record as well, and clusters are unions of
--   groups. term_bound has what each sensitive term stands for: the same value may be told by two
--   attributes. Where an l above 1 is asked for, every other term stands for itself, whatever its
--   qualifier, with 1 / l as its threshold.
-- Parameters: diversity.
-- Reads: case_item, grouped, term, theta
-- Writes: basket_term, repeated, basket_case, basket, part, term_bound
-- Source: Loukides 2014, section 3; SPEC section 11 (whole rows).

CREATE OR REPLACE TEMP TABLE srsql_basket_term AS
SELECT (row_number() OVER (ORDER BY d.item) - 1)::INTEGER AS term_no, d.item AS term
FROM (SELECT DISTINCT i.item FROM temp.main.srsql_case_item AS i) AS d;

-- No term is told more than once of a case.
CREATE OR REPLACE TEMP TABLE srsql_repeated (term_no INTEGER, base_no INTEGER);

CREATE OR REPLACE TEMP TABLE srsql_basket_case AS
SELECT
    (row_number() OVER (ORDER BY g.case_no) - 1)::INTEGER AS record_no,
    g.case_no,
    0 AS part_no,
    g.group_no AS part,
    false AS small
FROM temp.main.srsql_grouped AS g;

CREATE OR REPLACE TEMP TABLE srsql_basket AS
SELECT DISTINCT c.record_no, t.term_no
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_case AS c ON i.case_no = c.case_no
INNER JOIN temp.main.srsql_basket_term AS t ON i.item = t.term;

CREATE OR REPLACE TEMP TABLE srsql_part AS
SELECT c.record_no, c.part_no FROM temp.main.srsql_basket_case AS c;

CREATE OR REPLACE TEMP TABLE srsql_term_bound AS
SELECT DISTINCT
    b.term_no,
    t.term_no::INTEGER AS value_no,
    h.theta_num::BIGINT AS theta_num,
    h.theta_den::BIGINT AS theta_den
FROM temp.main.srsql_case_item AS i
INNER JOIN temp.main.srsql_basket_term AS b ON i.item = b.term
INNER JOIN temp.main.srsql_term AS t ON i.term = t.term
INNER JOIN temp.main.srsql_theta AS h ON t.term_no = h.term_no
WHERE i.sensitive;

INSERT INTO temp.main.srsql_term_bound
WITH
other_item AS (
    SELECT DISTINCT i.item, split_part(i.item, ':', 1) || ':' || i.term AS name
    FROM temp.main.srsql_case_item AS i
    WHERE NOT i.sensitive AND $diversity::BIGINT > 1
),

sensitive_values AS (
    SELECT coalesce(max(t.term_no) + 1, 0) AS values_before FROM temp.main.srsql_term AS t
)

SELECT
    b.term_no,
    (v.values_before + dense_rank() OVER (ORDER BY o.name) - 1)::INTEGER AS value_no,
    1 AS theta_num,
    $diversity::BIGINT AS theta_den
FROM other_item AS o
INNER JOIN temp.main.srsql_basket_term AS b ON o.item = b.term
CROSS JOIN sensitive_values AS v;
