SELECT DISTINCT
  "v"."caseid" AS case_id,
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."drugname", '[INVISIBLE]', '', 'g'))) AS drug
FROM "release_2011q4"."drug" AS "v"
WHERE
  UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."drugname", '[INVISIBLE]', '', 'g'))) <> ''
