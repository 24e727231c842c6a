-- What one node of the lattice makes of the base cube: one GROUP BY for each node, over counts.

-- name: classes
-- The class that every cell falls into at the node of $maps.
CREATE OR REPLACE TEMP TABLE srsql_node_class AS
SELECT c.*
FROM srsql.node_classes('temp.main.srsql_cell', $maps::INTEGER[][]) AS c;

-- name: counts
-- Records of these classes by informative value: class_no, value, records.
SELECT c.*
FROM srsql.rolled_counts('temp.main.srsql_cube', 'temp.main.srsql_node_class') AS c;

-- name: informative_values
-- How many informative values there are.
SELECT count(*)
FROM temp.main.srsql_informative;

-- name: smallest_class
-- Records of the smallest class at the node of $maps; 0 if there is none.
SELECT coalesce(min(s.records), 0)
FROM (
    SELECT sum(e.records) AS records
    FROM srsql.node_classes('temp.main.srsql_cell', $maps::INTEGER[][]) AS c
    INNER JOIN temp.main.srsql_cell AS e ON c.cell = e.cell
    GROUP BY c.class_no
) AS s;
