SELECT
  "k"."group_id",
  MIN("k"."case_no") AS case_no,
  COUNT(*) AS reports,
  "v"."age_low",
  "v"."age_high",
  "v"."wt_low",
  "v"."wt_high",
  "v"."sex"
FROM "release_2011q4"."demo" AS "v"
LEFT JOIN kept_report AS k
  ON "v"."primaryid" = "k"."public_report"
GROUP BY
  "k"."group_id",
  "v"."age_low",
  "v"."age_high",
  "v"."wt_low",
  "v"."wt_high",
  "v"."sex"
