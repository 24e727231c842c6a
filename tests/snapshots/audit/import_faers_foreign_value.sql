CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_value AS
SELECT
  split.line,
  'indi_pt' AS "attribute",
  CASE
    WHEN NOT srsql.term_key("split"."value") IN (
      srsql.term_key('Product used for unknown indication'),
      srsql.term_key('Drug use for unknown indication')
    )
    THEN srsql.term_key("split"."value")
  END AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 0", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    CASE
      WHEN NOT srsql.term_key("split"."value") IN (
        srsql.term_key('Product used for unknown indication'),
        srsql.term_key('Drug use for unknown indication')
      )
      THEN srsql.term_key("split"."value")
    END
  ) IS NULL
UNION ALL
SELECT
  split.line,
  'pt' AS "attribute",
  srsql.term_key("split"."value") AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 1", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    srsql.term_key("split"."value")
  ) IS NULL
