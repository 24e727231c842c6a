SELECT
  "s"."case_id",
  'indi_pt' AS attribute,
  COUNT(DISTINCT "s"."term") AS symptoms
FROM (
  SELECT
    "v"."caseid" AS case_id,
    UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))) AS term
  FROM "release_2011q4"."indi" AS "v"
  WHERE
    UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))) <> ''
) AS s
GROUP BY
  "s"."case_id"
UNION ALL
SELECT
  "s"."case_id",
  'pt' AS attribute,
  COUNT(DISTINCT "s"."term") AS symptoms
FROM (
  SELECT
    "v"."caseid" AS case_id,
    UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))) AS term
  FROM "release_2011q4"."reac" AS "v"
  WHERE
    UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))) <> ''
) AS s
GROUP BY
  "s"."case_id"
