SELECT
  "i"."public_report" AS "primaryid",
  "i"."public_case" AS "caseid",
  CASE WHEN NOT "t"."srsql_pt" IS NULL THEN "t"."pt" END AS "pt",
  "t"."srsql_pt" AS "pt_key"
FROM "raw_faers"."reac" AS "t"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "t"."primaryid" = "i"."report_id"
JOIN "temp"."main"."srsql_public_region" AS "g"
  ON "i"."group_no" = "g"."group_no"
WHERE
  "t"."quarter" = '2022Q4'
ORDER BY
  "i"."public_report",
  "i"."public_case",
  "t"."srsql_line",
  "t"."pt"
