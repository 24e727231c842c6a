CREATE OR REPLACE TEMPORARY TABLE srsql_deleted AS
SELECT
  CAST("t"."primaryid" AS TEXT) AS report_id,
  CAST("t"."caseid" AS TEXT) AS case_id
FROM "raw_faers"."demo" AS "t"
WHERE
  "t"."quarter" = ?
  AND CAST("t"."caseid" AS TEXT) IN (
    SELECT
      "d"."case_id"
    FROM "srsql"."deleted_case" AS "d"
    WHERE
      "d"."dataset" = ?
  )
