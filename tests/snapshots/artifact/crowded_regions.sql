SELECT
  COUNT(*)
FROM (
  SELECT
    "c"."age_low",
    "c"."age_high",
    "c"."sex",
    COALESCE(SUM(CAST("c"."records" AS INT128)), 0) AS records
  FROM "temp"."main"."srsql_loaded_clusters" AS "c"
  GROUP BY
    "c"."age_low",
    "c"."age_high",
    "c"."sex"
) AS h
LEFT JOIN (
  SELECT
    "r"."age_low",
    "r"."age_high",
    "r"."sex",
    COUNT(DISTINCT "r"."caseid") AS cases
  FROM "temp"."main"."srsql_loaded_demo" AS "r"
  GROUP BY
    "r"."age_low",
    "r"."age_high",
    "r"."sex"
) AS s
  ON "h"."age_low" IS NOT DISTINCT FROM "s"."age_low"
  AND "h"."age_high" IS NOT DISTINCT FROM "s"."age_high"
  AND "h"."sex" IS NOT DISTINCT FROM "s"."sex"
WHERE
  "h"."records" > COALESCE("s"."cases", 0)
