SELECT DISTINCT
  "u"."case_id",
  "u"."reaction"
FROM (
  SELECT
    "c"."case_id",
    NULLIF(
      CASE
        WHEN STRLEN("t"."pt") = LENGTH("t"."pt")
        AND (
          ARRAY_EXTRACT("t"."pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("t"."pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("t"."pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("t"."pt", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) AS reaction
  FROM "released"."reac" AS "t"
  JOIN "temp"."main"."srsql_signal_released_case" AS "c"
    ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
) AS u
WHERE
  NOT "u"."reaction" IS NULL
