-- Step of a release: all reports of a case are one record. Reads srsql_report(report_id, case_id).

-- Cases in case-id order: numeric where ids are numbers.
CREATE OR REPLACE TEMP TABLE srsql_case AS
SELECT
    (row_number() OVER (
        ORDER BY try_cast(r.case_id AS HUGEINT) NULLS LAST, r.case_id
    ) - 1)::INTEGER AS case_no,
    r.case_id,
    count(*)::INTEGER AS reports
FROM temp.main.srsql_report AS r
GROUP BY r.case_id;

CREATE OR REPLACE TEMP TABLE srsql_case_report AS
SELECT c.case_no, r.report_id
FROM temp.main.srsql_report AS r
INNER JOIN temp.main.srsql_case AS c ON r.case_id = c.case_id;
