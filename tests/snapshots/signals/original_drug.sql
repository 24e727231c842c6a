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
    NULLIF(
      CASE
        WHEN STRLEN("t"."role_cod") = LENGTH("t"."role_cod")
        AND (
          ARRAY_EXTRACT("t"."role_cod", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("t"."role_cod", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("t"."role_cod")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("t"."role_cod", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) IN ('PS', 'SS')
) AS u
WHERE
  NOT "u"."drug" IS NULL
