CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."srsql_code" AS
SELECT DISTINCT
  "listed"."qid",
  NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("listed"."code", '[INVISIBLE]', '', 'g'))), '') AS code,
  "listed"."label"
FROM "temp"."main"."srsql_given_code" AS "listed"
