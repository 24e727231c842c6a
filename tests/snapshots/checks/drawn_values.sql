SELECT
  UNNEST(
    srsql.check_row(
      1,
      'check_values',
      'report',
      COUNT_IF(
        COALESCE(
          (
            (
              NOT "v"."age_low" IS NULL OR NOT "v"."age_high" IS NULL
            )
            AND "n0"."pre" IS NULL
          )
          OR (
            NOT (
              CAST("v"."wt_low" AS DECIMAL(28, 9)) IS NULL
              AND CAST("v"."wt_high" AS DECIMAL(28, 9)) IS NULL
            )
            AND NOT COALESCE(
              CAST("v"."wt_low" AS DECIMAL(28, 9)) = CAST("v"."wt_high" AS DECIMAL(28, 9))
              AND (
                CAST("v"."wt_low" AS DECIMAL(28, 9)) % 1
              ) = 0
              AND CAST("v"."wt_low" AS DECIMAL(28, 9)) >= 0
              AND CAST("v"."wt_low" AS DECIMAL(28, 9)) <= 400,
              FALSE
            )
          )
          OR (
            TRUE AND "n2"."pre" IS NULL
          ),
          TRUE
        )
      ),
      COUNT(*),
      0
    )
  )
FROM "release_2011q4"."demo" AS "v"
LEFT JOIN srsql.NODE_RANGES('faers', 'age') AS "n0"
  ON "v"."age_low" = "n0"."low" AND "v"."age_high" = "n0"."high"
LEFT JOIN "srsql"."node" AS "n2"
  ON "n2"."dataset" = 'faers' AND "n2"."attribute" = 'sex' AND "n2"."node" = "v"."sex"
