SELECT
  "v"."caseid" AS case_id,
  "v"."age_low",
  "v"."age_high",
  "v"."wt_low",
  "v"."wt_high",
  "v"."sex",
  DENSE_RANK() OVER (ORDER BY "v"."age_low", "v"."age_high", "v"."wt_low", "v"."wt_high", "v"."sex") AS group_id
FROM "release_2011q4"."demo" AS "v"
