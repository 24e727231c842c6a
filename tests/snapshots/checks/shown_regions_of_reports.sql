SELECT
  "k"."group_id",
  "k"."case_no",
  1 AS reports,
  "v"."age_low",
  "v"."age_high",
  "v"."wt_low",
  "v"."wt_high",
  "v"."sex"
FROM "release_2011q4"."demo" AS "v"
LEFT JOIN kept_report AS k
  ON "v"."primaryid" = "k"."public_report"
