CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."srsql_code" AS
SELECT DISTINCT
  "listed"."qid",
  NULLIF(
    CASE
      WHEN STRLEN("listed"."code") = LENGTH("listed"."code")
      AND (
        ARRAY_EXTRACT("listed"."code", 1) BETWEEN '!' AND '~'
        AND ARRAY_EXTRACT("listed"."code", -1) BETWEEN '!' AND '~'
      )
      THEN UPPER("listed"."code")
      ELSE UPPER(NFC_NORMALIZE(REGEXP_REPLACE("listed"."code", '[INVISIBLE]', '', 'g')))
    END,
    ''
  ) AS code,
  "listed"."label"
FROM (
  SELECT
    UNNEST(CAST($qid AS TEXT[])) AS qid,
    UNNEST(CAST($code AS TEXT[])) AS code,
    UNNEST(CAST($label AS TEXT[])) AS label
) AS listed
