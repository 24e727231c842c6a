SELECT
  "r"."case_id",
  CAST(NULL AS TEXT) AS spelling
FROM "temp"."main"."srsql_report_row" AS "r"
WHERE
  FALSE
UNION ALL
SELECT
  "t"."caseid",
  "t"."pt"
FROM "temp"."main"."srsql_loaded_reac" AS "t"
WHERE
  NOT "t"."pt" IS NULL
