WITH exact_match AS (
  SELECT DISTINCT
    "t0"."caseid" AS unit,
    "t0"."quarter" AS quarter,
    "t0"."age_low" AS "age_low",
    "t0"."age_high" AS "age_high",
    "t0"."sex" AS "sex"
  FROM "released"."demo" AS "t0"
), world AS (
  SELECT
    "v"."cell_age",
    "v"."cell_sex",
    "v"."holds_0",
    "v"."holds_1"
  FROM (VALUES
    (1, 1, TRUE, FALSE)) AS v(cell_age, cell_sex, holds_0, holds_1)
), outcome AS (
  SELECT
    "a"."unit",
    "a"."quarter",
    "a"."age_low",
    "a"."age_high",
    "a"."sex",
    "w"."cell_age",
    "w"."cell_sex"
  FROM "exact_match" AS "a"
  JOIN "world" AS "w"
    ON "w"."holds_0" AND NOT "w"."holds_1"
), piece_age AS (
  SELECT
    "v"."cell",
    "v"."low",
    "v"."high"
  FROM (VALUES
    (0, 0, 17),
    (1, 18, 120),
    (2, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT))) AS v(cell, low, high)
), region_age AS (
  SELECT DISTINCT
    "a"."age_low",
    "a"."age_high",
    "a"."age_low" AS low,
    "a"."age_high" AS high
  FROM "exact_match" AS "a"
), share_age AS (
  SELECT
    "r"."age_low",
    "r"."age_high",
    "p"."cell",
    CAST(SUM(
      CASE
        WHEN NOT "p"."low" IS NULL
        THEN GREATEST(
          0,
          (
            LEAST(COALESCE("r"."high", 120), "p"."high") - GREATEST(COALESCE("r"."low", 0), "p"."low")
          ) + 1
        )
        ELSE 0
      END
    ) AS DOUBLE) / (
      (
        MAX(COALESCE("r"."high", 120)) - MAX(COALESCE("r"."low", 0))
      ) + 1
    ) AS share,
    COUNT(*) OVER (PARTITION BY "r"."age_low", "r"."age_high") AS cells
  FROM "region_age" AS "r"
  JOIN "piece_age" AS "p"
    ON "r"."low" IS NULL OR (
      "r"."low" <= "p"."high" AND "p"."low" <= "r"."high"
    )
  GROUP BY
    "r"."age_low",
    "r"."age_high",
    "p"."cell"
), piece_sex AS (
  SELECT
    "v"."cell",
    "v"."low",
    "v"."high"
  FROM (VALUES
    (0, 0, 0),
    (1, 1, 1),
    (2, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT))) AS v(cell, low, high)
), region_sex AS (
  SELECT
    "v"."sex",
    "v"."low",
    "v"."high"
  FROM (VALUES
    ('Any', CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)),
    ('M', 0, 0),
    ('F', 1, 1)) AS v(sex, low, high)
), share_sex AS (
  SELECT
    "r"."sex",
    "p"."cell",
    CAST(SUM(
      CASE
        WHEN NOT "p"."low" IS NULL
        THEN GREATEST(
          0,
          (
            LEAST(COALESCE("r"."high", 1), "p"."high") - GREATEST(COALESCE("r"."low", 0), "p"."low")
          ) + 1
        )
        ELSE 0
      END
    ) AS DOUBLE) / (
      (
        MAX(COALESCE("r"."high", 1)) - MAX(COALESCE("r"."low", 0))
      ) + 1
    ) AS share,
    COUNT(*) OVER (PARTITION BY "r"."sex") AS cells
  FROM "region_sex" AS "r"
  JOIN "piece_sex" AS "p"
    ON "r"."low" IS NULL OR (
      "r"."low" <= "p"."high" AND "p"."low" <= "r"."high"
    )
  GROUP BY
    "r"."sex",
    "p"."cell"
), verdict AS (
  SELECT
    "c"."unit",
    "c"."quarter",
    1 AS weight,
    COUNT(*) = MAX("s0"."cells") * MAX("s1"."cells") AS certain,
    MAX("s0"."cells") * MAX("s1"."cells") = 1 AS known,
    SUM(CAST("s0"."share" * "s1"."share" AS DECIMAL(18, 12))) AS part
  FROM "outcome" AS "c"
  JOIN "share_age" AS "s0"
    ON "c"."age_low" IS NOT DISTINCT FROM "s0"."age_low"
    AND "c"."age_high" IS NOT DISTINCT FROM "s0"."age_high"
    AND "c"."cell_age" = "s0"."cell"
  JOIN "share_sex" AS "s1"
    ON "c"."sex" IS NOT DISTINCT FROM "s1"."sex" AND "c"."cell_sex" = "s1"."cell"
  GROUP BY
    "c"."unit",
    "c"."quarter"
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
  CAST(COALESCE(SUM("b"."weight"), 0) AS BIGINT) + (
    SELECT
      MAX("m0"."withheld_cases")
    FROM "release_2011q3"."manifest" AS "m0"
  ) + (
    SELECT
      MAX("m1"."withheld_cases")
    FROM "release_2011q4"."manifest" AS "m1"
  ) AS upper,
  CAST(COALESCE(SUM("b"."known" * "b"."weight"), 0) AS BIGINT) AS known
FROM "bound" AS "b"
