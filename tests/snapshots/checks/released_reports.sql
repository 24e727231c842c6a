SELECT
  "i"."report_id" AS report_id,
  "i"."report_id" AS case_id
FROM "temp"."main"."srsql_identity" AS "i"
JOIN "release_2011q4"."demo" AS "v"
  ON "i"."public_report" = "v"."primaryid" AND "i"."public_case" = "v"."caseid"
