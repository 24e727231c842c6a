SELECT DISTINCT
  "u"."case_id",
  "u"."drug"
FROM (
  SELECT
    "c"."case_id",
    NULLIF(
      CASE
        WHEN STRLEN("t"."drugname") = LENGTH("t"."drugname")
        AND (
          ARRAY_EXTRACT("t"."drugname", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("t"."drugname", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("t"."drugname")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("t"."drugname", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) AS drug
  FROM "released"."drug" AS "t"
  JOIN "temp"."main"."srsql_signal_released_case" AS "c"
    ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
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
