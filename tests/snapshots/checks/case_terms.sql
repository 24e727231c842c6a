SELECT DISTINCT
  "i"."public_case" AS case_id,
  UPPER(
    REGEXP_REPLACE(
      "t"."indi_pt",
      '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
      '',
      'g'
    )
  ) AS term
FROM "raw_faers"."indi" AS "t"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "t"."primaryid" = "i"."report_id"
WHERE
  "t"."quarter" = '2011Q4' AND NOT "t"."srsql_indi_pt" IS NULL
UNION ALL
SELECT DISTINCT
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
UNION ALL
SELECT DISTINCT
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
