SELECT
  "i"."public_report" AS "primaryid",
  "i"."public_case" AS "caseid",
  '2022Q4' AS "quarter",
  "g"."age_low",
  "g"."age_high",
  "g"."wt_low",
  "g"."wt_high",
  "g"."sex"
FROM "raw_faers"."demo" AS "t"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "t"."primaryid" = "i"."report_id"
JOIN "temp"."main"."srsql_public_region" AS "g"
  ON "i"."group_no" = "g"."group_no"
WHERE
  "t"."quarter" = '2022Q4'
ORDER BY
  "i"."public_report",
  "i"."public_case"
