SELECT DISTINCT
  "u"."case_id",
  "u"."drug"
FROM (
  SELECT
    "c"."case_id",
    "t"."srsql_drugname" AS drug
  FROM "raw_faers"."drug" AS "t"
  JOIN "raw_faers"."demo" AS "p"
    ON "t"."primaryid" = "p"."primaryid" AND "t"."quarter" = "p"."quarter"
  JOIN "temp"."main"."srsql_signal_original_case" AS "c"
    ON "p"."caseid" = "c"."case_id" AND "p"."quarter" = "c"."quarter"
  WHERE
    UPPER(
      NULLIF(
        REGEXP_REPLACE(
          "t"."role_cod",
          '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
          '',
          'g'
        ),
        ''
      )
    ) IN ('PS', 'SS')
) AS u
WHERE
  NOT "u"."drug" IS NULL
