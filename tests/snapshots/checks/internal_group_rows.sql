SELECT
  CAST("m"."group_id" AS TEXT) AS region,
  "v"."caseid" AS case_id,
  TRUE AS carries,
  CAST(TO_JSON(ROW("v"."sex")) AS TEXT) AS shown
FROM "release_2011q4"."demo" AS "v"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "v"."primaryid" = "i"."public_report" AND "v"."caseid" = "i"."public_case"
JOIN "srsql"."member" AS "m"
  ON CAST("i"."case_id" AS TEXT) = "m"."case_id" AND "m"."release_id" = 1
