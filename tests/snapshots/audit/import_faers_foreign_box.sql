CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_box AS
SELECT
  p.line,
  0 AS position,
  "p"."0 low" AS "low",
  "p"."0 high" AS "high"
FROM "temp"."main"."srsql_foreign_parsed" AS "p"
UNION ALL
SELECT
  p.line,
  1 AS position,
  "p"."1 low" AS "low",
  "p"."1 high" AS "high"
FROM "temp"."main"."srsql_foreign_parsed" AS "p"
UNION ALL
SELECT
  p.line,
  2 AS position,
  "n"."pre" AS "low",
  "n"."last" AS "high"
FROM "temp"."main"."srsql_foreign_parsed" AS "p"
LEFT JOIN "temp"."main"."srsql_node" AS "n"
  ON "n"."position" = 2 AND "n"."node" = "p"."2 label"
