WITH exact_match AS (
  SELECT DISTINCT
    "t0"."caseid" AS unit
  FROM "release_2011q4"."demo" AS "t0"
), outcome AS (
  SELECT
    "a"."unit"
  FROM "exact_match" AS "a"
), verdict AS (
  SELECT
    "c"."unit",
    1 AS weight,
    COUNT(*) = 1 AS certain,
    1 = 1 AS known,
    SUM(CAST(1 AS DECIMAL(18, 12))) AS part
  FROM "outcome" AS "c"
  GROUP BY
    "c"."unit"
), bound AS (
  SELECT
    "j"."unit",
    MAX("j"."weight") AS weight,
    MAX(CASE WHEN "j"."certain" THEN 1 ELSE 0 END) AS certain,
    MAX(CASE WHEN "j"."certain" THEN 1 ELSE LEAST(1, "j"."part") END) AS part,
    MAX(CASE WHEN "j"."known" THEN 1 ELSE 0 END) AS known
  FROM "verdict" AS "j"
  GROUP BY
    "j"."unit"
)
SELECT
  CAST(COALESCE(SUM("b"."certain" * "b"."weight"), 0) AS BIGINT) AS lower,
  CAST(COALESCE(SUM("b"."part" * "b"."weight"), 0) AS DOUBLE) AS expected,
  CAST(COALESCE(SUM("b"."weight"), 0) AS BIGINT) AS upper,
  CAST(COALESCE(SUM("b"."known" * "b"."weight"), 0) AS BIGINT) AS known
FROM "bound" AS "b"
