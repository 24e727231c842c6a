CREATE OR REPLACE TEMPORARY TABLE srsql_case_report AS
SELECT
  CAST((
    DENSE_RANK() OVER (ORDER BY "t"."caseid") - 1
  ) AS INT) AS case_no,
  "t"."primaryid" AS report_id,
  "t"."caseid" AS case_id
FROM "raw_faers"."demo" AS "t"
ANTI JOIN "temp"."main"."srsql_deleted" AS "d"
  ON CAST("t"."caseid" AS TEXT) = "d"."case_id"
WHERE
  "t"."quarter" = ?
