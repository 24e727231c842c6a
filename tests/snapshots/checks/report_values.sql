SELECT DISTINCT
  "v"."primaryid" AS report_id,
  "v"."caseid" AS case_id,
  'indi_pt' AS attribute,
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))) AS term
FROM "release_2011q4"."indi" AS "v"
WHERE
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))) <> ''
UNION ALL
SELECT DISTINCT
  "v"."primaryid" AS report_id,
  "v"."caseid" AS case_id,
  'pt' AS attribute,
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))) AS term
FROM "release_2011q4"."reac" AS "v"
WHERE
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))) <> ''
