-- Step: counts the values that each case has of every sensitive attribute.
-- Reads: report_value(report_id, attribute, term, sensitive), case_report(report_id, case_id)
-- Writes: symptoms(case_id, attribute, symptoms)
-- Source: Huang 2021, Definition 6 (substantially many symptoms).

CREATE OR REPLACE TEMP TABLE srsql_symptoms AS
SELECT c.case_id, v.attribute, count(DISTINCT v.term) AS symptoms
FROM temp.main.srsql_report_value AS v
INNER JOIN temp.main.srsql_case_report AS c ON v.report_id = c.report_id
WHERE v.sensitive
GROUP BY c.case_id, v.attribute;
