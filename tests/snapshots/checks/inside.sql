SELECT
  UNNEST(
    srsql.check_row(
      1,
      'check_inside',
      'report',
      COUNT_IF(
        COALESCE(
          (
            "t"."srsql_age" * 1 < "v"."age_low" OR "t"."srsql_age" * 1 > "v"."age_high"
          )
          OR (
            "t"."srsql_wt" * 1 < "v"."wt_low" OR "t"."srsql_wt" * 1 > "v"."wt_high"
          )
          OR (
            NOT "t"."srsql_sex" IS NULL AND "h_sex"."node" IS NULL
          ),
          FALSE
        )
      ),
      COUNT(*),
      0
    )
  )
FROM "release_2011q4"."demo" AS "v"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "v"."primaryid" = "i"."public_report"
JOIN "raw_faers"."demo" AS "t"
  ON "t"."primaryid" = "i"."report_id"
LEFT JOIN "srsql"."hierarchy" AS "h_sex"
  ON "h_sex"."dataset" = 'faers'
  AND "h_sex"."attribute" = 'sex'
  AND "h_sex"."node" = "t"."srsql_sex"
  AND "h_sex"."ancestor" = "v"."sex"
WHERE
  "t"."quarter" = "v"."quarter"
