SELECT DISTINCT
  u.case_id,
  u.term
FROM (
  SELECT
    "v"."caseid" AS case_id,
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))), '') AS term
  FROM "release_2011q4"."indi" AS "v"
  WHERE
    NOT NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."indi_pt", '[INVISIBLE]', '', 'g'))), '') IS NULL
  UNION ALL
  SELECT
    "v"."caseid" AS case_id,
    NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))), '') AS term
  FROM "release_2011q4"."reac" AS "v"
  WHERE
    NOT NULLIF(UPPER(NFC_NORMALIZE(REGEXP_REPLACE("v"."pt", '[INVISIBLE]', '', 'g'))), '') IS NULL
) AS u
