WITH exact_match AS (
  SELECT DISTINCT
    "t0"."primaryid" AS unit,
    "t0"."quarter" AS quarter,
    "t0"."wt_low" AS "wt_low",
    "t0"."wt_high" AS "wt_high",
    "t1"."drugname" AS exact_0
  FROM "released"."demo" AS "t0"
  JOIN "released"."drug" AS "t1"
    ON "t0"."quarter" = "t1"."quarter" AND "t0"."primaryid" = "t1"."primaryid"
  WHERE
    EXISTS(
      SELECT
        1
      FROM "released"."reac" AS "t2"
      WHERE
        "t0"."quarter" = "t2"."quarter"
        AND "t2"."primaryid" = "t0"."primaryid"
        AND "t2"."pt" = 'Rash'
    )
), world AS (
  SELECT
    "v"."cell_wt",
    "v"."holds_0"
  FROM (VALUES
    (0, TRUE)) AS v(cell_wt, holds_0)
), outcome AS (
  SELECT
    "a"."unit",
    "a"."quarter",
    "a"."wt_low",
    "a"."wt_high",
    "w"."cell_wt",
    "a"."exact_0" AS group_0
  FROM "exact_match" AS "a"
  JOIN "world" AS "w"
    ON "w"."holds_0"
), piece_wt AS (
  SELECT
    "v"."cell",
    "v"."low",
    "v"."high"
  FROM (VALUES
    (0, 0, 49),
    (1, 50, 400),
    (2, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT))) AS v(cell, low, high)
), region_wt AS (
  SELECT DISTINCT
    "a"."wt_low",
    "a"."wt_high",
    "a"."wt_low" AS low,
    "a"."wt_high" AS high
  FROM "exact_match" AS "a"
), share_wt AS (
  SELECT
    "r"."wt_low",
    "r"."wt_high",
    "p"."cell",
    CAST(SUM(
      CASE
        WHEN NOT "p"."low" IS NULL
        THEN GREATEST(
          0,
          (
            LEAST(COALESCE("r"."high", 400), "p"."high") - GREATEST(COALESCE("r"."low", 0), "p"."low")
          ) + 1
        )
        ELSE 0
      END
    ) AS DOUBLE) / (
      (
        MAX(COALESCE("r"."high", 400)) - MAX(COALESCE("r"."low", 0))
      ) + 1
    ) AS share,
    COUNT(*) OVER (PARTITION BY "r"."wt_low", "r"."wt_high") AS cells
  FROM "region_wt" AS "r"
  JOIN "piece_wt" AS "p"
    ON "r"."low" IS NULL OR (
      "r"."low" <= "p"."high" AND "p"."low" <= "r"."high"
    )
  GROUP BY
    "r"."wt_low",
    "r"."wt_high",
    "p"."cell"
), verdict AS (
  SELECT
    "c"."unit",
    "c"."quarter",
    "c"."group_0",
    1 AS weight,
    COUNT(*) = MAX("s0"."cells") AS certain,
    MAX("s0"."cells") = 1 AS known,
    SUM(CAST("s0"."share" AS DECIMAL(18, 12))) AS part
  FROM "outcome" AS "c"
  JOIN "share_wt" AS "s0"
    ON "c"."wt_low" IS NOT DISTINCT FROM "s0"."wt_low"
    AND "c"."wt_high" IS NOT DISTINCT FROM "s0"."wt_high"
    AND "c"."cell_wt" = "s0"."cell"
  GROUP BY
    "c"."unit",
    "c"."quarter",
    "c"."group_0"
), bound AS (
  SELECT
    "j"."unit",
    "j"."group_0",
    MAX("j"."weight") AS weight,
    MAX(CASE WHEN "j"."certain" THEN 1 ELSE 0 END) AS certain,
    MAX(CASE WHEN "j"."certain" THEN 1 ELSE LEAST(1, "j"."part") END) AS part,
    MAX(CASE WHEN "j"."known" THEN 1 ELSE 0 END) AS known
  FROM "verdict" AS "j"
  GROUP BY
    "j"."unit",
    "j"."group_0"
)
SELECT
  "b"."group_0" AS "drugname",
  CAST(COALESCE(SUM("b"."certain" * "b"."weight"), 0) AS BIGINT) AS lower,
  CAST(COALESCE(SUM("b"."part" * "b"."weight"), 0) AS DOUBLE) AS expected,
  CAST(COALESCE(SUM("b"."weight"), 0) AS BIGINT) AS upper,
  CAST(COALESCE(SUM("b"."known" * "b"."weight"), 0) AS BIGINT) AS known
FROM "bound" AS "b"
GROUP BY
  "b"."group_0"
ORDER BY
  3 DESC,
  "b"."group_0" ASC
