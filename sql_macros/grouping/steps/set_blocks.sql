-- Step: blocks that show the same of what several sets of quasi-identifiers share become one.
-- Reads: grouped(case_no, group_no, pattern), bounded(case_no, position, low, high), node
-- Writes: grouped(case_no, group_no, pattern)
-- Source: docs/models.md (several sets of quasi-identifiers).

CREATE OR REPLACE TEMP TABLE srsql_grouped AS
WITH
block_hull AS MATERIALIZED (
    SELECT h.group_no, h.position, h.low, h.high
    FROM srsql.group_hull('temp.main.srsql_grouped', 'temp.main.srsql_bounded') AS h
),

shown AS (
    SELECT
        e.group_no,
        list(
            struct_pack(position := e.position, low := e.low, high := e.high) ORDER BY e.position
        ) AS region
    FROM srsql.enclosing_node('block_hull', 'temp.main.srsql_node') AS e
    GROUP BY e.group_no
),

numbered AS (
    SELECT s.group_no, (dense_rank() OVER (ORDER BY s.region) - 1)::INTEGER AS block_no
    FROM shown AS s
)

SELECT
    g.case_no,
    n.block_no AS group_no,
    bit_and(g.pattern) OVER (PARTITION BY n.block_no)::INTEGER AS pattern
FROM temp.main.srsql_grouped AS g
INNER JOIN numbered AS n ON g.group_no = n.group_no;
