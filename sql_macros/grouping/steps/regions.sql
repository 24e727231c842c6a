-- Step of a release: the generalized QID of every group, and the rows that leave the house.
-- Reads srsql_grouped(case_no, group_no, pattern), srsql_bounded, srsql_attribute, srsql_node.

CREATE OR REPLACE TEMP TABLE srsql_region AS
WITH group_hull AS MATERIALIZED (
    SELECT h.* FROM srsql.group_hull('temp.main.srsql_grouped', 'temp.main.srsql_bounded') AS h
)

SELECT e.group_no, e.position, e.low, e.high
FROM srsql.enclosing_node('group_hull', 'temp.main.srsql_node') AS e;

-- Released reports in the order of their ids, each with the region of its case's group.
CREATE OR REPLACE TEMP TABLE srsql_released AS
SELECT
    r.report_id,
    r.case_id,
    g.case_no,
    g.group_no
FROM temp.main.srsql_report AS r
INNER JOIN temp.main.srsql_case_report AS c ON r.report_id = c.report_id
INNER JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no;
