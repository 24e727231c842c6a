SELECT
  "v"."group_id",
  "v"."case_no",
  "v"."reports",
  0 AS position,
  CASE WHEN "v"."age_low" IS NULL THEN 0 ELSE "n"."pre" END AS low,
  CASE WHEN "v"."age_low" IS NULL THEN 12 ELSE "n"."last" END AS high
FROM seen_region AS v
LEFT JOIN srsql.NODE_RANGES('faers', 'age') AS "n"
  ON "v"."age_low" = "n"."low" AND "v"."age_high" = "n"."high"
UNION ALL
SELECT
  "v"."group_id",
  "v"."case_no",
  "v"."reports",
  1 AS position,
  CAST("v"."wt_low" / 1 AS BIGINT) AS low,
  CAST("v"."wt_high" / 1 AS BIGINT) AS high
FROM seen_region AS v
UNION ALL
SELECT
  "v"."group_id",
  "v"."case_no",
  "v"."reports",
  2 AS position,
  "n"."pre" AS low,
  "n"."last" AS high
FROM seen_region AS v
LEFT JOIN "srsql"."node" AS "n"
  ON "n"."dataset" = 'faers' AND "n"."attribute" = 'sex' AND "n"."node" = "v"."sex"
