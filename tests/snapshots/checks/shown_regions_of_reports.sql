SELECT
  "v"."primaryid" AS report,
  1 AS reports,
  "v"."age_low",
  "v"."age_high",
  "v"."wt_low",
  "v"."wt_high",
  "v"."sex"
FROM "release_2011q4"."demo" AS "v"
