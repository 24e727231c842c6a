CREATE OR REPLACE TEMPORARY TABLE srsql_text AS
SELECT
  'indi_pt' AS attribute,
  "t"."indi_pt" AS text,
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
  TRUE AS sensitive
FROM (
  SELECT DISTINCT
    "t"."indi_pt",
    "t"."srsql_indi_pt"
  FROM "raw_faers"."indi" AS "t"
  WHERE
    "t"."quarter" = ?
) AS t
WHERE
  NOT "t"."srsql_indi_pt" IS NULL
UNION ALL
SELECT
  'pt' AS attribute,
  "t"."pt" AS text,
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
  TRUE AS sensitive
FROM (
  SELECT DISTINCT
    "t"."pt",
    "t"."srsql_pt"
  FROM "raw_faers"."reac" AS "t"
  WHERE
    "t"."quarter" = ?
) AS t
WHERE
  NOT "t"."srsql_pt" IS NULL
