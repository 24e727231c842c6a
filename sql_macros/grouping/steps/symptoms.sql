-- Step of a release: how many values each case has per sensitive attribute. Reads
-- srsql_report_term(report_id, attribute, term), srsql_report(report_id, case_id).

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
SELECT r.case_id, t.attribute, count(DISTINCT t.term) AS symptoms
FROM temp.main.srsql_report_term AS t
INNER JOIN temp.main.srsql_report AS r ON t.report_id = r.report_id
GROUP BY r.case_id, t.attribute;
