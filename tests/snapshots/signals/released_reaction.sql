SELECT DISTINCT
  "u"."case_id",
  "u"."reaction"
FROM (
  SELECT
    "c"."case_id",
    UPPER(
      NULLIF(
        REGEXP_REPLACE(
          "t"."pt",
          '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
          '',
          'g'
        ),
        ''
      )
    ) AS reaction
  FROM "released"."reac" AS "t"
  JOIN "temp"."main"."srsql_signal_released_case" AS "c"
    ON "t"."caseid" = "c"."case_id" AND "t"."quarter" = "c"."quarter"
) AS u
WHERE
  NOT "u"."reaction" IS NULL
