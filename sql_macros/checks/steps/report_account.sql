-- Step of the check of a comparator's release that takes every report for a case of its own: its
-- reports are released or withheld one by one. Reads srsql_withheld, srsql_case_report,
-- srsql_deleted; changes srsql_quarter_report, srsql_seen_report, srsql_quarter_withheld.

CREATE OR REPLACE TEMP TABLE srsql_quarter_withheld AS
SELECT c.report_id::VARCHAR AS case_id
FROM temp.main.srsql_withheld AS w
INNER JOIN temp.main.srsql_case_report AS c ON w.case_no = c.case_no
UNION ALL
SELECT d.report_id FROM temp.main.srsql_deleted AS d;

UPDATE temp.main.srsql_quarter_report SET case_id = report_id;

UPDATE temp.main.srsql_seen_report SET case_id = report_id;
