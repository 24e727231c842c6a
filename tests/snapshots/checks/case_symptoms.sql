SELECT
  "s"."case_id",
  'indi_pt' AS attribute,
  COUNT(DISTINCT "s"."term") AS symptoms
FROM (
  SELECT
    "v"."caseid" AS case_id,
    UPPER(
      REGEXP_REPLACE(
        "v"."indi_pt",
        '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
        '',
        'g'
      )
    ) AS term
  FROM "release_2011q4"."indi" AS "v"
  WHERE
    REGEXP_REPLACE(
      "v"."indi_pt",
      '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
      '',
      'g'
    ) <> ''
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
    UPPER(
      REGEXP_REPLACE(
        "v"."pt",
        '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
        '',
        'g'
      )
    ) AS term
  FROM "release_2011q4"."reac" AS "v"
  WHERE
    REGEXP_REPLACE(
      "v"."pt",
      '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
      '',
      'g'
    ) <> ''
) AS s
GROUP BY
  "s"."case_id"
