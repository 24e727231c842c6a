-- Step: takes the groups of a part into those of its set ($set_no), numbered on; of the blocks
--   (set 0) also who has none.
-- Reads: grouped(case_no, group_no, pattern), withheld(case_no, reason), set_grouped(set_no,
--   group_no)
-- Writes: set_grouped(set_no, case_no, group_no, pattern), set_withheld(case_no, reason)
-- Source: docs/models.md (several sets of quasi-identifiers).

INSERT INTO temp.main.srsql_set_grouped
WITH numbered AS (
    SELECT coalesce(max(s.group_no) + 1, 0) AS start
    FROM temp.main.srsql_set_grouped AS s
    WHERE s.set_no = $set_no::INTEGER
)

SELECT $set_no::INTEGER, g.case_no, g.group_no + n.start, g.pattern
FROM temp.main.srsql_grouped AS g
CROSS JOIN numbered AS n;

INSERT INTO temp.main.srsql_set_withheld
SELECT w.case_no, w.reason
FROM temp.main.srsql_withheld AS w
WHERE $set_no::INTEGER = 0;
