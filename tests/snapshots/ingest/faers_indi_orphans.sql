SELECT
  COUNT(DISTINCT "child"."srsql_line")
FROM "raw_faers"."indi" AS "child"
ANTI JOIN "raw_faers"."demo" AS "report"
  ON "child"."primaryid" = "report"."primaryid" AND "report"."quarter" = $quarter
WHERE
  "child"."quarter" = $quarter
