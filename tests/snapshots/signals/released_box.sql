SELECT
  "c"."case_id",
  0 AS position,
  CAST(MIN("t"."age_low") AS BIGINT) AS low,
  CAST(MAX("t"."age_high") AS BIGINT) AS high
FROM "released"."demo" AS "t"
JOIN "temp"."main"."srsql_signal_released_case" AS "c"
  ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
GROUP BY
  "c"."case_id"
UNION ALL
SELECT
  "c"."case_id",
  2 AS position,
  CAST(MIN("n"."low") AS BIGINT) AS low,
  CAST(MAX("n"."high") AS BIGINT) AS high
FROM "released"."demo" AS "t"
LEFT JOIN (VALUES
  ('M', 0, 0),
  ('F', 1, 1)) AS n(node, low, high)
  ON "n"."node" = "t"."sex"
JOIN "temp"."main"."srsql_signal_released_case" AS "c"
  ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
GROUP BY
  "c"."case_id"
