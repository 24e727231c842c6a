-- Step of a release of a comparator that takes every report for a case of its own: case_no numbers
-- reports until grouping/steps/pieces.sql. Reads srsql_report(report_id, case_id).
-- Source: Lin 2016, "Multiple Individual Records".

-- Reports in the order of case ids, then of their own: numeric where ids are numbers.
CREATE OR REPLACE TEMP TABLE srsql_case_report AS
SELECT
    (row_number() OVER (
        ORDER BY
            try_cast(r.case_id AS HUGEINT) NULLS LAST,
            r.case_id,
            try_cast(r.report_id AS HUGEINT) NULLS LAST,
            r.report_id
    ) - 1)::INTEGER AS case_no,
    r.report_id
FROM temp.main.srsql_report AS r;

CREATE OR REPLACE TEMP TABLE srsql_case AS
SELECT c.case_no, r.case_id, 1::INTEGER AS reports
FROM temp.main.srsql_case_report AS c
INNER JOIN temp.main.srsql_report AS r ON c.report_id = r.report_id;
