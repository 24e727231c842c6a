SELECT DISTINCT
  "u"."case_id",
  "u"."drug"
FROM (
  SELECT
    "c"."case_id",
    srsql.term_key("t"."drugname") AS drug
  FROM "released"."drug" AS "t"
  JOIN "temp"."main"."srsql_signal_released_case" AS "c"
    ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
  WHERE
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("t"."role_cod", '[INVISIBLE]', '', 'g'))), '') IN ('PS', 'SS')
) AS u
WHERE
  NOT "u"."drug" IS NULL
