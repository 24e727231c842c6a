-- Step of a release of a comparator, after its reports were grouped: the reports of a case that are
-- in one group become one record, a piece of the case, so that whatever is counted in a group from
-- here on counts distinct cases. A case whose reports are in several groups has several pieces.
-- Reads and changes srsql_case, srsql_case_report, srsql_grouped, srsql_withheld, srsql_role; what
-- the pieces have is worked out by grouping/steps/cases.sql, run after this.

-- A piece is numbered as its first report.
CREATE OR REPLACE TEMP TABLE srsql_piece AS
SELECT
    c.case_no AS report_no,
    min(c.case_no) OVER (PARTITION BY c.case_id, g.group_no, w.reason) AS case_no
FROM temp.main.srsql_case AS c
LEFT JOIN temp.main.srsql_grouped AS g ON c.case_no = g.case_no
LEFT JOIN temp.main.srsql_withheld AS w ON c.case_no = w.case_no;

CREATE OR REPLACE TEMP TABLE srsql_case AS
SELECT p.case_no, c.case_id, count(*)::INTEGER AS reports
FROM temp.main.srsql_piece AS p
INNER JOIN temp.main.srsql_case AS c ON p.report_no = c.case_no
GROUP BY p.case_no, c.case_id;

CREATE OR REPLACE TEMP TABLE srsql_case_report AS
SELECT p.case_no, c.report_id
FROM temp.main.srsql_piece AS p
INNER JOIN temp.main.srsql_case_report AS c ON p.report_no = c.case_no;

-- The first report of a piece has its group, its reason and, in all but kind, its role.
DELETE FROM temp.main.srsql_grouped AS g
WHERE g.case_no NOT IN (SELECT p.case_no FROM temp.main.srsql_piece AS p);

DELETE FROM temp.main.srsql_withheld AS w
WHERE w.case_no NOT IN (SELECT p.case_no FROM temp.main.srsql_piece AS p);

DELETE FROM temp.main.srsql_role AS r
WHERE r.case_no NOT IN (SELECT p.case_no FROM temp.main.srsql_piece AS p);
