SELECT DISTINCT
  CAST("t"."caseid" AS TEXT) AS case_id
FROM "raw_faers"."demo" AS "t"
WHERE
  "t"."quarter" = '2023Q1'
  AND NOT CAST("t"."caseid" AS TEXT) IN (
    SELECT
      "d"."case_id"
    FROM srsql.deleted_case AS d
    WHERE
      "d"."dataset" = 'faers'
  )
