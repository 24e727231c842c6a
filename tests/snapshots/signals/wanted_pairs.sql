SELECT
  "n"."pair_no",
  NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("n"."drug", '[INVISIBLE]', '', 'g'))), '') AS drug,
  NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("n"."reaction", '[INVISIBLE]', '', 'g'))), '') AS reaction
FROM (
  SELECT
    UNNEST(CAST($numbers AS BIGINT[])) AS pair_no,
    UNNEST(CAST($drugs AS TEXT[])) AS drug,
    UNNEST(CAST($reactions AS TEXT[])) AS reaction
) AS n
