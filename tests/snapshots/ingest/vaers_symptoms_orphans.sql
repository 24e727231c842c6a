SELECT
  COUNT(DISTINCT "child"."srsql_line")
FROM "raw_vaers"."symptoms" AS "child"
ANTI JOIN "raw_vaers"."demo" AS "report"
  ON "child"."vaers_id" = "report"."vaers_id" AND "report"."quarter" = $quarter
WHERE
  "child"."quarter" = $quarter
