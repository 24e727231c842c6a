CREATE OR REPLACE TEMPORARY VIEW srsql_report_box AS
SELECT
  "t"."primaryid" AS report_id,
  0 AS position,
  CAST("t"."srsql_age" AS BIGINT) AS low,
  CAST("t"."srsql_age" AS BIGINT) AS high
FROM "raw_faers"."demo" AS "t"
WHERE
  "t"."quarter" = '2023Q1'
UNION ALL
SELECT
  "t"."primaryid" AS report_id,
  1 AS position,
  CAST("t"."srsql_wt" AS BIGINT) AS low,
  CAST("t"."srsql_wt" AS BIGINT) AS high
FROM "raw_faers"."demo" AS "t"
WHERE
  "t"."quarter" = '2023Q1'
UNION ALL
SELECT
  "t"."primaryid" AS report_id,
  2 AS position,
  CAST("n"."pre" AS BIGINT) AS low,
  CAST("n"."last" AS BIGINT) AS high
FROM "raw_faers"."demo" AS "t"
LEFT JOIN "temp"."main"."srsql_node" AS "n"
  ON "n"."position" = 2 AND "n"."node" = "t"."srsql_sex"
WHERE
  "t"."quarter" = '2023Q1'
