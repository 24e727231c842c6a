CREATE OR REPLACE TEMPORARY TABLE srsql_case_report AS
SELECT
  CAST((
    DENSE_RANK() OVER (ORDER BY "t"."vaers_id") - 1
  ) AS INT) AS case_no,
  "t"."vaers_id" AS report_id,
  "t"."vaers_id" AS case_id
FROM "raw_vaers"."demo" AS "t"
ANTI JOIN "temp"."main"."srsql_deleted" AS "d"
  ON CAST("t"."vaers_id" AS TEXT) = "d"."case_id"
WHERE
  "t"."quarter" = ?
