SELECT DISTINCT
  "v"."caseid" AS case_id,
  'drugname' AS attribute,
  "n"."term" AS drug
FROM "release_2011q4"."drug" AS "v"
JOIN (
  SELECT
    "d"."text",
    CASE
      WHEN STRLEN("d"."text") = LENGTH("d"."text")
      AND (
        ARRAY_EXTRACT("d"."text", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("d"."text", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("d"."text")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("d"."text", '[INVISIBLE]', '', 'g')))
    END AS term
  FROM (
    SELECT
      MIN("v"."drugname") AS text
    FROM "release_2011q4"."drug" AS "v"
    GROUP BY
      "v"."drugname"
  ) AS d
  WHERE
    CASE
      WHEN STRLEN("d"."text") = LENGTH("d"."text")
      AND (
        ARRAY_EXTRACT("d"."text", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("d"."text", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("d"."text")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("d"."text", '[INVISIBLE]', '', 'g')))
    END <> ''
) AS "n"
  ON "v"."drugname" = "n"."text"
