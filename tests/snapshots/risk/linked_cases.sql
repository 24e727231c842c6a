SELECT
  2 AS side,
  ROW_NUMBER() OVER (ORDER BY CAST("t"."caseid" AS TEXT)) AS case_no,
  CAST("t"."caseid" AS TEXT) AS case_id,
  FLATTEN(
    [
      srsql.box_part(
        CASE
          WHEN COUNT(CAST(CAST("t"."age_low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)) = COUNT(*)
          THEN MIN(CAST(CAST("t"."age_low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT))
        END,
        CASE
          WHEN COUNT(CAST(CAST("t"."age_low" AS DECIMAL(18, 6)) * 1000000 AS BIGINT)) = COUNT(*)
          THEN MAX(CAST(CAST("t"."age_high" AS DECIMAL(18, 6)) * 1000000 AS BIGINT))
        END,
        NULL,
        NULL
      ),
      srsql.box_part(NULL, NULL, NULL, NULL),
      srsql.box_part(
        CASE WHEN COUNT("n2"."parent") = COUNT(*) THEN MIN("n2"."pre") END,
        CASE WHEN COUNT("n2"."parent") = COUNT(*) THEN MAX("n2"."last") END,
        NULL,
        NULL
      )
    ]
  ) AS box
FROM "srsql_data"."release_7_demo" AS "t"
LEFT JOIN "srsql"."node" AS "n2"
  ON "n2"."dataset" = 'faers' AND "n2"."attribute" = 'sex' AND "n2"."node" = "t"."sex"
GROUP BY
  CAST("t"."caseid" AS TEXT)
