-- Step: after reports were grouped, makes one record, a piece of the case, of the reports of a case
--   that are in one group, so that whatever is counted in a group from here on counts distinct
--   cases. A case whose reports are in several groups has several pieces. What the pieces have is
--   worked out by grouping/steps/cases.sql, which runs after this.
-- Reads: case_report(case_no, report_id, case_id), grouped(case_no, group_no), withheld
-- Writes: case_report(case_no, report_id, case_id), grouped(case_no, group_no), withheld, role
-- Source: Lin 2016, "Multiple Individual Records"; SPEC section 13.

-- A piece is numbered as its first report.
CREATE OR REPLACE TEMP TABLE srsql_case_report AS
SELECT
    min(c.case_no) OVER (PARTITION BY c.case_id, g.group_no, w.reason) AS case_no,
    c.report_id,
    c.case_id
FROM temp.main.srsql_case_report AS c
LEFT JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no
LEFT JOIN temp.main.srsql_withheld AS w ON c.case_no = w.case_no;

-- The first report of a piece has its group, its reason and, in all but kind, its role.
DELETE FROM temp.main.srsql_grouped AS g
WHERE g.case_no NOT IN (SELECT c.case_no FROM temp.main.srsql_case_report AS c);

DELETE FROM temp.main.srsql_withheld AS w
WHERE w.case_no NOT IN (SELECT c.case_no FROM temp.main.srsql_case_report AS c);

DELETE FROM temp.main.srsql_role AS r
WHERE r.case_no NOT IN (SELECT c.case_no FROM temp.main.srsql_case_report AS c);
