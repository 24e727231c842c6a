CREATE OR REPLACE TEMPORARY TABLE "temp"."main"."srsql_code" AS
SELECT DISTINCT
  "listed"."qid",
  NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("listed"."code", '[INVISIBLE]', '', 'g'))), '') AS code,
  "listed"."label"
FROM (
  SELECT
    UNNEST(CAST($qid AS TEXT[])) AS qid,
    UNNEST(CAST($code AS TEXT[])) AS code,
    UNNEST(CAST($label AS TEXT[])) AS label
) AS listed
