CREATE OR REPLACE TEMPORARY TABLE srsql_text AS
SELECT
  'symptom' AS attribute,
  "t"."symptom" AS text,
  "t"."srsql_symptom" AS term,
  NULLIF(
    CASE
      WHEN ARRAY_EXTRACT("t"."symptom", 1) BETWEEN '!' AND '~'
      AND ARRAY_EXTRACT("t"."symptom", -1) BETWEEN '!' AND '~'
      THEN "t"."symptom"
      ELSE REGEXP_REPLACE("t"."symptom", '^[SPACES]+|[SPACES]+$', '', 'g')
    END,
    ''
  ) AS spelling,
  TRUE AS sensitive
FROM (
  SELECT DISTINCT
    "t"."symptom",
    "t"."srsql_symptom"
  FROM "raw_vaers"."symptoms" AS "t"
  WHERE
    "t"."quarter" = ?
) AS t
WHERE
  NOT "t"."srsql_symptom" IS NULL
