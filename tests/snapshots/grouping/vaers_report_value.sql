CREATE OR REPLACE TEMPORARY TABLE srsql_report_value AS
SELECT
  "t"."vaers_id" AS report_id,
  'symptom' AS attribute,
  w.key_no,
  w.word_no,
  TRUE AS shown,
  TRUE AS sensitive
FROM "raw_vaers"."symptoms" AS "t"
JOIN "temp"."main"."srsql_word" AS "w"
  ON "t"."symptom" = w.text AND w.attribute = 'symptom'
WHERE
  "t"."quarter" = ?
