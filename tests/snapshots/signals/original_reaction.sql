SELECT DISTINCT
  "u"."case_id",
  "u"."reaction"
FROM (
  SELECT
    "c"."case_id",
    "t"."srsql_pt" AS reaction
  FROM "raw_faers"."reac" AS "t"
  JOIN "raw_faers"."demo" AS "p"
    ON "t"."primaryid" = "p"."primaryid" AND "t"."quarter" = "p"."quarter"
  JOIN "temp"."main"."srsql_signal_original_case" AS "c"
    ON "p"."caseid" = "c"."case_id" AND "p"."quarter" = "c"."quarter"
) AS u
WHERE
  NOT "u"."reaction" IS NULL
