SELECT
  CAST(MIN("t"."srsql_age") * 1 AS BIGINT) AS low,
  CAST(MAX("t"."srsql_age") * 1 AS BIGINT) AS high,
  CAST(CASE
    WHEN CASE
      WHEN MIN("t"."srsql_sex") = MAX("t"."srsql_sex")
      THEN MIN("t"."srsql_sex")
      ELSE 'Any'
    END = 'Any'
    THEN 0.5
    WHEN CASE
      WHEN MIN("t"."srsql_sex") = MAX("t"."srsql_sex")
      THEN MIN("t"."srsql_sex")
      ELSE 'Any'
    END = 'M'
    THEN 1.0
    ELSE 0.0
  END AS DOUBLE) AS share,
  CAST((
    (
      MIN("t"."srsql_wt") * 1
    ) + (
      MAX("t"."srsql_wt") * 1
    )
  ) / 2 AS DOUBLE) AS amount
FROM (
  SELECT DISTINCT
    "t"."caseid" AS case_id
  FROM "raw_faers"."reac" AS "v"
  JOIN "raw_faers"."demo" AS "t"
    ON "v"."primaryid" = "t"."primaryid" AND "v"."quarter" = "t"."quarter"
  WHERE
    "v"."srsql_pt" = $value AND "v"."quarter" = $quarter
) AS h
JOIN "raw_faers"."demo" AS "t"
  ON "h"."case_id" = "t"."caseid"
WHERE
  "t"."quarter" = $quarter
GROUP BY
  "h"."case_id"
