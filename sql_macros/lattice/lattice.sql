-- The generalization lattice of Lee 2020: records are counted once, and rolled up for each node.
-- Parameters that name tables take their names. A leaf is a value of a dimension attribute that is
-- not generalized, a node of the lattice gives for every dimension which value each leaf becomes.

-- What:    the leaves of each case's dimension values.
-- Inputs:  cases(case_no): the cases to count; boxes(case_no, position, low, high): their values;
--          leaf_ends(place, position, low, high, leaf): the leaves of each dimension, place from 0;
--          unknown: [d] by dimension, the leaf of a case with no such value (missing, or several
--          that differ).
-- Outputs: case_no, leaves INTEGER[d].
-- Source:  Lee 2020, "Problem settings".
CREATE OR REPLACE MACRO srsql.case_leaves(cases, boxes, leaf_ends, unknown) AS TABLE
WITH
places AS (
    SELECT unnest(range(len(unknown))) AS place, unnest(unknown) AS leaf
),

found AS (
    SELECT b.case_no, e.place, e.leaf
    FROM query_table(boxes) AS b
    INNER JOIN query_table(leaf_ends) AS e
        ON b.position = e.position AND b.low = e.low AND b.high = e.high
)

SELECT
    c.case_no,
    list(coalesce(f.leaf, p.leaf)::INTEGER ORDER BY p.place) AS leaves
FROM query_table(cases) AS c
CROSS JOIN places AS p
LEFT JOIN found AS f ON c.case_no = f.case_no AND p.place = f.place
GROUP BY c.case_no;

-- What:    the classes of one node: which cells of the base cube fall together.
-- Inputs:  cells(cell, leaves INTEGER[d]): the leaves that occur together; maps INTEGER[][d]: of
--          each dimension, the value that each of its leaves becomes at the node.
-- Outputs: cell, nodes INTEGER[d], class_no from 0 in the order of nodes.
-- Source:  Lee 2020, Algorithm 1, lines 3 and 4.
CREATE OR REPLACE MACRO srsql.node_classes(cells, maps) AS TABLE
WITH
apart AS (
    SELECT c.cell, unnest(c.leaves) AS leaf, unnest(range(len(c.leaves))) AS place
    FROM query_table(cells) AS c
),

become AS (
    SELECT unnest(maps) AS nodes, unnest(range(len(maps))) AS place
),

mapped AS (
    SELECT a.cell, list(b.nodes[a.leaf + 1] ORDER BY a.place) AS nodes
    FROM apart AS a
    INNER JOIN become AS b ON a.place = b.place
    GROUP BY a.cell
)

SELECT m.cell, m.nodes, (dense_rank() OVER (ORDER BY m.nodes) - 1)::BIGINT AS class_no
FROM mapped AS m;

-- What:    the records of one node by class and informative value, rolled up from the base cube.
-- Inputs:  cube(cell, value, records): records by leaves and informative value; classes(cell,
--          class_no) of srsql.node_classes.
-- Outputs: class_no, value, records, ordered by class and value.
-- Source:  Lee 2020, Count_i(v) of equation 3.
CREATE OR REPLACE MACRO srsql.rolled_counts(cube, classes) AS TABLE
SELECT c.class_no, b.value, sum(b.records)::BIGINT AS records
FROM query_table(cube) AS b
INNER JOIN query_table(classes) AS c ON b.cell = c.cell
GROUP BY c.class_no, b.value
ORDER BY c.class_no, b.value;

-- What:    the published rows: one for each record that a class is to have, in an order drawn
--          anew, under numbers that say nothing else.
-- Inputs:  made(class_no, value, records); seed: NULL for the secure generator, else that of an
--          experiment. Pass a value, not a call of a random function.
-- Outputs: row, class_no, value.
-- Source:  SPEC section 12.
CREATE OR REPLACE MACRO srsql.shuffled_records(made, seed) AS TABLE
WITH
apart AS (
    SELECT m.class_no, m.value, unnest(range(m.records)) AS copy FROM query_table(made) AS m
),

placed AS (
    SELECT
        a.class_no,
        a.value,
        row_number() OVER (ORDER BY a.class_no, a.value, a.copy) AS place
    FROM apart AS a
),

counted AS (
    SELECT coalesce(sum(m.records), 0)::INTEGER AS records FROM query_table(made) AS m
),

drawn AS (
    SELECT
        unnest(range(1, c.records::BIGINT + 1)) AS place,
        unnest(srsql_shuffled([c.records], seed::BIGINT)) AS seat
    FROM counted AS c
)

SELECT d.seat AS row, p.class_no, p.value
FROM placed AS p
INNER JOIN drawn AS d ON p.place = d.place
ORDER BY d.seat;
