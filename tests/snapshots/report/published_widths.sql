SELECT DISTINCT
  "r"."group_id",
  0 AS position,
  CAST(ROUND((
    "r"."age_high" - "r"."age_low"
  ) / 1) AS DOUBLE) AS width
FROM "report_row" AS "r"
UNION ALL
SELECT DISTINCT
  "r"."group_id",
  1 AS position,
  CAST(ROUND((
    "r"."wt_high" - "r"."wt_low"
  ) / 1) AS DOUBLE) AS width
FROM "report_row" AS "r"
UNION ALL
SELECT DISTINCT
  "r"."group_id",
  2 AS position,
  CAST("n"."height" AS DOUBLE) AS width
FROM "report_row" AS "r"
LEFT JOIN "srsql"."node" AS "n"
  ON "n"."dataset" = 'faers' AND "n"."attribute" = 'sex' AND "n"."node" = "r"."sex"
