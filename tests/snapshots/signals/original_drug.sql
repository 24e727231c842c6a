SELECT DISTINCT
  "u"."case_id",
  "u"."drug"
FROM (
  SELECT
    "c"."case_id",
    "t"."srsql_drugname" AS drug
  FROM "raw_faers"."drug" AS "t"
  JOIN "raw_faers"."demo" AS "p"
    ON "t"."primaryid" = "p"."primaryid" AND "t"."quarter" = "p"."quarter"
  JOIN "temp"."main"."srsql_signal_original_case" AS "c"
    ON "p"."caseid" = "c"."case_id" AND "p"."quarter" = "c"."quarter"
  WHERE
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("t"."role_cod", '[INVISIBLE]', '', 'g'))), '') IN ('PS', 'SS')
) AS u
WHERE
  NOT "u"."drug" IS NULL
