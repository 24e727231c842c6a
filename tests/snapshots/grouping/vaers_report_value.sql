CREATE OR REPLACE TEMPORARY TABLE srsql_report_value AS
SELECT
  "t"."vaers_id" AS report_id,
  'symptom' AS attribute,
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
  TRUE AS shown,
  TRUE AS sensitive
FROM "raw_vaers"."symptoms" AS "t"
WHERE
  "t"."quarter" = ? AND NOT "t"."srsql_symptom" IS NULL
