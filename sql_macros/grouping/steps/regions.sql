-- Step: makes the generalized QID of every group.
-- Reads: grouped(case_no, group_no, pattern), bounded(case_no, position, low, high), node
-- Writes: region(group_no, position, low, high)
-- Source: Lin 2016, Algorithm 2, line 8, and Definition 4.

CREATE OR REPLACE TEMP TABLE srsql_region AS
WITH group_hull AS MATERIALIZED (
    SELECT h.* FROM srsql.group_hull('temp.main.srsql_grouped', 'temp.main.srsql_bounded') AS h
)

SELECT e.group_no, e.position, e.low, e.high
FROM srsql.enclosing_node('group_hull', 'temp.main.srsql_node') AS e;
