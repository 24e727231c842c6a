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

-- The leaves of a case are one number, in which each dimension is a digit. (The linter knows no
-- lambda of two parameters.)
known AS (
    SELECT e.place, max(e.leaf) AS leaf FROM query_table(leaf_ends) AS e GROUP BY e.place
),

digit AS (
    SELECT
        p.place,
        p.leaf,
        (greatest(coalesce(k.leaf, 0), p.leaf) + 1)::HUGEINT AS leaves
    FROM places AS p
    LEFT JOIN known AS k ON p.place = k.place
),

weighted AS MATERIALIZED (
    SELECT
        d.place,
        d.leaf,
        d.leaves,
        list_reduce( -- noqa: PRS
            list(d.leaves) OVER (
                ORDER BY d.place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ),
            LAMBDA x, y: x * y
        ) // d.leaves AS weight
    FROM digit AS d
),

moved AS MATERIALIZED (
    SELECT e.position, e.low, e.high, (e.leaf - w.leaf) * w.weight AS amount
    FROM query_table(leaf_ends) AS e
    INNER JOIN weighted AS w ON e.place = w.place
),

found AS (
    SELECT b.case_no, sum(m.amount)::HUGEINT AS amount
    FROM query_table(boxes) AS b
    INNER JOIN moved AS m ON b.position = m.position AND b.low = m.low AND b.high = m.high
    GROUP BY b.case_no
),

nothing_known AS (
    SELECT coalesce(sum(w.leaf * w.weight), 0)::HUGEINT AS number FROM weighted AS w
),

numbered AS MATERIALIZED (
    SELECT c.case_no, n.number + coalesce(f.amount, 0) AS number
    FROM query_table(cases) AS c
    CROSS JOIN nothing_known AS n
    LEFT JOIN found AS f ON c.case_no = f.case_no
),

every_number AS (
    SELECT DISTINCT n.number FROM numbered AS n
),

told AS MATERIALIZED (
    SELECT
        n.number,
        list((n.number // w.weight % w.leaves)::INTEGER ORDER BY w.place) AS leaves
    FROM every_number AS n
    CROSS JOIN weighted AS w
    GROUP BY n.number
)

SELECT n.case_no, t.leaves
FROM numbered AS n
INNER JOIN told AS t ON n.number = t.number;

-- What:    the classes of one node: which cells of the base cube fall together.
-- Inputs:  cells(cell, leaves INTEGER[d]): the leaves that occur together; maps INTEGER[][d]: of
--          each dimension, the value that each of its leaves becomes at the node.
-- Outputs: cell, nodes INTEGER[d], class_no from 0 in the order of nodes.
-- Source:  Lee 2020, Algorithm 1, lines 3 and 4.
CREATE OR REPLACE MACRO srsql.node_classes(cells, maps) AS TABLE
WITH mapped AS (
    SELECT
        c.cell,
        list_transform(
            range(1, len(c.leaves) + 1), LAMBDA place: maps[place][c.leaves[place] + 1]
        ) AS nodes
    FROM query_table(cells) AS c
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
-- Outputs: row, class_no, value; by row they are in the order drawn.
-- Source:  SPEC section 12.
CREATE OR REPLACE MACRO srsql.shuffled_records(made, seed) AS TABLE
WITH
until AS (
    SELECT
        m.class_no,
        m.value,
        m.records,
        sum(m.records) OVER (
            ORDER BY m.class_no, m.value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )::BIGINT AS place
    FROM query_table(made) AS m
),

placed AS (
    SELECT
        u.class_no,
        u.value,
        unnest(range(u.place - u.records + 1, u.place + 1)) AS place
    FROM until AS u
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
INNER JOIN drawn AS d ON p.place = d.place;
