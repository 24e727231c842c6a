SELECT
  "r"."report_id",
  "r"."case_id",
  '' AS table_name,
  "r"."position"
FROM "temp"."main"."srsql_report_row" AS "r"
WHERE
  FALSE
UNION ALL
SELECT
  "t"."primaryid",
  "t"."caseid",
  'reac' AS table_name,
  ROW_NUMBER() OVER () - 1 AS position
FROM "temp"."main"."srsql_loaded_reac" AS "t"
