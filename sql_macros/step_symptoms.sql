-- Step of a release: how many values each super-record has per sensitive attribute. Reads
-- srsql_report_term(report_id, attribute, term), srsql_case_report, srsql_case.

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
SELECT c.case_no, t.attribute, count(DISTINCT t.term) AS symptoms
FROM temp.main.srsql_report_term AS t
INNER JOIN temp.main.srsql_case_report AS c ON t.report_id = c.report_id
GROUP BY c.case_no, t.attribute;
