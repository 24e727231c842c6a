SELECT DISTINCT
  "i"."public_case" AS case_id,
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("t"."indi_pt", '[INVISIBLE]', '', 'g'))) AS term
FROM "raw_faers"."indi" AS "t"
JOIN "temp"."main"."srsql_identity" AS "i"
  ON "t"."primaryid" = "i"."report_id"
WHERE
  "t"."quarter" = '2011Q4' AND NOT "t"."srsql_indi_pt" IS NULL
UNION ALL
SELECT DISTINCT
  "v"."caseid" AS case_id,
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))) AS term
FROM "release_2011q4"."indi" AS "v"
WHERE
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))) <> ''
UNION ALL
SELECT DISTINCT
  "v"."caseid" AS case_id,
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))) AS term
FROM "release_2011q4"."reac" AS "v"
WHERE
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))) <> ''
