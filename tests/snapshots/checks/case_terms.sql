SELECT DISTINCT
  "i"."public_case" AS case_id,
  UPPER(
    REGEXP_REPLACE(
      "t"."indi_pt",
      '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
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
      '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
      '',
      'g'
    )
  ) AS term
FROM "release_2011q4"."indi" AS "v"
WHERE
  REGEXP_REPLACE(
    "v"."indi_pt",
    '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
    '',
    'g'
  ) <> ''
UNION ALL
SELECT DISTINCT
  "v"."caseid" AS case_id,
  UPPER(
    REGEXP_REPLACE(
      "v"."pt",
      '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
      '',
      'g'
    )
  ) AS term
FROM "release_2011q4"."reac" AS "v"
WHERE
  REGEXP_REPLACE(
    "v"."pt",
    '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
    '',
    'g'
  ) <> ''
