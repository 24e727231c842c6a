CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."srsql_code" AS
SELECT
  "listed"."qid",
  NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("listed"."code", '[INVISIBLE]', '', 'g'))), '') AS code,
  "listed"."label"
FROM "temp"."main"."srsql_given_code" AS "listed"
UNION
SELECT
  "listed"."qid",
  CONCAT(
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("listed"."code", '[INVISIBLE]', '', 'g'))), ''),
    '.0'
  ) AS code,
  "listed"."label"
FROM "temp"."main"."srsql_given_code" AS "listed"
WHERE
  REGEXP_FULL_MATCH(
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("listed"."code", '[INVISIBLE]', '', 'g'))), ''),
    '[0-9]+'
  )
