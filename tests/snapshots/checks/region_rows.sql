SELECT
  CAST(TO_JSON(ROW("v"."age_low", "v"."age_high", "v"."wt_low", "v"."wt_high", "v"."sex")) AS TEXT) AS region,
  "v"."caseid" AS case_id,
  TRUE AS carries,
  "v"."primaryid" AS report_id
FROM "release_2011q4"."demo" AS "v"
