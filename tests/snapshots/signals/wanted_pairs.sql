SELECT
  "n"."pair_no",
  UPPER(
    NULLIF(
      REGEXP_REPLACE(
        "n"."drug",
        '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
        '',
        'g'
      ),
      ''
    )
  ) AS drug,
  UPPER(
    NULLIF(
      REGEXP_REPLACE(
        "n"."reaction",
        '^[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+|[\x{20}\x{9}\x{a}\x{b}\x{c}\x{d}\x{85}\x{a0}\x{1680}\x{2000}\x{2001}\x{2002}\x{2003}\x{2004}\x{2005}\x{2006}\x{2007}\x{2008}\x{2009}\x{200a}\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]+$',
        '',
        'g'
      ),
      ''
    )
  ) AS reaction
FROM (
  SELECT
    UNNEST(CAST($numbers AS BIGINT[])) AS pair_no,
    UNNEST(CAST($drugs AS TEXT[])) AS drug,
    UNNEST(CAST($reactions AS TEXT[])) AS reaction
) AS n
