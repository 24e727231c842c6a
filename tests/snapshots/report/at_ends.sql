SELECT
  COUNT(DISTINCT "v"."caseid") FILTER(WHERE
    "v"."wt_low" <= 0 OR "v"."wt_low" >= 400) AS "at",
  COUNT(DISTINCT "v"."caseid") FILTER(WHERE
    NOT "v"."wt_low" IS NULL) AS cases
FROM "release_2011q4"."demo" AS "v"
