CREATE OR REPLACE TEMPORARY TABLE srsql_deleted AS
SELECT
  CAST("t"."vaers_id" AS TEXT) AS report_id,
  CAST("t"."vaers_id" AS TEXT) AS case_id
FROM "raw_vaers"."demo" AS "t"
WHERE
  "t"."quarter" = ?
  AND CAST("t"."vaers_id" AS TEXT) IN (
    SELECT
      "d"."case_id"
    FROM "srsql"."deleted_case" AS "d"
    WHERE
      "d"."dataset" = ?
  )
