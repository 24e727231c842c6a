SELECT DISTINCT
  "u"."case_id",
  "u"."reaction"
FROM (
  SELECT
    "c"."case_id",
    srsql.term_key("t"."pt") AS reaction
  FROM "released"."reac" AS "t"
  JOIN "temp"."main"."srsql_signal_released_case" AS "c"
    ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
) AS u
WHERE
  NOT "u"."reaction" IS NULL
