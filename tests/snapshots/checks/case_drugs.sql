SELECT DISTINCT
  "v"."caseid" AS case_id,
  UPPER(
    REGEXP_REPLACE(
      "v"."drugname",
      '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
      '',
      'g'
    )
  ) AS drug
FROM "release_2011q4"."drug" AS "v"
WHERE
  REGEXP_REPLACE(
    "v"."drugname",
    '^[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+|[\s\p{Z}\x{b}\x{85}\x{200b}\x{feff}]+$',
    '',
    'g'
  ) <> ''
