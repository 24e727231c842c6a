SELECT
  FLATTEN(
    [
      srsql.box_part(
        MIN(
          CASE
            WHEN "q"."position" = 0
            THEN CAST(CAST("g0"."low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        MAX(
          CASE
            WHEN "q"."position" = 0
            THEN CAST(CAST("g0"."high" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        NULL,
        NULL
      ),
      srsql.box_part(
        MIN(
          CASE
            WHEN "q"."position" = 1
            THEN CAST(CAST("g"."low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        MAX(
          CASE
            WHEN "q"."position" = 1
            THEN CAST(CAST("g"."high" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        NULL,
        NULL
      ),
      srsql.box_part(
        MIN(CASE WHEN "q"."position" = 2 THEN "g2"."pre" END),
        MAX(CASE WHEN "q"."position" = 2 THEN "g2"."last" END),
        NULL,
        NULL
      )
    ]
  ) AS own_box,
  FLATTEN(
    [
      srsql.box_part(
        MIN(
          CASE
            WHEN "q"."position" = 0
            THEN CAST(CAST("q0"."low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        MAX(
          CASE
            WHEN "q"."position" = 0
            THEN CAST(CAST("q0"."high" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        NULL,
        NULL
      ),
      srsql.box_part(
        MIN(
          CASE
            WHEN "q"."position" = 1
            THEN CAST(CAST("q"."low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        MAX(
          CASE
            WHEN "q"."position" = 1
            THEN CAST(CAST("q"."high" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)
          END
        ),
        NULL,
        NULL
      ),
      srsql.box_part(
        MIN(CASE WHEN "q"."position" = 2 THEN "q2"."pre" END),
        MAX(CASE WHEN "q"."position" = 2 THEN "q2"."last" END),
        NULL,
        NULL
      )
    ]
  ) AS box
FROM "srsql"."case_qid" AS "q"
JOIN "srsql"."member" AS "m"
  ON "m"."release_id" = "q"."release_id" AND "m"."case_no" = "q"."case_no"
JOIN "srsql"."region" AS "g"
  ON "g"."release_id" = "q"."release_id"
  AND "g"."position" = "q"."position"
  AND "g"."group_id" = "m"."group_id"
LEFT JOIN "srsql"."node" AS "g0"
  ON "q"."position" = 0
  AND "g0"."dataset" = 'faers'
  AND "g0"."attribute" = 'age'
  AND "g0"."pre" >= "g"."low"
  AND "g0"."pre" <= "g"."high"
LEFT JOIN "srsql"."node" AS "q0"
  ON "q"."position" = 0
  AND "q0"."dataset" = 'faers'
  AND "q0"."attribute" = 'age'
  AND "q0"."pre" >= "q"."low"
  AND "q0"."pre" <= "q"."high"
LEFT JOIN "srsql"."node" AS "g2"
  ON "q"."position" = 2
  AND "g2"."dataset" = 'faers'
  AND "g2"."attribute" = 'sex'
  AND "g2"."pre" = "g"."low"
  AND "g2"."last" = "g"."high"
  AND NOT "g2"."parent" IS NULL
LEFT JOIN "srsql"."node" AS "q2"
  ON "q"."position" = 2
  AND "q2"."dataset" = 'faers'
  AND "q2"."attribute" = 'sex'
  AND "q2"."pre" = "q"."low"
  AND "q2"."last" = "q"."high"
  AND NOT "q2"."parent" IS NULL
WHERE
  "q"."release_id" = 7
GROUP BY
  "q"."case_no"
