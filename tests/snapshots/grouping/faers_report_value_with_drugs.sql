CREATE OR REPLACE TEMPORARY TABLE srsql_report_value AS
SELECT
  "t"."primaryid" AS report_id,
  'indi_pt' AS attribute,
  "t"."srsql_indi_pt" AS term,
  NULLIF(
    CASE
      WHEN ARRAY_EXTRACT("t"."indi_pt", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("t"."indi_pt", -1) BETWEEN '!' AND '~'
      THEN "t"."indi_pt"
      ELSE REGEXP_REPLACE("t"."indi_pt", '^[SPACES]+|[SPACES]+$', '', 'g')
    END,
    ''
  ) AS spelling,
  TRUE AS shown,
  TRUE AS sensitive
FROM "raw_faers"."indi" AS "t"
WHERE
  "t"."quarter" = ? AND NOT "t"."srsql_indi_pt" IS NULL
UNION ALL
SELECT
  "t"."primaryid" AS report_id,
  'pt' AS attribute,
  "t"."srsql_pt" AS term,
  NULLIF(
    CASE
      WHEN ARRAY_EXTRACT("t"."pt", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("t"."pt", -1) BETWEEN '!' AND '~'
      THEN "t"."pt"
      ELSE REGEXP_REPLACE("t"."pt", '^[SPACES]+|[SPACES]+$', '', 'g')
    END,
    ''
  ) AS spelling,
  TRUE AS shown,
  TRUE AS sensitive
FROM "raw_faers"."reac" AS "t"
WHERE
  "t"."quarter" = ? AND NOT "t"."srsql_pt" IS NULL
UNION ALL
SELECT
  "t"."primaryid" AS report_id,
  'drugname' AS attribute,
  "t"."srsql_drugname" AS term,
  NULLIF(
    CASE
      WHEN ARRAY_EXTRACT("t"."drugname", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("t"."drugname", -1) BETWEEN '!' AND '~'
      THEN "t"."drugname"
      ELSE REGEXP_REPLACE("t"."drugname", '^[SPACES]+|[SPACES]+$', '', 'g')
    END,
    ''
  ) AS spelling,
  TRUE AS shown,
  FALSE AS sensitive
FROM "raw_faers"."drug" AS "t"
WHERE
  "t"."quarter" = ? AND NOT "t"."srsql_drugname" IS NULL
