SELECT DISTINCT
  "v"."caseid" AS case_id,
  'drugname' AS attribute,
  "n"."term" AS drug
FROM "release_2011q4"."drug" AS "v"
JOIN (
  SELECT
    "d"."text",
    UPPER(NFC_NORMALIZE(REGEXP_REPLACE("d"."text", '[INVISIBLE]', '', 'g'))) AS term
  FROM (
    SELECT
      MIN("v"."drugname") AS text
    FROM "release_2011q4"."drug" AS "v"
    GROUP BY
      "v"."drugname"
  ) AS d
  WHERE
    UPPER(NFC_NORMALIZE(REGEXP_REPLACE("d"."text", '[INVISIBLE]', '', 'g'))) <> ''
) AS "n"
  ON "v"."drugname" = "n"."text"
