-- Step of a release over the lattice (Lee 2020): the base cube of its records. Reads
-- srsql_grouped(case_no), srsql_box, srsql_leaf_end, srsql_lattice_run(unknown, seed) and
-- srsql_held_value(case_no, term, spelling): the informative values of each case.

CREATE OR REPLACE TEMP TABLE srsql_informative AS
SELECT
    (row_number() OVER (ORDER BY h.term) - 1)::INTEGER AS value,
    h.term,
    min(h.spelling) AS spelling
FROM temp.main.srsql_held_value AS h
SEMI JOIN temp.main.srsql_grouped AS g ON h.case_no = g.case_no
GROUP BY h.term;

-- A case of several values shows one, drawn for the case alone.
CREATE OR REPLACE TEMP TABLE srsql_several AS
SELECT h.case_no, list(i.value ORDER BY i.value) AS values_held
FROM temp.main.srsql_held_value AS h
INNER JOIN temp.main.srsql_informative AS i ON h.term = i.term
INNER JOIN temp.main.srsql_grouped AS g ON h.case_no = g.case_no
GROUP BY h.case_no;

CREATE OR REPLACE TEMP TABLE srsql_shown_value AS
WITH
listed AS (
    SELECT
        coalesce(list(s.case_no ORDER BY s.case_no), []) AS case_nos,
        coalesce(list(len(s.values_held)::INTEGER ORDER BY s.case_no), []::INTEGER[]) AS sizes
    FROM temp.main.srsql_several AS s
),

drawn AS (
    SELECT
        unnest(l.case_nos) AS case_no,
        unnest(srsql_drawn_below(l.sizes, $seed::BIGINT)) AS place
    FROM listed AS l
)

SELECT s.case_no, s.values_held[d.place + 1] AS value
FROM temp.main.srsql_several AS s
INNER JOIN drawn AS d ON s.case_no = d.case_no;

CREATE OR REPLACE TEMP TABLE srsql_record AS
SELECT l.leaves, v.value
FROM srsql.case_leaves(
    'temp.main.srsql_shown_value',
    'temp.main.srsql_box',
    'temp.main.srsql_leaf_end',
    $unknown::INTEGER[]
) AS l
INNER JOIN temp.main.srsql_shown_value AS v ON l.case_no = v.case_no;

CREATE OR REPLACE TEMP TABLE srsql_cell AS
SELECT
    (row_number() OVER (ORDER BY r.leaves) - 1)::INTEGER AS cell,
    r.leaves,
    count(*) AS records
FROM temp.main.srsql_record AS r
GROUP BY r.leaves;

CREATE OR REPLACE TEMP TABLE srsql_cube AS
SELECT c.cell, r.value, count(*) AS records
FROM temp.main.srsql_record AS r
INNER JOIN temp.main.srsql_cell AS c ON r.leaves = c.leaves
GROUP BY c.cell, r.value;
