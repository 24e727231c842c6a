SELECT DISTINCT
  "v"."primaryid" AS report_id,
  'indi_pt' AS attribute,
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
UNION ALL
SELECT DISTINCT
  "v"."primaryid" AS report_id,
  'pt' AS attribute,
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
