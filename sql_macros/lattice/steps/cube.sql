-- Step: makes the base cube of the records of a release over the lattice. Every released case is
--   one record; one that holds several informative values shows one of them, drawn for the case
--   alone. cell: the leaves that occur together; cube: records by cell and informative value.
-- Parameters: unknown INTEGER[] (by dimension, the leaf of a case without such a value), seed (of
--   an experiment; NULL: the secure generator), places, positions, lows, highs, leaves: the leaves
--   of each dimension, one after the other.
-- Reads: grouped, box, held_value
-- Writes: informative, record, cell, cube
-- Source: Lee 2020, "Problem settings" and Algorithm 1, lines 1 to 4.

CREATE OR REPLACE TEMP TABLE srsql_informative AS
SELECT
    (row_number() OVER (ORDER BY h.term) - 1)::INTEGER AS value,
    h.term,
    min(h.spelling) AS spelling
FROM temp.main.srsql_held_value AS h
SEMI JOIN temp.main.srsql_grouped AS g ON h.case_no = g.case_no
GROUP BY h.term;

CREATE OR REPLACE TEMP TABLE srsql_record AS
WITH
leaf_end AS MATERIALIZED (
    SELECT
        unnest($places::INTEGER[]) AS place,
        unnest($positions::INTEGER[]) AS position,
        unnest($lows::BIGINT[]) AS low,
        unnest($highs::BIGINT[]) AS high,
        unnest($leaves::INTEGER[]) AS leaf
),

held AS MATERIALIZED (
    SELECT h.case_no, min(i.value) AS value, count(*) AS values_held
    FROM temp.main.srsql_held_value AS h
    INNER JOIN temp.main.srsql_informative AS i ON h.term = i.term
    SEMI JOIN temp.main.srsql_grouped AS g ON h.case_no = g.case_no
    GROUP BY h.case_no
),

-- A case of several values shows one, drawn for the case alone; an experiment draws for every case.
drawing AS (
    SELECT h.case_no FROM held AS h WHERE h.values_held > 1 OR $seed::BIGINT IS NOT NULL
),

several AS MATERIALIZED (
    SELECT h.case_no, list(i.value ORDER BY i.value) AS values_held
    FROM temp.main.srsql_held_value AS h
    INNER JOIN temp.main.srsql_informative AS i ON h.term = i.term
    SEMI JOIN drawing AS d ON h.case_no = d.case_no
    GROUP BY h.case_no
),

shown_value AS MATERIALIZED (
    WITH
    listed AS (
        SELECT
            coalesce(list(s.case_no ORDER BY s.case_no), []) AS case_nos,
            coalesce(list(len(s.values_held)::INTEGER ORDER BY s.case_no), []::INTEGER[]) AS sizes
        FROM several AS s
    ),

    drawn AS (
        SELECT
            unnest(l.case_nos) AS case_no,
            unnest(srsql_drawn_below(l.sizes, $seed::BIGINT)) AS place
        FROM listed AS l
    )

    SELECT s.case_no, s.values_held[d.place + 1] AS value
    FROM several AS s
    INNER JOIN drawn AS d ON s.case_no = d.case_no
    UNION ALL
    SELECT h.case_no, h.value
    FROM held AS h
    ANTI JOIN drawing AS d ON h.case_no = d.case_no
)

SELECT l.leaves, v.value
FROM srsql.case_leaves(
    'shown_value',
    'temp.main.srsql_box',
    'leaf_end',
    $unknown::INTEGER[]
) AS l
INNER JOIN shown_value AS v ON l.case_no = v.case_no;

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
