-- What the released rows over the lattice are joined of; Python composes the columns they show.

-- name: gathered
-- Whether some case has several reports.
SELECT count(*) > 0
FROM temp.main.srsql_case AS c
WHERE c.reports > 1;

-- name: record_counts
-- How many rows each class is to have of each informative value: class_no, value, records.
SELECT
    unnest($owners::BIGINT[]) AS class_no,
    unnest($values::INTEGER[]) AS value,
    unnest($counts::BIGINT[]) AS records;

-- name: owners
-- The classes that have rows, and what stands for none: class_no.
SELECT DISTINCT unnest($owners::BIGINT[]) AS class_no;

-- name: class_nodes
-- The node of each dimension, in their order, that each class has: class_no, nodes.
SELECT
    unnest(range(len($nodes::INTEGER[][]))) AS class_no,
    unnest($nodes::INTEGER[][]) AS nodes;

-- name: shuffled_rows
-- The rows in an order drawn anew: row, class_no, value.
SELECT s.*
FROM srsql.shuffled_records('record_count', $seed) AS s;
