DELETE FROM "raw_faers"."reac" AS "t"
WHERE
  "t"."quarter" = ?
  AND NOT "t"."primaryid" IN (
    SELECT
      "s"."report_id"
    FROM "temp"."main"."srsql_sampled_report" AS "s"
  )
