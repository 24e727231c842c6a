SELECT DISTINCT
  u.case_id,
  u.term
FROM (
  SELECT
    "v"."caseid" AS case_id,
    NULLIF(
      CASE
        WHEN STRLEN("v"."indi_pt") = LENGTH("v"."indi_pt")
        AND (
          ARRAY_EXTRACT("v"."indi_pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("v"."indi_pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("v"."indi_pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) AS term
  FROM "release_2011q4"."indi" AS "v"
  WHERE
    NOT NULLIF(
      CASE
        WHEN STRLEN("v"."indi_pt") = LENGTH("v"."indi_pt")
        AND (
          ARRAY_EXTRACT("v"."indi_pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("v"."indi_pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("v"."indi_pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) IS NULL
  UNION ALL
  SELECT
    "v"."caseid" AS case_id,
    NULLIF(
      CASE
        WHEN STRLEN("v"."pt") = LENGTH("v"."pt")
        AND (
          ARRAY_EXTRACT("v"."pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("v"."pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("v"."pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) AS term
  FROM "release_2011q4"."reac" AS "v"
  WHERE
    NOT NULLIF(
      CASE
        WHEN STRLEN("v"."pt") = LENGTH("v"."pt")
        AND (
          ARRAY_EXTRACT("v"."pt", 1) BETWEEN '!' AND '~'
          AND ARRAY_EXTRACT("v"."pt", -1) BETWEEN '!' AND '~'
        )
        THEN UPPER("v"."pt")
        ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g')))
      END,
      ''
    ) IS NULL
) AS u
