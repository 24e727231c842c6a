CREATE OR REPLACE TEMPORARY TABLE srsql_foreign_value AS
SELECT
  split.line,
  'symptom' AS "attribute",
  srsql.term_key("split"."value") AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 0", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    srsql.term_key("split"."value")
  ) IS NULL
UNION ALL
SELECT
  split.line,
  'symptom' AS "attribute",
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
UNION ALL
SELECT
  split.line,
  'symptom' AS "attribute",
  srsql.term_key("split"."value") AS "term"
FROM (
  SELECT
    p.line,
    UNNEST(STR_SPLIT("p"."value 2", ';')) AS "value"
  FROM "temp"."main"."srsql_foreign_parsed" AS "p"
) AS split
WHERE
  NOT (
    srsql.term_key("split"."value")
  ) IS NULL
